"""`peerage play`: a person's seat in a terminal."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.shared.options import HERE, Folder, prose, say
from peerage.values.clock import now_ms
from peerage.values.figures import moment

if TYPE_CHECKING:
    from peerage.engine.run.runner import Runner
    from peerage.formats.filling import FormField
    from peerage.players.people.requests import People, PersonTurn
    from peerage.settings import ArenaSettings

LOOK_S = 0.25
"""Seconds between two looks for a request."""
LONGEST_LINE = 4_095
"""Bytes of one line that a terminal passes on; what is longer it cuts."""

_WORDS = {
    "/help": "show this",
    "/again": "show the request again, and begin the reply again",
    "/edit": "write this part in your editor",
    "/decline": "decline to reply: on record as a refusal",
    "/quit": "leave; what is open stays open, go on whenever you like",
}
_SHORT = 400
"""Characters up to which a text is typed in one line."""


class SeatLeft(Exception):
    """The person leaves the terminal."""


class _Again(Exception):
    """The person begins the reply again."""


class _Declined(Exception):
    """The person declines to reply."""


class _Over(Exception):
    """The request is no longer this person's to reply to; the message says why."""


def play(
    player: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Which of the arena's people you are.")
    ] = None,
    folder: Folder = HERE,
) -> None:
    """Take your seat in this terminal: read what is asked, reply.

    For a player `human:NAME` of the arena, in any role. Each reply is kept at once, whether or not
    `peerage run` plays at that time. You see what a model in your place would see, one request at a time.
    """
    from peerage.players.people.requests import People
    from peerage.settings import load

    settings = load(folder, reading=True)
    name = seat_of(settings, player)
    say(f"{settings.name}: you are {name}. /help lists what you can type, /quit leaves")
    try:
        PersonSeat(People(folder), name).take()
    except SeatLeft:
        say("what is open stays open, and what you replied is kept")


def seat_of(settings: ArenaSettings, stated: str | None) -> str:
    """The name of the person who is meant. Raises SettingsError."""
    from peerage.settings import SettingsError, suggest

    names = [player.name for player in settings.everyone if player.is_person]
    if not names:
        raise SettingsError(
            "none of this arena's players is a person; add `- human:NAME` to its `players`, or start "
            "`peerage run --player human:NAME`"
        )
    if stated is None and len(names) > 1:
        raise SettingsError(f"say who you are with --as: {', '.join(names)}")
    if stated is not None and stated not in names:
        raise SettingsError(f"--as: no person of this arena is called {stated!r}{suggest(stated, names)}")
    return stated or names[0]


async def beside(runner: Runner, folder: Path, name: str) -> None:
    """Take a person's seat in this terminal while a run goes on; when the person leaves, the run stops."""
    import asyncio

    from peerage.players.people.requests import People

    over = threading.Event()
    say(f"you are {name}. /help lists what you can type, /quit leaves and stops the run")
    try:
        await asyncio.to_thread(PersonSeat(People(folder), name, over.is_set).take)
    except SeatLeft:
        runner.stop()
    except Exception as fault:
        runner.broken(fault)
    finally:
        over.set()


class PersonSeat:
    """A person at this terminal; `over` says that a run beside it has ended."""

    def __init__(self, people: People, name: str, over: Callable[[], bool] = lambda: False) -> None:
        self._people = people
        self._name = name
        self._over = over
        self._typed = bytearray()

    def take(self) -> None:
        """Ask whatever waits for this person, until it is over. Raises Left when the person leaves."""
        idle = False
        while not self._over():
            turn = self._turn()
            try:
                if turn is not None:
                    idle = False
                    self._ask(turn)
                    continue
                if not idle:
                    idle = True
                    say("nothing waits for you now; what comes is shown here")
                if (line := self._line()) is not None:
                    self._obey(line.strip() if line else "/quit")
            except (_Again, _Declined):
                continue
            except _Over as why:
                self._drop()
                say(f"\n{why}")

    def _turn(self) -> PersonTurn | None:
        return self._people.turn(self._name, now_ms(), shown=True)

    def _ask(self, turn: PersonTurn) -> None:
        """Show one request, and take the reply."""
        from peerage.formats import FormatError
        from peerage.formats.forms import FormProblems, fields, reply
        from peerage.players.people.requests import Closed, PeopleError

        _show(turn)
        form = fields(turn.request.expects)
        values: dict[str, str] = {}
        todo: Sequence[FormField] = form
        while True:
            try:
                for field in todo:
                    values[field.name] = self._filled(field, turn)
                text: str | None = reply(turn.request.expects, values)
            except FormatError as problem:
                say(f"That cannot be used: {problem}.")
                named = problem.fields if isinstance(problem, FormProblems) else {}
                todo = [field for field in form if field.name in named] or form
                continue
            except _Declined:
                text = None
            try:
                self._people.reply(self._name, turn.request.id, text, now_ms())
            except Closed as error:
                raise _Over(str(error)) from None
            except PeopleError as error:
                say(f"That cannot be used: {error}.")
                todo = form
                continue
            say("declined" if text is None else "kept")
            return

    def _filled(self, field: FormField, turn: PersonTurn) -> str:
        """Return what the person fills in; a number or a choice is asked for again until it is one."""
        from peerage.formats.forms import misfit

        say(_prompt(field))
        several, lines = _several_lines(field), list[str]()
        while True:
            line = self._next(turn)
            if line is None and not lines:
                raise SeatLeft
            if line is None or (several and line == "."):
                return "\n".join(lines)
            if not lines and line.strip() == "/edit":
                return _edited(field)
            if not lines and line.strip() in _WORDS:
                self._obey(line.strip())
            elif len(line.encode("utf-8", "replace")) >= LONGEST_LINE:
                say(
                    f"A terminal cuts lines after {LONGEST_LINE:,} bytes, and this one may lack its end. It "
                    "is left out: break it, or use /edit."
                )
            elif not several or not (line or lines or field.needed):
                answer = _chosen(field, line)
                if problem := misfit(field, answer):
                    say(f"That cannot be used: {problem}.\n{_prompt(field)}")
                    continue
                return answer
            else:
                lines.append(line)

    def _obey(self, word: str) -> None:
        if word == "/quit":
            raise SeatLeft
        if word == "/again":
            raise _Again
        if word == "/decline":
            raise _Declined
        if word == "/help":
            for known, about in _WORDS.items():
                say(f"  {known:9} {about}")

    def _next(self, turn: PersonTurn) -> str | None:
        """The next line, None at the end of input. Raises _Over where the request ends meanwhile."""
        while (line := self._line()) is None:
            if self._over():
                raise _Over("the run has ended; this request stays open")
            now = self._turn()
            if now is None or now.request.id != turn.request.id:
                raise _Over("this request is closed: its time is up, or it was replied to elsewhere")
        return line.rstrip("\r\n") if line else None

    def _drop(self) -> None:
        """Forget what was typed for a request that is closed: it is no reply to the next one."""
        self._typed.clear()
        if os.name != "nt" and sys.stdin.isatty():
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def _line(self) -> str | None:
        """The next line that is typed, with its end; "" at the end of input, None while there is none."""
        if os.name == "nt":
            return sys.stdin.readline()
        while not (end := self._typed.find(b"\n") + 1):
            if not select.select([sys.stdin], [], [], LOOK_S)[0]:
                return None
            part = os.read(sys.stdin.fileno(), 65_536)
            if not part:
                end = len(self._typed)
                break
            self._typed += part
        line = bytes(self._typed[:end])
        del self._typed[:end]
        return line.decode("utf-8", "replace")


def _several_lines(field: FormField) -> bool:
    return (
        field.kind in ("text", "code", "list", "json") and field.shape.get("maxLength", _SHORT + 1) > _SHORT
    )


def _show(turn: PersonTurn) -> None:
    from peerage.formats.forms import for_person
    from peerage.game.media import media_in, worded

    request = turn.request
    more = f", {turn.behind} more wait{'s' * (turn.behind == 1)}" if turn.behind else ""
    say(f"\n━━━ you are asked as {request.role} · until {moment(turn.until_ms)}{more} ━━━")
    for speaker, text in request.messages:
        heading = {"system": "The rules:\n", "assistant": "You replied:\n", "user": ""}[speaker]
        prose(f"\n{heading}{for_person(request.expects, worded(text))}")
        for found in media_in([text]).values():
            prose(f"{found.words}: {found.place} in the arena's folder")
    say("")


def _prompt(field: FormField) -> str:
    """Return what stands above the place where a field is filled in."""
    about = f" {field.about}" if field.about else ""
    if field.kind == "choice":
        how = "  ".join(f"{at}) {option}" for at, option in enumerate(field.options, 1))
    else:
        ends = "(a line with a single . ends it)" if _several_lines(field) else ""
        how = f"({field.limits}) {ends}".removeprefix("() ")
    empty = "" if field.needed else " (Enter alone leaves it empty)"
    return f"{field.label}:{about} {how}{empty}".rstrip()


def _chosen(field: FormField, answer: str) -> str:
    """Return what was said; an option by its number, where that is no option itself."""
    bare = answer.strip()
    if field.kind == "choice" and bare not in field.options and bare.isdecimal() and len(bare) < 4:
        return dict(enumerate(field.options, 1)).get(int(bare), answer)
    return answer


def _edited(field: FormField) -> str:
    """Return what the person writes in its editor."""
    import shlex
    import subprocess
    from tempfile import TemporaryDirectory

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    with TemporaryDirectory() as folder:
        file = Path(folder, "reply.py" if field.kind == "code" else "reply.txt")
        file.touch(0o600)
        try:
            subprocess.run([*shlex.split(editor, posix=os.name != "nt"), str(file)], check=False)
        except (OSError, ValueError) as error:
            say(f"the editor {editor!r} cannot be started ({error}); set EDITOR, or write here")
        return file.read_text("utf-8", "replace").rstrip("\n")
