"""What a format of replies is; any class with these methods is one."""

from __future__ import annotations

from random import Random
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Format(Protocol):
    """A declared format of replies: immutable, hashable, and the same for equal settings."""

    def __hash__(self) -> int: ...

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply. Total: raises `FormatError` for whatever it cannot read."""

    def write(self, value: Any) -> str:
        """How a perfect player writes the reply that says `value`: `parse` gives it back."""

    def sample(self, rng: Random) -> Any:
        """A random well-formed value, for players without ideas of their own."""
