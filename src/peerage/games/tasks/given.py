"""Answers given once: what players have answered, on what they have met, and what they meet on next. Pure.

A player answers a task once (`samples: N`: up to N times), and each pair of players is compared on it as
often, each time by other answers. An answer counts however it ended, but where the provider failed: else a
player that often refuses would be asked until it does not.

**Which task a pair meets on.** Of the tasks on which something is left to compare, the one that says most for
its price. An answer that was compared u times says u / (u·v + s²) in all, where v is the variance of one
answer about its player's strength and s² that of one verdict, in squared log-odds: so the next one adds

    s² / ((u·v + s²) · ((u + 1)·v + s²))

for each of the two answers. The price are the answers still to be asked for and the judges' verdicts, in
calls. So where a check decides, all answers are compared before another is asked for. Among equals comes the
task that is first in an order drawn from the arena's secret, heavier tasks earlier. While an answer is in
flight nobody else meets its player on that task.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import msgspec

from peerage.game import Ask, GameTable, Reply, Steps, Voided
from peerage.game.match import ANSWERS, GivenAnswer
from peerage.game.section import cost
from peerage.game.spec import DrawnMatch
from peerage.games.tasks.judges import CONTROL, Controls
from peerage.games.tasks.rules import TasksRules
from peerage.games.tasks.task import messages_of

COMPARED = "compared"
"""The key, next to `ANSWERS`, of what a match compared, if it did."""
ANSWER_VARIANCE, VERDICT_VARIANCE = 1.0, 4.0
"""v and s², in squared log-odds."""


def given_or_asked(table: GameTable, asks: Sequence[Ask]) -> Steps[list[Reply]]:
    """Return the replies to `asks`, one to each contestant; those given before are not asked for. Raises
    Voided for an answer to something else, which no honest issuer gives."""
    for seat in table.seats:
        given = table.given.get(seat.label)
        if given is not None and given.request != request_of(table.rules, table.drawn, seat.player):
            raise Voided("other_request")
    replies: list[Reply] = yield [ask for ask in asks if ask.to not in table.given]
    asked = iter(replies)
    return [_reply(table.given[ask.to], ask) if ask.to in table.given else next(asked) for ask in asks]


def _reply(given: GivenAnswer, ask: Ask) -> Reply:
    value = ask.expects.parse(given.text) if given.status == "ok" else None
    return Reply(given.status, given.text, value, given.reason, hidden=given.hidden)


def facts(table: GameTable, answers: Mapping[str, Reply], *, compared: bool) -> tuple[dict[str, Any], ...]:
    """Return what later matches may use of this one: its new answers by player, and what it `compared`, where
    checks or judges did, even if these could not decide."""
    rules: TasksRules = table.rules
    if rules.samples == "fresh":
        return ()
    new = {
        seat.player: {
            "request": request_of(rules, table.drawn, seat.player),
            "key": reply.key,
            "status": reply.status,
            "reason": reply.reason,
            "cost": cost(reply, rules.cost_unit),
        }
        for seat in table.seats
        if seat.label not in table.given and (reply := answers[seat.label]).status != "void"
    }
    return ({ANSWERS: new, COMPARED: compared_of(rules, table.drawn) if compared else ""},)


def request_of(rules: TasksRules, drawn: Mapping[str, Any], player: str) -> str:
    """Return a digest of all that a player is asked: an answer to anything else is another one."""
    messages = messages_of(drawn, rules.templates.get(player, ""))
    turns = [(message.speaker, *message.fill.values()) for message in messages]
    return _digest([turns, rules.answer_schema, rules.max_tokens, rules.temperature])


def compared_of(rules: TasksRules, drawn: Mapping[str, Any]) -> str:
    """Return a digest of what is compared and how: where any of it is changed, the same answers may be
    compared again. The id of a task is not in it: in a list without ids it is a place, which may move."""
    judging = rules.judging.model_dump(mode="json", exclude={"controls"})
    shown = [drawn.get(key) for key in ("rubric", "expected")]
    return _digest([rules.digest(drawn), shown, judging, rules.then])


def question_of(drawn: Mapping[str, Any]) -> str:
    """Return a digest of what contestants are asked, whatever the id of the task."""
    return _digest([drawn.get(key) for key in ("messages", "vars")])


def _digest(parts: Any) -> str:
    return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:24]


class _Comparison(NamedTuple):
    """A task to compare players on: what is drawn, the digests of what is compared and of what is asked, and
    a verdict's price."""

    drawn: Mapping[str, Any]
    compared: str
    question: str
    verdict: float = 0.0


class _InFlight(NamedTuple):
    """An issued match of which nothing is learnt yet: its pair, what it compares, and the answers that it
    asks for, by player and request."""

    pair: tuple[str, ...]
    compared: str
    asked: tuple[tuple[str, str], ...]


class TaskAnswers:
    """A memory of what players have answered, and of who judged `controls`; implements
    `game.spec.MeetingMemory`. `verdict` is the price of judging a match on each task, in calls."""

    def __init__(self, rules: TasksRules, controls: Controls, verdict: Mapping[str, float]) -> None:
        self._rules = rules
        self._controls = controls
        self._samples = rules.samples if isinstance(rules.samples, int) else 1
        self._tasks: dict[str, _Comparison] = {}
        for task in rules.tasks:
            drawn = task.drawn()
            self._tasks[task.id] = _Comparison(
                drawn, compared_of(rules, drawn), question_of(drawn), verdict[task.id]
            )
        self._now = {task.compared for task in self._tasks.values()}
        self._order: list[_Comparison] = []
        self._requests: dict[tuple[str, str], str] = {}
        self._given: defaultdict[tuple[str, str], list[GivenAnswer]] = defaultdict(list)
        self._compared: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._met: Counter[tuple[str, ...]] = Counter()
        self._uses: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, int] = {}
        self.in_flight: dict[int, _InFlight] = {}

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Nothing is amended."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw of a match that is not drawn for those who meet."""
        return self._controls.draw(secret, number, sealing)

    def issued(self, match: int, players: Sequence[str], drawn: DrawnMatch) -> None:
        plain = {key: value for key, value in drawn.drawn.items() if key != CONTROL}
        task = self._tasks.get(plain.get("task", ""))
        if task is None or task.drawn != plain:  # as it was when the match was issued
            task = _Comparison(plain, compared_of(self._rules, plain), question_of(plain))
        asked = [(player, self._request(task, player)) for player in players if player not in drawn.given]
        self.in_flight[match] = _InFlight(tuple(sorted(players)), task.compared, tuple(asked))
        self._first.setdefault(task.question, drawn.shares or match)

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the new answers of a match, and what it compared; without facts there was no result."""
        self._controls.learn(match, facts)
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
                self._met[flying.pair] += compared in self._now
                self._uses.update([(player, compared) for player in flying.pair])

    def presume(self, match: int) -> None:
        flying = self.in_flight[match]
        new: dict[str, Any] = {"key": "", "status": "ok", "reason": "", "cost": None}
        answers = {player: {**new, "request": request} for player, request in flying.asked}
        self.learn(match, [{ANSWERS: answers, COMPARED: flying.compared}])

    def met(self, match: int, players: Sequence[str]) -> Mapping[str, frozenset[str]]:
        for number in [number for number in self.in_flight if number >= match]:
            del self.in_flight[number]
        self._first = {question: first for question, first in self._first.items() if first < match}
        flying = Counter([other.pair for other in self.in_flight.values() if other.compared in self._now])
        most = self._samples * len(self._now)

        def over(a: str, b: str) -> bool:
            pair = (a, b) if a < b else (b, a)
            return a != b and self._met[pair] + flying[pair] >= most

        return {name: frozenset([other for other in players if over(name, other)]) for name in players}

    def left(self, players: Sequence[str]) -> int:
        """Return how many comparisons are left to pairs of these."""
        most = self._samples * len(self._now)
        return sum(max(0, most - self._met[pair]) for pair in combinations(sorted(players), 2))

    def meet(self, secret: str, match: int, players: Sequence[str]) -> DrawnMatch | None:
        pair, flying = tuple(sorted(players)), self.in_flight.values()
        asked = {answer for other in flying for answer in other.asked}
        met = Counter([other.compared for other in flying if other.pair == pair])
        best: tuple[float, _Comparison, dict[str, GivenAnswer]] | None = None
        new = False
        for task in self._in_order(secret):
            if task.question not in self._first:
                if new:  # all that nobody has met on say the same, and the first of them comes first
                    continue
                new = True
            times = self._compared[pair, task.compared] + met[task.compared]
            if times >= self._samples:
                continue
            requests = [(player, self._request(task, player)) for player in pair]
            given = {
                player: own[times]
                for player, request in requests
                if len(own := self._given.get((player, request), ())) > times
            }
            if any(player not in given and (player, request) in asked for player, request in requests):
                continue
            says = sum(_adds(self._uses[player, task.compared] if player in given else 0) for player in pair)
            worth = says / (task.verdict + len(pair) - len(given) + 1e-9)
            if best is None or worth > best[0]:
                best = worth, task, given
        if best is None:
            return None
        _, task, given = best
        shares = self._first.get(task.question, match)
        drawn = DrawnMatch(self._controls.marked(task.drawn), given, shares)
        self.issued(match, players, drawn)
        return drawn

    def _request(self, task: _Comparison, player: str) -> str:
        at = player if player in self._rules.templates else "", task.compared
        if at not in self._requests:
            self._requests[at] = request_of(self._rules, task.drawn, player)
        return self._requests[at]

    def _in_order(self, secret: str) -> Sequence[_Comparison]:
        """Return the tasks in the order in which they come up: of two, one of twice the weight is twice as
        likely to be the first."""
        if not self._order:
            early = {
                task.id: Random(f"{secret}/order/{task.id}").random() ** (1 / task.weight)
                for task in self._rules.tasks
            }
            self._order = [self._tasks[name] for name in sorted(early, key=early.__getitem__, reverse=True)]
        return self._order


def _adds(uses: int) -> float:
    """Return what one more comparison adds to what an answer says that was compared so often."""
    before, after = (times * ANSWER_VARIANCE + VERDICT_VARIANCE for times in (uses, uses + 1))
    return VERDICT_VARIANCE / (before * after)
