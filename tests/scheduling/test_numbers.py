"""Who meets whom under every policy, and the numbers behind it, as they are in `numbers.json`: see
`tests.recorded`. An arena that a later release goes on with, or replays, is paired as before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests import recorded

from peerage.game.match import Fixture
from peerage.game.spec import RoleRequirement
from peerage.games import GAMES
from peerage.scheduling.fixtures import Scheduler, by_need, next_round, remember, tables
from peerage.scheduling.goal import Known
from peerage.scheduling.policies import Policy
from peerage.scheduling.roles import by_merit, choose, first_shortage
from peerage.scheduling.standing import EndedMatch, Goal, History, PolicyName, Results, Standing
from peerage.scheduling.strengths import fit, known
from peerage.scheduling.topics import by_topic

FILE = Path(__file__).with_name("numbers.json")

POOL = [
    Standing(
        f"p{at}",
        "fgfhhgiij"[at],
        1500.0 + 7 * (at % 4),
        1620.0 - 31 * at + 9 * (at % 3),
        27.0 - at / 3 + (at % 2),
    )
    for at in range(9)
]


class Past:
    """What is known when a round is paired: results come two rounds late, the lower number mostly wins, and
    some matches have no result."""

    def __init__(self, seed: int) -> None:
        self.history, self.results, self.rng = History(), Results(), Random(seed)
        self.waiting: list[list[tuple[tuple[str, ...], list[float]]]] = []

    def take(self, seated: Sequence[Sequence[str]]) -> None:
        ended = []
        for table in seated:
            self.history.remember(table)
            names = tuple(dict.fromkeys(table))
            scores = [round(self.rng.gauss(-0.3 * int(name[1:]), 1.0)) / 2 for name in names]
            ended.append((names, scores if self.rng.random() < 0.9 else []))
            costs = [None if name == "p4" else 0.01 * (1 + int(name[1:]) % 4) for name in names]
            self.results.paid(names, costs, 0.05 * len(names))
        self.waiting.append(ended)
        for names, scores in self.waiting.pop(0) if len(self.waiting) > 2 else []:
            self.results.note(names, scores)


def paired(policy: Policy, pool: Sequence[Standing], rounds: int = 9, **how: bool) -> Callable[[], Any]:
    def found() -> list[str]:
        past, lines = Past(5), []
        for number in range(rounds):
            pairs = policy.pair(pool, past.history, past.results, f"lot/{number}", **how)
            past.take(pairs)
            lines.append(" ".join("-".join(both) for both in pairs))
        return lines

    return found


def seated(policy: Policy, pool: Sequence[Standing], seats: int, **how: Any) -> Callable[[], Any]:
    def found() -> list[str]:
        past, lines = Past(6), []
        for number in range(6):
            made = policy.seat(pool, past.history, past.results, f"lot/{number}", seats, **how)
            past.take(made)
            lines.append(" ".join("-".join(table) for table in made))
        return lines

    return found


def told(fixture: Fixture) -> str:
    """A fixture in one line."""
    seats = " ".join(f"{seat.label}={seat.player}" for seat in fixture.seats)
    officials = "; ".join(
        f"{role}: {', '.join(seat.player for seat in who)}" for role, who in sorted(fixture.officials.items())
    )
    about = f"{fixture.topic}, series {fixture.series}"
    return f"{fixture.number}/{fixture.round}: {seats}; {officials}; {about}"


def issued(game: str, pool: Sequence[Standing], rules: Mapping[str, Any], **more: Any) -> Callable[[], Any]:
    def found() -> list[str]:
        stated = GAMES[game].rules.model_validate(rules)
        scheduler, past = Scheduler(GAMES[game], stated, "secret", **more), Past(7)
        lines = [f"{tables(GAMES[game], stated, len(pool), scheduler.series)} in a round"]
        number = 1
        for at in range(1, 5):
            made = next_round(
                scheduler, pool, past.history, number=number, round=at, snapshot=0, results=past.results
            )
            number += len(made)
            remember(past.history, made)
            for fixture in made:
                names = [seat.player for seat in fixture.seats]
                past.results.note(names, [past.rng.gauss(0, 1) for _ in names])
            lines += map(told, made)
        return lines

    return found


def turns() -> list[list[str]]:
    """Three games by weight, the last of which is new."""
    games = [
        Scheduler(GAMES[name], GAMES[name].rules(), "s", weight=weight)
        for name, weight in (("duel", 1.0), ("trivia", 2.5), ("werewolf", 0.5))
    ]
    histories = {one.spec.name: History() for one in games[:-1]}
    found = []
    for _ in range(14):
        names = [one.spec.name for one in by_need(games, histories)]
        histories.setdefault(names[0], History()).remember(["a", "b"])
        found.append(names)
    return found


BENCHES = (
    RoleRequirement("judge", 3, 2),
    RoleRequirement("committee", 3, 1, same_family=False),
    RoleRequirement("author", 2, 1, "top_quarter"),
)


def served() -> list[Any]:
    rng, found = Random(3), list[Any]()
    for at in range(12):
        pool = rng.sample(POOL, rng.randint(3, 9))
        merit = by_merit(pool, rng)
        two = [one.player for one in sorted(pool)[:2]]
        benches = (BENCHES, BENCHES[:2], (RoleRequirement("author", 2, 1, "contestants"), *BENCHES[:2]))[
            at % 3
        ]
        chosen = choose(benches, two, merit, f"s{at}")
        found.append(chosen if isinstance(chosen, Mapping) else str(chosen))
        shortage = first_shortage(benches, merit)
        found.append(shortage and str(shortage))
    return found


def on_topics() -> list[Any]:
    rng, found = Random(4), []
    for _ in range(6):
        history = History()
        for _ in range(40):
            history.remember(rng.sample("abcdefgh", 2), rng.choice("xyz"))
        tables_of = [tuple(rng.sample("abcdefgh", 2)) for _ in range(7)]
        topics = [rng.choices("xyz", k=1 + at % 2) for at in range(7)]
        found.append(["-".join(table) for table in by_topic(tables_of, topics, history)])
    return found


def goals() -> list[Any]:
    names = ("ann", "bob", "cid", "dan", "eve")
    wanted = [Goal("top"), Goal("top", 2), Goal("order"), Goal("placed", player="cid")]
    found: list[Any] = [*map(str, wanted)]
    for kind in ("pairs", "many", "series", "games"):
        rng = Random(8)
        states = [Known(goal, (*names, "new")) for goal in wanted]
        fewer = [Known(goal, names) for goal in wanted]
        for at in range(80):
            who = rng.sample(names, 3 if kind == "many" else 2)
            scores = [round(rng.gauss(-1.1 * names.index(one), 1.5)) / 2 for one in who]
            match = EndedMatch(
                "ab"[at % 2] if kind == "games" else "a",
                tuple(who),
                tuple(scores) if at % 11 else (),
                1 + at // 4 * 4 if kind == "series" else 0,
            )
            for one in (*states, *fewer):
                one.note(match)
            if at == 79:
                found.append([[one.state.pairs, one.state.in_words] for one in (*states, *fewer)])
    return found


def fits() -> list[Any]:
    rng = np.random.default_rng(10)
    wins, ties = rng.integers(0, 7, (2, 5, 5)).astype(float)
    np.fill_diagonal(wins, 0)
    ties, flying = np.triu(ties, 1) + np.triu(ties, 1).T, np.full((5, 5), 3.0) - 3 * np.eye(5)
    past = Past(11)
    for _ in range(25):
        past.take([past.rng.sample([one.player for one in POOL[:5]], 3)])
    names = [one.player for one in POOL[:5]]
    return [
        [*fit(wins, ties, flying)],
        [*fit(np.stack([wins, 30 * wins]), np.stack([0 * ties, ties]), np.stack([flying, 0 * flying]))],
        [*known(names, past.history, past.results)],
        [*known(names, past.history, past.results, 3)],
        past.results.prices([*names, "p8"]),
    ]


BLIND: tuple[PolicyName, ...] = ("swiss", "random", "round-robin")
GOALS = {
    "best": Goal("top"),
    "first": Goal("top", 2, within=30.0),
    "order": Goal("order"),
    "placed": Goal("placed", player="p3", within=50.0),
}
ADAPTIVE = {goal: Policy("adaptive", goal=GOALS[goal]) for goal in GOALS}

CASES: recorded.Cases = {
    **{name: paired(Policy(name), POOL) for name in BLIND},
    **{f"adaptive, {goal}": paired(policy, POOL, 14) for goal, policy in ADAPTIVE.items()},
    **{
        f"{name}, families apart": paired(Policy(name, width=20.0), POOL, same_family=False)
        for name in (*BLIND, "adaptive")
    },
    **{
        f"{goal}, per dollar": paired(policy._replace(per_dollar=True), POOL)
        for goal, policy in ADAPTIVE.items()
    },
    "swiss, many": lambda: paired(
        Policy("swiss"), [Standing(f"p{at}", "f", 1500.0, 1500.0 - 3 * at) for at in range(40)], 4
    )(),
    **{f"tables of four, {name}": seated(Policy(name), POOL, 4) for name in (*BLIND, "adaptive")},
    **{
        f"tables of three of few, {name}": seated(Policy(name), POOL[:5], 3, outside=2, fewest=3)
        for name in ("swiss", "adaptive")
    },
    "tables, per dollar": seated(ADAPTIVE["order"]._replace(per_dollar=True), POOL, 3),
    "tables, placed": seated(ADAPTIVE["placed"], POOL, 4),
    "fixtures of the duel": issued("duel", POOL, {"topics": ["law", "tides", "bread"]}),
    "fixtures of the duel, in series": issued(
        "duel", POOL, {"topics": ["law", "tides"]}, series="seats", policy=ADAPTIVE["order"]
    ),
    "fixtures of many": issued("challenge-exchange", POOL, {"seats": 4, "committee": 2}),
    "fixtures of many, adaptive": issued("code-golf", POOL, {"seats": 3}, policy=ADAPTIVE["best"]),
    "turns of games": turns,
    "officials": served,
    "topics": on_topics,
    "goals": goals,
    "fits": fits,
}


@pytest.mark.parametrize("case", CASES)
def test_rounds_and_numbers_are_as_they_were(case: str) -> None:
    recorded.check(FILE, case, CASES[case]())


if __name__ == "__main__":
    recorded.write(FILE, CASES)
