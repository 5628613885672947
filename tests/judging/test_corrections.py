"""Planted biases, and ratings corrected for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.biases import DUELS, PLANTS, Plant, arena, moved

from peerage.judging.corrections import CORRECTIONS, Correction, Recorded, corrected
from peerage.judging.style import style_of
from peerage.ratings.history import duels

LONGER, CONSTANT, FAMILY, FRIENDS, _, RING, FIRST, LAZY, LAZY_ONCE = PLANTS


def shifts(plant: Plant, *wanted: Correction) -> tuple[float, float]:
    """The mean shift in a few arenas, before and after corrections."""
    found = np.array([moved(seed, plant, wanted or CORRECTIONS) for seed in range(4)]).mean(axis=0)
    return float(found[0]), float(found[1])


@pytest.mark.parametrize(
    ("plant", "by"),
    [(LONGER, "style"), (FAMILY, "family"), (FRIENDS, "favours"), (RING, "favours"), (FIRST, "position")],
)
def test_each_bias_is_corrected_by_its_own_correction_and_by_all(plant: Plant, by: Correction) -> None:
    before, after = shifts(plant, by)
    assert abs(before) > 20
    assert abs(after) < abs(before) / 4 + 5
    assert abs(shifts(plant)[1]) < abs(before) / 4 + 5
    others = [one for one in CORRECTIONS if one not in (by, "favours", "reliability")]
    assert shifts(plant, *others)[1] == pytest.approx(before, rel=0.5), "the others leave it as it is"


def test_lazy_judges_weigh_nothing() -> None:
    before, after = shifts(LAZY, "reliability")
    assert before > 20
    assert after < before / 2
    votes, _ = arena(1, LAZY, planted=True, many=DUELS)
    notes = corrected(votes, ["reliability"]).notes
    assert any(note.endswith("the votes of p7, p8, p9 say nothing") for note in notes), notes


def test_what_votes_cannot_tell_from_the_players_is_left_alone_and_named() -> None:
    votes, _ = arena(0, CONSTANT, planted=True, many=DUELS)
    found = corrected(votes, ["style"])
    assert "style length: not corrected, these votes do not tell it from the players" in found.notes
    assert found.after.rating == pytest.approx(found.before.rating)


def test_without_corrections_nothing_changes() -> None:
    votes, _ = arena(0, LONGER, planted=True, many=DUELS)
    found = corrected(votes, [])
    assert found.after.rating == pytest.approx(found.before.rating)
    assert found.after.error == pytest.approx(found.before.error)
    assert found.notes == ()


def test_nothing_to_correct_is_said() -> None:
    votes, _ = arena(0, LONGER, planted=False, many=DUELS)
    notes = corrected(replace(votes, styles={}, families=None), CORRECTIONS).notes
    assert "position: nothing to correct, every judge saw both orders" in notes
    assert "style: nothing to correct, the answers are not known or alike in style" in notes
    assert "own: nothing to correct, nobody judged its own work" in notes
    assert "family: nothing to correct, nobody judged its own family against another" in notes
    assert "favours: none found" in notes


def _round_robin(score_of_own: list[float]) -> Recorded:
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
    size = len(rows)
    return Recorded(
        ("a", "b", "c"), duels(3, first, second, score), judges, list(range(size)), [0] * size, {}, {}
    )


def test_its_own_work_is_a_term() -> None:
    found = corrected(_round_robin([1.0, 1.0, 1.0, 1.0, 0.0]), ["own"])
    assert any(note.startswith("own: +") for note in found.notes)
    assert found.after.rating[0] < found.before.rating[0] - 20


def test_votes_that_all_go_one_way_say_nothing_else() -> None:
    """No finite effect explains a judge that prefers itself every time: its votes are left out."""
    found = corrected(_round_robin([1.0] * 5), ["own"])
    assert "own: every such vote goes that way and says nothing else: they are left out" in found.notes
    assert found.after.rating == pytest.approx(corrected(_round_robin([]), []).before.rating)


def test_style_is_counted_as_in_markdown() -> None:
    code = "```\n# no heading\n- no item\n```"
    text = f"# Why\n\n- **one** and __two__\n2. three\n* four\n\n{code}\n## So\n#5 a * b ** c"
    assert style_of(text) == (len(text), 2, 3, 2)
    assert style_of("") == (0, 0, 0, 0)
    hostile = "**" * 100_000 + "#" * 100_000 + "\n- " * 50_000
    assert style_of(hostile).length == len(hostile)
