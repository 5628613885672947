"""Reasons: why a match came to its result, in a phrase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from peerage.game.blocks import ScoreLine
from peerage.judging.panels.panel import TIE, Ballot
from peerage.reading.match import Match
from peerage.values.figures import counted, listed

UNFIT = {"invalid": "could not be used", "refused": "was a refusal"}
"""The statuses of an answer that loses without judges, in words."""


def why(match: Match) -> str:
    """Return why a match ended as it did; empty where nothing says it, or it has no result."""
    if match.recorded is None or not match.outcome.scores:
        return ""
    try:
        return _why(match)
    except Exception:  # a stranger's game, a damaged ledger: the match can still be read
        return ""


def _why(match: Match) -> str:
    scores, detail = match.outcome.scores, match.outcome.detail
    best = [label for label, score in scores.items() if score == match.best]
    rest = [label for label in scores if label not in best]
    if "share" in detail and match.ballots:
        return _by_judges(match.ballots, best[0] if rest else "", [*scores])
    credits, statuses = detail.get("checks"), detail.get("answers")
    if credits is not None and _each(credits, scores, int | float):
        return _by_check(credits, best, rest, expected=match.fixture.drawn.get("expected") is not None)
    if (
        statuses is not None
        and _each(statuses, scores, str)
        and (bad := sorted({*statuses.values()} - {"ok"}))
    ):
        what = " or ".join([UNFIT.get(status, status) for status in bad])
        return f"the other answer {what}" if rest else f"both answers: {what}"
    lines = {block.label: block.why for block in match.blocks if isinstance(block, ScoreLine) and block.why}
    told = [lines[label].rstrip(".") for label in (best[0], *rest) if label in lines]
    return "; the other: ".join(told if len(scores) == 2 else told[:1])


def _each(found: Any, labels: Iterable[str], kind: Any) -> bool:
    """Return whether something of that kind is on record of each of some labels."""
    return isinstance(found, Mapping) and all(isinstance(found.get(label), kind) for label in labels)


def _by_judges(ballots: Sequence[Ballot], winner: str, labels: Sequence[str]) -> str:
    """Return how judges decided: how many were for whom, whether in both orders, and by what weight where
    that differs from their number."""
    votes = [ballot.vote for ballot in ballots]
    flipped = sum(ballot.flipped for ballot in ballots)
    last = [f"{flipped} flipped with the order"] * bool(flipped)
    if not winner:
        parts = [f"{votes.count(label)} for {label}" for label in labels if label in votes]
        parts += [f"{votes.count(TIE)} for a tie"] * (TIE in votes)
        return f"of {counted(len(votes), 'judge')} {listed(parts) or 'none decided'}" + _after(last)
    count = votes.count(winner)
    weight = sum([ballot.weight for ballot in ballots if ballot.vote == winner])
    if abs(weight - count / len(votes)) > 0.05:
        last.insert(0, f"with {weight:.0%} of their weight")
    elif count == len(votes) and not flipped and len({*chain(*[ballot.verdicts for ballot in ballots])}) == 2:
        each_saw_both = all(len(ballot.verdicts) == 2 for ballot in ballots)
        last.insert(0, "in both orders" if each_saw_both else "in opposite orders")
    return f"{count} of {counted(len(votes), 'judge')}" + _after(last)


def _after(parts: Sequence[str]) -> str:
    return "".join([f", {part}" for part in parts])


def _by_check(
    credits: Mapping[str, float], best: Sequence[str], rest: Sequence[str], *, expected: bool
) -> str:
    did, what = ("matched", "what was expected") if expected else ("passed", "the check")
    of_best, others = credits[best[0]], [credits[label] for label in rest]
    if not rest:
        each = "both answers" if of_best else "neither answer"
        return f"{each} {did} {what}" if of_best in (0, 1) else f"both answers were {of_best:.0%} right"
    if of_best == 1 and not any(others):
        return f"its answer {did} {what}, the other did not"
    return f"its answer was {of_best:.0%} right, the other {max(others):.0%}"
