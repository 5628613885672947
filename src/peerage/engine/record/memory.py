"""Lessons of earlier matches, given to pairing as far as it may know: up to the round it is paired by.

The fold itself is the game's (`game.spec.Memory`). Amendments count from the next run on, since only the one
who holds the runner's lock writes them; what was issued before stays as it was issued.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peerage.game.spec import GameSpec, Memory
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_header
from peerage.values.sealing import sealing_key

Facts = Sequence[Mapping[str, Any]]
_read_facts = msgspec.json.Decoder(tuple[dict[str, Any], ...]).decode


class Remembered:
    """A game's memory, and what waits until pairing may know it."""

    def __init__(self, memory: Memory, secret: str) -> None:
        self._memory = memory
        self._secret = secret
        self._sealing = sealing_key(secret)
        self._waiting: deque[tuple[int, int, Facts]] = deque()

    def note(self, round: int, number: int, facts: Facts) -> None:
        """Take in what match `number` taught, the next that was folded in this round."""
        self._waiting.append((round, number, facts))

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
    remembers = Remembered(memory, secret)
    for place, number, facts in learnt(ledger, memory, spec.memory.stream, spec.name.__eq__):
        remembers.note(round_of(place), number, facts)
    return remembers
