"""Lessons of earlier matches, given to pairing as far as it may know: up to the round it is paired by.

The fold itself is the game's (`game.spec.Memory`). Amendments count from the next run on, since only the one
who holds the runner's lock writes them; what was issued before stays as it was issued.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peerage.game.match import Fixture, GivenAnswer
from peerage.game.protocol import Reply
from peerage.game.spec import DrawnMatch, GameSpec, MeetingMemory, Memory
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import read_header, read_issued, read_reply
from peerage.values.sealing import sealing_key

Facts = Sequence[Mapping[str, Any]]
_read_facts = msgspec.json.Decoder(tuple[dict[str, Any], ...]).decode


RECENT = 1_024
"""Matches whose replies are kept in memory, since they may not be durable yet."""


class Remembered:
    """A game's memory, and what waits until pairing may know it; `meeting` where it draws for a meeting."""

    def __init__(self, memory: Memory, secret: str, ledger: Ledger) -> None:
        self._memory = memory
        self.meeting = memory if isinstance(memory, MeetingMemory) else None
        self._ledger = ledger
        self._recent: dict[int, Mapping[str, Reply]] = {}
        self._secret = secret
        self._sealing = sealing_key(secret)
        self._waiting: deque[tuple[int, int, Facts]] = deque()

    def note(self, round: int, number: int, facts: Facts, replies: Mapping[str, Reply] = {}) -> None:
        """Take in match `number`, the next folded in this round; with `replies` where it has just ended."""
        self._waiting.append((round, number, facts))
        if self.meeting is not None and facts:
            self._recent[number] = replies
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]

    def whole(self, fixture: Fixture) -> Fixture:
        """Return a fixture with the texts of answers that were given before. Raises LedgerError."""
        given = {label: self._whole(answer) for label, answer in fixture.given.items()}
        return msgspec.structs.replace(fixture, given=given) if given else fixture

    def _whole(self, answer: GivenAnswer) -> GivenAnswer:
        reply = self._recent.get(answer.match, {}).get(answer.key)
        rows = None if reply else self._ledger.match(answer.match)
        for row in rows.exchanges if rows else ():
            if row.key == answer.key and row.reply is not None:
                reply = read_reply(row)
        if reply is None:
            lacks = f"{self._ledger.address} lacks the reply {answer.key} of match {answer.match}"
            raise LedgerError(f"{lacks}; restore a copy")
        return msgspec.structs.replace(answer, text=reply.text, hidden=reply.hidden)

    def draw_after(self, round: int) -> Callable[[int], Mapping[str, Any]]:
        """Return the draw of a match, by number, once rounds up to `round` are known; rounds only rise."""
        while self._waiting and self._waiting[0][0] <= round:
            _, number, facts = self._waiting.popleft()
            self._memory.learn(number, facts)
        return lambda number: self._memory.draw(self._secret, number, self._sealing)


def learnt(
    ledger: Ledger, memory: Memory, stream: str, kept: Callable[[str], bool], last: int | None = None
) -> Iterator[tuple[int, int, Facts]]:
    """Give a memory its amendments; then each match's place, number and facts, up to place `last`, still to
    be learnt. Facts of games that are not `kept` are left out: one arena may have played several."""
    for amendment in ledger.amendments(stream):
        memory.amend(msgspec.json.decode(amendment.body))
    if last is None:
        last = ledger.heads()[1]  # a running arena goes on writing
    others = {row.number for row in ledger.summaries(1, last) if not kept(row.game)}
    for place, record in enumerate(ledger.records(1, last), 1):
        facts = () if record.number in others else _read_facts(read_header(record.body).outcome.facts)
        yield place, record.number, facts


def remembered(
    ledger: Ledger, spec: GameSpec[Any], rules: Any, secret: str, round_of: Callable[[int], int]
) -> Remembered:
    """All that a ledger's matches and amendments taught a game that keeps a memory. `round_of` gives the
    round that went on when the match at a place was folded."""
    assert spec.memory is not None
    memory = spec.memory.make(rules)
    remembers = Remembered(memory, secret, ledger)
    if remembers.meeting is not None:
        issue(remembers.meeting, ledger, spec.name)
    for place, number, facts in learnt(ledger, memory, spec.memory.stream, spec.name.__eq__):
        remembers.note(round_of(place), number, facts)
    return remembers


def issue(memory: MeetingMemory, ledger: Ledger, game: str) -> None:
    """Give a memory that draws for those who meet all issued matches of its game."""
    for row in ledger.fixtures():
        issued = read_issued(row.body)
        if issued.game == game:
            names = {seat.label: seat.player for seat in issued.seats}
            given = {names[label]: answer for label, answer in issued.given.items()}
            drawn = DrawnMatch(msgspec.json.decode(issued.drawn), given, issued.shares)
            memory.issued(issued.number, [*names.values()], drawn)


def planned(spec: GameSpec[Any], rules: Any, ledger: Ledger | None = None) -> MeetingMemory | None:
    """Return what a game remembers of those who met, as a plan takes it: by a `ledger`, all that is in flight
    taken as decided; None where it has no such memory."""
    memory = spec.memory.make(rules) if spec.memory is not None and spec.memory.applies(rules) else None
    if not isinstance(memory, MeetingMemory):
        return None
    if ledger is not None:
        issue(memory, ledger, spec.name)
        for _, number, facts in learnt(ledger, memory, "", spec.name.__eq__):
            memory.learn(number, facts)
        for number in [*memory.in_flight]:
            memory.presume(number)
    return memory
