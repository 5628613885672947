"""Challenges and their matches in and out of other arenas, and the layout of the Valyrian Games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from peerage.challenges.pool import STREAM, ChallengePool
from peerage.challenges.wording import identity
from peerage.engine.record.challenges import pool
from peerage.formats.integer import whole_number
from peerage.games.challenge_exchange.valyrian import FinishedMatch, published_challenge
from peerage.ledger import Exchange, Ledger, amend
from peerage.ledger.forms.codec import read_record
from peerage.ledger.out.disclosure import disclosed, redacted
from peerage.ledger.topics.secret import arena_secret
from peerage.ratings.read.report import ReadingReport
from peerage.ratings.read.source import records as read_records
from peerage.reading.verdicts.withdrawn import amended, match_points
from peerage.values.inputs import opened
from peerage.values.sealing import salt, seal, sealing_key, unseal
from peerage.values.texts import storable, visible
from peerage.views.challenges import rows

IMPORTED = "imported"
_LONGEST = {"author_llm": 200, "description": 20_000}
"""Characters, as many as the longest description that rules may allow, and more than a player's name has."""


def finished(ledger: Ledger) -> Iterator[FinishedMatch]:
    """The matches as tables count them, with what the Valyrian layout has; those without a result are left
    out. Where a game has no points its scores stand in. Raises LedgerError."""
    points, revealed = match_points(ledger), disclosed(ledger)
    records = {row.number: redacted(row, revealed) for row in ledger.records()}
    exchanges = groupby(ledger.exchanges(1), attrgetter("match"))
    number, rows = next(exchanges, (0, iter(())))
    for match in amended(ledger):
        if not match.scores:
            continue
        while number and number < match.number:
            number, rows = next(exchanges, (0, iter(())))
        seconds = _seconds(rows) if number == match.number else {}
        record, earned = read_record(records[match.number].body), points.get(match.number, match.scores)
        yield FinishedMatch(record, match.game, match.players, earned, match.at_ms, seconds)


def _seconds(rows: Iterable[Exchange]) -> dict[str, float]:
    """Return how long each player took in all."""
    seconds: dict[str, float] = {}
    for row in rows:
        if row.reply is not None:
            taken = (row.latency_ms or 0) / 1e3
            seconds[row.player] = seconds.get(row.player, 0.0) + taken
    return seconds


def exported(challenges: ChallengePool, *, answers: bool = False) -> Iterator[dict[str, Any]]:
    """Records with Valyrian's fields. A sealed answer is None, and then its author's program is left out."""
    for row in rows(challenges, answers=answers):
        kept = ("challenge_id", "author_llm", "description", "reference_answer")
        record = {key: getattr(row, key) for key in kept}
        program = challenges.entries[row.challenge_id].solution
        if row.reference_answer is not None and program is not None:
            record["solution"] = unseal(program)
        yield record


class Entered(NamedTuple):
    """Imported records: how many are new, how many known, and places of others by why they were refused."""

    new: int
    double: int
    refused: Mapping[str, list[str]]


def enter_challenges(
    ledger: Ledger, records: Iterable[tuple[str, Any]], at_ms: int, seed: int | None = None
) -> Entered:
    """Enter the good ones of these records, each with the place that a refusal names. They have the fields of
    `exported`, or are files of ValyrianTech/ValyrianGamesCodingChallenge as they are. `seed` is what the
    arena's secret follows from when there is none yet (`ArenaSettings.secret_seed`)."""
    with ledger.runner():
        known = pool(ledger)
        key = sealing_key(arena_secret(ledger, seed, at_ms=at_ms))
        new: list[dict[str, Any]] = []
        refused: dict[str, list[str]] = {}
        double = 0
        for where, record in records:
            try:
                challenge = _checked(record)
            except ValueError as error:
                refused.setdefault(str(error), []).append(where)
                continue
            name = identity(challenge.description)
            if name in known.entries or known.same(challenge.description, challenge.answer) is not None:
                double += 1
                continue
            entry = {
                "action": "import",
                "challenge_id": name,
                "author_llm": challenge.author,
                "description": challenge.description,
                "reference_answer": seal(salt(key, f"import/{name}"), challenge.answer),
                "proof": challenge.proof,
            }
            if challenge.program:
                entry["solution"] = seal(salt(key, f"import/{name}/solution"), challenge.program)
            known.amend(entry)
            new.append(entry)
        amend(ledger, STREAM, new, at_ms)
    return Entered(len(new), double, refused)


class _Given(NamedTuple):
    author: str
    description: str
    answer: int
    program: str
    proof: str


def _checked(record: Any) -> _Given:
    """Return what a record holds. Raises ValueError."""
    if isinstance(record, Exception):
        raise ValueError(str(record))
    if not isinstance(record, dict):
        raise ValueError("expected an object with description, author_llm and reference_answer")
    proof = IMPORTED
    if (published := published_challenge(record)) is not None:
        record, solved = published
        proof = f"{IMPORTED}, {solved}"
    texts: list[str] = []
    for field in ("author_llm", "description"):
        text = record.get(field)
        if not isinstance(text, str) or not visible(text).strip() or visible(text) != text:
            raise ValueError(f"{field} is {str(text)[:40]!r}; expected a text that can be read")
        if len(text) > _LONGEST[field]:
            raise ValueError(f"{field} has {len(text):,} characters; expected at most {_LONGEST[field]:,}")
        texts.append(storable(text).strip())
    answer = whole_number(record.get("reference_answer"))
    if answer is None:
        raise ValueError(
            f"reference_answer is {str(record.get('reference_answer'))[:40]!r}; expected a whole number of "
            "at most 60 digits. A sealed answer stays with its arena: export with --answers there, or retire "
            "the challenge"
        )
    program = record.get("solution") or ""
    if not isinstance(program, str):
        raise ValueError(f"solution is {str(program)[:40]!r}; expected a program's text, or nothing")
    return _Given(texts[0], texts[1], answer, storable(program), proof)


def records(paths: Sequence[Path]) -> Iterator[tuple[str, Any]]:
    """Yield each record of files and folders with its place; a bad one is given as its error."""

    def inside(path: Path) -> list[Path]:
        return [file for file in sorted(path.rglob("*.json*")) if file.is_file()]

    for file in [file for path in paths for file in (inside(path) if path.is_dir() else [path])]:
        report = ReadingReport(file.name)
        with opened(file) as stream:
            for record in read_records(stream, file.name, report):
                yield report.place, record
        yield from [(place, ValueError(problem)) for place, problem in report.problems]
