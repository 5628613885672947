"""Every example is an arena that can be played as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from peerage.settings import enough_players, load, rules_of

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*/arena.yaml"))


def test_there_are_examples() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {"smollm2", "openrouter", "clinical", "own-prompts"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_can_be_played(path: Path) -> None:
    settings = load(path.parent)
    enough_players(settings)
    rules_of(settings)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_under_a_budget_every_price_is_known(path: Path) -> None:
    from datetime import date

    from peerage.players.prices import price_of

    settings = load(path.parent)
    if settings.budget.arena is not None:
        unknown = [p.model for p in settings.players if not price_of(p, date(2025, 11, 1)).known]
        assert unknown == []
