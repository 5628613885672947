"""Votes: one per voter and match, chained by whoever writes, and covered by verify."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.sample import sample
from tests.engine.arenas import SMALL, house, ledger_of, play, write_arena

from peerage.ledger import Batch, Ledger, LedgerError, open_ledger
from peerage.ledger.check.kept_checkpoints import read_head
from peerage.ledger.check.verify import Problem, Report
from peerage.ledger.forms.merkle import digest, link, stream_genesis
from peerage.ledger.topics import votes as votes_module
from peerage.ledger.topics.votes import STREAM, PeopleVotes, Vote, VotedAlready
from peerage.standings.verify import verify


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("voted")
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    with ledger.runner():
        for batch in sample(6):
            ledger.write(batch)
    votes = PeopleVotes(ledger.address, folder)
    for number in (1, 2, 5):
        [row] = ledger.records(number, number)
        votes.cast(Vote(number, digest(row.body), ("B", "A"), "A", "v"), at_ms=number)
    ledger.close()
    return folder


@pytest.fixture
def voted(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "copy"))


def verified(folder: Path) -> Report:
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    try:
        return verify(ledger, votes=PeopleVotes(ledger.address, folder))
    finally:
        ledger.close()


def change(folder: Path, sql: str, *values: object) -> None:
    with sqlite3.connect(folder / "arena.votes.db") as connection:
        connection.execute(sql, values)
    connection.close()


def test_nobody_has_voted_where_there_is_no_file(tmp_path: Path) -> None:
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)
    assert (list(votes.rows()), votes.count(), votes.judged_by("v")) == ([], 0, set())
    assert not votes.path.exists()


def test_nobody_has_voted_while_the_first_vote_is_being_cast(tmp_path: Path) -> None:
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)
    votes.path.touch()
    assert (list(votes.rows()), votes.count(), votes.misfiled()) == ([], 0, [])


def test_votes_lie_beside_whatever_ledger(tmp_path: Path) -> None:
    assert PeopleVotes("sqlite:///mine.db", tmp_path).path == tmp_path / "mine.votes.db"
    assert PeopleVotes(f"sqlite:///{tmp_path}/x.db", Path()).path == tmp_path / "x.votes.db"
    assert PeopleVotes("postgresql://somewhere/arena", tmp_path).path == tmp_path.resolve() / "arena.votes.db"


def test_a_vote_comes_back_chained(tmp_path: Path) -> None:
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)
    cast = [Vote(number, "00", ("A", "B"), "tie", "v") for number in (3, 1)]
    rows = [votes.cast(vote, at_ms=7) for vote in cast]
    assert list(votes.rows()) == rows
    assert list(votes.rows(after=1)) == rows[1:]
    assert list(votes.votes()) == [msgspec.structs.replace(vote, at_ms=7) for vote in cast]
    assert rows[1].chain == link(link(stream_genesis(STREAM), rows[0].body), rows[1].body)
    assert votes.judged_by("v") == {1, 3}


def test_one_vote_a_match(tmp_path: Path) -> None:
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)
    votes.cast(Vote(1, "00", ("A", "B"), "A", "v"), at_ms=1)
    with pytest.raises(VotedAlready, match="one vote per match"):
        votes.cast(Vote(1, "00", ("B", "A"), "B", "v"), at_ms=2)
    votes.cast(Vote(1, "00", ("A", "B"), "A", "another"), at_ms=3)
    assert votes.count() == 2


def test_a_runner_that_plays_does_not_keep_anybody_from_voting(voted: Path) -> None:
    ledger = open_ledger("sqlite:///arena.db", voted, create=False)
    with ledger.runner():
        PeopleVotes(ledger.address, voted).cast(Vote(3, "00", ("A", "B"), "A", "v"), at_ms=1)
        ledger.write(Batch(meta={"seed": "1"}))
    ledger.close()
    assert PeopleVotes(ledger.address, voted).count() == 4


def test_many_writers_make_one_chain(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from peerage.ledger.topics.votes import PeopleVotes, Vote\n"
        "votes = PeopleVotes('sqlite:///arena.db', Path(sys.argv[1]))\n"
        "for n in range(20): votes.cast(Vote(n, '00', ('A', 'B'), 'A', sys.argv[2]), at_ms=n)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), "x"])
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)

    def cast(number: int) -> None:
        votes.cast(Vote(number, "00", ("A", "B"), "A", "z"), at_ms=number)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(cast, range(20)))
    assert other.wait(60) == 0
    chain = stream_genesis(STREAM)
    for due, row in enumerate(votes.rows(), start=1):
        chain = link(chain, row.body)
        assert (row.sequence, row.chain) == (due, chain)
    assert votes.count() == 40


def test_verify_tells_the_head_of_the_votes(voted: Path) -> None:
    report = verified(voted)
    assert report.ok
    assert report.streams[STREAM] == list(PeopleVotes("sqlite:///arena.db", voted).rows())[-1].chain.hex()


def test_verify_finds_a_changed_vote(voted: Path) -> None:
    forged = msgspec.json.encode(Vote(1, "00", ("B", "A"), "B", "v"))
    change(voted, "UPDATE votes SET body = ? WHERE sequence = 1", forged)
    assert Problem(None, f"amendment 1 of {STREAM} changed") in verified(voted).problems


def test_verify_finds_a_vote_that_was_taken_out(voted: Path) -> None:
    change(voted, "DELETE FROM votes WHERE sequence = 2")
    assert Problem(None, f"amendment 2 of {STREAM} is missing") in verified(voted).problems


def test_verify_finds_votes_on_something_else(voted: Path) -> None:
    PeopleVotes("sqlite:///arena.db", voted).cast(Vote(4, "00", ("A", "B"), "A", "v"), at_ms=1)
    [problem] = verified(voted).problems
    assert problem == Problem(4, "votes were given on a record that is not this one")


@pytest.mark.parametrize("body", [b"", b"[]", "text", 7, None, b'{"match":"x"}'])
def test_whatever_stands_there_verify_tells(voted: Path, body: object) -> None:
    change(voted, "CREATE TABLE loose AS SELECT * FROM votes")
    change(voted, "UPDATE loose SET body = ? WHERE sequence = 1", body)
    change(voted, "DROP TABLE votes")
    change(voted, "ALTER TABLE loose RENAME TO votes")
    report = verified(voted)
    assert report.problems
    assert report.matches == 6


def test_a_file_that_is_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "arena.votes.db").write_bytes(b"no database at all" * 100)
    votes = PeopleVotes("sqlite:///arena.db", tmp_path)
    with pytest.raises(LedgerError, match=r"arena\.votes\.db"):
        list(votes.rows())
    with pytest.raises(LedgerError, match=r"arena\.votes\.db"):
        votes.cast(Vote(1, "00", ("A", "B"), "A", "v"), at_ms=1)


@pytest.mark.parametrize(
    ("change_of", "named"),
    [
        ("UPDATE votes SET voter = 'w' WHERE sequence = 2", 2),
        ("UPDATE votes SET match = 4 WHERE sequence = 2", 2),
        ("INSERT INTO votes SELECT 0, match, 'w', chain, at_ms, body FROM votes WHERE sequence = 3", 0),
        ("INSERT INTO votes SELECT -4, match, 'w', chain, at_ms, body FROM votes WHERE sequence = 3", -4),
    ],
)
def test_a_vote_filed_elsewhere_than_it_says_is_named(voted: Path, change_of: str, named: int) -> None:
    change(voted, change_of)
    [problem] = verified(voted).problems
    assert str(problem) == f"amendment {named} of audience is filed under another voter, match or time"


def test_votes_that_are_cast_while_others_are_checked_are_no_fault(
    voted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes, read = PeopleVotes("sqlite:///arena.db", voted), votes_module._rows

    def rows(*of: Any) -> Any:
        """Read, and let somebody vote after that."""
        found = read(*of)
        with monkeypatch.context() as undisturbed:
            undisturbed.setattr(votes_module, "_rows", read)
            votes.cast(Vote(4, "00", ("A", "B"), "A", f"voter {votes.count()}"), at_ms=9)
        return found

    monkeypatch.setattr(votes_module, "_rows", rows)
    (problem,) = verified(voted).problems
    assert str(problem) == "match 4: votes were given on a record that is not this one"
    assert votes.count() > 4


def test_a_vote_filed_under_what_is_no_number_is_damage(voted: Path) -> None:
    change(voted, "UPDATE votes SET match = 'x' WHERE sequence = 2")
    [problem] = verified(voted).problems
    assert "the column match holds what does not belong there" in str(problem)


# ------------------------------------------------------------------------------- votes bound by the log


def bound(folder: Path, votes: int) -> Path:
    """An arena that played, was voted on, and played on: its log binds so many votes."""
    write_arena(folder, house(4), rules=SMALL)
    play(folder, 4)
    with closing(ledger_of(folder)) as ledger:
        cast(ledger, folder, votes, voter="early")
    play(folder, 6)
    return folder


def cast(ledger: Ledger, folder: Path, count: int, voter: str) -> None:
    votes = PeopleVotes(ledger.address, folder)
    for number in range(1, count + 1):
        [row] = ledger.records(number, number)
        votes.cast(Vote(number, digest(row.body), ("A", "B"), "A", voter), at_ms=number)


def abouts(folder: Path) -> list[str]:
    with closing(ledger_of(folder)) as ledger:
        return [entry.about for entry in ledger.log()]


def test_a_run_takes_the_votes_into_the_log(tmp_path: Path) -> None:
    folder = bound(tmp_path, 3)
    said = abouts(folder)
    assert [about for about in said if about.startswith("votes ")] == ["votes 3"]
    assert said.index("record 4") < said.index("votes 3") < said.index("record 5")
    assert verified(folder).problems == ()
    with closing(ledger_of(folder)) as ledger:
        before = verify(ledger).log_root
        cast(ledger, folder, 2, voter="late")
    assert verified(folder).problems == ()  # votes that no run has seen yet are nothing to miss
    play(folder, 8)
    assert [about for about in abouts(folder) if about.startswith("votes ")] == ["votes 3", "votes 5"]
    with closing(ledger_of(folder)) as ledger:
        report = verify(ledger, votes=PeopleVotes(ledger.address, folder), kept=[read_head(before)])
    assert (report.ok, [one.matches for one in report.checkpoints]) == (True, [2])


def test_votes_that_come_while_matches_are_played_are_bound_at_the_end(tmp_path: Path) -> None:
    write_arena(tmp_path, house(4), rules=SMALL)
    play(tmp_path, 2)

    async def vote(_: object) -> None:
        with closing(ledger_of(tmp_path)) as ledger:
            cast(ledger, tmp_path, 2, voter="v")

    play(tmp_path, 6, beside=vote)
    assert "votes 2" in abouts(tmp_path)[-4:]
    assert abouts(tmp_path)[-1] == "in play 6"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM votes WHERE sequence = 3", "the log holds 3 votes of the audience, and 2 are there"),
        ("DELETE FROM votes", "the log holds 3 votes of the audience, and 0 are there"),
        ("DROP TABLE votes", "the log holds 3 votes of the audience, and 0 are there"),
    ],
)
def test_votes_deleted_after_they_were_bound_are_missed(tmp_path: Path, sql: str, told: str) -> None:
    folder = bound(tmp_path, 3)
    change(folder, sql)
    assert any(told in str(problem) for problem in verified(folder).problems)
    play(folder, 7)  # a later run does not cover it up
    assert any(told in str(problem) for problem in verified(folder).problems)


def test_a_file_of_votes_written_anew_or_left_behind_is_told(tmp_path: Path) -> None:
    folder = bound(tmp_path, 3)
    PeopleVotes("sqlite:///arena.db", folder).path.unlink()
    [told] = verified(folder).problems
    assert "the log holds 3 votes of the audience, and 0 are there: arena.votes.db" in str(told)
    with closing(ledger_of(folder)) as ledger:
        cast(ledger, folder, 4, voter="forged")
    [told] = verified(folder).problems
    assert str(told) == "the first 3 votes of the audience are not as they were logged"


def test_votes_that_cannot_be_read_end_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = bound(tmp_path, 1)
    (folder / "arena.votes.db").write_bytes(b"none of a database, " * 100)
    assert play(folder, 8).settled == 8
    assert "the votes of the audience are not taken into the log" in caplog.text
    assert not verified(folder).ok
