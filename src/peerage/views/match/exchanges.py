"""Parts of a match as data: its seats, its exchanges, its digests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from peerage.game.blocks import Block, Quoted, SourceCode, Tone
from peerage.game.protocol import REPAIR, ROOM, SANDBOX, Chosen, Role, Run
from peerage.game.work import ShellCommand, Trace
from peerage.ledger.forms.merkle import leaf
from peerage.reading.match import Match, Step
from peerage.sandbox.folder import WorkFolder
from peerage.values.figures import counted, dollars, seconds


class SeatView(Struct, frozen=True):
    """A seat: models see `label` alone; the ratings are those the match was paired by."""

    label: str
    role: Role
    player: str
    raw: float
    cost: float


class ExchangeView(Struct, frozen=True, gc=False):
    """One request and what came back.

    `request` is as the player saw it, (speaker, text) by message; the earlier turns of its conversation are
    named by the keys of their replies, under "conversation". `status` is ok, invalid, refused, void, or
    waiting when no reply is on record; `reason` says what went wrong. `reply` is as it came, control
    characters included: show it through `protocol.visible`. `choice` and `choice_reason` are what a vote or
    verdict was read as, a judge's "A" being the answer that it was shown first. `attempts` counts how often
    it was sent. Cost in dollars, None when unknown. `reasoning_tokens` are those of the output that were
    thought and not said. A reply that ended at its limit is `truncated`, `cut` after that many tokens.
    `digest` is its leaf, in hex, empty while waiting. `trace` is an agent's way to its reply.

    A program or a command run in the sandbox has the role "sandbox": `request` is the program and what it
    read, or the command and the files that it met, `status` how it ended (see `protocol.Ran` and
    `work.CommandResult`), `reply` what it printed, `reason` its stderr or exit code.
    """

    key: str
    label: str
    role: Role | Literal["sandbox"]
    player: str
    request: tuple[tuple[str, str], ...]
    max_tokens: int
    temperature: float | None
    status: str
    reply: str = ""
    reason: str = ""
    choice: str = ""
    choice_reason: str = ""
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    model: str = ""
    price: str = ""
    reasoning_tokens: int | None = None
    truncated: bool = False
    cut: int = 0
    digest: str = ""
    trace: Trace | None = None


class Digests(Struct, frozen=True):
    """All in hex: SHA-256 of the stored fixture and record, the root of the exchanges, and the chain
    value after the record before (`previous`) and after this one. Empty where there is none yet."""

    fixture: str
    root: str = ""
    record: str = ""
    previous: str = ""
    chain: str = ""


def exchange_of(match: Match, step: Step, *, requests: bool) -> ExchangeView:
    """Return a request and what came back; without `requests` neither its words nor its digest."""
    run, max_tokens, temperature = step.role == SANDBOX, 0, None
    request: tuple[tuple[str, str], ...] = ()
    if requests:
        asked = match.request(step)
        if isinstance(asked, Run):
            request = ("program", asked.source), ("stdin", asked.stdin)
        elif isinstance(asked, ShellCommand):
            request = tuple([part for part in _command_parts(asked) if part[1]])
        else:
            past = ", ".join([turn.key for turn in asked.past])
            above = {
                "conversation": past and f"It comes after these replies and their requests: {past}",
                "folder": asked.folder and f"A copy of the files with the digest {asked.folder.digest}",
            }
            lead = [(name, text) for name, text in above.items() if text]
            request = (*lead, *asked.shown(match.fixture.seed))
            max_tokens, temperature = asked.max_tokens, asked.temperature
    said, row = step.stored, step.row
    answered = said is not None and row.reply is not None
    told = said if answered and not run else None
    chosen = step.value if isinstance(step.value, Chosen) and told else None
    proof = ""
    if requests and row.reply is not None and answered:
        proof = leaf(step.key, step.player, row.request, row.reply).hex()
    return ExchangeView(
        key=step.key,
        label=step.label,
        role=step.role,
        player=step.player,
        request=request,
        max_tokens=max_tokens,
        temperature=temperature,
        status=step.status,
        reply=told.words if told else step.reply if answered else "",
        reason=step.reason if answered else "",
        choice=chosen.choice if chosen else "",
        choice_reason=chosen.reason if chosen else "",
        attempts=match.attempts[step.key],
        input_tokens=told.input_tokens if told else None,
        output_tokens=told.output_tokens if told else None,
        latency_s=(row.latency_ms or 0) / 1e3 if told else None,
        cost_usd=0.0 if run else None if told is None or told.cost_nano is None else told.cost_nano / 1e9,
        model=told.model if told else "",
        price=told.price if told else "",
        reasoning_tokens=told.reasoning_tokens if told else None,
        truncated=told.truncated if told else False,
        cut=told.cut if told else 0,
        digest=proof,
        trace=told.way if told else None,
    )


def _command_parts(asked: ShellCommand) -> Iterator[tuple[str, str]]:
    yield "command", asked.command
    yield "folder", _named(asked.folder)
    yield "patch", asked.patch
    yield "laid over it", _named(asked.overlay) if asked.overlay else ""


def _named(folder: WorkFolder) -> str:
    """Return the files of a folder in words: their paths, or where they come from."""
    return f"{folder.repo} at {folder.commit}" if folder.repo else "\n".join(sorted(folder.files))


def took(one: ExchangeView) -> str:
    """Return what a reply took and cost."""
    parts = [
        "" if one.output_tokens is None else f"{one.output_tokens:,} tokens",
        f"{one.reasoning_tokens:,} of them to think" if one.reasoning_tokens else "",
        "" if one.latency_s is None else seconds(one.latency_s),
        "cost unknown" if one.cost_usd is None else dollars(one.cost_usd),
        f"{one.attempts} attempts" if one.attempts > 1 else "",
        _cut(one),
        "asked again with more room" * one.key.endswith(ROOM),
        "repaired" * one.key.endswith(REPAIR),
        f"in {counted(len(one.trace.steps), 'step')}" if one.trace else "",
        one.model,
    ]
    return " · ".join(filter(None, parts))


def _cut(one: ExchangeView) -> str:
    if one.truncated and one.trace and one.reason:  # an agent's time or money was up, as the reason says
        return f"ended early: {one.reason}"
    return f"cut at its limit of {one.cut:,} tokens" if one.cut else "cut at its limit" * one.truncated


def reply_block(one: ExchangeView, note: str) -> Block:
    """Return a reply as it came, or of a choice its reason."""
    tone: Tone = "" if one.status == "ok" else "bad"
    verdict = one.choice if one.status == "ok" else one.status
    note = "; ".join(filter(None, (note, one.reason if one.role != SANDBOX or one.status != "ok" else "")))
    if one.role == SANDBOX:
        return SourceCode(one.reply, one.label, one.key, verdict, tone, note)
    return Quoted(one.label, one.choice_reason if one.choice else one.reply, one.key, verdict, tone, note)
