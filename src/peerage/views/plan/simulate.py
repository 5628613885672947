"""Simulated arenas as rows, with the matches and dollars that an accuracy takes: see `ratings.simulation`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.ratings.arrays import Floats
from peerage.ratings.columns.merging import coded
from peerage.ratings.fits.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.fits.judges import counted, reliabilities
from peerage.ratings.simulation import Setup, simulated
from peerage.ratings.table import POINTS
from peerage.reading.reading import Reading
from peerage.render.blocks import Rows, numbers
from peerage.values.figures import dollars, hundredths, percent, whole
from peerage.views.shown import Shown


class SimulatedRow(Shown, frozen=True):
    """What so many `arenas` of so many `players` and `matches` come to: the mean `half_width` of the 95%
    intervals, in points, Kendall's `tau` of the order with the truth, the share of arenas whose `first` is
    the best player and of those where that is `proven`, the matches `needed` until intervals are as narrow as
    asked for, and what `matches` and those cost, `usd` and `needed_usd`. None is what cannot be known."""

    players: int
    matches: int
    arenas: int
    half_width: float | None
    tau: float | None
    first: float | None
    proven: float
    needed: int | None
    usd: float | None
    needed_usd: float | None


def table(rows: Sequence[SimulatedRow], accuracy: float, title: str) -> Rows:
    """Return simulated arenas as a table; `accuracy` is in points."""
    columns = [
        *numbers(whole, players="Players", matches="Matches"),
        *numbers(hundredths, tau="Order"),
        *numbers(percent, first="Right", proven="Proven"),
        *numbers("± {:.0f}".format, half_width="Interval"),
        *numbers(whole, needed=f"For ± {accuracy:g}"),
        *(
            numbers(dollars, usd="Cost ~1", needed_usd=f"For ± {accuracy:g}")
            if rows[0].usd is not None
            else ()
        ),
    ]
    note = (
        "Order: Kendall's tau with the true order. Right: arenas whose first player is the best; Proven: "
        f"where that is proven. Interval: the mean 95% interval of a rating, in points. "
        f"For ± {accuracy:g}: matches until intervals are that narrow on average."
    )
    return Rows(rows, columns, title=title, notes=[note])


def rows(
    setups: Iterable[Setup], arenas: int, accuracy: float, usd_per_match: float | None
) -> Iterator[SimulatedRow]:
    """Yield what the arenas of each setup come to; `accuracy` is in points."""
    for setup in setups:
        half_width, tau, first, proven = (
            np.array([simulated(setup, number) for number in range(arenas)]).mean(axis=0).tolist()
        )
        needed = (
            math.ceil(setup.matches * (half_width / accuracy) ** 2) if math.isfinite(half_width) else None
        )
        usd, needed_usd = [
            None if usd_per_match is None or count is None else count * usd_per_match
            for count in (setup.matches, needed)
        ]
        yield SimulatedRow(
            players=setup.players,
            matches=setup.matches,
            arenas=arenas,
            half_width=half_width if math.isfinite(half_width) else None,
            tau=None if math.isnan(tau) else tau,
            first=None if math.isnan(first) else first,
            proven=proven,
            needed=needed,
            usd=usd,
            needed_usd=needed_usd,
        )


class Own(NamedTuple):
    """An arena as a setup, and what one of its matches cost on average, None where nobody knows."""

    setup: Setup
    usd_per_match: float | None


def own(reading: Reading, seed: int = 0) -> Own:
    """Return an arena's players with the strengths and discernment on its record, chance taken away, its
    panels or tables, and its costs."""
    played = reading.played
    votes = played.votes()
    setup = Setup(len(reading.settings.players), max(len(played.decided), 1), seed=seed)
    spent = [match.spent_nano / 1e9 for match in played.finished]
    usd = sum(spent) / len(spent) if spent else None
    if votes.judges:
        setup = msgspec.structs.replace(
            setup,
            players=len(votes.players),
            panel=int(np.median(np.bincount(coded(votes.matches)[1]))),
            once=bool(votes.shown.any()),
            skills=tuple(_shrunk(fit_duels(votes.history)).tolist()),
            discernment=_discernment(votes),
        )
    elif played.decided:
        table = fit_duels(played.history)
        seats = int(np.median([len(match.players) for match in played.decided]))
        setup = msgspec.structs.replace(
            setup, players=len(played.players), seats=max(seats, 2), skills=tuple(_shrunk(table).tolist())
        )
    return Own(setup, usd)


def _discernment(votes: Votes) -> tuple[float, ...]:
    nobody = np.zeros((len(votes.judges), votes.history.players), np.bool_)
    found, _ = reliabilities(counted(votes.history, votes.judge, len(votes.judges)), nobody)
    judges = dict(zip(votes.judges, np.clip(found, 0.3, 2.0).tolist(), strict=True))
    return tuple([judges.get(name, 1.0) for name in votes.players])


def _shrunk(table: BradleyTerry) -> Floats:
    """Return strengths in log-odds, mean 0, drawn together by what of their spread is chance."""
    gap = (table.rating - table.rating.mean()) / POINTS
    spread, error = float(np.mean(gap**2)), float(np.mean((table.error / POINTS) ** 2))
    return np.asarray(gap * np.sqrt(max(0.0, 1 - error / spread)) if spread > 0 else gap)
