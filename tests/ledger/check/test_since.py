"""Whoever kept a head learns whether a ledger goes on from there."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import SMALL, house, ledger_of, play, write_arena
from tests.ledger.forger import changed
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.ledger import amend
from peerage.ledger.check.kept_checkpoints import read_head
from peerage.ledger.forms.log import entry_leaf
from peerage.ledger.forms.merkle import EMPTY_ROOT, root
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("since"), house(4), rules=SMALL)
    play(folder, 4)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def kept(folder: Path) -> str:
    """The log root as a person keeps it."""
    said = CliRunner().invoke(app, ["verify", "--dir", str(folder)]).output
    return next(line for line in said.splitlines() if line.startswith("log root: ")).split()[2]


def entries_of(root: str) -> int:
    return int(root.partition(":")[0])


def asked(folder: Path, since: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["verify", "--dir", str(folder), "--since", since])
    return done.exit_code, done.output


def test_the_root_is_that_of_the_entries(folder: Path) -> None:
    with closing(ledger_of(folder)) as ledger:
        entries = list(ledger.log())
        report = verify(ledger)
    due = root([entry_leaf(entry.position, entry.about, entry.digest) for entry in entries])
    assert report.log_root == f"{len(entries)}:{due.hex()}" == kept(folder)
    assert report.checkpoints == ()


def test_a_ledger_extends_itself(folder: Path) -> None:
    code, said = asked(folder, kept(folder))
    assert (code, said.splitlines()[-1]) == (0, f"extends {kept(folder)} by 0 matches and 0 entries")


def test_further_matches_and_amendments_extend(folder: Path) -> None:
    before = kept(folder)
    play(folder, 7)
    with closing(ledger_of(folder)) as ledger, ledger.runner():
        amend(ledger, "challenges", [{"action": "flag", "challenge_id": "c", "flag": "wrong"}], 5)
    sizes = [int(one.partition(":")[0]) for one in (before, kept(folder))]
    code, said = asked(folder, before)
    assert (code, said.splitlines()[-1]) == (
        0,
        f"extends {before} by 3 matches and {sizes[1] - sizes[0]} entries",
    )


def rewritten(folder: Path) -> None:
    """The time of an early reply, and every digest and chain made anew, as a forger of the whole would."""
    changed(folder, "UPDATE replies SET at_ms = at_ms + 1 WHERE id = 1")


def reworded(folder: Path) -> None:
    """Another reply, and nothing else: neither its time nor what it cost, nor any rating."""
    changed(
        folder,
        """UPDATE replies SET body = CAST(replace(body, '"text":"', '"text":"So: ') AS BLOB) WHERE id = 1""",
    )


def cut(folder: Path) -> None:
    """The newest entries, and all that they are about, as if nothing had been played."""
    with closing(sqlite3.connect(folder / "arena.db")) as db, db:
        [(last,)] = db.execute("SELECT position FROM log WHERE about = 'record 4'").fetchall()
        for table in ("records", "summaries", "snapshots"):
            db.execute(f"DELETE FROM {table} WHERE number >= 4")
        db.execute("DELETE FROM log WHERE position >= ?", [last])


def another(folder: Path) -> None:
    shutil.rmtree(folder)
    play(write_arena(folder, house(4), seed=2, rules=SMALL), 5)


HARMS: list[tuple[Callable[[Path], None], str]] = [
    (rewritten, "entries 1 to {size} (matches 1 to 4"),
    (reworded, "entries 1 to {size} (matches 1 to 4"),
    (cut, "that one had {size} entries. Its end was cut off"),
    (another, "Its past was rewritten, or it is another arena"),
]


@pytest.mark.parametrize(("harm", "told"), HARMS)
def test_what_no_ledger_shows_by_itself(folder: Path, harm: Callable[[Path], None], told: str) -> None:
    before = kept(folder)
    harm(folder)
    assert asked(folder, f"0:{EMPTY_ROOT.hex()}")[0] == 0  # whole, taken by itself
    code, said = asked(folder, before)
    assert code == 1
    assert f"it does not extend {before}: " in said
    assert told.format(size=before.partition(":")[0]) in said


def test_the_answer_as_json(folder: Path) -> None:
    before = kept(folder)
    play(folder, 6)
    command = ["verify", "--dir", str(folder), "--format", "json", "--since"]
    done = CliRunner().invoke(app, [*command, before])
    found = json.loads(done.output)
    assert (done.exit_code, found["ok"]) == (0, True)
    entries = entries_of(found["log_root"]) - entries_of(before)
    extended = {"size": entries_of(before), "extends": True, "matches": 2, "entries": entries}
    assert found["checkpoints"] == [{"name": before, **extended, "signed": [], "cosigned": []}]
    done = CliRunner().invoke(app, [*command, f"3:{'ab' * 32}"])
    found = json.loads(done.output)
    assert (done.exit_code, found["ok"]) == (1, False)
    assert [one["extends"] for one in found["checkpoints"]] == [False]


@pytest.mark.parametrize(
    "wrong", ["412", "5f" * 32, "412:5f0c", "5f0c", f"-1:{'ab' * 32}", f"1:{'xy' * 32}", f"{2**70}:"]
)
def test_what_is_no_head_is_said_to_be_none(folder: Path, wrong: str) -> None:
    code, said = asked(folder, wrong)
    assert code == 2
    assert "is no head of a ledger" in said
    with pytest.raises(ValueError, match="is no head of a ledger"):
        read_head(wrong)
