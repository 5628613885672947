"""What the ballots on record tell about the judges: how they agree, flip, abstain and favour.

All of it follows from recorded outcomes (`Outcome.detail["ballots"]`), so anybody can recompute it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from peerage.judging.panel import ABSTAIN, TIE, Ballot
from peerage.match import Fixture, Outcome


class PanelRecord(Struct, frozen=True):
    """One panel's ballots, with who sat where: `players` maps every label on the ballots to a player."""

    players: Mapping[str, str]
    contestants: tuple[str, ...]
    ballots: tuple[Ballot, ...]


class JudgeStatistics(Struct, frozen=True):
    """What one player did as a judge.

    `votes` is the ballots asked of it, `abstentions` those without a valid vote, `ties` the valid ones that
    called a tie; `unusable` counts verdicts that were invalid, refused or void. Shares are None where nothing
    was there to count:

    - `agreement`: share of pairs (own valid vote, another judge's valid vote in the same match) that are
      equal, from 0 to 1.
    - `flip_share`: share of the ballots seen in both orders whose two verdicts differ.
    - `first_share`: share of the verdicts for one answer that chose the one shown first; ½ is even-handed.
    - `kin_lean`: where exactly one contestant is of the judge's family, the mean of its vote for its kin (1,
      ½ for a tie, 0) less the mean of the other judges' votes for the same contestant, their kin or not;
      above 0 it favours its kin. `kin_votes` is how many votes that rests on.
    """

    votes: int
    abstentions: int
    ties: int
    unusable: int
    agreement: float | None
    flip_share: float | None
    first_share: float | None
    kin_lean: float | None
    kin_votes: int


def panel_record(fixture: Fixture, outcome: Outcome) -> PanelRecord | None:
    """The panel of a finished match; None when no judge was asked.

    Where recorded answers were judged nobody has a seat, and the fixture names their authors.
    """
    ballots: Any = outcome.detail.get("ballots")
    if not ballots:
        return None
    authors = {seat.label: seat.player for seat in fixture.seats} or dict(fixture.drawn["authors"])
    return PanelRecord(
        {seat.label: seat.player for seat in fixture.all_seats()} | authors,
        tuple(authors),
        msgspec.convert(ballots, tuple[Ballot, ...]),
    )


def judge_statistics(
    panels: Iterable[PanelRecord], families: Mapping[str, str]
) -> dict[str, JudgeStatistics]:
    """Statistics of every player that judged, by name; `families` maps players to their families."""
    tallies: dict[str, _Tally] = {}
    for panel in panels:
        for ballot in panel.ballots:
            judge = panel.players[ballot.judge]
            tally = tallies.setdefault(judge, _Tally())
            others = [other for other in panel.ballots if other is not ballot and other.vote != ABSTAIN]
            tally.add(ballot, others, _kin(panel, families, judge))
    return {judge: tallies[judge].result() for judge in sorted(tallies)}


def _kin(panel: PanelRecord, families: Mapping[str, str], judge: str) -> str | None:
    """The label of the one contestant of the judge's family; None when none or all of them are."""
    family = families.get(judge)
    kin = [label for label in panel.contestants if families.get(panel.players[label]) == family]
    return kin[0] if family is not None and len(kin) == 1 else None


@dataclass
class _Tally:
    votes: int = 0
    abstentions: int = 0
    ties: int = 0
    unusable: int = 0
    agreements: list[bool] = field(default_factory=list)
    flips: list[bool] = field(default_factory=list)
    firsts: list[bool] = field(default_factory=list)
    leans: list[float] = field(default_factory=list)

    def add(self, ballot: Ballot, others: Sequence[Ballot], kin: str | None) -> None:
        self.votes += 1
        usable = 0
        for order, verdict in ballot.verdicts.items():
            if verdict in ("invalid", "refused", "void"):
                self.unusable += 1
                continue
            usable += 1
            if verdict != TIE:
                self.firsts.append(order.startswith(f"{verdict}-"))
        if usable == 2:
            self.flips.append(ballot.flipped)
        if ballot.vote == ABSTAIN:
            self.abstentions += 1
            return
        self.ties += ballot.vote == TIE
        self.agreements += [other.vote == ballot.vote for other in others]
        if kin is not None and others:
            rest = sum(_points(other, kin) for other in others) / len(others)
            self.leans.append(_points(ballot, kin) - rest)

    def result(self) -> JudgeStatistics:
        return JudgeStatistics(
            self.votes,
            self.abstentions,
            self.ties,
            self.unusable,
            _mean(self.agreements),
            _mean(self.flips),
            _mean(self.firsts),
            _mean(self.leans),
            len(self.leans),
        )


def _points(ballot: Ballot, label: str) -> float:
    return 0.5 if ballot.vote == TIE else float(ballot.vote == label)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
