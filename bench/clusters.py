"""How often tables of equals make a false claim, and whether intervals hold, where results hang together.

Every judge (or question) has a taste of its own for every player, and on average nobody is better. A good
method proves anything in at most 5% of such tables. Usage: python -m bench.clusters [HISTORIES]
"""

from __future__ import annotations

import sys

import numpy as np

from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.strength.evidence import of_duels

KINDS = {"judges": 60, "uneven judges": 60, "questions on one pair": 10}
"""How results hang together, and how many there are in a cluster."""


def equals(
    rng: np.random.Generator, kind: str, players: int, clusters: int, taste: float = 0.7
) -> tuple[Duels, np.ndarray]:
    """Results between equals, and the cluster of each: judges of any pair, as many each or very unlike in
    number, or questions each put to one pair."""
    size = np.full(clusters, KINDS[kind])
    if kind == "uneven judges":
        size = np.maximum(2, size.sum() * rng.dirichlet(np.ones(clusters))).astype(np.int64)
    cluster = np.repeat(np.arange(clusters), size)
    rows = clusters if kind == "questions on one pair" else len(cluster)
    first = rng.integers(0, players, rows)
    second = (first + rng.integers(1, players, rows)) % players
    if rows < len(cluster):
        first, second = first[cluster], second[cluster]
    likes = rng.normal(0, taste, (clusters, players))
    chance = 1 / (1 + np.exp(likes[cluster, second] - likes[cluster, first]))
    return duels(players, first, second, (rng.random(len(cluster)) < chance).astype(float)), cluster


def main(histories: int) -> None:
    print("| results | players | clusters | false claims | intervals hold |")
    print("|---|--:|--:|--:|--:|")
    for kind in KINDS:
        for players, clusters in ((5, 9), (5, 12), (5, 40), (10, 12), (10, 40), (10, 100)):
            found = []
            for seed in range(histories):
                rng = np.random.default_rng([clusters, players, seed])
                history, cluster = equals(rng, kind, players, clusters)
                table = fit_clustered(history, cluster)
                inside = (table.lower <= 1500) & (table.upper >= 1500)
                held = inside.mean() if np.isfinite(table.lower).all() else np.nan
                found.append((proven(of_duels(history, cluster)).any(), held))
            false, shares = np.array(found, np.float64).T
            known = shares[np.isfinite(shares)]
            holds = f"{known.mean():.1%}" if len(known) else "not claimed"
            print(f"| {kind} | {players} | {clusters} | {false.mean():.1%} | {holds} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
