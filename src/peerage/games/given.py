"""Answers given once: what players have answered, on what they have met, and what they meet on next. Pure.

A player answers a task once (`samples: N`: up to N times), and each pair of players is compared on it as
often, each time by other answers. An answer counts however it ended, but where the provider failed: else a
player that often refuses would be asked until it does not.

**Which task a pair meets on.** Of the tasks on which something is left to compare, the one that says most for
its price. An answer that was compared u times says u / (u·v + s²) in all, where v is the variance of one
answer about its player's strength and s² that of one verdict, in squared log-odds: so the next one adds

    s² / ((u·v + s²) · ((u + 1)·v + s²))

for each of the two answers. The price are the answers still to be asked for, the judges' verdicts, and what
a new task takes, in calls. So where a check decides, all answers are compared before another is asked for.
Among equals the first comes first. While an answer is in flight nobody else meets its player on that task.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from peerage.game import Ask, GameTable, Outcome, Reply, Steps, Voided
from peerage.game.match import ANSWERS, GivenAnswer
from peerage.game.section import cost
from peerage.game.spec import DrawnMatch

COMPARED = "compared"
"""The key, next to `ANSWERS`, of what a match compared, if it did."""
ANSWER_VARIANCE, VERDICT_VARIANCE = 1.0, 4.0
"""v and s², in squared log-odds."""


def given_or_asked(
    table: GameTable, asks: Sequence[Ask], requests: Mapping[str, str]
) -> Steps[dict[str, Reply]]:
    """Return the replies to `asks`, one to each contestant, by label; those given before are not asked for.
    `requests` are digests of all that each player is asked. Raises Voided for an answer to something else,
    which no honest issuer gives."""
    for seat in table.seats:
        given = table.given.get(seat.label)
        if given is not None and given.request != requests[seat.player]:
            raise Voided("other_request")
    replies: list[Reply] = yield [ask for ask in asks if ask.to not in table.given]
    asked = iter(replies)
    return {
        ask.to: _reply(table.given[ask.to], ask) if ask.to in table.given else next(asked) for ask in asks
    }


def _reply(given: GivenAnswer, ask: Ask) -> Reply:
    value = ask.expects.parse(given.text) if given.status == "ok" else None
    return Reply(given.status, given.text, value, given.reason, hidden=given.hidden)


def facts(
    table: GameTable, answers: Mapping[str, Reply], requests: Mapping[str, str], compared: str
) -> dict[str, Any]:
    """Return what later matches may use of this one: its new answers by player, and what it `compared`, where
    checks or judges did, even if these could not decide."""
    new = {
        seat.player: {
            "request": requests[seat.player],
            "key": reply.key,
            "status": reply.status,
            "reason": reply.reason,
            "cost": cost(reply, table.rules.cost_unit),
        }
        for seat in table.seats
        if seat.label not in table.given and (reply := answers[seat.label]).status != "void"
    }
    return {ANSWERS: new, COMPARED: compared}


def settled(outcome: Outcome) -> bool:
    """Return whether the same answers need not be compared again: there is a result, or all who judge have
    said what they can say. Of those whose provider failed another try may bring more."""
    tried = [
        verdict for ballot in outcome.detail.get("ballots", ()) for verdict in ballot["verdicts"].values()
    ]
    return not outcome.void or (outcome.void == "inconclusive" and "void" not in tried)


def digest(parts: Any) -> str:
    """Return a digest of what is asked or compared."""
    return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:24]


class ComparedTask(NamedTuple):
    """A task to compare players on: what is drawn, digests, and its price without answers, in calls."""

    drawn: Mapping[str, Any]
    compared: str
    question: str
    price: float = 0.0


class ComparisonInFlight(NamedTuple):
    """An issued match of which nothing is learnt yet: its pair, what it compares, and the answers that it
    asks for, by player and request."""

    pair: tuple[str, ...]
    compared: str
    asked: tuple[tuple[str, str], ...]


class GivenAnswers:
    """All answers of players, and what was compared, by the digests of `request`, which holds all that a
    player is asked. Each player answers a task `samples` times. `met` counts how often each pair was compared
    by what is compared `now`."""

    def __init__(
        self, request: Callable[[ComparedTask, str], str], samples: int = 1, now: Container[str] = ()
    ) -> None:
        self.request, self.samples, self._now = request, samples, now
        self.met: Counter[tuple[str, ...]] = Counter()
        self.in_flight: dict[int, ComparisonInFlight] = {}
        self._given: defaultdict[tuple[str, str], list[GivenAnswer]] = defaultdict(list)
        self._compared: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._uses: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, int] = {}

    def issued(self, match: int, players: Sequence[str], drawn: DrawnMatch, task: ComparedTask) -> None:
        """Take in an issued match on a task."""
        asked = tuple(
            [(player, self.request(task, player)) for player in players if player not in drawn.given]
        )
        self.in_flight[match] = ComparisonInFlight(tuple(sorted(players)), task.compared, asked)
        self._first.setdefault(task.question, drawn.shares or match)

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the new answers of a match, and what it compared; without facts there was no result."""
        flying = self.in_flight.pop(match, None)
        for fact in facts:
            for player, new in fact.get(ANSWERS, {}).items():
                answer = GivenAnswer(
                    match=match,
                    key=new["key"],
                    status=new["status"],
                    text="",
                    reason=new["reason"],
                    cost=new["cost"],
                    request=new["request"],
                )
                self._given[player, new["request"]].append(answer)
            if flying is not None and (compared := fact.get(COMPARED)):
                self._compared[flying.pair, compared] += 1
                self.met[flying.pair] += compared in self._now
                self._uses.update([(player, compared) for player in flying.pair])

    def presumed(self, match: int) -> dict[str, Any]:
        """Return the fact of an issued match that is taken as decided, with all its answers."""
        flying = self.in_flight[match]
        new: dict[str, Any] = {"key": "", "status": "ok", "reason": "", "cost": None}
        answers = {player: {**new, "request": request} for player, request in flying.asked}
        return {ANSWERS: answers, COMPARED: flying.compared}

    def forget(self, match: int) -> None:
        """Forget what was drawn and not issued: all from `match` on."""
        for number in [number for number in self.in_flight if number >= match]:
            del self.in_flight[number]
        self._first = {question: first for question, first in self._first.items() if first < match}

    def meeting(self) -> Counter[tuple[str, ...]]:
        """Return how often each pair is being compared by what is compared now."""
        return Counter([other.pair for other in self.in_flight.values() if other.compared in self._now])

    def meet(self, match: int, players: Sequence[str], tasks: Iterable[ComparedTask]) -> DrawnMatch | None:
        """Draw that one of the `tasks` for a pair that says most for its price, as issued; None for none."""
        pair, flying = tuple(sorted(players)), self.in_flight.values()
        asked = {answer for other in flying for answer in other.asked}
        met = Counter([other.compared for other in flying if other.pair == pair])
        best: tuple[float, ComparedTask, dict[str, GivenAnswer]] | None = None
        new = False
        for task in tasks:
            if task.question not in self._first:
                if new:  # all that nobody has met on say the same, and the first of them comes first
                    continue
                new = True
            times = self._compared[pair, task.compared] + met[task.compared]
            if times >= self.samples:
                continue
            requests = [(player, self.request(task, player)) for player in pair]
            given = {
                player: own[times]
                for player, request in requests
                if len(own := self._given.get((player, request), ())) > times
            }
            if any(player not in given and (player, request) in asked for player, request in requests):
                continue
            says = sum(_adds(self._uses[player, task.compared] if player in given else 0) for player in pair)
            worth = says / (task.price + len(pair) - len(given) + 1e-9)
            if best is None or worth > best[0]:
                best = worth, task, given
        if best is None:
            return None
        _, task, given = best
        drawn = DrawnMatch(task.drawn, given, self._first.get(task.question, match))
        self.issued(match, players, drawn, task)
        return drawn


def _adds(uses: int) -> float:
    """Return what one more comparison adds to what an answer says that was compared so often."""
    before, after = (times * ANSWER_VARIANCE + VERDICT_VARIANCE for times in (uses, uses + 1))
    return VERDICT_VARIANCE / (before * after)
