"""The verdict of a table: its pick, its words on the others, what is proven, and what the pick costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from peerage.arena import Arena
from peerage.ratings.claims.proven import Claims, claims
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.views.leaderboard.board import Row
from peerage.views.leaderboard.chances import Chances, of_strengths
from peerage.views.leaderboard.verdict import Flips, Verdict, _answer, _level, _proven, in_words, verdict

NAMES = "ada", "bob", "cid", "dan", "eve"


def table(
    ratings: Sequence[float], *, matches: int = 40, costs: Sequence[float | None] = (), **more: Any
) -> list[Row]:
    """Rows best first."""
    blank = Row(0, "", "", "", "strength", 0.0, None, None, 0, 0, 0, 0, 0, 1.0, None, 0, 0, ())
    prices = costs or [None] * len(ratings)
    return [
        msgspec.structs.replace(
            blank,
            rank=place + 1,
            player=NAMES[place],
            rating=rating,
            matches=matches,
            cost_per_match=prices[place],
            **more,
        )
        for place, rating in enumerate(ratings)
    ]


def chances(
    ratings: Sequence[float], error: float = 60.0, proven: Sequence[tuple[int, int]] = (), alike: bool = False
) -> Chances:
    """Independent normal strengths with this error in points; `proven` are pairs, the better one first."""
    n = len(ratings)
    mean = np.array(ratings)
    drawn = mean + error * np.random.default_rng(1).standard_normal((20_000, n))
    best = (drawn == drawn.max(axis=1, keepdims=True, initial=0.0)).mean(axis=0)
    better = (drawn[:, :, None] > drawn[:, None, :]).mean(axis=0) + np.eye(n) / 2
    these = np.zeros((n, n), bool)
    for above, below in proven:
        these[above, below] = True
    gap = np.quantile(drawn.max(axis=1, keepdims=True, initial=0.0) - drawn, 0.95, axis=0)
    return Chances(
        players=NAMES[:n],
        order=mean,
        best=best,
        better=better,
        wins=1 / (1 + 10 ** ((mean - mean[:, None]) / 400)),
        gives_up=lambda player: float(gap[player]),
        prove=lambda: Claims(these, these & alike),
    )


def found(ratings: Sequence[float], matches: int = 60, error: float = 60.0, **more: Any) -> Verdict:
    return verdict(table(ratings, **more), matches, chances(ratings, error))


def between(wins: int, losses: int) -> Evidence:
    matches = wins + losses
    return of_duels(duels(2, [0] * matches, [1] * matches, [1] * wins + [0] * losses))


def test_matches_that_do_not_count_on_a_track_are_not_called_undecided() -> None:
    nobody = chances([])
    unranked = [msgspec.structs.replace(row, rank=None, wins=3) for row in table([1500, 1500])]
    assert verdict(unranked, 0, nobody).lines == ("No match counts here, so there is nothing to say.",)
    unplayed = [msgspec.structs.replace(row, wins=0) for row in unranked]
    made = verdict(unplayed, 0, nobody)
    assert made.lines == ("No match has been decided yet, so there is nothing to say.",)
    assert (made.pick, made.chance, made.gives_up) == (None, None, None)


def test_everybody_is_in_one_of_four_bins() -> None:
    made = found([1700, 1690, 1580, 1300])
    assert (made.pick, made.may_be_as_good, made.unlikely, made.out) == ("ada", ("bob", "cid"), (), ("dan",))
    assert made.lines[0] == "Pick ada: likely the best of 4 players (53%) after 60 matches."
    assert made.lines[1] == "bob and cid may be as good; dan is out."
    far = found([1700, 1300, 1250])
    assert far.lines[:2] == (
        "Pick ada: likely the best of 3 players (over 99%) after 60 matches.",
        "Both others are out.",
    )
    early = found([1560, 1505, 1500, 1495], 3, 200)
    assert re.fullmatch("Pick ada for now: 3.% to be the best of 4 after 3 matches.", early.lines[0])
    assert early.level == ()
    unlikely = found([1700, 1540], error=60)
    assert unlikely.unlikely == ("bob",)
    assert "bob is unlikely to be as good." in unlikely.lines


def test_of_many_proven_to_be_worse_the_nearest_are_named() -> None:
    worse = ["bob", "cid", "dan", "eve"]
    assert _proven("ada", worse, 6, "these tasks") == (
        "Proven on these tasks: ada is better than bob, cid and 2 others."
    )


def test_many_names_are_counted() -> None:
    made = found([1580, 1505, 1500, 1495, 1490], error=200)
    assert "bob, cid and 2 others may be as good." in made.lines


def test_of_players_that_are_level_nobody_is_picked() -> None:
    made = found([1502, 1501, 1500, 1499, 1300], error=40)
    assert made.level == ("ada", "bob", "cid", "dan")
    assert made.lines[0] == "No clear pick yet: ada, bob and 2 others are level after 60 matches."
    assert made.lines[1] == "bob, cid and dan may be as good; eve is out."
    assert made.lines[3].startswith("Picking ada gives up")
    assert not any("Pick " in line or " it wins" in line for line in made.lines)
    proven = verdict(table([1502, 1500]), 60, chances([1502, 1500], 40, [(0, 1)]))
    assert (proven.level, proven.pick, proven.proven_best) == ((), "ada", True)
    everybody = found([1500, 1500])
    assert everybody.lines[0] == "No clear pick yet: ada and bob are level after 60 matches."
    assert not any("may be as good" in line for line in everybody.lines)


@pytest.mark.parametrize("name", ["ada", "openrouter:anthropic/claude-opus-4.5"])
def test_the_answer_takes_fourteen_words_at_most(name: str) -> None:
    said = [
        *[_answer(name, 40, "12,000 matches", chance, "") for chance in (0.2, 0.4, 0.6, 0.999)],
        _answer(name, 40, "12,000 matches", 0.999, "tasks like these"),
        _answer(name, 1, "12,000 matches", 1.0, ""),
        _level([name, "bob", "cid", "dan"], "12,000 matches"),
    ]
    assert max(len(line.split()) for line in said) <= 14


@pytest.mark.parametrize(("wins", "losses"), [(60, 0), (60, 1), (128, 0), (9, 0)])
def test_two_players_far_apart_are_told_apart_and_that_is_proven(wins: int, losses: int) -> None:
    evidence = between(wins, losses)
    made = verdict(
        table([1800, 1200], matches=wins + losses),
        wins + losses,
        of_strengths(NAMES[:2], strengths(evidence, seed=1), lambda: claims(evidence)),
    )
    assert (made.pick, made.out, made.proven_best) == ("ada", ("bob",), True)
    after = f"after {wins + losses} matches"
    assert made.lines[0] == f"Pick ada: proven best of 2 players on these tasks {after}."
    assert made.lines[1] == "bob is out."


def test_two_equals_are_not(arena: Arena) -> None:
    evidence = between(30, 30)
    even = of_strengths(NAMES[:2], strengths(evidence, seed=1), lambda: claims(evidence))
    made = verdict(table([1500, 1500]), 60, even)
    assert (made.proven_best, made.out) == (False, ())
    assert made.may_be_as_good == ("bob",)
    assert "Nothing is proven of ada yet." in made.lines


def test_what_is_proven_is_said_and_puts_the_worse_player_out() -> None:
    ratings = [1700, 1690, 1660, 1650]
    made = verdict(table(ratings), 60, chances(ratings, proven=[(0, 3)]))
    assert made.out == ("dan",)
    assert "Proven on these tasks: ada is better than dan." in made.lines
    alike = verdict(table(ratings), 60, chances(ratings, proven=[(0, 3)], alike=True))
    assert "Proven on tasks like these: ada is better than dan." in alike.lines
    against = verdict(table(ratings), 60, chances(ratings, proven=[(3, 0)]))
    assert against.out == (), "nothing is said to be proven against the likelier order"


def test_what_picking_gives_up_is_said_while_somebody_may_be_as_good() -> None:
    made = found([1700, 1690])
    assert made.gives_up is not None
    assert f"Picking it gives up {made.gives_up:.0f} points at most (95%)." in made.lines
    assert not [line for line in found([1900, 1300]).lines if "gives up" in line]


def test_nobody_else_is_said_to_be_first_without_a_word_on_what_counts() -> None:
    ratings = [1700, 1690, 1300]
    rows = table(ratings)
    turned = [msgspec.structs.replace(row, rating=-row.rating, track="glicko2") for row in rows[::-1]]
    made = verdict(turned, 60, chances(ratings))
    assert made.pick == "ada"
    assert "Glicko-2 puts cid first; the chances from all matches count." in made.lines
    voted = [msgspec.structs.replace(row, track="judge-aware") for row in turned]
    told = "The judges' votes put cid first; the results of matches count."
    assert told in verdict(voted, 60, chances(ratings)).lines
    assert not [line for line in verdict(rows, 60, chances(ratings)).lines if "first;" in line]


def test_the_best_value_wins_most_for_the_money_of_those_that_come_near() -> None:
    made = found([1800, 1700, 1500, 1400], 100, costs=[0.05, 0.01, 0.002, 0.001])
    assert made.value == "bob"  # wins 36%; cid 15%
    assert (
        "Best value for money: bob, at $1.00 per 100 matches, 20% of the price; it wins "
        "about 1 in 3 matches against ada." in made.lines
    )
    free = found([1800, 1700, 1500, 1400], 100, 20, costs=[0.05, 0.0, 0.002, 0.001])
    assert (
        "Best value for money: bob, which costs nothing; it wins about 1 in 3 matches against ada."
        in free.lines
    )
    # Where answers are checked, most matches tie, and who is out wins enough of them all the same.
    ratings = [1800, 1700, 1500, 1400]
    rows = [
        msgspec.structs.replace(row, accuracy=0.5)
        for row in table(ratings, costs=[0.05, 0.0, 0.002, 0.001], matches=100)
    ]
    assert verdict(rows, 100, chances(ratings, 20)).value == "ada"
    assert found([1900, 1500], 100, costs=[0.05, 0.01]).value == "ada"
    near = found([1800, 1780, 1680], 100, 20, costs=[0.096, 0.062, 0.055])  # cid saves next to nothing
    assert near.value == "bob"
    alone = found([1800, 1700], 100, costs=[0.05, 0.045])
    assert (
        "Best value for money: ada, at $5.00 per 100 matches; nobody cheaper wins enough against it."
        in alone.lines
    )
    assert found([1800, 1700], 100, costs=[0.05, None]).value is None
    few = verdict(table([1800, 1700], costs=[0.05, 0.01], matches=2), 2, chances([1800, 1700]))
    assert few.value is None, "too few matches to say"
    rows = table([1800, 1700], costs=[0.05, 0.01])
    unit = verdict(rows, 100, chances([1800, 1700]), priced=False)
    assert unit.value == "bob"
    assert not [line for line in unit.lines if "$" in line]


def test_what_weakens_it_is_said_where_there_is_any() -> None:
    ratings = [1800, 1600]
    both = chances(ratings)
    assert verdict(table(ratings), 60, both, Flips(100, 30)).weakened_by == ()
    flipping = verdict(table(ratings), 60, both, Flips(100, 40))
    assert flipping.weakened_by == ("judges changed 40% of their verdicts when the answers changed places",)
    losing = verdict(table(ratings, void=8), 60, both)
    assert losing.weakened_by == ("8 of 48 matches of bob came to no result, and over a tenth for 1 more",)
    assert losing.lines[-1] == f"What weakens this: {losing.weakened_by[0]}."
    assert verdict(table(ratings, matches=2), 2, both).weakened_by == (
        "all 2 players have fewer than 10 matches",
    )


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


def test_an_arena_has_one_on_all_its_tracks(arena: Arena) -> None:
    made = arena.verdict()
    assert made.matches == 60
    names = {player.name for player in arena.settings.players}
    sorted_out = [made.pick, *made.may_be_as_good, *made.unlikely, *made.out]
    assert len(sorted_out) == len({*sorted_out}) == made.players == 7
    assert {*sorted_out} <= names
    assert str(made) == "\n".join(made.lines)
    assert made.lines[0] in made._repr_html_()
    for track in ("bt", "trueskill", "raw", "cost", "glicko2"):
        other = arena.verdict(track)
        assert (other.pick, other.chance, other.out, other.proven) == (
            made.pick,
            made.chance,
            made.out,
            made.proven,
        )
        picks = [row.player for row in arena.leaderboard(track) if row.bin == "pick"]
        assert picks == ([made.pick] if track in ("bt", "trueskill") else [])
