"""Matches that were played elsewhere, entered into a ledger as if their recorded replies had just come in.

The game is played with the replies on record, so that what is entered replays and verifies like any match.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from peerage.engine.match.driver import Driver
from peerage.engine.record.records import MatchTally, settle
from peerage.game.match import Outcome, Recording, Seat
from peerage.game.protocol import Reply, first_key
from peerage.games import GAMES, release_of
from peerage.ledger import Batch, FixtureRow, IntentRow, Ledger, LedgerError, RecordRow, ReplyRow
from peerage.ledger.forms.codec import fixture_body, read_issued, reply_body, reply_salt
from peerage.ledger.forms.codec_requests import request_body
from peerage.ledger.forms.merkle import GENESIS, leaf, link
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ratings.sequential.elo import EloSettings
from peerage.standings.accounts import position
from peerage.standings.fold import NOBODY, Standings, after_all
from peerage.values.figures import counted

ASKED_ONCE = "on record once; its recorder did not ask again"
"""`reason` of the empty reply that stands for a repair."""


def recorded_reply(recording: Recording, key: str) -> Reply:
    """The reply on record to a request. Raises LedgerError when there is none. A repair gets nothing: what
    could not be used is on record once."""
    first = first_key(key)
    if first not in recording.replies:
        raise LedgerError(
            f"recorded match {recording.fixture.seed}: there is no reply to {first!r}, which "
            f"{recording.fixture.game} asks for; its record is not complete"
        )
    return Reply("ok", "", reason=ASKED_ONCE) if first != key else Reply("ok", recording.replies[first])


def admit(ledger: Ledger, recordings: Iterable[Recording], elo: EloSettings) -> list[Outcome]:
    """Enter recorded matches after the last one, in order, all or none; each is a round of its own. Nothing
    paired them, so their seats carry the ratings by which the last match before them was paired. The caller
    holds the runner's lock. Raises LedgerError when matches are under way or a reply is missing."""
    issued, done = ledger.heads()
    if issued > done:
        raise LedgerError(
            f"{ledger.address}: {counted(issued - done, 'match is', 'matches are')} under way; let "
            "`peerage run` go on first"
        )
    standings = position(ledger, elo).standings
    chain = next((row.chain for row in ledger.records(done, done)), GENESIS) if done else GENESIS
    rounds, snapshot, rated = _last(ledger, done, elo)
    batch, outcomes = Batch(), []
    for place, recording in enumerate(recordings, 1):
        fixture = msgspec.structs.replace(
            recording.fixture,
            number=done + place,
            round=rounds + place,
            snapshot=snapshot,
            paired_from=0,
            release=release_of(recording.fixture.game),
            seats=tuple(
                [
                    Seat(seat.label, seat.player, *rated.of(seat.player, elo.initial))
                    for seat in recording.fixture.seats
                ]
            ),
        )
        body, texts = fixture_body(fixture)
        batch.texts += texts
        batch.fixtures.append(FixtureRow(fixture.number, fixture.round, body))
        tally = MatchTally()
        ended = _play(recording._replace(fixture=fixture), tally, batch)
        digest = digest_of(body)
        settled = settle(fixture, digest, tally, ended, standings, elo, recording.at_ms)
        standings, chain = settled.standings, link(chain, settled.body)
        batch.records.append(RecordRow(fixture.number, settled.body, chain, recording.at_ms))
        batch.summaries.append(settled.summary)
        outcomes.append(ended)
    ledger.write(batch)
    return outcomes


def _last(ledger: Ledger, number: int, elo: EloSettings) -> tuple[int, int, Standings]:
    """Round and snapshot of match `number`, and the standings of that snapshot."""
    rows = ledger.match(number, exchanges=False)
    if rows is None:
        return 0, 0, NOBODY
    last = rows.fixture
    snapshot = read_issued(last.body).snapshot
    return last.round, snapshot, after_all(NOBODY, ledger.summaries(1, snapshot) if snapshot else (), elo)


def _play(recording: Recording, tally: MatchTally, batch: Batch) -> Outcome:
    fixture = recording.fixture
    spec = GAMES[fixture.game]
    players = {seat.label: seat.player for seat in fixture.all_seats()}
    driver = Driver(spec, fixture, spec.rules.model_validate(fixture.settings))
    todo = driver.start()
    while todo:
        ask = todo.pop(0)
        reply, player = recorded_reply(recording, ask.key), players[ask.to]
        asked, texts = request_body(ask, fixture.secret)
        replied = reply_body(reply, salt=reply_salt(fixture.secret, ask.key))
        batch.texts += texts
        batch.intents.append(IntentRow(fixture.number, ask.key, 1, player, asked, None))
        batch.replies.append(
            ReplyRow(fixture.number, ask.key, 1, replied, None, recording.at_ms, reply.latency_ms)
        )
        tally.add(ask.key, player, reply, leaf(ask.key, player, asked, replied))
        todo += driver.feed(ask.key, reply)
    assert driver.outcome is not None
    return driver.outcome
