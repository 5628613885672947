"""Laws of pairing and of choosing officials, for any standings and any past."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.game.spec import RoleRequirement
from peerage.scheduling import swiss
from peerage.scheduling.roles import Shortage, by_merit, choose
from peerage.scheduling.standing import History, Standing
from peerage.scheduling.swiss import pair

ratings = st.one_of(st.floats(1000, 2000), st.sampled_from([1500.0, 1500.5, 1549.0, 1550.0]))


@st.composite
def arenas(draw: st.DrawFn, most: int = 12) -> tuple[list[Standing], History]:
    size = draw(st.integers(0, most))
    names = [f"p{at:02}" for at in range(size)]
    standings = [
        Standing(name, draw(st.sampled_from(["f1", "f2", name])), draw(ratings), draw(ratings))
        for name in names
    ]
    history = History()
    pairs = list(combinations(names, 2))
    for at in draw(st.lists(st.integers(0, max(0, len(pairs) - 1)), max_size=30)) if pairs else []:
        history.remember(pairs[at])
    return draw(st.permutations(standings)), history


@given(arenas(), st.integers(0, 99))
def test_everybody_plays_once_but_for_one_bye(arena: tuple[list[Standing], History], seed: int) -> None:
    standings, history = arena
    paired = pair(standings, history, str(seed))
    seated = [player for both in paired for player in both]
    resting = {standing.player for standing in standings} - {*seated}
    assert len(seated) == len({*seated}) == len(standings) - len(standings) % 2
    assert len(resting) == len(standings) % 2
    cost = {standing.player: standing.cost for standing in standings}
    for higher, lower in paired:
        assert (-cost[higher], higher) < (-cost[lower], lower)
    for player in resting:
        assert history.played(player) == max(history.played(standing.player) for standing in standings)


@given(arenas(), st.randoms(use_true_random=False))
def test_a_round_depends_on_nothing_but_its_arguments(
    arena: tuple[list[Standing], History], shuffler: Random
) -> None:
    standings, history = arena
    again = list(standings)
    shuffler.shuffle(again)
    assert pair(standings, history, "s") == pair(again, history, "s")


@given(arenas(most=8), st.sampled_from([10.0, 50.0, 500.0]))
def test_no_lighter_matching_exists(arena: tuple[list[Standing], History], width: float) -> None:
    standings, history = arena
    paired = pair(standings, history, "s", width)
    seated = {player for both in paired for player in both}
    playing = sorted((s for s in standings if s.player in seated), key=lambda s: (-s.cost, s.player))
    strata: dict[str, int] = {}
    top = float("inf")
    for standing in playing:
        if top - standing.cost > width:
            top = standing.cost
        strata[standing.player] = round(top * 1000)

    def weight(a: Standing, b: Standing) -> float:
        met, apart = history.met(a.player, b.player), abs(a.cost - b.cost)
        mates = strata[a.player] == strata[b.player]
        return apart if mates and not met else (width + apart) * (1 + met)

    named = {standing.player: standing for standing in standings}
    found = sum(weight(named[a], named[b]) for a, b in paired)
    lightest = min(sum(weight(a, b) for a, b in every) for every in matchings(playing))
    assert found == pytest.approx(lightest, abs=0.001 * (1 + sum(history.met(*both) for both in paired)) * 8)


def matchings(players: list[Standing]) -> Iterator[list[tuple[Standing, Standing]]]:
    if not players:
        yield []
        return
    first, *others = players
    for at, other in enumerate(others):
        for rest in matchings(others[:at] + others[at + 1 :]):
            yield [(first, other), *rest]


@given(arenas(most=12))
def test_neighbourhoods_pair_everybody_too(arena: tuple[list[Standing], History]) -> None:
    standings, history = arena
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swiss, "ALL_PAIRS_UP_TO", 0)
        patch.setattr(swiss, "NEIGHBOURS", 1)
        paired = pair(standings, history, "s")
    assert len({player for both in paired for player in both}) == len(standings) - len(standings) % 2


benches = st.lists(
    st.builds(
        RoleRequirement,
        role=st.sampled_from(["author", "committee", "judge"]),
        wanted=st.integers(1, 5),
        minimum=st.integers(0, 3),
        order=st.sampled_from(["top", "top_quarter"]),
        same_family=st.booleans(),
    ),
    unique_by=lambda bench: bench.role,
    max_size=3,
)


@given(arenas(), benches, st.integers(0, 99))
def test_officials_are_never_contestants_nor_barred_kin(
    arena: tuple[list[Standing], History], wanted: list[RoleRequirement], seed: int
) -> None:
    standings, _ = arena
    if len(standings) < 2:
        return
    pair_of = tuple(standing.player for standing in standings[:2])
    merit = by_merit(standings, Random(seed))
    found = choose(wanted, pair_of, merit, str(seed))
    if isinstance(found, Shortage):
        assert found.eligible < found.wanted
        return
    assert set(found) == {bench.role for bench in wanted}
    families = {standing.player: standing.family for standing in standings}
    for bench in wanted:
        serving = found[bench.role]
        assert max(0, min(bench.minimum, bench.wanted)) <= len(serving) <= max(bench.wanted, 0)
        assert len(set(serving)) == len(serving)
        assert not set(serving) & set(pair_of)
        if not bench.same_family:
            assert not {families[player] for player in serving} & {families[player] for player in pair_of}
        if bench.order == "top":
            order = [standing.player for standing in merit]
            assert list(serving) == sorted(serving, key=order.index)
    assert not set(found.get("author", ())) & set(found.get("committee", ()))
