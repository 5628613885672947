"""The votes of judges as a history of its own: what judge-aware ratings read."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set

import msgspec
import numpy as np

from peerage.game.match import DONE
from peerage.games.rejudge import GAME as REJUDGE
from peerage.games.rejudge.recorded import read_recorded
from peerage.judging.marks.ballots import read_ballots
from peerage.judging.marks.marks import Votes
from peerage.judging.panels.panel import ABSTAIN, TIE, UNUSABLE, Ballot
from peerage.ledger import Ledger, LedgerError, Summary
from peerage.ledger.forms.codec import StoredFixture, read_header, read_issued
from peerage.ratings.columns.history import duels
from peerage.reading.results.challenges import amended
from peerage.reading.rows import rows_of

LOOKED_AT = 200
"""The newest matches whose verdicts are read for flips."""


def votes(
    ledger: Ledger,
    matches: Sequence[Summary],
    weights: Mapping[str, float],
    silenced: Set[str] = frozenset(),
) -> Votes:
    """The valid votes on decided duels, given in number order, without those of the judges `silenced`;
    `weights` are those of their games. An order counts as shown where the judge said something usable of it.

    The votes of one match together weigh as much as one match: they are about the same two answers. Raises
    LedgerError when a fixture or a record is missing.
    """
    places: dict[str, int] = {}
    judges: dict[str, int] = {}
    # A tuple and a name for each vote would take ten times the room.
    rows, judge, on, shown = array("d"), array("q"), array("q"), array("q")
    for summary, fixture, ballots in _ballots(ledger, matches):
        authors = fixture.authors
        issued = tuple(authors.values())
        players = issued if summary.game == REJUDGE.name else summary.players
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
            for order, said in ballot.verdicts.items():
                if said not in UNUSABLE:
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
    """How many ballots saw both orders of the answers, and how many flipped with it, in the newest of decided
    matches in number order. Raises LedgerError."""
    newest = [one for one in matches[-LOOKED_AT:] if one.number > matches[-1].number - 10 * LOOKED_AT]
    both = [
        ballot.flipped
        for _, _, ballots in _ballots(ledger, newest)
        for ballot in ballots
        if len([said for said in ballot.verdicts.values() if said not in UNUSABLE]) == 2
    ]
    return len(both), sum(both)


def judged_duels(ledger: Ledger) -> list[Summary]:
    """The decided matches that votes on two answers may be in: those that somebody played, and recorded
    answers that were judged again."""
    return [
        summary
        for summary in amended(ledger)
        if summary.status == DONE and (summary.players or summary.game == REJUDGE.name)
    ]


def battles(ledger: Ledger) -> Iterator[str]:
    """Every valid vote on a decided duel, or on recorded answers that were judged again, as a line of JSON: a
    battle in LMArena's columns.

    `question_id` is the match, `tstamp` seconds since 1970; the votes of one match share a `weight` of 1. Of
    answers judged again `question` tells which pairs share one, and hang together. Raises LedgerError.
    """
    decided = judged_duels(ledger)
    cast = votes(ledger, decided, {})
    questions = _questions(ledger, decided)
    at_ms = {summary.number: summary.at_ms for summary in decided}
    history, winner = cast.history, {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
    for first, second, score, weight, judge, match in zip(
        history.first.tolist(),
        history.second.tolist(),
        history.score.tolist(),
        history.weight.tolist(),
        cast.judge.tolist(),
        cast.matches.tolist(),
        strict=True,
    ):
        row = {
            "question_id": str(match),
            "model_a": cast.players[first],
            "model_b": cast.players[second],
            "winner": winner[score],
            "judge": cast.judges[judge],
            "tstamp": at_ms[match] / 1000,
            "weight": weight,
            **({"question": questions[match]} if match in questions else {}),
        }
        yield f"{msgspec.json.encode(row).decode()}\n"


def _questions(ledger: Ledger, matches: Sequence[Summary]) -> dict[int, str]:
    """What is judged again in each match: the digest of its question, or of the record it comes from."""
    again = {summary.number for summary in matches if summary.game == REJUDGE.name}
    if not again:
        return {}
    return {
        row.number: read_recorded(read_issued(row.body).drawn).record
        for row in ledger.fixtures()
        if row.number in again
    }


def _ballots(
    ledger: Ledger, matches: Sequence[Summary]
) -> Iterator[tuple[Summary, StoredFixture, tuple[Ballot, ...]]]:
    wanted = {summary.number: summary for summary in matches}
    for issued, record in rows_of(ledger, wanted):
        detail = read_header(record.body).outcome.detail
        yield wanted[record.number], read_issued(issued.body), read_ballots(detail).ballots
