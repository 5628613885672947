"""Matches and who plays them where several processes play one arena: workers and their leases, on PostgreSQL.

The run that holds the ledger is the leader. It offers matches in the table `leases`; each worker, a row of
`workers`, claims some of them, past those that others are just claiming (`SKIP LOCKED`), and writes what is
asked and replied itself. Every transaction of a worker counts its own row on, under the run's fence and its
number, with the leader's row locked: so a worker that was given up, or whose leader was followed by another,
writes nothing more, and all rows become durable in one order.

Each time a match is offered it gets a `turn` that is higher than the one before, and its lease is of that
turn. So what is known of an earlier lease, or done once more as its answer was lost, touches no later one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import psycopg

from peerage.ledger import Batch, Exchange, Ledger, LedgerAway, LedgerError
from peerage.ledger.forms.bodies import Bodies
from peerage.ledger.stores.contract import Found, Transaction
from peerage.ledger.stores.postgres import PLANS, Connected, PostgresStore, Reconnecting
from peerage.ledger.stores.postgres_words import is_lost
from peerage.ledger.stores.server import Patience, Tenure, note, process_named
from peerage.ledger.tables import StoredRows, inserts_of

_TABLES = """
CREATE TABLE IF NOT EXISTS workers (run bigint NOT NULL, number bigint NOT NULL, written bigint NOT NULL,
    gone boolean NOT NULL, who text NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE IF NOT EXISTS leases (match bigint PRIMARY KEY, turn bigint NOT NULL, run bigint NOT NULL,
    worker bigint, claim bigint)
"""
_HIRE = """
INSERT INTO workers SELECT %(run)s, coalesce(max(number), 0) + 1, 0, false, %(who)s FROM workers
WHERE run = %(run)s RETURNING number
"""
_OVER = """
DELETE FROM leases USING unnest(%s::bigint[], %s::bigint[]) AS one(match, turn)
WHERE leases.match = one.match AND (run, leases.turn) <= (%s, one.turn)
"""
_OFFER = """
INSERT INTO leases (match, turn, run)
SELECT one.match, one.turn, fence FROM runner, unnest(%s::bigint[], %s::bigint[]) AS one(match, turn)
WHERE fence = %s ON CONFLICT DO NOTHING
"""
"""A lease is a row of its own each time: who began to claim before sees none, where it would not see either
what was written under the one before."""
_CLAIM = """
WITH me AS MATERIALIZED (SELECT FROM workers
    WHERE run = %(run)s AND number = %(worker)s AND NOT gone FOR SHARE),
before AS (SELECT match FROM leases WHERE run = %(run)s AND worker = %(worker)s AND claim = %(claim)s),
free AS MATERIALIZED (SELECT match FROM leases
    WHERE run = %(run)s AND worker IS NULL AND EXISTS (SELECT FROM me) AND NOT EXISTS (SELECT FROM before)
    ORDER BY match LIMIT %(most)s FOR UPDATE SKIP LOCKED),
taken AS (UPDATE leases SET worker = %(worker)s, claim = %(claim)s FROM free
    WHERE leases.match = free.match RETURNING leases.match)
SELECT number, body, EXISTS (SELECT FROM intents WHERE intents.match = number) FROM me LEFT JOIN fixtures
ON number IN (SELECT match FROM taken UNION ALL SELECT match FROM before) ORDER BY number
"""
"""In one statement, which makes one way to the server and back. A claim whose answer was lost is made again
under its number, and takes nothing twice. No row: the worker was given up."""
_SETTLED = "SELECT FROM workers WHERE run = %(run)s AND number = %(worker)s FOR UPDATE"
_GOES_ON = """
SELECT workers.written FROM workers JOIN runner ON run = fence WHERE run = %s AND number = %s AND NOT gone
"""
_WORKING = """
SELECT number, who, array_agg(match ORDER BY match) FILTER (WHERE match IS NOT NULL)
FROM workers JOIN runner ON workers.run = fence
LEFT JOIN leases ON leases.run = workers.run AND worker = number
WHERE NOT gone GROUP BY number, who ORDER BY number
"""


LOOKED_FOR_EVERY = 50
"""Batches after which a worker looks once more for the dictionary of bodies, which the leader makes."""
Turn = tuple[int, int]
"""A match, and which offer of it."""


class Claimed(NamedTuple):
    """A match that a worker plays from now on: the body of its fixture, and its recorded exchanges."""

    number: int
    body: bytes
    recorded: Sequence[Exchange]


class _LeaseLine:
    """A connection for work that may be repeated; it waits for a server that is away."""

    def __init__(self, server: PostgresStore) -> None:
        self._server = server
        self._patience = Patience(server.place, is_lost)
        self._patience.runs = True
        self._connection = Reconnecting(partial(server.connect, autocommit=True))
        self._closed = False

    def do(self, work: Callable[[Connected], Found]) -> Found:
        """Do some work, each statement a transaction unless it says otherwise. Raises LedgerError."""

        def tried() -> Found:
            try:
                if not self._connection.is_open:
                    self._connection.execute(PLANS)
                return work(self._connection.raw)
            except BaseException:
                self._hang_up()
                raise
            finally:
                if self._closed:  # by another thread, while this one was connecting
                    self._hang_up()

        with self._server.explained():
            return self._patience.wait(tried)

    def last(self, work: Callable[[Connected], object]) -> None:
        """Do what can be left undone where the server is away for longer, and hang up."""
        self._patience.runs = False
        with suppress(LedgerError):
            self.do(work)
        self.close()

    def close(self) -> None:
        """Release the connection; work that still goes on keeps none."""
        self._closed = True
        self._hang_up()

    def _hang_up(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


def patiently(read: Callable[[], Found]) -> Found:
    """Read from a ledger in the middle of a run; wait for a server that is away."""
    patience = Patience("", lambda error: isinstance(error, LedgerAway))
    patience.runs = True
    return patience.wait(read)


class Leases:
    """The leader's side, for one thread at a time. Made while it holds the ledger at `address`: leases of
    earlier runs, and their workers, end."""

    def __init__(self, address: str) -> None:
        """Raises LedgerError where the ledger is none that several processes can write to."""
        self._line = _LeaseLine(_server(address))

        def begin(connection: Connected) -> int:
            with connection.transaction():
                connection.execute(_TABLES)
                row = connection.execute("SELECT fence FROM runner FOR UPDATE").fetchone()
                assert row is not None
                connection.execute("DELETE FROM leases")
                connection.execute("DELETE FROM workers")
                return int(row[0])

        self.run = self._line.do(begin)

    def offer(self, turns: Collection[Turn], over: Collection[Turn]) -> None:
        """Let workers claim some matches, also those that others had; end the leases that are `over`."""

        before = [*over, *[(match, turn - 1) for match, turn in turns]]

        def work(connection: Connected) -> None:
            with connection.pipeline():  # one transaction
                for sql, some in ((_OVER, before), (_OFFER, turns)):
                    if some:
                        matches, numbers = zip(*some, strict=True)
                        connection.execute(sql, ([*matches], [*numbers], self.run))

        self._line.do(work)

    def revoke(self, worker: int) -> list[Turn]:
        """Give up a worker: it writes nothing from now on; with the leases it has."""

        def work(connection: Connected) -> list[Turn]:
            holder = self.run, worker
            with connection.transaction():
                connection.execute("UPDATE workers SET gone = true WHERE run = %s AND number = %s", holder)
                leases = connection.execute(
                    "SELECT match, turn FROM leases WHERE run = %s AND worker = %s ORDER BY match", holder
                )
                return leases.fetchall()

        return self._line.do(work)

    def close(self) -> None:
        """Give up all workers, after what they write at this moment."""
        over = "UPDATE workers SET gone = true WHERE run = %s"
        self._line.last(lambda connection: connection.execute(over, (self.run,)))


class WorkersLedger:
    """A worker's side: it claims matches of a `run` and writes what is asked and replied in them. `number` is
    its fence among the run's workers. `claim` and `write` may be called by one thread each."""

    def __init__(self, address: str, run: int) -> None:
        """Raises LedgerError, also where the run has ended."""
        self._run = run
        self._line = _LeaseLine(_server(address))

        def hire(connection: Connected) -> int:
            with connection.transaction():
                if connection.execute("SELECT FROM runner WHERE fence = %s FOR UPDATE", (run,)).rowcount != 1:
                    raise given_up(address)
                row = connection.execute(_HIRE, {"run": run, "who": note()}).fetchone()
                assert row is not None
                return int(row[0])

        self._claims = 0
        self.number = self._line.do(hire)
        self._store = _LeaseWriter(address, run, self.number)
        self._ledger = Ledger(self._store)
        self._writes: Transaction | None = None
        self._bodies, self._written = Bodies(address), 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the connection that writes."""
        with self._store.lock() as self._writes:
            yield

    def write(self, batch: Batch) -> None:
        """Make texts, intents, replies and failures durable. Raises LedgerError."""
        assert self._writes is not None
        if not self._bodies.dictionary and self._written % LOOKED_FOR_EVERY == 0:
            self._learn()
        self._written += 1
        self._store.commit(partial(self._writes.append, inserts_of(batch, self._bodies)), again=True)

    def texts(self, digests: Collection[bytes]) -> dict[bytes, str]:
        return patiently(partial(self._ledger.texts, digests))

    def media(self, digests: Iterable[str]) -> dict[str, bytes]:
        return patiently(partial(self._ledger.media, [*digests]))

    def claim(self, most: int) -> list[Claimed]:
        """Claim so many matches, the lowest that nobody has."""
        self._claims += 1  # where an answer of the server is lost, this tells what was claimed already
        fields = {"run": self._run, "worker": self.number, "most": most, "claim": self._claims}
        tried = False

        def work(connection: Connected) -> list[Any]:
            nonlocal tried
            if tried:  # the server may still be at the one before, of which this one would not know
                connection.execute(_SETTLED, fields)
            tried = True
            return connection.execute(_CLAIM, fields).fetchall()

        rows = self._line.do(work)
        if not rows:
            raise given_up(self._ledger.address)
        claimed = [(number, bytes(body), begun) for number, body, begun in rows if number is not None]
        stored = [body for _, body, _ in claimed]
        if any(map(self._bodies.lacks, stored)):
            self._learn()
        bodies = self._bodies.whole(stored)
        return [
            Claimed(number, body, self._recorded(number, begun))
            for (number, _, begun), body in zip(claimed, bodies, strict=True)
        ]

    def _learn(self) -> None:
        """Look for the dictionary of bodies."""
        self._bodies.learn(patiently(StoredRows(self._store, self._bodies).dictionary))

    def _recorded(self, number: int, begun: bool) -> Sequence[Exchange]:
        rows = patiently(partial(self._ledger.match, number)) if begun else None
        return rows.exchanges if rows is not None else ()

    def close(self) -> None:
        """Release the connections."""
        self._line.close()
        self._ledger.close()


class _LeaseWriter(PostgresStore):
    """The server, as a worker writes to it next to others, as long as the run and the worker are wanted. All
    that is inserted at once is a transaction, which the server ends by itself: others wait for the leader's
    row no longer than that takes, and not for a way there and back."""

    # What an earlier connection of this worker may still commit is waited for.
    _written = "SELECT written FROM workers WHERE run = %s AND number = %s FOR SHARE"
    _count = """
    WITH leader AS MATERIALIZED (SELECT fence FROM runner WHERE fence = %s FOR UPDATE)
    UPDATE workers SET written = written + 1 FROM leader
    WHERE run = fence AND number = %s AND written = %s AND NOT gone
    """

    def __init__(self, address: str, run: int, number: int) -> None:
        super().__init__(address)
        self._of = run, number
        self._patience.runs = True

    @property
    def _fences(self) -> tuple[int, ...]:
        return self._of

    def _locked(self, create: bool) -> Connected:
        connection = self.connect(autocommit=True)
        try:
            row = connection.execute(_GOES_ON, self._of).fetchone()
            if row is None:
                raise self._superseded()
            if self._run is None:
                self._run = Tenure(self._of[0], *row)
            self._durably(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _superseded(self) -> LedgerError:
        return given_up(self.address)


class GivenUp(LedgerError):
    """A worker is not wanted any more."""


def given_up(address: str) -> GivenUp:
    return GivenUp(
        f"this worker was given up, or its run of {address} has ended; it wrote nothing since, and others go "
        "on with its matches"
    )


def _server(address: str) -> PostgresStore:
    return PostgresStore(address)


def working(address: str) -> dict[int, tuple[str, list[int]]]:
    """Workers of the run that goes on, by number: each "process NUMBER on HOST", and its leased matches."""
    line = _LeaseLine(_server(address))

    def look(connection: Connected) -> list[Any]:
        (there,) = connection.execute("SELECT to_regclass('leases')::text").fetchone() or (None,)
        return connection.execute(_WORKING).fetchall() if there else []

    try:
        return {
            number: (process_named(json.loads(who)), matches or []) for number, who, matches in line.do(look)
        }
    finally:
        line.close()
