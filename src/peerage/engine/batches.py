"""Batches of requests at providers: an entry of the log for each, durable before anything waits for it.

What an entry says is sealed: which matches wait for which player may tell who holds which role. A request is
named by a digest of its match's secret and its key.

When a match ends while a provider still holds requests of it, as one that is dropped, each of them gets one
more attempt on the ledger, open, which counts at its worst. When its batch is over a run closes the attempt
with what the reply cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import Struct

from peerage.engine.budget import Budget
from peerage.engine.journal import Journal
from peerage.engine.player_runtime import PlayerRuntime
from peerage.engine.pricing import priced
from peerage.engine.records import answered_first
from peerage.ledger.codec import by_hex, read_fixture
from peerage.ledger.store import Amendment, Exchange, FailureRow, IntentRow, Ledger, amended
from peerage.ledger.waits import Waits
from peerage.match import Fixture
from peerage.players.client import Answer, Batching, SentBatch, request_id
from peerage.sealing import Sealed, salt, seal, unseal
from peerage.standings import DONE

TOPIC = "batches"


class _Stored(Struct, frozen=True):
    sealed: Mapping[str, str]


def entry(sent: SentBatch, secret: str, at_ms: int) -> Amendment:
    """The row to be written; `secret` is the arena's."""
    name = sha256(sent.handle.encode()).hexdigest()
    sealed = seal(salt(secret, f"batches/{name}"), msgspec.to_builtins(sent))
    return Amendment(TOPIC, msgspec.json.encode(_Stored(sealed)), at_ms)


def sent_batches(ledger: Ledger) -> Iterator[SentBatch]:
    """All batches in order; none in a copy for others. Raises LedgerError."""
    for stored in amended(ledger, TOPIC, _Stored):
        with suppress(Sealed):
            yield msgspec.convert(unseal(stored.sealed), SentBatch)


def most_by_request(sent: Iterable[SentBatch]) -> dict[str, int | None]:
    """What each request in these batches may cost at most, in 1e-9 dollars."""
    return {name: most for one in sent for name, most in one.requests.items()}


def left_at_provider(
    exchanges: Iterable[Exchange], seed: str, most: Mapping[str, int | None]
) -> Iterator[IntentRow]:
    """The attempts to write when the match with this seed ends: one for each request without a reply that is
    in a batch."""
    for key, one in answered_first(exchanges).items():
        name = request_id(seed, key)
        if one.reply is None and name in most:
            yield IntentRow(one.match, key, one.attempt + 1, one.player, one.request, most[name])


def unread(ledger: Ledger, waits: Waits, requests: Collection[str]) -> dict[str, Exchange]:
    """The open attempts of matches that have ended, by the name of their request. Raises LedgerError."""
    found: dict[str, Exchange] = {}
    ended = [one.number for one in ledger.summaries() if one.status != DONE and one.number in waits.left]
    if not requests or not ended:
        return found
    texts = by_hex(ledger.texts())
    for number in ended:
        if (rows := ledger.match(number)) is None:
            continue
        seed = read_fixture(rows.fixture.body, texts).seed
        for key, one in answered_first(rows.exchanges).items():
            name = request_id(seed, key)
            if one.reply is None and one.failure is None and name in requests:
                found[name] = one
    return found


class Batches:
    """The batches of a run. For the event loop's thread alone."""

    def __init__(
        self,
        ledger: Ledger,
        journal: Journal,
        budget: Budget,
        runtimes: Mapping[str, PlayerRuntime],
        secret: str,
        clock: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._journal = journal
        self._budget = budget
        self._runtimes = runtimes
        self._secret = secret
        self._clock = clock
        self._clients = {
            name: one.client for name, one in runtimes.items() if isinstance(one.client, Batching)
        }
        self._most: dict[str, int | None] = {}
        self._over = False

    def take_up(self, pending: Iterable[Fixture], waits: Waits) -> None:
        """Let players that are asked in batches go on with those that earlier runs sent.

        What was sent for a player that has left the arena counts at its worst, until the player is back and
        reads it.
        """
        sent = [*sent_batches(self._ledger)]
        self._most = most_by_request(sent)
        nobody_asks = unread(self._ledger, waits, self._most) if self._clients else {}
        for name, client in self._clients.items():
            mine = {
                request: partial(self._came, one)
                for request, one in nobody_asks.items()
                if one.player == name
            }
            client.go_on([one for one in sent if one.player == name], self._record, mine)
        for fixture in pending if self._most else ():
            rows = self._ledger.match(fixture.number)
            for key, exchange in answered_first(rows.exchanges if rows else ()).items():
                name = request_id(fixture.seed, key)
                if exchange.reply is None and name in self._most:
                    self._budget.keep(fixture.number, key, exchange.player, self._most[name] or 0)

    async def look(self) -> None:
        """Hear of what no match asks for any more, where its batch is over by now."""
        await asyncio.gather(*[client.look() for client in self._clients.values()])

    def ended(self, fixture: Fixture) -> None:
        """A match that had waited has ended without a result: what a provider still holds of it counts at its
        worst."""
        rows = self._ledger.match(fixture.number) if self._most else None
        for row in left_at_provider(rows.exchanges if rows else (), fixture.seed, self._most):
            self._journal.rows.intents.append(row)
            self._budget.give_back(row.match, row.key, row.player)
            self._budget.doubt(row.player, row.worst_nano or 0)

    def stop(self) -> None:
        """Write nothing down any more."""
        self._over = True

    def _record(self, sent: SentBatch) -> Awaitable[None]:
        """Write a batch down; done when that is durable."""
        durable = asyncio.get_running_loop().create_future()
        self._most |= sent.requests
        self._journal.rows.amend(entry(sent, self._secret, self._clock()))
        self._journal.then(partial(durable.set_result, None))
        return durable

    def _came(self, left: Exchange, answer: Answer | None) -> None:
        """The batch of a request is over whose match had ended: write down what it cost."""
        if self._over:
            return
        worst = left.worst_nano
        cost = 0 if answer is None else priced(self._runtimes[left.player], answer).cost_nano
        cost = worst if cost is None else cost
        why = "its match had ended before its batch"
        row = FailureRow(left.match, left.key, left.attempt, why, cost, self._clock())
        self._journal.rows.failures.append(row)
        self._journal.touch()
        self._budget.doubt(left.player, (cost or 0) - (worst or 0))
