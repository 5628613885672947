"""Hands for contestants that have none: a model reads, writes and runs in a folder, one action a turn. Pure.

    work/A/turn/1 < {"action": {"do": "run", "command": "python3 check.py"}}
    work/A/run/1  > {"status": "error", "code": 1, "output": "not ok 1\\n…", "patch": "{}"}
    work/A/turn/2 < {"action": {"do": "write", "files": [{"path": "main.py", "text": "…"}]}}
    work/A/turn/3 < {"action": {"do": "done"}}

Each command runs in a fresh copy of the folder as the contestant left it, and what it changes there is kept.
What a file or a command holds is shown fenced, since it may hold anything.
"""

from __future__ import annotations

from shlex import quote
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from peerage.formats import Json
from peerage.game import Ask, Asks, Quote, Reply, Steps
from peerage.game.protocol import Message
from peerage.game.work import CommandResult, ShellCommand
from peerage.games.workshop.tasks import WorkTask
from peerage.sandbox.folder import File, Patch, checked_path, patch_text, patched, read_patch

MOST_PATCH = 150_000
"""Characters of the longest patch, as JSON, that counts."""
SAID_CHARS, SHOWN_CHARS = 12_000, 8_000
"""Characters of a contestant's own reply, and of a file or an output, that its later turns show."""
_USUAL_TURNS = 8
_FRAME_CHARS = 1_200
_SHOWN = "{what}\n{came}\nTurns left: {left}. {format}"


class ReadFile(Struct, frozen=True, tag="read", tag_field="do"):
    """Show a file."""

    path: Annotated[str, Meta(max_length=400)]


class FileText(Struct, frozen=True):
    """A file as it shall be."""

    path: Annotated[str, Meta(max_length=400)]
    text: Annotated[str, Meta(description="all of it, or null to remove it")] | None


class WriteFiles(Struct, frozen=True, tag="write", tag_field="do"):
    """Write or remove files."""

    files: Annotated[list[FileText], Meta(min_length=1, max_length=20)]


class RunCommand(Struct, frozen=True, tag="run", tag_field="do"):
    """Run a command by `sh`."""

    command: Annotated[str, Meta(min_length=1, max_length=4_000)]


class Finish(Struct, frozen=True, tag="done", tag_field="do"):
    """End the work."""


class Action(Struct, frozen=True):
    """One turn's action."""

    action: ReadFile | WriteFiles | RunCommand | Finish


ACTION: Json[Action] = Json(Action)


class Work(NamedTuple):
    """Work that has ended: what it changed, and its last reply, with the cost of all."""

    patch: Patch
    reply: Reply


def worked(ask: Ask, task: WorkTask, turns: int, seconds: float) -> Steps[Work]:
    """Let a contestant work in the folder of `task` for so many turns, each asked by `ask` and what came
    before; a command may take so many seconds. A reply that is not ok ends the work as it is then."""
    patch: Patch = {}
    spent: Reply | None = None
    for turn in range(1, turns + 1):
        reply: Reply = yield replace(ask, key=f"turn/{turn}")
        spent = reply if spent is None else reply.after(spent)
        if not reply.ok or isinstance(reply.value.action, Finish):
            break
        action, held = reply.value.action, patch
        if isinstance(action, WriteFiles):
            patch, what = _written(action, held, task)
            came: str | Quote = ""
        else:
            runs = isinstance(action, RunCommand)
            text = action.command if runs else f"cat -- {quote(f'./{action.path}')}"
            left = patch_text(held)
            ran: Reply = yield ShellCommand(
                f"run/{turn}", task.folder, text, left, keeps=runs, seconds=seconds
            )
            result: CommandResult = ran.value
            patch, what = _kept(result, held)
            came = Quote("output", _middle_cut(result.output)) if result.output else ""
        fill = {"what": what, "came": came, "left": str(turns - turn), "format": ask.expects.instruction()}
        said = Message("assistant", "{said}", {"said": Quote.of("", reply, SAID_CHARS)})
        ask = replace(ask, messages=(*ask.messages, said, Message("user", _SHOWN, fill)))
    assert spent is not None
    return Work(patch, spent)


def _written(action: WriteFiles, held: Patch, task: WorkTask) -> tuple[Patch, str]:
    """Return the patch after an action, and what is said of it. A file may be executed as before; of one that
    is new, or a repository's, its first line tells."""
    known, written = patched(task.folder.files, held), dict[str, File | None]()
    try:
        for path, text in [(checked_path(each.path), each.text) for each in action.files]:
            may = known[path].executable if path in known else (text or "").startswith("#!")
            written[path] = (
                None if text is None else File(text.rstrip("\n") + "\n" * bool(text), executable=may)
            )
    except ValueError as error:
        return held, f"Nothing was written: {error}."
    if len(patch_text(after := {**held, **written})) > MOST_PATCH:
        return held, f"Nothing was written: all your changes together would exceed {MOST_PATCH:,} characters."
    return after, f"Files written: {len(written)}."


def _kept(result: CommandResult, held: Patch) -> tuple[Patch, str]:
    """Return the patch that a command left, and what is said of its end."""
    end = {
        "timeout": "was stopped at its time limit",
        "size": "left too much to keep, so its changes are dropped",
    }
    what = f"The command {end.get(result.status, f'ended with exit code {result.code}')}."
    return read_patch(result.patch) if result.patch else held, what


def _middle_cut(text: str) -> str:
    half = SHOWN_CHARS // 2
    return text if len(text) <= SHOWN_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"


def turns_bounded(asks: Asks, turns: int) -> Asks:
    """Return the bounds `asks` of the first turn as those of so many: each adds at most the contestant's
    reply, cut, and what it was shown."""
    usual = min(turns, _USUAL_TURNS)
    return asks._replace(
        calls=turns,
        usual=usual,
        quoted=asks.quoted + (turns - 1) * (SAID_CHARS + SHOWN_CHARS + _FRAME_CHARS),
        usual_quoted=asks.quoted // 4 + (usual - 1) * (asks.usual_output + 300) // 2,
    )
