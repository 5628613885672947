"""Votes of judges as battles in LMArena's columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from peerage.games.rejudge import GAME as REJUDGE
from peerage.games.rejudge.recorded import read_recorded
from peerage.ledger import Ledger, Summary
from peerage.ledger.forms.codec import read_issued
from peerage.ratings.read.words import WINNERS
from peerage.reading.verdicts.votes import judged_duels, votes


def battles(ledger: Ledger) -> Iterator[str]:
    """Every valid vote on a decided duel, or on recorded answers that were judged again, as a line of JSON: a
    battle in LMArena's columns. `question_id` is the match, `tstamp` seconds since 1970; the votes of one
    match share a `weight` of 1. Of answers judged again `question` shows which pairs share one, and hang
    together. Raises LedgerError."""
    decided = judged_duels(ledger)
    cast = votes(ledger, decided, {})
    questions = _questions(ledger, decided)
    at_ms = {summary.number: summary.at_ms for summary in decided}
    history = cast.history
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
            "winner": WINNERS[score],
            "judge": cast.judges[judge],
            "tstamp": at_ms[match] / 1000,
            "weight": weight,
            **({"question": questions[match]} if match in questions else {}),
        }
        yield f"{msgspec.json.encode(row).decode()}\n"


def _questions(ledger: Ledger, matches: Sequence[Summary]) -> dict[int, str]:
    """Return what each match judged again: the digest of its question, or of the record it comes from."""
    again = {summary.number for summary in matches if summary.game == REJUDGE.name}
    if not again:
        return {}
    return {
        row.number: read_recorded(read_issued(row.body).drawn).record
        for row in ledger.fixtures()
        if row.number in again
    }
