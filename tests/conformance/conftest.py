"""A game whose extra is not installed is skipped, and says which; `.[dev]` has all of them."""

from typing import Any

import pytest

from peerage.games import GAMES


@pytest.fixture(autouse=True)
def _its_extra_is_installed(request: pytest.FixtureRequest) -> None:
    params: dict[str, Any] = getattr(getattr(request.node, "callspec", None), "params", {})
    spec = params.get("spec") or GAMES.get(str(params.get("game")))
    if hasattr(spec, "needs") and (
        extra := spec.needs.extra(spec.rules.model_validate(params.get("rules") or {}))
    ):
        pytest.skip(f"needs the extra `{extra}`")
