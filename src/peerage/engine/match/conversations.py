"""Conversations of seats that remember their match: the earlier turns that go with a request. Pure.

What counts is in the fixture, so the setting of a player may change under way. A conversation holds what its
own seat was asked and replied, and follows the game, not the clock: branches side by side know nothing of
each other until all have ended, and come in the order of their names then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from peerage.game.match import TOKEN_BYTES, Fixture
from peerage.game.programs.tools import answers
from peerage.game.protocol import Ask, PastTurn, Reply, Request, size_of
from peerage.players.media import tokens_in

Turns: TypeAlias = dict[str, dict[str, PastTurn]]
"""The turns of each seat that remembers, by label and question, the oldest first."""


class Conversations:
    """The conversations of one match; the turns are kept by those who ask."""

    def __init__(self, fixture: Fixture) -> None:
        self._seed = fixture.seed
        self._bytes = {label: TOKEN_BYTES * tokens for label, tokens in fixture.sessions.items()}

    def add(self, turns: Turns, asked: Iterable[Request], replies: Sequence[Reply]) -> None:
        """Add requests and the replies to them.

        Of two replies to a request only the one that counted is a turn; one without a text, or that declined,
        is none. All turns of an answer with a tool are one: its last request holds those before.
        """
        for ask, reply in zip(asked, replies, strict=True):
            counts = reply.status in ("ok", "invalid") and reply.text.strip()
            if counts and isinstance(ask, Ask) and self._remembers(ask):
                own = turns.setdefault(ask.to, {})
                own[answers(ask.key)] = ask.turn(self._seed, reply.key, reply.text)

    def with_past(self, turns: Turns, ask: Ask) -> Ask:
        """Return a request with the newest turns of its seat.

        When they are longer than the seat's bound, the oldest go until half of it is left, so that what comes
        first stays the same for many requests, as the caches of providers want it. One that alone is longer
        is left out.
        """
        if not self._remembers(ask) or ask.to not in turns:
            return ask
        most, size, kept = self._bytes[ask.to], 0, list[PastTurn]()
        for question, turn in turns[ask.to].items():
            own = _size(turn)
            if question == answers(ask.key) or own > most:
                continue
            kept.append(turn)
            size += own
            if size > most:
                while size > most // 2 and len(kept) > 1:
                    size -= _size(kept.pop(0))
        return msgspec.structs.replace(ask, past=tuple(kept)) if kept else ask

    def _remembers(self, ask: Ask) -> bool:
        return ask.to in self._bytes and ask.role == "contestant" and not ask.verbatim


def _size(turn: PastTurn) -> int:
    """Return the bytes of a turn, and of as many tokens as pictures and sounds in it count as at most."""
    return size_of(turn.shown) + TOKEN_BYTES * tokens_in(turn.shown)


def branched(turns: Turns) -> Turns:
    """Return the turns that a new branch begins with."""
    return {label: {**own} for label, own in turns.items()}


def join(turns: Turns, ended: Iterable[Mapping[str, Mapping[str, PastTurn]]]) -> None:
    """Take in the turns of branches that have ended, in the order given."""
    for branch in ended:
        for label, own in branch.items():
            turns[label] = {**turns.get(label, {}), **own}
