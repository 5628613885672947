"""A machine, its disk and its providers in virtual time, with every fault drawn from one seed.

    python -m tests.faults.simulation SEED

The program under test is the real one: arena, engine, ledger and SQLite. Simulated are the clock, the disk
under SQLite (`disk`), who answers (`provider`), and when a process ends. An arena is played by one process
after another, each of which meets its fate; the last one plays it to its end. What holds at any moment is
checked at every step, and after each process everything:

- no row that was written is lost, and none is there but those and, whole, batches whose write failed;
- no request was sent that is not on record, no reply asked for again, the providers' book agrees with the
  ledger;
- nothing was ever billed beyond the budget, of the arena, a match, a player;
- readers, while a transaction is being written too, see all that was written and nothing else;
- `verify` and replay find nothing, and where every player answers alike each time the play head is that of
  a run without a fault.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
from tests.engine.arenas import SMALL, asked_again, head, patience, write_arena
from tests.faults.disk import Disk, Fault
from tests.faults.provider import TIMEOUT_S, Providers, Weather
from tests.virtual import VirtualLoop

from peerage.arena import open_arena
from peerage.engine.record.journal import Journal
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.ledger import Batch, Ledger, LedgerBusy, LedgerError, open_ledger
from peerage.ledger.forms.codec import read_reply
from peerage.ledger.forms.rows import LEFT_OPEN, NOT_SENT
from peerage.ledger.stores import sqlite
from peerage.values import clock
from peerage.values.sealing import unseal

BEGAN_MS = 1_790_000_000_000
DEADLINE_S = 30 * 86_400.0

Row = tuple[Any, ...]


class Kind(NamedTuple):
    """An arena to be played: what of it decides the play head."""

    game: str
    matches: int
    players: int
    window: int
    rules: Mapping[str, Any] = {}
    games: Mapping[str, Any] = {}


KINDS = {
    "duel": Kind("duel", 10, 6, 6, SMALL),
    "color": Kind("color-obfuscation", 12, 5, 4),
    "allocation": Kind("allocation", 8, 6, 4),
    "several": Kind(
        "",
        12,
        6,
        6,
        games={
            "duel": {"rules": dict(SMALL)},
            "color-obfuscation": {},
            "challenge-exchange": {"rules": {"seats": 3, "proof": "blind"}, "weight": 2},
        },
    ),
}


class Broken(Exception):
    """Something does not hold that should."""


@dataclass
class Found:
    """What became of one seed. `seconds` are virtual, `trace` is the digest of all that happened."""

    seed: int
    problem: str = ""
    seconds: float = 0.0
    processes: int = 0
    operations: int = 0
    requests: int = 0
    trace: str = ""
    counts: Counter[str] = field(default_factory=Counter)


class _Loop(VirtualLoop):
    """Virtual time, of which the turns are counted; `at` says what happens before which."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        self.at: dict[int, Callable[[], None]] = {}

    def _run_once(self) -> None:
        self.turns += 1
        happening = self.at.pop(self.turns, None)
        if happening is not None:
            happening()
        super()._run_once()  # type: ignore[misc]


def _seed_of(fixture: bytes) -> str:
    return str(unseal(msgspec.json.decode(fixture)["seed"]))


def written(batch: Batch) -> set[Row]:
    """The rows of a batch that must outlive whatever comes."""
    rows: set[Row] = {("fixture", row.number, row.body) for row in batch.fixtures}
    rows |= {("intent", row.match, row.key, row.attempt, row.body) for row in batch.intents}
    rows |= {("reply", row.match, row.key, row.attempt, row.body) for row in batch.replies}
    rows |= {("failure", row.match, row.key, row.attempt, row.reason) for row in batch.failures}
    rows |= {("record", row.number, row.body, row.chain) for row in batch.records}
    rows |= {("said", row.topic, row.body, row.at_ms) for row in batch.amendments}
    return rows


def read(ledger: Ledger) -> set[Row]:
    """The same of everything in a ledger. Raises Broken where a row is there twice."""
    rows: list[Row] = [("fixture", row.number, row.body) for row in ledger.fixtures()]
    for row in ledger.exchanges(1):
        of = row.match, row.key, row.attempt
        rows.append(("intent", *of, row.request))
        if row.reply is not None:
            rows.append(("reply", *of, row.reply))
        if row.failure is not None:
            rows.append(("failure", *of, row.failure.reason))
    rows += [("record", row.number, row.body, bytes(row.chain)) for row in ledger.records()]
    rows += [("said", row.topic, row.body, row.at_ms) for row in ledger.amendments()]
    found = set(rows)
    if len(found) < len(rows):
        raise Broken(f"{len(rows) - len(found)} rows are in the ledger twice")
    return found


class Calm(NamedTuple):
    """A run without a fault: its play head, what it billed, and how many operations, turns and requests it
    took."""

    head: tuple[int, str]
    billed: int
    operations: int
    turns: int
    requests: int


@cache
def calm(name: str) -> Calm:
    with tempfile.TemporaryDirectory() as folder:
        world = World(0, Path(folder), name, Weather(1.0), None)
        with world.there():
            report = world.process(8, Fate())
            assert report is not None
            assert report.reason == "limit"
            world.check()
            world.sound()
            return Calm(
                head(world.folder),
                report.billed_nano,
                world.disk.done,
                world.turns,
                world.providers.book.requests.total(),
            )


class Fate(NamedTuple):
    """What happens to one process: faults of the disk by operation, the turn of the loop or the request at
    which it dies, the seconds after which it is stopped and how often, jumps of the clock in milliseconds by
    turn, the operations at which somebody reads, and how long writes take."""

    faults: Mapping[int, Fault] = {}
    dies_at_turn: int = 0
    dies_at_request: int = 0
    stopped_after: float = 0.0
    stops: int = 1
    jumps: Mapping[int, int] = {}
    peeks: frozenset[int] = frozenset()
    stall_s: float = 0.0
    readers: bool = False


class World:
    """One simulated machine and its providers."""

    def __init__(
        self, seed: int, folder: Path, kind: str, weather: Weather, budget: Mapping[str, float] | None
    ) -> None:
        self.folder = folder
        self.turns = 0
        self.found = Found(seed)
        self._kind = KINDS[kind]
        self._budget = budget
        self._rng = Random(f"peerage/{seed}")
        self._trace = hashlib.sha256()
        self._wall_ms = BEGAN_MS
        self._loop: _Loop | None = None
        self._main: asyncio.Task[Any] | None = None
        self._known: set[Row] = set()
        self._numbers: dict[str, int] = {}
        self._intents: Counter[tuple[str, str]] = Counter()
        self._doubtful: list[set[Row]] = []
        self._writing: set[Row] | None = None
        self._fate = Fate()
        self._runner: Runner | None = None
        self._broken: Broken | None = None
        self.disk = Disk(folder, Random(f"disk/{seed}"), self._note)
        self.disk.died = self._died
        self.disk.watch = self._watched
        self.providers = Providers(seed, weather, self._now_ms)
        self.providers.asked = self._asked

    # ------------------------------------------------------------------------------- what surrounds a process

    @contextmanager
    def there(self) -> Iterator[None]:
        """While this world is there: its disk, its clock, and who watches what is written."""
        write, commit = Ledger.write, Journal._write

        def watched(ledger: Ledger, batch: Batch) -> None:
            rows = self._writing = written(batch)
            try:
                write(ledger, batch)
            except BaseException:
                self._doubtful.append(rows)
                raise
            else:
                self._learn(rows)
            finally:
                self._writing = None

        def later(journal: Journal, *batch: Any) -> None:
            """As a writer thread does it: while the loop goes on."""
            seconds = self._fate.stall_s * self._rng.choice((0.0, 0.001, 0.001, 1.0))
            asyncio.get_running_loop().call_later(seconds, commit, journal, *batch)

        pages = self._rng.choice((2, 40, 1_000))
        with ExitStack() as stack:
            gc.freeze()  # what is there already holds no file of the dead, and need not be searched
            stack.callback(gc.unfreeze)
            stack.enter_context(self.disk.mounted())
            now = SimpleNamespace(time_ns=lambda: self._now_ms() * 1_000_000)
            for change in (
                patch.object(clock, "time", now),
                patch.object(Ledger, "write", watched),
                patch.object(Journal, "_write", later),
                patch.object(sqlite, "CHECKPOINT_PAGES", pages),
            ):
                stack.enter_context(change)
            yield

    def _now_ms(self) -> int:
        return self._wall_ms + round(1000 * (self._loop.time() if self._loop else 0))

    def _note(self, *what: Any) -> None:
        self._trace.update(repr((self._loop and round(self._loop.time(), 6), *what)).encode())

    def _hold(self, true: bool, otherwise: str) -> None:
        """Note what is broken; a process that handles every exception must not hide it."""
        if not true and self._broken is None:
            self._broken = Broken(otherwise)

    def _died(self) -> None:
        self.providers.dead = True
        if self._main is not None:
            self._main.cancel()

    def _learn(self, rows: set[Row]) -> None:
        self._known |= rows
        for row in rows:
            if row[0] == "fixture":
                self._numbers[_seed_of(row[2])] = row[1]
        seeds = {number: seed for seed, number in self._numbers.items()}
        for row in rows:
            if row[0] == "intent":
                self._intents[seeds[row[1]], row[2]] += 1

    def _asked(self, call: Any, player: str) -> None:
        """A request is received: it must be on record, and within the budget."""
        request = call.seed, call.key
        self.found.requests += 1
        self._note("asked", *request, player)
        self._hold(
            self.providers.book.requests[request] <= self._intents[request],
            f"{player} was asked {call.key} of match {self._numbers.get(call.seed)}, which is not on record",
        )
        self._afford(call.seed, player)
        if self.found.requests == self._fate.dies_at_request:
            self.disk.die()

    def _afford(self, match: str, player: str) -> None:
        most = self._budget or {}
        for of, billed in (
            ("arena", self.providers.players.total()),
            ("match", self.providers.matches[match]),
            ("player", self.providers.players[player]),
        ):
            limit = most.get(of)
            self._hold(
                limit is None or billed <= round(limit * 1e9), f"{billed} was billed, {of} budget {limit}"
            )
        held = self._runner._budget.held if self._runner else 0
        self._hold(held >= 0, f"{-held} more is given back than was reserved")

    def _watched(self, operation: int) -> None:
        if operation in self._fate.peeks and self._writing is not None:
            self._read_now()

    def _read_now(self) -> None:
        """What somebody sees who opens the ledger now."""
        with closing(self._ledger()) as ledger:
            found = read(ledger)
        due = [self._known, *([] if self._writing is None else [self._known | self._writing])]
        self._hold(found in due, "a reader saw something else than what was written")
        self.found.counts["reads"] += 1

    def _ledger(self) -> Ledger:
        return open_ledger("sqlite:///arena.db", self.folder, create=False)

    # -------------------------------------------------------------------------------------------- one process

    def process(self, concurrency: int, fate: Fate) -> RunReport | None:
        """Play as one process, until all is played or its fate; None where it did not end in good order."""
        self._arena(concurrency)
        self._fate = fate
        self.disk.faults = dict(fate.faults)
        self.providers.dead = False
        loop = self._loop = _Loop()
        loop.at = {turn: lambda delta=ms: self._jump(delta) for turn, ms in fate.jumps.items()}  # type: ignore[misc]
        if fate.dies_at_turn:
            loop.at[fate.dies_at_turn] = self.disk.die
        self.found.processes += 1
        report: RunReport | None = None
        try:
            with (
                asyncio.Runner(loop_factory=lambda: loop) as runner,
                patience(BENCH_AFTER=1_000, PAUSE_MAX_S=60),
            ):
                report = runner.run(self._played(fate))
        except LedgerError as error:
            struck = self.disk.struck or self.disk.dead
            self._hold(bool(struck), f"a run on a sound disk ended with: {error}")
        except asyncio.CancelledError:
            self._hold(self.disk.dead, "a living run was cancelled")
        finally:
            self._main = None
            self._wall_ms += round(1000 * loop.time())
            self.found.seconds += loop.time()
            self.found.operations += self.disk.done
            self.found.counts.update([fault.name for fault in self.disk.struck])
            self.turns = loop.turns
            self._loop = None
            gc.collect()  # whatever still holds a file of the dead
        if self.disk.broken is not None:
            raise self.disk.broken
        return None if self.disk.dead else report

    async def _played(self, fate: Fate) -> RunReport:
        self._main = asyncio.current_task()
        with open_arena(self.folder) as arena:
            return await arena.play(
                self._kind.matches,
                clients=self.providers.open,
                beside=lambda runner: self._beside(runner, fate),
                observe=lambda record, _: self._observed(record.number),
                inline=True,
            )

    async def _beside(self, runner: Runner, fate: Fate) -> None:
        self._runner = runner
        loop = asyncio.get_running_loop()
        for at in range(fate.stops if fate.stopped_after else 0):
            loop.call_later(fate.stopped_after + at, runner.stop)
        if fate.readers:
            self._run_beside()
        while fate.readers:
            await asyncio.sleep(self._rng.uniform(1, 40) * self.providers.weather.median_s)
            if self.disk.dead:
                return
            self._read_now()
            self._run_beside()
            with closing(self._ledger()) as ledger:
                before = len(self._known)
                with closing(ledger.exchanges(1)) as rows:
                    if next(rows, None) is None:
                        continue
                    await asyncio.sleep(self._rng.uniform(0, 10) * self.providers.weather.median_s)
                    seen = {("intent", row.match, row.key, row.attempt, row.request) for row in rows}
                    if not self.disk.dead:
                        self._hold(seen <= self._known, f"a reader saw what is not on record after {before}")

    def _run_beside(self) -> None:
        """Try to begin a second run."""
        with closing(self._ledger()) as ledger, suppress(LedgerBusy), ledger.runner():
            self._hold(self.disk.dead, "a second runner was let in")

    def _observed(self, number: int) -> None:
        recorded = any(row[0] == "record" and row[1] == number for row in self._known)
        self._hold(recorded, f"match {number} was announced before it was on record")

    def _jump(self, ms: int) -> None:
        self._wall_ms += ms

    def _arena(self, concurrency: int) -> None:
        kind = self._kind
        one = {
            "price": {"input": 1, "output": 4},
            "timeout_s": TIMEOUT_S,
            "faults": {"refusing": 0.02, "malformed": 0.04},
        }
        players = [
            {"name": f"p{at}", "model": f"house:{0.3 + at / 12:.2f}", **one} for at in range(kind.players)
        ]
        write_arena(
            self.folder,
            players,
            **({"games": dict(kind.games)} if kind.games else {"game": kind.game}),
            rules=dict(kind.rules),
            engine={
                "concurrency": concurrency,
                "calls": 16,
                "match_deadline_s": DEADLINE_S,
            },
            pairing={"window": kind.window},
            budget=dict(self._budget) if self._budget else None,
        )

    # ------------------------------------------------------------------------------------ what must hold then

    def check(self) -> None:
        """Everything that must hold between two processes. Raises Broken."""
        if self._broken is not None:
            raise self._broken
        if not (self.folder / "arena.db").exists() and not self._known:
            return
        try:
            ledger = self._ledger()
        except LedgerError as error:
            if self._known:
                raise Broken(f"what was recorded cannot be opened: {error}") from error
            return
        with closing(ledger):
            found = read(ledger)
            lost = self._known - found
            if lost:
                raise Broken(f"{len(lost)} rows were recorded and are lost: {min(lost, key=repr)[:4]}")
            new = found - self._known
            for batch in self._doubtful:
                if batch <= found:
                    new -= batch
                elif batch & new:
                    raise Broken(f"of a batch of {len(batch)} rows {len(batch & new)} are there")
            if new:
                raise Broken(f"{len(new)} rows are there that nobody wrote: {min(new, key=repr)[:4]}")
            self._doubtful.clear()
            self._learn(found - self._known)
            self._books(ledger)
        if asked_again(self.folder):
            raise Broken("a request was asked again that had a reply")
        with open_arena(self.folder) as arena:
            problems = arena.verify().problems
        if problems:
            raise Broken(f"verify: {problems[0]}")

    def _books(self, ledger: Ledger) -> None:
        """The providers' book against the ledger."""
        seeds = {number: seed for seed, number in self._numbers.items()}
        ended, open_ = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        billed, possibly = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for row in ledger.exchanges(1):
            request = seeds[row.match], row.key
            if row.reply is not None:
                said = read_reply(row)
                ended[request] += said.status != "void"
                open_[request] += said.status == "void"  # never sent, or the last attempt of several
                billed[request] += said.cost_nano or 0
                possibly[request] += 0 if said.cost_nano is not None else row.cost_nano or 0
            else:
                possibly[request] += row.lost_nano or 0
                reason = LEFT_OPEN if row.failure is None else row.failure.reason
                ended[request] += reason not in (LEFT_OPEN, NOT_SENT)
                open_[request] += reason == LEFT_OPEN
        book = self.providers.book
        for request in {*book.requests, *ended, *open_}:
            received = book.requests[request]
            of = f"{request[1]} of match {self._numbers.get(request[0])}"
            if not ended[request] <= received <= ended[request] + open_[request]:
                raise Broken(
                    f"{of} was received {received} times, on record {ended[request]} to {open_[request]} more"
                )
            if not billed[request] <= book.bills[request] <= billed[request] + possibly[request]:
                spent = f"{billed[request]} and possibly {possibly[request]}"
                raise Broken(f"{of} was billed {book.bills[request]}, on record {spent}")

    def sound(self) -> None:
        """What must hold of an arena that was played to its end. Raises Broken."""
        with open_arena(self.folder) as arena:
            replayed = arena.replay()
            settled = arena.ledger.heads()[1]
        if replayed.differences:
            raise Broken(f"replay: {replayed.differences[0]}")
        if replayed.recomputed != settled and self._budget is None and not self.providers.weather.wild:
            raise Broken(f"replay recomputed {replayed.recomputed} of {settled} matches")

    def restart(self, power: bool, after_ms: int) -> None:
        self._wall_ms += after_ms
        self.disk.restart(power=power)

    def digest(self) -> str:
        return self._trace.hexdigest()[:16]


def simulate(seed: int, folder: Path) -> Found:
    """Play the arena of one seed in `folder` through all its faults; what was found."""
    rng = Random(f"fates/{seed}")
    name = rng.choice(list(KINDS))
    usual = calm(name)
    wild = rng.random() < 0.4
    budget = _budget(rng, usual.billed)
    dear = rng.choice((0.0, 0.3, 1.0)) if budget else 0.0
    weather = Weather(rng.choice((2.0, 30.0, 120.0)), rng.choice((0.0, 0.1, 0.3)), wild, dear)
    world = World(seed, folder, name, weather, budget)
    try:
        with world.there():
            for _ in range(rng.randrange(2, 7)):
                world.process(rng.choice((1, 2, 8)), _fate(rng, usual))
                world.restart(rng.random() < 0.6, rng.randrange(7_200_000))
                world.check()
            world.providers.weather = weather._replace(failing=0.0)
            report = world.process(4, Fate())
            world.check()
            _ended(world, report, budget)
            world.sound()
            found, there = head(folder), _topics(folder)
            unlimited = budget is None or (
                "arena" in budget and report is not None and report.reason == "limit"
            )
            if unlimited and not wild and not dear and "waits" not in there:
                if found != usual.head:
                    raise Broken(f"the play head is {found}, and {usual.head} without a fault")
                world.found.counts["same head"] += 1
    except Broken as problem:
        world.found.problem = str(problem)
    except Exception as error:
        world.found.problem = f"{type(error).__name__}: {error}"
        if "--raise" in sys.argv:
            raise
    world.found.trace = world.digest()
    world.found.counts.update(world.providers.failures)
    return world.found


def _topics(folder: Path) -> Mapping[str, int]:
    with closing(open_ledger("sqlite:///arena.db", folder, create=False)) as ledger:
        return ledger.topics()


def _ended(world: World, report: RunReport | None, budget: Mapping[str, float] | None) -> None:
    """The last run, in which nothing befalls anybody, must get to its end."""
    if report is None:
        raise Broken("a run in which nothing happened did not end in good order")
    due = {"limit"} | ({"budget"} if budget else set())
    if world.providers.weather.wild:
        due |= {"players", "waiting", "no_result", "budget"}
    if report.reason not in due:
        raise Broken(f"the last run ended with {report.reason}: {report.note}")
    with closing(world._ledger()) as ledger:
        spent = sum(ledger.spent_by().values())
    if report.billed_nano + report.possibly_nano != spent:
        raise Broken(f"reported {report.billed_nano} and {report.possibly_nano}, on record {spent}")


def _budget(rng: Random, billed: int) -> Mapping[str, float] | None:
    draw = rng.random()
    if draw < 0.4:
        return None
    if draw < 0.7:  # which is hardly reached
        return {"arena": round(4 * billed / 1e9, 6)}
    which = rng.choice(("arena", "match", "player"))
    share = {"arena": rng.uniform(0.3, 1.2), "match": rng.uniform(0.5, 3), "player": rng.uniform(0.3, 1.5)}
    return {which: round(share[which] * billed / 1e9, 6)}


def _fate(rng: Random, usual: Calm) -> Fate:
    """How one process ends, and what it meets before."""
    jumps = {
        rng.randrange(1, usual.turns): rng.choice((-1, 1)) * rng.randrange(10_800_000)
        for _ in range(rng.randrange(3))
    }
    peeks = frozenset(rng.randrange(usual.operations) for _ in range(4))
    fate = Fate(jumps=jumps, peeks=peeks, stall_s=rng.choice((0.0, 1.0, 60.0)), readers=rng.random() < 0.5)
    reach = rng.choice((0.05, 0.5))
    what = rng.random()
    if what < 0.6:
        faults = {1 + rng.randrange(int(reach * usual.operations)): rng.choice(list(Fault))}
        return fate._replace(faults=faults)
    if what < 0.75:
        return fate._replace(dies_at_turn=1 + rng.randrange(int(reach * usual.turns)))
    if what < 0.9:
        return fate._replace(dies_at_request=1 + rng.randrange(int(reach * usual.requests)))
    return fate._replace(stopped_after=rng.uniform(0, 3_000), stops=rng.choice((1, 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int, help="the seed of one simulation, or the first of several")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--raise", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # of what is simulated
    hours, failed, took = 0.0, 0, 0.0
    for seed in range(options.seed, options.seed + options.seeds):
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            found = simulate(seed, Path(folder))
        took += time.process_time() - began
        hours += found.seconds / 3600
        failed += bool(found.problem)
        print(found)
    print(f"{options.seeds} seeds, {hours:.1f} virtual hours in {took:.0f} s, {failed} with a problem")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
