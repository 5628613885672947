"""Laws of a ledger: what goes in comes out, and no single changed byte goes unseen."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from bench.sample import sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from peerage.ledger import Batch, Exchange, IntentRow, ReplyRow, Summary, open_ledger
from peerage.ledger.forms.rows import SCHEMA
from peerage.standings.verify import verify
from peerage.values.texts import storable

pytestmark = pytest.mark.usefixtures("plain_bodies")

MATCHES = 4
TEXT = st.text().map(storable)
NANO = st.none() | st.integers(0, 2**50)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    with ledger.runner():
        for batch in sample(MATCHES, reply_chars=50):
            ledger.write(batch)
    ledger.close()
    return folder / "arena.db"


@SLOW
@given(st.data())
def test_no_single_changed_byte_goes_unseen(whole: Path, tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "arena.db"
    shutil.copy(whole, path)
    table, column = data.draw(
        st.sampled_from(
            [
                ("fixtures", "body"),
                ("intents", "body"),
                ("replies", "body"),
                ("records", "body"),
                ("records", "chain"),
                ("texts", "body"),
                ("texts", "digest"),
            ]
        )
    )
    file = sqlite3.connect(path, isolation_level=None)
    rows = file.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
    row, body = data.draw(st.sampled_from(rows))
    at, bits = data.draw(st.integers(0, len(body) - 1)), data.draw(st.integers(1, 255))
    changed = body[:at] + bytes([body[at] ^ bits]) + body[at + 1 :]
    file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", [changed, row])
    file.close()
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    problems = verify(ledger).problems
    ledger.close()
    match = {"fixtures": row, "records": row, "intents": (row - 1) // 18 + 1, "replies": (row - 1) // 18 + 1}
    assert problems
    if table in match:
        assert {problem.match for problem in problems} == {match[table]}


@SLOW
@given(
    st.dictionaries(
        st.tuples(TEXT, st.integers(1, 9)), st.tuples(TEXT, TEXT, NANO, st.none() | st.tuples(TEXT, NANO))
    ),
    st.dictionaries(TEXT, TEXT),
    st.lists(st.tuples(TEXT, FLOAT, st.none() | FLOAT), max_size=4),
)
def test_what_goes_in_comes_out(
    tmp_path: Path,
    exchanges: dict[tuple[str, int], tuple[str, str, int | None, tuple[str, int | None] | None]],
    facts: dict[str, str],
    seats: list[tuple[str, float, float | None]],
) -> None:
    (tmp_path / "arena.db").unlink(missing_ok=True)
    (tmp_path / "arena.db-wal").unlink(missing_ok=True)
    facts.pop("schema", None)
    batch, expected = Batch(meta=facts), []
    for (key, attempt), (player, asked, worst, said) in exchanges.items():
        batch.intents.append(IntentRow(1, key, attempt, player, asked.encode(), worst))
        if said is not None:
            batch.replies.append(ReplyRow(1, key, attempt, said[0].encode(), said[1], 0))
        reply, cost = (None, None) if said is None else (said[0].encode(), said[1])
        expected.append(Exchange(1, key, attempt, player, asked.encode(), reply, worst, cost))
    names, scores = tuple([seat[0] for seat in seats]), tuple([seat[1] for seat in seats])
    costs = tuple([seat[2] for seat in seats])
    summary = Summary(1, 1, "duel", "", names, "done", scores, costs, 0, scores, scores, 0)
    batch.summaries.append(summary)
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True).as_stored()
    with ledger.runner():
        ledger.write(batch)
    assert [astuple(row)[:8] for row in ledger.exchanges(1)] == [astuple(row)[:8] for row in expected]
    assert list(ledger.summaries()) == [summary]
    assert ledger.meta() == facts | {"schema": SCHEMA}
    known = sum(row.cost_nano or 0 for row in expected)
    waiting = [row.worst_nano or 0 for row in expected if row.reply is None]
    assert sum(ledger.spent_by().values()) == known + sum(waiting)
    ledger.close()
