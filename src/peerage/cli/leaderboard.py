"""`peerage leaderboard`: who stands where, by each track, and what would change by another reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from peerage.cli.options import HERE, Folder, Format, Shape, arena_in
from peerage.cli.output import OutputColumn, interval, numbers, show, signed, texts
from peerage.cli.strengths import show_by_game
from peerage.figures import chance, dollars, per_hundred, sentence, spans, tenths, whole

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.reading.played import Scope
    from peerage.tables.leaderboard import Board
    from peerage.tables.what_if import WhatIf


Track = Literal["strength", "bt", "trueskill", "raw", "cost", "glicko2", "points", "judge-aware", "overall"]
Whose = Literal["played", "outside", "all"]
Game = Annotated[
    str,
    typer.Option(help="Count the matches of this game alone.", show_default="all"),
]
Topic = Annotated[
    str,
    typer.Option(help="Count the matches on this topic alone.", show_default="all"),
]

TITLES = {
    "strength": "strength with 95% intervals",
    "bt": "Bradley-Terry rating with 95% intervals",
    "trueskill": "TrueSkill, μ - 3σ with 95% intervals of μ",
    "raw": "Elo, sequential, with 95% intervals",
    "cost": "Elo, sequential, adjusted for cost, with 95% intervals",
    "glicko2": "Glicko-2 with 95% intervals",
    "judge-aware": "Bradley-Terry by judges' reliability, with 95% intervals",
    "overall": "share of wins over all games in percent, with 95% intervals",
    "points": "points in all with 95% intervals, and the mean of a match",
}


def leaderboard(
    folder: Folder = HERE,
    track: Annotated[
        Track | None,
        typer.Option(
            help="Strength; Bradley-Terry; TrueSkill; sequential Elo, raw or by cost; Glicko-2; over several "
            "games the share of wins.",
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
        typer.Option(metavar="JUDGE", help="What if: what this judge said does not count; repeat it."),
    ] = None,
    weights: Annotated[
        Literal["equal"] | None, typer.Option(help="What if: every judge's vote weighs the same.")
    ] = None,
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="What would change with judges' votes or scores corrected for position, style, own, family, "
            "harshness, favours, reliability (comma-separated), or all.",
            show_default="nothing",
        ),
    ] = None,
    by: Annotated[
        Literal["game", "topic"] | None,
        typer.Option(
            help="Everybody's strength in each game or on each topic, and overall.", show_default="no"
        ),
    ] = None,
    shape: Shape = Format.table,
) -> None:
    """Show the ranking, chances to be the best, and what is proven.

    A what-if counts the recorded matches in another way. Nothing is played again or written down, and title,
    notes and JSON say what was asked.
    """
    from peerage.reading.played import Scope
    from peerage.tables.rejudge import of_answers
    from peerage.tables.what_if import WhatIf

    words = {stated for stated in weight or () if stated in ("alike", "matches")}
    of_games = dict(_weight(stated) for stated in weight or () if stated not in words)
    without = tuple(dict.fromkeys(without_judge or ()))
    what_if = WhatIf(without, weights == "equal")
    with arena_in(folder) as arena, told_scope():
        if of_answers(arena.settings.game):
            others = (track, game, topic, side, weight, correct, by, what_if.in_words, source != "played")
            _show_rejudged(arena, shape, plain=not any(others))
            return
        if correct:
            if track not in (None, "strength", "bt") or source != "played" or what_if.in_words:
                raise typer.BadParameter(
                    "--correct rates what judges said on record by Bradley-Terry: leave --track, --source "
                    "and every what-if out"
                )
            show_corrected(arena, ",".join(correct), shape, Scope(game, topic, of_games))
            return
        parts = _parts(arena, words, of_games)
        if by:
            if (
                track not in (None, "overall")
                or source != "played"
                or what_if.in_words
                or (game if by == "game" else topic)
            ):
                raise typer.BadParameter(
                    f"--by {by} shows shares of wins in every {by} played here: leave --track, --source and "
                    f"every what-if out, and --{by}"
                )
            show_by_game(arena, shape, Scope(game, topic, of_games, games=parts), by)
            return
        scope = Scope(game, topic, of_games, source, side, parts)
        show_leaderboard(arena, track or "", shape, scope, what_if)


def _show_rejudged(arena: Arena, shape: Format, *, plain: bool) -> None:
    """The ranking of recorded answers by their new judges: nobody played here."""
    from peerage.cli.rejudge_report import show_report

    if not plain:
        raise typer.BadParameter(
            "this arena holds recorded answers that `peerage rejudge` had judged; its ranking has one track "
            "and no what-if: leave all options out but --dir and --format. `peerage export --format votes` "
            "writes the verdicts, which `peerage rate` rates by other methods"
        )
    show_report(arena, shape)


def _parts(arena: Arena, words: Set[str], of_games: Mapping[str, float]) -> dict[str, float]:
    """How much whole games count where a word says it; empty where the settings do."""
    if not words:
        return {}
    if len(words) > 1:
        raise typer.BadParameter("--weight alike and --weight matches contradict each other: leave one out")
    counted = arena.reading.played.games
    return {game: float(n if "matches" in words else 1) for game, n in counted.items()} | dict(of_games)


@contextmanager
def told_scope() -> Iterator[None]:
    """Tell what is wrong with the scope that was asked for as a wrong option."""
    from peerage.protocol import visible
    from peerage.reading.played import ScopeError

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
    from peerage.reading.played import EVERYTHING, Scope
    from peerage.tables.leaderboard import board
    from peerage.tables.what_if import AS_PLAYED

    reading, scope = arena.reading, scope or EVERYTHING
    found = board(reading, track, scope, what_if or AS_PLAYED, judged=True)
    if (
        shape.for_people
        and len(found.games) > 1
        and scope.source == "played"
        and not (scope.game or scope.topic or scope.side or found.what_if)
    ):
        for game in found.games:
            first = "" if track == "overall" else track
            alone = board(reading, first, Scope(game))
            if any(row.rank is not None for row in alone.rows):
                _show_board(arena, alone, shape, headed=False)
                typer.echo()
    _show_board(arena, found, shape, scope.source)


def show_standings(arena: Arena) -> None:
    """Write who stands where after a run: of the owner's tasks the decision, else one game's leaderboard, or
    of several the strengths by game and then the overall table."""
    from peerage.cli.decision import show_decision
    from peerage.reading.credits import about_tasks
    from peerage.reading.played import EVERYTHING
    from peerage.tables.leaderboard import board

    if all(map(about_tasks, arena.settings.lineup)):
        show_decision(arena.verdict(), arena.folder)
        return

    found = board(arena.reading, judged=True)
    if found.track == "overall":
        show_by_game(arena, Format.table, EVERYTHING)
        typer.echo()
    _show_board(arena, found, Format.table)


def laid_out(
    found: Board, *, for_people: bool = True
) -> tuple[list[dict[str, Any]], list[OutputColumn], list[str]]:
    """The rows of a leaderboard, its columns, and the notes to stand under it."""
    from peerage.tables.notes import ACCURACY, BEST

    rows = [row.as_dict() for row in found.rows]
    skill = found.track == "trueskill"
    shown = tenths if found.track in ("trueskill", "points", "overall") else whole
    shared, marked = _footnotes(rows)
    possibly = any(row["possibly_usd"] for row in rows)
    priced = any(row["cost_per_match"] for row in rows)
    chances = any(row["best"] is not None for row in rows)
    columns = [
        *numbers(str, rank="Rank"),
        *texts(player="Player"),
        *([OutputColumn("mu", ">μ", shown)] if skill else numbers(shown, rating="Rating")),
        *([OutputColumn("mu", ">Mean", signed)] if found.track == "points" else ()),
        *numbers(str, interval="95% of μ" if skill else "95%"),
        *([OutputColumn("rating", ">μ - 3σ", shown), OutputColumn("sigma", ">σ", shown, 9)] if skill else ()),
        *(numbers(str, accuracy="Accuracy") if found.checked else ()),
        *(numbers(chance, best="Best") if chances else ()),
        *(texts(bin="Choice ~2") if chances else ()),
        *(texts(tier="Tier ~3") if chances and found.tiered else ()),
        *(numbers(str, beats="Proven above ~3") if chances else ()),
        *numbers(whole, matches="Matches", wins="W ~4", draws="D ~4", losses="L ~4", void="No result ~7"),
        *(numbers(per_hundred, cost_per_match="Per 100 ~1") if priced and found.in_dollars else ()),
        *numbers(dollars, cost_usd="Billed ~5"),
        *([OutputColumn("possibly_usd", ">Possibly", dollars, 6)] if possibly else ()),
    ]
    if for_people:
        places = {row["player"]: row["rank"] for row in rows}
        rows = [
            {
                **row,
                "interval": interval(row["lower"], row["upper"], shown),
                "beats": spans([rank for name in row["above"] if (rank := places[name])]) or None,
                "player": row["player"] + marked[row["player"]],
                "accuracy": line.accuracy_in_words,
            }
            for row, line in zip(rows, found.rows, strict=True)
        ]
    notes: list[str] = []
    if chances:
        notes += BEST
        if found.tiered:
            notes.append("Tier: nobody is proven below a player of its own or of a lower tier")
    if found.checked:
        notes.append(ACCURACY)
    if priced and found.in_dollars:
        notes.append("Per 100: dollars for 100 matches of its own play, without judging")
    notes += shared
    if possibly:
        notes.append("Possibly: billed in addition at most, for calls that failed or stated no usage")
    return rows, columns, notes


def _show_board(
    arena: Arena, found: Board, shape: Format, source: str = "played", *, headed: bool = True
) -> None:
    rows, columns, notes = laid_out(found, for_people=shape.for_people)
    about = "".join(
        f", {part}"
        for part in (found.game, found.topic and f"topic {found.topic}", found.side and f"as {found.side}")
        if part
    )
    about += {"played": "", "outside": ", outside results", "all": ", with outside results"}[source]
    about += f"; WHAT IF: {found.what_if}" if found.what_if else ""
    title = f"{arena.settings.name}: {TITLES[found.track]}{about}"
    head = found.verdict.lines if headed else ()
    show(rows, columns, shape, title=title, notes=notes, head=head)


def show_corrected(arena: Arena, correct: str, shape: Format, scope: Scope) -> None:
    """Write what corrections of the judges' votes would change to standard output."""
    from peerage.tables.corrected import asked, what_would_change

    wanted = asked(correct)
    found = what_would_change(arena.reading, scope, wanted)
    rows = [row.as_dict() for row in found]
    if shape.for_people:
        rows = [{**row, "interval": interval(row["lower"], row["upper"], whole)} for row in rows]
    columns = [
        *numbers(str, corrected_rank=""),
        *texts(player="Player"),
        *numbers(whole, rating="Rating", corrected="Corrected"),
        *numbers(lambda points: f"{points:+,.0f}", difference="Difference ~2"),
        *numbers(str, interval="95%"),
        *numbers(str, rank="Before ~1"),
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


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


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
            own.setdefault(note, str(len(own) + 1).translate(_RAISED))
        marks[row["player"]] = ",".join(own[note] for note in mine)
    return shared + [f"{mark} {sentence(note)}" for note, mark in own.items()], marks
