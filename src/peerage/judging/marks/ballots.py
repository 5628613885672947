"""Contents of the ballots on record: panel by panel to write down, and as columns to compute with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from peerage.game.match import Fixture, Outcome
from peerage.judging.marks.marks import Layout, Mark, MarkColumns, MarkRows
from peerage.judging.panels.panel import ABSTAIN, TIE, UNUSABLE, Ballot
from peerage.ratings.arrays import Flags, Floats, Ints

BALLOTS = Layout(codes=3, counts=6, numbers=1)
"""Ballots as columns: panel, judge and vote by name; whether the judge flipped, and of its verdicts how many
were usable, were not, were for one answer, and were for the one shown first; whether the judge was asked
since others had split; the weight."""


class PanelRecord(Struct, frozen=True):
    """One panel's ballots, with who sat where: `players` maps every label on the ballots to a player."""

    players: Mapping[str, str]
    contestants: tuple[str, ...]
    ballots: tuple[Ballot, ...]


class BallotDetail(Struct, frozen=True):
    """The part of an outcome's detail on votes: of the judges that decided it, and of those who saw the
    answers of a match that a check decided, which never count."""

    ballots: tuple[Ballot, ...] = ()
    control_ballots: tuple[Ballot, ...] = ()


read_ballots = msgspec.json.Decoder(BallotDetail).decode


def ballots_of(outcome: Outcome) -> tuple[Ballot, ...]:
    """The ballots of a finished match, none when no judge was asked."""
    return msgspec.convert(outcome.detail.get("ballots", ()), tuple[Ballot, ...])


def controls_of(outcome: Outcome) -> tuple[Ballot, ...]:
    """The ballots of judges who saw the answers of a match that a check decided; they never count."""
    return msgspec.convert(outcome.detail.get("control_ballots", ()), tuple[Ballot, ...])


def panel_record(fixture: Fixture, ballots: tuple[Ballot, ...]) -> PanelRecord | None:
    """The panel of a finished match, with its ballots; None when no judge was asked."""
    if not ballots:
        return None
    authors = fixture.authors
    players = {seat.label: seat.player for seat in fixture.all_seats()} | authors
    return PanelRecord(players, tuple(authors), ballots)


def marks_of(panel: PanelRecord, contest: str, chars: Mapping[str, int]) -> list[Mark]:
    """The marks that the valid votes of a panel come to, but for late ones, since others had split on these
    answers; `chars` are the answers' lengths by label."""
    return [
        Mark(
            panel.players[ballot.judge],
            panel.players[label],
            contest,
            0.5 if ballot.vote == TIE else float(ballot.vote == label),
            chars.get(label),
        )
        for ballot in panel.ballots
        if ballot.vote != ABSTAIN and not ballot.late
        for label in panel.contestants
    ]


@dataclass(frozen=True, eq=False)
class Ballots:
    """Ballots as columns, one element a ballot, panel by panel.

    `panel`: a place in `panels`, which are names in order. `judge`: a place in `players`, `vote` one in
    `votes`: TIE, ABSTAIN and then the labels of answers. `weight`: the vote's share of the valid weight.
    `flipped` is 0 or 1; `usable`, `unusable`, `decided` and `first` count verdicts: as they should be, or
    not; for one answer, and of those for the one shown first. `late` is 1 where the judge was asked since
    those before it had split; what compares judges leaves such ballots out.
    """

    panels: tuple[str, ...]
    players: tuple[str, ...]
    votes: tuple[str, ...]
    panel: Ints
    judge: Ints
    vote: Ints
    weight: Floats
    flipped: Ints
    usable: Ints
    unusable: Ints
    decided: Ints
    first: Ints
    late: Ints

    def __len__(self) -> int:
        return len(self.panel)

    @cached_property
    def valid(self) -> Flags:
        """Return which ballots are no abstentions."""
        return np.asarray(self.vote != ABSTAINED)

    @cached_property
    def compared(self) -> Flags:
        """Return which ballots are valid and not late."""
        return np.asarray(self.valid & (self.late == 0))

    @cached_property
    def both(self) -> Flags:
        """Return which ballots are not late and rest on a usable verdict in each order."""
        return np.asarray((self.usable == 2) & (self.late == 0))

    @cached_property
    def given(self) -> Ints:
        """Votes on each panel (rows) for each of `votes` (columns) that compare."""
        shape = len(self.panels), len(self.votes)
        cell = (self.panel * shape[1] + self.vote)[self.compared]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    def points(self, label: str) -> Floats:
        """Return what each ballot gives the answer with that label: 1, ½ for a tie, or 0."""
        return np.where(self.vote == TIED, 0.5, np.array(self.votes)[self.vote] == label)


TIED, ABSTAINED = 0, 1
"""The places of TIE and ABSTAIN in `Ballots.votes`."""


def add_panel(ballots: MarkRows, name: str, panel: PanelRecord) -> None:
    """Add a panel, by a name that no other has, to rows of the layout `BALLOTS`."""
    names: list[str] = []
    counts: list[int] = []
    for ballot in panel.ballots:
        usable = decided = first = 0
        for order, verdict in ballot.verdicts.items():
            usable += verdict not in UNUSABLE
            if verdict != TIE and verdict not in UNUSABLE:
                decided += 1
                first += order.startswith(f"{verdict}-")
        names += name, panel.players[ballot.judge], ballot.vote
        counts += ballot.flipped, usable, len(ballot.verdicts) - usable, decided, first, bool(ballot.late)
    ballots.add(names, counts, [ballot.weight for ballot in panel.ballots])


def ballots_in(ballots: MarkColumns) -> Ballots:
    """The ballots that columns of the layout `BALLOTS` hold, panels in the order of their names."""
    (panels, panel), (players, judge), (named, vote) = (ballots.named(column) for column in range(3))
    votes = (TIE, ABSTAIN, *[label for label in named if label not in (TIE, ABSTAIN)])
    order = np.argsort(panel, kind="stable")
    return Ballots(
        panels=panels,
        players=players,
        votes=votes,
        panel=panel[order],
        judge=judge[order],
        vote=np.array([votes.index(label) for label in named], np.int64)[vote][order],
        weight=ballots.number(0)[order],
        flipped=ballots.count(0)[order],
        usable=ballots.count(1)[order],
        unusable=ballots.count(2)[order],
        decided=ballots.count(3)[order],
        first=ballots.count(4)[order],
        late=ballots.count(5)[order],
    )


# --------------------------------------------------------------------------------------------- statistics


class JudgeStatistics(Struct, frozen=True):
    """One player as a judge.

    `votes` is the ballots asked of it, `abstentions` those without a valid vote, `ties` the valid ones that
    called a tie; `unusable` counts verdicts that were invalid, refused or void, `flips` ballots that the
    order of answers changed. Shares are None where nothing was there to count. Of ballots of judges who were
    asked since others had split only the first share counts:

    - `agreement`: share of pairs (own valid vote, another judge's valid vote in the same match) that are
      equal, from 0 to 1.
    - `flip_share`: share of the ballots seen in both orders whose two verdicts differ.
    - `first_share`: share of the verdicts for one answer that chose the one shown first; ½ is even-handed.
    """

    player: str
    votes: int
    abstentions: int
    ties: int
    unusable: int
    flips: int
    flip_share: float | None
    agreement: float | None
    first_share: float | None


def judge_statistics(ballots: Ballots) -> dict[str, JudgeStatistics]:
    """Statistics of every player that judged, by name."""
    judges = len(ballots.players)

    def sums(values: ArrayLike) -> Floats:
        return np.bincount(ballots.judge, values, judges).astype(np.float64)

    valid, both, compared = ballots.valid, ballots.both, ballots.compared
    alike = ballots.given[ballots.panel, ballots.vote] - 1
    others = ballots.given.sum(axis=1)[ballots.panel] - 1
    votes, abstentions, unusable = sums(np.ones(len(ballots))), sums(~valid), sums(ballots.unusable)
    ties, flips = sums(ballots.vote == TIED), sums(ballots.flipped)
    agreement = _shares(sums(compared * alike), sums(compared * others))
    flip_share = _shares(sums(both * ballots.flipped), sums(both))
    first_share = _shares(sums(ballots.first), sums(ballots.decided))
    return {
        name: JudgeStatistics(
            player=name,
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
    return [float(answered / of) if of else None for answered, of in zip(part, whole, strict=True)]
