"""What planted faults of judges do to ratings, before and after corrections, and whether they are found: the
tables of docs/judging.md.

Pools of 4, 8 and 16 players whose skills have a standard deviation of 150 points, 100 to 1,600 duels before
panels of up to five: `peerage simulate` for all of them. Usage: python -m bench.planted [ARENAS [--write]];
with --write the page's table is replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from peerage.judging.simulation import KINDS, Found, Setup
from peerage.tables.simulate import SimulatedRow, rows, simulate

PAGE = Path(__file__).parents[1] / "docs" / "judging.md"
BEGIN, END = "<!-- made by `python -m bench.planted 20 --write` -->", "<!-- to here -->"
PLAYERS, DUELS = (4, 8, 16), (100, 400, 1600)
PLANTS = [(kind, 0) for kind in KINDS]


def measured(arenas: int, workers: int) -> list[SimulatedRow]:
    """A row for every pool size, amount of duels and plant."""
    setups = [Setup(players, duels) for players in PLAYERS for duels in DUELS]
    found: list[list[list[Found | None]]] = [[] for _ in setups]
    for at, one in simulate(setups, PLANTS, arenas, workers):
        found[at].append(one)
    return [
        row
        for setup, of in zip(setups, found, strict=True)
        for row in rows(setup, PLANTS, of, accuracy=25, usd_per_match=None)
    ]


def table(measured: Sequence[SimulatedRow]) -> Iterator[str]:
    """The lines of the page's table."""
    cell = {(row.kind, row.players, row.matches): row for row in measured}
    heads = [f"{duels:,} duels: shift | found | false" for duels in DUELS]
    yield f"| plant | players | {' | '.join(heads)} |"
    yield f"|---|--:|{'--:|' * 3 * len(DUELS)}"
    for kind in ("", *KINDS):
        for players in PLAYERS:
            cells = [_cell(cell.get((kind, players, duels))) for duels in DUELS]
            named = "" if players != PLAYERS[0] else KINDS[kind].in_words(0, 0) if kind else "nothing"
            yield f"| {named} | {players} | {' | '.join(cells)} |"


def _cell(row: SimulatedRow | None) -> str:
    if row is None:
        return "– | – | –"
    shift = "–"
    if row.moved is not None and row.corrected is not None:
        shift = f"{row.moved:+.0f} → {row.corrected:+.0f} ± {row.corrected_error or 0:.0f}"
    shares = [f"{one:.0%}" if one is not None else "–" for one in (row.noticed, row.false_alarms)]
    return " | ".join([shift, *shares])


def main(arenas: int, write: bool) -> None:
    lines = "\n".join(table(measured(arenas, os.cpu_count() or 1)))
    print(lines)
    if write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{lines}\n\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, "--write" in sys.argv)
