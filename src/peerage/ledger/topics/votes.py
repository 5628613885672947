"""Votes of people: a chained stream of amendments in a file of its own, next to the ledger.

The runner holds the ledger's lock for as long as it plays; people vote meanwhile. So votes go where no runner
ever writes, `arena.votes.db` beside `arena.db`, or a table of its own beside a ledger on a server. Any number
of servers may append to it: each vote is numbered and linked within one transaction that excludes the others.
A vote cites the digest of the record it judges, so it counts only for what its voter saw. A run takes the
stream's head into the log when it begins, when it ends and every so often: from then on the log binds the
votes too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from peerage.ledger.forms.merkle import link, stream_genesis
from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import VOTES
from peerage.ledger.stores import open_store
from peerage.ledger.stores.contract import END, Insert, Reads, Row, Select, Store, Transaction, Wanted
from peerage.values.inputs import real

STREAM = "audience"
TIE = "tie"
BOTH_BAD = "both bad"
SKIPPED = "skipped"


class VotedAlready(LedgerError):
    """This voter has judged this match before."""


class Vote(Struct, frozen=True, omit_defaults=True):
    """One person's verdict on the two answers of a finished match.

    `record` is the SHA-256 of the match's record, in hex. `shown` are the contestants' labels in the order in
    which their answers stood; `verdict` is the label of the better one, "tie", "both bad", or "skipped" where
    an expert would not say. `voter` names a voter: the digest of an anonymous session, or of an expert's
    name and `take`.
    """

    match: int
    record: str
    shown: tuple[str, str]
    verdict: str
    voter: str
    at_ms: int = 0
    """When it was given, Unix milliseconds."""
    expert: str = ""
    """The name that an expert gave; empty for a session of the audience."""
    take: int = 1
    """2 where an expert was shown the match once more, and so on."""


def expert_voter(name: str, take: int = 1) -> str:
    """Return the name of an expert's votes, which no other voter and no other take has."""
    return sha256(f"peerage expert {take} {name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class VoteRow(NamedTuple):
    """A vote as it is stored: `body` is its JSON, `chain` links it to all before it."""

    sequence: int
    body: bytes
    chain: bytes
    at_ms: int


class PeopleVotes:
    """The votes on one ledger: none where nobody has voted yet; the first vote makes the file."""

    def __init__(self, ledger_address: str, folder: Path) -> None:
        """`ledger_address` is the ledger's `address`; `folder` is the arena's."""
        self.path = folder.resolve() / "arena.votes.db"
        """The file, next to the key of the voters' sessions, also where the votes are on a server."""
        if ledger_address.startswith("sqlite:///"):
            stem = ledger_address.removeprefix("sqlite:///").removesuffix(".db")
            self.path = real(folder / f"{stem}.votes.db")
        self._is_file = ledger_address.startswith("sqlite:///")
        self._address = f"sqlite:///{self.path}" if self._is_file else ledger_address

    @contextmanager
    def _reading(self) -> Iterator[tuple[Store, Reads | None]]:
        """Open the store: with the votes in it, or None where nobody has voted yet."""
        with closing(open_store(self._address, self.path.parent)) as store:
            # Without the table the first vote is just being cast.
            yield store, store if VOTES.name in (store.names() or ()) else None

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        """Open a transaction, durable at its end, next to which nobody else casts a vote."""
        with closing(open_store(self._address, self.path.parent)) as store, store.alone(VOTES) as writes:
            yield writes

    def exists(self) -> bool:
        """Return whether anybody has voted, or has begun to."""
        # A link that leads nowhere is there: opening it says what is wrong.
        return os.path.lexists(self.path) if self._is_file else self.head() is not None

    def cast(self, vote: Vote, at_ms: int) -> VoteRow:
        """Append a vote and make it durable. Raises VotedAlready, or LedgerError when the file cannot be
        written."""
        with self._writing() as table:
            row = _append(table, vote, at_ms)
        if row is None:
            who = vote.expert or "this session"
            raise VotedAlready(f"{who} has judged match {vote.match} before; one vote per match")
        return row

    def cast_all(self, votes: Iterable[Vote], at_ms: int) -> int:
        """Append many votes, all or none, but for those that their voters gave before; how many were new.
        Raises LedgerError when the file cannot be written."""
        with self._writing() as table:
            return sum([_append(table, vote, at_ms) is not None for vote in votes])

    def take_over(self, rows: Iterable[VoteRow]) -> None:
        """Write down the votes of another store as they are; the caller knows that there are none here."""
        taken = list(rows)
        if taken:
            with self._writing() as table:
                for row in taken:
                    _write(table, row, read_vote(row))

    def rows(self, after: int = 0) -> Iterator[VoteRow]:
        """The stream in order, from the vote after number `after` on."""
        where = {"sequence": range(after + 1, END)}
        with self._reading() as (store, table):
            rows = _rows(table, where, ("sequence", "body", "chain", "at_ms"), ("sequence",))
        try:
            yield from msgspec.convert(rows, list[VoteRow])
        except msgspec.ValidationError as error:
            raise LedgerError(
                f"{store.place} is damaged ({error}); restore it from a copy. Its table votes holds "
                "nothing else"
            ) from error

    def votes(self) -> Iterator[Vote]:
        """Every vote, in order."""
        yield from map(read_vote, self.rows())

    def misfiled(self) -> list[int]:
        """Numbers of the rows that are filed under another voter, match or time than their vote names, or
        before the first of the stream: these columns keep a voter from judging a match twice, and no chain
        holds them."""
        given = [*self.rows()]  # first, as others vote meanwhile
        with self._reading() as (_, table):
            rows = _rows(table, {}, ("sequence", "voter", "match"))
        filed = {at: tuple(place) for at, *place in rows}
        before = [at for at in filed if at < 1]
        return sorted(before) + [
            row.sequence
            for row in given
            if ((vote := read_vote(row)).voter, vote.match) != filed[row.sequence]
            or vote.at_ms not in (0, row.at_ms)
        ]

    def integrity(self) -> list[str]:
        """Return what the database itself finds wrong with the file."""
        with self._reading() as (store, _):
            return store.integrity([VOTES])

    def given(self, voter: str, match: int) -> Vote | None:
        """Return what this voter said of a match."""
        with self._reading() as (_, table):
            sequence = _given(table, voter, match)
        return None if sequence is None else read_vote(next(self.rows(after=sequence - 1)))

    def judged_by(self, voter: str) -> set[int]:
        """The matches that this voter has judged."""
        with self._reading() as (_, table):
            return {row[0] for row in _rows(table, {"voter": voter}, ("match",))}

    def of(self, voter: str) -> list[Vote]:
        """Return what this voter said, in order."""
        with self._reading() as (_, table):
            rows = _rows(table, {"voter": voter}, ("sequence", "body", "chain", "at_ms"), ("sequence",))
        return [read_vote(VoteRow(*row)) for row in rows]

    def count(self) -> int:
        """Return how many votes there are."""
        return (self.head() or (0,))[0]

    def head(self) -> tuple[int, bytes] | None:
        """Return how many votes there are, and the chain value of the last; None where nobody has voted."""
        with self._reading() as (_, table):
            return _head(table)


def _rows(
    table: Reads | None, where: Mapping[str, Wanted], names: tuple[str, ...], order: tuple[str, ...] = ()
) -> list[Row]:
    return [*chain.from_iterable(table.rows(Select(VOTES, names, where, order)))] if table else []


def _given(table: Reads | None, voter: str, match: int) -> int | None:
    """The number of a voter's vote on a match."""
    rows = _rows(table, {"voter": voter, "match": match}, ("sequence",))
    return rows[0][0] if rows else None


def _head(table: Reads | None) -> tuple[int, bytes] | None:
    newest = Select(VOTES, ("sequence", "chain"), {}, ("sequence",), down=True, limit=1)
    rows = [*chain.from_iterable(table.rows(newest))] if table else []
    return (int(rows[0][0]), bytes(rows[0][1])) if rows else None


def _append(table: Transaction, vote: Vote, at_ms: int) -> VoteRow | None:
    """Number, link and write a vote; None where its voter has judged its match."""
    if _given(table, vote.voter, vote.match) is not None:
        return None
    last, before = _head(table) or (0, stream_genesis(STREAM))
    body = msgspec.json.encode(msgspec.structs.replace(vote, at_ms=at_ms))
    row = VoteRow(last + 1, body, link(before, body), at_ms)
    _write(table, row, vote)
    return row


def _write(table: Transaction, row: VoteRow, vote: Vote) -> None:
    values = row.sequence, vote.match, vote.voter, row.chain, row.at_ms, row.body
    table.append([Insert(VOTES, [values])])


def read_vote(row: VoteRow) -> Vote:
    """The vote that a row holds. Raises LedgerError when it holds something else."""
    try:
        return msgspec.json.decode(row.body, type=Vote)
    except msgspec.MsgspecError as error:
        raise LedgerError(f"amendment {row.sequence} of {STREAM} is no vote: {error}") from error
