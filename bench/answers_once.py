"""Answers given once, in simulated arenas: what they save, and whether what is said of them holds.

Each player has a strength, does some tasks better than others, and gives answers that vary. `coverage`: each
of T tasks is answered once and all pairs are compared on it; printed are how often 95% intervals of ratings
hold the truth about tasks like these, how often the best is right where its chance is 85% or more next to
what was said, and the same of pairs; `alone` takes each match as new evidence. `dollars`: arenas are paired
as a run pairs them, by the `adaptive` policy and the game's own memory, until somebody is the best with 90%;
with fresh answers that may take up to 1,000 matches. An answer costs 1 or 3, a judged match 2.2 (as many
calls of a small panel), a check nothing. `tables`: the same where challenges are drafted, each answered by
two or by more; a draft with its votes costs 2.3, as in the demo.

Usage: python -m bench.answers_once coverage [--arenas 100] | dollars [--arenas 20] [--tasks 60] | tables
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from peerage.game.match import Fixture
from peerage.game.spec import MeetingMemory
from peerage.games.duel.play import GAME as DUEL
from peerage.games.duel.shared import CHALLENGE, SharedChallenges
from peerage.games.tasks.answers import TaskAnswers
from peerage.games.tasks.judges import Controls
from peerage.games.tasks.play import GAME
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.scheduling.fixtures import Scheduler, next_round, remember
from peerage.scheduling.goal import Decided
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import EndedMatch, History, Results, Standing

SURE = 0.9
MOST = 1_000
VERDICT, DRAFTING = 2.2, 2.3
LAG = 8
PLENTY = 20_000
"""Tasks from which the true ratings are computed."""


class World:
    """Players and their answers to some tasks: credits by a check (0 or 1), or qualities that a judge
    compares. Each task is as hard for all, and suits each player differently."""

    def __init__(self, rng: np.random.Generator, strength: np.ndarray, tasks: int, *, checks: bool) -> None:
        self.checks, self.strength, self._rng = checks, strength, rng
        self._apart = rng.normal(0, 0.5, (len(strength), tasks)) + strength[:, None] * (2 if checks else 1.5)
        self._hard = rng.normal(0, 1, tasks)

    def answers(self) -> np.ndarray:
        """Return a new answer of each player to each task, shape (players, tasks)."""
        if self.checks:
            chance = 1 / (1 + np.exp(self._hard - self._apart))
            return (self._rng.random(chance.shape) < chance) * 1.0
        return self._apart + self._rng.normal(0, 0.7, self._apart.shape)

    def scores(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the first one's score, answer by answer; judges of a match err alike."""
        if self.checks:
            return 0.5 + (first - second) / 2
        lead = first - second + self._rng.logistic(0, 0.6, np.shape(first))
        votes = sum((lead + self._rng.logistic(0, 0.6, np.shape(first)) > 0) * 1.0 for _ in range(3))
        return (votes >= 2) * 1.0


def compared(world: World) -> tuple[Any, np.ndarray]:
    """Return all pairs on all tasks as duels, and the task of each."""
    answers = world.answers()
    tasks = answers.shape[1]
    pairs = [*combinations(range(len(answers)), 2)]
    scores = [world.scores(answers[a], answers[b]) for a, b in pairs]
    first, second = (np.repeat([pair[side] for pair in pairs], tasks) for side in (0, 1))
    made = duels(len(answers), first, second, np.concatenate(scores))
    return made, np.tile(np.arange(tasks), len(pairs))


def coverage(arenas: int) -> None:
    for checks in (True, False):
        for players in (4, 8):
            for tasks in (10, 30, 100):
                seen: dict[str, list[tuple[float, bool]]] = {"by task": [], "alone": []}
                held: dict[str, list[float]] = {"by task": [], "alone": []}
                best: dict[str, list[tuple[float, bool]]] = {"by task": [], "alone": []}
                for arena in range(arenas):
                    rng = np.random.default_rng([arena, players, tasks])
                    strength = rng.normal(0, 0.5, players)
                    plenty = World(rng, strength, PLENTY, checks=checks)
                    truth = strengths(of_duels(compared(plenty)[0]), seed=1).rating
                    made, task = compared(World(rng, strength, tasks, checks=checks))
                    for name, cluster in (("by task", task), ("alone", None)):
                        found = strengths(of_duels(made, cluster), seed=1)
                        held[name].append(float(((found.lower <= truth) & (truth <= found.upper)).mean()))
                        top = int(found.best.argmax())
                        if found.best[top] >= 0.85:
                            best[name].append((float(found.best[top]), top == int(truth.argmax())))
                        for a, b in combinations(range(players), 2):
                            chance = max(found.better[a, b], found.better[b, a])
                            if 0.85 <= chance <= 0.97:
                                said = (found.better[a, b] > 0.5) == (truth[a] > truth[b])
                                seen[name].append((float(chance), bool(said)))
                for name in held:
                    says, right = (np.mean([row[at] for row in best[name]] or [np.nan]) for at in (0, 1))
                    pair, true = (np.mean([row[at] for row in seen[name]] or [np.nan]) for at in (0, 1))
                    print(
                        f"{'checks' if checks else 'judges'}, {players} players, {tasks} tasks, {name}: "
                        f"intervals hold in {np.mean(held[name]):.1%}; best {says:.1%}, right {right:.1%} "
                        f"({len(best[name])}); pairs said {pair:.1%}, right {true:.1%} ({len(seen[name])})",
                        flush=True,
                    )


class Spent(NamedTuple):
    """One arena until somebody is the best with 90%: dollars, of `answers` too where these have a price,
    matches, and whether that is `reached` and `right`."""

    dollars: float
    answers: int
    matches: int
    reached: bool
    right: bool


def until_sure(seed: int, players: int, tasks: int, answer: float, *, checks: bool, once: bool) -> Spent:
    rng = np.random.default_rng([seed, players])
    strength = rng.normal(0, 0.5, players)
    world = World(rng, strength, tasks, checks=checks)
    listed = [{"prompt": f"task {task}"} | ({"expected": "x"} if checks else {}) for task in range(tasks)]
    rules = GAME.rules.model_validate({"tasks": listed, "samples": 1 if once else "fresh"})
    verdict = 0.0 if checks else VERDICT
    prices = dict.fromkeys([task.id for task in rules.tasks], verdict / answer)
    memory = TaskAnswers(rules, Controls(0, lambda secret, number: {}), prices) if once else None
    scheduler = Scheduler(spec=GAME, rules=rules, secret=f"{seed}", policy=Policy(name="adaptive"))
    once_given = world.answers()

    def answered(fixture: Fixture) -> np.ndarray:
        return (once_given if once else world.answers())[:, int(fixture.drawn["task"]) - 1]

    return played(scheduler, memory, world, answered, lambda fixture: verdict, answer)


def drafted_until_sure(seed: int, players: int, most: int) -> Spent:
    """The same of challenges that are drafted and answered by up to `most`; 2: each by those who meet."""
    rng = np.random.default_rng([seed, players])
    world = World(rng, rng.normal(0, 0.5, players), MOST + players, checks=False)
    rules = DUEL.rules.model_validate({"players_per_challenge": most})
    memory = SharedChallenges(rules) if most > 2 else None
    scheduler = Scheduler(spec=DUEL, rules=rules, secret=f"{seed}", policy=Policy(name="adaptive"))
    each = world.answers()
    return played(
        scheduler,
        memory,
        world,
        lambda fixture: each[:, fixture.shares or fixture.number],
        lambda fixture: VERDICT + DRAFTING * (CHALLENGE not in fixture.drawn),
    )


def played(
    scheduler: Scheduler,
    memory: MeetingMemory | None,
    world: World,
    answered: Callable[[Fixture], np.ndarray],
    price: Callable[[Fixture], float],
    answer: float = 0.0,
) -> Spent:
    """Play until somebody is the best with 90%. `answered` is everybody's answer in a match, `price` what it
    costs but for answers. What a match learnt is known LAG matches later."""
    names = [f"p{player}" for player in range(len(world.strength))]
    standings = [Standing(name, name, 1500.0, 1500.0) for name in names]
    judge = [Standing("judge", "judge", 1500.0, 1500.0)]
    history, results, decided = History(), Results(), Decided(names)
    dollars, answers, number, look, waiting = 0.0, 0, 1, max(6, len(names)), deque[int]()
    best, best_now, chance = int(world.strength.argmax()), 0, 0.0
    while number < MOST and chance < SURE:
        fixtures = next_round(
            scheduler, standings, history, number=number, round=number, snapshot=0,
            results=results, judges=judge, memory=memory,
        )  # fmt: skip
        if not fixtures and not waiting:
            break
        remember(history, fixtures)
        for fixture in fixtures:
            those = answered(fixture)
            own = [those[int(seat.player[1:])] for seat in fixture.seats]
            answers += 2 - len(fixture.given)
            dollars += answer * (2 - len(fixture.given)) + price(fixture)
            score = float(world.scores(np.array(own[0]), np.array(own[1])))
            seated = tuple([seat.player for seat in fixture.seats])
            decided.note(EndedMatch("", seated, (score, 1 - score), fixture.shares))
            results.note(seated, (score, 1 - score))
            waiting.append(fixture.number)
        while memory is not None and waiting and (len(waiting) > LAG or not fixtures):
            memory.presume(waiting.popleft())
        number = fixtures[-1].number + 1 if fixtures else number
        if number >= look:
            look = int(number * 1.15) + 2
            found = strengths(decided.evidence(), seed=1).best
            best_now, chance = int(found.argmax()), float(found.max())
    return Spent(dollars, answers, number - 1, chance >= SURE, best_now == best)


def dollars(arenas: int, tasks: int) -> None:
    for players in (2, 4, 8):
        for checks, answer in ((True, 1.0), (False, 1.0), (False, 3.0)):
            what = "checks" if checks else f"judges, answers at {answer:g}"
            for once in (False, True):
                each = [
                    until_sure(seed, players, tasks, answer, checks=checks, once=once)
                    for seed in range(arenas)
                ]
                _spent(f"{players} players, {what}, {'once ' if once else 'fresh'}", each)


def tables(arenas: int) -> None:
    for players in (4, 8):
        two: list[Spent] = []
        for most in sorted({2, 4, players}):
            each = [drafted_until_sure(seed, players, most) for seed in range(arenas)]
            two = two or each
            for answer in (1.0, 3.0):
                priced = [arena._replace(dollars=arena.dollars + answer * arena.answers) for arena in each]
                _spent(f"{players} players, drafted, answers at {answer:g}, {most} a challenge", priced)
                ratios = [
                    np.log(own.dollars / (other.dollars + answer * other.answers))
                    for own, other in zip(priced, two, strict=True)
                    if own.reached and other.reached
                ]
                print(f"  dollars over those of two: {np.exp(np.mean(ratios)):.2f} ({len(ratios)} arenas)")


def _spent(what: str, each: Sequence[Spent]) -> None:
    sure = [arena for arena in each if arena.reached]
    dollars, matches = ([arena[at] for arena in each] for at in (0, 2))
    print(
        f"{what}: dollars, median {np.median(dollars):.0f}, mean {np.mean(dollars):.0f}, geometric mean "
        f"{np.exp(np.mean(np.log(dollars))):.0f}; matches, median {np.median(matches):.0f}; sure {len(sure)} "
        f"of {len(each)}, right {np.mean([arena.right for arena in sure] or [np.nan]):.0%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("coverage", "dollars", "tables"))
    parser.add_argument("--arenas", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=60)
    stated = parser.parse_args()
    if stated.what == "coverage":
        coverage(stated.arenas)
    elif stated.what == "tables":
        tables(stated.arenas)
    else:
        dollars(stated.arenas, stated.tasks)


if __name__ == "__main__":
    main()
