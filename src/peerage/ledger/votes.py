"""Votes of people: a chained stream of amendments in a file of its own, beside the ledger.

The runner holds the ledger's lock for as long as it plays; people vote meanwhile. So votes go where no runner
ever writes, `arena.votes.db` beside `arena.db`, or a table of its own beside a ledger on a server. Any number
of servers may append to it: each vote is numbered and linked within one transaction that excludes the others.
A vote cites the digest of the record it judges, so it counts only for what its voter saw. A run takes the
stream's head into the log when it begins, when it ends and every so often: from then on the log binds the
votes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    UniqueConstraint,
    func,
    inspect,
    select,
)

from peerage.ledger.databases import sql_store
from peerage.ledger.merkle import link, stream_genesis
from peerage.ledger.sql_database import SqlStore
from peerage.ledger.sqlite import SqliteFile
from peerage.ledger.store import LedgerError

STREAM = "audience"
TIE = "tie"
BOTH_BAD = "both bad"
SKIPPED = "skipped"

_SCHEMA = MetaData()
_VOTES = Table(
    "votes",
    _SCHEMA,
    Column("sequence", Integer, primary_key=True, nullable=False, autoincrement=False),
    Column("match", BigInteger, nullable=False),
    Column("voter", Text, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("voter", "match", name="one_vote_per_item"),
)


Sampling: TypeAlias = Literal["random", "telling", "chosen", "file"]
"""How a match came before a voter: by chance; by chance, with those on which judges split more often; by its
number; in a file."""


class VotedAlready(LedgerError):
    """This voter has judged this match before."""


class Vote(Struct, frozen=True, omit_defaults=True):
    """One person's verdict on the two answers of a finished match.

    `record` is the SHA-256 of the match's record, in hex. `shown` are the contestants' labels in the order in
    which their answers stood; `verdict` is the label of the better one, "tie", "both bad", or "skipped" where
    an expert would not say. `voter` tells voters apart: the digest of an anonymous session, or of an expert's
    name and `take`.
    """

    match: int
    record: str
    shown: tuple[str, str]
    verdict: str
    voter: str
    at_ms: int = 0
    """When it was given, Unix milliseconds; 0 in votes of version 0.1.0."""
    expert: str = ""
    """The name that an expert gave; empty for a session of the audience."""
    take: int = 1
    """2 where an expert was shown the match once more, and so on."""
    sampling: Sampling = "random"
    chance: float | None = None
    """With what probability this match was drawn among those that the expert had not judged."""


def expert_voter(name: str, take: int = 1) -> str:
    """What tells an expert's votes from anybody else's, and each take from the one before."""
    return sha256(f"peerage expert {take} {name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class VoteRow(NamedTuple):
    """A vote as it is stored: `body` is its JSON, `chain` links it to all before it."""

    sequence: int
    body: bytes
    chain: bytes
    at_ms: int


class Votes:
    """The votes on one ledger: none where nobody has voted yet; the first vote makes the file."""

    def __init__(self, ledger_address: str, folder: Path) -> None:
        """`ledger_address` is the ledger's `address`; `folder` is the arena's."""
        self.path = folder.resolve() / "arena.votes.db"
        """The file, beside which the key of the voters' sessions lies, also where the votes are on a
        server."""
        self._file: SqlStore
        if ledger_address.startswith("sqlite:///"):
            stem = ledger_address.removeprefix("sqlite:///").removesuffix(".db")
            self._file = file = SqliteFile(f"sqlite:///{stem}.votes.db", folder)
            self.path = file.path
        else:
            self._file = sql_store(ledger_address, folder)

    def exists(self) -> bool:
        """Whether anybody has voted, or has begun to."""
        return self.path.exists() if isinstance(self._file, SqliteFile) else self.head() is not None

    def cast(self, vote: Vote, at_ms: int) -> VoteRow:
        """Append a vote and make it durable.

        Raises VotedAlready, or LedgerError when the file cannot be written.
        """
        with self._writing() as connection:
            row = _append(connection, vote, at_ms)
        if row is None:
            who = vote.expert or "this session"
            raise VotedAlready(f"{who} has judged match {vote.match} before; one vote per match")
        return row

    def cast_all(self, votes: Iterable[Vote], at_ms: int) -> int:
        """Append many votes, all or none, but for those that their voters gave before; how many were new.

        Raises LedgerError when the file cannot be written.
        """
        with self._writing() as connection:
            return sum([_append(connection, vote, at_ms) is not None for vote in votes])

    def take_over(self, rows: Iterable[VoteRow]) -> None:
        """Write down the votes of another store as they are; the caller knows that there are none here."""
        taken = list(rows)
        if taken:
            with self._writing() as connection:
                for row in taken:
                    _write(connection, row, read_vote(row))

    def rows(self, after: int = 0) -> Iterator[VoteRow]:
        """The stream in order, from the vote after number `after` on."""
        t = _VOTES.c
        wanted = select(t.sequence, t.body, t.chain, t.at_ms).where(t.sequence > after).order_by(t.sequence)
        try:
            yield from msgspec.convert(self._read(wanted), list[VoteRow])
        except msgspec.ValidationError as error:
            raise LedgerError(
                f"{self._file.place} is damaged ({error}); restore it from a copy. Its table votes holds "
                "nothing else"
            ) from error

    def votes(self) -> Iterator[Vote]:
        """Every vote, in order."""
        yield from map(read_vote, self.rows())

    def misfiled(self) -> list[int]:
        """Numbers of the rows that are filed under another voter, match or time than their vote names, or
        before the first of the stream: these columns keep a voter from judging a match twice, and no chain
        holds them.
        """
        t = _VOTES.c
        filed = {at: tuple(place) for at, *place in self._read(select(t.sequence, t.voter, t.match))}
        before = [at for at in filed if at < 1]
        return sorted(before) + [
            row.sequence
            for row in self.rows()
            if ((vote := read_vote(row)).voter, vote.match) != filed[row.sequence]
            or vote.at_ms not in (0, row.at_ms)
        ]

    def integrity(self) -> list[str]:
        """What the database itself finds wrong with the file."""
        engine = self._file.reading()
        try:
            with self._file.explained():
                return self._file.integrity(engine, _SCHEMA)
        finally:
            engine.dispose()

    def given(self, voter: str, match: int) -> Vote | None:
        """What this voter said of a match."""
        t = _VOTES.c
        for sequence in self._read(select(t.sequence).where(t.voter == voter, t.match == match)):
            return read_vote(next(self.rows(after=sequence[0] - 1)))
        return None

    def judged_by(self, voter: str) -> set[int]:
        """The matches that this voter has judged."""
        return {match for (match,) in self._read(select(_VOTES.c.match).where(_VOTES.c.voter == voter))}

    def count(self) -> int:
        """How many votes there are."""
        rows = list(self._read(select(func.count()).select_from(_VOTES)))
        return int(rows[0][0]) if rows else 0

    def head(self) -> tuple[int, bytes] | None:
        """How many votes there are, and the chain value of the last; None where nobody has voted."""
        t = _VOTES.c
        rows = self._read(select(t.sequence, t.chain).order_by(t.sequence.desc()).limit(1))
        return next(((int(sequence), bytes(chain)) for sequence, chain in rows), None)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        # Opened for one vote: once it is closed the file holds everything and can be copied alone.
        engine = self._file.writing(create=True)
        try:
            with self._file.explained(), engine.begin() as connection:
                _SCHEMA.create_all(connection)
                yield connection
        finally:
            engine.dispose()

    def _read(self, wanted: Select[Any]) -> list[tuple[Any, ...]]:
        if not self._file.exists():
            return []
        engine = self._file.reading()
        try:
            with self._file.explained(), engine.connect() as connection:
                if not inspect(connection).has_table(_VOTES.name):  # the first vote is just being cast
                    return []
                return [tuple(row) for row in connection.execute(wanted)]
        finally:
            engine.dispose()


def _append(connection: Connection, vote: Vote, at_ms: int) -> VoteRow | None:
    """Number, link and write a vote; None where its voter has judged its match."""
    t = _VOTES.c
    given = select(func.count()).where(t.voter == vote.voter, t.match == vote.match)
    if connection.execute(given).scalar():
        return None
    last = connection.execute(select(t.sequence, t.chain).order_by(t.sequence.desc()).limit(1)).one_or_none()
    sequence, before = (last[0] + 1, bytes(last[1])) if last else (1, stream_genesis(STREAM))
    body = msgspec.json.encode(msgspec.structs.replace(vote, at_ms=at_ms))
    row = VoteRow(sequence, body, link(before, body), at_ms)
    _write(connection, row, vote)
    return row


def _write(connection: Connection, row: VoteRow, vote: Vote) -> None:
    connection.execute(_VOTES.insert().values(**row._asdict(), match=vote.match, voter=vote.voter))


def read_vote(row: VoteRow) -> Vote:
    """The vote that a row holds. Raises LedgerError when it holds something else."""
    try:
        return msgspec.json.decode(row.body, type=Vote)
    except msgspec.MsgspecError as error:
        raise LedgerError(f"amendment {row.sequence} of {STREAM} is no vote: {error}") from error
