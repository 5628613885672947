"""What it takes to be sure: numbers that follow from ratings and errors, ranges, and how they are told."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from math import inf
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
from tests.engine.arenas import house, play, write_arena
from tests.tables.test_verdict import table
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.ratings.bradley_terry import Pair, fit
from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.scheduling import order
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.further import RatingEstimates, expected, ranges, spread
from peerage.scheduling.goal import Known
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Ended, Goal, PolicyName
from peerage.scheduling.strengths import Strengths
from peerage.tables.outlook import outlook, table_of
from peerage.tables.played import ScopeError

cli = CliRunner()


def test_expected_courses_take_as_many_matches_as_the_fit_itself_needs() -> None:
    """The claim comes after so many matches of strengths that are as expected."""
    few = RatingEstimates(np.array([40.0, -40.0]), np.diag([1800.0, 1800.0]))
    many, mean = expected(few), few.truth.weight @ few.truth.mean

    def told(part: float) -> bool:
        times = 1 + (many - 1) * part
        gap = (80 / few.unit + (mean[0] - mean[1]) * (times - 1)) / times
        needed = gap_needed(few.covariance / few.unit**2 / times, unit=1.0)[0, 1]
        return bool(gap > needed)

    assert not told(0.85)
    assert told(1.15)


def test_the_range_holds_what_is_likely_and_equals_leave_it_open() -> None:
    apart = RatingEstimates(np.array([80.0, 20.0, -100.0]), 300.0 * np.eye(3))
    best, far, near = ranges(apart, [BEST], [(0, 2), (0, 1)])
    assert near.least < near.about < near.most < inf
    assert far.most < near.about
    assert best == pytest.approx(near, rel=0.3)
    (equal,) = ranges(RatingEstimates(np.zeros(2), 1000.0 * np.eye(2)), [], [(0, 1)])
    assert equal.least > 3
    assert equal.most == inf
    assert ranges(apart, [], [(0, 1)]) == ranges(apart, [], [(0, 1)])


def test_matches_of_a_block_go_where_the_policy_would_send_them_one_by_one() -> None:
    rng = np.random.default_rng(4)
    mean = rng.normal(0, 0.7, (1, 8))
    root = rng.normal(0, 1, (8, 30))
    covariance = np.asarray(np.linalg.inv(root @ root.T))[None]
    chance = 1 / (1 + np.exp(mean[:, None, :] - mean[:, :, None]))
    strengths = Strengths(mean, covariance, chance * (1 - chance))
    free, played = ~np.eye(8, dtype=bool)[None], np.full((1, 8), 40)
    lots = [Random(3)]
    counts = np.zeros((8, 8))
    for a, b in order.seat(strengths, played, free, np.ones((1, 8)), lots, order.of_order, 40)[0].tolist():
        counts[min(a, b), max(a, b)] += 1
    block = spread(order.of_order, mean, covariance, np.triu(free[0], 1), played * 1.0, 40.0)[0]
    assert block.sum() == pytest.approx(40)
    assert np.corrcoef(block[np.triu_indices(8, 1)], counts[np.triu_indices(8, 1)])[0, 1] > 0.9


@pytest.mark.parametrize("name", ["order", "top", "certify"])
def test_policies_that_learn_tell_neighbours_apart_sooner_and_leave_who_is_gone(name: PolicyName) -> None:
    rating = np.array([150.0, 130.0, 0.0, -130.0, -150.0])
    covariance = 900.0 * np.eye(5)
    by_lot, learnt = (
        ranges(RatingEstimates(rating, covariance, loss=loss), [BEST], [(0, 1)])[1]
        for loss in (None, Policy(name).loss("abcde"))
    )
    assert learnt.least < by_lot.least
    here = np.array([False, *[True] * 4])
    gone = RatingEstimates(
        rating, covariance, loss=Policy(name).loss("abcde"), may=here[:, None] & here & ~np.eye(5, dtype=bool)
    )
    assert ranges(gone, [], [(0, 1)])[0].about > learnt.about


def test_the_next_match_is_that_which_takes_most_from_the_loss_of_wrong_orders() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = table(sorted(rng.normal(1500, 250, 4), reverse=True))
        rows = [
            msgspec.structs.replace(row, lower=row.rating - width, upper=row.rating + width)
            for row, width in zip(rows, rng.uniform(40, 400, 4), strict=True)
        ]
        found, known = outlook(rows, 300), table_of(rows)
        assert found is not None
        assert known is not None
        rating, covariance = known.rating / known.unit, known.covariance / known.unit**2

        def left(covariance: Floats, rating: Floats = rating, before: Floats = covariance) -> float:
            """The sum over pairs of the variance of their gap, by what it now costs."""
            total = 0.0
            for i, j in combinations(range(4), 2):
                way = np.eye(4)[i] - np.eye(4)[j]
                now = way @ before @ way
                cost = np.exp(-((rating[i] - rating[j]) ** 2) / now) / now**0.5
                total += cost * (way @ covariance @ way)
            return total

        def after(one: int, other: int, rating: Floats = rating, before: Floats = covariance) -> Floats:
            chance = 1 / (1 + np.exp(rating[other] - rating[one]))
            way = np.eye(4)[one] - np.eye(4)[other]
            told = np.linalg.inv(before) + chance * (1 - chance) * np.outer(way, way)
            return np.asarray(np.linalg.inv(told))

        best = min(combinations(range(4), 2), key=lambda pair: left(after(*pair)))
        assert found.next == (rows[best[0]].player, rows[best[1]].player)


def test_chances_prices_and_what_is_known() -> None:
    rows = table([1800, 1710, 1570], 2, width=45)  # three players at a dollar
    rows = [msgspec.structs.replace(row, above=("cid",)) if row.player == "bob" else row for row in rows]
    found = outlook(rows, 300)
    assert found is not None
    first, second = found.pairs
    assert first.wins == pytest.approx(0.627, abs=0.001)
    assert 0.9 < first.better < 1
    assert first.further.matches is not None
    assert first.further.usd == pytest.approx(0.01 * first.further.matches)
    assert first.further == found.best
    assert second.further.matches == 0
    assert "To tell bob from cid: known; " in found.lines[2]
    low, high = first.further.at_least, first.further.at_most
    assert low is not None
    assert high is not None
    price = f"${0.01 * first.further.matches:.2f}"
    assert f"about {first.further.matches:,} more matches, {price} ({low:,} to {high:,})" in found.lines[0]
    assert found.next == ("ada", "bob")
    gone = [msgspec.structs.replace(row, status="left") if row.player == "bob" else row for row in rows]
    left = outlook(gone, 300)
    assert left is not None
    assert left.next == ("ada", "cid")


@pytest.mark.parametrize(
    ("goal", "aim"),
    [
        (Goal("top", 1), Aim("top")),
        (Goal("top", 2, within=30), Aim("top", 2, within=30)),
        (Goal("order", within=80), Aim("order", within=80)),
        (Goal("placed", player="p2", within=40), Aim("placed", player=2, within=40)),
    ],
)
def test_a_goal_is_reached_in_the_outlook_when_a_run_would_end(goal: Goal, aim: Aim) -> None:
    rng = np.random.default_rng(5)
    known, counts = Known(goal, [f"p{at}" for at in range(4)]), np.zeros((4, 4))
    found = []
    for _ in range(12):
        for a, b in combinations(range(4), 2):
            for _ in range(12):
                won = rng.random() < 1 / (1 + np.exp(0.9 * (a - b)))
                counts[(a, b) if won else (b, a)] += 1
                known.note(Ended("duel", (f"p{a}", f"p{b}"), (1.0, 0.0) if won else (0.0, 1.0)))
        pairs = [Pair(a, b, counts[a, b], counts[b, a]) for a, b in combinations(range(4), 2)]
        table = fit(pairs, 4)
        found.append(bool(aim.reached(table.rating, gap_needed(table.covariance))))
        assert found[-1] == known.state.reached
    assert set(found) == {False, True}
    few = RatingEstimates(table.rating, 9 * table.covariance)
    (span,) = ranges(few, [aim], [])
    assert 1 < span.least <= expected(few, aim) <= span.most


def test_players_who_never_met_can_be_told_apart_when_they_do() -> None:
    found = fit([Pair(0, 1, 30, 2), Pair(2, 3, 2, 30)], 4)
    often = np.zeros((4, 4))
    often[0, 1] = often[1, 0] = often[2, 3] = often[3, 2] = 32
    least = []
    for status in ("active", "left"):
        rows = [
            msgspec.structs.replace(row, rating=rating, lower=rating - error, upper=rating + error)
            for row, rating, error in zip(table([1500] * 4, 4), found.rating, 2 * found.error, strict=True)
        ]
        rows = [msgspec.structs.replace(row, status=status) for row in rows]
        told = outlook(rows, 64, ("ada", "cid"), None, found.covariance.tolist(), often.tolist())
        assert told is not None
        least.append(told.pairs[0].further.at_least)
    assert least[0] < least[1] / 4


def test_what_a_run_takes_is_about_the_players_of_its_settings(tmp_path: Path) -> None:
    write_arena(tmp_path, 4)
    play(tmp_path, 60)
    write_arena(tmp_path, [*house(4)[:3], {"name": "new", "model": "house:0.5"}])
    with open_arena(tmp_path, create=False) as arena:
        found = arena.outlook()
        assert {name for pair in found.pairs for name in (pair.one, pair.other)} == {"p0", "p1", "p2"}
        assert found.lines[-1].startswith("new has no decided match yet")
        assert str(found.best) == "nobody can say yet"
        assert not any("should tell who is best" in line for line in arena.verdict().lines)
        assert arena.outlook("p3", "p0").pairs[0].one == "p3", "one that left can still be asked for"
        with pytest.raises(ScopeError, match="new has no decided match yet"):
            arena.outlook("new", "p0")
        with pytest.raises(ScopeError, match="no player is called 'p3'"):
            arena.outlook(until="p3 placed")
        assert str(arena.outlook(until="new placed").until) == "nobody can say yet"


def test_the_outlook_has_what_a_run_is_to_find_out(folder: Path, arena: Arena) -> None:
    found = arena.outlook(until="top 2 known to 60")
    assert found.until is not None
    assert found.lines[0].startswith("Until top 2 known to 60: ")
    told = cli.invoke(app, ["plan", "--until", "top 2 known to 60", "--dir", str(folder)]).stdout
    assert told == f"{found}\n"
    assert found._repr_html_().startswith("<p><strong>Until top 2 known to 60: ")
    with pytest.raises(ScopeError, match="until: 'nobody placed': no player is called 'nobody'"):
        arena.outlook(until="nobody placed")
    assert arena.outlook().until is None


@pytest.mark.parametrize("name", ["order", "top", "certify"])
def test_where_pairing_learns_a_range_is_stated_for_its_own_spread(name: PolicyName) -> None:
    rows = table([1800, 1710, 1570], 2, width=45)
    usual, found = outlook(rows, 300), outlook(rows, 300, policy=Policy(name))
    assert usual is not None
    assert found is not None
    assert (usual.under, found.under) == (False, True)
    assert found.lines[0].startswith("To know the best under `until: best known`: ")
    low, high = found.best.at_least, found.best.at_most
    assert f" ({low:,} to {high:,})" in found.lines[0]
    assert found.best != usual.best


def test_a_range_begins_with_the_errors_by_which_claims_are_made() -> None:
    """What cannot be claimed yet takes more than the first step, though information alone would have it."""
    few = RatingEstimates(np.array([90.0, -90.0]), np.diag([900.0, 900.0]))
    needed = np.array([[inf, 250.0], [250.0, inf]])
    (free,), (strict,) = ranges(few, [], [(0, 1)]), ranges(replace(few, needed=needed), [], [(0, 1)])
    assert strict.least > 1.02
    assert strict.about > free.about
    assert expected(replace(few, needed=needed)) > expected(few)


def test_pairing_to_place_one_player_spreads_only_its_matches() -> None:
    rows = table([1800, 1710, 1570], 2, width=45)
    found = outlook(
        rows,
        300,
        policy=Policy("place", goal=Goal("placed", player="cid")),
        goal=Goal("placed", player="cid"),
    )
    assert found is not None
    assert found.until is not None
    assert found.until.matches is not None
    (first, _) = found.pairs
    assert first.further.at_least > found.until.matches


def test_of_equals_the_number_is_open_above() -> None:
    found = outlook(table([1500, 1500], 2), 100, ("bob", "ada"))
    assert found is not None
    (pair,) = found.pairs
    assert (pair.better, pair.wins) == pytest.approx((0.5, 0.5))
    assert found.lines[1].endswith("; either may be better.")
    assert (pair.further.matches, pair.further.at_most) == (None, None)
    assert f": {pair.further.at_least:,} more matches at least; " in found.lines[1]
    near = outlook(table([1620, 1500], 2), 100)
    assert near is not None
    (pair,) = near.pairs
    assert (pair.further.matches or 0) > pair.further.at_least
    assert pair.further.at_most is None
    assert f" ({pair.further.at_least:,} or more); " in near.lines[1]


@pytest.mark.parametrize("track", ["trueskill", "raw", "points"])
def test_a_track_whose_errors_do_not_shrink_says_nothing(track: str) -> None:
    assert outlook(table([1600, 1500], 2, track=track), 100) is None


def test_of_many_players_the_first_pairs_are_said_and_all_on_request(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 12)
    play(folder, 60)
    short, whole = [
        cli.invoke(app, ["plan", "--dir", str(folder), *more]).stdout.splitlines() for more in ([], ["--all"])
    ]
    with open_arena(folder) as arena:
        said = [str(pair) for pair in arena.outlook().pairs]
        write_arena(tmp_path, [{"name": "new", "model": "house:0.5"}, *house(1)])
    assert (short[1:9], short[9]) == (
        said[:8],
        "`peerage plan --all` has 3 more pairs of neighbours, further down in the table.",
    )
    assert whole == [*short[:9], *said[8:], *short[10:]]
    refused = cli.invoke(app, ["plan", "--dir", str(folder)])
    assert "of the players of arena.yaml only p0 has a decided match: play more" in refused.stderr


def test_the_terminal_and_json_have_it(folder: Path, arena: Arena) -> None:
    words = ["plan", "p5", "p3", "--dir", str(folder)]
    found = arena.outlook("p5", "p3")
    assert cli.invoke(app, words).stdout == "\n".join(found.lines) + "\n"
    assert json.loads(cli.invoke(app, [*words, "--format", "json"]).stdout) == found.as_dict()
    assert len(arena.outlook().pairs) == 6
    for wrong in (["p5", "nobody"], ["p5"], ["p5", "p5"]):
        assert cli.invoke(app, ["plan", *wrong, "--dir", str(folder)]).exit_code == 2
    with pytest.raises(ScopeError, match="errors of track raw do not shrink with the matches: take one"):
        arena.outlook(track="raw")
