"""A forger who can write the ledger and knows how it is made: every digest and chain made again, so that the
ledger is whole when it is looked at by itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from tests.engine.arenas import ledger_of

from peerage.ledger.forms.bodies import Bodies
from peerage.ledger.forms.log import Rolling, linked, of_amendment, of_record
from peerage.ledger.forms.merkle import GENESIS, checksum, digest, leaf, link, match_root, stream_genesis
from peerage.ledger.forms.narrow import flat
from peerage.ledger.forms.rows import Attempts
from peerage.ledger.topics.votes import STREAM


def changed(folder: Path, *statements: str, file: str = "arena.db") -> None:
    """Run statements on a database of the arena, and make again whatever held the rows."""
    with closing(sqlite3.connect(folder / file)) as db, db:
        for statement in statements:
            assert db.execute(statement).rowcount > 0, statement
    again(folder)


def edit(folder: Path, table: str, where: str, old: bytes, new: bytes) -> None:
    """Change what the body of one row says, compressed or not; digests and chains stay."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        _unpack(db)
        [(row, body)] = db.execute(f"SELECT rowid, body FROM {table} WHERE {where}").fetchall()
        assert old in bytes(body)
        db.execute(f"UPDATE {table} SET body = ? WHERE rowid = ?", (bytes(body).replace(old, new), row))


def _unpack(db: sqlite3.Connection) -> None:
    """Store every body as it is, uncompressed."""
    known = db.execute("SELECT body FROM dictionaries ORDER BY number DESC LIMIT 1").fetchone()
    bodies = Bodies("the forger's ledger", known[0] if known else b"")
    for table in ("intents", "replies", "fixtures", "records"):
        rows = db.execute(f"SELECT rowid, body FROM {table}").fetchall()
        whole = bodies.whole([bytes(body) for _, body in rows])
        changes = [(body, row[0]) for body, row in zip(whole, rows, strict=True)]
        db.executemany(f"UPDATE {table} SET body = ? WHERE rowid = ?", changes)


def again(folder: Path) -> None:
    """Make every digest and chain of an arena's ledger and votes again, from the rows there are."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        _unpack(db)
        for table in ("intents", "replies"):
            rows = db.execute(f"SELECT id, body FROM {table}").fetchall()
            db.executemany(
                f"UPDATE {table} SET checksum = ? WHERE id = ?", [(checksum(b), i) for i, b in rows]
            )
        chain = GENESIS
        for number, body in db.execute("SELECT number, body FROM records ORDER BY number").fetchall():
            record: dict[str, Any] = msgspec.json.decode(body)
            [(fixture,)] = db.execute("SELECT body FROM fixtures WHERE number = ?", [number])
            asked = db.execute(
                "SELECT key, player, i.body, r.body FROM intents i JOIN replies r ON r.intent = i.id "
                "WHERE match = ?",
                [number],
            )
            played = match_root({row[0]: leaf(*row) for row in asked})
            body = msgspec.json.encode(record | {"fixture": digest(fixture), "root": played})
            chain = link(chain, body)
            db.execute("UPDATE records SET body = ?, chain = ? WHERE number = ?", (body, chain, number))
    chains = _votes(folder)
    with closing(ledger_of(folder).as_stored()) as ledger:
        held = {f"votes {number}": chain for number, chain in enumerate(chains, 1)}
        for record_row in ledger.records():
            rows = ledger.match(record_row.number)
            assert rows is not None
            held[f"record {record_row.number}"] = of_record(
                record_row.at_ms, record_row.chain, Attempts.of(rows.exchanges)
            )
        rolling = Rolling()
        for number, summary in enumerate(ledger.summaries(), 1):
            rolling.add([flat(summary)])
            held[f"narrow {number}"] = rolling.digest()
        said = {row.position: of_amendment(row.at_ms, row.body) for row in ledger.amendments()}
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        chain = bytes(32)
        for position, about, before in db.execute("SELECT position, about, digest FROM log").fetchall():
            due = said.get(position, held.get(about, before))
            chain = linked(chain, about, due)
            db.execute("UPDATE log SET digest = ?, chain = ? WHERE position = ?", (due, chain, position))


def _votes(folder: Path) -> list[bytes]:
    """Have the votes cite the records there are, and chain them again; their chain values."""
    if not (folder / "arena.votes.db").exists():
        return []
    with closing(ledger_of(folder).as_stored()) as ledger:
        records = {row.number: digest(row.body) for row in ledger.records()}
    chains = [stream_genesis(STREAM)]
    with closing(sqlite3.connect(folder / "arena.votes.db")) as db, db:
        for sequence, body in db.execute("SELECT sequence, body FROM votes ORDER BY 1").fetchall():
            vote: dict[str, Any] = msgspec.json.decode(body)
            body = msgspec.json.encode(vote | {"record": records.get(vote["match"], vote["record"])})
            chains.append(link(chains[-1], body))
            row = body, chains[-1], sequence
            db.execute("UPDATE votes SET body = ?, chain = ? WHERE sequence = ?", row)
    return chains[1:]
