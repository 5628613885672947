"""verify finds any changed byte and names the match; and examples/check/ledger.py agrees with it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from bench.sample import sample

from peerage.game.match import Fixture, MatchRecord, Outcome, Totals
from peerage.ledger import (
    Amendment,
    Batch,
    FailureRow,
    FixtureRow,
    IntentRow,
    Ledger,
    LedgerError,
    RecordRow,
    ReplyRow,
    Summary,
    open_ledger,
)
from peerage.ledger.check.audit import integrity
from peerage.ledger.check.verify import Problem
from peerage.ledger.forms.codec import fixture_body, record_body
from peerage.ledger.forms.merkle import GENESIS, digest, leaf, link, match_root
from peerage.standings.verify import verify
from peerage.values.parallel import Helpers, Lost

pytestmark = pytest.mark.usefixtures("plain_bodies")

SCRIPT = Path(__file__).parents[3] / "examples" / "check" / "ledger.py"
MATCHES = 12


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of finished matches, one in play, lost attempts, and amendments."""
    folder = tmp_path_factory.mktemp("whole")
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    with ledger.runner():
        for batch in sample(MATCHES):
            ledger.write(batch)
        in_play, settings = fixture_body(Fixture(MATCHES + 1, 9, "duel", 1, "s", (), {}, {}))
        request = next(row.request for row in ledger.exchanges(4, 4) if row.key == "question/1/1")
        ledger.write(
            Batch(
                texts=settings,
                fixtures=[FixtureRow(MATCHES + 1, 9, in_play)],
                intents=[
                    IntentRow(4, "question/1/1", 2, "player-01", request, 10),
                    IntentRow(MATCHES + 1, "question/1/1", 1, "player-01", request, 10),
                    IntentRow(MATCHES + 1, "vote/1", 1, "player-01", request, 10),
                ],
                replies=[ReplyRow(MATCHES + 1, "question/1/1", 1, b'{"status":"ok","text":"hm"}', None, 3)],
                failures=[FailureRow(4, "question/1/1", 2, "timeout", 10, 3)],
                amendments=[Amendment("votes", b'{"vote":1}', 1), Amendment("votes", b'{"vote":2}', 2)],
            )
        )
    ledger.close()
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    shutil.copy(whole / "arena.db", tmp_path / "arena.db")
    return tmp_path / "arena.db"


@pytest.fixture
def opened(copy: Path) -> Iterator[Callable[[], Ledger]]:
    ledgers: list[Ledger] = []

    def open_copy() -> Ledger:
        ledgers.append(open_ledger("sqlite:///arena.db", copy.parent, create=False))
        return ledgers[-1]

    yield open_copy
    for ledger in ledgers:
        ledger.close()


def change(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as file:
        file.create_function("flip", 2, flip)
        for statement in statements:
            assert file.execute(statement).rowcount > 0, statement
    file.close()


def flip(body: bytes | str, at: int) -> bytes | str:
    """One bit of one byte changed; `at` counts from the end when negative."""
    raw = bytearray(body.encode() if isinstance(body, str) else body)
    raw[at] ^= 1
    return raw.decode() if isinstance(body, str) else bytes(raw)


def by_script(path: Path) -> subprocess.CompletedProcess[str]:
    assert len([line for line in SCRIPT.read_text("utf-8").splitlines() if line.strip()]) <= 54
    return subprocess.run(
        [sys.executable, "-I", "-W", "error", SCRIPT, path], capture_output=True, text=True, check=False
    )


def test_a_whole_ledger(opened: Callable[[], Ledger], copy: Path) -> None:
    ledger = opened()
    report = verify(ledger)
    last = list(ledger.records())[-1]
    assert report.problems == ()
    assert report.ok
    assert (report.matches, report.exchanges) == (MATCHES, MATCHES * 18)
    assert report.head == last.chain.hex()
    answered = [row for row in ledger.exchanges(1, MATCHES) if row.reply is not None]
    assert report.bytes == (
        sum(len(row.request) + len(row.reply or b"") for row in answered)
        + sum(len(row.body) for row in ledger.fixtures(1, MATCHES))
        + sum(len(row.body) for row in ledger.records())
        + sum(len(text.encode()) for text in ledger.texts().values())
    )
    said = by_script(copy)
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == f"{MATCHES} matches, head {report.head}\nlog root {report.log_root}\n"


def test_an_empty_ledger_is_whole(tmp_path: Path) -> None:
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    report = verify(ledger)
    assert (report.ok, report.matches, report.head) == (True, 0, GENESIS.hex())
    ledger.close()


def test_an_unknown_cost_may_stand_as_the_most_it_may_be(tmp_path: Path) -> None:
    body = fixture_body(Fixture(1, 1, "duel", 1, "s", (), {}, {}))
    exchange = (
        "answer/A",
        "ada",
        b'{"to":"A","form":"' + body[1][0][0].hex().encode() + b'"}',
        b'{"status":"ok"}',
    )
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    record = MatchRecord(
        1,
        digest(body[0]),
        match_root({exchange[0]: leaf(*exchange)}),
        Outcome(void="x"),
        {},
        {"ada": Totals(1, 0, 0, 0, 1)},
    )
    with ledger.runner():
        ledger.write(
            Batch(
                texts=body[1],
                fixtures=[FixtureRow(1, 1, body[0])],
                intents=[IntentRow(1, "answer/A", 1, "ada", exchange[2], 70)],
                replies=[ReplyRow(1, "answer/A", 1, exchange[3], 70, 3)],
                records=[RecordRow(1, record_body(record), link(GENESIS, record_body(record)), 3)],
                summaries=[Summary(1, 1, "duel", "", (), "x", (), (), 0, (), (), 3)],
            )
        )
    assert verify(ledger).problems == ()
    ledger.close()


def test_work_shared_among_processes_finds_the_same(opened: Callable[[], Ledger], copy: Path) -> None:
    alone = verify(opened(), workers=1)
    assert verify(opened(), workers=2) == alone
    change(
        copy,
        "UPDATE records SET body = flip(body, 9) WHERE number = 4",
        "UPDATE replies SET body = flip(body, 40) WHERE id = 5",
    )
    found = verify(opened(), workers=3)
    assert [problem.match for problem in found.problems] == [1, 4]
    assert found == verify(opened(), workers=1)
    change(
        copy,
        "UPDATE summaries SET number = 99 WHERE number = 7",
        "UPDATE log SET digest = flip(digest, 3) WHERE about = 'record 9'",
        "UPDATE replies SET at_ms = at_ms + 1 WHERE intent = (SELECT max(id) FROM intents WHERE match = 10)",
    )
    found = verify(opened(), workers=2)
    assert found == verify(opened(), workers=1)
    assert {1, 4, 7, 9, 10, None} == {problem.match for problem in found.problems}
    assert any(" of no match or request" in problem.what for problem in found.problems)


def test_no_module_is_taken_from_the_folder_it_is_called_in(
    opened: Callable[[], Ledger], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever checks somebody else's arena runs none of its files."""
    there = tmp_path / "theirs"
    there.mkdir()
    for name in ("json", "msgspec", "peerage", "sqlite3"):
        (there / f"{name}.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(there)
    assert verify(opened(), workers=2).ok


@pytest.mark.parametrize("table", ["records", "fixtures"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_number_far_beyond_all_others_is_told_in_time(
    opened: Callable[[], Ledger], copy: Path, table: str, workers: int
) -> None:
    last = MATCHES + (table == "fixtures")
    change(copy, f"UPDATE {table} SET number = 1000000000000000 WHERE number = {last}")
    report = verify(opened(), workers=workers)
    assert {last, 10**15} & {problem.match for problem in report.problems}
    assert len(report.problems) < 2_000
    if table == "fixtures":
        assert f"match {last}: its fixture is missing, and all up to match 999999999999999" in map(
            str, report.problems
        )


def test_a_row_of_the_narrow_table_without_a_record_is_told(opened: Callable[[], Ledger], copy: Path) -> None:
    change(copy, "UPDATE summaries SET number = 99 WHERE number = 7")
    assert {(one.match, one.what) for one in verify(opened()).problems} == {
        (7, "its row of the narrow table is missing"),
        (
            None,
            "the table summaries holds 1 row of no match or request, the first with number 99",
        ),
    }


ANSWER = "(SELECT id FROM intents WHERE match = 7 AND key = 'answer/A')"

CHANGES = {
    "fixture": ("UPDATE fixtures SET body = flip(body, {at}) WHERE number = 7", "its fixture changed"),
    "request": (
        f"UPDATE intents SET body = flip(body, {{at}}) WHERE id = {ANSWER}",
        "request answer/A changed",
    ),
    "reply": (
        f"UPDATE replies SET body = flip(body, {{at}}) WHERE intent = {ANSWER}",
        "reply answer/A changed",
    ),
    "record": ("UPDATE records SET body = flip(body, {at}) WHERE number = 7", "its record changed"),
    "chain": ("UPDATE records SET chain = flip(chain, {at}) WHERE number = 7", "its record changed"),
}


@pytest.mark.parametrize("at", [0, 3, 17, 30, -1])
@pytest.mark.parametrize("what", CHANGES)
def test_one_changed_byte_is_named(what: str, at: int, opened: Callable[[], Ledger], copy: Path) -> None:
    statement, expected = CHANGES[what]
    change(copy, statement.format(at=at))
    assert verify(opened()).problems == (Problem(7, expected),)
    assert str(Problem(7, expected)) == f"match 7: {expected}"
    if at == 17:
        said = by_script(copy)
        assert said.returncode == 1
        assert "match 7" in said.stdout


FORGERIES = {
    "reply with its checksum": (
        f"UPDATE replies SET body = flip(body, 50), checksum = 1 WHERE intent = {ANSWER}",
        "reply answer/A changed",
    ),
    "player": (f"UPDATE intents SET player = 'somebody' WHERE id = {ANSWER}", "root on record"),
    "key": (f"UPDATE intents SET key = 'answer/C' WHERE id = {ANSWER}", "root on record"),
    "reply removed": (f"DELETE FROM replies WHERE intent = {ANSWER}", "root on record"),
    "exchange removed": (f"DELETE FROM intents WHERE id = {ANSWER}", "root on record"),
    "answered twice": (
        "INSERT INTO replies SELECT NULL, lost.id, cost_nano, at_ms, latency_ms, replies.checksum, "
        "replies.body FROM replies JOIN intents ON intents.id = intent JOIN intents lost USING (match, key) "
        "WHERE intents.attempt = 1 AND lost.attempt = 2",
        "question/1/1 is answered twice",
    ),
    "cost": (
        f"UPDATE replies SET cost_nano = cost_nano + 1 WHERE intent = {ANSWER}",
        "costs of its replies",
    ),
    "fixture removed": ("DELETE FROM fixtures WHERE number = 7", "its fixture is missing"),
    "round": ("UPDATE fixtures SET round = 99 WHERE number = 7", "round in the row of its fixture"),
    "record removed": ("DELETE FROM records WHERE number = 7", "its record is missing"),
    "summary removed": ("DELETE FROM summaries WHERE number = 7", "narrow table is missing"),
    "lost attempt": (
        "UPDATE intents SET body = flip(body, 30) WHERE attempt = 2",
        "request question/1/1 (attempt 2)",
    ),
    "in play, fixture": (
        f"UPDATE fixtures SET body = flip(body, 1) WHERE number = {MATCHES + 1}",
        "fixture changed",
    ),
    "in play, fixture removed": (f"DELETE FROM fixtures WHERE number = {MATCHES}", "fixture is missing"),
    "in play, request": (
        f"UPDATE intents SET body = flip(body, 1) WHERE match = {MATCHES + 1} AND key = 'vote/1'",
        "request vote/1 changed",
    ),
    "in play, reply": (
        f"UPDATE replies SET body = flip(body, 1) WHERE id = {MATCHES * 18 + 1}",
        "reply question/1/1 changed",
    ),
    "text": ("UPDATE texts SET body = flip(body, 5) WHERE rowid = 3", "changed"),
    "text that is no UTF-8": ("UPDATE texts SET body = x'ff' WHERE rowid = 1", "changed"),
    "text's digest": ("UPDATE texts SET digest = flip(digest, 0) WHERE rowid = 1", "changed"),
    "text removed": ("DELETE FROM texts WHERE rowid = 2", "is missing"),
    "amendment": (
        "UPDATE entries SET body = flip(body, 8) WHERE position = 15",
        "about votes, is not as it was",
    ),
    "amendment moved": ("UPDATE entries SET topic = 'other'", "entry 15 of the log, about other, is not as"),
    "amendment removed": (
        "DELETE FROM entries WHERE position = 15",
        "entry 15 of the log, about votes, is mis",
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_whatever_else_was_done_is_found(what: str, opened: Callable[[], Ledger], copy: Path) -> None:
    statement, expected = FORGERIES[what]
    change(copy, statement)
    report = verify(opened())
    assert not report.ok
    assert any(expected in str(problem) for problem in report.problems)
    assert len(report.problems) <= 2


@pytest.mark.parametrize(
    "field",
    [
        "round",
        "game",
        "topic",
        "players",
        "status",
        "scores",
        "costs",
        "spent_nano",
        "raw",
        "cost_elo",
        "at_ms",
    ],
)
def test_a_narrow_table_that_says_something_else(
    field: str, opened: Callable[[], Ledger], copy: Path
) -> None:
    lists = {"players": '\'["x","y"]\''} | dict.fromkeys(
        ("scores", "costs", "raw", "cost_elo"), "'[7.0,8.0]'"
    )
    change(copy, f"UPDATE summaries SET {field} = {lists.get(field, 99)} WHERE number = 7")
    (problem,) = verify(opened()).problems
    assert problem.match == 7
    assert f"narrow table says {field}" in problem.what


def test_matches_that_the_log_does_not_hold_are_named(opened: Callable[[], Ledger], copy: Path) -> None:
    change(copy, f"DELETE FROM log WHERE about IN ('record {MATCHES - 1}', 'record {MATCHES}')")
    said = [*map(str, verify(opened()).problems)]
    for number in (MATCHES - 1, MATCHES):
        assert f"match {number}: it is not in the log" in said


def test_a_consistent_forgery_changes_the_head(opened: Callable[[], Ledger], tmp_path: Path) -> None:
    """Nobody can tell from the file alone that all of it was written anew; the published head can."""
    forged = open_ledger("sqlite:///forged.db", tmp_path, create=True)
    with forged.runner():
        for batch in sample(MATCHES, reply_chars=599):
            forged.write(batch)
    assert verify(forged).ok
    assert verify(forged).head != verify(opened()).head
    forged.close()


def test_the_head_does_not_depend_on_clocks_and_attempts(tmp_path: Path) -> None:
    heads = set()
    for name, at_ms, together in (("a", 1, 3), ("b", 2, 50)):
        ledger = open_ledger(f"sqlite:///{name}.db", tmp_path, create=True)
        with ledger.runner():
            for batch in sample(6, at_ms=at_ms, together=together):
                ledger.write(batch)
        report = verify(ledger)
        assert report.ok
        heads.add(report.head)
        ledger.close()
    assert len(heads) == 1


def test_what_cannot_be_read_is_narrowed_down_to_its_match(opened: Callable[[], Ledger], copy: Path) -> None:
    change(copy, "UPDATE summaries SET players = CAST(x'5bff5d' AS TEXT) WHERE number = 7")
    (problem,) = verify(opened()).problems
    assert problem.match == 7
    assert "cannot be read" in problem.what


class Leaving(Helpers):
    """A helper that leaves with its part undone."""

    count = 2

    def submit(self, *given: Any, **named: Any) -> Future[Any]:
        gone: Future[Any] = Future()
        gone.set_exception(Lost("a process that helped was killed"))
        return gone


def test_where_a_helper_is_lost_it_is_said_that_its_part_was_not_checked(
    opened: Callable[[], Ledger],
) -> None:
    with pytest.raises(LedgerError) as caught:
        verify(opened(), workers=2, helpers=Leaving())
    assert str(caught.value) == (
        "a process that helped was killed; what it was to check is not checked. Verify again"
    )


class LeavingFirst(Leaving):
    """A helper that leaves with its first part undone, after which another does the rest."""

    def submit(self, work: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
        if work is integrity:
            return super().submit()
        done: Future[Any] = Future()
        done.set_result(work(*given))
        return done


def test_a_helper_that_was_to_look_at_the_database_itself_is_missed_too(
    opened: Callable[[], Ledger],
) -> None:
    with pytest.raises(LedgerError, match=r"is not checked\. Verify again$"):
        verify(opened(), workers=2, helpers=LeavingFirst())


def test_a_helper_that_fails_is_an_error_not_a_finding(
    opened: Callable[[], Ledger], copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened()
    monkeypatch.setattr(ledger, "address", f"sqlite:///{copy}.gone")
    with pytest.raises(LedgerError, match=r"^no ledger at|there is no ledger"):
        verify(ledger, workers=2)
