"""`peerage simulate`: how many matches and dollars an accuracy takes, before anything is played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from peerage.cli.shared.options import MOST_SEED, Shape, TableFormat, arena_in
from peerage.cli.shared.output import show_table
from peerage.values.figures import counted

OfArena = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        help="Simulate this arena: its players as strong, its judges as able, its costs.",
        show_default="none",
    ),
]
PlayerNumbers = Annotated[
    str, typer.Option(metavar="NUMBERS", help="Players, as 10 or 4,8,16.", show_default="10")
]
SkillSpread = Annotated[
    float | None,
    typer.Option(
        min=0, max=2000, help="Standard deviation of skills in points; 0: equals.", show_default="150"
    ),
]
MatchNumbers = Annotated[
    str, typer.Option(metavar="NUMBERS", help="Matches, as 400 or 100,400,1600.", show_default="400")
]
TableSeats = Annotated[
    int | None,
    typer.Option(
        min=2, max=100, help="Tables of so many, ranked by a referee.", show_default="duels before judges"
    ),
]
PanelSize = Annotated[int | None, typer.Option(min=1, max=100, help="Judges of a duel.", show_default="5")]
Accuracy = Annotated[
    float, typer.Option(min=0.01, max=1000, help="Points; how many matches until intervals are ± that?")
]
MatchCost = Annotated[
    float | None,
    typer.Option(min=0, max=1_000_000, help="What a match costs.", show_default="the arena's, else unknown"),
]
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help="The same seed gives the same figures.")]


def simulate(
    folder: OfArena = None,
    players: PlayerNumbers = "",
    sd: SkillSpread = None,
    matches: MatchNumbers = "",
    seats: TableSeats = None,
    judges: PanelSize = None,
    accuracy: Accuracy = 25.0,
    usd_per_match: MatchCost = None,
    arenas: Annotated[int, typer.Option(min=1, max=10_000, help="Simulated arenas for each row.")] = 20,
    seed: Seed = 0,
    shape: Shape = TableFormat.table,
) -> None:
    """Simulate arenas: how many matches and dollars does it take?

    Players who also judge meet at random in duels before panels, or at tables with a referee. Each row shows
    the intervals after so many matches, how far the order agrees with the truth (Kendall's tau), how often
    the first is the best player and proven to be, and the matches and money until intervals are as narrow as
    you want. Nobody is asked and nothing is written.
    """
    from msgspec.structs import replace

    from peerage.ratings.simulation import Setup
    from peerage.views.plan.simulate import own, rows, table

    base, usd, title = Setup(10, 400, seed=seed), None, "Simulated arenas"
    if folder is not None:
        with arena_in(folder) as arena:
            base, usd = own(arena.reading, seed)
            title = f"{arena.settings.name}, simulated"
    given = {"spread": sd, "panel": judges, "seats": seats}
    base = replace(base, **{name: value for name, value in given.items() if value is not None})
    pools = _listed(players, "--players", base.players, 200)
    if sd is not None or pools != [base.players]:
        base = replace(base, skills=(), discernment=())
    fewest = 2 if base.seats else 3
    if min(pools) < fewest:
        kind = "a table" if base.seats else "a duel before judges"
        raise typer.BadParameter(
            f"{counted(min(pools), 'player')}: {kind} needs at least {fewest}; see --players"
        )
    amounts = _listed(matches, "--matches", base.matches, 100_000)
    setups = [replace(base, players=pool, matches=many) for pool in pools for many in amounts]
    usd = usd if usd_per_match is None else usd_per_match
    show_table(table([*rows(setups, arenas, accuracy, usd)], accuracy, title), shape)


def _listed(words: str, option: str, usual: int, most: int) -> list[int]:
    if not words:
        return [usual]
    try:
        numbers = [int(word.replace("_", "")) for word in words.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1 or max(numbers) > most:
        raise typer.BadParameter(
            f"{option} {words!r}: expected whole numbers from 1 to {most:,}, as {option} 8 or {option} 8,16"
        )
    return list(dict.fromkeys(numbers))
