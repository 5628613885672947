"""The verdict of a table: what it says, what it keeps to itself, and that what it counts is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from peerage.arena import Arena
from peerage.tables.chances import chances
from peerage.tables.leaderboard import Row
from peerage.tables.verdict import Flips, in_words, verdict

NAMES = "ada", "bob", "cid", "dan", "eve"


def table(
    ratings: Sequence[float],
    first: int = 1,
    *,
    width: float | None = 100.0,
    matches: int = 40,
    costs: Sequence[float | None] = (),
    **more: Any,
) -> list[Row]:
    """Rows best first, of which the first `first` may be the best."""
    blank = Row(0, None, "", "", "", "bt", 0.0, None, None, 0, 0, 0, 0, 0, 1.0, None, 0, 0, ())  # type: ignore[arg-type]
    prices = costs or [None] * len(ratings)
    return [
        msgspec.structs.replace(
            blank,
            rank=place + 1,
            rank_range=(1, first) if place < first else (place + 1, place + 1),
            player=NAMES[place],
            rating=rating,
            lower=None if width is None else rating - width,
            upper=None if width is None else rating + width,
            matches=matches,
            cost_per_match=prices[place],
            **more,
        )
        for place, rating in enumerate(ratings)
    ]


def test_matches_that_do_not_count_on_a_track_are_not_called_undecided() -> None:
    unranked = [
        msgspec.structs.replace(row, rank=None, rank_range=None, wins=3) for row in table([1500, 1500])
    ]
    assert verdict(unranked, 0).lines == ("No match counts here, so there is nothing to say.",)
    unplayed = [msgspec.structs.replace(row, wins=0, draws=0, losses=0) for row in unranked]
    assert verdict(unplayed, 0).lines == ("No match has been decided yet, so there is nothing to say.",)


def test_who_is_best_is_said_only_where_nobody_else_may_be() -> None:
    sure = verdict(table([1800, 1600, 1400]), 60)
    assert (sure.best, sure.may_be_best) == ("ada", ("ada",))
    assert sure.lines[0] == "ada is the best of 3 players, with 95% confidence."
    either = verdict(table([1800, 1760, 1400, 1300], 2), 60)
    assert (either.best, either.may_be_best) == (None, ("ada", "bob"))
    assert either.lines[0] == "The best of 4 players is ada or bob: 60 matches cannot tell which."
    most = verdict(table([1900, 1600, 1590, 1580, 1500], 4), 60)
    assert most.lines[0] == "ada leads 5 players after 60 matches; 4 of them may be the best."
    anyone = verdict(table([1520, 1510, 1500, 1490], 4), 60)
    assert anyone.lines[0] == "ada leads 4 players after 60 matches; none is out of the race yet."


def test_nobody_leads_whose_rating_another_has() -> None:
    for many, who in ((2, "ada and bob"), (3, "ada, bob and cid"), (4, "ada and 3 others")):
        rows = [msgspec.structs.replace(row, rank=1) for row in table([1500] * many, many)]
        told = f"{who} share the lead of {many} players after 60 matches; none is out of the race yet."
        assert verdict(rows, 60).lines[0] == told
    last = msgspec.structs.replace(rows[0], rank=5, rank_range=(5, 5), player="eve", rating=1300.0)
    told = "ada and 3 others share the lead of 5 players after 60 matches; 4 of them may be the best."
    assert verdict([*rows, last], 60).lines[0] == told


@pytest.mark.parametrize("thin", [{"matches": 2}, {"width": None}])
def test_few_matches_crown_nobody_and_name_no_bargain(thin: dict[str, Any]) -> None:
    found = verdict(table([1800, 1600, 1400], costs=[1.0, 0.1, 0.01], **thin), 3)
    assert (found.best, found.value) == (None, None)
    assert found.lines[0] == "None of 3 players is clearly the best after 3 matches."
    assert len(found.weakened_by) == 1
    assert len(found.lines) == 2


def test_the_best_value_is_the_cheapest_that_comes_near() -> None:
    rows = table([1800, 1700, 1500, 1400], costs=[0.05, 0.01, 0.002, 0.001])
    found = verdict(rows, 100)
    assert found.value == "bob"  # wins 36%; cid 15%
    assert (
        "Best value for money: bob, at $1.00 per 100 matches (ada costs 5.0 times as much); it wins "
        "about 1 in 3 matches against ada." in found.lines
    )
    free = verdict(table([1800, 1700, 1500, 1400], costs=[0.05, 0.0, 0.002, 0.001]), 100)
    assert (
        "Best value for money: bob, which costs nothing; it wins about 1 in 3 matches against ada."
        in free.lines
    )
    alone = verdict(table([1900, 1500], costs=[0.05, 0.01]), 100)
    assert alone.value == "ada"
    assert verdict(table([1800, 1700], costs=[0.05, None]), 100).value is None
    unit = verdict(rows, 100, priced=False)
    assert unit.value == "bob"
    assert not [line for line in unit.lines if "$" in line]


def test_what_weakens_it_is_said_where_there_is_any() -> None:
    assert verdict(table([1800, 1600]), 60, Flips(100, 30)).weakened_by == ()
    flipping = verdict(table([1800, 1600]), 60, Flips(100, 40))
    assert flipping.weakened_by == ("judges changed 40% of their verdicts when the answers changed places",)
    losing = verdict(table([1800, 1600], void=8), 60)
    assert losing.weakened_by == ("8 of 48 matches of bob came to no result, and over a tenth for 1 more",)
    assert losing.lines[-1] == f"What weakens this: {losing.weakened_by[0]}."


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.5, "about half of the matches"),
        (0.61, "about 3 in 5 matches"),
        (0.39, "about 2 in 5 matches"),
        (0.76, "about 3 in 4 matches"),
        (0.26, "about 1 in 4 matches"),
        (0.94, "about 19 in 20 matches"),
        (0.995, "nearly every match"),
        (0.004, "hardly any match"),
    ],
)
def test_chances_are_said_as_people_say_them(chance: float, words: str) -> None:
    assert in_words(chance) == words


def test_chances_are_those_of_the_curve_that_ratings_rest_on() -> None:
    rows = table([1900, 1500, 1500])
    assert chances(rows, "bob") == pytest.approx([10 / 11, 0.5, 0.5])
    found = verdict(rows, 60)
    assert [one.chance for one in found.beats] == pytest.approx([10 / 11] * 2)
    assert [chances([msgspec.structs.replace(row, track="points") for row in rows], "bob")] == [[]]


def test_shares_of_wins_come_from_the_chances_that_they_are_the_means_of() -> None:
    """Overall: the mean chances of made-up strengths give these chances back."""
    strength = np.array([1.2, 0.5, -0.3, -1.4])
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    share = (chance.sum(axis=1) - 0.5) / 3
    rows = [msgspec.structs.replace(row, track="overall") for row in table((100 * share).tolist())]
    assert chances(rows, "bob") == pytest.approx(chance[:, 1].tolist(), abs=1e-6)


def test_an_arena_has_it_with_what_its_ledger_knows(arena: Arena) -> None:
    found = arena.verdict()
    assert found.matches == 60
    assert found.players == 7
    assert set(found.may_be_best) <= {player.name for player in arena.settings.players}
    assert str(found) == "\n".join(found.lines)
    assert found.lines[0] in found._repr_html_()
