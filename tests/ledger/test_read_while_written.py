"""A run may write between any two reads of a ledger: that never looks like damage, and what comes in order is
the first matches folded, all of them up to some moment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from copy import deepcopy
from io import BytesIO
from itertools import groupby
from json import dumps
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from peerage.ledger import (
    Amendment,
    Batch,
    Entry,
    FailureRow,
    FixtureRow,
    IntentRow,
    Ledger,
    RecordRow,
    ReplyRow,
    Summary,
    holding,
    open_ledger,
)
from peerage.ledger.forms.codec import text_digest
from peerage.ledger.forms.merkle import GENESIS, digest, leaf, link, match_root
from peerage.ledger.out.copying import copy
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.stores.sql import Query
from peerage.ledger.stores.sqlite import SqliteStore
from peerage.ledger.topics import outside
from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.results import read as read_results
from peerage.settings import Rating
from peerage.standings.accounts import position, snapshot_body
from peerage.standings.fold import elo_settings
from peerage.standings.verify import verify

BEFORE = 6
"""Matches folded before anybody reads."""
ANSWERED, LATE = ("a", "b"), 12
"""What is answered in each match, and how many attempts fail after it was folded, one at each write."""
SNAPSHOTS_EVERY = 2
SETTINGS = text_digest("{}"), "{}"
MOST_WRITES = 60


class State(NamedTuple):
    """What a reader may say of a moment."""

    facts: dict[str, str]
    spent: dict[str, int]
    snapshot: tuple[int, bytes] | None


class Run:
    """A run: at each `write` it folds a match, changes facts, amends, and logs late failures of every match
    folded before. With `waits` a match in three leaves its round, to be folded past two others. One that
    `ends` does so after each write, so that the next one begins again."""

    def __init__(self, *, waits: bool, ends: bool) -> None:
        self.waits, self.ends = waits, ends
        self.issued, self.chain = 0, GENESIS
        self.folded: list[int] = []
        self.said: list[str] = []
        self.left: dict[int, int] = {}
        self.rows: dict[int, tuple[bytes, bytes]] = {}
        self.bodies: dict[int, bytes] = {}
        self.votes = False
        self.late: dict[int, int] = {}
        self.facts = {"seed": "1", "rating": "{}", "lag": "2"}
        self.states: list[State] = []
        self._spent = {"ada": 0, "bob": 0}
        self._snapshot: tuple[int, bytes] | None = None

    def open(self, folder: Path, *, create: bool = False) -> None:
        self.ledger = open_ledger("sqlite:///arena.db", folder, create=create)
        self._holds = ExitStack()
        if not self.ends:
            self._holds.enter_context(self.ledger.runner())

    def close(self) -> None:
        self._holds.close()
        self.ledger.close()
        del self.ledger, self._holds

    def write(self) -> None:
        with self.ledger.runner() if self.ends else ExitStack():
            self._go_on()

    def _go_on(self) -> None:
        if not self.issued:
            self._commit(Batch(meta=self.facts))
            for _ in range(3):
                self._issue()
        self._issue()
        if self.waits and len(self.folded) % 3 == 0:
            number = self._open()[0]
            self.left[number] = len(self.folded) + 2
            body = dumps({"match": number, "event": "waits", "after": len(self.folded)}).encode()
            self._commit(Batch(amendments=[Amendment("waits", body, 1)]))
        self._fold(self._next())
        self._fail()
        self.facts = {**self.facts, "changed": str(len(self.folded)), f"new {len(self.folded)}": "x"}
        self.said.append(f"said {len(self.said)}")
        rows = [Amendment("talk", dumps(self.said[-1]).encode(), 3)]
        self._commit(Batch(meta=self.facts, amendments=rows))
        self._import(len(self.folded))
        if self.votes:
            of = digest(self.bodies[self.folded[-1]])
            vote = Vote(self.folded[-1], of, ("A", "B"), "A", f"voter {len(self.folded)}")
            _votes(self.ledger).cast(vote, 5)

    def _import(self, number: int) -> None:
        with BytesIO(b'{"model_a": "x", "model_b": "y", "winner": "model_a"}') as file:
            data = read_results([("", file)])
        assert not isinstance(data, Answers)
        source = outside.Source(f"{number}.jsonl", f"{number:064}", data.layout, tuple(data.names), 1)
        assert outside.enter(self.ledger, source, data, 4)

    def _open(self) -> list[int]:
        return [one for one in range(1, self.issued + 1) if one not in self.folded and one not in self.left]

    def _next(self) -> int:
        due = [
            one for one, after in self.left.items() if one not in self.folded and after <= len(self.folded)
        ]
        return due[0] if due else self._open()[0]

    def _issue(self) -> None:
        self.issued += 1
        number = self.issued
        seats = [{"label": "A", "player": "ada"}, {"label": "B", "player": "bob"}]
        form = b'{"number":%d,"round":%d,"game":"duel","version":1,"seed":{},"settings":"%b","seats":%b}'
        issued = form % (
            number,
            number,
            SETTINGS[0].hex().encode(),
            dumps(seats).encode(),
        )
        asked = [IntentRow(number, key, 1, "ada", b'{"to":"%b"}' % key.encode(), 40) for key in ANSWERED]
        asked += [IntentRow(number, "late", at, "bob", b'{"to":"late"}', 9) for at in range(1, LATE + 1)]
        self._spent["ada"] += 80
        self._spent["bob"] += 9 * LATE
        self.rows[number] = issued, asked[0].body
        self._commit(Batch(texts=[SETTINGS], fixtures=[FixtureRow(number, number, issued)], intents=asked))

    def _fold(self, number: int) -> None:
        issued, _ = self.rows[number]
        said = {key: dumps({"status": "ok", "text": f"{key} {number}"}).encode() for key in ANSWERED}
        replies = [ReplyRow(number, key, 1, body, 7, 5) for key, body in said.items()]
        leaves = {key: leaf(key, "ada", b'{"to":"%b"}' % key.encode(), body) for key, body in said.items()}
        said_of = {
            "number": number,
            "fixture": digest(issued),
            "root": match_root(leaves),
            "outcome": {"scores": {"A": 1.0, "B": 0.0}, "costs": {"A": 0.1}},
            "ratings": {},
            "totals": {"ada": {"calls": 2, "cost_nano": 14}},
        }
        body = dumps(said_of).encode()
        self.chain = link(self.chain, body)
        self.bodies[number] = body
        self._spent["ada"] -= 66
        self.folded.append(number)
        self.late[number] = 0
        players, after = ("ada", "bob"), (1500.0 + number, 1500.0)
        self._commit(
            Batch(
                replies=replies,
                records=[RecordRow(number, body, self.chain, 6)],
                summaries=[
                    Summary(
                        number=number,
                        round=number,
                        game="duel",
                        topic="",
                        players=players,
                        status="done",
                        scores=(1.0, 0.0),
                        costs=(0.1, None),
                        spent_nano=14,
                        raw=after,
                        cost_elo=after,
                        at_ms=6,
                    )
                ],
            )
        )
        if len(self.folded) % SNAPSHOTS_EVERY == 0:
            standings, accounts = position(self.ledger, elo_settings(Rating()))
            self._snapshot = len(self.folded), snapshot_body(standings, accounts)
            self._commit(Batch(snapshots=[self._snapshot]))

    def _fail(self) -> None:
        failures = []
        for number in [one for one in self.folded[:-1] if self.late[one] < LATE]:
            self.late[number] += 1
            failures.append(FailureRow(number, "late", self.late[number], "timeout", 0, 8))
            self._spent["bob"] -= 9
        self._commit(Batch(failures=failures))

    def _commit(self, batch: Batch) -> None:
        self.ledger.write(batch)
        facts = {**(self.states[-1].facts if self.states else {}), **batch.meta}
        self.states.append(State(facts, dict(self._spent), self._snapshot))


Reader = Callable[[Ledger, Run, int], None]
"""Reads, and compares with what the run had written when that began, which were so many states, and when it
ended."""


def _prefix(numbers: Sequence[int], run: Run, began: int) -> None:
    """What comes in order is of the first matches folded, no fewer than there were."""
    assert len(numbers) >= BEFORE
    assert list(numbers) == run.folded[: len(numbers)]


def meta(ledger: Ledger, run: Run, began: int) -> None:
    facts = {key: value for key, value in ledger.meta().items() if key != "schema"}
    assert facts in [state.facts for state in run.states[began:]]


def heads(ledger: Ledger, run: Run, began: int) -> None:
    issued, recorded = ledger.heads()
    assert BEFORE <= recorded <= len(run.folded)
    assert recorded < issued <= run.issued


def summaries(ledger: Ledger, run: Run, began: int) -> None:
    _prefix([row.number for row in ledger.summaries()], run, began)


def later_summaries(ledger: Ledger, run: Run, began: int) -> None:
    _prefix([*run.folded[:2], *[row.number for row in ledger.summaries(3)]], run, began)


def all_summaries_until_now(ledger: Ledger, run: Run, began: int) -> None:
    _, last = ledger.heads()
    assert [row.number for row in ledger.summaries(1, last)] == run.folded[:last]


def narrow(ledger: Ledger, run: Run, began: int) -> None:
    _prefix([row.number for row in ledger.summaries()], run, began)


def columns(ledger: Ledger, run: Run, began: int) -> None:
    _prefix(ledger.columns().number.tolist(), run, began)


def records(ledger: Ledger, run: Run, began: int) -> None:
    _prefix([row.number for row in ledger.records()], run, began)


def some_records(ledger: Ledger, run: Run, began: int) -> None:
    assert [row.number for row in ledger.records(3, 5)] == run.folded[2:5]


def fixtures(ledger: Ledger, run: Run, began: int) -> None:
    numbers = [row.number for row in ledger.fixtures()]
    assert len({*numbers}) == len(numbers)
    _prefix(numbers[:BEFORE], run, began)


def exchanges(ledger: Ledger, run: Run, began: int) -> None:
    rows = {number: [*own] for number, own in groupby(ledger.exchanges(1), attrgetter("match"))}
    _prefix([*rows][:BEFORE], run, began)
    for number in run.folded[:BEFORE]:
        assert len(rows[number]) == len(ANSWERED) + LATE
        assert {row.key for row in rows[number] if row.reply is not None} == {*ANSWERED}


def some_exchanges(ledger: Ledger, run: Run, began: int) -> None:
    assert [number for number, _ in groupby(ledger.exchanges(2, 4), attrgetter("match"))] == run.folded[1:4]


def match(ledger: Ledger, run: Run, began: int) -> None:
    rows = ledger.match(run.folded[1])
    assert rows is not None
    assert rows.record is not None
    assert len(rows.exchanges) == len(ANSWERED) + LATE


def match_without_exchanges(ledger: Ledger, run: Run, began: int) -> None:
    rows = ledger.match(run.folded[1], exchanges=False)
    assert rows is not None
    assert rows.record is not None


def match_under_way(ledger: Ledger, run: Run, began: int) -> None:
    rows = ledger.match(min({*range(1, run.issued + 1)} - {*run.folded}))
    assert rows is not None
    answered = [row.key for row in rows.exchanges if row.reply is not None]
    assert answered == ([*ANSWERED] if rows.record is not None else [])


def amendments(ledger: Ledger, run: Run, began: int) -> None:
    said = [row.body.decode()[1:-1] for row in ledger.amendments("talk")]
    assert said == run.said[: len(said)]
    assert len(said) >= BEFORE


def all_amendments(ledger: Ledger, run: Run, began: int) -> None:
    positions = [row.position for row in ledger.amendments()]
    assert positions == sorted(positions)
    assert len(positions) >= BEFORE


def spent_by(ledger: Ledger, run: Run, began: int) -> None:
    assert ledger.spent_by() in [state.spent for state in run.states[began:]]


def spent_by_finished(ledger: Ledger, run: Run, began: int) -> None:
    assert ledger.spent_by(BEFORE, ["ada"])["ada"] == 14 * BEFORE


def snapshot(ledger: Ledger, run: Run, began: int) -> None:
    assert ledger.snapshot() in [state.snapshot for state in run.states[began:]]


def integrity(ledger: Ledger, run: Run, began: int) -> None:
    assert ledger.integrity() == []


def verified(ledger: Ledger, run: Run, began: int) -> None:
    report = verify(ledger, 1, votes=_votes(ledger))
    assert [str(one) for one in report.problems] == []
    assert BEFORE <= report.matches <= len(run.folded)


def outside_results(ledger: Ledger, run: Run, began: int) -> None:
    assert BEFORE <= len(outside.read(ledger)) <= len(run.folded)


def copied(ledger: Ledger, run: Run, began: int) -> None:
    run.votes = True
    with TemporaryDirectory() as folder, closing(_at(folder, create=True)) as to:
        copy(ledger, to, (_votes(ledger), _votes(to)))
        verified(to, run, began)


def redacted(ledger: Ledger, run: Run, began: int) -> None:
    with TemporaryDirectory() as folder:
        write_redacted(ledger, Path(folder, "arena.db"))
        with closing(_at(folder)) as to:
            verified(to, run, began)


def _at(folder: str, *, create: bool = False) -> Ledger:
    return open_ledger("sqlite:///arena.db", Path(folder), create=create)


def _votes(ledger: Ledger) -> PeopleVotes:
    return PeopleVotes(ledger.address, Path())


READERS: list[Reader] = [
    meta,
    heads,
    summaries,
    later_summaries,
    all_summaries_until_now,
    narrow,
    columns,
    records,
    some_records,
    fixtures,
    exchanges,
    some_exchanges,
    match,
    match_without_exchanges,
    match_under_way,
    amendments,
    all_amendments,
    spent_by,
    spent_by_finished,
    snapshot,
    integrity,
    verified,
    outside_results,
    copied,
    redacted,
]


class Between:
    """Lets the run write before the read `at`, counted from 0, or before every one of the first."""

    def __init__(self, run: Run, at: int | None) -> None:
        self._run, self._at = run, at
        self._writing = False
        self.reads = 0

    def __call__(self) -> None:
        """Somebody is about to read; the run itself reads too, while it writes."""
        if self._writing:
            return
        here = self.reads < MOST_WRITES if self._at is None else self.reads == self._at
        self.reads += 1
        if here:
            self._writing = True
            self._run.write()
            self._writing = False


MODES = {
    "the first match waits meanwhile": (False, False),
    "the first match waits meanwhile, runs end": (False, True),
    "some waited, runs end": (True, True),
}
"""Whether matches waited before anybody reads, and whether every run ends."""


@pytest.fixture(
    params=[
        # The first and the last hold what the one between holds, apart: it is tried by `make test-all`.
        pytest.param(mode, id=name, marks=[pytest.mark.slow] * (mode == (False, True)))
        for name, mode in MODES.items()
    ],
    scope="module",
)
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A ledger of a run that goes on, and the run."""
    waited, ends = request.param
    folder = tmp_path_factory.mktemp("begun")
    run = Run(waits=waited, ends=ends)
    run.open(folder, create=True)
    while len(run.folded) < BEFORE:
        run.write()
    run.close()
    run.waits = True
    return folder, run


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_what_a_run_writes_between_two_reads_is_no_damage(
    reader: Reader, begun: tuple[Path, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "AT_ONCE", 2)
    # There is one runner; and one that ends waits for readers before it leaves the file whole.
    monkeypatch.setattr(SqliteStore, "_lock", nullcontext)
    monkeypatch.setattr(SqliteStore, "_settle", lambda *_: None)
    read = SqliteStore.read

    def trial(at: int | None) -> int:
        """Read while the run writes there; how many reads there were."""
        folder = Path(shutil.copytree(begun[0], tmp_path / f"at {at}"))
        run = deepcopy(begun[1])
        run.open(folder)
        between = Between(run, at)

        def rows(store: SqliteStore, connection: Any, wanted: Query) -> Iterator[Any]:
            between()
            yield from read(store, connection, wanted)

        ledger = open_ledger("sqlite:///arena.db", folder, create=False)
        monkeypatch.setattr(SqliteStore, "read", rows)
        try:
            reader(ledger, run, len(run.states) - 1)
        finally:
            monkeypatch.setattr(SqliteStore, "read", read)
            ledger.close()
            run.close()
            shutil.rmtree(folder)
        return between.reads

    reads, at = trial(None), 0
    if reader in (copied, redacted):  # which read what the others do
        return
    while at < reads:
        reads = trial(at)
        at += 1
    assert at > 0


def test_what_was_said_since_the_log_was_read_is_looked_up_in_it(
    begun: tuple[Path, Run], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(begun[0], tmp_path / "again"))
    run = deepcopy(begun[1])
    run.open(folder)
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    assert isinstance(ledger, Ledger)
    rows = ledger._rows

    class InBlocks:
        """Reads in two parts what was said, as a ledger on a server does, and the log as it is then."""

        def __getattr__(self, name: str) -> Any:
            return getattr(rows, name)

        def said(self, topic: str) -> Iterator[Amendment]:
            before = [*rows.amendments(topic)]
            yield from before
            run.write()
            yield from [row for row in rows.amendments(topic) if row.position > before[-1].position]

        def log(self, after: int = 0) -> Iterator[Entry]:
            return iter([*rows.log(after)])

    held: Any = ledger._holding
    held._rows = InBlocks()
    assert len([*ledger.amendments("talk")]) == len(run.said)
    ledger.close()
    run.close()


def test_a_text_that_comes_in_after_all_were_read_is_there_too(
    begun: tuple[Path, Run], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(begun[0], tmp_path / "again"))
    later = text_digest("later"), "later"
    with closing(_at(str(folder))) as ledger:
        texts = ledger.texts()
        with ledger.runner():
            ledger.write(Batch(texts=[later]))
        assert later[0] not in texts
        assert texts[later[0]] == "later"
        with pytest.raises(KeyError):
            texts[bytes(32)]
