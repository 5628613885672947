"""Plans: who will be asked how often, what it will cost as a rule, and at most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import Arena, open_arena
from peerage.engine.again.usage import CallSums, OnRecord, Ratios, corrections, on_record
from peerage.ledger.check.audit import totals_of
from peerage.players.models.thinking import ThinkingRoom
from peerage.players.prices import Price
from peerage.views.plan.estimate import SAMPLE, estimate

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
    """A task that judges decide: two answers, and three judges asked twice; or two of them once, and the
    third twice where they split."""
    rules, judging = {"tasks": "own.jsonl"}, {"judges": 3, "order": "both", "early_stop": False}
    players = house(5, price={"input": 0.0, "output": 2.0})
    (tmp_path / "own.jsonl").write_text('{"prompt": "Why is the sky blue?"}\n')
    with open_arena(write_arena(tmp_path, players, game="tasks", rules=rules, judging=judging)) as arena:
        plan = arena.plan(1)
    assert plan.calls == 2 + 3 * 2
    assert sorted(player.calls for player in plan.players) == [1, 1, 2, 2, 2]
    # answers of 2,000 tokens and verdicts of 600, each cut and asked for again with twice the tokens, at two
    # millionths of a dollar a token
    assert plan.worst_usd == pytest.approx((2 * (2_000 + 4_000) + 6 * (600 + 1_200)) * 2e-6)
    with open_arena(write_arena(tmp_path, players, game="tasks", rules=rules)) as arena:
        plan = arena.plan(1)
    assert plan.calls == 2 + 2
    assert plan.worst_usd == pytest.approx((2 * (2_000 + 4_000) + 4 * (600 + 1_200)) * 2e-6)


def test_a_player_without_a_price_is_named(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path, house(7, **PRICED))) as arena:
        settings = arena.settings
    known = Price("test", hour_nano=3_600_000_000, timeout_ms=1000)
    prices = {player.name: known for player in settings.players} | {"p3": Price()}
    plan = estimate(settings, prices, 10)
    assert plan.unpriced == ("p3",)
    unknown = next(player for player in plan.players if player.name == "p3")
    assert (unknown.expected_usd, unknown.worst_usd) == (None, None)
    assert unknown.calls > 0
    assert plan.worst_usd > plan.expected_usd > 0


def test_who_stands_high_is_asked_to_judge(arena: Arena) -> None:
    calls = {player.name: player.calls for player in arena.plan(40).players}
    standing = [row.player for row in arena.leaderboard("raw")]
    assert calls[standing[0]] > calls[standing[-1]]


def test_a_plan_learns_from_the_matches_on_record(tmp_path: Path) -> None:
    """What was taken is foretold for as many matches more, whatever was guessed before."""
    with open_arena(write_arena(tmp_path, house(7, **PRICED))) as arena:
        guessed = arena.plan(24)
        play(tmp_path, 24)
        plan = arena.plan(24)
        rows = zip(arena.ledger.records(), arena.ledger.summaries(), strict=True)
        totals = [totals_of(record) for record, row in rows if row.status == "done"]
        found = on_record(arena.ledger)
    took = [total for match in totals for total in match.values()]
    spent = sum(total.cost_nano for total in took) / 1e9
    assert (guessed.learned_from, plan.learned_from) == (0, 24)
    assert not 0.7 < guessed.expected_usd / spent < 1.4
    assert 0.8 < plan.expected_usd / spent < 1.25
    assert sum(one.calls for one in found.parts.values()) == sum(total.calls for total in took)
    assert guessed.worst_usd == pytest.approx(plan.worst_usd, rel=0.2), "at most stays what it is"


def test_what_is_on_record_counts_by_player_and_what_little_there_is_by_role() -> None:
    of = [("duel", "judge", name) for name in ("Ada", "Bo", "Cy")]
    planned = dict.fromkeys(of, CallSums(10, 20, 2_000, 6_000))
    found = OnRecord(9, {of[0]: CallSums(9, 18, 1_800, 540), of[1]: CallSums(1, 1, 100, 30)})
    ratios = corrections(planned, found)
    assert ratios[of[0]].output_tokens == pytest.approx(0.1, rel=0.15), "30 tokens a call, not 300"
    assert ratios[of[0]].input_tokens == pytest.approx(1.0)
    assert 0.1 < ratios[of[2]].output_tokens < 0.15, "as of the others in that role"
    assert ratios[of[1]].calls < ratios[of[2]].calls < ratios[of[0]].calls <= 1.0
    assert corrections(planned, OnRecord()) == dict.fromkeys(of, Ratios())
    other = {("duel", "author", "Ada"): CallSums(1, 1, 100, 300)}
    assert corrections(other, found) == {("duel", "author", "Ada"): Ratios()}, "of another role"


def test_a_probe_tells_how_much_is_thought(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"prompt": "Why is the sky blue?"}\n')
    rules = {"tasks": "own.jsonl"}
    with open_arena(
        write_arena(tmp_path, house(3), game="tasks", rules=rules, judging={"judges": 1})
    ) as arena:
        settings = arena.settings
    prices = dict.fromkeys(["p0", "p1", "p2"], Price(timeout_ms=9, thinking=ThinkingRoom(8192)))
    usual, seen = (
        estimate(settings, prices, 10, found=OnRecord(probes=probes)).players
        for probes in ({}, {"p0": 2, "p1": 900})
    )
    assert [
        (before.output_tokens - after.output_tokens) // after.calls
        for before, after in zip(usual, seen, strict=True)
    ] == pytest.approx([512 - 32, 0, 0], rel=0.05)
