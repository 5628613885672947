"""`peerage leaderboard`, `stats` and `match`: what the ledger says, as tables and transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from peerage.cli.options import HERE, Folder, Format, Report, Shape, Written, arena_in
from peerage.cli.output import (
    Column,
    Titled,
    dollars,
    hundredths,
    numbers,
    percent,
    seconds,
    show,
    show_json,
    show_parts,
    signed,
    span,
    tenths,
    texts,
    titled,
    whole,
)

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.tables.leaderboard import Board
    from peerage.tables.overall import Profile
    from peerage.tables.played import Scope
    from peerage.tables.what_if import WhatIf


Track = Literal[
    "bt",
    "trueskill",
    "raw",
    "cost",
    "glicko2",
    "points",
    "averaged",
    "judge-aware",
    "anchored",
    "duplicate",
    "overall",
]
Whose = Literal["played", "outside", "all"]
Part = Literal[
    "players", "judges", "authors", "makers", "readings", "calibration", "outside", "probes", "unfinished"
]
Game = Annotated[str, typer.Option(help="Count the matches of this game alone.", show_default="all")]
Topic = Annotated[str, typer.Option(help="Count the matches on this topic alone.", show_default="all")]

TITLES = {
    "bt": "Bradley-Terry rating with 95% intervals",
    "trueskill": "TrueSkill, μ - 3σ with 95% intervals of μ",
    "raw": "Elo, sequential, with 95% intervals",
    "cost": "Elo, sequential, adjusted for cost, with 95% intervals",
    "glicko2": "Glicko-2 with 95% intervals",
    "averaged": "Elo averaged over orders, with 95% intervals",
    "judge-aware": "Bradley-Terry by judges' reliability, with 95% intervals",
    "anchored": "Bradley-Terry anchored to people's votes, with 95% intervals",
    "duplicate": "Bradley-Terry with the luck of tasks held equal, with 95% intervals",
    "overall": "share of wins over all games in percent, with 95% intervals",
    "points": "points in all with 95% intervals, and the mean of a match",
}


def leaderboard(
    folder: Folder = HERE,
    track: Annotated[
        Track | None,
        typer.Option(
            help="Bradley-Terry; TrueSkill; sequential Elo, raw or by cost; Glicko-2; over several games the "
            "share of wins.",
            show_default="the game's, of several games overall",
        ),
    ] = None,
    game: Game = "",
    topic: Topic = "",
    side: Annotated[
        str,
        typer.Option(help="Rate players on this side alone (werewolf: wolves, village).", show_default="any"),
    ] = "",
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME=NUMBER",
            help="How much a match of a game counts, overall the whole game; repeat it. Overall also "
            "`alike`, or `matches`: as much as was played.",
            show_default="1 each, overall the settings'",
        ),
    ] = None,
    source: Annotated[
        Whose, typer.Option(help="Matches played here, outside results (peerage import), or both.")
    ] = "played",
    without_judge: Annotated[
        list[str] | None,
        typer.Option(metavar="JUDGE", help="What if: the votes of this judge do not count; repeat it."),
    ] = None,
    weights: Annotated[
        Literal["equal"] | None, typer.Option(help="What if: every judge's vote weighs the same.")
    ] = None,
    k: Annotated[
        float | None, typer.Option("--k", help="What if: another K (tracks raw, cost, averaged).")
    ] = None,
    tau_c: Annotated[
        float | None, typer.Option(help="What if: another sensitivity to cost (track cost).")
    ] = None,
    no_propagation: Annotated[
        bool, typer.Option("--no-propagation", help="What if: ratings do not spread (tracks raw, cost).")
    ] = False,
    correct: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="What would change with judges' votes corrected for position, style, own, family, favours, "
            "reliability (comma-separated), or all.",
            show_default="nothing",
        ),
    ] = "",
    by: Annotated[
        Literal["game"] | None,
        typer.Option(help="Everybody's strength in each game, beside the overall one.", show_default="no"),
    ] = None,
    shape: Shape = Format.table,
) -> None:
    """Show the ranking, and who is clearly above whom.

    A what-if counts the recorded matches in another way. Nothing is played again or written down, and title,
    notes and JSON say what was asked.
    """
    from peerage.tables.played import Scope
    from peerage.tables.what_if import WhatIf

    words = {stated for stated in weight or () if stated in ("alike", "matches")}
    of_games = dict(_weight(stated) for stated in weight or () if stated not in words)
    without = tuple(dict.fromkeys(without_judge or ()))
    what_if = WhatIf(without, weights == "equal", k, tau_c, not no_propagation)
    with arena_in(folder) as arena, told_scope():
        if correct:
            if track not in (None, "bt") or source != "played" or what_if.told:
                raise typer.BadParameter(
                    "--correct rates the votes of judges on record by Bradley-Terry: leave --track, --source "
                    "and every what-if out"
                )
            show_corrected(arena, correct, shape, Scope(game, topic, of_games))
            return
        parts = _parts(arena, words, of_games)
        if by:
            if track not in (None, "overall") or source != "played" or what_if.told or game:
                raise typer.BadParameter(
                    "--by game shows shares of wins in every game played here: leave --track, --game, "
                    "--source and every what-if out"
                )
            show_by_game(arena, shape, Scope("", topic, of_games, games=parts))
            return
        scope = Scope(game, topic, of_games, source, side, parts)
        show_leaderboard(arena, track or "", shape, scope, what_if)


def _parts(arena: Arena, words: Set[str], of_games: Mapping[str, float]) -> dict[str, float]:
    """How much whole games count where a word says it; empty where the settings do."""
    from peerage.tables.played import EVERYTHING, Played

    if not words:
        return {}
    if len(words) > 1:
        raise typer.BadParameter("--weight alike and --weight matches contradict each other: leave one out")
    counted = Played(arena.ledger, EVERYTHING).games
    return {game: float(n if "matches" in words else 1) for game, n in counted.items()} | dict(of_games)


@contextmanager
def told_scope() -> Iterator[None]:
    """Tell what is wrong with the scope that was asked for as a wrong option."""
    from peerage.protocol import visible
    from peerage.tables.played import ScopeError

    try:
        yield
    except ScopeError as error:
        raise typer.BadParameter(visible(str(error))) from None


def show_leaderboard(
    arena: Arena,
    track: str = "",
    shape: Format = Format.table,
    scope: Scope | None = None,
    what_if: WhatIf | None = None,
) -> None:
    """Write the leaderboard of one track, or of the game's own, to standard output.

    People read each game's own table first, where several were played, and then the one over all of them.
    """
    from peerage.ledger.votes import Votes
    from peerage.tables.leaderboard import board
    from peerage.tables.played import EVERYTHING, Scope
    from peerage.tables.what_if import AS_PLAYED

    scope = scope or EVERYTHING
    people = Votes(arena.ledger.address, arena.folder)
    found = board(arena.ledger, arena.settings, track, scope, what_if=what_if or AS_PLAYED, people=people)
    if (
        shape.for_people
        and len(found.games) > 1
        and scope.source == "played"
        and not (scope.game or scope.topic or scope.side or found.what_if)
    ):
        for game in found.games:
            first = "" if track == "overall" else track
            alone = board(arena.ledger, arena.settings, first, Scope(game), people=people)
            if any(row.rank is not None for row in alone.rows):
                _show_board(arena, alone, shape)
                typer.echo()
    _show_board(arena, found, shape, scope.source)


def show_standings(arena: Arena) -> None:
    """Write who stands where after a run: one game's leaderboard, or of several the strengths by game and
    then the overall table."""
    from peerage.tables.leaderboard import board
    from peerage.tables.played import EVERYTHING

    found = board(arena.ledger, arena.settings)
    if found.track == "overall":
        show_by_game(arena, Format.table, EVERYTHING)
        typer.echo()
    _show_board(arena, found, Format.table)


def _show_board(arena: Arena, found: Board, shape: Format, source: str = "played") -> None:
    rows = [row.as_dict() for row in found.rows]
    skill = found.track == "trueskill"
    shown = tenths if found.track in ("trueskill", "points", "overall") else whole
    shared, marked = _footnotes(rows)
    possibly = any(row["possibly_usd"] for row in rows)
    columns = [
        *numbers(str, rank=""),
        *texts(player="Player"),
        *numbers(shown, rating="Rating"),
        *([Column("mu", ">μ", shown, 8), Column("sigma", ">σ", shown, 8)] if skill else ()),
        *([Column("mu", ">Mean", signed)] if found.track == "points" else ()),
        *numbers(str, interval="μ, 95% ~2" if skill else "95% ~2"),
        *numbers(span, rank_range="Ranks ~3"),
        *numbers(str, beats="Above ~5"),
        *numbers(whole, matches="Matches", wins="W", draws="D", losses="L", void="No result ~4"),
        *numbers(dollars, cost_usd="Billed ~1"),
        *([Column("possibly_usd", ">Possibly", dollars, 1)] if possibly else ()),
    ]
    if shape.for_people:
        places = {row["player"]: row["rank"] for row in rows}
        rows = [
            {
                **row,
                "interval": _interval(row, shown),
                "beats": _places([places[name] for name in row["above"]]),
                "player": row["player"] + marked[row["player"]],
            }
            for row in rows
        ]
    about = "".join(
        f", {part}"
        for part in (found.game, found.topic and f"topic {found.topic}", found.side and f"as {found.side}")
        if part
    )
    about += {"played": "", "outside": ", outside results", "all": ", with outside results"}[source]
    about += f"; WHAT IF: {found.what_if}" if found.what_if else ""
    notes = [
        "Ranks: those still possible with 95% confidence. "
        "Above: players this one beats with the same confidence.",
        *shared,
    ]
    if possibly:
        notes.append("Possibly: billed in addition at most, for calls that failed or stated no usage")
    show(rows, columns, shape, title=f"{arena.settings.name}: {TITLES[found.track]}{about}", notes=notes)


def _profiles(arena: Arena, scope: Scope) -> list[Profile]:
    from peerage.tables.leaderboard import weights_of
    from peerage.tables.overall import profiles
    from peerage.tables.played import Played

    weights = scope.games or weights_of(arena.settings) | dict(scope.weights)
    return profiles(Played(arena.ledger, scope).weighed(weights))


def show_by_game(arena: Arena, shape: Format, scope: Scope) -> None:
    """Write everybody's strength in each game to standard output: for people a line for each player."""
    rows = _profiles(arena, scope)
    columns = [
        *texts(player="Player", game="Game"),
        *numbers(str, rank=""),
        *numbers(tenths, share="Share", lower="from", upper="to"),
        *numbers(whole, matches="Matches", wins="W", draws="D", losses="L"),
    ]
    if not shape.for_people:
        show([row.as_dict() for row in rows], columns, shape)
        return
    games = list(dict.fromkeys(row.game for row in rows))  # overall first
    players = list(dict.fromkeys(row.player for row in rows))
    cell = {(row.player, row.game): row for row in rows if row.rank}
    turned = len(games) > len(players)  # what there is less of stands side by side
    down, across = (games, players) if turned else (players, games)
    lines: list[dict[str, Any]] = []
    for one in down:
        line: dict[str, Any] = {"name": one or "overall"}
        for place, other in enumerate(across):
            found = cell.get((other, one) if turned else (one, other))
            line[str(place)] = found and found.share
        lines.append(line)
    columns = [
        *texts(name="Game" if turned else "Player"),
        *(Column(str(place), f">{other or 'overall'}", tenths, place) for place, other in enumerate(across)),
    ]
    notes = [
        "Share of wins, in percent, that each can expect against the others, in each game and over all of "
        "them; `peerage players NAME` shows one player's with intervals"
    ]
    show(lines, columns, shape, title=f"{arena.settings.name}: shares of wins, game by game", notes=notes)


def show_profile(arena: Arena, name: str, shape: Format) -> None:
    """Write one player's strength in each game to standard output, with its intervals drawn. Raises
    ScopeError for a player without a match."""
    from peerage.settings import suggest
    from peerage.tables.played import EVERYTHING, ScopeError

    every = _profiles(arena, EVERYTHING)
    mine = [row for row in every if row.player == name]
    if not mine:
        there = dict.fromkeys(row.player for row in every)
        raise ScopeError(f"no match is on record of a player {name!r}{suggest(name, there)}")
    rows = [row.as_dict() for row in mine]
    drawn: list[Column] = []
    if shape.for_people:
        rows = [
            {**row, "game": row["game"] or "overall", "drawn": _interval_plot(one)}
            for row, one in zip(rows, mine, strict=True)
            if one.rank
        ]
        drawn += texts(drawn="0%" + " " * (PLOT // 2 - 5) + "50%" + " " * (PLOT // 2 - 4) + "100% ~1")
    columns = [
        *texts(game="Game"),
        *numbers(str, rank="Rank"),
        *numbers(tenths, share="Share", lower="from", upper="to"),
        *drawn,
        *numbers(whole, matches="Matches", wins="W ~2", draws="D ~2", losses="L ~2"),
    ]
    notes = ["Share of wins, in percent, that it can expect against the others, with its 95% interval"]
    show(rows, columns, shape, title=f"{arena.settings.name}: {name}, game by game", notes=notes)


PLOT = 41
"""Characters of an interval as it is drawn in a terminal."""


def _interval_plot(one: Profile) -> str:
    """A share and its interval on a line from 0% to 100%, a dot at the share, the middle marked."""
    low, at, high = (round(value / 100 * (PLOT - 1)) for value in (one.lower, one.share, one.upper))
    cells = ["━" if low <= cell <= high else "┆" if cell == PLOT // 2 else "·" for cell in range(PLOT)]
    cells[at] = "●"
    return "".join(cells)


def show_corrected(arena: Arena, correct: str, shape: Format, scope: Scope) -> None:
    """Write what corrections of the judges' votes would change to standard output."""
    from peerage.tables.corrected import asked, what_would_change
    from peerage.tables.played import Played

    wanted = asked(correct)
    found = what_would_change(arena.ledger, arena.settings, Played(arena.ledger, scope), wanted)
    rows = [row.as_dict() for row in found]
    if shape.for_people:
        rows = [{**row, "interval": _interval(row, whole)} for row in rows]
    columns = [
        *numbers(str, corrected_rank=""),
        *texts(player="Player"),
        *numbers(whole, rating="Rating", corrected="Corrected"),
        *numbers(lambda points: f"{points:+,.0f}", difference="Difference"),
        *numbers(str, interval="95%"),
        *numbers(span, rank_range="Ranks"),
        *numbers(str, rank="Before"),
    ]
    title = f"{arena.settings.name}: what would change, corrected for {', '.join(wanted)}"
    show(rows, columns, shape, title=title, notes=found[0].notes)


def _weight(stated: str) -> tuple[str, float]:
    game, found, number = stated.rpartition("=")
    try:
        return game, float(number if found else "")
    except ValueError:
        wrong = f"--weight {stated!r}: expected GAME=NUMBER, such as --weight duel=2"
        raise typer.BadParameter(wrong) from None


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

    JSON holds them all as one object, or with --of as the list of one table.
    """
    from peerage.tables.played import Scope

    with arena_in(folder) as arena, told_scope():
        show_stats(arena, shape, of, Scope(game, topic))


def show_stats(
    arena: Arena, shape: Format = Format.table, of: Part | None = None, scope: Scope | None = None
) -> None:
    """Write the statistics to standard output."""
    from peerage.tables.played import EVERYTHING
    from peerage.tables.stats import stats as counted

    found = counted(arena.ledger, arena.settings, scope or EVERYTHING).as_dict()
    show_parts(found, _STATS, of, shape, "players")
    if of is None and found["voids"] and shape.for_people:
        reasons = ", ".join(f"{number} {reason}" for reason, number in found["voids"].items())
        typer.echo(f"matches without a result: {reasons}")


_STATS: Mapping[str, Titled] = {
    "players": titled(
        "Players: matches, what they were asked and how they replied",
        *texts(player="Player"),
        *numbers(whole, matches="Matches", wins="W ~3", draws="D ~3", losses="L ~3", calls="Calls"),
        *numbers(whole, input_tokens="Tokens in ~5", output_tokens="out ~4"),
        *numbers(dollars, cost_usd="Billed", possibly_usd="Possibly ~2"),
        *numbers(seconds, latency_p50_s="Median ~2", latency_p95_s="95% ~7"),
        *numbers(whole, repaired="Repaired ~8", cut="Cut ~9", invalid="Invalid", refused="Refused"),
        *numbers(whole, void="No reply"),
    ),
    "judges": titled(
        "Judges",
        *texts(player="Judge"),
        *numbers(whole, votes="Votes", ties="Ties", abstentions="Abstained", unusable="Unusable ~2"),
        *numbers(whole, flips="Flips ~5"),
        *numbers(percent, flip_share="Flip share", agreement="Agreement", first_share="For the first ~3"),
        *numbers(signed, kin_lean="Family bias ~4"),
    ),
    "authors": titled(
        "Authors",
        *texts(player="Author"),
        *numbers(whole, drafts="Drafts", approved="Approved"),
        *numbers(percent, approval="Mean approval"),
        *numbers(whole, turns_lost="Invalid turns"),
    ),
    "makers": titled(
        "Makers: who was tried how often; a rate of 1 is as many matches a player as usual",
        *texts(maker="Maker"),
        *numbers(whole, players="Players", withdrawn="Withdrawn", matches="Matches"),
        *numbers(percent, share="Share"),
        *numbers(hundredths, rate="Rate ~1"),
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
    "readings": titled(
        "Readings: where a game's rules leave room, the table under each of them",
        *texts(reading="Reading"),
        *numbers(whole, rank=""),
        *texts(player="Player"),
        *numbers(whole, rating="Raw Elo", matches="Matches", wins="W", draws="D", losses="L"),
    ),
    "calibration": titled(
        "Calibration: the probabilities that players gave, and what came true; an error of 0 is perfect",
        *texts(player="Player"),
        *numbers(whole, forecasts="Forecasts"),
        *numbers("{:.4f}".format, brier="Brier score"),
        *numbers(percent, calibration_error="Calibration error", said="Mean said", came_true="Came true"),
    ),
}


def match(
    number: Annotated[int, typer.Argument(min=1, help="The number of the match.")],
    folder: Folder = HERE,
    full: Annotated[bool, typer.Option("--full", help="Every request too, word for word.")] = False,
    seat: Annotated[
        str, typer.Option("--as", metavar="SEAT", help="What this seat could see: its letter, or its player.")
    ] = "",
    shape: Written = Report.text,
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
    if shape is Report.json:
        show_json(found.as_dict())
        return
    from peerage.cli.match import show

    show(found, full=full)


def _interval(row: dict[str, Any], shown: Callable[[float], str]) -> str | None:
    return None if row["lower"] is None else f"{shown(row['lower'])} – {shown(row['upper'])}"


def _places(ranks: Sequence[int]) -> str | None:
    """Ranks as spans: 2, 3, 4, 7 is 2–4, 7."""
    spans: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ", ".join(span(one) for one in spans) or None


def _footnotes(rows: Sequence[dict[str, Any]]) -> tuple[list[str], dict[str, str]]:
    """Notes to stand under the table, and the marks by which a player refers to those not everybody's."""
    shared = [
        note for note in (rows[0]["notes"] if rows else ()) if all(note in row["notes"] for row in rows)
    ]
    own: dict[str, str] = {}
    marks: dict[str, str] = {}
    for row in rows:
        mine = [note for note in row["notes"] if note not in shared]
        for note in mine:
            own.setdefault(note, "¹²³⁴⁵⁶⁷⁸⁹"[len(own)] if len(own) < 9 else "*")
        marks[row["player"]] = "".join(own[note] for note in mine)
    return shared + [f"{mark} {note}" for note, mark in own.items()], marks
