"""The votes of judges as a history of its own: what judge-aware ratings read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import msgspec
import numpy as np

from peerage.judging.ballots import UNUSABLE
from peerage.judging.panel import ABSTAIN, TIE, Ballot
from peerage.judging.votes import Votes
from peerage.ledger.store import Ledger, LedgerError, Summary
from peerage.ratings.history import duels
from peerage.ratings.merging import coded
from peerage.standings import DONE
from peerage.tables.challenges import amended

LOOKED_AT = 200
"""The newest matches whose verdicts are read for flips."""


class _Seat(msgspec.Struct):
    label: str
    player: str


class _Fixture(msgspec.Struct):
    """The little of a fixture that tells who a ballot is about."""

    seats: tuple[_Seat, ...]
    officials: dict[str, tuple[_Seat, ...]]


class _Detail(msgspec.Struct):
    ballots: tuple[Ballot, ...] = ()


class _Outcome(msgspec.Struct):
    detail: _Detail = msgspec.field(default_factory=_Detail)


class _Record(msgspec.Struct):
    """The little of a record that holds the ballots."""

    outcome: _Outcome


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
    rows: list[tuple[int, int, float, float]] = []
    judges: list[str] = []
    on: list[int] = []
    shown: list[int] = []
    for summary, fixture, ballots in _ballots(ledger, matches):
        issued = tuple([seat.player for seat in fixture.seats])
        # Of more than two some may be unranked, and one may hold several seats.
        if not {*summary.players} <= {*issued} or (len(issued) == 2 and issued != summary.players):
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
        if len(fixture.seats) != 2 or not valid:
            continue
        label = fixture.seats[0].label
        first, second = (places.setdefault(player, len(places)) for player in summary.players)
        weight = weights.get(summary.game, 1.0) / len(valid)
        for ballot in valid:
            rows.append((first, second, 0.5 if ballot.vote == TIE else float(ballot.vote == label), weight))
            judges.append(seated[ballot.judge])
            on.append(summary.number)
            usable = [order for order, said in ballot.verdicts.items() if said not in UNUSABLE]
            shown.append(sum(1 if order.startswith(f"{label}-") else -1 for order in usable))
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    names, judge = coded(judges)
    more = np.array(on, np.int64), np.array(shown, np.int64)
    return Votes(tuple(places), duels(len(places), *columns), tuple(names), judge, *more)


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


def battles(ledger: Ledger) -> Iterator[str]:
    """Every valid vote on a decided duel as a line of JSON: a battle in LMArena's columns.

    `question_id` is the match, `tstamp` seconds since 1970; the votes of one match share a `weight` of 1.
    Raises LedgerError.
    """
    decided = [summary for summary in amended(ledger) if summary.status == DONE and summary.players]
    cast = votes(ledger, decided, {})
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
        }
        yield f"{msgspec.json.encode(row).decode()}\n"


def _ballots(
    ledger: Ledger, matches: Sequence[Summary]
) -> Iterator[tuple[Summary, _Fixture, tuple[Ballot, ...]]]:
    if not matches:
        return
    span = ledger.place(matches[0].number), ledger.place(matches[-1].number)
    wanted = {summary.number: summary for summary in matches}
    read_fixture = msgspec.json.Decoder(_Fixture).decode
    read_record = msgspec.json.Decoder(_Record).decode
    for issued, record in zip(ledger.fixtures(*span), ledger.records(*span), strict=False):
        if issued.number != record.number:
            raise LedgerError(f"{ledger.address} lacks rows; `peerage verify` says which")
        summary = wanted.get(record.number)
        if summary is not None:
            yield summary, read_fixture(issued.body), read_record(record.body).outcome.detail.ballots
