"""`peerage leaderboard`: who stands where, by each track, and what would change by another reading."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.cli.shared.options import HERE, Folder, Shape, TableFormat, arena_in, say
from peerage.cli.shared.output import show_blocks, show_json, show_table
from peerage.render.blocks import Conclusion
from peerage.values.figures import counted

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.reading.scope import Scope
    from peerage.views.leaderboard.board import Leaderboard
    from peerage.views.leaderboard.what_if import WhatIf


Track = Literal["strength", "bt", "trueskill", "raw", "cost", "glicko2", "points", "judge-aware", "overall"]
Game = Annotated[str, typer.Option(help="Count the matches of this game alone.", show_default="all")]
Topic = Annotated[str, typer.Option(help="Count the matches on this topic alone.", show_default="all")]

RankedBy = Annotated[
    Track | None,
    typer.Option(
        help="Strength; Bradley-Terry; TrueSkill; sequential Elo, raw or by cost; Glicko-2; over several "
        "games the share of wins.",
        show_default="the game's, of several games overall",
    ),
]
AsSide = Annotated[
    str, typer.Option(help="Rate players on this side alone (werewolf: wolves, village).", show_default="any")
]
GameWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GAME=NUMBER",
        help="How much a match of a game counts, overall the whole game; repeat it. Overall also "
        "`alike`, or `matches`: as much as was played.",
        show_default="1 each, overall the settings'",
    ),
]
OWN = ("all", "played")
Source = Annotated[
    str,
    typer.Option(
        metavar="all|played|outside|FILE",
        help="Whose results count: all, those played here, all outside ones (peerage import), or one file's, "
        "by name or digest.",
    ),
]
WithoutJudge = Annotated[
    list[str] | None,
    typer.Option(metavar="JUDGE", help="What if: what this judge said does not count; repeat it."),
]
JudgeWeights = Annotated[
    Literal["equal"] | None, typer.Option(help="What if: every judge's vote weighs the same.")
]
Corrected = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIST",
        help="What would change with judges' votes or scores corrected for position, style, own, family, "
        "harshness, favours, reliability (comma-separated), or all.",
        show_default="nothing",
    ),
]
ApartBy = Annotated[
    Literal["game", "topic"] | None,
    typer.Option(help="Everybody's strength in each game or on each topic, and overall.", show_default="no"),
]


def leaderboard(
    folder: Folder = HERE,
    track: RankedBy = None,
    game: Game = "",
    topic: Topic = "",
    side: AsSide = "",
    weight: GameWeight = None,
    source: Source = "all",
    without_judge: WithoutJudge = None,
    weights: JudgeWeights = None,
    correct: Corrected = None,
    by: ApartBy = None,
    shape: Shape = TableFormat.table,
) -> None:
    """Show the ranking, chances to be the best, and what is proven.

    A what-if counts the recorded matches in another way. Nothing is played again or written down, and title,
    notes and JSON say what was asked.
    """
    from peerage.reading.scope import Scope
    from peerage.views.leaderboard.what_if import WhatIf
    from peerage.views.rejudge import of_answers

    words = {stated for stated in weight or () if stated in ("alike", "matches")}
    of_games = dict(_weight(stated) for stated in weight or () if stated not in words)
    without = tuple(dict.fromkeys(without_judge or ()))
    what_if = WhatIf(without, weights == "equal")
    with arena_in(folder) as arena, explained_scope():
        if of_answers(arena.settings.game):
            others = (track, game, topic, side, weight, correct, by, what_if.in_words, source != "all")
            if any(others):
                raise typer.BadParameter(_OF_ANSWERS)
            show_rejudged(arena, shape)
            return
        if correct:
            if track not in (None, "strength", "bt") or source not in OWN or what_if.in_words:
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
                or source not in OWN
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


_OF_ANSWERS = (
    "this arena holds recorded answers that `peerage rejudge` had judged; its ranking has one track and no "
    "what-if: leave all options out but --dir and --format. `peerage export --format votes` writes the "
    "verdicts, which `peerage rate` rates by other methods"
)


def show_rejudged(arena: Arena, shape: TableFormat) -> bool:
    """Write how the judges differ to standard output. False, and said, where all that was judged came to
    nothing."""
    from peerage.views.rejudge import rejudge_report, rejudged

    report = rejudge_report(arena.ledger)
    ranked = bool(report.decided or not report.judged)
    if not ranked:
        names = ("question", "questions") if report.by == "scores" else ("match", "matches")
        matches = counted(report.judged, *names)
        say(f"the new panel decided none of {matches}, so there is nothing to rank", err=True)
    if shape is TableFormat.json:
        show_json(report.as_dict())
    elif ranked or not shape.for_people:
        show_table(rejudged(report, arena.settings.name), shape)
    return ranked


def _parts(arena: Arena, words: Set[str], of_games: Mapping[str, float]) -> dict[str, float]:
    """Return how much whole games count where a word says it; empty where the settings do."""
    if not words:
        return {}
    if len(words) > 1:
        raise typer.BadParameter("--weight alike and --weight matches contradict each other: leave one out")
    counted = arena.reading.played.games
    return {game: float(n if "matches" in words else 1) for game, n in counted.items()} | dict(of_games)


@contextmanager
def explained_scope() -> Iterator[None]:
    """Tell what is wrong with the scope that was asked for as a wrong option."""
    from peerage.reading.scope import ScopeError
    from peerage.values.texts import visible

    try:
        yield
    except ScopeError as error:
        raise typer.BadParameter(visible(str(error))) from None


def show_leaderboard(
    arena: Arena,
    track: str = "",
    shape: TableFormat = TableFormat.table,
    scope: Scope | None = None,
    what_if: WhatIf | None = None,
) -> None:
    """Write the leaderboard of one track, or of the game's own, to standard output.

    People read each game's own table first, where several were played, and then the one over all of them.
    """
    from peerage.reading.scope import EVERYTHING, Scope
    from peerage.views.leaderboard.board import board
    from peerage.views.leaderboard.what_if import AS_PLAYED

    reading, scope = arena.reading, scope or EVERYTHING
    ranks = board(reading, track, scope, what_if or AS_PLAYED, judged=True)
    if (
        shape.for_people
        and len(ranks.games) > 1
        and scope.own
        and not (scope.game or scope.topic or scope.side or ranks.what_if)
    ):
        for game in ranks.games:
            first = "" if track == "overall" else track
            alone = board(reading, first, Scope(game))
            if any(row.rank is not None for row in alone.rows):
                _show_board(arena, alone, shape, headed=False)
                typer.echo()
    _show_board(arena, ranks, shape)


def show_standings(arena: Arena) -> None:
    """Write who stands where after a run: of the owner's tasks the decision, else one game's leaderboard, or
    of several the strengths by game and then the overall table."""
    from peerage.reading.scope import EVERYTHING
    from peerage.reading.verdicts.credits import about_tasks
    from peerage.views.leaderboard.board import board

    if all(map(about_tasks, arena.settings.lineup)):
        from peerage.render.terminal import write
        from peerage.views.decision.decision import shown

        write(shown(arena.verdict()), sys.stdout, split=True, names=arena.reading.names)
        return

    ranks = board(arena.reading, judged=True)
    if ranks.track == "overall":
        show_by_game(arena, TableFormat.table, EVERYTHING)
        typer.echo()
    _show_board(arena, ranks, TableFormat.table)


def _show_board(arena: Arena, ranks: Leaderboard, shape: TableFormat, *, headed: bool = True) -> None:
    from peerage.views.leaderboard.columns import table
    from peerage.views.leaderboard.tracks import METHODS

    scope = ranks.game, ranks.topic and f"topic {ranks.topic}", ranks.side and f"as {ranks.side}"
    about = "".join([f", {part}" for part in scope if part])
    about += f"; source: {ranks.source}" if ranks.source != "all" else ""
    about += f"; WHAT IF: {ranks.what_if}" if ranks.what_if else ""
    block = table(ranks, f"{arena.settings.name}: {METHODS[ranks.track].title}{about}")
    show_blocks([*([Conclusion(ranks.verdict.lines)] if headed else ()), block], block, shape)


def show_corrected(arena: Arena, correct: str, shape: TableFormat, scope: Scope) -> None:
    """Write what corrections of the judges' votes would change to standard output."""
    from peerage.views.leaderboard.corrected import asked, table, what_would_change

    wanted = asked(correct)
    title = f"{arena.settings.name}: what would change, corrected for {', '.join(wanted)}"
    show_table(table(what_would_change(arena.reading, scope, wanted), title), shape)


def _weight(stated: str) -> tuple[str, float]:
    game, equals, number = stated.rpartition("=")
    try:
        return game, float(number if equals else "")
    except ValueError:
        wrong = f"--weight {stated!r}: expected GAME=NUMBER, such as --weight duel=2"
        raise typer.BadParameter(wrong) from None


def show_by_game(
    arena: Arena, shape: TableFormat, scope: Scope, by: Literal["game", "topic"] = "game"
) -> None:
    """Write everybody's strength in each game or on each topic to standard output."""
    from peerage.views.leaderboard.overall import profiles
    from peerage.views.leaderboard.strengths import in_terminal, listed

    rows = profiles(arena.reading.within(scope), by)
    title = f"{arena.settings.name}: shares of wins, {by} by {by}"
    show_table(in_terminal(by, rows, title) if shape.for_people else listed(by, rows), shape, split=True)


def show_profile(arena: Arena, name: str, shape: TableFormat) -> None:
    """Write one player's strength in each game to standard output, with its intervals. Raises ScopeError for
    a player without a match."""
    from peerage.reading.scope import EVERYTHING
    from peerage.views.leaderboard.overall import profiles
    from peerage.views.leaderboard.strengths import listed

    every = profiles(arena.reading.within(EVERYTHING), "game")
    ranked = [row for row in every if row.rank or not shape.for_people]
    known = dict.fromkeys(row.player for row in ranked)
    name = arena.reading.meant(name, known, "no match was played here by")
    rows = [row for row in ranked if row.player == name]
    show_table(listed("game", rows, f"{arena.settings.name}: {name}, game by game"), shape)
