"""A game whose extra is not installed is skipped, and says which; `.[dev]` has all of them. Drawn tasks of
workshops are tried without processes, which would cost more than all else of their matches."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from tests.offline import tried_here

from peerage.games import GAMES
from peerage.testing import offline


@pytest.fixture(autouse=True, scope="module")
def _no_processes() -> Iterator[None]:
    with patch.object(offline, "commanded", tried_here):
        yield


@pytest.fixture(autouse=True)
def _its_extra_is_installed(request: pytest.FixtureRequest) -> None:
    params: dict[str, Any] = getattr(getattr(request.node, "callspec", None), "params", {})
    spec = params.get("spec") or GAMES.get(str(params.get("game")))
    if hasattr(spec, "needs") and (
        extra := spec.needs.extra(spec.rules.model_validate(params.get("rules") or {}))
    ):
        pytest.skip(f"needs the extra `{extra}`")
