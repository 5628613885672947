"""Plans: who will be asked how often, what it will cost as a rule, and at most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import Arena, open_arena
from peerage.players.prices import Price
from peerage.tables.plan import SAMPLE, estimate

PRICED = {"price": {"input": 1.0, "output": 4.0}}


def test_what_was_spent_lies_below_the_worst(arena: Arena, tmp_path: Path, folder: Path) -> None:
    with open_arena(write_arena(tmp_path, house(7, **PRICED))) as fresh:
        plan = fresh.plan(24)
        play(tmp_path, 24)
        spent = {row.player: row.cost_usd for row in fresh.leaderboard()}
    assert 0 < sum(spent.values()) < plan.worst_usd
    assert plan.expected_usd < plan.worst_usd
    for player in plan.players:
        assert player.expected_usd is not None
        assert player.worst_usd is not None
        assert 0 < player.expected_usd < player.worst_usd
    assert plan.unpriced == ()


def test_sums_are_those_of_the_players_and_grow_with_the_matches(arena: Arena) -> None:
    plan, more, many = arena.plan(30), arena.plan(60), arena.plan(10 * SAMPLE)
    assert plan.calls == sum(player.calls for player in plan.players)
    assert plan.worst_usd == pytest.approx(sum(player.worst_usd or 0 for player in plan.players))
    assert plan.worst_usd < more.worst_usd < many.worst_usd
    assert many.worst_usd == pytest.approx(10 * arena.plan(SAMPLE).worst_usd)
    assert arena.plan(0).calls == 0
    assert json.loads(json.dumps(plan.as_dict())) == plan.as_dict()


def test_one_match_by_hand(tmp_path: Path) -> None:
    """A task that judges decide: two answers, and three judges asked twice."""
    rules, judging = {"tasks": "own.jsonl"}, {"judges": 3}
    players = house(5, price={"input": 0.0, "output": 2.0})
    (tmp_path / "own.jsonl").write_text('{"prompt": "Why is the sky blue?"}\n')
    with open_arena(write_arena(tmp_path, players, game="tasks", rules=rules, judging=judging)) as arena:
        plan = arena.plan(1)
    assert plan.calls == 2 + 3 * 2
    assert sorted(player.calls for player in plan.players) == [1, 1, 2, 2, 2]
    # answers of 2,000 tokens and verdicts of 600, each cut and asked for again with twice the tokens, at two
    # millionths of a dollar a token
    assert plan.worst_usd == pytest.approx((2 * (2_000 + 4_000) + 6 * (600 + 1_200)) * 2e-6)


def test_a_player_without_a_price_is_named(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path, house(7, **PRICED))) as arena:
        settings = arena.settings
    known = Price("test", hour_nano=3_600_000_000, timeout_ms=1000)
    prices = {player.name: known for player in settings.players} | {"p3": Price()}
    plan = estimate(settings, prices, 10)
    assert plan.unpriced == ("p3",)
    unknown = next(player for player in plan.players if player.player == "p3")
    assert (unknown.expected_usd, unknown.worst_usd) == (None, None)
    assert unknown.calls > 0
    assert plan.worst_usd > plan.expected_usd > 0


def test_who_stands_high_is_asked_to_judge(arena: Arena) -> None:
    calls = {player.player: player.calls for player in arena.plan(40).players}
    standing = [row.player for row in arena.leaderboard("raw")]
    assert calls[standing[0]] > calls[standing[-1]]
