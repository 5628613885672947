"""The pool of challenges as rows, what can be said about a challenge later, and what that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from peerage.challenges.pool import ChallengePool, ChallengeReview, PoolChallenge
from peerage.ledger import Ledger
from peerage.reading.verdicts.withdrawn import amended
from peerage.render.blocks import Column, Rows, Small, numbers, texts
from peerage.values import grouped
from peerage.values.figures import begun, hundredths, percent, signed, whole


class Tried(Struct, frozen=True):
    """A player's attempts at a challenge, and how many of them were right."""

    player: str
    solved: int
    attempts: int


class ChallengeRow(Struct, frozen=True):
    """A challenge of the pool.

    `state` is in use, flagged, objected, withdrawn or retired, `reason` why in people's words;
    `reviews` are the verdicts of its committee and of people, in their order. `attempts` are those by others,
    `solved` their share of right answers, `own_solved` the same of its author; None without any.
    `difficulty` and `discrimination` are b and a of the two-parameter logistic model with standard errors.
    `reference_answer` is None while the challenge is sealed; `match` is where it was accepted, 0 imported.
    `tried` are those others, who solved it most often first.
    """

    challenge_id: str
    author_llm: str
    state: str
    flags: tuple[str, ...]
    reason: str
    reviews: tuple[ChallengeReview, ...]
    attempts: int
    solved: float | None
    own_solved: float | None
    difficulty: float | None
    difficulty_error: float | None
    discrimination: float | None
    discrimination_error: float | None
    proof: str
    match: int
    description: str
    reference_answer: int | None
    tried: tuple[Tried, ...]

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def rows(found: ChallengePool, *, answers: bool = False) -> list[ChallengeRow]:
    """Every challenge in the order of acceptance; `answers` shows the sealed ones too."""
    estimates = found.estimates()
    listed: list[ChallengeRow] = []
    for name, entry in found.entries.items():
        estimate = estimates.get(name)
        listed.append(
            ChallengeRow(
                challenge_id=name,
                author_llm=entry.author_llm,
                state=entry.state,
                flags=(*entry.flags, *[flag for flag in entry.shown if flag not in entry.flags]),
                reason=_reason(entry),
                reviews=tuple(entry.reviews),
                attempts=len(entry.by_others),
                solved=_share([one.result == "correct" for one in entry.by_others]),
                own_solved=_share([one.result == "correct" for one in entry.attempts if one.own_challenge]),
                difficulty=estimate and estimate.difficulty,
                difficulty_error=estimate and estimate.difficulty_error,
                discrimination=estimate and estimate.discrimination,
                discrimination_error=estimate and estimate.discrimination_error,
                proof=entry.proof,
                match=entry.match,
                description=entry.description,
                reference_answer=entry.answer if answers or entry.retired is not None else None,
                tried=_tried(entry),
            )
        )
    return listed


def to_review(found: ChallengePool, *, answers: bool = False) -> list[ChallengeRow]:
    """The challenges that no person has reviewed and that may still come into a match, flagged ones first."""
    waiting = [
        row
        for row in rows(found, answers=answers)
        if row.state not in ("withdrawn", "retired") and found.entries[row.challenge_id].review is None
    ]
    return sorted(waiting, key=lambda row: row.state == "in use")


def _tried(entry: PoolChallenge) -> tuple[Tried, ...]:
    results = grouped((attempt.llm_id, attempt.result == "correct") for attempt in entry.by_others)
    found = [Tried(player, sum(solved), len(solved)) for player, solved in results.items()]
    return tuple(sorted(found, key=lambda one: (-one.solved / one.attempts, one.player)))


def attempts(entry: PoolChallenge, *, answers: bool = False) -> list[dict[str, Any]]:
    """The attempts at one challenge in their order, as records with Valyrian's fields and the match."""
    shown = answers or entry.retired is not None
    return [
        {
            "llm_id": one.llm_id,
            "challenge_id": entry.challenge_id,
            "submitted_answer": one.answer if shown else None,
            "result": one.result,
            "own_challenge": one.own_challenge,
            "points": one.points,
            "match": one.match,
        }
        for one in entry.attempts
    ]


def _reason(entry: PoolChallenge) -> str:
    """Return why a challenge is where it is."""
    if entry.state == "objected":
        return next(one.reason for one in reversed(entry.reviews) if one.by == "people")
    return entry.withdrawn or entry.retired or "; ".join(filter(None, entry.flags.values()))


def _share(solved: list[bool]) -> float | None:
    return sum(solved) / len(solved) if solved else None


class Effect(Struct, frozen=True):
    """The effect of a withdrawal: attempts not counted any more, their matches, those with another result."""

    attempts: int
    matches: int
    changed: tuple[int, ...]


def effect(ledger: Ledger, entry: PoolChallenge) -> Effect:
    """The effect of all withdrawals on the matches in which `entry` was attempted."""
    numbers = {one.match for one in entry.attempts}
    recorded = {row.number: row.scores for row in ledger.summaries() if row.number in numbers}
    now = {row.number: row.scores for row in amended(ledger) if row.number in numbers}
    changed = tuple(sorted(number for number in numbers if recorded[number] != now[number]))
    return Effect(len(entry.attempts), len(numbers), changed)


SHORT = 60
"""Characters of a description that a table shows."""


def table(rows: Sequence[ChallengeRow], title: str = "") -> Rows:
    """Return the pool as a table; a page says under it what other media have in columns."""
    columns = [
        Column("challenge_id", "Challenge", lambda digest: digest[:8]),
        *texts(author_llm="Author"),
        Column("state", "State", small=_state),
        Column("flags", "Flags", ", ".join, page=False),
        Column("reviews", "Review", _reviewed, spare=4, page=False),
        *numbers(whole, attempts="Attempts ~1"),
        *numbers(percent, solved="Solved"),
        Column("difficulty", "Difficulty", signed, number=True, spare=2, small=_error),
        Column("discrimination", "Discrimination", hundredths, number=True, spare=3, page=False),
        Column("reference_answer", "Answer", number=True, spare=2, value=_answer),
        Column("description", "Description", partial(begun, most=SHORT), spare=1, quoted=True),
    ]
    return Rows(rows, columns, title=title, name="pool", anchor=lambda row: row.challenge_id)


def _state(row: ChallengeRow) -> Iterator[Small]:
    yield from (Small(flag, "bad") for flag in row.flags)
    if row.reason:
        yield Small(row.reason, quoted=True)


def _reviewed(reviews: Sequence[ChallengeReview]) -> str:
    return ", ".join([f"{review.by}: {review.verdict}" for review in reviews])


def _answer(row: ChallengeRow) -> str:
    return "sealed" if row.reference_answer is None else str(row.reference_answer)


def _error(row: ChallengeRow) -> Iterator[Small]:
    if row.difficulty is not None:
        yield Small(f"± {row.difficulty_error:.2f}")


def in_words(row: ChallengeRow, tried: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is known of a challenge with all its attempts, as lines."""
    where = f"match {row.match}" if row.match else "imported"
    flags = f" ({', '.join(row.flags)})" if row.flags else ""
    yield f"challenge {row.challenge_id}: {row.state}{flags}"
    yield row.description
    yield f"answer: {_answer(row)}; by {row.author_llm}, {where}, proof: {row.proof}"
    for review in row.reviews:
        yield f"review, {review.by}: {review.verdict}{': ' * bool(review.reason)}{review.reason}"
    if row.reason:
        yield f"reason: {row.reason}"
    if row.difficulty is not None:
        yield (
            f"difficulty {row.difficulty:+.2f} ± {row.difficulty_error:.2f}, "
            f"discrimination {row.discrimination:.2f} ± {row.discrimination_error:.2f}"
        )
    for attempt in tried:
        own = ", its author" if attempt["own_challenge"] else ""
        given = "" if attempt["submitted_answer"] is None else f" {attempt['submitted_answer']}"
        yield (
            f"  match {attempt['match']}: {attempt['llm_id']}{own}: {attempt['result']}{given}, "
            f"{attempt['points']:+g}"
        )
