"""What series are worth: matches until eight house players are in their order, with and without, in a game of
much luck; and whether intervals hold where matches of a series hang together.

Usage: python -m bench.series [ARENAS]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

from peerage.arena import open_arena
from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits.regression import fit_clustered
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope
from peerage.views.leaderboard.tracks import bradley_terry

HANDS = Path(__file__).parents[1] / "tests" / "engine" / "hands.py"
SKILLS = [0.2 + 0.07 * at for at in range(8)]
STEP, MOST = 24, 720
NEVER = float("inf")


def order(series: str | None, seats: int, swing: int, seed: int) -> float:
    """Matches after which the Bradley-Terry table has all players in the order of their skill, and keeps it
    at the next two looks."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hands.py").write_text(HANDS.read_text("utf-8"), "utf-8")
        settings = {
            "seed": seed,
            "game": "./hands.py",
            "rules": {"seats": seats, "swing": swing},
            "players": [{"name": f"p{at}", "model": f"house:{skill:.2f}"} for at, skill in enumerate(SKILLS)],
            "pairing": {"series": series, "window": 8},
            "engine": {"probe": False},
        }
        (folder / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        with open_arena(folder) as arena:
            arena.run(MOST)
            return _first(arena)


def _first(arena: object) -> float:
    whole = PlayedMatches(arena.ledger, Scope())  # type: ignore[attr-defined]
    kept, since = 0, NEVER
    for number in range(STEP, MOST + 1, STEP):
        table = bradley_terry(whole.until(number), arena.settings.rating, None)  # type: ignore
        ranked = sorted(zip(table.rating.tolist(), table.players, strict=True))
        right = [player for _, player in ranked] == [f"p{at}" for at in range(len(SKILLS))]
        kept, since = (kept + 1, since if kept else number) if right else (0, NEVER)
        if kept == 3:
            return since
    return NEVER


def rotated(rng: np.random.Generator, players: int, series: int, taste: float) -> tuple[Duels, np.ndarray]:
    """Series of two matches between equals, seats changed; `taste` is how much a task suits a player."""
    first = rng.integers(0, players, series)
    second = (first + rng.integers(1, players, series)) % players
    seat, suits = rng.normal(0, 1, series), rng.normal(0, taste, (series, players))
    at = np.arange(series)
    edge = suits[at, first] - suits[at, second]
    won = [rng.random(series) < 1 / (1 + np.exp(-edge - sign * seat)) for sign in (1, -1)]
    played = duels(players, np.tile(first, 2), np.tile(second, 2), np.concatenate(won).astype(float))
    return played, np.tile(at, 2)


def coverage(arenas: int, series: int, taste: float) -> Iterator[float]:
    """How often 95% intervals hold the truth, which is 1500: by series, and match by match."""
    by: list[Callable[[np.ndarray], np.ndarray]] = [lambda code: code, lambda code: np.arange(len(code))]
    for clusters in by:
        inside = []
        for seed in range(arenas):
            history, code = rotated(np.random.default_rng([series, seed]), 8, series, taste)
            table = fit_clustered(history, clusters(code))
            inside.append(((table.lower <= 1500) & (table.upper >= 1500)).mean())
        yield float(np.mean(inside))


def main(arenas: int) -> None:
    print("| seats | luck | series | median matches | exact within 720 |")
    print("|--:|--:|---|--:|--:|")
    for seats, swing in ((2, 1000), (4, 1000), (4, 3000)):
        for series in (None, "seats"):
            found = [order(series, seats, swing, seed) for seed in range(1, arenas + 1)]
            middle, share = statistics.median(found), np.mean(np.isfinite(found))
            cells = (seats, swing, series or "none", f"{middle:g}", f"{share:.0%}")
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print("\n| series | task suits | by series | by match |")
    print("|--:|--:|--:|--:|")
    for series in (40, 150):
        for taste in (0.0, 1.0, 2.0):
            held = [f"{share:.1%}" for share in coverage(50 * arenas, series, taste)]
            print(f"| {series} | {taste:g} | {' | '.join(held)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
