"""The memory of the arena's own tasks: which of them a pair meets on next. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

from peerage.game.spec import DrawnMatch
from peerage.games.given import ComparedTask, GivenAnswers, digest
from peerage.games.tasks.judges import CONTROL, Controls
from peerage.games.tasks.rules import TasksRules
from peerage.games.tasks.task import messages_of


def request_of(rules: TasksRules, drawn: Mapping[str, Any], player: str) -> str:
    """Return a digest of all that a player is asked: an answer to anything else is another one."""
    messages = messages_of(drawn, rules.templates.get(player, ""))
    turns = [(message.speaker, *message.fill.values()) for message in messages]
    return digest([turns, rules.answer_schema, rules.max_tokens, rules.temperature])


def compared_of(rules: TasksRules, drawn: Mapping[str, Any]) -> str:
    """Return a digest of what is compared and how: where any of it is changed, the same answers may be
    compared again. The id of a task is not in it: in a list without ids it is a place, which may move."""
    judging = rules.judging.model_dump(mode="json", exclude={"controls"})
    shown = [drawn.get(key) for key in ("rubric", "expected")]
    return digest([rules.digest(drawn), shown, judging, rules.then])


def _comparison(rules: TasksRules, drawn: Mapping[str, Any], price: float = 0.0) -> ComparedTask:
    """A task to compare players on; the question is what they are asked, whatever its id."""
    question = digest([drawn.get(key) for key in ("messages", "vars")])
    return ComparedTask(drawn, compared_of(rules, drawn), question, price)


class TaskAnswers:
    """A memory of what players have answered, and of who judged `controls`; implements
    `game.spec.MeetingMemory`. `verdict` is the price of judging a match on each task, in calls. Tasks come up
    in an order drawn from the arena's secret, heavier ones earlier."""

    def __init__(self, rules: TasksRules, controls: Controls, verdict: Mapping[str, float]) -> None:
        self._rules = rules
        self._controls = controls
        self._tasks = {task.id: _comparison(rules, task.drawn(), verdict[task.id]) for task in rules.tasks}
        now, samples = {task.compared for task in self._tasks.values()}, rules.samples
        self._answers = GivenAnswers(self._request, samples if isinstance(samples, int) else 1, now)
        self._most = self._answers.samples * len(now)
        self.in_flight = self._answers.in_flight
        self._order: list[ComparedTask] = []
        self._requests: dict[tuple[str, str], str] = {}

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Nothing is amended."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw of a match that is not drawn for those who meet."""
        return self._controls.draw(secret, number, sealing)

    def issued(self, match: int, players: Sequence[str], drawn: DrawnMatch) -> None:
        plain = {key: value for key, value in drawn.drawn.items() if key != CONTROL}
        task = self._tasks.get(plain.get("task", ""))
        if task is None or task.drawn != plain:  # as it was when the match was issued
            task = _comparison(self._rules, plain)
        self._answers.issued(match, players, drawn, task)

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        self._controls.learn(match, facts)
        self._answers.learn(match, facts)

    def presume(self, match: int) -> None:
        self.learn(match, [self._answers.presumed(match)])

    def met(self, match: int, players: Sequence[str]) -> Mapping[str, frozenset[str]]:
        self._answers.forget(match)
        flying, met = self._answers.meeting(), self._answers.met

        def over(a: str, b: str) -> bool:
            pair = (a, b) if a < b else (b, a)
            return a != b and met[pair] + flying[pair] >= self._most

        return {name: frozenset([other for other in players if over(name, other)]) for name in players}

    def left(self, players: Sequence[str]) -> int:
        return sum(max(0, self._most - self._answers.met[pair]) for pair in combinations(sorted(players), 2))

    def meet(self, secret: str, match: int, players: Sequence[str]) -> DrawnMatch | None:
        drawn = self._answers.meet(match, players, self._in_order(secret))
        return drawn and drawn._replace(drawn=self._controls.marked(drawn.drawn))

    def _request(self, task: ComparedTask, player: str) -> str:
        at = player if player in self._rules.templates else "", task.compared
        if at not in self._requests:
            self._requests[at] = request_of(self._rules, task.drawn, player)
        return self._requests[at]

    def _in_order(self, secret: str) -> Sequence[ComparedTask]:
        """Return the tasks in the order in which they come up: of two, one of twice the weight is twice as
        likely to be the first."""
        if not self._order:
            early = {
                task.id: Random(f"{secret}/order/{task.id}").random() ** (1 / task.weight)
                for task in self._rules.tasks
            }
            self._order = [self._tasks[name] for name in sorted(early, key=early.__getitem__, reverse=True)]
        return self._order
