"""Steps one match: runs a game's generator, hands out its requests, takes replies. Pure; no I/O, no clock.

The same class drives live matches, resumes them, and replays them offline. Replies may come in any
order; what the game sees depends only on the fixture and on the replies by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from peerage.engine.match.conversations import Conversations, Turns, branched, join
from peerage.game.bounds import asked_of
from peerage.game.match import Fixture, GameTable, Outcome
from peerage.game.programs.tools import answers
from peerage.game.protocol import (
    MORE_ROOM,
    REPAIR,
    ROOM,
    Ask,
    Format,
    FormatError,
    Job,
    Message,
    Quote,
    Reply,
    Request,
    Run,
    Shaped,
    Steps,
    Text,
    Together,
    Voided,
    ran,
    unusable_reason,
)
from peerage.game.section import cost
from peerage.game.spec import GameSpec
from peerage.game.work import command_result

REPAIR_CHARS = 4_000
_REPAIR_TEMPLATE = "Your reply could not be used: {problem}.\n\n{instruction}"


class GameError(Exception):
    """A game broke its contract; the message names the game, the match and the fault."""


@dataclass(slots=True, eq=False)
class _Branch:
    """One generator under way: what it waits for, and where its result goes. `path` says where it stands in
    its match, whichever reply comes first. `turns` are those that its requests may follow, `ended` those that
    branches of a Together had in the end."""

    steps: Steps[Any]
    prefix: str
    parent: _Branch | None
    place: Any
    path: tuple[int, ...] = ()
    opened: int = 0
    missing: int = 0
    many: bool = False
    collected: Any = None
    void: Voided | None = None
    asked: list[Request] = field(default_factory=list)
    turns: Turns = field(default_factory=dict)
    ended: dict[str, Turns] = field(default_factory=dict)


class Driver:
    """One match under way.

    `start()` and `feed()` return the requests that may be sent next. `outcome` is set when the game has
    returned and every request it made has been answered, so that what is on record never depends on
    timing. `notes` are the game's notes for spectators, in order.
    """

    def __init__(self, spec: GameSpec[Any], fixture: Fixture, rules: Any) -> None:
        self.outcome: Outcome | None = None
        self._name = f"game {spec.name!r}, match {fixture.number}"
        self._conversations = Conversations(fixture)
        self._spec = spec
        self._unit: Any = getattr(rules, "cost_unit", None)
        self._left: dict[str, int] = {}
        self._most: dict[str, int] = {}
        for asks in spec.asks(rules, fixture):
            for label in asked_of(asks, fixture):
                self._left[label] = self._left.get(label, 0) + asks.calls
                self._most[label] = max(self._most.get(label, 0), asks.max_tokens)
        self._given: dict[str, float | None] = {label: had.cost for label, had in fixture.given.items()}
        self._spent: dict[str, dict[str, tuple[tuple[int, ...], Reply]]] = {}
        self._seats = {seat.label for seat in fixture.all_seats()}
        self._contestants = dict.fromkeys([seat.label for seat in fixture.seats])
        self._runs = {"Run": spec.needs.sandbox(rules), "ShellCommand": spec.needs.commands(rules)}
        self._root = _Branch(spec.play(GameTable(fixture, rules)), "", None, None)
        self._waiting: dict[str, tuple[_Branch, Any, Request, tuple[int, ...]]] = {}
        self._first_tries: dict[str, Reply] = {}
        self._keys: set[str] = set()
        self._new: list[Request] = []
        self._ended: Outcome | None = None

    def start(self) -> list[Request]:
        """The first requests."""
        self._advance(self._root, None, None)
        return self._take()

    def feed(self, key: str, raw: Reply) -> list[Request]:
        """Take the reply to an open request: as received, its value not yet parsed.

        Returns what may be asked now: the next requests, or a second one in place of this. A reply that was
        cut is asked for once more with more room, any other unusable one is repaired. A failure of the
        sandbox voids the match. Raises KeyError when no such request is open.
        """
        branch, place, ask, path = self._waiting.pop(key)
        if not isinstance(ask, Ask):
            reply = self._ran(branch, ask, key, raw)
            problem = ""
        else:
            try:
                reply, problem = _parsed(ask, key, raw)
            except Exception as fault:
                raise GameError(
                    f"{self._name}: the format {ask.expects!r:.80} of {key!r} raised {type(fault).__name__}: "
                    f"{fault}; a reply that it cannot read is a FormatError"
                ) from fault
        first = self._first_tries.pop(key, None)
        if first is not None:
            reply = first.after(reply) if first.ok and not reply.ok else reply.after(first)
        elif isinstance(ask, Ask) and (again := _again(ask, raw, reply, problem)) is not None:
            self._first_tries[again.key] = reply
            self._waiting[again.key] = (branch, place, again, path)
            return [again]
        if isinstance(ask, Ask) and ask.to in self._contestants:
            self._account(branch, ask, reply, path)
        if branch.many:
            branch.collected[place] = reply
            branch.missing -= 1
        if not branch.many or not branch.missing:
            asked, branch.asked = branch.asked, []
            self._conversations.add(branch.turns, asked, branch.collected if branch.many else [reply])
            self._advance(branch, branch.collected if branch.many else reply, branch.void)
        return self._take()

    def _account(self, branch: _Branch, ask: Ask, reply: Reply, path: tuple[int, ...]) -> None:
        """Count what a contestant's reply cost. One that its provider failed to give voids the match, unless
        the game goes on without it."""
        if self._unit is not None and ask.role in self._spec.rating.costs:
            spent, question = self._spent.setdefault(ask.to, {}), answers(ask.key)
            path, before = spent.get(question, (path, None))
            spent[question] = path, reply if before is None else reply.after(before)
        if reply.status == "void" and ask.role == "contestant" and not self._spec.survives:
            branch.void = Voided("no_answer")

    def _costs(self) -> dict[str, float | None]:
        """Return what each contestant's play cost, now or when it was given, None where a part of it is
        unknown; empty when none was asked."""
        played = self._spent or self._given
        costs: dict[str, float | None] = dict.fromkeys(self._contestants if played else (), 0.0)
        costs |= self._given
        for label, spent in self._spent.items():
            # in one order, whichever reply came first: sums of floats depend on it
            parts = [cost(reply, self._unit) for _, reply in sorted(spent.values(), key=lambda call: call[0])]
            known = [part for part in parts if part is not None]
            costs[label] = sum(known) if len(known) == len(parts) else None
        return costs

    def _ran(self, branch: _Branch, job: Job, key: str, raw: Reply) -> Reply:
        """The reply to a run or a command, with its value."""
        if raw.status != "ok":
            branch.void = Voided(raw.reason.partition(":")[0] or "sandbox_error")
            return msgspec.structs.replace(raw, key=key)
        try:
            value = ran(raw.text) if isinstance(job, Run) else command_result(raw.text)
            return msgspec.structs.replace(raw, key=key, value=value)
        except msgspec.MsgspecError as error:
            raise GameError(f"{self._name}: the reply to {key!r} is not what a run gives: {error}") from error

    def _take(self) -> list[Request]:
        asks, self._new = self._new, []
        if self._ended is not None and not self._waiting:
            self.outcome = self._ended
        return asks

    def _advance(self, branch: _Branch, value: Any, error: Voided | None) -> None:
        """Step a branch until it waits for something or ends."""
        while True:
            try:
                yielded = branch.steps.throw(error) if error is not None else branch.steps.send(value)
            except StopIteration as stop:
                self._end(branch, stop.value, None)
                return
            except Voided as voided:
                self._end(branch, None, voided)
                return
            except Exception as fault:
                raise GameError(f"{self._name} raised {type(fault).__name__}: {fault}") from fault
            value = error = None
            if isinstance(yielded, Request):
                branch.many = False
                self._open(branch, None, yielded)
                return
            if isinstance(yielded, Together):
                if not self._split(branch, yielded.branches):
                    return
                value, error = _gathered(branch)
            elif isinstance(yielded, Iterable):
                asks = self._listed(yielded)
                if asks:
                    branch.many = True
                    branch.missing = len(asks)
                    branch.collected = [None] * len(asks)
                    for place, ask in enumerate(asks):
                        self._open(branch, place, ask)
                    return
                value = []
            else:
                raise GameError(
                    f"{self._name} yielded {type(yielded).__name__}; an Ask, a Run, a ShellCommand, a "
                    "sequence or Together was expected"
                )

    def _listed(self, requests: Iterable[Any]) -> list[Request]:
        asks: list[Request] = []
        for request in requests:
            if not isinstance(request, Request):
                raise GameError(
                    f"{self._name} yielded a sequence that holds {type(request).__name__}; only an Ask, a "
                    "Run or a ShellCommand may stand there (for several steps write `yield from` or Together)"
                )
            asks.append(request)
        return asks

    def _open(self, branch: _Branch, place: Any, ask: Request) -> None:
        if branch.prefix:
            ask = msgspec.structs.replace(ask, key=branch.prefix + ask.key)
        if not isinstance(ask, Ask):
            if not self._runs[kind := type(ask).__name__]:
                need = "sandbox" if isinstance(ask, Run) else "commands"
                raise GameError(
                    f"{self._name} yielded a {kind}, but `{need}` in its GameSpec says it never does"
                )
        elif ask.to not in self._seats:
            raise GameError(
                f"{self._name} asked the seat {ask.to!r}, which it does not have; "
                f"its seats are {', '.join(sorted(self._seats))}"
            )
        elif not _is_format(type(ask.expects)):
            raise GameError(
                f"{self._name} expects {ask.expects!r:.80} in reply to {ask.key!r}; an object with the "
                "methods of peerage.formats.Format was expected, such as Json(Bid)"
            )
        if ask.key.endswith((REPAIR, ROOM)):
            raise GameError(
                f"{self._name} used the request key {ask.key!r}; keys that end in {REPAIR!r} or {ROOM!r} are "
                "the engine's"
            )
        if ask.key in self._keys:
            raise GameError(
                f"{self._name} used the request key {ask.key!r} twice; keys are unique in a match"
            )
        if isinstance(ask, Ask):
            self._check_declared(ask)
            ask = self._conversations.with_past(branch.turns, ask)
        self._keys.add(ask.key)
        branch.asked.append(ask)
        branch.opened += 1
        self._waiting[ask.key] = (branch, place, ask, (*branch.path, branch.opened))
        self._new.append(ask)

    def _check_declared(self, ask: Ask) -> None:
        """Hold a request to what its game has declared: the budget rests on that."""
        left, most = self._left.get(ask.to, 0) - 1, self._most.get(ask.to, 0)
        self._left[ask.to] = left
        if left < 0 or ask.max_tokens > most:
            what = "more often" if left < 0 else f"for {ask.max_tokens} tokens, more"
            raise GameError(
                f"{self._name} asks {ask.to!r} {what} than `asks` of its GameSpec says ({ask.key!r})"
            )

    def _split(self, branch: _Branch, branches: Mapping[str, Steps[Any]]) -> bool:
        """Start the branches of a Together; True when all of them ended at once."""
        branch.collected = dict.fromkeys(branches)
        branch.missing = len(branches) + 1  # one more, so that no branch resumes its parent from in here
        branch.opened += 1
        for at, (name, steps) in enumerate(branches.items()):
            path = (*branch.path, branch.opened, at)
            turns = branched(branch.turns)
            prefix = f"{branch.prefix}{name}/"
            self._advance(_Branch(steps, prefix, branch, name, path, turns=turns), None, None)
        branch.missing -= 1
        return not branch.missing

    def _end(self, branch: _Branch, result: Any, voided: Voided | None) -> None:
        parent = branch.parent
        if parent is None:
            if voided is None and not isinstance(result, Outcome):
                raise GameError(f"{self._name} returned {type(result).__name__}; an Outcome was expected")
            if voided is None and not result.void:
                self._check_ranked(result)
            self._ended = self._settled(result) if voided is None else Outcome(void=str(voided))
            return
        parent.collected[branch.place] = result if voided is None else voided
        parent.ended[branch.place] = branch.turns
        parent.missing -= 1
        if not parent.missing:
            self._advance(parent, *_gathered(parent))

    def _settled(self, outcome: Outcome) -> Outcome:
        """The outcome with what every play cost, and with those that a match went on without."""
        costs = outcome.costs or ({} if outcome.void == "no_challenge" else self._costs())
        detail = outcome.detail
        unranked = [label for label in self._contestants if label not in outcome.scores]
        if unranked and not outcome.void and outcome.scores:
            detail = {**detail, "unranked": unranked}
        return msgspec.structs.replace(outcome, costs=costs, detail=detail)

    def _check_ranked(self, outcome: Outcome) -> None:
        """A decided match scores its own contestants, and leaves out no more than leave two."""
        strangers = sorted(outcome.scores.keys() - self._contestants.keys())
        if strangers:
            raise GameError(f"{self._name} scored {strangers[0]!r}, which is none of its contestants")
        fewest = min(2, len(self._contestants))
        if len(outcome.scores) < fewest:
            raise GameError(
                f"{self._name} scored {len(outcome.scores)} contestants; a match that is not void ranks "
                f"{fewest} at least"
            )


@lru_cache
def _is_format(kind: type) -> bool:
    return issubclass(kind, Format)


def _gathered(branch: _Branch) -> tuple[Any, Voided | None]:
    """Return what a Together yields back, or the first branch's void (in the order of its names), and take in
    what its branches remember."""
    join(branch.turns, [branch.ended[name] for name in branch.collected])
    branch.ended.clear()
    for result in branch.collected.values():
        if isinstance(result, Voided):
            return None, result
    return branch.collected, None


def _parsed(ask: Ask, key: str, raw: Reply) -> tuple[Reply, str]:
    """Return the reply with its value, and the fault of its format ("" for none)."""
    if raw.status != "ok":
        return msgspec.structs.replace(raw, key=key), ""
    try:
        value = ask.expects.parse(raw.text)
    except FormatError as unusable:
        problem = unusable_reason(raw.cut, raw.text, raw.reason, unusable)
        return msgspec.structs.replace(raw, key=key, status="invalid", reason=problem), problem
    return msgspec.structs.replace(raw, key=key, value=value), ""


def _again(ask: Ask, raw: Reply, reply: Reply, problem: str) -> Ask | None:
    """The second request in place of one whose first reply cannot be used, or was cut; None for none."""
    if ask.folder is not None:  # a second one would begin the work anew
        return None
    if not raw.cut:
        return _repair(ask, raw, problem) if problem and not ask.verbatim else None
    if ask.exact or raw.final or raw.status != "ok" or (reply.ok and _whole(ask, raw)):
        return None
    return msgspec.structs.replace(ask, key=ask.key + ROOM, max_tokens=ask.max_tokens * MORE_ROOM)


def _whole(ask: Ask, raw: Reply) -> bool:
    """Return whether a usable reply lacks nothing though it was cut: an object that is closed, or all that
    counts of a text."""
    if isinstance(ask.expects, Text | Shaped):
        return len(raw.text) >= ask.expects.max_chars
    return ask.expects.schema() is not None


def _repair(ask: Ask, raw: Reply, problem: str) -> Ask:
    reply_text = Quote("", raw.text[:REPAIR_CHARS] or "(nothing)", ask.key if raw.text else "")
    instruction = ask.expects.instruction()
    messages = (
        *ask.messages,
        Message("assistant", "{said}", {"said": reply_text}),
        Message("user", _REPAIR_TEMPLATE, {"problem": problem, "instruction": instruction}),
    )
    return msgspec.structs.replace(ask, key=ask.key + REPAIR, messages=messages)
