"""Replay finds whatever does not follow from the replies on record, and nothing else."""

from __future__ import annotations

import dataclasses
import math
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import msgspec
import pytest
from tests import virtual
from tests.engine.arenas import house, play, play_stopping_at, write_arena
from tests.engine.clients import Cast

import peerage
from peerage.arena import open_arena
from peerage.engine.again.dropping import drop
from peerage.engine.again.replay import Elsewhere, ReplayReport, _Replay, repair, replay
from peerage.game.match import MatchRecord
from peerage.games import GAMES
from peerage.ledger import open_ledger
from peerage.ledger.topics.waits import waits
from peerage.players.client import Call, Later
from peerage.values.clock import now_ms

pytestmark = pytest.mark.usefixtures("plain_bodies")

MATCHES = 30
FAULTS = {"refusing": 0.03, "malformed": 0.05, "failing": 0.01}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty priced duels with every kind of reply among them."""
    players = house(7, price={"input": 1.0, "output": 4.0}, faults=FAULTS)
    folder = write_arena(tmp_path_factory.mktemp("played"), players)
    play(folder, MATCHES)
    with closing(sqlite3.connect(folder / "arena.db")) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ledger.execute("PRAGMA journal_mode=DELETE")
    return folder / "arena.db"


class Forger:
    """Writes over a copy of a ledger, as nobody should."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.sql = sqlite3.connect(path, isolation_level=None)

    def record(self, number: int) -> dict[str, Any]:
        return self.body("records", number)

    def body(self, table: str, number: int) -> dict[str, Any]:
        row = self.sql.execute(f"SELECT body FROM {table} WHERE number = ?", [number]).fetchone()
        found: dict[str, Any] = msgspec.json.decode(row[0])
        return found

    def write(self, table: str, number: int, body: dict[str, Any]) -> bytes:
        data = msgspec.json.encode(body)
        self.sql.execute(f"UPDATE {table} SET body = ? WHERE number = ?", [data, number])
        return data

    def done(self) -> dict[str, Any]:
        """The first record of a match decided by judges, not for nothing."""
        return next(
            record
            for record in map(self.record, range(5, MATCHES))
            if record["outcome"]["detail"].get("decided") == "by judges" and not record["outcome"]["void"]
        )

    def replay(self) -> ReplayReport:
        ledger = open_ledger("sqlite:///arena.db", self.folder, create=False)
        try:
            return replay(ledger)
        finally:
            ledger.close()

    def repair(self) -> ReplayReport:
        with closing(open_ledger("sqlite:///arena.db", self.folder, create=False)) as ledger:
            return repair(ledger)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        return self.sql.execute(f"SELECT * FROM {table} ORDER BY number").fetchall()

    def found(self) -> list[tuple[int, str]]:
        return [(difference.match, difference.about) for difference in self.replay().differences]


@pytest.fixture
def forger(played: Path, tmp_path: Path) -> Iterator[Forger]:
    shutil.copy(played, tmp_path / "arena.db")
    made = Forger(tmp_path / "arena.db")
    yield made
    made.sql.close()


def test_an_honest_ledger_is_recomputed_whole(forger: Forger) -> None:
    report = forger.replay()
    assert report.ok
    assert (report.recomputed, report.as_stated) == (report.matches, 0)
    statuses = {status for (status,) in forger.sql.execute("SELECT status FROM summaries")}
    assert len(statuses) > 1, "the arena should hold void matches too"
    assert forger.sql.execute("SELECT count(*) FROM intents WHERE key LIKE '%~repair'").fetchone()[0] > 5


def test_a_changed_outcome_is_named(forger: Forger) -> None:
    record = forger.done()
    scores = record["outcome"]["scores"]
    record["outcome"]["scores"] = (
        {"A": scores["B"], "B": scores["A"]} if scores["A"] != 0.5 else {"A": 1, "B": 0}
    )
    forger.write("records", record["number"], record)
    assert forger.found() == [(record["number"], "outcome, scores")]


def test_a_changed_ballot_is_named(forger: Forger) -> None:
    record = forger.done()
    record["outcome"]["detail"]["ballots"][0]["weight"] += 0.01
    forger.write("records", record["number"], record)
    assert forger.found() == [(record["number"], "outcome, detail")]


def test_a_changed_rating_is_named_and_its_last_bits_are_not(forger: Forger) -> None:
    record = forger.done()
    player = next(iter(record["ratings"]["cost"]))
    record["ratings"]["cost"][player][1] += 1e-9
    forger.write("records", record["number"], record)
    assert forger.found() == []
    record["ratings"]["cost"][player][1] += 1e-3
    forger.write("records", record["number"], record)
    assert forger.found() == [(record["number"], f"cost rating of {player}")]


def test_changed_totals_and_root_are_named(forger: Forger) -> None:
    record = forger.done()
    player = next(iter(record["totals"]))
    record["totals"][player]["cost_nano"] += 1
    record["root"] = "00" * 32
    forger.write("records", record["number"], record)
    assert forger.found() == [(record["number"], "root"), (record["number"], f"totals of {player}")]


def test_a_changed_verdict_changes_what_follows(forger: Forger) -> None:
    """All verdicts of one match turned round: root, outcome and ratings no longer fit, here and after."""
    number = forger.done()["number"]
    rows = forger.sql.execute(
        "SELECT replies.id, replies.body FROM replies JOIN intents ON intents.id = replies.intent "
        "WHERE match = ? AND key LIKE 'judge/%'",
        [number],
    ).fetchall()
    for row, body in rows:
        said = msgspec.json.decode(body)
        for one, other in (('"A"', '"?"'), ('"B"', '"A"'), ('"?"', '"B"')):
            said["text"] = said["text"].replace(one, other)
        forger.sql.execute("UPDATE replies SET body = ? WHERE id = ?", [msgspec.json.encode(said), row])
    found = forger.found()
    assert {(number, "root"), (number, "outcome, scores"), (number, "outcome, detail")} <= set(found)
    assert any(match == number and about.startswith("raw rating of") for match, about in found)
    assert any(match > number for match, _ in found), "later ratings follow from the changed one"
    assert min(match for match, _ in found) == number


def test_a_changed_request_is_named(forger: Forger) -> None:
    number = forger.done()["number"]
    [(body,)] = forger.sql.execute(
        "SELECT body FROM intents WHERE match = ? AND key = 'answer/A'", [number]
    ).fetchall()
    other = body.replace(b'"to":"A"', b'"to":"B"')
    forger.sql.execute("UPDATE intents SET body = ? WHERE match = ? AND body = ?", [other, number, body])
    found = forger.found()
    assert (number, "request answer/A") in found
    assert (number, "root") in found


def test_another_players_reply_is_named(forger: Forger) -> None:
    number = forger.done()["number"]
    forger.sql.execute("UPDATE intents SET player = 'p9' WHERE match = ? AND key = 'answer/A'", [number])
    assert (number, "player of answer/A") in forger.found()


def test_missing_and_uncalled_for_replies_are_named(forger: Forger) -> None:
    number = forger.done()["number"]
    forger.sql.execute("UPDATE intents SET key = 'answer/C' WHERE match = ? AND key = 'answer/B'", [number])
    found = forger.found()
    assert (number, "reply to answer/B") in found
    assert (number, "reply to answer/C") in found


def test_a_better_seat_is_named(forger: Forger) -> None:
    """A judge whose rating was raised in the fixture, with the fixture's digest made to fit."""
    record = forger.done()
    number = record["number"]
    fixture = forger.body("fixtures", number)
    fixture["officials"]["judge"][0]["raw"] += 100
    record["fixture"] = sha256(forger.write("fixtures", number, fixture)).hexdigest()
    forger.write("records", number, record)
    player = fixture["officials"]["judge"][0]["player"]
    assert (number, f"ratings of {player} as judge/1") in forger.found()


def test_a_record_that_cannot_be_read_is_named(forger: Forger) -> None:
    forger.sql.execute("UPDATE records SET body = CAST('{}' AS BLOB) WHERE number = ?", [MATCHES])
    first = forger.replay().differences[0]
    assert (first.match, first.about) == (MATCHES, "stored form")
    assert "cannot be read" in str(first)


def test_a_changed_or_missing_row_of_the_narrow_table_is_named(forger: Forger) -> None:
    forger.sql.execute("UPDATE summaries SET spent_nano = spent_nano + 1, topic = 'x' WHERE number = 9")
    forger.sql.execute("DELETE FROM summaries WHERE number = 11")
    assert forger.found() == [
        (9, "narrow table, topic"),
        (9, "narrow table, spent_nano"),
        (11, "row of the narrow table"),
    ]


def test_a_changed_snapshot_is_named(forger: Forger) -> None:
    [(number,)] = forger.sql.execute("SELECT max(number) FROM snapshots").fetchall()
    snapshot = forger.body("snapshots", number)
    snapshot["raw"][2] += 1
    snapshot["accounts"]["p1"]["wins"] += 1
    body = forger.write("snapshots", number, snapshot)
    forger.sql.execute("UPDATE snapshots SET checksum = ?", [crc32(body)])
    player = snapshot["players"][2]
    assert forger.found() == [
        (number, f"snapshot, raw rating of {player}"),
        (number, "snapshot, sums of p1"),
    ]


def test_a_game_of_another_version_is_counted_not_accused(
    forger: Forger, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = GAMES["duel"].version
    newer = dataclasses.replace(GAMES["duel"], version=99)
    monkeypatch.setattr("peerage.engine.again.replayed.installed", {"duel": newer}.get)
    report = forger.replay()
    assert report.ok
    release = f"peerage=={peerage.__version__}"
    assert (report.recomputed, report.complete) == (0, False)
    assert report.elsewhere == (Elsewhere("duel", here, release, report.matches, 1, report.matches),)
    record = forger.done()
    record["ratings"]["raw"] = {player: [1500, 1500] for player in record["ratings"]["raw"]}
    forger.write("records", record["number"], record)
    assert {match for match, _ in forger.found()} == {record["number"]}, "ratings are checked all the same"


def test_what_the_engine_voided_is_accepted_as_stated(tmp_path: Path) -> None:
    players = house(7, price={"input": 1.0, "output": 4.0})
    play(write_arena(tmp_path, players, budget={"match": 0.000001}), 5)
    with open_arena(tmp_path) as arena:
        report = arena.replay()
    assert report.ok
    assert (report.recomputed, report.as_stated) == (0, report.matches)
    assert report.matches > 5


def test_an_empty_ledger_has_nothing_to_recompute(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)) as arena:
        assert arena.replay() == ReplayReport(0, 0, 0, 0, (), ())


def test_a_run_that_goes_on_makes_no_difference(tmp_path: Path) -> None:
    """Reads of a ledger go one after the other: a match leaves its round in between."""
    begun, left, reports = list[Any](), list[str](), list[ReplayReport]()

    def act(call: Call, attempt: int) -> Later | None:
        late = begun and (not left or call.key in left) and attempt == 0
        if not late:
            return None
        left[:] = [call.key]
        return Later("busy", until_ms=now_ms() + 60_000)

    with open_arena(write_arena(tmp_path, house(7), pairing={"window": 4})) as arena:
        ledger = arena.ledger.as_stored()

        def observe(record: MatchRecord, _: object) -> None:
            if record.number == 3:
                begun.append(_Replay(ledger, ledger.summaries))
            elif begun and ledger.heads()[1] == MATCHES:
                reports.append(begun[0].run(None, None, None))

        playing = arena.play(MATCHES, clients=Cast(act), observe=observe, inline=True)
        virtual.run(playing)
        assert waits(ledger).left
        assert replay(ledger).ok
    assert [report.differences for report in reports] == [()]


def test_a_match_that_was_dropped_is_recomputed(tmp_path: Path) -> None:
    """With the models that its players were when they had answered in it, before any other match ended."""
    asked = [0]

    def act(call: Call, attempt: int) -> Later | None:
        asked[0] += 1
        return Later("busy", until_ms=now_ms() + 3_600_000) if asked[0] > 12 else None

    play_stopping_at(write_arena(tmp_path, house(7)), 1, 60.0, Cast(act), times=1)
    with open_arena(tmp_path) as arena:
        number = min(waits(arena.ledger).now)
        assert any(row.reply is not None for row in arena.ledger.exchanges(number, number))
        drop(arena.ledger, number, now_ms())
        assert arena.replay().differences == ()
        assert arena.verify().ok


def test_progress_is_told(forger: Forger) -> None:
    told: list[tuple[int, int]] = []
    ledger = open_ledger("sqlite:///arena.db", forger.folder, create=False)
    matches = replay(ledger, lambda done, all_of: told.append((done, all_of))).matches
    ledger.close()
    assert told[-1] == (matches, matches)


def test_the_last_bits_of_another_machine_are_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judges' weights are exponentials, in which the mathematical libraries of systems differ."""
    write_arena(tmp_path, 6)
    play(tmp_path, 70)

    def elsewhere(x: float) -> float:
        return math.nextafter(math.exp(x), math.inf)

    library = SimpleNamespace(**{**vars(math), "exp": elsewhere})
    monkeypatch.setattr("peerage.judging.panels.panel.math", library)
    with open_arena(tmp_path, create=False) as arena:
        assert arena.replay().differences == ()


def test_what_follows_from_the_records_is_repaired(forger: Forger) -> None:
    whole, newest = forger.rows("summaries"), forger.rows("snapshots")[-1]
    for damage in (
        "DELETE FROM summaries WHERE number IN (3, 9)",
        "UPDATE summaries SET scores = 'nothing' WHERE number = 4",
        "INSERT INTO summaries SELECT number + 100, round, game, topic, players, status, scores, costs, "
        "spent_nano, raw, cost_elo, at_ms FROM summaries WHERE number = 5",
        'UPDATE summaries SET players = \'["a","b"]\'',
        "DELETE FROM summaries",
        "UPDATE snapshots SET body = '{}', checksum = 2745614147",
        "DELETE FROM snapshots",
    ):
        forger.sql.execute(damage)
        assert (forger.rows("summaries"), forger.rows("snapshots")[-1:]) != (whole, [newest]), damage
        assert forger.repair().ok
        assert forger.rows("summaries") == whole
        assert forger.rows("snapshots")[-1] == newest
        assert forger.replay().ok


def test_nothing_is_repaired_where_the_records_do_not_follow(forger: Forger) -> None:
    record = forger.done()
    player = next(iter(record["ratings"]["cost"]))
    record["ratings"]["cost"][player][1] += 1e-3
    forger.write("records", record["number"], record)
    forger.sql.execute("DELETE FROM summaries")
    report = forger.repair()
    assert [difference.about for difference in report.differences] == [f"cost rating of {player}"]
    assert forger.rows("summaries") == []


@pytest.mark.parametrize("at_ms", [-7, 2**63 - 1])
def test_no_time_that_cannot_be_is_repaired_into_the_tables(forger: Forger, at_ms: int) -> None:
    forger.sql.execute("UPDATE records SET at_ms = ? WHERE number = 5", [at_ms])
    before = forger.rows("summaries")
    assert [(one.match, one.about) for one in forger.repair().differences] == [(5, "when it ended")]
    assert forger.rows("summaries") == before


def test_a_reply_that_is_no_text_is_told(forger: Forger) -> None:
    forger.sql.execute("UPDATE replies SET body = x'7b2274657874223a22ff227d' WHERE id = 20")
    assert any(about == "stored form" for _, about in forger.found())
