"""Pairing by hand-checked cases, and whole tournaments simulated."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from peerage.ratings.sequential.elo_kernels import expected
from peerage.scheduling.standing import History, Standing
from peerage.scheduling.swiss import pair


def table(**cost: float) -> list[Standing]:
    return [Standing(player, player, 1500.0, rating) for player, rating in cost.items()]


def bye(standings: list[Standing], pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [one.player for one in standings if not any(one.player in both for both in pairs)]


def test_neighbours_in_a_stratum_meet() -> None:
    standings = table(d=1500, a=1610, c=1530, b=1590)
    assert pair(standings, History(), "s") == (("a", "b"), ("c", "d"))


def test_the_higher_cost_elo_is_the_higher_seed_and_equals_go_by_name() -> None:
    assert pair(table(a=1400, b=1600), History(), "s") == (("b", "a"),)
    assert pair(table(b=1500, a=1500), History(), "s") == (("a", "b"),)


def test_mates_who_have_met_change_partners() -> None:
    history = History()
    history.remember(("a", "b"))
    history.remember(("c", "d"))
    paired = pair(table(a=1530, b=1528, c=1502, d=1500), history, "s")
    assert {frozenset(both) for both in paired} in (
        {frozenset("ac"), frozenset("bd")},
        {frozenset("ad"), frozenset("bc")},
    )


def test_a_stratum_boundary_counts() -> None:
    # b is 40 from a and 30 from c; the stratum that a opens ends at 1550, so b's mate is a.
    assert pair(table(a=1600, b=1560, c=1530, d=1500), History(), "s") == (("a", "b"), ("c", "d"))
    # Cut elsewhere (width 30), a stands alone and b, c are mates; a then falls to the nearest that is left.
    narrow = pair(table(a=1600, b=1560, c=1530, d=1490), History(), "s", width=30)
    assert narrow == (("a", "b"), ("c", "d")), "both cross one boundary; a-d and b-c would cost more"


def test_whoever_stands_a_whole_width_below_the_top_of_a_stratum_is_in_it() -> None:
    # a-b and c-d cost 50 each. Were b not of a's stratum, b-c would cost 1, and a-d less than what is left.
    standings = table(a=1600, b=1550, c=1549, d=1499)
    assert pair(standings, History(), "s") == (("a", "b"), ("c", "d"))


def test_a_lone_player_falls_to_its_nearest_neighbour() -> None:
    paired = pair(table(top=1900, a=1500, b=1498, c=1496), History(), "s")
    assert paired == (("top", "a"), ("b", "c"))


def test_two_alone_in_their_stratum_do_not_meet_for_ever() -> None:
    standings = table(a=1700, b=1690, c=1600, d=1590)
    history = History()
    opponents_of_a: set[str] = set()
    for number in range(12):
        for both in pair(standings, history, str(number)):
            history.remember(both)
            if "a" in both:
                opponents_of_a |= set(both)
    assert opponents_of_a == {"a", "b", "c", "d"}
    assert history.met("a", "b") > history.met("a", "d"), "but the nearer one more often"


@pytest.mark.parametrize("size", [4, 6, 8, 14])
def test_equal_players_meet_again_only_when_no_other_round_is_possible(size: int) -> None:
    standings = table(**{f"p{at}": 1500.0 for at in range(size)})
    history = History()
    for number in range(size - 1):
        paired = pair(standings, history, f"seed/{number}")
        again = sum(history.met(*both) > 0 for both in paired)
        assert again == fewest_rematches([s.player for s in standings], history)
        for both in paired:
            history.remember(both)


def fewest_rematches(players: list[str], history: History) -> int:
    """The obviously right twin: a maximum matching of those who have not met, by brute force with memory."""
    memo: dict[frozenset[str], int] = {frozenset(): 0}

    def fewest(left: frozenset[str]) -> int:
        if left not in memo:
            first, *others = sorted(left)
            memo[left] = min((history.met(first, o) > 0) + fewest(left - {first, o}) for o in others)
        return memo[left]

    return fewest(frozenset(players))


@pytest.mark.parametrize("size", [3, 5, 9])
def test_byes_rotate(size: int) -> None:
    standings = table(**{f"p{at}": 1500.0 + 7 * at for at in range(size)})
    history = History()
    byes = dict.fromkeys((s.player for s in standings), 0)
    for number in range(40):
        paired = pair(standings, history, f"s/{number}")
        resting = bye(standings, paired)
        assert len(resting) == 1
        byes[resting[0]] += 1
        assert max(byes.values()) - min(byes.values()) <= 1
        for both in paired:
            history.remember(both)


def test_a_newcomer_has_no_bye_until_it_has_caught_up() -> None:
    standings = table(a=1500, b=1500)
    history = History()
    for _ in range(5):
        history.remember(("a", "b"))
    for number in range(5):
        everybody = [*standings, *table(new=1500)]
        paired = pair(everybody, history, str(number))
        assert bye(everybody, paired) != ["new"]
        for both in paired:
            history.remember(both)


def test_nobody_and_one_player_make_no_pair() -> None:
    assert pair([], History(), "s") == ()
    assert pair(table(a=1500), History(), "s") == ()


def test_a_large_arena_is_paired_whole_from_neighbourhoods() -> None:
    rng = Random(5)
    standings = table(**{f"p{at:03}": rng.gauss(1500, 150) for at in range(300)})
    history = History()
    for number in range(4):
        paired = pair(standings, history, str(number))
        assert len(paired) == 150
        assert not bye(standings, paired)
        assert not any(history.met(*both) for both in paired)
        for both in paired:
            history.remember(both)


def test_swiss_finds_the_true_order() -> None:
    """Twelve players 60 Elo apart: after 60 rounds the table agrees with the truth on 90% of all pairs."""
    rng = Random(11)
    truth = {f"p{at:02}": 1830.0 - 60 * at for at in range(12)}
    rating = dict.fromkeys(truth, 1500.0)
    history = History()
    for number in range(60):
        standings = table(**rating)
        for a, b in pair(standings, history, f"s/{number}"):
            history.remember((a, b))
            score = float(rng.random() < expected(truth[a], truth[b]))
            gain = 16 * (score - expected(rating[a], rating[b]))
            rating[a] += gain
            rating[b] -= gain
    pairs = list(combinations(truth, 2))
    right = sum((truth[a] > truth[b]) == (rating[a] > rating[b]) for a, b in pairs)
    assert right / len(pairs) > 0.9
    near = [history.met(a, b) for a, b in pairs if abs(truth[a] - truth[b]) <= 120]
    far = [history.met(a, b) for a, b in pairs if abs(truth[a] - truth[b]) >= 480]
    assert sum(near) / len(near) > 1.5 * sum(far) / len(far), "neighbours meet more often"
    assert min(near + far) >= 1, "and everybody is connected"


def test_kin_never_meet_by_setting_and_whoever_is_left_sits_out() -> None:
    table = [Standing(f"a{at}", "a", 1500.0, 1500.0) for at in range(3)] + [
        Standing("b", "b", 1500.0, 1500.0)
    ]
    history = History()
    rested: dict[str, int] = {}
    for number in range(30):
        found = pair(table, history, f"{number}", same_family=False)
        assert len(found) == 1
        assert "b" in found[0]
        for player in bye(table, found):
            rested[player] = rested.get(player, 0) + 1
        history.remember(found[0])
    assert set(rested.values()) == {20}
    assert len(pair(table, History(), "seed")) == 2
