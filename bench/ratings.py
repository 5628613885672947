"""Every rating method beside the field's packages: CPU seconds and error in one table, one process.

Data: 200 players, 10 % ties, 1,000,000 duels; 100,000 games of five; and the real votes in leaderbot's
wheel. Seconds of CPU, children included, the best of three of ours; compilation is shown apart. Below: the
memory that each method takes beyond its data. A peer too slow to wait for plays a part of the data, and its
time is scaled up (marked ~); `--full` plays it whole. Peers that are not installed are left out; arena-rank
pins another NumPy, so it takes `pip install --no-deps arena-rank` beside jax, jaxtyping and optax.
Usage: python -m bench.ratings [--full]
"""

from __future__ import annotations

import math
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from bench.ratings_peers import (
    arena_rank,
    centred,
    fastchat_elo,
    fastchat_style,
    gap,
    glicko2_periods,
    installed,
    leaderbot_votes,
    listed,
    openskill_games,
    trueskill_duels,
    trueskill_games,
    words,
)
from peerage.ratings.columns import compiled
from peerage.ratings.columns.history import Duels, GameColumns, as_games, duels, free_for_all
from peerage.ratings.fits import bradley_terry, irt
from peerage.ratings.fits.regression import fit_covariates
from peerage.ratings.sequential import glicko2, trueskill
from peerage.ratings.sequential.elo import EloSettings, in_order

PLAYERS, ROWS, GAMES = 200, 1_000_000, 100_000
FLAT = EloSettings(k_factor=4.0, initial=1000.0, propagation_width=None)


class Line(NamedTuple):
    """One row: ours against a peer. `error` is the largest difference, on the method's own scale."""

    work: str
    at_most: float
    ours: float
    compiling: float
    peer: str
    theirs: float
    scaled: bool
    error: float


def cpu() -> float:
    """Seconds of CPU that this process and its finished children have used."""
    return time.process_time() + sum(os.times()[2:4])


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = cpu()
    found = run()
    return cpu() - began, found


def best(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """The quickest of three, the first call's seconds beyond it, and the result."""
    first, _ = timed(run)
    tries = [timed(run) for _ in range(3)]
    quickest = min(seconds for seconds, _ in tries)
    return quickest, max(first - quickest, 0.0), tries[-1][1]


def made_duels() -> Duels:
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 1, PLAYERS)
    first = rng.integers(0, PLAYERS, ROWS)
    second = (first + rng.integers(1, PLAYERS, ROWS)) % PLAYERS
    won = rng.random(ROWS) < 1 / (1 + np.exp(truth[second] - truth[first]))
    return duels(PLAYERS, first, second, np.where(rng.random(ROWS) < 0.1, 0.5, won))


def made_games() -> GameColumns:
    rng = np.random.default_rng(2)
    truth = rng.normal(25, 5, PLAYERS)
    seated = rng.integers(0, PLAYERS, (GAMES, 1)) + np.cumsum(
        rng.integers(1, PLAYERS // 5, (GAMES, 5)), axis=1
    )
    seated %= PLAYERS
    shown = np.round((truth[seated] + rng.normal(0, 4, seated.shape)) / 1.5)
    return free_for_all(PLAYERS, seated, -shown)


def lines(full: bool) -> Iterator[Line]:
    history, played = made_duels(), made_games()
    yield from _elo(history)
    yield from _bradley_terry(history, full)
    yield from _skills(history, played, full)
    yield from _glicko(history, full)
    yield from _responses()
    yield from _votes(full)
    yield from _plain(history, played)


def _elo(history: Duels) -> Iterator[Line]:
    ours, compiling, table = best(lambda: in_order(history, FLAT))

    rows = listed(history)
    theirs, found = timed(lambda: fastchat_elo(PLAYERS, rows))
    yield Line("Elo, 1 M", 0.03, ours, compiling, "FastChat's way", theirs, False, gap(table, found))
    evalica = installed("evalica")
    if evalica:
        columns = words(evalica, history)
        theirs, found = timed(lambda: evalica.elo(*columns, initial=1000.0, k=4.0).scores)
        found = found.sort_index().to_numpy()
        yield Line("Elo, 1 M", 0.03, ours, compiling, "evalica", theirs, False, gap(table, found))


def _bradley_terry(history: Duels, full: bool) -> Iterator[Line]:
    work = "Bradley-Terry + sandwich, 1 M"
    ours, compiling, table = best(lambda: bradley_terry.fit_duels(history))
    evalica, arena = installed("evalica"), installed("arena_rank")
    if evalica:
        columns = words(evalica, history)
        theirs, found = timed(lambda: evalica.bradley_terry(*columns, tolerance=1e-10, limit=10_000).scores)
        found = centred(400 * np.log10(found.sort_index().to_numpy()))
        yield Line(
            work, 0.03, ours, compiling, "evalica, no intervals", theirs, False, gap(table.rating, found)
        )
    if arena:
        theirs, found = timed(lambda: arena_rank(history))
        yield Line(work, 0.03, ours, compiling, "arena-rank", theirs, False, gap(table.rating, found))
    controls = np.random.default_rng(3).normal(size=(ROWS, 4))
    ours, compiling, table = best(lambda: fit_covariates(history, controls, list("abcd")))
    part = ROWS if full else ROWS // 10
    theirs, _ = timed(lambda: fastchat_style(history, controls, part))
    yield Line(
        "Bradley-Terry, 4 covariates, 1 M",
        0.3,
        ours,
        compiling,
        "FastChat's way",
        theirs * ROWS / part,
        part < ROWS,
        math.nan,
    )


def _skills(history: Duels, played: GameColumns, full: bool) -> Iterator[Line]:
    settings = trueskill.TrueSkillSettings()
    package, openskill = installed("trueskill"), installed("openskill.models")
    work = "TrueSkill, two players, 1 M"
    ours, compiling, _ = best(lambda: trueskill.rate(as_games(history), settings))
    part = ROWS if full else 2_000
    short = _first(history, part)
    scale, cut = ROWS / part, part < ROWS
    if package:
        theirs, found = timed(lambda: trueskill_duels(package, short))
        error = gap(trueskill.rate(as_games(short), settings).mu, found)
        yield Line(work, 0.06, ours, compiling, "trueskill", theirs * scale, cut, error)
    pairs = np.stack([short.first, short.second], 1), np.stack([1 - short.score, short.score], 1)
    if openskill:
        theirs, found = timed(lambda: openskill_games(openskill.PlackettLuce(), PLAYERS, *pairs))
        yield Line(work, 0.06, ours, compiling, "openskill", theirs * scale, cut, math.nan)
    work = "TrueSkill, 5 players with ties, 100 k"
    ours, compiling, _ = best(lambda: trueskill.rate(played, settings))
    part = GAMES if full else 300
    tables = played.seat.reshape(-1, 5)[:part], played.rank.reshape(-1, 5)[:part]
    few = free_for_all(PLAYERS, *tables)
    scale, cut = GAMES / part, part < GAMES
    if package:
        theirs, found = timed(lambda: trueskill_games(package, PLAYERS, *tables))
        error = gap(trueskill.rate(few, settings).mu, found)
        yield Line(work, 0.35, ours, compiling, "trueskill", theirs * scale, cut, error)
    if openskill:
        theirs, found = timed(lambda: openskill_games(openskill.PlackettLuce(), PLAYERS, *tables))
        yield Line(work, 0.35, ours, compiling, "openskill PL", theirs * scale, cut, math.nan)


def _first(history: Duels, rows: int) -> Duels:
    return duels(history.players, history.first[:rows], history.second[:rows], history.score[:rows])


def _glicko(history: Duels, full: bool) -> Iterator[Line]:
    package = installed("glicko2")
    bounds = glicko2.even_periods(history)
    ours, compiling, _ = best(lambda: glicko2.rate(history, bounds=bounds))
    if not package:
        return
    part = ROWS if full else 30_000
    short = _first(history, part)
    edges = glicko2.even_periods(short)

    seconds, found = timed(lambda: glicko2_periods(package, short, edges))
    error = gap(np.array(glicko2.rate(short, bounds=edges).rating), found)
    yield Line("Glicko-2, 1 M", 0.4, ours, compiling, "glicko2", seconds * ROWS / part, part < ROWS, error)


def _responses() -> Iterator[Line]:
    girth = installed("girth")
    rng = np.random.default_rng(5)
    theta, b, a = rng.normal(size=1000), rng.normal(size=200), np.exp(rng.normal(0, 0.3, 200))
    answers = (rng.random((1000, 200)) < 1 / (1 + np.exp(-a * (theta[:, None] - b)))).astype(float)
    ours, compiling, fitted = best(lambda: irt.fit(answers))
    if girth:
        theirs, found = timed(lambda: girth.twopl_mml(answers.T.astype(int)))
        error = gap(fitted.difficulty, found["Difficulty"])
        yield Line("2PL IRT, 1000 x 200", 1.5, ours, compiling, "girth", theirs, False, error)


def _votes(full: bool) -> Iterator[Line]:
    """The votes of LMArena up to August 2024, as leaderbot's wheel counts them, in a seeded order."""
    history = leaderbot_votes()
    if history is None:
        return
    size = f"{len(history) / 1e6:.2f} M real votes"
    evalica, arena = installed("evalica"), installed("arena_rank")
    ours, compiling, table = best(lambda: in_order(history, FLAT))
    rows = listed(history)
    theirs, found = timed(lambda: fastchat_elo(history.players, rows))
    yield Line(f"Elo, {size}", math.nan, ours, compiling, "FastChat's way", theirs, False, gap(table, found))
    if not evalica:
        return
    columns = words(evalica, history)
    theirs, found = timed(lambda: evalica.elo(*columns, initial=1000.0, k=4.0).scores)
    error = gap(table, found.sort_index().to_numpy())
    yield Line(f"Elo, {size}", math.nan, ours, compiling, "evalica", theirs, False, error)
    work = f"Bradley-Terry + sandwich, {size}"
    ours, compiling, fitted = best(lambda: bradley_terry.fit_duels(history))
    theirs, found = timed(lambda: evalica.bradley_terry(*columns, tolerance=1e-10, limit=10_000).scores)
    error = gap(fitted.rating, centred(400 * np.log10(found.sort_index().to_numpy())))
    yield Line(work, math.nan, ours, compiling, "evalica, no intervals", theirs, False, error)
    if arena and full:
        theirs, found = timed(lambda: arena_rank(history))
        yield Line(work, math.nan, ours, compiling, "arena-rank", theirs, False, gap(fitted.rating, found))


def _plain(history: Duels, played: GameColumns) -> Iterator[Line]:
    """Ours without Numba: the same source, run as Python, on a part of the data, scaled like the peers."""
    settings = trueskill.TrueSkillSettings()
    package, openskill = installed("trueskill"), installed("openskill.models")
    short = _first(history, 20_000)
    tables = played.seat.reshape(-1, 5)[:1_000], played.rank.reshape(-1, 5)[:1_000]
    few = free_for_all(PLAYERS, *tables)
    scale, cut = ROWS / len(short), len(short) / 10
    pairs = np.stack([short.first, short.second], 1), np.stack([1 - short.score, short.score], 1)
    with without_numba():
        two, _ = timed(lambda: trueskill.rate(as_games(short), settings))
        five, _ = timed(lambda: trueskill.rate(few, settings))
    tenth = _first(short, int(cut))
    tens = pairs[0][: int(cut)], pairs[1][: int(cut)]
    for peer, run in (
        ("trueskill", lambda: trueskill_duels(package, tenth)),
        ("openskill", lambda: openskill_games(openskill.PlackettLuce(), PLAYERS, *tens)),
    ):
        if installed(peer):
            theirs = timed(run)[0] * 10 * scale
            yield Line(
                "no Numba: TrueSkill, two players, 1 M",
                math.nan,
                two * scale,
                0,
                peer,
                theirs,
                True,
                math.nan,
            )
    some = tables[0][:200], tables[1][:200]
    scale = GAMES / len(few)
    if package:
        theirs = timed(lambda: trueskill_games(package, PLAYERS, *some))[0] * 5 * scale
        work = "no Numba: TrueSkill, 5 players, 100 k"
        yield Line(work, math.nan, five * scale, 0, "trueskill", theirs, True, math.nan)


@contextmanager
def without_numba() -> Iterator[None]:
    """As on a machine that has no Numba."""
    there = compiled.installed
    compiled.installed = lambda: False  # type: ignore[assignment]
    try:
        yield
    finally:
        compiled.installed = there


def memory() -> Iterator[tuple[str, float]]:
    """The peak of each method beyond its data, in MB: what Python and NumPy hold (tracemalloc)."""
    history, played = made_duels(), made_games()
    controls = np.random.default_rng(3).normal(size=(ROWS, 4))
    settings = trueskill.TrueSkillSettings()
    for work, run in (
        ("Elo, 1 M", lambda: in_order(history, FLAT)),
        ("Bradley-Terry + sandwich, 1 M", lambda: bradley_terry.fit_duels(history)),
        ("Bradley-Terry, 4 covariates, 1 M", lambda: fit_covariates(history, controls, list("abcd"))),
        ("TrueSkill, two players, 1 M", lambda: trueskill.rate(as_games(history), settings)),
        ("TrueSkill, 5 players, 100 k", lambda: trueskill.rate(played, settings)),
        ("Glicko-2, 1 M", lambda: glicko2.rate(history, bounds=glicko2.even_periods(history))),
    ):
        tracemalloc.start()
        run()
        yield work, tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()


def main(full: bool = False) -> None:
    print("| work | at most s | ours s | compiling s | beside | theirs s | ratio | largest difference |")
    print("|---|--:|--:|--:|---|--:|--:|--:|")
    for line in lines(full):
        bound = "" if math.isnan(line.at_most) else f"{line.at_most:g}"
        error = "" if math.isnan(line.error) else f"{line.error:.1e}"
        theirs = f"{'~' if line.scaled else ''}{line.theirs:.3g}"
        print(
            f"| {line.work} | {bound} | {line.ours:.3f} | {line.compiling:.1f} | {line.peer} | {theirs} "
            f"| {line.theirs / line.ours:.0f} | {error} |",
            flush=True,
        )

    print("\n| work | peak beyond the data, MB |\n|---|--:|")
    for work, peak in memory():
        print(f"| {work} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main("--full" in sys.argv[1:])
