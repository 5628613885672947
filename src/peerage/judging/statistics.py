"""What the ballots on record tell about the judges: how they agree, flip, abstain and favour.

All of it follows from recorded outcomes (`Outcome.detail["ballots"]`), so anybody can recompute it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from peerage.judging.ballots import TIED, Ballots
from peerage.ratings.kernels import Floats, Ints


class JudgeStatistics(Struct, frozen=True):
    """What one player did as a judge.

    `votes` is the ballots asked of it, `abstentions` those without a valid vote, `ties` the valid ones that
    called a tie; `unusable` counts verdicts that were invalid, refused or void, `flips` ballots that the
    order of answers changed. Shares are None where nothing was there to count:

    - `agreement`: share of pairs (own valid vote, another judge's valid vote in the same match) that are
      equal, from 0 to 1.
    - `flip_share`: share of the ballots seen in both orders whose two verdicts differ.
    - `first_share`: share of the verdicts for one answer that chose the one shown first; ½ is even-handed.
    - `kin_lean`: where exactly one contestant is of the judge's family, the mean of its vote for that one (1,
      ½ for a tie, 0) less the mean of the other judges' votes for the same contestant, of their family or
      not; above 0 it favours its family. `kin_votes` is how many votes that rests on.
    """

    votes: int
    abstentions: int
    ties: int
    unusable: int
    flips: int
    agreement: float | None
    flip_share: float | None
    first_share: float | None
    kin_lean: float | None
    kin_votes: int


def judge_statistics(ballots: Ballots, families: Mapping[str, str]) -> dict[str, JudgeStatistics]:
    """Statistics of every player that judged, by name; `families` maps players to their families."""
    judges = len(ballots.players)

    def sums(values: ArrayLike, of: Ints = ballots.judge) -> Floats:
        return np.bincount(of, values, judges).astype(np.float64)

    valid, both = ballots.valid, ballots.usable == 2
    alike = ballots.given[ballots.panel, ballots.vote] - 1
    others = (ballots.given[:, [TIED, *range(2, len(ballots.votes))]].sum(axis=1))[ballots.panel] - 1
    same_family, lean = _leans(ballots, families, others)
    votes, kin_votes = (
        sums(np.ones(len(ballots))),
        sums(np.ones(len(same_family)), ballots.judge[same_family]),
    )
    abstentions, unusable = sums(~valid), sums(ballots.unusable)
    ties, flips = sums(ballots.vote == TIED), sums(ballots.flipped)
    agreement = _shares(sums(valid * alike), sums(valid * others))
    flip_share = _shares(sums(both * ballots.flipped), sums(both))
    first_share = _shares(sums(ballots.first), sums(ballots.decided))
    kin_lean = _shares(sums(lean, ballots.judge[same_family]), kin_votes)
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
            kin_lean=kin_lean[at],
            kin_votes=int(kin_votes[at]),
        )
        for at, name in enumerate(ballots.players)
        if votes[at]
    }


def _leans(ballots: Ballots, families: Mapping[str, str], others: Ints) -> tuple[Ints, Floats]:
    """The valid votes, with others beside them, of judges of whose family just one contestant is; and by how
    much each gives that one more than the mean of the `others` (how many there are, by ballot) does."""
    numbers = {family: at for at, family in enumerate(sorted(set(families.values())))}
    of = [numbers[families[name]] if name in families else -1 for name in ballots.players]
    family = np.array(of, np.int64)
    seats = np.diff(ballots.seats)[ballots.panel]
    ballot = np.repeat(np.arange(len(ballots)), seats)
    seat = np.arange(len(ballot)) - np.repeat(np.cumsum(seats) - seats - ballots.seats[ballots.panel], seats)
    own = family[ballots.judge[ballot]]
    same = (own >= 0) & (own == family[ballots.author[seat]])
    lone = np.bincount(ballot[same], minlength=len(ballots)) == 1
    usable = same & (lone & ballots.valid & (others > 0))[ballot]
    same_family = ballot[usable]
    label = np.zeros(len(ballots), np.int64)
    label[same_family] = ballots.label[seat[usable]]
    mine = ballots.points(label)[same_family]
    panel = ballots.panel[same_family]
    total = ballots.given[panel, label[same_family]] + ballots.given[panel, TIED] / 2
    return same_family, mine - (total - mine) / others[same_family]


def _shares(part: Floats, whole: Floats) -> list[float | None]:
    """Element by element; None where the whole is nothing."""
    return [float(one / of) if of else None for one, of in zip(part, whole, strict=True)]
