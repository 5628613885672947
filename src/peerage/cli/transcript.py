"""A match as text to read: seats, drafts, answers, ballots, result; with every request on demand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from peerage.cli.output import dollars, seconds
from peerage.engine.driver import REPAIR, ROOM, first_key
from peerage.protocol import visible
from peerage.tables.transcript import BallotView, DraftView, ExchangeView, Transcript

_SECOND = {"": "", REPAIR: " (repaired)", ROOM: " (asked again with more room)"}

MOST = 40
"""Answers that are shown unless everything is asked for: a tournament has thousands."""


class Line(NamedTuple):
    """A paragraph: its style (a rich style name, or ""), how far it is indented, its text."""

    style: str
    indent: int
    text: str


def lines(match: Transcript, *, full: bool) -> Iterator[Line]:
    """The whole match; `full` adds every request word for word, as its player saw it."""
    names = " against ".join(
        f"{seat.player} ({seat.label})" for seat in match.seats if seat.role == "contestant"
    )
    if match.game == "rejudgement":
        names = " against ".join(f"{player} ({label})" for label, player in match.drawn["authors"].items())
        names = f"match {match.drawn['source']} judged again, {names}"
    topic = f", on {match.topic}" if match.topic else ""
    yield Line("bold", 0, f"Match {match.number}: {names}{topic}")
    yield Line("dim", 0, f"round {match.round} · {match.game} version {match.version} · {match.status}")
    yield from _seats(match)
    if match.drafts:
        yield from _head("Drafts")
        for draft in match.drafts:
            yield from _draft(draft)
    for stage, text in match.challenge.items():
        yield from _head(f"Challenge: {stage}" if len(match.challenge) > 1 else "Challenge")
        yield Line("", 2, visible(text))
    said = _side_by_side([one for one in match.exchanges if one.role == "contestant"])
    for one in said if full else said[:MOST]:
        what = first_key(one.key)
        title = f"Answer {one.label}" if what == f"answer/{one.label}" else f"{what} by {one.label}"
        yield from _head(f"{title}: {one.player}" + _SECOND[one.key.removeprefix(what)])
        yield from _said(one)
    if len(said) > MOST and not full:
        yield from _head(f"… and {len(said) - MOST:,} more; --full shows everything")
    if match.programs:
        yield from _head("Programs")
        for made in match.programs:
            size = "no program" if made.bytes is None else f"{made.bytes} bytes"
            tests = f"; tests: {', '.join(made.tests)}" if made.tests else ""
            yield Line("", 2, f"{made.player} ({made.label}): {made.result}, {size}{tests}")
    if match.ballots:
        yield from _head("Ballots")
        for ballot in match.ballots:
            yield from _ballot(ballot)
    yield from _failures(match)
    yield from _result(match)
    if full:
        for one in match.exchanges:
            yield from _exchange(one)


def _side_by_side(exchanges: list[ExchangeView]) -> list[ExchangeView]:
    """What was asked side by side (`1/…`, `2/…`), one after the other."""
    branches = list(dict.fromkeys(one.key.partition("/")[0] for one in exchanges))
    return sorted(exchanges, key=lambda one: branches.index(one.key.partition("/")[0]))


def _head(text: str) -> Iterator[Line]:
    yield Line("", 0, "")
    yield Line("bold", 0, visible(text))


def _seats(match: Transcript) -> Iterator[Line]:
    roles: dict[str, list[str]] = {}
    for seat in match.seats:
        roles.setdefault(seat.role, []).append(f"{seat.player} {seat.raw:.0f}")
    for role, players in roles.items():
        yield Line("dim", 0, f"{role}: {', '.join(players)}")


def _draft(draft: DraftView) -> Iterator[Line]:
    authors = " and ".join(dict.fromkeys(draft.authors.values()))
    ended = "approved" if draft.accepted else "rejected" if draft.status == "ok" else draft.status
    share = "" if draft.approval is None else f", {draft.approval:.0%} in favour"
    yield Line("italic", 2, f"Turn {draft.turn}, draft {draft.draft}, by {authors}: {ended}{share}")
    for text in draft.texts.values():
        yield Line("", 4, visible(text))
    for vote in draft.votes:
        reason = f" — {visible(vote.reason)}" if vote.reason else ""
        yield Line("dim", 4, f"{vote.player}: {vote.vote}{reason}")


def _said(one: ExchangeView) -> Iterator[Line]:
    if one.reply:
        yield Line("", 2, visible(one.reply))
    if one.status != "ok":
        yield Line("red", 2, f"[{one.status}] {visible(one.reason)}")
    tokens = "" if one.output_tokens is None else f"{one.output_tokens} tokens · "
    took = "" if one.latency_s is None else f"{seconds(one.latency_s)} · "
    cost = "cost unknown" if one.cost_usd is None else dollars(one.cost_usd)
    tries = f" · {one.attempts} attempts" if one.attempts > 1 else ""
    cut = f" · cut at its limit of {one.cut} tokens" if one.cut else " · cut at its limit" * one.truncated
    thought = f"{one.reasoning_tokens} of them to think · " if one.reasoning_tokens else ""
    yield Line("dim", 2, f"{tokens}{thought}{took}{cost}{tries}{cut}")


def _ballot(ballot: BallotView) -> Iterator[Line]:
    orders = ", ".join(f"{verdict} in the order {order}" for order, verdict in ballot.verdicts.items())
    flipped = "; flipped, so a tie" if ballot.flipped else ""
    yield Line("", 2, f"{ballot.player}: {ballot.vote} ({orders}{flipped}), weight {ballot.weight:.3f}")
    for order, reason in ballot.reasons.items():
        if reason:
            yield Line("dim", 4, f"{order}: {visible(reason)}")


def _failures(match: Transcript) -> Iterator[Line]:
    """Why officials' replies were lost; a contestant's stands with its answer."""
    failed = [one for one in match.exchanges if one.status == "void" and one.role != "contestant"]
    if failed:
        yield from _head("Failed calls")
    for one in failed:
        yield Line("red", 2, f"{one.key}, {one.player}: {visible(one.reason)}")


def _result(match: Transcript) -> Iterator[Line]:
    yield from _head("Result")
    if match.status == "under way":
        yield Line("", 2, "still under way" if match.exchanges else "issued, not begun yet")
        return
    if not match.scores and match.status != "done":
        yield Line("", 2, f"void: {visible(match.status)}")
    best = max(match.scores.values(), default=0.0)
    winners = [label for label, score in match.scores.items() if score == best]
    decided = f", {match.decided}" if match.decided else ""
    if len(winners) == 1:
        yield Line("", 2, f"{match.player(winners[0])} ({winners[0]}) wins{decided}")
    elif winners:
        yield Line("", 2, f"{' and '.join(match.player(label) for label in winners)} tie{decided}")
    seated = [seat.label for seat in match.seats if seat.role == "contestant"]
    for label in seated if match.scores else ():
        if label not in match.scores:
            yield Line("yellow", 2, f"{match.player(label)} ({label}) is unranked: its provider failed")
    if match.share is not None:
        first = next(iter(match.scores), "A")
        yield Line("", 2, f"{first} has {match.share:.0%} of the judges' weight")
    for label, cost in match.costs.items():
        known = "unknown" if cost is None else f"{cost:.6g}"
        yield Line("", 2, f"cost of {label}'s play: {known}")
    contestants = {seat.player for seat in match.seats if seat.role == "contestant"}
    for track, moved in match.ratings.items():
        name, digits = ("TrueSkill, μ - 3σ", 1) if track == "trueskill" else (f"{track} Elo", 0)
        changes = [
            f"{player} {before:.{digits}f} → {after:.{digits}f}"
            for player, (before, after) in moved.items()
            if player in contestants
        ]
        others = len(moved) - len(changes)
        spread = f", and {others} others moved by propagation" if others else ""
        yield Line("", 2, f"{name}: {', '.join(changes)}{spread}")
    calls = sum(total.calls for total in match.totals.values())
    spent = sum(total.cost_nano for total in match.totals.values()) / 1e9
    unknown = sum(total.unknown_costs for total in match.totals.values())
    rest = f", and {unknown} calls of unknown cost" if unknown else ""
    yield Line("", 2, f"{calls} calls, {dollars(spent)} in all{rest}")
    yield Line("dim", 2, f"record {match.digests.record} · replies {match.digests.root}")


def _exchange(one: ExchangeView) -> Iterator[Line]:
    yield from _head(f"{one.key}: {one.player} as {one.label}")
    for speaker, text in one.request:
        yield Line("cyan", 2, f"{speaker}:")
        yield Line("", 4, visible(text))
    yield Line("cyan", 2, "reply:")
    yield from _said(one)
