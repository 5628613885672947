"""Work in folders: commands that games run there, and an agent's way to its reply. Immutable data.

An agent with tools of its own works in a copy of `Ask.folder`; its reply is the patch that it left
(`sandbox.folder.patch_text`). How it came there is its `AgentStep`s and the calls of its model, which are on
record and which no replay computes again.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from peerage.sandbox.folder import WorkFolder
from peerage.values.texts import storable

COMMAND_SECONDS = 120.0
COMMAND_OUTPUT = 64 * 1024
NOT_RUN = 126, 127
"""Exit codes of `sh` where a command is not there or cannot be run."""

MOST_STEPS, MOST_CALLS = 400, 1_000
MOST_DETAIL = 4_000
MOST_TRACE = 120_000
"""Bounds of a `Trace` on record: its steps, its calls, and characters of a step's detail and of all steps."""

StepKind: TypeAlias = Literal["text", "thought", "plan", "tool", "permission", "note"]
"""text: said on the way to the reply · thought · plan: the agent's plan as it was then · tool: a use of a
tool · permission: what was asked for, and the answer by the player's settings · note: what is odd."""


class AgentStep(Struct, frozen=True, omit_defaults=True, gc=False):
    """A step of an agent on its way to a reply, in its own words, cut to what is kept.

    `title` names a tool's use, `detail` is what is known of it (input, result, plan), `status` is how it
    ended (completed, failed, allowed, refused …).
    """

    kind: StepKind
    title: str = ""
    detail: str = ""
    status: str = ""


class ModelCall(Struct, frozen=True, omit_defaults=True, gc=False):
    """A call that an agent made to its model through the gateway.

    `form` is the API that it spoke (chat, responses, messages, gemini), `model` what the provider named,
    `request` and `response` the SHA-256 (hex) of both bodies. Tokens are None where the provider states none,
    `cost_nano` (1e-9 dollars) None where it is unknown. `status` is the HTTP status, 0 where nothing came,
    `refused` why the gateway sent nothing, `note` what is odd about what came.
    """

    form: str
    model: str = ""
    status: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_nano: int | None = None
    milliseconds: int = 0
    request: str = ""
    response: str = ""
    refused: str = ""
    note: str = ""


class Trace(Struct, frozen=True, omit_defaults=True, gc=False):
    """The way of an agent to one reply: its steps, and the calls of its model, in order."""

    steps: tuple[AgentStep, ...] = ()
    calls: tuple[ModelCall, ...] = ()

    def bounded(self) -> Trace:
        """Return what is kept on record of it. Raises msgspec.ValidationError where a client got it wrong."""
        whole = msgspec.convert(msgspec.to_builtins(self), Trace)
        steps, room = whole.steps, MOST_TRACE
        if len(steps) > MOST_STEPS:
            half, more = MOST_STEPS // 2, len(steps) - MOST_STEPS + 1
            note = AgentStep("note", f"{more:,} steps are left out here")
            steps = (*steps[:half], note, *steps[half + more :])

        def kept(text: str, most: int) -> str:
            nonlocal room
            most = min(most, room)
            cut = text if len(text) <= most else text[: max(0, most - 1)] + "…" * (most > 0)
            room -= len(cut)
            return storable(cut)

        steps = tuple(
            [
                AgentStep(
                    each.kind, kept(each.title, 200), kept(each.detail, MOST_DETAIL), kept(each.status, 40)
                )
                for each in steps
            ]
        )
        return Trace(steps, tuple([_storable(call) for call in whole.calls[:MOST_CALLS]]))


def _storable(call: ModelCall) -> ModelCall:
    texts: dict[str, Any] = {
        name: storable(held[:200])
        for name, held in msgspec.structs.asdict(call).items()
        if isinstance(held, str)
    }
    return msgspec.structs.replace(call, **texts)


class ShellCommand(Struct, frozen=True, gc=False):
    """A command to be run by `sh` in a fresh copy of a folder, in a jail without network or keys, once.

    `patch` (JSON, see `sandbox.folder.patch_text`; empty: none) is laid over `folder`, then the files of
    `overlay`: hidden tests are files as they should be, whatever the patch says. Its reply's value is a
    `CommandResult`; when the jail itself fails, the match is void. `seconds` is the wall deadline, `output`
    the bytes kept of both streams together. With `keeps` the result holds the patch that the folder has then.
    """

    key: str
    folder: WorkFolder
    command: str
    patch: str = ""
    overlay: WorkFolder | None = None
    keeps: bool = False
    seconds: float = COMMAND_SECONDS
    output: int = COMMAND_OUTPUT

    @property
    def to(self) -> str:
        return "sandbox"


class CommandResult(Struct, frozen=True, omit_defaults=True, gc=False):
    """The end of a command: it ended with exit code 0 (ok) or another (error), was killed at its deadline, or
    left a folder that is too large to keep (size). `output` holds both streams as they came, its middle cut
    where it is longer than what is kept. `patch` is what the folder's files are then, where that is kept."""

    status: Literal["ok", "error", "timeout", "size"]
    code: int = 0
    output: str = ""
    patch: str = ""


_decode_result = msgspec.json.Decoder(CommandResult).decode


def command_result(text: str) -> CommandResult:
    """The value of a command's reply, whose text is JSON; raises msgspec.MsgspecError for any other text."""
    return _decode_result(text)
