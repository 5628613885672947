"""Tournaments of Humanity's Last Arena on record, their answers, and what an audience says of these."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from peerage.game.protocol import first_key
from peerage.games.last_arena import GAME as LAST_ARENA
from peerage.games.last_arena.rules import answer_chars
from peerage.games.last_arena.tables import FinishedTournament, answers_of
from peerage.judging.scores.scoring import Grade
from peerage.judging.scores.standing import normalised_grades
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import by_hex, read_fixture, read_issued, read_record, read_reply
from peerage.ledger.topics.public import Opinion, opinions, read_opinion
from peerage.reading.rows import rows_of
from peerage.values import grouped
from peerage.values.inputs import opened

MOST_SAVED = 1_000_000
"""Bytes of a file that the audience's page saves."""


def played(ledger: Ledger, first: int = 1, last: int | None = None) -> Iterator[FinishedTournament]:
    """The finished tournaments of an arena, in order."""
    summaries = ledger.summaries(first, last)
    wanted = {summary.number: None for summary in summaries if summary.game == LAST_ARENA.name}
    for issued, record in rows_of(ledger, wanted):
        outcome = read_record(record.body).outcome
        players = {seat.label: seat.player for seat in read_issued(issued.body).seats}
        digest = sha256(record.body).hexdigest()
        yield FinishedTournament(record.number, players, outcome.void, outcome.detail, digest)


def find(ledger: Ledger, number: int | None = None) -> FinishedTournament:
    """The tournament of that number, or the last one. Raises LedgerError when it is none, or not finished."""
    if number is None:
        for place in range(ledger.heads()[1], 0, -1):
            for newest in played(ledger, place, place):
                return newest
        raise LedgerError("no tournament of Humanity's Last Arena is on record here; see `peerage run`")
    rows, at = ledger.match(number, exchanges=False), ledger.place(number)
    match = next(played(ledger, at, at), None) if rows and rows.record else None
    if match is None:
        raise LedgerError(f"match {number} is no finished tournament of Humanity's Last Arena")
    return match


def answers(ledger: Ledger, match: FinishedTournament) -> dict[str, str]:
    """The usable answers of a tournament by their ids on record, cut as their judges saw them."""
    rows = ledger.match(match.number)
    if rows is None:
        raise LedgerError(f"{ledger.address} lacks match {match.number}; `peerage verify` says more")
    fixture = read_fixture(rows.fixture.body, by_hex(ledger.texts()))
    limit, scored = (
        answer_chars(fixture.settings["max_tokens"], fixture.settings["answer_budgets"]),
        frozenset(match.answers),
    )
    texts = {
        first_key(exchange.key): raw.text
        for exchange in rows.exchanges
        if exchange.reply is not None and (raw := read_reply(exchange)).status == "ok"
    }
    return {
        answer: text[:limit]
        for answer, text in answers_of(fixture, texts).items()
        if text.strip() and answer in scored
    }


def token(match: FinishedTournament, answer: str) -> str:
    """Return the name of an answer where people judge it: the same for everybody, telling nothing."""
    return sha256(f"audience\0{match.record}\0{answer}".encode()).hexdigest()[:16]


def tokens(match: FinishedTournament) -> dict[str, str]:
    """The id of every answer that was scored by peers, by its token."""
    return {token(match, answer): answer for answer in match.answers}


class VotesRefused(Exception):
    """A file of votes cannot be entered; the message says why."""


def opinion(ledger: Ledger, file: Path) -> Opinion:
    """Return what somebody saved on the audience's page, with the answers named as they are on record. Raises
    VotesRefused, LedgerError when there is no such tournament, and OSError."""
    with opened(file) as stream:
        body = stream.read(MOST_SAVED + 1)
    if len(body) > MOST_SAVED:
        raise VotesRefused(f"{file} has more than {MOST_SAVED:,} bytes: no file that the page saves")
    try:
        saved = read_opinion(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise VotesRefused(f"{file} is no file that the page saved: {error}") from None
    match = find(ledger, saved.match)
    if match.record != saved.record:
        raise VotesRefused(f"{file} judges another record of match {saved.match} than this arena's")
    known = tokens(match)
    unknown = [answer for answer in saved.scores if answer not in known]
    if unknown:
        raise VotesRefused(
            f"{file} scores the answer {unknown[0]!r}, which match {saved.match} does not have"
        )
    scores = {known[answer]: points for answer, points in saved.scores.items()}
    return msgspec.structs.replace(saved, scores=scores)


def public_scores(ledger: Ledger, match: FinishedTournament) -> dict[str, list[float]]:
    """Return what people outside gave each label's answers, each one's scores brought to an average of 5."""
    known = frozenset(match.answers)
    grades = [
        Grade(opinion.voter, item.split("/")[1], item, points)
        for opinion in opinions(ledger)
        if opinion.record == match.record
        for item, points in opinion.scores.items()
        if item in known
    ]
    return grouped((gain.grade.author, gain.value) for gain in normalised_grades(grades))
