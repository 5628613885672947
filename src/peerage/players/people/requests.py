"""Requests to people and their replies: a file of its own in the arena's folder, `people.db`.

The runner puts a request here and plays on with others; the person replies in a terminal or a browser, in
another process, whether or not a run is on; the run, this one or the next, takes the reply. Each request is
replied to once: the first reply counts. One request at a time is a person's turn, the longest waiting first,
and its time runs from then on; when it is up there is no reply, and the next is its turn.

    people = People(folder)
    people.ask(request, now_ms)            # the runner; again and again, until it has ended
    turn = people.turn("me", now_ms)       # what the person has to do now
    people.reply("me", turn.request.id, text, now_ms)

Nothing here is on record: the ledger holds every request and reply that counted. Rows of a match that is over
are removed, and without the file every open request is asked again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from peerage.formats import Format, recorded, stored
from peerage.game.protocol import Role, Speaker
from peerage.values.inputs import InputRefused, check
from peerage.values.system_errors import reason

FILE = "people.db"
PATIENCE_S = 10.0
"""Seconds to wait for another process that holds the file for a moment."""
LONGEST = 200_000
"""Characters of a reply at most."""

State: TypeAlias = Literal["open", "replied", "declined", "late"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    match TEXT NOT NULL, player TEXT NOT NULL, body BLOB NOT NULL, limit_ms INTEGER NOT NULL,
    asked_ms INTEGER NOT NULL, turn_ms INTEGER, shown_ms INTEGER, ended_ms INTEGER,
    state TEXT NOT NULL, text TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS seen (player TEXT PRIMARY KEY, at_ms INTEGER NOT NULL);
"""


class PeopleError(Exception):
    """The file cannot be used, or a reply is not taken; the message says why."""


class Closed(PeopleError):
    """A reply to a request that is not open any more."""


class Body(msgspec.Struct, frozen=True):
    """A request to a person: the prompt, and the format as a ledger stores it."""

    role: Role
    messages: tuple[tuple[Speaker, str], ...]
    expects: dict[str, Any]


class Request(NamedTuple):
    """A request to `player`, who has `limit_ms` for it. `match` is the digest of its match's seed."""

    id: str
    match: str
    player: str
    role: Role
    messages: tuple[tuple[Speaker, str], ...]
    expects: Format
    limit_ms: int

    @classmethod
    def of(
        cls,
        seed: str,
        key: str,
        player: str,
        role: Role,
        messages: Iterable[tuple[Speaker, str]],
        expects: Format,
        limit_ms: int,
    ) -> Request:
        """The request `key` of the match with this seed: the same in every attempt and in every run."""
        digest = sha256(f"person\0{seed}\0{key}\0{player}".encode()).hexdigest()[:24]
        return cls(digest, match_digest(seed), player, role, tuple(messages), expects, limit_ms)


class PersonTurn(NamedTuple):
    """A person's turn: what is asked, until when (Unix milliseconds), how many requests wait behind it."""

    request: Request
    until_ms: int
    behind: int


class RequestStatus(NamedTuple):
    """The state of a request: `until_ms` while it is its person's turn; what was replied, after `seconds`."""

    state: State
    text: str = ""
    seconds: float = 0.0
    until_ms: int | None = None


def match_digest(seed: str) -> str:
    """By what a match is known here: its seed is a secret."""
    return sha256(f"match\0{seed}".encode()).hexdigest()[:24]


class People:
    """The requests to the people of the arena in `folder`. Any thread and any process may use it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder.absolute() / FILE

    def ask(self, request: Request, now_ms: int) -> RequestStatus:
        """Put a request where it is not there yet; how it stands. Raises PeopleError."""
        body = msgspec.json.encode(Body(request.role, request.messages, stored(request.expects)))
        row = (request.id, request.match, request.player, body, request.limit_ms, now_ms)
        with self._writing() as file:
            file.execute(
                "INSERT OR IGNORE INTO requests (id, match, player, body, limit_ms, asked_ms, state)"
                " VALUES (?, ?, ?, ?, ?, ?, 'open')",
                row,
            )
            current = _turn(file, request.player, now_ms)
            state, text, limit, ended, *since = file.execute(
                "SELECT state, text, limit_ms, ended_ms, shown_ms, turn_ms, asked_ms FROM requests"
                " WHERE id = ?",
                (request.id,),
            ).fetchone()
        if state != "open":
            began = next(moment for moment in since if moment is not None)
            return RequestStatus(state, text, max(0, ended - began) / 1000)
        is_current = current is not None and current[0] == request.id
        return RequestStatus("open", until_ms=since[1] + limit if is_current else None)

    def turn(self, player: str, now_ms: int, *, shown: bool = False) -> PersonTurn | None:
        """Return what this person has to do now, None where nothing waits; `shown` to the person at this
        moment, from when on the seconds of its reply count. Raises PeopleError."""
        if not self.path.exists():
            return None
        with self._writing() as file:
            current = _turn(file, player, now_ms)
            if shown:
                file.execute("INSERT OR REPLACE INTO seen VALUES (?, ?)", (player, now_ms))
            if current is None:
                return None
            if shown:
                file.execute(
                    "UPDATE requests SET shown_ms = ? WHERE id = ? AND shown_ms IS NULL", (now_ms, current[0])
                )
            match, body, limit, turned = file.execute(
                "SELECT match, body, limit_ms, turn_ms FROM requests WHERE id = ?", (current[0],)
            ).fetchone()
            behind = file.execute(
                "SELECT count(*) FROM requests WHERE player = ? AND state = 'open'", (player,)
            ).fetchone()[0]
        try:
            read = msgspec.json.decode(body, type=Body)
        except msgspec.MsgspecError as error:
            raise PeopleError(
                f"{self.path} is damaged ({error}); remove it while nothing runs, and open requests are "
                "asked again by the next run"
            ) from error
        asked = Request(current[0], match, player, read.role, read.messages, recorded(read.expects), limit)
        return PersonTurn(asked, turned + limit, behind - 1)

    def reply(self, player: str, id: str, text: str | None, now_ms: int) -> None:
        """Take a reply; None declines. It is durable when this returns. Raises Closed, PeopleError."""
        if text is not None and len(text) > LONGEST:
            raise PeopleError(f"the reply has {len(text):,} characters; at most {LONGEST:,} are allowed")
        with self._writing() as file:
            _turn(file, player, now_ms)
            row = file.execute(
                "SELECT state FROM requests WHERE id = ? AND player = ?", (id, player)
            ).fetchone()
            if row is None:
                raise Closed("nobody waits for this reply any more: its match is over")
            if row[0] != "open":
                why = {"late": "its time was up", "declined": "it was declined before"}
                raise Closed(f"this request is closed: {why.get(row[0], 'it was replied to before')}")
            file.execute(
                "UPDATE requests SET state = ?, text = ?, ended_ms = ? WHERE id = ?",
                ("declined" if text is None else "replied", text or "", now_ms, id),
            )

    def ended(self, player: str, now_ms: int) -> dict[str, str]:
        """The requests of a person that have ended, by id, each with its match."""
        with self._writing() as file:
            _turn(file, player, now_ms)
            rows = file.execute(
                "SELECT id, match FROM requests WHERE player = ? AND state != 'open'", (player,)
            ).fetchall()
        return dict(rows)

    def matches(self, player: str) -> set[str]:
        """The matches of which there are requests to a person."""
        with self._writing() as file:
            rows = file.execute("SELECT DISTINCT match FROM requests WHERE player = ?", (player,)).fetchall()
        return {match for (match,) in rows}

    def forget(self, player: str, matches: Iterable[str]) -> None:
        """Remove what a person was asked in these matches: they are over."""
        with self._writing() as file:
            file.executemany(
                "DELETE FROM requests WHERE player = ? AND match = ?", [(player, match) for match in matches]
            )

    def seen_ms(self, player: str) -> int:
        """Return when this person last looked, in Unix milliseconds; 0: never."""
        with self._writing() as file:
            row = file.execute("SELECT at_ms FROM seen WHERE player = ?", (player,)).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, durable at its end; others wait."""
        try:
            if self.path.exists():
                check(self.path)
            else:
                # It holds what others must not read: prompts of matches under way, and replies to come.
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.path, PATIENCE_S, isolation_level=None)) as file:
                file.execute("PRAGMA synchronous = FULL")
                file.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA.split(";")[:-1]:
                    file.execute(statement)
                yield file
                file.execute("COMMIT")
        except (sqlite3.Error, OSError, InputRefused) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise PeopleError(
                f"{self.path} cannot be used ({why}); its folder must be writable by you and the file "
                "whole. Remove it while nothing runs: it is made again, and open requests are asked again"
            ) from error


def _turn(file: sqlite3.Connection, player: str, now_ms: int) -> tuple[str, int] | None:
    """The open request whose turn it is, and since when; what had its turn for as long as it may is late."""
    while True:
        row = file.execute(
            "SELECT id, turn_ms, limit_ms FROM requests WHERE player = ? AND state = 'open'"
            " ORDER BY turn_ms IS NULL, place LIMIT 1",
            (player,),
        ).fetchone()
        if row is None:
            return None
        id, turned, limit = row
        if turned is None:
            file.execute("UPDATE requests SET turn_ms = ? WHERE id = ?", (now_ms, id))
            return id, now_ms
        if now_ms <= turned + limit:
            return id, turned
        file.execute("UPDATE requests SET state = 'late', ended_ms = ? WHERE id = ?", (turned + limit, id))
