"""The votes of judges as a history of its own: what judge-aware ratings read."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from peerage.game.match import DONE
from peerage.judging.marks.ballots import read_ballots
from peerage.judging.marks.marks import Votes
from peerage.judging.panels.panel import ABSTAIN, TIE, UNUSABLE, Ballot
from peerage.ledger import Ledger, LedgerError, Summary
from peerage.ledger.forms.codec import StoredFixture, read_header, read_issued
from peerage.ratings.columns.history import duels
from peerage.reading.rows import rows_of
from peerage.reading.verdicts.withdrawn import amended

LOOKED_AT = 200
"""The newest matches whose verdicts are read for flips."""


def votes(
    ledger: Ledger, matches: Sequence[Summary], weights: Mapping[str, float], silenced: Set[str] = frozenset()
) -> Votes:
    """The valid votes on decided duels, given in number order, without those of the judges `silenced`;
    `weights` are those of their games. An order counts as shown where the judge said something usable of it.
    The votes of one match together weigh as much as one match: they are about the same two answers. Raises
    LedgerError when a fixture or a record is missing."""
    places: dict[str, int] = {}
    judges: dict[str, int] = {}
    # A tuple and a name for each vote would take ten times the room.
    rows, judge, on, shown = array("d"), array("q"), array("q"), array("q")
    for summary, fixture, ballots in _ballots(ledger, matches):
        authors = fixture.authors
        issued = tuple(authors.values())
        players = summary.players or issued  # nobody has a seat where recorded answers are judged again
        # Of more than two some may be unranked, and one may hold several seats.
        if not {*players} <= {*issued} or (len(issued) == 2 and issued != players):
            raise LedgerError(
                f"{ledger.address}: match {summary.number} was issued to others than the narrow table says; "
                "`peerage verify` says more"
            )
        seated = {seat.label: seat.player for bench in fixture.officials.values() for seat in bench}
        valid = [
            ballot
            for ballot in ballots
            if ballot.vote != ABSTAIN and ballot.judge in seated and seated[ballot.judge] not in silenced
        ]
        if len(authors) != 2 or not valid:
            continue
        label = next(iter(authors))
        first, second = (places.setdefault(player, len(places)) for player in players)
        weight, ahead = weights.get(summary.game, 1.0) / len(valid), f"{label}-"
        for ballot in valid:
            rows.extend((first, second, 0.5 if ballot.vote == TIE else float(ballot.vote == label), weight))
            judge.append(judges.setdefault(seated[ballot.judge], len(judges)))
            on.append(summary.number)
            sides = 0
            for order, verdict in ballot.verdicts.items():
                if verdict not in UNUSABLE:
                    sides += 1 if order.startswith(ahead) else -1
            shown.append(sides)
    names = sorted(judges)
    return Votes(
        tuple(places),
        duels(len(places), *np.array(rows).reshape(-1, 4).T),
        tuple(names),
        np.argsort([judges[name] for name in names])[np.array(judge, np.int64)],
        np.array(on, np.int64),
        np.array(shown, np.int64),
    )


def flips(ledger: Ledger, matches: Sequence[Summary]) -> tuple[int, int]:
    """Return how many ballots saw both orders of the answers, and how many flipped with it, in the newest of
    decided matches in number order. Raises LedgerError."""
    newest = [match for match in matches[-LOOKED_AT:] if match.number > matches[-1].number - 10 * LOOKED_AT]
    both = [
        ballot.flipped
        for _, _, ballots in _ballots(ledger, newest)
        for ballot in ballots
        if not ballot.late
        and len([verdict for verdict in ballot.verdicts.values() if verdict not in UNUSABLE]) == 2
    ]
    return len(both), sum(both)


def judged_duels(ledger: Ledger) -> list[Summary]:
    """The decided matches, which votes on two answers may be in."""
    return [summary for summary in amended(ledger) if summary.status == DONE]


def _ballots(
    ledger: Ledger, matches: Sequence[Summary]
) -> Iterator[tuple[Summary, StoredFixture, tuple[Ballot, ...]]]:
    wanted = {summary.number: summary for summary in matches}
    for issued, record in rows_of(ledger, wanted):
        detail = read_header(record.body).outcome.detail
        yield wanted[record.number], read_issued(issued.body), read_ballots(detail).ballots
