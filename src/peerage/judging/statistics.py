"""What the ballots on record tell about the judges: how they agree, flip, abstain and favour.

All of it follows from recorded outcomes (`Outcome.detail["ballots"]`), so anybody can recompute it.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from peerage.judging.ballots import TIED, Ballots
from peerage.ratings.kernels import Floats


class JudgeStatistics(Struct, frozen=True):
    """What one player did as a judge.

    `votes` is the ballots asked of it, `abstentions` those without a valid vote, `ties` the valid ones that
    called a tie; `unusable` counts verdicts that were invalid, refused or void, `flips` ballots that the
    order of answers changed. Shares are None where nothing was there to count:

    - `agreement`: share of pairs (own valid vote, another judge's valid vote in the same match) that are
      equal, from 0 to 1.
    - `flip_share`: share of the ballots seen in both orders whose two verdicts differ.
    - `first_share`: share of the verdicts for one answer that chose the one shown first; ½ is even-handed.
    """

    votes: int
    abstentions: int
    ties: int
    unusable: int
    flips: int
    agreement: float | None
    flip_share: float | None
    first_share: float | None


def judge_statistics(ballots: Ballots) -> dict[str, JudgeStatistics]:
    """Statistics of every player that judged, by name."""
    judges = len(ballots.players)

    def sums(values: ArrayLike) -> Floats:
        return np.bincount(ballots.judge, values, judges).astype(np.float64)

    valid, both = ballots.valid, ballots.usable == 2
    alike = ballots.given[ballots.panel, ballots.vote] - 1
    others = (ballots.given[:, [TIED, *range(2, len(ballots.votes))]].sum(axis=1))[ballots.panel] - 1
    votes, abstentions, unusable = sums(np.ones(len(ballots))), sums(~valid), sums(ballots.unusable)
    ties, flips = sums(ballots.vote == TIED), sums(ballots.flipped)
    agreement = _shares(sums(valid * alike), sums(valid * others))
    flip_share = _shares(sums(both * ballots.flipped), sums(both))
    first_share = _shares(sums(ballots.first), sums(ballots.decided))
    return {
        name: JudgeStatistics(
            votes=int(votes[at]),
            abstentions=int(abstentions[at]),
            ties=int(ties[at]),
            unusable=int(unusable[at]),
            flips=int(flips[at]),
            agreement=agreement[at],
            flip_share=flip_share[at],
            first_share=first_share[at],
        )
        for at, name in enumerate(ballots.players)
        if votes[at]
    }


def _shares(part: Floats, whole: Floats) -> list[float | None]:
    """Element by element; None where the whole is nothing."""
    return [float(one / of) if of else None for one, of in zip(part, whole, strict=True)]
