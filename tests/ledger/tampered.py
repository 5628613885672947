"""Arenas with a row of every kind, and everything that may befall a row or the file."""

from __future__ import annotations

import io
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from tests.engine.arenas import SMALL, house, ledger_of, play, play_stopping_at, write_arena
from tests.engine.clients import Cast, says

from peerage.ledger import amend
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics import outside
from peerage.ledger.topics.public import Opinion, enter
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.players.client import Call, PlayerError
from peerage.ratings.read import results as reading
from peerage.ratings.read.histories import Battles

PRICE = {"input": 1.0, "output": 4.0}
BATTLES = b"model_a,model_b,winner\nx,y,model_a\ny,x,tie\nz,y,model_b\n"


def duels(folder: Path) -> Path:
    """Duels at a price and within a budget: retries, repairs, matches without a result, one in play, votes,
    opinions and outside results."""
    write_arena(
        folder,
        house(6, price=PRICE),
        rules={**SMALL, "max_drafts": 2},
        budget={"match": 50.0},
        pairing={"window": 6},
        engine={"retries": 2},
    )
    play(folder, 9, clients=Cast(_clumsy))
    with closing(ledger_of(folder)) as ledger:
        votes = PeopleVotes(ledger.address, folder)
        for row in ledger.records(1, 4):
            match = row.number
            votes.cast(Vote(match, digest(row.body), ("A", "B"), "AB"[match % 2], f"v{match}"), 100 + match)
    play_stopping_at(folder, 60, 4.0, clients=Cast(_clumsy))
    with closing(ledger_of(folder)) as ledger:
        records = {row.number: digest(row.body) for row in ledger.records()}
        parsed = reading.read([("b.csv", io.BytesIO(BATTLES))])
        assert isinstance(parsed, Battles)
        source = outside.Source("b.csv", "ab" * 32, parsed.layout, parsed.names, len(parsed.duels))
        with ledger.runner():
            outside.enter(ledger, source, parsed, 5)
            for voter in ("ann", "bob"):
                enter(ledger, Opinion(2, records[2], voter, {"A": 7.0}), 6)
    return folder


def exchange(folder: Path) -> Path:
    """An exchange of challenges, whose answers are sealed, three at a table, with amendments."""
    write_arena(
        folder,
        house(5),
        seed=3,
        game="challenge-exchange",
        rules={"seats": 3, "proof": "blind", "attempts": 1},
        pairing={"window": 2},
    )
    play(folder, 6)
    with closing(ledger_of(folder)) as ledger:
        said = [fact for row in ledger.records() for fact in _facts(row.body) if fact["fact"] == "challenge"]
        with ledger.runner():
            for action, fact in zip(("flag", "withdraw", "retire"), said, strict=False):
                entry = {"action": action, "challenge_id": fact["challenge_id"], "reason": "so"}
                amend(ledger, "challenges", [entry | ({"flag": "wrong"} if action == "flag" else {})], 7)
    return folder


def _facts(body: bytes) -> list[dict[str, Any]]:
    import msgspec

    found: list[dict[str, Any]] = msgspec.json.decode(body)["outcome"]["facts"]
    return found


def _clumsy(call: Call, attempt: int) -> Any:
    """Fails now and then, paid or not, for good at times; and says what nobody can read."""
    luck = crc32(f"{call.seed}/{call.key}".encode()) % 100
    if luck < 8 and attempt == 0:
        return PlayerError("503", kind="transient", maybe_paid=luck < 4)
    if luck == 8:
        return PlayerError("refused for good", kind="permanent")
    if luck < 16 and call.role in ("committee", "judge") and "~repair" not in call.key:
        return says("none of these")
    return None


class Harm(NamedTuple):
    """One thing done to a ledger's file: `name` it, `do` it to a copy; False when the database refuses."""

    name: str
    do: Callable[[Path], bool]


def rows_harmed(whole: Path, seed: int = 0) -> Iterator[Harm]:
    """For each table and column: another value, up and down, of another type, swapped; and rows deleted,
    doubled, swapped, in another order."""
    rng = random.Random(seed)
    with closing(sqlite3.connect(whole)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            rows = db.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
            if not rows:
                continue
            picked = [rows[0], rows[len(rows) // 2], rows[-1], rng.choice(rows)]
            for place, column in enumerate(columns, 1):
                row = rng.choice(picked)
                for name, value in _others(row[place], rng):
                    yield Harm(f"{table}.{column} of row {row[0]} {name}", _set(table, column, row[0], value))
                others = [one for one in rows if one[place] != row[place]]
                if others:
                    other = rng.choice(others)
                    yield Harm(
                        f"{table}.{column} of rows {row[0]} and {other[0]} swapped",
                        _swapped(table, column, row, other, place),
                    )
            for row in {one[0]: one for one in picked}.values():
                yield Harm(f"{table}: row {row[0]} deleted", _deleted(table, row[0]))
                for way in ("next", "past", "far"):
                    yield Harm(f"{table}: row {row[0]} doubled, {way}", _doubled(table, columns, row, way))
            if len(rows) > 1:
                one, two = rng.sample(rows, 2)
                yield Harm(
                    f"{table}: rows {one[0]} and {two[0]} swapped", _rewritten(table, columns, [one, two])
                )
            if len(rows) > 2:
                yield Harm(f"{table}: rows in another order", _rewritten(table, columns, rng.sample(rows, 3)))


def _others(value: Any, rng: random.Random) -> Iterator[tuple[str, Any]]:
    if isinstance(value, int):
        yield "raised", value + 1
        yield "lowered", value - 1
        yield "huge", 2**63 - 1
        yield "text", f"x{value}"
        yield "bytes", str(value).encode()
    elif isinstance(value, str):
        yield "longer", value + "0"
        yield "shorter", value[:-1]
        yield "another number", value.replace("1", "2", 1) if "1" in value else f"1{value}"
        yield "bytes", value.encode()
        yield "huge", 2**63 - 1
    elif isinstance(value, bytes):
        at = rng.randrange(len(value))
        yield "flipped", value[:at] + bytes([value[at] ^ 1 << rng.randrange(8)]) + value[at + 1 :]
        yield "shorter", value[:-1]
        yield "text", value.decode(errors="replace")
        yield "empty", b""
        yield "an object", b"{}"
    else:
        yield "a number", 5
        yield "text", "x"
    if value is not None:
        yield "null", None


def _attempted(path: Path, work: Callable[[sqlite3.Connection], None]) -> bool:
    db = sqlite3.connect(path)
    try:
        with db:
            work(db)
    except (sqlite3.IntegrityError, sqlite3.OperationalError, OverflowError):
        return False
    finally:
        db.close()
    return True


def _set(table: str, column: str, row: int, value: Any) -> Callable[[Path], bool]:
    statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
    return lambda path: _attempted(path, lambda db: _ran(db, statement, [value, row]))


def _ran(db: sqlite3.Connection, statement: str, values: list[Any]) -> None:
    assert db.execute(statement, values).rowcount == 1


def _swapped(table: str, column: str, one: Any, two: Any, place: int) -> Callable[[Path], bool]:
    def work(db: sqlite3.Connection) -> None:
        statement = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
        db.execute(statement, [two[place], one[0]])
        db.execute(statement, [one[place], two[0]])

    return lambda path: _attempted(path, work)


def _deleted(table: str, row: int) -> Callable[[Path], bool]:
    return lambda path: _attempted(path, lambda db: _ran(db, f"DELETE FROM {table} WHERE rowid = ?", [row]))


def _doubled(table: str, columns: list[str], row: Any, way: str) -> Callable[[Path], bool]:
    """The row once more: whole numbers that make a key are one more (`next`) or beyond all others (`past`),
    or the first of them alone is (`far`)."""

    def work(db: sqlite3.Connection) -> None:
        values = list(row[1:])
        keyed = {"number", "id", "position", "sequence", "intent", "attempt"}
        for place, column in enumerate(columns):
            if isinstance(values[place], int) and column in (keyed if way != "far" else {columns[0]}):
                [(most,)] = db.execute(f"SELECT max({column}) FROM {table}")
                values[place] = values[place] + 1 if way == "next" else most + 1
        if isinstance(values[0], str):
            values[0] += "2"
        places = ", ".join("?" * len(columns))
        db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values)

    return lambda path: _attempted(path, work)


def _rewritten(table: str, columns: list[str], rows: list[Any]) -> Callable[[Path], bool]:
    """Rows each in the place of the one before."""

    def work(db: sqlite3.Connection) -> None:
        for row in rows:
            db.execute(f"DELETE FROM {table} WHERE rowid = ?", [row[0]])
        places = ", ".join("?" * len(columns))
        key = columns[0] if isinstance(rows[0][1], int) else None
        for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
            values = list(row[1:])
            if key is not None:
                values[0] = other[1]
                db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values)
            else:
                named = ", ".join(["rowid", *columns])
                db.execute(f"INSERT INTO {table} ({named}) VALUES (?, {places})", [other[0], *values])

    return lambda path: _attempted(path, work)


def bytes_harmed(whole: Path, times: int, seed: int = 0) -> Iterator[Harm]:
    """Random bits of a file flipped, one at a time, and the file cut short."""
    rng = random.Random(seed)
    size = whole.stat().st_size
    for _ in range(times):
        if rng.random() < 0.1:
            length = rng.choice([rng.randrange(size), size - size % 16_384 - 16_384 * rng.randrange(5)])
            yield Harm(f"{whole.name} cut to {length} bytes", _cut(max(length, 0)))
        else:
            at = rng.randrange(size) if rng.random() < 0.9 else rng.randrange(100)
            yield Harm(f"{whole.name}: bit of byte {at} flipped", _flipped(at, 1 << rng.randrange(8)))


def _cut(length: int) -> Callable[[Path], bool]:
    def work(path: Path) -> bool:
        with path.open("r+b") as file:
            file.truncate(length)
        return True

    return work


def _flipped(at: int, bit: int) -> Callable[[Path], bool]:
    def work(path: Path) -> bool:
        with path.open("r+b") as file:
            file.seek(at)
            [byte] = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ bit]))
        return True

    return work
