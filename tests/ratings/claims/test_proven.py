"""Proven differences: their evidence against its definition, the prototype's figures, and laws."""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
import pytest
from bench.clusters import equals
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special  # type: ignore[import-untyped]

from peerage.ratings.claims import strengths as room
from peerage.ratings.claims.closing import closed
from peerage.ratings.claims.proven import claims, proof, proven
from peerage.ratings.claims.strengths import PARTS, PRECISIONS, TOGETHER
from peerage.ratings.columns.history import Game, duels, free_for_all, games
from peerage.ratings.strength.evidence import Evidence, of_duels, of_games


def won(wins: np.ndarray | list[list[int]]) -> Evidence:
    """Matches of two: [i, j] how often i beat j."""
    counts = np.asarray(wins)
    first, second = np.nonzero(counts)
    times = counts[first, second]
    return of_duels(duels(len(counts), first.repeat(times), second.repeat(times), np.ones(int(times.sum()))))


def record(wins: int, losses: int) -> Evidence:
    return won([[0, wins], [losses, 0]])


def against_all(wins: int, losses: int) -> Evidence:
    """One of eight with this record against each of the others, who are even among themselves."""
    matches = wins + losses
    counts = np.zeros((8, 8), int)
    counts[0, 1:], counts[1:, 0] = wins, losses
    for a in range(1, 8):
        for b in range(a + 1, 8):
            counts[a, b] = (matches + (a + b) % 2) // 2
            counts[b, a] = matches - counts[a, b]
    return won(counts)


def rivals(seed: int, matches: int, players: int, spread: float) -> tuple[Evidence, np.ndarray]:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, spread, players)
    first = rng.integers(0, players, matches)
    second = (first + rng.integers(1, players, matches)) % players
    score = rng.random(matches) < 1 / (1 + np.exp(skill[second] - skill[first]))
    return of_duels(duels(players, first, second, score)), skill


def test_two_players_are_proven_apart_at_the_figures_of_the_prototype() -> None:
    for wins, losses in ((7, 0), (11, 1), (14, 2), (16, 3), (9, 0), (60, 0), (60, 1), (128, 0), (5000, 4500)):
        assert proven(record(wins, losses)).tolist() == [[False, True], [False, False]], (wins, losses)
    for wins, losses in ((0, 0), (4, 0), (6, 0), (10, 1), (13, 2), (15, 3), (5000, 4900)):
        assert not proven(record(wins, losses)).any(), (wins, losses)


def test_one_of_eight_is_proven_above_all_others_at_the_figures_of_the_prototype() -> None:
    for wins, losses in ((5, 0), (8, 1), (11, 2)):
        above = proven(against_all(wins, losses))
        assert above.sum() == above[0, 1:].sum() == 7, (wins, losses)
        assert not proven(against_all(wins - 1, losses)).any(), (wins, losses)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 0), (7, 2), (40, 31), (3000, 2900), (2, 9)])
def test_the_bet_between_two_is_its_closed_form(wins: int, losses: int) -> None:
    a, b = wins + 0.5, losses + 0.5
    tail = 1 - special.betainc(a, b, 0.5)
    expected = np.exp((wins + losses) * np.log(2) + special.betaln(a, b) - special.betaln(0.5, 0.5)) * tail
    assert proof(record(wins, losses))[0, 1] == pytest.approx(expected, rel=0.01, abs=1e-9)


_GRID = np.stack(np.meshgrid(*[np.linspace(-12, 12, 121)] * 2, indexing="ij"), -1).reshape(-1, 2)
_PLANE = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])


def least_mixture(counts: np.ndarray, i: int, j: int) -> float:
    """M of three players by adding up over a grid, the least of all places where two are equally strong."""

    def likelihood(place: np.ndarray) -> np.ndarray:
        gap = place[:, :, None] - place[:, None, :]
        return np.asarray(-(counts * np.logaddexp(0, -gap)).sum(axis=(1, 2)))

    places = _GRID @ _PLANE
    value, area = likelihood(places), (24 / 120) ** 2
    third = np.full(3, 1 / 3)
    third[3 - i - j] = -2 / 3
    found = []
    for step in np.linspace(-6, 6, 25):
        null = step * third
        off = ((places - null) ** 2).sum(axis=1)
        ratio = value - likelihood(null[None])[0]
        found.append(
            PARTS @ [(np.exp(ratio - p / 2 * off)).sum() * area * p / (2 * np.pi) for p in PRECISIONS]
        )
    return float(min(found))


@pytest.mark.parametrize(
    "counts",
    [
        [[0, 9, 1], [3, 0, 16], [2, 17, 0]],
        [[0, 12, 1], [0, 0, 12], [0, 0, 0]],
        [[0, 0, 12], [0, 0, 0], [0, 9, 0]],
        [[0, 5, 20], [0, 0, 10], [5, 9, 0]],
        [[0, 1, 6], [9, 0, 4], [0, 0, 0]],
    ],
)
def test_the_bet_on_all_strengths_is_the_mixture_at_its_least(
    counts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_MARGIN", 1e9)
    wins = np.array(counts, float)
    capital = proof(won(counts))
    compared = 0
    for i in range(3):
        for j in range(3):
            alone = proof(record(counts[i][j], counts[j][i]))[0, 1]
            ratio = (capital[i, j] - (1 - TOGETHER) * alone / 3) / TOGETHER
            if i != j and ratio > 0.3:
                off = np.log(ratio / least_mixture(wins, i, j))
                assert -0.35 < off < 0.08
                compared += 1
    assert compared


ARENAS = [(0, 3, 1), (9, 5, 2), (40, 6, 2), (60, 4, 0.5), (300, 9, 1), (900, 12, 1), (900, 12, 0)]


def test_bounds_leave_out_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [rivals(seed, *arena)[0] for seed in range(4) for arena in ARENAS]
    quick = [proven(evidence) for evidence in cases]
    monkeypatch.setattr(room, "_MARGIN", 1e9)
    for evidence, above in zip(cases, quick, strict=True):
        full = proof(evidence)
        assert (closed(full >= 20) == above).all()
    assert sum(int(above.sum()) for above in quick) > 100


def test_most_claims_among_many_need_no_fit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, fitted = np.random.default_rng(5), []
    seats = np.argsort(rng.random((4000, 64)), axis=1)[:, :4]
    play = rng.normal(0, 1.5, 64)[seats] + rng.gumbel(size=seats.shape)
    evidence = of_games(free_for_all(64, seats, np.argsort(np.argsort(-play))))
    fit = room.StrengthBets._of_pairs

    def counting(self: room.StrengthBets, i: np.ndarray, *rest: Any, **named: Any) -> np.ndarray:
        fitted.append(len(i))
        return fit(self, i, *rest, **named)

    monkeypatch.setattr(room.StrengthBets, "_of_pairs", counting)
    quick, few = proven(evidence), sum(fitted)
    monkeypatch.setattr(room, "_MARGIN", 1e9)
    whole, many = proven(evidence), sum(fitted) - few
    assert not (quick & ~whole).any()
    assert quick.sum() >= 0.99 * whole.sum() > 500
    assert few < many / 5


def test_who_never_lost_and_groups_that_never_met() -> None:
    groups = np.zeros((6, 6), int)
    groups[0, 1] = groups[2, 3] = 30
    above = proven(won(groups))
    assert np.argwhere(above).tolist() == [[0, 1], [2, 3]], "nothing is proven across groups"
    chain = np.zeros((5, 5), int)
    chain[range(4), range(1, 5)] = 40
    assert proven(won(chain)).sum() == 10, "all that follows"
    common = [[0, 0, 40], [0, 0, 0], [0, 40, 0]]
    assert proven(won(common))[0, 1], "over a third player"
    alone = replace(record(7, 0), players=5)
    assert np.argwhere(proven(alone)).tolist() == [[0, 1]], "players without matches cost nothing"
    assert not proven(replace(record(0, 0), players=0)).size
    assert not proven(of_games(games(3, ()))).any()


def test_ties_and_weights() -> None:
    seven = duels(2, [0] * 7, [1] * 7, [1] * 7)
    tied = of_duels(duels(2, [0] * 90, [1] * 90, [1] * 7 + [0.5] * 83))
    assert proof(tied)[0, 1] == pytest.approx(proof(of_duels(seven))[0, 1]), "ties say nothing"
    for weight in (0.01, 1, 250):
        scaled = of_duels(replace(seven, weight=np.full(7, float(weight))))
        assert proven(scaled)[0, 1], "only relative weights matter"
    heavy = of_duels(duels(2, [0] * 5, [1] * 5, [1] * 5, [1000] * 5))
    assert not proven(heavy).any(), "five matches are five, whatever they weigh"
    lighter = of_duels(duels(2, [0] * 8, [1] * 8, [1] * 8, [1] + [0.1] * 7))
    assert proof(lighter)[0, 1] < 3


def test_matches_of_a_cluster_are_one_bet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_MARGIN", 1e9)
    history = duels(2, [0] * 60, [1] * 60, [1] * 60)
    for prompts, enough in ((6, False), (7, True)):
        assert proven(of_duels(history, np.arange(60) % prompts))[0, 1] == enough
    own = of_duels(history, np.arange(60))
    assert proof(own)[0, 1] == pytest.approx(proof(of_duels(history))[0, 1])
    steady = duels(2, [0] * 200, [1] * 200, np.tile([1, 1, 1, 0], 50))
    by_prompt = of_duels(steady, np.arange(200) // 4)
    assert proven(by_prompt)[0, 1], "50 prompts, ¾ on each"
    many, _ = rivals(3, 2000, 5, 0.5)
    once = of_duels(duels(5, many.first, many.second, many.score))
    twice = of_duels(
        duels(5, many.first.repeat(2), many.second.repeat(2), many.score.repeat(2)), np.arange(2000).repeat(2)
    )
    single, double = np.log(proof(once)), np.log(proof(twice))
    assert (np.abs(double - single) < 1 + 0.1 * np.abs(single)).all(), "each result twice"


@pytest.mark.parametrize("kind", ["judges", "uneven judges", "questions on one pair"])
def test_equals_that_judges_like_differently_are_hardly_ever_proven_apart(kind: str) -> None:
    false = [
        proven(of_duels(*equals(np.random.default_rng([3, seed]), kind, players, clusters))).any()
        for seed in range(15)
        for players, clusters in ((5, 12), (5, 40), (10, 40), (2, 40))
    ]
    assert sum(false) <= 6


def test_a_ranking_is_one_observation() -> None:
    seats = np.tile(np.arange(4), (6, 1))
    six = of_games(free_for_all(4, seats, seats))
    direct = proof(record(6, 0))[0, 1] / 6
    assert proof(six)[0, 3] < 20
    assert proof(six)[0, 3] >= (1 - TOGETHER) * direct
    many = of_games(free_for_all(4, np.tile(np.arange(4), (40, 1)), np.tile(np.arange(4), (40, 1))))
    assert proven(many).sum() == 6
    teams = of_games(games(4, [Game(((0, 1), (2, 3)), (1, 2))] * 500))
    assert not proven(teams).any(), "of a team nobody knows who made it win"
    seated_twice = of_games(games(2, [Game(((0,), (0,), (1,)), (1, 2, 3))] * 6))
    assert not proven(seated_twice).any(), "two seats are one bet"


def test_winners_who_win_together_are_one_observation() -> None:
    """Five against two by lot: had each pair been a match, claims among equals would abound."""
    rng, false = np.random.default_rng(4), 0
    for _ in range(25):
        listed = []
        for _ in range(120):
            order = rng.permutation(7)
            side = int(rng.random() < 0.5)
            ranks = [float(side if at < 5 else 1 - side) for at in range(7)]
            listed.append(Game(tuple((int(player),) for player in order), tuple(ranks)))
        false += bool(proven(of_games(games(7, listed))).any())
    assert false <= 1


def test_claims_name_the_tasks_they_are_about() -> None:
    history = duels(2, [0] * 60, [1] * 60, [1] * 60)
    evidence = of_duels(history)
    few, many = (claims(evidence, of_duels(history, np.arange(60) % tasks)) for tasks in (9, 10))
    assert few.these[0, 1]
    assert few.about(0, 1) == "these tasks"
    assert many.these[0, 1]
    assert many.about(0, 1) == "tasks like these"
    assert claims(evidence).about(0, 1) == "these tasks"
    uneven = duels(2, [0] * 60, [1] * 60, [1] * 54 + [0] * 6)
    mixed = claims(of_duels(uneven), of_duels(uneven, np.arange(60) // 5))
    assert mixed.these[0, 1]
    assert mixed.about(0, 1) == "tasks like these"


def test_a_claim_once_made_stays() -> None:
    now = claims(won([[0, 30, 1], [0, 0, 30], [1, 0, 0]]))
    assert np.argwhere(now.kept([]).these).tolist() == np.argwhere(now.these).tolist()
    nothing = claims(of_duels(duels(3, [], [], [])))
    kept = nothing.kept([(2, 0), (0, 1)])
    assert np.argwhere(kept.these).tolist() == [[0, 1], [2, 0], [2, 1]]
    assert kept.about(2, 1) == "these tasks"
    assert not nothing.kept([(0, 1), (1, 0)]).these.any(), "those that contradict each other say nothing"


def test_claims_that_contradict_each_other_are_left_out() -> None:
    ring = won([[0, 60, 0], [0, 0, 60], [60, 0, 0]])
    assert not proven(ring).any()
    above = np.zeros((4, 4), bool)
    above[0, 1] = above[1, 2] = above[2, 3] = True
    assert closed(above).sum() == 6
    above[3, 1] = True
    assert closed(above).tolist() == [[False, True, True, True]] + [[False] * 4] * 3


def test_it_is_quick() -> None:
    for matches, players, seconds in ((6000, 60, 1.0), (100_000, 60, 1.0), (5000, 200, 0.5)):
        evidence, skill = rivals(1, matches, players, 1.0)
        start = process_time()
        above = proven(evidence)
        assert process_time() - start < seconds, (matches, players)
        assert not (above & (skill[:, None] <= skill)).any()
    chain = np.arange(2999).repeat(34)
    evidence = of_duels(duels(3000, chain, chain + 1, np.ones(len(chain))))
    start = process_time()
    assert proven(evidence).sum() == 3000 * 2999 / 2
    assert process_time() - start < 5


records = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(records)
def test_one_more_win_never_takes_a_claim_away(counts: tuple[int, int]) -> None:
    wins, losses = counts
    before, after = proof(record(wins, losses)), proof(record(wins + 1, losses))
    assert after[0, 1] >= before[0, 1]
    assert after[1, 0] <= before[1, 0]
    assert proven(record(wins + 1, losses))[0, 1] >= proven(record(wins, losses))[0, 1]


@st.composite
def histories(draw: st.DrawFn) -> Evidence:
    players, seed = draw(st.integers(1, 7)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, draw(st.sampled_from([0.0, 1.0, 4.0])), players)
    listed = []
    for _ in range(draw(st.integers(0, 150)) if players > 1 else 0):
        seats = rng.choice(players, int(rng.choice([2, 2, 2, 2, min(4, players)])), replace=False)
        ranks = np.round(-(skill[seats] + rng.gumbel(size=len(seats))), 1)
        listed.append(
            Game(
                tuple((int(seat),) for seat in seats), tuple(ranks.tolist()), None, float(rng.choice([1, 2]))
            )
        )
    cluster = rng.integers(0, 40, len(listed)) if draw(st.booleans()) else None
    return of_games(games(players, listed), cluster)


@settings(max_examples=80, deadline=None)
@given(histories(), st.integers(0, 2**32))
def test_order_and_names_do_not_matter(evidence: Evidence, seed: int) -> None:
    rng, n = np.random.default_rng(seed), evidence.players
    name, row = rng.permutation(n), rng.permutation(len(evidence.first))
    turn = rng.random(len(row)) < 0.5
    first, second, score = (column[row] for column in (evidence.first, evidence.second, evidence.score))
    ranked = len(evidence.first) + np.arange(len(evidence.rankings))
    other = replace(
        evidence,
        first=name[np.where(turn, second, first)],
        second=name[np.where(turn, first, second)],
        score=np.where(turn, 1 - score, score),
        weight=evidence.weight[row],
        rankings=replace(evidence.rankings, seat=name[evidence.rankings.seat]),
        cluster=None if evidence.cluster is None else 100 - evidence.cluster[np.concatenate([row, ranked])],
    )
    above = proven(evidence)
    assert (proven(other)[np.ix_(name, name)] == above).all()
    assert not (above & above.T).any()
    assert (closed(above) == above).all()
    assert proof(other)[np.ix_(name, name)] == pytest.approx(proof(evidence), rel=1e-3)
