"""`peerage annotate`: a person judges recorded duels blind, in this terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.shared.options import HERE, CommandRefused, Folder, arena_in, at, program, prose, say
from peerage.values.clock import now_ms

if TYPE_CHECKING:
    from peerage.ledger import Ledger
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.site.people.annotation import Annotator, CheckpointShown, Verdict

LONGEST_NAME = 100


_KEYS: dict[str, Verdict] = {
    "a": "first",
    "b": "second",
    "t": "tie",
    "tie": "tie",
    "n": "both bad",
    "both bad": "both bad",
    "s": "skipped",
    "skip": "skipped",
}
_QUIT = ("q", "quit", "/quit")
_ASK = "a) A is better  b) B is better  t) tie  n) neither: both are bad  s) skip  q) quit"


def annotate(
    folder: Folder = HERE,
    name: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Your name, on record.", show_default="login name")
    ] = "",
    again: Annotated[
        bool, typer.Option("--again", help="What you judged before once more: do you agree with yourself?")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Take in people's votes from a file; - reads a pipe."),
    ] = None,
) -> None:
    """Judge recorded duels blind, next to their judges.

    A challenge and two answers without names, in an order drawn for you. Each vote is on disk at once; the
    same command goes on where you stopped. `peerage stats --of judges` then shows how far each judge
    agrees with people. No rating of the arena moves.
    """
    from random import SystemRandom

    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.site.people.annotation import Annotator
    from peerage.values.figures import counted
    from peerage.views.rejudge import of_scores

    with arena_in(folder) as arena:
        votes = PeopleVotes(arena.ledger.address, folder)
        if file is not None:
            if name or again:
                raise typer.BadParameter("--from takes the votes of a file: leave all other options out")
            _take_in(arena.ledger, votes, file)
            return
        if of_scores(arena.settings):
            raise CommandRefused(
                "this arena holds recorded answers that `peerage rejudge` had scored one by one, and people "
                f"can judge duels alone; `{program()} leaderboard{at(folder)}` shows the judges' ranking, "
                f"`{program()} stats{at(folder)} --of judges` how they agree"
            )
        expert = stated(name)
        annotator = Annotator(arena.ledger, votes, expert, SystemRandom(), again=again)
        given, there = annotator.progress()
        if not there:
            say("no finished duel here was judged by a panel, so there is nothing to judge next to it")
            return
        prose(f"{arena.settings.name}: you are {expert}; {given} of {counted(there, 'duel')} are behind you")
        said = _judge(annotator)
    if said:
        prose(
            f"{counted(said, 'vote')} kept. `{program()} stats{at(folder)} --of judges` shows how far "
            "judges agree with people"
        )


def stated(name: str) -> str:
    """The name that votes carry: as stated, else that of the login. Raises BadParameter."""
    from getpass import getuser
    from unicodedata import normalize

    from peerage.values.texts import visible

    try:
        found = normalize("NFC", " ".join((name or getuser()).split()))
    except (KeyError, OSError, ImportError):
        found = ""
    if not found or len(found) > LONGEST_NAME or visible(found) != found:
        raise typer.BadParameter(f"--as: say your name, of 1 to {LONGEST_NAME} printable characters")
    return found


def _judge(annotator: Annotator) -> int:
    """Show duels and take votes until the person leaves or none is left; how many were judged."""
    from peerage.ledger.topics.votes import VotedAlready

    said = 0
    while True:
        shown = annotator.draw()
        if shown is None:
            say("there is no duel left that you have not judged; --again shows them once more")
            return said
        _show(shown)
        verdict = _verdict()
        if verdict is None:
            return said
        try:
            annotator.cast(shown, verdict, now_ms())
        except VotedAlready as error:  # meanwhile in a browser or another terminal
            say(f"not kept: {error}")
        else:
            say("skipped" if verdict == "skipped" else "kept")
            said += verdict != "skipped"


def _show(shown: CheckpointShown) -> None:
    from peerage.game.media import media_in, worded
    from peerage.render.rows import WHERE

    first, second = shown.answers
    prose("\n━━━ which answer is better? ━━━")
    for stage, text in shown.ballot.challenge.items():
        prose(f"\n{stage.capitalize()}:\n{worded(text)}")
    if media_in(shown.ballot.challenge.values()):
        prose(f"\n{WHERE}")
    prose(f"\n━━━ A ━━━\n{first}\n\n━━━ B ━━━\n{second}\n")


def _verdict() -> Verdict | None:
    """Return what the person says; None when it leaves."""
    while True:
        prose(_ASK)
        line = sys.stdin.readline()
        word = " ".join(line.lower().split())
        if not line or word in _QUIT:
            return None
        if word in _KEYS:
            return _KEYS[word]
        prose(f"That is none of them: {line.strip()[:40]!r}.")


def _take_in(ledger: Ledger, votes: PeopleVotes, file: Path) -> None:
    from contextlib import ExitStack

    from peerage.site.people.vote_files import take_in
    from peerage.values import inputs
    from peerage.values.figures import counted

    with ExitStack() as opened:
        piped = str(file) == "-"
        stream = sys.stdin.buffer if piped else opened.enter_context(inputs.opened(file))
        try:
            found = take_in(ledger, votes, stream, "stdin" if piped else str(file), now_ms())
        except ValueError as error:
            raise CommandRefused(str(error)) from None
    if not found.written and not found.before:
        raise CommandRefused(
            f"no row of {file} is of a duel here that judges voted on: expected question_id, the number of "
            "the match, with its players as model_a and model_b, or the answers word for word in "
            "conversation_a and conversation_b"
        )
    say(
        f"{counted(found.written, 'vote')} taken in"
        + (f", {found.before} on record before" if found.before else "")
    )
    if found.strange:
        rows = counted(found.strange, "row")
        say(f"left out {rows} on no duel here that judges voted on, the first {found.example}")
