"""What an arena said before its first match that it would do, and where it did otherwise.

One entry `registered` holds players, settings and stopping rule; its digest is that of its bytes, sealed
values as their commitments, so a redacted copy gives the same. Each run whose settings differ from it begins
with an entry `differs`, which lists every difference there is then; none means that all is as registered
again. What follows from the matches themselves, a match beyond the rule or a player of whom nothing was said,
is read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import takewhile
from typing import Any

import msgspec
from msgspec import Struct

from peerage.figures import counted
from peerage.ledger.log import finished
from peerage.ledger.secret import commitment
from peerage.ledger.store import Entry, Ledger, LedgerError, Summary
from peerage.match import DEVELOPMENT, DONE
from peerage.sealing import committed

TOPIC = "preregistration"
DAY_MS = 86_400_000
QUOTED = 32
"""Hex digits of the digest that are quoted: 128 bits, so that nobody prepares two plans with one digest."""


class Stop(Struct, frozen=True, omit_defaults=True):
    """When an arena is over: at so many `matches` with a result, at the end of the day `until` (UTC), when
    so many dollars are spent. What comes first counts; what is not stated is no limit."""

    matches: int | None = None
    until: date | None = None
    budget: dict[str, float] = {}

    @property
    def in_words(self) -> str:
        """The rule in words."""
        money = {"arena": "in all", "match": "a match", "player": "a player"}
        parts = [counted(self.matches, "match")] if self.matches is not None else []
        parts += [f"the end of {self.until.isoformat()} UTC"] if self.until is not None else []
        parts += [f"${self.budget[whose]:,.2f} {money[whose]}" for whose in money if whose in self.budget]
        return " or ".join(parts)


class Change(Struct, frozen=True):
    """A difference from what was registered: of a setting by its path, of a player as `players.NAME`; null
    where there is none."""

    what: str
    was: Any = None
    now: Any = None

    @property
    def in_words(self) -> str:
        """The difference in words."""
        if self.what.startswith("players."):
            name = self.what.removeprefix("players.")
            if self.was is None:
                return f"{name} was added"
            if self.now is None:
                return f"{name} was withdrawn"
        if self.was is None:
            return f"{self.what} is {_short(self.now)}, and was not stated"
        if self.now is None:
            return f"{self.what} is not stated, and was {_short(self.was)}"
        return f"{self.what} is {_short(self.now)}, not {_short(self.was)}"


class Plan(Struct, frozen=True, omit_defaults=True):
    """What is registered: players by name, settings that decide numbers, and the stopping rule. `arena` tells
    the arena from any other (`secret.commitment`), so that one digest is of one arena."""

    players: dict[str, Any]
    settings: dict[str, Any]
    stop: Stop
    arena: str = ""


class _Entry(Struct, omit_defaults=True):
    entry: str
    plan: Plan | None = None
    after_match: int = 0
    changes: tuple[Change, ...] = ()


class Deviation(Struct, frozen=True):
    """Something that was done otherwise than registered, from match `first` on; up to `last` where it was set
    right again later."""

    what: str
    first: int
    last: int | None = None

    @property
    def in_words(self) -> str:
        """The deviation in words."""
        span = (
            f"from match {self.first:,} on"
            if self.last is None
            else f"matches {self.first:,} to {self.last:,}"
        )
        return f"{span}: {self.what}"


class Preregistration(Struct, frozen=True):
    """A plan on record: its `digest` in hex, its `position` in the log and time; `late` when a match entered
    the log before it. `differing` are the later entries, each with the match after which it holds."""

    digest: str
    position: int
    at_ms: int
    plan: Plan
    late: bool = False
    differing: tuple[tuple[int, tuple[Change, ...]], ...] = ()

    @property
    def quoted(self) -> str:
        """As much of the digest as is quoted."""
        return self.digest[:QUOTED]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences that the newest run began with."""
        return self.differing[-1][1] if self.differing else ()


_encode = msgspec.json.Encoder().encode  # sealed values are known by the order of their keys
_read = msgspec.json.Decoder(_Entry).decode


def registered_body(plan: Plan) -> bytes:
    """The stored bytes of a plan; equal plans have equal bytes."""
    return _encode(_Entry("registered", plan))


def differs_body(after_match: int, changes: Iterable[Change]) -> bytes:
    """The stored bytes of the differences with which a run begins."""
    return _encode(_Entry("differs", None, after_match, tuple(changes)))


def digest_of(body: bytes) -> str:
    """The digest of a plan's stored bytes, in hex."""
    return sha256(committed(body)).hexdigest()


def preregistration(ledger: Ledger) -> Preregistration | None:
    """What was registered; None where nothing was. Raises LedgerError for an entry that holds none."""
    found: Preregistration | None = None
    differing: list[tuple[int, tuple[Change, ...]]] = []
    for row in ledger.amendments(TOPIC):
        try:
            said = _read(row.body)
        except msgspec.MsgspecError as error:
            raise LedgerError(f"entry {row.position} of the log is no preregistration: {error}") from error
        if said.entry == "differs":
            differing.append((said.after_match, said.changes))
        elif found is None and said.plan is not None:
            late = any(finished(entry.about) for entry in takewhile(before(row.position), ledger.log()))
            found = Preregistration(digest_of(row.body), row.position, row.at_ms, said.plan, late)
    return found and msgspec.structs.replace(found, differing=tuple(differing))


def before(position: int) -> Callable[[Entry], bool]:
    """Whether an entry of the log stands before this position."""
    return lambda entry: entry.position < position


def deviations(found: Preregistration, matches: Iterable[Summary]) -> Iterator[Deviation]:
    """Every deviation, in the order of its first match; `matches` are all finished ones as folded."""
    yield from sorted([*_noted(found), *_seen(found, matches)], key=lambda one: (one.first, one.what))


def _noted(found: Preregistration) -> Iterator[Deviation]:
    """The differences that runs began with, each as long as it was there."""
    since: dict[str, int] = {}
    for after, changes in found.differing:
        now = {change.in_words for change in changes}
        for what in [what for what in since if what not in now]:
            if (first := since.pop(what)) <= after:
                yield Deviation(what, first, after)
        since = {what: since.get(what, after + 1) for what in now}
    yield from (Deviation(what, first) for what, first in since.items())


def _seen(found: Preregistration, matches: Iterable[Summary]) -> Iterator[Deviation]:
    """What the matches themselves show: those beyond the rule, and players and games nobody spoke of."""
    stop, decided, spent = found.plan.stop, 0, 0
    over = None if stop.until is None else _end_of(stop.until)
    most = None if "arena" not in stop.budget else round(stop.budget["arena"] * 1e9)
    said = found.plan.players.keys() | {
        change.what.removeprefix("players.") for _, changes in found.differing for change in changes
    }
    games = found.plan.settings["games"].keys() | {
        change.what.split(".")[1]
        for _, changes in found.differing
        for change in changes
        if change.what.startswith("games.")
    }
    told: set[str] = set()
    for one in matches:
        decided += one.status in (DONE, DEVELOPMENT)
        spent += one.spent_nano
        beyond = {
            f"beyond the registered {counted(stop.matches or 0, 'match')}": stop.matches is not None
            and decided > stop.matches,
            f"after {stop.until}, when it was to end": over is not None and one.at_ms >= over,
            f"beyond the registered ${stop.budget.get('arena', 0):,.2f}": most is not None and spent > most,
        }
        here = [what for what, so in beyond.items() if so]
        here += [f"{name} plays and was not registered" for name in one.players if name not in said]
        here += [f"{one.game} is played and was not registered"] if one.game not in games else []
        for what in here:
            if what not in told:
                told.add(what)
                yield Deviation(what, one.number)


def progress(found: Preregistration, matches: Iterable[Summary]) -> tuple[str, ...]:
    """For people: the registration with how far the arena has come, then each deviation."""
    if found.late:
        return (f"what was registered as {found.quoted} stands after the first match: it does not count",)
    rows = list(matches)
    decided = sum(one.status in (DONE, DEVELOPMENT) for one in rows)
    done = f"{decided:,} of {found.plan.stop.matches:,}" if found.plan.stop.matches else f"{decided:,}"
    deviating = tuple(
        [f"deviates from what was registered, {one.in_words}" for one in deviations(found, rows)]
    )
    return (
        f"preregistered before match 1 as {found.quoted}: {counted(len(found.plan.players), 'player')}, to "
        f"end at {found.plan.stop.in_words}; {done} {'match has' if done == '1' else 'matches have'} a result"
        + ("" if deviating else ", nothing deviates"),
        *deviating,
    )


def problems(ledger: Ledger) -> Iterator[str]:
    """What is wrong with the registration on record."""
    try:
        found = preregistration(ledger)
    except LedgerError as error:
        yield str(error)
        return
    if found is not None and found.late:
        yield f"it was preregistered at position {found.position} of the log, after its first match"
    if found is not None and found.plan.arena not in ("", commitment(ledger)):
        yield f"what was preregistered at position {found.position} of the log is another arena's"


def _end_of(day: date) -> int:
    """The first millisecond after a day, UTC."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000) + DAY_MS


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:59]}…"
