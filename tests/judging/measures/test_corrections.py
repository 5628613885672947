"""Planted biases, and ratings corrected for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from bench.planted import KINDS, Found, SimulatedArena, planted
from bench.pools import Setup, drawn, honest

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.corrections import CORRECTIONS, Correction, corrected, style_of
from peerage.ratings.columns.history import duels

SETUP = Setup(10, 600, seed=16)


def arena(kind: str, number: int = 0, wanted: Sequence[Correction] = CORRECTIONS) -> SimulatedArena:
    return SimulatedArena(*drawn(SETUP, number, once=KINDS[kind].once, constant=KINDS[kind].constant), wanted)


def found(kind: str, one: SimulatedArena) -> Found:
    plant = planted(kind, one.pool)
    assert plant is not None
    return one.found(plant)


def votes(kind: str, number: int = 0, *, honestly: bool = False) -> Votes:
    pool, luck = (one := arena(kind, number, ())).pool, one.luck
    plant = planted(kind, pool)
    assert plant is not None
    assert plant.fault is not None
    return pool.votes(luck, honest(pool.schedule) if honestly else plant.fault(luck.sold))


def shifts(kind: str, *wanted: Correction) -> tuple[float, float]:
    """The mean shift in a few arenas, before and after corrections."""
    many = [found(kind, arena(kind, number, wanted or CORRECTIONS)) for number in range(4)]
    return float(np.mean([one.moved for one in many])), float(np.mean([one.corrected for one in many]))


@pytest.mark.parametrize(
    ("kind", "by"),
    [
        ("length", "style"),
        ("family", "family"),
        ("friends", "favours"),
        ("ring", "favours"),
        ("position", "position"),
    ],
)
def test_each_bias_is_corrected_by_its_own_correction_and_by_all(kind: str, by: Correction) -> None:
    before, after = shifts(kind, by)
    assert abs(before) > 20
    assert abs(after) < abs(before) / 4 + 5
    assert abs(shifts(kind)[1]) < abs(before) / 4 + 5
    others = [one for one in CORRECTIONS if one not in (by, "favours", "reliability", "harshness")]
    assert shifts(kind, *others)[1] == pytest.approx(before, rel=0.5), "the others leave it as it is"


def test_lazy_judges_weigh_nothing() -> None:
    before, after = shifts("lazy", "reliability")
    assert before > 20
    assert after < before / 2
    notes = corrected(votes("lazy", 1), ["reliability"]).notes
    assert any(note.endswith("what p07, p08, p09 said says nothing") for note in notes), notes


def test_a_tie_says_less_by_a_judge_that_calls_many() -> None:
    before, after = shifts("harsh", "harshness")
    assert before > 8
    assert abs(after) < before / 3


@pytest.mark.parametrize("kind", ["", "lazy", "random", "harsh", "friends"])
def test_corrected_intervals_hold(kind: str) -> None:
    assert 0.9 <= held(kind, 14) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed-length"])
def test_corrected_intervals_hold_in_many_arenas(kind: str) -> None:
    assert 0.92 <= held(kind, 60) <= 0.98


def test_corrected_intervals_hold_where_each_duel_leaves_two_judges() -> None:
    """Who takes a family's lean out in a pool of four hears one judge of its discernment."""
    few = Setup(4, 1600)
    drawings = [SimulatedArena(*drawn(few, number), ("family",)) for number in range(16)]
    inside = [
        (one.clean.after.lower <= one.truth[1]) & (one.truth[1] <= one.clean.after.upper) for one in drawings
    ]
    assert 0.85 <= np.mean(inside) <= 0.99


def held(kind: str, arenas: int) -> float:
    """The share of corrected 95% intervals that hold, with a plant of that kind, or none."""
    return float(np.mean([found(kind, arena(kind, number)).held_corrected for number in range(arenas)]))


def test_judges_that_call_nothing_but_ties_are_no_measure_of_harshness() -> None:
    """A few lazy judges, asked in both orders, move nobody else's votes."""
    lazy = votes("lazy")
    kept = np.flatnonzero(lazy.judge < 7)
    alone = corrected(lazy, ["harshness", "favours", "reliability"]).after
    history = lazy.history
    columns = [column[kept] for column in (history.first, history.second, history.score, history.weight)]
    rest = lazy._replace(
        history=duels(history.players, *columns),
        judges=lazy.judges[:7],
        judge=lazy.judge[kept],
        matches=lazy.matches[kept],
        shown=lazy.shown[kept],
    )
    assert alone.rating == pytest.approx(
        corrected(rest, ["harshness", "favours", "reliability"]).after.rating, abs=4
    )


def test_what_votes_cannot_tell_from_the_players_is_left_alone_and_named() -> None:
    changed = corrected(votes("fixed-length"), ["style"], arena("fixed-length").pool.styles)
    assert "style length: not corrected, nothing here tells it from the players" in changed.notes
    assert changed.after.rating == pytest.approx(changed.before.rating)


def test_without_corrections_nothing_changes() -> None:
    changed = corrected(votes("length"), [])
    assert changed.after.rating == pytest.approx(changed.before.rating)
    assert changed.after.error == pytest.approx(changed.before.error)
    assert changed.notes == ()


def test_nothing_to_correct_is_said() -> None:
    clean = votes("length", honestly=True)
    notes = corrected(clean, CORRECTIONS).notes
    assert "position: nothing to correct, every judge saw both orders" in notes
    assert "style: nothing to correct, the answers are not known or alike in style" in notes
    assert "own: nothing to correct, nobody judged its own work" in notes
    assert "family: nothing to correct, nobody judged its own family against another" in notes
    assert "favours: none found" in notes


def _round_robin(score_of_own: list[float]) -> Votes:
    """Judges a, b and c on each other's work, and votes of `a` on its own against b's."""
    rows = [
        (one, other, score, judge)
        for judge in "abc"
        for one, other in ((0, 1), (1, 2), (2, 0))
        for score in (1.0, 0.0, 1.0, 0.5)
        if "abc".index(judge) not in (one, other)
    ]
    rows += [(0, 1, score, "a") for score in score_of_own]
    first, second, score, judges = zip(*rows, strict=True)
    judge = np.array(["abc".index(name) for name in judges])
    history = duels(3, first, second, score)
    return Votes(("a", "b", "c"), history, ("a", "b", "c"), judge, np.arange(len(rows)), 0 * judge)


def test_its_own_work_is_a_term() -> None:
    changed = corrected(_round_robin([1.0, 1.0, 1.0, 1.0, 0.0]), ["own"])
    assert any(note.startswith("own: +") for note in changed.notes)
    assert changed.after.rating[0] < changed.before.rating[0] - 20


def test_votes_that_all_go_one_way_say_nothing_else() -> None:
    """No finite effect explains a judge that prefers itself every time: its votes are left out."""
    changed = corrected(_round_robin([1.0] * 5), ["own"])
    assert "own: every such vote goes that way and says nothing else: they are left out" in changed.notes
    assert changed.after.rating == pytest.approx(corrected(_round_robin([]), []).before.rating)


def test_style_is_counted_as_in_markdown() -> None:
    code = "```\n# no heading\n- no item\n```"
    text = f"# Why\n\n- **one** and __two__\n2. three\n* four\n\n{code}\n## So\n#5 a * b ** c"
    assert style_of(text) == (len(text), 2, 3, 2)
    assert style_of("") == (0, 0, 0, 0)
    hostile = "**" * 100_000 + "#" * 100_000 + "\n- " * 50_000
    assert style_of(hostile).length == len(hostile)


def test_no_bounds_are_said_where_few_matches_tell_none() -> None:
    pool, luck = drawn(Setup(6, 8, seed=0), 0)
    notes = corrected(pool.votes(luck, honest(pool.schedule)), ["style"], pool.styles).notes
    assert any("a standard deviation" in note for note in notes), notes
    assert not any("nan" in note for note in notes), notes


def test_few_judges_are_not_weighed_by_reliability_and_a_note_says_why() -> None:
    """Two friends of four pass for the reliable ones: weighing raised them further."""
    pool, luck = drawn(Setup(4, 400), 1)
    plant = planted("friends", pool)
    assert plant is not None
    found = corrected(pool.under(luck, plant), ["reliability"])
    assert found.after.rating == pytest.approx(found.before.rating, abs=1e-6)
    assert any("may move ratings the wrong way" in note for note in found.notes)
    pool, luck = drawn(Setup(6, 400), 1)
    assert not any("wrong way" in note for note in corrected(pool.under(luck, None), ["reliability"]).notes)
