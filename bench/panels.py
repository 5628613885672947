"""Costs of panels of judges until the best is known with 90%: kinds of panels on the same answers.

Eight players, the best at least 50 Elo ahead, meet at random; five judges see the answers by `panel` itself.
A judge's verdict is the players' difference, that of the answers to this question, an error that all judges
share, one of its own, and what comes and goes from one look to the next. Errors are correlated by 0.44, so
that nine judges are worth two, as published for language models. All judges prefer what is shown first, and
in `lazy` cells two of five read nothing and pick it in seven of ten verdicts.

Costs are percent of the dollars of the demo's duels with five judges in both orders: authors 4, committee 19,
answers 17, judges 60. Reported are, relative to those panels, duels, calls of judges and dollars until the
chance to be best is 90% (`ratings.strength`; geometric means), on own tasks, with drafting and where answers
are three times as expensive; how often the pick is not the best; and the bias that is left: the Elo that an
answer gains from being shown first to the first judge, by the same panels with every order swapped.

Usage: python -m bench.panels [ARENAS [--write]]    (40: about twenty minutes on one core)
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bench.arenas import POINTS
from peerage.challenges.drafting import needed_share
from peerage.game.match import Seat
from peerage.game.protocol import Chosen, Reply
from peerage.judging.panels.panel import Order, PanelRules, PanelVerdict, count, panel
from peerage.ratings.arrays import Floats
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.scheduling.roles import rotated

PAGE = Path(__file__).parents[1] / "docs" / "judging-figures.md"
BEGIN, END = "<!-- made by `python -m bench.panels 40 --write` -->", "<!-- to here, panels -->"

PLAYERS, JUDGES, SURE, MOST, STEP, FIXED = 8, 5, 0.9, 1_600, 1.25, 200
SPREAD, AHEAD = 150.0, 50.0  # Elo
QUESTION, ERROR, SHARED, FRESH = 1.2, 1.35, 0.44, 0.5  # log-odds; of an error's variance; of a judge's own
POSITION, EACH, TIED = 0.5, 0.3, 0.35  # log-odds: the bias of all, its deviation, half of the band of ties
LAZY = 0.7  # share of a lazy judge's verdicts for what is shown first
AUTHORS, COMMITTEE, ANSWERS, VERDICT = 4.0, 19.0, 17.0, 6.0  # percent of a duel's dollars, of a verdict


class Way(NamedTuple):
    """A kind of panel: its judges and its rules; `once`: the third sees one order, drawn at random; `lazy`:
    it is tried with lazy judges too."""

    name: str
    judges: int
    rules: PanelRules
    once: bool = False
    lazy: bool = False


def _ways() -> Iterator[Way]:
    def way(name: str, judges: int, order: Order, *, early: bool = False, forced: bool = False) -> Way:
        return Way(name, judges, PanelRules(order, early, forced, 0.05, "equal"))

    yield way("5 judges, both orders", 5, "both")._replace(lazy=True)
    yield way("5, both orders, no ties", 5, "both", forced=True)
    yield way("5, both orders, early stop", 5, "both", early=True)
    yield way("3, both orders", 3, "both")
    yield way("3, opposite orders", 3, "opposite")
    yield way("2 opposite, a third on a split", 3, "opposite", early=True)._replace(lazy=True)
    yield way("the same, no ties", 3, "opposite", early=True, forced=True)
    yield way("the same, the third in one order", 3, "opposite")._replace(once=True)
    yield way("2, opposite orders", 2, "opposite")._replace(lazy=True)
    yield way("1, both orders", 1, "both")._replace(lazy=True)
    yield way("1, one order", 1, "one")._replace(lazy=True)


WAYS = tuple(_ways())


class Arena:
    """One arena: its skills, and for each duel who meets and what each judge would say, drawn once for all
    kinds of panels."""

    def __init__(self, seed: int, lazy: int) -> None:
        rng = np.random.default_rng([seed, PLAYERS])
        skill = rng.normal(0, SPREAD, PLAYERS) / POINTS
        best = int(skill.argmax())
        skill[best] = max(skill[best], np.sort(skill)[-2] + AHEAD / POINTS)
        self.skill, self.best, self.secret = skill, best, str(seed)
        pairs = [rng.permutation(PLAYERS).reshape(-1, 2) for _ in range(2 * MOST // PLAYERS)]
        self.first, self.second = np.concatenate(pairs).T
        own, shared = ERROR * math.sqrt(1 - SHARED), ERROR * math.sqrt(SHARED)
        gap = skill[self.first] - skill[self.second] + QUESTION * rng.normal(size=MOST)
        seen = (gap + shared * rng.normal(size=MOST))[:, None] + own * math.sqrt(1 - FRESH) * rng.normal(
            size=(MOST, JUDGES)
        )
        self.seen = seen[:, :, None] + own * math.sqrt(FRESH) * rng.normal(size=(MOST, JUDGES, 2))
        self.bias = POSITION + EACH * rng.normal(size=JUDGES)
        self.lazy, self.tossed = lazy, rng.random((MOST, JUDGES, 2))

    def verdict(self, duel: int, judge: int, order: str, look: int, *, mirrored: bool, binary: bool) -> str:
        """Return what a judge replies, at its first or second `look`; `mirrored` shows the other order."""
        ahead = 1 if order == "A-B" else -1
        shown = -ahead if mirrored else ahead
        if judge < self.lazy:
            lead = shown if self.tossed[duel, judge, look] < LAZY else -shown
        else:
            lead = self.seen[duel, judge, look] + shown * self.bias[judge]
            if not binary and abs(lead) < TIED:
                return "tie"
        return "A" if lead * ahead > 0 else "B"

    def score(self, way: Way, duel: int, *, mirrored: bool = False) -> tuple[float | None, int, int]:
        """Return the first player's score by a panel, the calls of judges, and 1 where the first judge saw
        the first player's answer first, else -1."""
        names = rotated(range(JUDGES), way.judges, duel + 1, self.secret)
        seats = [Seat(f"judge/{at}", str(name)) for at, name in enumerate(names, 1)]
        drawn = Random(f"{self.secret}/{duel}")
        if not way.once:
            verdict, calls = self._asked(way.rules, seats, duel, drawn, mirrored=mirrored)
            return verdict.score, calls, self._first(verdict)
        verdict, calls = self._asked(way.rules, seats[:2], duel, drawn, mirrored=mirrored)
        if verdict.share in (0.0, 1.0):
            return verdict.score, calls, self._first(verdict)
        rules = msgspec.structs.replace(way.rules, order="one")
        third, more = self._asked(rules, seats[2:], duel, drawn, mirrored=mirrored)
        ballots = [*verdict.ballots, *third.ballots]
        score = count(ballots, {seat.label: seat.raw for seat in seats}, "A", rules).score
        return score, calls + more, self._first(verdict)

    @staticmethod
    def _first(verdict: PanelVerdict) -> int:
        return 1 if next(iter(verdict.ballots[0].verdicts)) == "A-B" else -1

    def _asked(
        self, rules: PanelRules, seats: Sequence[Seat], duel: int, drawn: Random, *, mirrored: bool
    ) -> tuple[PanelVerdict, int]:
        judge = {seat.label: int(seat.player) for seat in seats}
        steps = panel(seats, {"A": "a", "B": "b"}, {"question": ""}, rules, rng=drawn)
        calls = 0
        try:
            asks: Any = next(steps)
            while True:
                calls += len(asks)
                replies, seen = [], Counter([ask.to for ask in asks])
                for ask in asks:
                    order = ask.key.rpartition("/")[2]
                    look = int(seen[ask.to] == 2 and (order == "A-B") == mirrored)
                    choice = self.verdict(
                        duel, judge[ask.to], order, look, mirrored=mirrored, binary=rules.binary
                    )
                    replies.append(Reply("ok", value=Chosen(choice)))
                asks = steps.send(replies)
        except StopIteration as stop:
            return stop.value, calls

    def until(self, way: Way) -> tuple[int, int, bool]:
        """Return the duels and the calls of judges until the best is known, and whether it is the best."""
        scores: list[float] = []
        decided: list[int] = []
        calls, look = 0, 3.0 * PLAYERS
        for duel in range(MOST):
            score, asked, _ = self.score(way, duel)
            calls += asked
            if score is not None:
                scores.append(score)
                decided.append(duel)
            if duel + 1 < look and duel + 1 < MOST:
                continue
            look = max(look * STEP, duel + 2.0)
            found = strengths(self._evidence(decided, scores), seed=0)
            if found.best.max() >= SURE:
                return duel + 1, calls, int(found.best.argmax()) == self.best
        return MOST, calls, int(found.best.argmax()) == self.best

    def _evidence(self, decided: Sequence[int], scores: Sequence[float]) -> Evidence:
        return of_duels(duels(PLAYERS, self.first[decided], self.second[decided], np.array(scores)))

    def gained(self, way: Way) -> Iterator[float]:
        """Yield, for some duels, what the answer that the first judge saw first gained, of one win."""
        for duel in range(FIXED):
            (score, _, first), (other, _, _) = (
                self.score(way, duel, mirrored=mirrored) for mirrored in (False, True)
            )
            if score is not None and other is not None:
                yield first * (score - other) / 2


def dollars(way: Way, duels: Floats, calls: Floats, *, drafted: bool, expensive: float = 1.0) -> Floats:
    """Return the cost, in percent of that of a duel of the demo."""
    committee = COMMITTEE * (needed_share(5, 0.8) if way.rules.early_stop else 1)
    each = ANSWERS * expensive + (AUTHORS + committee) * drafted
    return np.asarray(duels * each + calls * VERDICT)


def rows(arenas: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| panel | lazy | calls a duel | duels | calls | own tasks | drafted | expensive answers | wrong | "
        "bias left |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for lazy in (0, 2):
        made = [Arena(seed, lazy) for seed in range(arenas)]
        usual: list[Floats] = []
        for way in WAYS if not lazy else [way for way in WAYS if way.lazy]:
            took, calls, right = map(np.array, zip(*[arena.until(way) for arena in made], strict=True))
            costs = [
                calls,
                dollars(way, took, calls, drafted=False),
                dollars(way, took, calls, drafted=True),
                dollars(way, took, calls, drafted=False, expensive=3.0),
            ]
            usual = usual or [took, *costs]
            shares = [
                f"{np.exp(np.log(cost / of).mean()):.0%}"
                for cost, of in zip([took, *costs], usual, strict=True)
            ]
            bias = 4 * POINTS * np.mean([gain for arena in made for gain in arena.gained(way)])
            each = calls.sum() / took.sum()
            cells = [way.name, str(lazy), f"{each:.1f}", *shares, f"{1 - right.mean():.1%}", f"{bias:+.0f}"]
            yield f"| {' | '.join(cells)} |"


def main(arenas: int, write: bool) -> None:
    lines = []
    for row in rows(arenas):
        print(row, flush=True)
        lines.append(row)
    if write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        made = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, "--write" in sys.argv)
