"""Who may serve, in which order, and what a shortage says."""

from __future__ import annotations

from random import Random

import pytest

from peerage.game.spec import RoleRequirement
from peerage.scheduling.roles import Shortage, by_merit, choose, first_shortage
from peerage.scheduling.standing import Standing

NAMES = "abcdefgh"
STANDINGS = [Standing(name, f"family-{name}", 1600.0 - 10 * at, 1500.0) for at, name in enumerate(NAMES)]
JUDGES = RoleRequirement("judge", wanted=3, minimum=2)
COMMITTEE = RoleRequirement("committee", wanted=3, minimum=1)
AUTHORS = RoleRequirement("author", wanted=2, minimum=1, order="contestants")


def chosen(
    benches: list[RoleRequirement], pair: tuple[str, str], standings: list[Standing] = STANDINGS
) -> dict:
    found = choose(benches, pair, by_merit(standings, Random(1)), "2")
    assert not isinstance(found, Shortage)
    return dict(found)


def test_the_best_outside_the_match_serve() -> None:
    assert chosen([JUDGES], ("b", "a"))["judge"] == ("c", "d", "e")
    assert chosen([JUDGES], ("d", "h"))["judge"] == ("a", "b", "c")


def test_contestants_write_in_seed_order_and_one_official_may_serve_twice() -> None:
    found = chosen([COMMITTEE, JUDGES, AUTHORS], ("g", "a"))
    assert found == {"author": ("g", "a"), "committee": ("b", "c", "d"), "judge": ("b", "c", "d")}


def test_panels_shrink_to_the_minimum_and_then_say_what_is_missing() -> None:
    assert chosen([JUDGES], ("a", "b"), STANDINGS[:4])["judge"] == ("c", "d")
    short = choose([JUDGES], ("a", "b"), STANDINGS[:3], "0")
    assert short == Shortage("judge", 2, 1, ("a", "b"), kin_barred=False)
    assert "a and b needs at least 2 as judge, and without the contestants 1 may serve" in str(short)
    barred = str(short._replace(kin_barred=True, authors_barred=True))
    assert "without the contestants and their families and the authors 1 may serve" in barred


def test_kin_are_barred_on_request() -> None:
    same_family = [
        player._replace(family="one" if player.player in "ac" else player.family) for player in STANDINGS
    ]
    assert chosen([JUDGES._replace(same_family=False)], ("a", "h"), same_family)["judge"] == ("b", "d", "e")
    assert chosen([JUDGES], ("a", "h"), same_family)["judge"] == ("b", "c", "d")


def test_authors_from_the_top_quarter_are_drawn_at_random_and_leave_the_committee() -> None:
    bench = RoleRequirement("author", wanted=1, minimum=1, order="top_quarter")
    drawn = set()
    for seed in range(30):
        found = choose([bench, COMMITTEE], ("a", "h"), STANDINGS, str(seed))
        assert not isinstance(found, Shortage)
        assert not set(found["author"]) & set(found["committee"])
        drawn |= set(found["author"])
    assert drawn == {"b", "c"}, "a quarter of the six outside the match, rounded up"


def test_spare_authors_give_way_to_a_full_committee_but_not_below_their_minimum() -> None:
    authors = RoleRequirement("author", wanted=3, minimum=1, order="top")
    found = chosen([authors, COMMITTEE], ("a", "b"), STANDINGS[:6])
    assert found == {"author": ("c",), "committee": ("d", "e", "f")}
    roomy = chosen([authors, COMMITTEE], ("a", "b"))
    assert roomy == {"author": ("c", "d", "e"), "committee": ("f", "g", "h")}
    short = choose([authors, COMMITTEE], ("a", "b"), STANDINGS[:3], "0")
    assert short == Shortage("committee", 1, 0, ("a", "b"), kin_barred=False, authors_barred=True)
    assert "without the contestants and the authors 0 may serve" in str(short)


def test_equals_serve_in_an_order_that_favours_no_name() -> None:
    level = [player._replace(raw=1500.0) for player in STANDINGS]
    first = {by_merit(level, Random(seed))[0].player for seed in range(60)}
    assert first == set(NAMES)
    assert by_merit(level, Random(4)) == by_merit(level[::-1], Random(4)), "whatever order they are listed in"


def test_a_shortage_is_known_before_the_first_match() -> None:
    assert first_shortage([JUDGES, COMMITTEE, AUTHORS], STANDINGS[:4]) is None
    assert first_shortage([JUDGES], STANDINGS[:3]) is not None
    # Only the pairs of family "one" with somebody else lack judges: c is kin to both of its sides.
    barred = [
        player._replace(family="one" if at < 3 else player.family) for at, player in enumerate(STANDINGS)
    ]
    wants = [RoleRequirement("judge", wanted=5, minimum=5, same_family=False)]
    assert first_shortage(wants, barred) == Shortage("judge", 5, 4, ("a", "d"), kin_barred=True)


@pytest.mark.parametrize("wanted", [1, 2])
def test_a_bench_of_contestants_is_never_outsiders(wanted: int) -> None:
    found = chosen([AUTHORS._replace(wanted=wanted)], ("c", "b"))
    assert found["author"] == ("c", "b")[:wanted]
