"""What holds for every test."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from peerage.ledger import secret

# A busy machine is slow to draw examples; that says nothing about the program. `make test` draws the same
# ones in every run, `make test-all` others each time.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("explore"), derandomize=True)
settings.load_profile("same")


def _draw_secrets(name: str) -> None:
    """Let an arena without a seed draw the same secret in every run, whatever ran before."""
    rng = Random(name)
    secret.secrets = SimpleNamespace(token_hex=lambda size: rng.randbytes(size).hex())  # type: ignore[assignment]


@pytest.fixture(scope="module", autouse=True)
def _secrets_of_the_file(request: pytest.FixtureRequest) -> None:
    _draw_secrets(request.node.nodeid)


@pytest.fixture(autouse=True)
def _secrets_of_the_test(request: pytest.FixtureRequest) -> None:
    _draw_secrets(request.node.nodeid)
