"""What `verify` says of a ledger to which something was done, as it is in `findings.json`.

`tests.ledger.check.test_tampering` shows that whatever is done is told; here it is told of the right match,
once, in the right words, and a run refuses to build on it. See `tests.recorded`.
"""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from bench.sample import sample
from tests import recorded
from tests.ledger.tampered import Harm, rows_harmed

from peerage.game.match import Fixture
from peerage.ledger import (
    Amendment,
    Batch,
    FailureRow,
    FixtureRow,
    IntentRow,
    Ledger,
    LedgerError,
    ReplyRow,
    open_ledger,
)
from peerage.ledger.check.checkpoints import unsigned
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint, read_head
from peerage.ledger.check.verify import remedy
from peerage.ledger.forms import bodies
from peerage.ledger.forms.codec import fixture_body
from peerage.ledger.forms.log import entry_text
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.standings.verify import check_records, verify

pytestmark = pytest.mark.usefixtures("plain_bodies")

FILE = Path(__file__).with_name("findings.json")
FILES = ("arena.db", "arena.votes.db")
MATCHES = 6
OTHERS = re.compile(r"(cannot be read|form of this version|cannot be checked|computed again): .*", re.DOTALL)
"""What other packages say, which is theirs to change."""


def opened(folder: Path) -> Ledger:
    return open_ledger("sqlite:///arena.db", folder, create=True)


def fill(folder: Path) -> None:
    """Finished matches, one in play, attempts that failed, amendments, votes; a run that ended."""
    with closing(opened(folder)) as ledger:
        with ledger.runner():
            for batch in sample(MATCHES, together=2):
                ledger.write(batch)
            body, settings = fixture_body(Fixture(MATCHES + 1, 9, "duel", 1, "s", (), {}, {}))
            request = next(row.request for row in ledger.exchanges(4, 4) if row.key == "question/1/1")
            ledger.write(
                Batch(
                    texts=settings,
                    fixtures=[FixtureRow(MATCHES + 1, 9, body)],
                    intents=[
                        IntentRow(4, "question/1/1", 2, "player-01", request, 10),
                        IntentRow(MATCHES + 1, "question/1/1", 1, "player-01", request, 10),
                        IntentRow(MATCHES + 1, "vote/1", 1, "player-01", request, 10),
                    ],
                    replies=[
                        ReplyRow(MATCHES + 1, "question/1/1", 1, b'{"status":"ok","text":"hm"}', None, 3)
                    ],
                    failures=[FailureRow(4, "question/1/1", 2, "timeout", 10, 3)],
                    amendments=[
                        Amendment("challenges", b'{"a":1}', 1),
                        Amendment("challenges", b'{"a":2}', 2),
                    ],
                )
            )
        votes = PeopleVotes(ledger.address, folder)
        for row in ledger.records(1, 3):
            votes.cast(
                Vote(row.number, digest(row.body), ("A", "B"), "A", f"v{row.number}"), 100 + row.number
            )
        with ledger.runner():
            ledger.write(Batch(votes=votes.head()))


def kept(folder: Path) -> list[KeptCheckpoint]:
    """What somebody kept: the root of the log, and a checkpoint with a proof of each of its entries."""
    with closing(opened(folder)) as ledger:
        found = verify(ledger, 1)
        assert found.ok, found.problems
        entries = [(one.position, entry_text(one.position, one.about, one.digest)) for one in ledger.log()]
        checkpoint = unsigned(ledger, found.log_root)
        return [read_head(found.log_root), KeptCheckpoint("kept.txt", checkpoint, tuple(entries))]


def checked(folder: Path, checkpoints: list[KeptCheckpoint]) -> Any:
    """What is found, what is done about it, and what a run says that would begin."""

    def plain(text: str) -> str:
        return OTHERS.sub(r"\1", text.replace(str(folder), "").replace(checkpoints[0].name, "HEAD"))

    try:
        with closing(opened(folder)) as ledger:
            report = verify(ledger, 1, PeopleVotes(ledger.address, folder), checkpoints)
            refused = ""
            try:
                check_records(ledger)
            except LedgerError as error:
                refused = plain(str(error))
    except LedgerError as error:
        return plain(str(error))
    counted = [report.matches, report.exchanges, report.head[:6], [*report.streams]]
    counted += [[one.extends, one.matches, one.entries] for one in report.checkpoints]
    return [[plain(str(one)) for one in report.problems], remedy(report), refused, counted]


def harms(folder: Path, table: str) -> list[tuple[str, Harm]]:
    """A part of what may befall the rows of a table."""
    every = [(file, harm) for file in FILES for harm in rows_harmed(folder / file)]
    return [(file, harm) for file, harm in every if re.match(rf"{table}\b", harm.name)][::5]


TABLES = (
    *("meta", "fixtures", "intents", "replies", "failures", "records", "summaries"),
    *("texts", "entries", "log", "votes"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[KeptCheckpoint]]:
    folder = tmp_path_factory.mktemp("findings")
    fill(folder)
    return folder, kept(folder)


def told(whole: Path, checkpoints: list[KeptCheckpoint], table: str, work: Path) -> dict[str, Any]:
    found = {}
    for number, (file, harm) in enumerate(harms(whole, table)):
        copy = work / str(number)
        shutil.copytree(whole, copy)
        if harm.do(copy / file):
            found[harm.name] = checked(copy, checkpoints)
        shutil.rmtree(copy)
    return found


@pytest.mark.parametrize("table", TABLES)
def test_what_is_said(whole: tuple[Path, list[KeptCheckpoint]], table: str, tmp_path: Path) -> None:
    recorded.check(FILE, table, told(*whole, table, tmp_path))


def test_of_a_whole_ledger_nothing_is_said(whole: tuple[Path, list[KeptCheckpoint]]) -> None:
    problems, _, refused, _ = checked(*whole)
    assert (problems, refused) == ([], "")


if __name__ == "__main__":
    with TemporaryDirectory() as name, patch.object(bodies, "SHORTEST", 2**62):
        arena = Path(name) / "arena"
        arena.mkdir()
        fill(arena)
        place = kept(arena)
        recorded.write(FILE, {table: partial(told, arena, place, table, Path(name)) for table in TABLES})
