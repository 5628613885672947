"""Do peers rank as people do? Published votes of models on each other's answers, against two outside truths.

Vicuna80 (Li, Patel, Du, "PRD: Peer Rank and Discussion", TMLR 2024; github.com/bcdnlp/PRD, MIT): five models
of spring 2023 answered 80 questions; each pair was compared in both orders by all five as peers, and by hired
people. Published as shares of wins for each pair, ties as half. The other truth are votes that visitors of
Chatbot Arena gave up to August 2024, as leaderbot's wheel counts them (pip install --no-deps leaderbot).

Every judgement is rated by Bradley-Terry. Spearman's ρ and Kendall's τ-b are between ratings, with the
2.5% and 97.5% points of 2,000 parametric bootstraps: 80 questions a pair are drawn again, however many votes
each had; a visitor's vote is one of its own. The table of docs/judging-figures.md. Usage:
python -m bench.validity
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.pairs import Pair, fit
from peerage.ratings.arrays import Floats

MODELS = ("gpt-4", "claude", "vicuna", "gpt-3.5", "bard")
QUESTIONS = 80
SHARES: Mapping[str, tuple[tuple[float, ...], ...]] = {
    # Shares of wins of each model over those after it, in the order of MODELS.
    "peers": (
        (0.590625, 0.805625, 0.79125, 0.811875),
        (0.731875, 0.731875, 0.77375),
        (0.525, 0.58625),
        (0.55,),
    ),
    "GPT-4 alone": ((0.678125, 0.925, 0.89375, 0.928125), (0.83125, 0.8, 0.88125), (0.525, 0.625), (0.5875,)),
    "annotators": ((0.8125, 0.8, 0.81875, 0.85625), (0.8875, 0.8125, 0.86875), (0.6125, 0.63125), (0.5,)),
}
IN_ARENA = ("gpt-4-0314", "claude-1", "vicuna-13b", "gpt-3.5-turbo-0314", "palm-2")
"""The versions of these models that visitors of the Arena met: those of spring 2023."""
DRAWS = 2_000


class Judged(NamedTuple):
    """What somebody judged: `share` of wins of each model (row) over each other one, on so many `games`, both
    of shape (models, models)."""

    share: Floats
    games: Floats


class Agreement(NamedTuple):
    """How far two rankings agree, with 95% bounds; `same` of the pairs stand in the same order."""

    rho: tuple[float, float, float]
    tau: tuple[float, float, float]
    same: int


def published(whose: str) -> Judged:
    """The judgement of Vicuna80 with that name."""
    n = len(MODELS)
    share = np.full((n, n), 0.5)
    share[np.triu_indices(n, 1)] = [value for row in SHARES[whose] for value in row]
    share = np.where(np.tri(n, k=-1) > 0, 1 - share.T, share)
    return Judged(share, np.full((n, n), float(QUESTIONS)))


def visitors() -> Judged | None:
    """The Arena's votes among these models; None where leaderbot is not installed."""
    package = find_spec("leaderbot")
    if package is None or not package.submodule_search_locations:
        return None
    file = Path(package.submodule_search_locations[0], "data", "chatbotarena_20240814.json")
    found = json.loads(file.read_text("utf-8"))
    place = {found["models"].index(name): at for at, name in enumerate(IN_ARENA)}
    points, games = np.zeros((2, len(place), len(place)))
    for (one, other), (won, lost, tied, both_bad) in zip(found["X"], found["Y"], strict=True):
        if one in place and other in place:
            a, b = place[one], place[other]
            points[a, b] += won + (tied + both_bad) / 2
            points[b, a] += lost + (tied + both_bad) / 2
            games[a, b] += won + lost + tied + both_bad
            games[b, a] = games[a, b]
    return Judged(np.divide(points, games, out=np.full_like(points, 0.5), where=games > 0), games)


def ratings(judged: Judged) -> Floats:
    """Bradley-Terry on these shares."""
    pairs = [
        Pair(a, b, judged.share[a, b] * judged.games[a, b], judged.share[b, a] * judged.games[a, b])
        for a, b in combinations(range(len(judged.share)), 2)
        if judged.games[a, b]
    ]
    return fit(pairs, len(judged.share)).rating


def drawn(rng: np.random.Generator, judged: Judged) -> Judged:
    """The same judged once more by chance."""
    share = rng.binomial(judged.games.astype(np.int64), judged.share) / np.maximum(judged.games, 1)
    upper = np.triu(share, 1)
    return Judged(upper + np.tril(1 - upper.T, -1), judged.games)


def correlations(one: Floats, other: Floats) -> tuple[float, float]:
    """Spearman's ρ and Kendall's τ-b of two columns of numbers."""
    ranks = [
        np.array([(column < x).sum() + (column == x).sum() / 2 for x in column]) for column in (one, other)
    ]
    signs = [np.sign(column[:, None] - column[None, :]) for column in (one, other)]
    scale = float(np.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum()))
    return float(np.corrcoef(*ranks)[0, 1]), float((signs[0] * signs[1]).sum()) / max(scale, 1.0)


def agreement(one: Judged, other: Judged, seed: int = 0) -> Agreement:
    """How far two judgements of the same models agree."""
    rng = np.random.default_rng(seed)
    ours, theirs = ratings(one), ratings(other)
    again = [correlations(ratings(drawn(rng, one)), ratings(drawn(rng, other))) for _ in range(DRAWS)]
    low, high = np.percentile(again, [2.5, 97.5], axis=0)
    at = correlations(ours, theirs)
    same = sum(
        (ours[a] - ours[b]) * (theirs[a] - theirs[b]) > 0 for a, b in combinations(range(len(ours)), 2)
    )
    return Agreement((at[0], low[0], high[0]), (at[1], low[1], high[1]), int(same))


def lines() -> Iterator[tuple[str, str, Agreement]]:
    """Every two of them that are compared."""
    judged = {name: published(name) for name in SHARES}
    people = visitors()
    if people is not None:
        judged["the Arena's visitors"] = people
    for name in judged:
        if name != "annotators":
            yield name, "annotators", agreement(judged[name], judged["annotators"])
    for name in ("peers", "GPT-4 alone"):
        if people is not None:
            yield name, "the Arena's visitors", agreement(judged[name], people)


def main() -> None:
    names = [*SHARES, "the Arena's visitors"]
    judged = [published(name) for name in SHARES] + [found for found in (visitors(),) if found is not None]
    print("| model |", " | ".join(names[: len(judged)]), "|\n|---|" + "--:|" * len(judged))
    for at, model in enumerate(MODELS):
        print(f"| {model} |", " | ".join(f"{ratings(one)[at]:.0f}" for one in judged), "|")
    print("\n| ranking by | against | Spearman's ρ | Kendall's τ-b | pairs in the same order |")
    print("|---|---|--:|--:|--:|")
    for whose, truth, found in lines():
        bounds = [f"{at:.2f} ({low:.2f} to {high:.2f})" for at, low, high in found[:2]]
        print(f"| {whose} | {truth} | {bounds[0]} | {bounds[1]} | {found.same} of 10 |")
    if len(judged) == len(SHARES):
        print("leaderbot is not installed: the Arena's visitors are left out", file=sys.stderr)


if __name__ == "__main__":
    main()
