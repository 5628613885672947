"""A player with a memory: it keeps all it was ever asked, and what pages show of matches that are over.

    memory = Memory("ann")                      # ann, of the skill of her house player
    play(GAME, fixture, memory.player(usual))   # she plays, and serves, from what she remembers
    memory.over(played)                         # the match is over: its page is read

She replies as her house player does, or recalls: the reply that did best at the task most like this one,
with this task's numbers put in; or a value that she met in another request of this very match. She
counts which of the two does better, and keeps to it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import log
from typing import NamedTuple

from peerage.formats import FormatError, Text
from peerage.game.protocol import Ask, Reply
from peerage.testing.offline import Answering, Played, call

RECENT = 8
"""Matches in which recalling must do better than not, for it to go on."""
RARE = log(3 / 2)
"""Share of matches from which on a text that they have in common identifies no task."""
FEW = 3
"""Values that might be the answer, at most, for one of them to be worth a try."""
SCORED = 0.7
"""The score in its match from which a reply is worth recalling."""
_FENCE = re.compile(r"<<<[^\n]*>>>")
_WORD, _NUMBER = re.compile(r"\w+|[^\w\s]"), re.compile(r"\d+")


class _Known(NamedTuple):
    """A request that is over, with the reply of a seat that did well."""

    form: type
    parts: Mapping[str, str]
    reply: Reply
    player: str


class PlayerMemory:
    """Memory of one player."""

    def __init__(self, player: str) -> None:
        self._player = player
        self._match: list[tuple[Ask, Reply]] = []
        self._known: list[_Known] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)  # part → of which of them
        self._common: Counter[str] = Counter()
        self._form: dict[str, list[float]] = {}
        self._scores: dict[bool, list[float]] = {False: [], True: []}
        self._recalls = self._recalled = False
        self._matches = 0

    def player(self, usual: Answering) -> Answering:
        """All players of a match, this one with its memory."""
        own, other = (scores[-RECENT:] for scores in self._scores.values())
        better = len(other) < RECENT or sum(other) / len(other) > sum(own) / max(len(own), 1)
        self._recalls = better or self._matches % 4 == 0
        self._recalled, self._match = False, []

        def answering(ask: Ask, player: str) -> Reply:
            if player != self._player:
                return usual(ask, player)
            recalled = self._recall(ask) if self._recalls and ask.role == "contestant" else None
            self._recalled |= recalled is not None
            reply = recalled or usual(ask, player)
            self._match.append((ask, reply))
            return reply

        return answering

    def over(self, played: Played) -> None:
        """Read the page of a match that is over: of a sealed one only what this player replied itself."""
        scores = played.outcome.scores
        seats = {seat.player: seat.label for seat in played.fixture.seats}
        if self._player in seats and scores:
            self._scores[self._recalled].append(scores.get(seats[self._player], 0.0))
        for player, label in seats.items():
            if label in scores:
                self._form[player] = [*self._form.get(player, []), scores[label]]
        self._matches += 1
        words: set[str] = set()
        for step in played.steps:
            if step.reply.ok and (step.player == self._player or not played.fixture.secret):
                parts = _parts(_text_of(step.ask))
                words |= parts.keys()
                if scores.get(step.ask.to, 0.5) < SCORED:
                    continue
                for part in parts:
                    self._places[part].append(len(self._known))
                self._known.append(_Known(type(step.ask.expects), parts, step.reply, step.player))
        self._common.update(words)

    def _recall(self, ask: Ask) -> Reply | None:
        return self._met(ask) or self._done_before(ask)

    def _met(self, ask: Ask) -> Reply | None:
        """A value of the format from another request of this match that is not in this one."""
        if isinstance(ask.expects, Text):
            return None
        here, met = set(_WORD.findall(_text_of(ask))), dict[str, None]()
        for other, _ in self._match:
            for word in _WORD.findall(_text_of(other)):
                if word not in here and word not in met and _reads(ask, word):
                    met[word] = None
        return Reply("ok", next(iter(met)), cost_nano=1) if 0 < len(met) <= FEW else None

    def _done_before(self, ask: Ask) -> Reply | None:
        """The best reply to the task that shares most of what few tasks share."""
        parts = _parts(_text_of(ask))
        rarity = {part: log(self._matches / self._common[part]) for part in parts if part in self._common}
        rare = [part for part, rarity in rarity.items() if rarity >= RARE]

        likeness: defaultdict[int, float] = defaultdict(float)
        for part in rare:
            for place in self._places[part]:
                likeness[place] += rarity[part]
        form = {player: sum(scores) / len(scores) for player, scores in self._form.items()}
        done = [place for place in sorted(likeness) if self._known[place].form is type(ask.expects)]
        if not done:
            return None
        at = max(done, key=lambda place: (likeness[place], form.get(self._known[place].player, 0.0)))
        best = self._known[at]
        shared = [(best.parts[part], parts[part]) for part in rare if part in best.parts]
        if isinstance(ask.expects, Text) and parts != best.parts:
            return None  # prose about one case is no answer to another
        fitted = _fitted(shared, best.reply.text)
        return Reply("ok", fitted, cost_nano=1, hidden=best.reply.hidden) if _reads(ask, fitted) else None


def _text_of(ask: Ask) -> str:
    """Return what a request says, without the marks of its fences."""
    return _FENCE.sub("", "\n\n".join([text for _, text in call(ask).messages]))


def _parts(text: str) -> dict[str, str]:
    """The paragraphs of a request, each as it is and with a sign in the place of each number."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", text)]
    return {part: part for part in parts} | {_NUMBER.sub("#", part): part for part in parts}


def _fitted(shared: Iterable[tuple[str, str]], reply: str) -> str:
    """A reply to one task made one to another: numbers that differ between them are replaced in it."""
    numbers: dict[str, str] = {}
    for before, now in shared:
        for was, becomes in zip(_NUMBER.findall(before), _NUMBER.findall(now), strict=True):
            numbers.setdefault(was, becomes)
    return _NUMBER.sub(lambda number: numbers.get(number[0], number[0]), reply)


def _reads(ask: Ask, text: str) -> bool:
    try:
        ask.expects.parse(text)
    except FormatError:
        return False
    return True
