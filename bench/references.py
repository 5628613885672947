"""What right and wrong reference answers do to panels of house judges: tables of docs/judging-figures.md.

Eight players of known skill answer; who meets is drawn, answers vary about their player's skill, and three
judges of one skill compare them in both orders, with no reference answer, with right ones, or with ones of
which a share is wrong. Counted over ARENAS arenas of 100 duels: verdicts for the better answer (a tie counts
half), and Kendall's tau of the players' mean scores with their skills. The second table is of whole duels:
authors of a skill write the reference answers, and a committee lets a share of the wrong ones through.

Usage: python -m bench.references [ARENAS]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import numpy as np

from peerage.games import GAMES
from peerage.games.house import SPREAD, worth
from peerage.judging.panel import PanelRules, panel
from peerage.judging.simulation import tau
from peerage.match import Seat
from peerage.protocol import Ask, Reply
from peerage.testing.offline import Answering, fixture, house, play

SKILLS = tuple([0.4 + 0.05 * at for at in range(8)])
DUELS, JUDGES = 100, 3
JUDGED = PanelRules(weights="equal")
WRONG = (None, 0.0, 0.2, 0.5)
"""Shares of wrong reference answers; None: judges are shown none."""
WRITERS = (0.4, 0.6, 0.8)


def score(judges: Answering, answers: Sequence[float], reference: Any, key: str) -> float:
    """The first answer's score by a panel, from what both are worth; ½ where there is no verdict."""
    seats = [Seat(f"judge/{key}/{at}", f"judge {at}") for at in range(JUDGES)]
    replies = {
        name: Reply("ok", name, hidden={**worth(one), "family": ""})
        for name, one in zip("AB", answers, strict=True)
    }
    steps = panel(seats, replies, {"question": "?"}, JUDGED, reference=reference)
    asks: Any = next(steps)
    players = {seat.label: seat.player for seat in seats}
    try:
        steps.send([_read(ask, judges(ask, players[ask.to])) for ask in asks])
    except StopIteration as done:
        found: float | None = done.value.score
        return 0.5 if found is None else found
    raise AssertionError("a panel asks once")


def _read(ask: Ask, reply: Reply) -> Reply:
    return msgspec.structs.replace(reply, value=ask.expects.parse(reply.text))


def arena(skill: float, wrong: float | None, seed: int) -> tuple[float, float]:
    """The share of right verdicts, and tau, in one arena."""
    rng = Random(f"references/{seed}")
    judges = house({f"judge {at}": f"house:{skill}" for at in range(JUDGES)}, f"{seed}")
    scores: list[list[float]] = [[] for _ in SKILLS]
    right = 0.0
    for number in range(DUELS):
        pair = rng.sample(range(len(SKILLS)), 2)
        answers = [rng.gauss(SKILLS[player], SPREAD) for player in pair]
        lot = rng.random()
        reference = None if wrong is None else {**worth(1.0), "right": lot >= wrong}
        first = score(judges, answers, reference, f"{number}")
        right += first if answers[0] > answers[1] else 1 - first
        scores[pair[0]].append(first)
        scores[pair[1]].append(1 - first)
    means = np.array([np.mean(mine) if mine else 0.5 for mine in scores])
    return right / DUELS, tau(means, np.array(SKILLS))


def written(skill: float, matches: int) -> tuple[float, float]:
    """The share of wrong reference answers among those that authors of `skill` write, and among those that
    a committee of skill 0.6 lets stand."""
    names = [f"p{at}" for at in range(12)]
    drafts, stood = list[bool](), list[bool]()
    for number in range(1, matches + 1):
        made = fixture(GAMES["duel"], names, {"reference": True}, number=number, seed=f"written/{number}")
        authors = {seat.player for seat in made.officials["author"]}
        models = {name: f"house:{skill if name in authors else 0.6}" for name in names}
        steps = play(GAMES["duel"], made, house(models, made.seed)).steps
        drafts += [
            not step.reply.hidden["right"]
            for step in steps
            if step.ask.key.startswith("reference/") and step.reply.hidden
        ]
        stood += [not step.ask.oracle.reference["right"] for step in steps if step.ask.role == "judge"][:1]
    return float(np.mean(drafts)), float(np.mean(stood))


def main() -> None:
    arenas = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("| judges | reference answers | right verdicts | tau |\n|---|---|--:|--:|")
    for skill in (0.1, 0.5, 0.9):
        for wrong in WRONG:
            right, order = np.mean([arena(skill, wrong, seed) for seed in range(arenas)], axis=0)
            about = "none" if wrong is None else "all right" if not wrong else f"{wrong:.0%} wrong"
            print(f"| of skill {skill} | {about} | {right:.1%} | {order:.2f} |", flush=True)
    print("\n| authors | wrong as written | wrong as judges see them |\n|---|--:|--:|")
    for skill in WRITERS:
        before, after = written(skill, 4 * arenas)
        print(f"| of skill {skill} | {before:.0%} | {after:.0%} |", flush=True)


if __name__ == "__main__":
    main()
