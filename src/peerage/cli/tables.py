"""`peerage stats` and `match`: what players did, and a match as it was played."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.blocks import Column, numbers, texts
from peerage.cli.leaderboard import Game, Topic, told_scope
from peerage.cli.options import HERE, MOST_MATCHES, Folder, Format, Shape, arena_in, prose
from peerage.cli.output import Titled, show, show_json, show_parts, titled
from peerage.cli.streams import exact
from peerage.figures import dollars, hundredths, percent, rounded, seconds, whole

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.reading.played import Scope

Telling = Literal["text", "json", "markdown"]
Part = Literal[
    "players",
    "judges",
    "authors",
    "readings",
    "outside",
    "probes",
    "unfinished",
    "hosted",
    "costs",
    "kinds",
    "tasks",
]


def stats(
    folder: Folder = HERE,
    of: Annotated[
        Part | None, typer.Option("--of", help="One table alone (CSV: players, if not said).")
    ] = None,
    game: Game = "",
    topic: Topic = "",
    shape: Shape = Format.table,
) -> None:
    """Show what players, judges and authors did.

    JSON holds them all as one object, or with --of as the list of one table. `--of tasks` alone shows each
    player on each of your own tasks, the hardest first.
    """
    from peerage.reading.played import Scope

    with arena_in(folder) as arena, told_scope():
        if of == "tasks":
            _show_tasks(arena, shape, Scope(game, topic))
        else:
            show_stats(arena, shape, of, Scope(game, topic))


def _show_tasks(arena: Arena, shape: Format, scope: Scope) -> None:
    from peerage.tables.tasks import task_rows

    found = [row.as_dict() for row in task_rows(arena.reading.within(scope).credits)]
    if shape is Format.json:
        show_json(found)
        return
    if not found and shape.for_people:
        sys.stdout.write("No match about a task of your own has a result yet.\n")
        return
    results = [row.pop("players") for row in found]
    players = sorted({name for result in results for name in result})
    rows = [
        {**row, **{f"players.{name}": result.get(name) for name in players}}
        for row, result in zip(found, results, strict=True)
    ]
    show(
        rows,
        [
            *texts(task="Task", category="Category ~2", by="By ~1"),
            *numbers(whole, answers="Answers ~3"),
            *numbers(percent, result="Result", spread="Spread ~4"),
            *[Column(f"players.{name}", name, percent, number=True) for name in players],
        ],
        shape,
        title="Tasks: the result of each player, the hardest first",
        notes=[
            "By: a check's mean credit, or the share of the points of the task's matches.",
            "Spread: how far the best player is ahead of the worst.",
        ],
    )


def show_stats(
    arena: Arena, shape: Format = Format.table, of: Part | None = None, scope: Scope | None = None
) -> None:
    """Write the statistics to standard output."""
    from peerage.reading.played import EVERYTHING
    from peerage.tables.stats import stats as counted

    found = counted(arena.reading, scope or EVERYTHING).as_dict()
    show_parts(found, _STATS, of, shape, "players")
    if of is None and found["voids"] and shape.for_people:
        from peerage.reading.matches import in_words

        reasons = "; ".join(f"{number:,}: {in_words(reason)}" for reason, number in found["voids"].items())
        prose(f"Matches without a result: {reasons}.")
    for row in found["players"] if of in (None, "players") and shape.for_people else ():
        if row["failures"]:
            prose(f"{row['player']}: {row['failures']}.")


_STATS: Mapping[str, Titled] = {
    "players": titled(
        "Players: matches, what they were asked and how they replied",
        *texts(player="Player", maker="Maker ~12"),
        *numbers(whole, matches="Matches", wins="W ~4", draws="D ~4", losses="L ~4", calls="Calls ~6"),
        *numbers(whole, input_tokens="Tokens in ~9", output_tokens="out ~9"),
        *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly ~8"),
        *numbers(seconds, latency_p50_s="Answer ~3", latency_p95_s="95% ~7"),
        *numbers(whole, repaired="Repaired ~10", cut="Cut ~10", invalid="Invalid ~2", refused="Refused ~1"),
        *numbers(whole, void="No reply ~1"),
        *numbers("{:.4f}".format, brier="Brier ~5"),
        *numbers(percent, calibration_error="Calibration ~5"),
        notes=(
            "Brier: the mean of (probability - truth)² over the probabilities that it gave; 0 is perfect, "
            "50% for everything comes to 0.25.",
            "Calibration: the mean distance between these probabilities and what came true.",
            "Possibly: what it may have been billed in addition, at most, for calls that failed or stated no "
            "usage.",
            "Answer: the median time of its answers as a contestant.",
            "95%: the time that 95% of these answers took at most.",
            "Repaired: unusable replies that were asked for again and then could be used.",
            "Cut: replies that ended at their token limit.",
            "Invalid: replies that could not be used, also when asked again.",
            "No reply: requests that its provider failed to answer.",
        ),
    ),
    "judges": titled(
        "Judges",
        *texts(player="Judge"),
        *numbers(whole, votes="Votes", ties="Ties", abstentions="Abstained", unusable="Unusable ~2"),
        *numbers(whole, flips="Flipped ~5"),
        *numbers(percent, flip_share="Flips", agreement="Agreement", first_share="Prefers the first ~3"),
        notes=(
            "Unusable: verdicts that could not be read.",
            "Flipped: votes that changed with the order of the answers.",
            "Flips: their share of the votes that saw both orders.",
            "Agreement: how often it votes as another judge of the same match does.",
            "Prefers the first: how often it picks the answer shown first; a judge without bias has 50%.",
        ),
    ),
    "authors": titled(
        "Authors",
        *texts(player="Author"),
        *numbers(whole, drafts="Drafts", approved="Approved"),
        *numbers(percent, approval="Mean approval"),
        *numbers(whole, turns_lost="Invalid turns"),
    ),
    "outside": titled(
        "Outside results: imported, not played here",
        *texts(source="Source", layout="Format"),
        *numbers(whole, results="Results", players="Players"),
        *texts(sha256="SHA-256 ~1"),
    ),
    "unfinished": titled(
        "Matches that have not ended: their calls so far, in no other sum here",
        *texts(player="Player"),
        *numbers(whole, calls="Calls"),
        *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly billed"),
    ),
    "probes": titled(
        "Probes: small questions before runs, in no match and no other sum here",
        *texts(player="Player"),
        *numbers(whole, probes="Probes"),
        *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly billed"),
    ),
    "hosted": titled(
        "On hosts: what players took of the hours held; what no call was billed is in no other sum here",
        *texts(player="Player", host="Host"),
        *numbers(whole, calls="Calls"),
        *numbers("{:.2f}".format, hours="Hours"),
        *numbers(dollars, billed_usd="Billed to calls", unused_usd="Start and idle"),
    ),
    "costs": titled(
        "Costs: what dollars and hours bought; a bit of information halves the error of one rating",
        *texts(player="Player"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(whole, matches="Matches"),
        *numbers(hundredths, bits="Bits"),
        *numbers(rounded, matches_per_usd="Matches/$", bits_per_usd="Bits/$"),
        *numbers(hundredths, gpu_hours="Hours held ~1"),
        *numbers(rounded, matches_per_gpu_hour="Matches/h ~1", bits_per_gpu_hour="Bits/h ~1"),
    ),
    "kinds": titled(
        "Topics, or games: what a dollar buys in each",
        *texts(kind="Topic or game"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(whole, matches="Matches"),
        *numbers(hundredths, bits="Bits"),
        *numbers(rounded, matches_per_usd="Matches/$", bits_per_usd="Bits/$"),
    ),
    "readings": titled(
        "Readings: where a game's rules leave room, the table under each of them",
        *texts(reading="Reading"),
        *numbers(whole, rank=""),
        *texts(player="Player"),
        *numbers(whole, rating="Raw Elo", matches="Matches", wins="W", draws="D", losses="L"),
    ),
}


def match(
    number: Annotated[int, typer.Argument(min=1, max=MOST_MATCHES, help="The number of the match.")],
    folder: Folder = HERE,
    full: Annotated[bool, typer.Option("--full", help="Every request too, word for word.")] = False,
    seat: Annotated[
        str,
        typer.Option("--as", metavar="SEAT", help="What this seat could see: its letter, or its player."),
    ] = "",
    shape: Annotated[Telling, typer.Option("--format", help="How to write it.")] = "text",
) -> None:
    """Read a match: question, answers, verdicts, and the result.

    Where a game hides things, everything is shown with who could see it; --as leaves out what one seat could
    not see, or shows what it was sent, word for word, where the game marks nothing.
    """
    from peerage.tables.match_view import as_seen, match_view

    with arena_in(folder) as arena:
        found = match_view(arena.ledger, number)
        if seat:
            found = as_seen(found, seat)
            full = full or not found.blocks
        unit = arena.reading.rating.cost_unit.name
    if shape == "json":
        show_json(found.as_dict())
        return
    from peerage.cli.match import markdown, write

    if shape == "markdown":
        exact(sys.stdout).write(markdown(found))
    else:
        write(found, unit, full=full)
