"""Drafted challenges that several players answer: who meets on which. Pure.

A challenge is drafted in one match; later matches compare others by it, each player's answer given once,
until `players_per_challenge` have answered it. Whether a pair meets on one that is there or has one drafted
follows from what either says for its price (`games.given`). All matches on one challenge are one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from peerage.challenges.drafting import needed_share
from peerage.game.match import ANSWERS, GameTable
from peerage.game.spec import DrawnMatch
from peerage.games.duel.prompts import judging, kind_of
from peerage.games.duel.rules import DuelRules
from peerage.games.given import ComparedTask, GivenAnswers, digest
from peerage.values.sealing import by_turns

CHALLENGE = "challenge"
"""The key of what is drawn, and of the fact: the texts of a challenge by stage."""
AUTHORS = "authors"
"""The key of the fact that says who, outside of the match, drafted a challenge and may not answer it."""
DRAFTERS = ("author", "committee")
"""The roles without work where a challenge is there."""
_OPEN = 100
"""Challenges, the newest, on which players may meet."""


def draw(rules: DuelRules, seed: str, number: int) -> dict[str, Any]:
    """The topic of match `number`. Stratified: every block of as many matches as there are topics holds each
    of them once, in an order drawn for the block from the arena's `seed`."""
    (place,) = by_turns(f"{seed}/draw", number, len(rules.topics))
    return {"topic": rules.topics[place]}


def authors_of(table: GameTable) -> list[str]:
    """Return those who drafted the challenge of a match and were not asked it there."""
    return sorted({seat.player for seat in table.officials["author"]} - {seat.player for seat in table.seats})


def request_of(rules: DuelRules, texts: Mapping[str, str]) -> str:
    """Return a digest of all that contestants are asked about a challenge, and of how they are judged."""
    kind = kind_of(rules)
    words = [kind.answer.system, kind.answer.user, judging(kind.judge, rules.panel())]
    judged = rules.judging.model_dump(mode="json"), kind.judge
    return digest([texts, words, judged, rules.max_tokens, rules.temperature])


class SharedChallenges:
    """A memory of drafted challenges and of who answered them; implements `game.spec.MeetingMemory`."""

    def __init__(self, rules: DuelRules) -> None:
        self._rules = rules
        self._answers = GivenAnswers(lambda task, player: task.compared)
        self.in_flight = self._answers.in_flight
        self._open: dict[int, ComparedTask] = {}
        self._authors: dict[int, frozenset[str]] = {}
        self._drawn: dict[int, DrawnMatch] = {}
        self._answered: dict[str, set[str]] = {}
        self._verdict = sum([usual for _, usual in rules.panel().calls(rules.judges)])
        votes = needed_share(rules.committee, rules.approval) if rules.early_stop else 1.0
        self._drafting = len(kind_of(rules).stages) + votes * rules.committee

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Nothing is amended."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw of a match that is not drawn for those who meet."""
        return draw(self._rules, secret, number)

    def issued(self, match: int, players: Sequence[str], drawn: DrawnMatch) -> None:
        self._drawn[match] = drawn
        self._answers.issued(match, players, drawn, self._comparison(drawn.drawn, drawn.shares or match))

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the challenge that was drafted, new answers and what was compared."""
        drawn = self._drawn.pop(match, None)
        for fact in facts:
            for player, new in fact.get(ANSWERS, {}).items():
                self._answered.setdefault(new["request"], set()).add(player)
            if (texts := fact.get(CHALLENGE)) and drawn is not None:
                self._open[match] = self._comparison({**drawn.drawn, CHALLENGE: texts}, match)
                self._authors[match] = frozenset(fact.get(AUTHORS, ()))
                if len(self._open) > _OPEN:
                    oldest = next(iter(self._open))
                    del self._open[oldest], self._authors[oldest]
        self._answers.learn(match, facts)

    def presume(self, match: int) -> None:
        """Take an issued match as decided, and its challenge as drafted, with empty texts."""
        fact = self._answers.presumed(match)
        if CHALLENGE not in self._drawn[match].drawn:
            texts = {stage.name: f"{match}" for stage in kind_of(self._rules).stages}
            request = request_of(self._rules, texts)
            answers = {player: {**new, "request": request} for player, new in fact[ANSWERS].items()}
            fact = {ANSWERS: answers, "compared": request, CHALLENGE: texts}
        self.learn(match, [fact])

    def met(self, match: int, players: Sequence[str]) -> Mapping[str, frozenset[str]]:
        self._answers.forget(match)
        return dict.fromkeys(players, frozenset[str]())

    def left(self, players: Sequence[str]) -> None:
        """Return None: there is always another challenge to draft."""

    def meet(self, secret: str, match: int, players: Sequence[str]) -> DrawnMatch | None:
        asked: dict[str, set[str]] = {}
        for other in self.in_flight.values():
            for player, request in other.asked:
                asked.setdefault(request, set()).add(player)
        most = self._rules.players_per_challenge
        tasks = [
            task
            for first, task in self._open.items()
            if self._authors[first].isdisjoint(players)
            and len({*self._answered.get(task.compared, ()), *asked.get(task.compared, ()), *players}) <= most
        ]
        new = self._comparison(draw(self._rules, secret, match), match)
        drawn = self._answers.meet(match, players, [*tasks, new])
        if drawn is not None:
            without = DRAFTERS if CHALLENGE in drawn.drawn else ()
            self._drawn[match] = drawn = drawn._replace(without=without)
        return drawn

    def _comparison(self, drawn: Mapping[str, Any], first: int) -> ComparedTask:
        """The challenge that two players are compared by, drafted, or to be drafted, in match `first`."""
        if texts := drawn.get(CHALLENGE):
            return ComparedTask(drawn, request_of(self._rules, texts), f"{first}", self._verdict)
        return ComparedTask(drawn, f"in {first}", f"{first}", self._verdict + self._drafting)
