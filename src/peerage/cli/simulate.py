"""`peerage simulate`: how far ratings can be trusted before anything is played."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.cli.options import MOST_SEED, Format, Shape, arena_in, refuse_nan
from peerage.cli.output import hundredths, numbers, show, texts
from peerage.figures import counted, dollars, percent, whole

if TYPE_CHECKING:
    from peerage.judging.simulation import Found, Setup
    from peerage.tables.simulate import Planted, SimulatedRow

_POINTS, _TENTHS = "{:+.0f}".format, "{:+.2f}".format


def simulate(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="Simulate this arena: its players as strong, its judges as able, its pairing, its costs.",
            show_default="none",
        ),
    ] = None,
    players: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Players, as 10 or 4,8,16.", show_default="10")
    ] = "",
    sd: Annotated[
        float | None,
        typer.Option(
            min=0, max=2000, help="Standard deviation of skills in points; 0: equals.", show_default="150"
        ),
    ] = None,
    matches: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Matches, as 400 or 100,400,1600.", show_default="400")
    ] = "",
    questions: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="Tournaments of so many questions, in which everybody scores everybody.",
            show_default="duels before judges",
        ),
    ] = "",
    generous: Annotated[
        float | None,
        typer.Option(
            min=-5, max=5, help="Points of 10 that judges of tournaments give more; 3: they love 8 to 10."
        ),
    ] = None,
    seats: Annotated[
        int | None,
        typer.Option(
            min=2, max=100, help="Tables of so many, ranked by a referee.", show_default="duels before judges"
        ),
    ] = None,
    judges: Annotated[
        int | None, typer.Option(min=1, max=100, help="Judges of a duel.", show_default="5")
    ] = None,
    order: Annotated[
        Literal["both", "one"] | None,
        typer.Option(help="Orders of the answers that each judge sees.", show_default="both"),
    ] = None,
    pairing: Annotated[
        Literal["swiss", "order", "top", "certify", "random", "round-robin"] | None,
        typer.Option(help="Who meets whom: see `pairing.policy`.", show_default="random"),
    ] = None,
    plant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=HOW MANY]",
            help="A fault of judges: position, lazy, lazy-once, random, harsh, length, fixed-length, family, "
            "friends, half-friends, ring, or all; of tournaments favour, sabotage and camps too. "
            "Repeat it; each is planted alone.",
            show_default="none",
        ),
    ] = None,
    arenas: Annotated[int, typer.Option(min=1, max=100_000, help="Simulated arenas for each row.")] = 20,
    accuracy: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1000,
            help="Points; how many matches until intervals are ± that?",
            show_default="25; tournaments 0.25",
        ),
    ] = None,
    usd_per_match: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1e9,
            help="What a match costs; of a tournament, a question.",
            show_default="the arena's, else unknown",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes.", show_default="one for each core")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="The same seed gives the same figures.")
    ] = 0,
    shape: Shape = Format.table,
) -> None:
    """Simulate arenas: how many matches, and do faults show?

    Players who also judge meet in duels before panels, or at tables with a referee, and every result is drawn
    by chance. Each row says: the share of 95% intervals that hold the truth, by how many points a
    fault moves those it is about, as the votes are and corrected, how often the report on judges names
    somebody guilty or innocent, how far the order agrees with the truth (Kendall's tau), and the matches and
    money until intervals are as narrow as you want. Nothing is asked of anybody and nothing is written.
    """
    refuse_nan(locals())
    from msgspec.structs import replace

    from peerage.judging.simulation import Setup
    from peerage.tables.simulate import rows

    scored = bool(questions)
    accuracy = accuracy or (0.25 if scored else 25.0)
    others = {"--dir": folder, "--matches": matches, "--seats": seats, "--judges": judges}
    others |= {"--order": order, "--pairing": pairing}
    if scored and any(others.values()):
        wrong = ", ".join([name for name, value in others.items() if value])
        raise typer.BadParameter(f"--questions is a tournament, of which {wrong} says nothing")
    if generous is not None and not scored:
        raise typer.BadParameter("--generous is about tournaments: give --questions too")
    base, usd, title = Setup(10, 400, seed=seed), None, "Simulated arenas"
    if folder is not None:
        from peerage.tables.simulate import own

        with arena_in(folder) as arena:
            base, usd = own(arena.ledger, arena.settings, seed)
            title = f"{arena.settings.name}, simulated"
    given = {"spread": sd, "panel": judges, "pairing": pairing, "seats": seats}
    base = replace(base, **{name: value for name, value in given.items() if value is not None})
    base = replace(base, once=base.once if order is None else order == "one")
    pools = _listed(players, "--players", base.players)
    if sd is not None or pools != [base.players]:
        base = replace(base, skills=(), discernment=())
    if scored:
        base = replace(base, matches=1, spread=1.2 if sd is None else sd, generous=generous or 0.0)
        asked = [replace(base, questions=many) for many in _listed(questions, "--questions", 0)]
    else:
        asked = [replace(base, matches=many) for many in _listed(matches, "--matches", base.matches)]
    setups = [replace(one, players=pool) for pool in pools for one in asked]
    plants = list(_planted(plant or (), scored))
    _possible(setups, plants)
    found: list[list[list[Found | None]]] = [[] for _ in setups]
    interrupted = _run(setups, plants, arenas, workers or os.cpu_count() or 1, found)
    usd = usd if usd_per_match is None else usd_per_match
    listed = [
        row
        for setup, of in zip(setups, found, strict=True)
        if of
        for row in rows(setup, plants, of, accuracy, usd)
    ]
    _show(listed, shape, title, accuracy, bool(base.seats), scored)
    if interrupted:
        done = sum(map(len, found))
        told = f"interrupted after {done:,} of {counted(arenas * len(setups), 'arena')}"
        typer.echo(f"{told}: the figures above are of those" if done else told, err=True)
        raise typer.Exit(130)


def _listed(words: str, option: str, usual: int) -> list[int]:
    if not words:
        return [usual]
    try:
        found = [int(word.replace("_", "")) for word in words.split(",")]
    except ValueError:
        found = []
    most = 200 if option == "--players" else 100_000
    if not found or min(found) < 1 or max(found) > most:
        raise typer.BadParameter(
            f"{option} {words!r}: expected whole numbers from 1 to {most:,}, as {option} 8 or {option} 8,16"
        )
    return list(dict.fromkeys(found))


def _planted(stated: Sequence[str], scored: bool) -> Iterator[Planted]:
    from peerage.judging.simulated_tournaments import SCORE_KINDS, ScoreKind
    from peerage.judging.simulation import KINDS, Kind
    from peerage.settings import suggest

    kinds: Mapping[str, Kind | ScoreKind] = SCORE_KINDS if scored else KINDS
    for words in stated:
        name, _, count = words.partition("=")
        if name == "all" and not count:
            yield from [(kind, 0) for kind in kinds]
        elif name not in kinds:
            raise typer.BadParameter(f"there is no plant {name!r}{suggest(name, (*kinds, 'all'))}")
        elif count and (not kinds[name].share or not count.isdecimal() or not int(count)):
            counts = ", ".join(kind for kind, one in kinds.items() if one.share)
            raise typer.BadParameter(f"--plant {words!r}: expected a number from 1, with one of {counts}")
        else:
            yield name, int(count or 0)


def _possible(setups: Sequence[Setup], plants: Sequence[Planted]) -> None:
    for setup in setups:
        fewest = 2 if setup.seats else 3
        if setup.players < fewest:
            raise typer.BadParameter(f"--players {setup.players}: at least {fewest} are needed")
        if setup.seats and plants:
            raise typer.BadParameter("--plant is a fault of judges: tables with a referee have none")
        most = max((count for _, count in plants), default=0)
        if most > setup.players:
            raise typer.BadParameter(f"--plant: {most} cannot take part among {setup.players} players")


def _run(
    setups: Sequence[Setup],
    plants: Sequence[Planted],
    arenas: int,
    workers: int,
    found: list[list[list[Found | None]]],
) -> bool:
    """Fill `found`, arena by arena; whether Ctrl+C ended that before its time."""
    from contextlib import closing

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from peerage.tables.simulate import simulate

    console = Console(stderr=True)
    columns = TextColumn("arenas"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("arenas", total=arenas * len(setups))
        try:
            with closing(simulate(setups, plants, arenas, min(workers, arenas * len(setups)))) as simulation:
                for at, one in simulation:
                    found[at].append(one)
                    bar.advance(task)
        except KeyboardInterrupt:
            return True
    return False


def _show(
    listed: Sequence[SimulatedRow], shape: Format, title: str, accuracy: float, refereed: bool, scored: bool
) -> None:
    priced = any(row.usd is not None for row in listed)
    planted = any(row.kind for row in listed)
    uncorrected = refereed or scored
    columns = [
        *numbers(whole, players="Players"),
        *numbers(whole, **({"questions": "Questions"} if scored else {"matches": "Matches"})),
        *(texts(plant="Planted") if planted or not shape.for_people else ()),
        *numbers(percent, held="Intervals hold"),
        *(() if uncorrected else numbers(percent, held_corrected="Corrected ~4")),
        *(numbers(_TENTHS if scored else _POINTS, moved="Moves by") if planted else ()),
        *(numbers(_POINTS, corrected="Corrected") if planted and not scored else ()),
        *(numbers("{:.0f}".format, corrected_error="± ~3") if planted and not scored else ()),
        *(numbers(percent, noticed="Noticed") if planted else ()),
        *(() if refereed else numbers(percent, false_alarms="False alarms")),
        *numbers(hundredths, tau="Order"),
        *(() if uncorrected else numbers(hundredths, tau_corrected="Corrected ~2")),
        *numbers(("± {:.2f}" if scored else "± {:.0f}").format, half_width="Interval"),
        *numbers(whole, needed=f"For ± {accuracy:g}"),
        *(numbers(dollars, usd="Cost ~1", needed_usd=f"For ± {accuracy:g}") if priced else ()),
    ]
    unit = "questions" if scored else "matches"
    notes = [
        f"Intervals hold: the share of 95% intervals with the truth in them. Order: Kendall's tau with the "
        f"true order. For ± {accuracy:g}: {unit} until intervals are that narrow on average."
    ]
    if planted and scored:
        notes.append(
            "Moves by: points of the scale, each judge brought to an average of 5, of the score that the "
            "fault is about, or how much farther from the truth all are on average. Noticed: `peerage "
            "judges` names somebody guilty; false alarms: somebody else."
        )
    elif planted:
        notes.append(
            "Moves by: points of the rating that the fault is about, or how much farther from the truth all "
            "are on average; corrected: the same after `leaderboard --correct all`. Noticed: `peerage "
            "judges` names somebody guilty; false alarms: somebody else."
        )
    show([row.as_dict() for row in listed], columns, shape, title=title, notes=notes)
