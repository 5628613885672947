"""Simulated tournaments of scores as an arena's report sees them: read as votes, rated in points of Elo.

`ScorePool` is to `simulation.SimulatedArena` what `planted.Pool` is for duels; `pool_of` makes one of scores
on record, with judges as strict, discerning and noisy as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from peerage.judging.comparisons import in_orders
from peerage.judging.marks import Flags, Marks
from peerage.judging.simulated_scores import Chances, Scale, ScorePlant, Tournament
from peerage.judging.style import STYLE
from peerage.judging.votes import Votes
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.history import duels
from peerage.ratings.kernels import Floats

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_STEPS = (1.0, 0.5, 0.1)


@dataclass(frozen=True, eq=False)
class ScorePool:
    """The judges and authors of a tournament whose scores are simulated."""

    made: Tournament

    @property
    def judges(self) -> tuple[str, ...]:
        return self.made.marks.judges

    @property
    def skill(self) -> Floats:
        """Of the authors, in points of the scale."""
        return self.made.skill

    @property
    def families(self) -> Mapping[str, str] | None:
        return self.made.families

    @cached_property
    def styles(self) -> Floats | None:
        """The lengths of all answers, as corrections want them."""
        m = self.made.marks
        if np.isnan(m.chars).all():
            return None
        found = np.zeros((len(m.contests), len(m.authors), len(STYLE)))
        found[:, :, 0] = np.nan
        found[m.contest, m.author, 0] = m.chars
        return found

    def under(self, luck: Chances, plant: ScorePlant | None) -> Votes:
        """What the judges say with the plant, as orders."""
        sway = self.made.honest if plant is None or plant.sway is None else plant.sway(luck)
        return in_orders(self.made.scored(luck, sway))

    def sided(self, luck: Chances, plant: ScorePlant | None) -> frozenset[str]:
        """The judges who lean to a place: nobody does."""
        return frozenset()

    @cached_property
    def _met(self) -> Votes:
        return in_orders(self.made.marks)

    def truth(self, judges: Flags | None = None) -> Floats:
        """The ratings that the orders of endless honest scores for these sheets come to; with `judges` of
        theirs alone, each weighing by its discernment."""
        of, met = self.made, self._met
        n, h = len(self.skill), met.history
        sd = np.sqrt((of.slope * of.luck) ** 2 + of.noise**2)
        count = np.bincount((met.judge * n + h.first) * n + h.second, h.weight, len(self.judges) * n * n)
        if judges is not None:
            count = count * np.repeat(judges * of.slope / sd, n * n)
        expected = self._expected(sd).ravel()
        cells = np.flatnonzero(count)
        one, two = np.divmod(cells % (n * n), n)
        columns = np.tile(one, 2), np.tile(two, 2), np.repeat([1.0, 0.0], len(cells))
        parts = np.concatenate([expected[cells], 1 - expected[cells]]) * np.tile(count[cells], 2)
        return fit_duels(duels(n, *columns, parts)).rating

    def _expected(self, sd: Floats) -> Floats:
        """The points by judge, author and other: the chance that the one gets more, and half of that of as
        much, over questions of any ease."""
        of = self.made
        found = np.zeros((len(self.judges), len(self.skill), len(self.skill)))
        for node, weight in zip(of.ease * _NODES, _NODE_WEIGHTS / _NODE_WEIGHTS.sum(), strict=True):
            mean = of.level[:, None] + of.slope[:, None] * (self.skill + node)
            above = of.scale.above(mean, np.broadcast_to(sd[:, None], mean.shape))
            below = np.pad(1 - above, ((0, 0), (0, 0), (1, 0)))
            below = np.pad(below, ((0, 0), (0, 0), (0, 1)), constant_values=1.0)
            share, middle = np.diff(below, axis=2), (below[:, :, 1:] + below[:, :, :-1]) / 2
            found += weight * share @ middle.transpose(0, 2, 1)
        return found


def pool_of(marks: Marks) -> ScorePool:
    """The judges and authors of scores on record, estimated by moments: what two judges have in common is the
    worth of answers, and what is left of a judge's scores its noise. Raises ValueError without two judges who
    scored the same answers."""
    marks = marks.single
    judges, authors = len(marks.judges), len(marks.authors)
    given = np.maximum(np.bincount(marks.judge, minlength=judges), 1)
    level = np.bincount(marks.judge, marks.value, judges) / given
    left = marks.value - level[marks.judge]
    total, of = np.bincount(marks.answer, left), np.bincount(marks.answer)
    others = np.maximum(of[marks.answer] - 1, 0)
    shared = np.where(others > 0, (total[marks.answer] - left) / np.maximum(others, 1), 0.0)
    together = np.bincount(marks.judge, left * shared, judges) / np.maximum(
        np.bincount(marks.judge, others > 0, judges), 1
    )
    worth = float(together @ given / given.sum())
    if not worth > 0:
        raise ValueError("these scores have nothing in common: no two judges agree on anything")
    slope = np.clip(together / worth, 0.2, 2.0)
    spread = np.bincount(marks.judge, left**2, judges) / given
    noise = np.sqrt(np.maximum(spread - slope**2 * worth, 0.05))
    answer_author, answer_contest = (np.zeros(len(of), np.int64) for _ in range(2))
    answer_author[marks.answer], answer_contest[marks.answer] = marks.author, marks.contest
    mean = total / of
    doubt = np.bincount(marks.answer, noise[marks.judge] ** 2) / of**2
    count = np.maximum(np.bincount(answer_author, minlength=authors), 1)
    skill = np.bincount(answer_author, mean, authors) / count
    skill = skill - skill.mean()
    rest = mean - skill[answer_author]
    asked = np.maximum(np.bincount(answer_contest), 1)
    question = np.bincount(answer_contest, rest) / asked
    alone = rest - question[answer_contest]
    luck = max(float((alone**2).sum() / max(len(of) - len(asked), 1) - doubt.mean()), 0.05)
    ease = max(float(question.var() - ((luck + doubt.mean()) / asked).mean()), 0.0)
    error = float(((luck + doubt.mean()) / count).mean())
    wide = float(skill.var())
    skill = skill * np.sqrt(max(0.0, 1 - error / wide)) if wide > 0 else skill
    step = next((one for one in _STEPS if np.allclose(marks.value / one, np.round(marks.value / one))), 0.1)
    scale = Scale(step=step)
    return ScorePool(Tournament(marks, skill, level, slope, noise, luck**0.5, ease**0.5, scale))
