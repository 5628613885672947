"""Pairing that places one player: only its own matches, and those that say most."""

from __future__ import annotations

from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal, History, Results, Standing

POOL = [Standing(f"p{at:02}", f"f{at}", 1500.0, 1500.0 - at) for at in range(16)]


def placing(player: str) -> Policy:
    return Policy("adaptive", goal=Goal("placed", player=player, within=50.0))


def met_before(ahead: str) -> tuple[History, Results]:
    """Everybody in the order of names, far apart and well known; `p00` has played a little, and as well as
    `ahead` would."""
    history, results = History(), Results()

    def note(a: str, b: str, won: bool, times: int) -> None:
        for _ in range(times):
            history.remember((a, b))
            results.note((a, b), (1.0, 0.0) if won else (0.0, 1.0))

    names = [one.player for one in POOL[1:]]
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            note(one, other, True, 9)
            note(one, other, False, 1)
    for other in names:
        note("p00", other, other > ahead, 2)
    return history, results


def test_every_match_is_the_newcomers_and_most_are_against_its_neighbours() -> None:
    history, results = met_before("p08")
    met = [
        other
        for lot in range(40)
        for pair in placing("p00").pair(POOL, history, results, f"{lot}")
        for other in pair
    ]
    assert met.count("p00") == len(met) // 2 == 40 * len(POOL) // 8
    near = sum(other in ("p07", "p08", "p09", "p10") for other in met)
    assert near > 50, "by lot it would be 21 of 80"


def test_a_round_is_small_and_nobody_is_placed_who_is_not_there() -> None:
    history, results = History(), Results()
    policy = placing("p03")
    assert len(policy.pair(POOL, history, results, "lot")) == 2
    assert len(policy.pair(POOL[:4], history, results, "lot")) == 1
    assert policy.pair(POOL[:3], history, results, "lot") == ()
    alike = [one._replace(family="f") for one in POOL]
    assert policy.pair(alike, history, results, "lot", same_family=False) == ()


def test_a_table_holds_the_newcomer_and_others_once_each() -> None:
    (table,) = placing("p03").seat(POOL, History(), Results(), "lot", 5)
    assert "p03" in table
    assert len({*table}) == 5
