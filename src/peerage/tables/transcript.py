"""One match as a story: who sat where, what was asked and said, how it was judged, what came of it.

Terminals and pages are made from this alone. It holds what players and spectators may see: never a house
answer's hidden quality, never a key.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache

import msgspec

from peerage.challenges.drafting import Draft
from peerage.engine.driver import REPAIR, ROOM, Driver, GameError, cut_reason, first_key
from peerage.engine.records import answered_first
from peerage.engine.replay import known_game
from peerage.judging.panel import Ballot
from peerage.ledger.codec import (
    read_fixture,
    read_record,
    read_reply,
    read_request,
    read_said,
)
from peerage.ledger.merkle import GENESIS, leaf
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.store import Exchange, Ledger, LedgerError
from peerage.match import Fixture, MatchRecord, Outcome
from peerage.protocol import SANDBOX, Chosen, FormatError, Run, fence, ran, render
from peerage.standings import DONE
from peerage.tables.views import (
    BallotView,
    Digests,
    DraftView,
    ExchangeView,
    ProgramView,
    SeatView,
    Transcript,
    VoteView,
)

UNDER_WAY = "under way"
MISSING = "(not on record)"
"""What stands for a reply that a later request quotes and a damaged ledger has lost."""


def transcript(ledger: Ledger, number: int) -> Transcript:
    """The match of that number, finished or under way. Raises LedgerError when there is no such match."""
    at = ledger.place(number)
    issued = next(iter(ledger.fixtures(at, at)), None)
    if issued is None:
        last = ledger.heads()[0]
        there = f"this arena has matches 1 to {last}" if last else "nothing was played yet; see `peerage run`"
        raise LedgerError(f"there is no match {number}: {there}")
    texts = _texts(ledger)
    fixture = read_fixture(issued.body, texts)
    row = next(iter(ledger.records(at, at)), None)
    record = None if row is None else read_record(row.body)
    outcome = Outcome() if record is None else record.outcome
    rows = list(ledger.exchanges(at, at))
    exchanges = _exchanges(fixture, rows, texts)
    finals: dict[str, ExchangeView] = {}
    for one in exchanges:
        first = finals.setdefault(first_key(one.key), one)
        if one.status == "ok" or first.status != "ok":
            finals[first_key(one.key)] = one
    players = {seat.label: seat.player for seat in fixture.all_seats()}
    drafts = _drafts(outcome, finals, players)
    digests = Digests(digest_of(issued.body))
    if row is not None and record is not None:
        before = next(iter(ledger.records(at - 1, at - 1)), None)
        previous = GENESIS if before is None else before.chain
        digests = Digests(record.fixture, record.root, digest_of(row.body), previous.hex(), row.chain.hex())
    return Transcript(
        fixture.number,
        fixture.round,
        fixture.game,
        fixture.version,
        fixture.seed,
        fixture.snapshot,
        UNDER_WAY if record is None else outcome.void or DONE,
        str(fixture.drawn.get("topic", fixture.drawn.get("category", ""))),
        dict(fixture.drawn),
        _seats(fixture),
        _challenge(fixture, outcome, drafts),
        drafts,
        exchanges,
        _ballots(outcome, finals, players),
        _programs(outcome, players),
        dict(outcome.scores),
        dict(outcome.costs),
        outcome.detail.get("share"),
        str(outcome.detail.get("decided", "")),
        _ratings(record),
        {} if record is None else dict(record.totals),
        digests,
        None if row is None else row.at_ms,
    )


def _texts(ledger: Ledger) -> Callable[[str], str]:
    @cache
    def text(digest: str) -> str:
        wanted = bytes.fromhex(digest)
        found = ledger.texts([wanted])
        if wanted not in found:
            raise LedgerError(
                f"{ledger.address} lacks the text {digest}; `peerage verify` says what is whole"
            )
        return found[wanted]

    return text


def _seats(fixture: Fixture) -> tuple[SeatView, ...]:
    contestants = [SeatView(s.label, "contestant", s.player, s.raw, s.cost) for s in fixture.seats]
    officials = [
        SeatView(s.label, role, s.player, s.raw, s.cost)  # type: ignore[arg-type]
        for role, seats in fixture.officials.items()
        for s in seats
    ]
    return tuple(contestants + officials)


def _exchanges(
    fixture: Fixture, rows: Iterable[Exchange], texts: Callable[[str], str]
) -> tuple[ExchangeView, ...]:
    rows = list(rows)
    recorded = answered_first(rows)
    said = {key: read_reply(key, e.reply).text for key, e in recorded.items() if e.reply is not None}
    attempts: dict[str, int] = {}
    for row in rows:
        attempts[row.key] = attempts.get(row.key, 0) + 1
    return tuple(
        [
            _exchange(fixture.seed, recorded[key], attempts[key], texts, lambda key: said.get(key, MISSING))
            for key in playing_order(fixture, recorded)
        ]
    )


def playing_order(fixture: Fixture, recorded: Mapping[str, Exchange]) -> list[str]:
    """The recorded keys in the order in which the game asks them; as written where it is unknown here."""
    order: list[str] = []
    # Replies that do not fit their game, in a damaged ledger, are shown all the same.
    with suppress(GameError):
        _play(fixture, recorded, order)
    played = set(order)
    return order + [key for key in recorded if key not in played]


def _play(fixture: Fixture, recorded: Mapping[str, Exchange], order: list[str]) -> None:
    spec = known_game(fixture)
    if spec is None:
        return
    driver = Driver(spec, fixture, spec.rules.model_validate(fixture.settings))
    todo = deque(driver.start())
    while todo:
        key = todo.popleft().key
        exchange = recorded.get(key)
        if exchange is None:
            continue
        order.append(key)
        if exchange.reply is None:
            continue
        asks = driver.feed(key, read_reply(key, exchange.reply))
        if asks and asks[0].key.endswith((REPAIR, ROOM)):
            todo.extendleft(asks)
        else:
            todo.extend(asks)


def _exchange(
    seed: str,
    exchange: Exchange,
    attempts: int,
    texts: Callable[[str], str],
    said: Callable[[str], str],
) -> ExchangeView:
    key = exchange.key
    ask = read_request(key, exchange.request, texts, said)
    if isinstance(ask, Run):
        return _program(ask, exchange, attempts)
    mark = fence(seed, key)
    asked = ExchangeView(
        key,
        ask.to,
        ask.role,
        exchange.player,
        tuple([(message.speaker, render(message, mark)) for message in ask.messages]),
        ask.max_tokens,
        ask.temperature,
        "waiting",
        attempts=attempts,
    )
    if exchange.reply is None:
        return asked
    raw = read_said(exchange.reply)
    status, reason, value = raw.status, raw.reason, None
    if status == "ok" and not raw.withheld:
        try:
            value = ask.expects.parse(raw.words)
        except FormatError as unusable:
            status, reason = "invalid", cut_reason(raw.cut) if raw.cut else str(unusable)
    chosen = value if isinstance(value, Chosen) else Chosen("")
    return msgspec.structs.replace(
        asked,
        status=status,
        reply=raw.words,
        reason=reason,
        choice=chosen.choice,
        choice_reason=chosen.reason,
        input_tokens=raw.input_tokens,
        output_tokens=raw.output_tokens,
        latency_s=raw.latency_ms / 1e3,
        cost_usd=None if raw.cost_nano is None else raw.cost_nano / 1e9,
        model=raw.model,
        price=raw.price,
        reasoning_tokens=raw.reasoning_tokens,
        truncated=raw.truncated,
        cut=raw.cut,
        digest=leaf(key, exchange.player, exchange.request, exchange.reply).hex(),
    )


def _program(run: Run, exchange: Exchange, attempts: int) -> ExchangeView:
    status, reply, reason, digest = "waiting", "", "", ""
    if exchange.reply is not None:
        raw = read_said(exchange.reply)
        status, reason = raw.status, raw.reason
        digest = leaf(run.key, exchange.player, exchange.request, exchange.reply).hex()
        if raw.withheld:
            reply = raw.words
        elif status == "ok":
            done = ran(raw.words)
            status, reply, reason = done.status, done.stdout, done.stderr
    shown = (("program", run.source), ("stdin", run.stdin))
    return ExchangeView(
        run.key,
        SANDBOX,
        "sandbox",
        SANDBOX,
        shown,
        0,
        None,
        status,
        reply,
        reason,
        attempts=attempts,
        cost_usd=0.0,
        digest=digest,
    )


def _drafts(
    outcome: Outcome, finals: Mapping[str, ExchangeView], players: Mapping[str, str]
) -> tuple[DraftView, ...]:
    drafts = msgspec.convert(outcome.detail.get("drafts", ()), tuple[Draft, ...])
    return tuple(
        [
            DraftView(
                draft.turn,
                draft.draft,
                {stage: players[label] for stage, label in draft.authors.items()},
                {stage: _said(finals, key) for stage, key in draft.keys.items()},
                draft.status,
                tuple(
                    [
                        VoteView(
                            label,
                            players[label],
                            vote,
                            _reason(finals, f"vote/{draft.turn}/{draft.draft}/{label}"),
                        )
                        for label, vote in draft.votes.items()
                    ]
                ),
                draft.approval,
                draft.accepted,
            )
            for draft in drafts
        ]
    )


def _ballots(
    outcome: Outcome, finals: Mapping[str, ExchangeView], players: Mapping[str, str]
) -> tuple[BallotView, ...]:
    ballots = msgspec.convert(outcome.detail.get("ballots", ()), tuple[Ballot, ...])
    return tuple(
        [
            BallotView(
                ballot.judge,
                players[ballot.judge],
                ballot.vote,
                dict(ballot.verdicts),
                {order: _reason(finals, f"{ballot.judge}/{order}") for order in ballot.verdicts},
                ballot.flipped,
                ballot.weight,
            )
            for ballot in ballots
        ]
    )


def _programs(outcome: Outcome, players: Mapping[str, str]) -> tuple[ProgramView, ...]:
    return tuple(
        [
            ProgramView(label, players[label], one["bytes"], tuple(one["tests"]), one["result"])
            for label, one in outcome.detail.get("programs", {}).items()
        ]
    )


def _said(finals: Mapping[str, ExchangeView], key: str) -> str:
    found = finals.get(first_key(key))
    return found.reply if found else ""


def _reason(finals: Mapping[str, ExchangeView], key: str) -> str:
    """A voter's own words, or why there are none."""
    found = finals.get(key)
    return (found.choice_reason or found.reason) if found else ""


def _challenge(fixture: Fixture, outcome: Outcome, drafts: Iterable[DraftView]) -> dict[str, str]:
    exchanged = [
        *fixture.drawn.get("challenges", ()),
        *[fact for fact in outcome.facts if fact.get("fact") == "challenge"],
    ]
    if exchanged:
        return {f"{one['challenge_id']} by {one['author_llm']}": one["description"] for one in exchanged}
    if "statement" in fixture.drawn:
        return {"task": str(fixture.drawn["statement"])}
    if "task" in outcome.detail:
        return {"task": str(outcome.detail["task"])}
    if "prompt" in fixture.drawn:
        return {"prompt": str(fixture.drawn["prompt"])}
    return next((dict(draft.texts) for draft in drafts if draft.accepted), {})


def _ratings(record: MatchRecord | None) -> dict[str, dict[str, tuple[float, float]]]:
    if record is None:
        return {}
    return {track: dict(moved) for track, moved in record.ratings.items()}


__all__ = [
    "MISSING",
    "UNDER_WAY",
    "BallotView",
    "Digests",
    "DraftView",
    "ExchangeView",
    "ProgramView",
    "SeatView",
    "Transcript",
    "VoteView",
    "playing_order",
    "transcript",
]
