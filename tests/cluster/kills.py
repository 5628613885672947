"""Plays seeded arenas on a real Ray cluster of two nodes and kills what plays them, until they are done.

    python -m tests.cluster.kills FOLDER --kills 200 --seed 1

SIGKILL goes to a worker, the leader (the next run goes on), a node with all its workers (another joins), or
PostgreSQL with all its processes (it is started again), at random moments, mostly soon after a request. After
each kill, what is on record is held against what was before it, and each arena in the end against a twin
that one process played undisturbed, and against the provider's book. Each arena that is done adds a line of
JSON to FOLDER/done.jsonl, so that a campaign that was stopped goes on. Prints the sum of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.engine.arenas import asked_again, ledger_of
from tests.faults.kill9 import Moment, account, books, forked, unsound
from tests.faults.trials import BOOK, Trial, arena, spent

from peerage.cluster.leases import working
from peerage.ledger import LedgerError

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

TRIAL = Trial(
    "duel",
    240,
    8,
    {"committee": 2, "judges": 3, "topics": ["bridges", "tides", "bees"]},
    failing=True,
    cut=True,
    faults={"refusing": 0.03, "malformed": 0.05},
    longest_s=2.0,
)
WORKER, LEADER, NODE, _ = VICTIMS = "worker", "leader", "node", "postgres"
MOST_CALLS = 60
"""Requests to the provider between two kills at most."""
AT_ONCE = 0.2
"""The share of kills that follow the one before within moments, whatever is being mended."""
DONE = "done.jsonl"
AGAIN = 75
"""The exit code of a run that found no server when it began."""
PATIENCE_S = 300.0
ROOT = Path(__file__).parents[2]
ENV = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
ENV["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])


class Nodes:
    """A cluster in a process of its own, see `tests.cluster.nodes`."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.nodes", *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=ENV,
        )
        self.address = self._line(":")

    def do(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        self._line("done")

    def _line(self, word: str) -> str:
        assert self._process.stdout is not None
        return next(line for line in self._process.stdout if word in line).strip()

    def close(self) -> None:
        self._process.communicate()


class Known(NamedTuple):
    """What was on record: replies by match, key and attempt, finished matches, and money in 1e-9 dollars."""

    replies: dict[tuple[int, str, int], Any]
    records: list[bytes]
    spent: int


def known(folder: Path) -> Known:
    with closing(ledger_of(folder)) as ledger:
        rows = [one for one in ledger.exchanges(1) if one.reply is not None]
        return Known(
            {(one.match, one.key, one.attempt): one.reply for one in rows},
            [one.chain for one in ledger.records()],
            sum(ledger.spent_by().values()),
        )


class Campaign:
    """One arena, its kills, and what was found."""

    def __init__(self, folder: Path, seed: str, postgres: PostgresServer, nodes: Nodes, calm: Any) -> None:
        self._folder = folder
        self._rng = random.Random(seed)
        self._postgres = postgres
        self._nodes = nodes
        self._calm = calm
        self._address = postgres.address()
        self._before = Known({}, [], 0)
        self._limit = 0.0
        self._log = (folder.parent / f"{folder.name}.log").open("ab", 0)
        self.kills: Counter[str] = Counter()
        self.different: list[str] = []
        self.counts: Counter[str] = Counter()

    def play(self, kills: int) -> dict[str, Any]:
        """Play the arena to its end, with so many kills at most."""
        while True:
            leader = self._led()
            try:
                while leader.poll() is None and self.kills.total() < kills and self._moment(leader):
                    self._kill(leader)
                    self._look()
                leader.wait(PATIENCE_S)
            finally:
                leader.kill()
                leader.wait()
            if leader.returncode == 0:
                break
            if leader.returncode not in (-signal.SIGKILL, AGAIN):
                self.different.append(f"a run ended with {leader.returncode}, see {self._log.name}")
                break
        self._log.close()
        if not self.different:
            self._check()
        return {"kills": self.kills, "different": self.different, "counts": self.counts}

    def _led(self) -> subprocess.Popen[bytes]:
        """Begin a run, under a budget that holds calls up and is not reached."""
        self._limit = round((self._before.spent + 3 * self._calm["billed"]) / 1e9 + 5.0, 6)
        engine = {"kind": "ray", "address": self._nodes.address, "workers": 2}
        arena(TRIAL, self._folder, 16, self._limit, engine=engine, ledger=self._address)
        command = [sys.executable, "-m", "tests.cluster.leading", str(self._folder)]
        return subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, env=ENV
        )

    def _moment(self, leader: subprocess.Popen[bytes]) -> bool:
        """Wait for the moment to kill; whether the run goes on then."""
        if self._rng.random() >= AT_ONCE:
            due = self._calls() + self._rng.randrange(1, MOST_CALLS)
            until = time.monotonic() + PATIENCE_S
            while self._calls() < due:
                if leader.poll() is not None:
                    return False
                if time.monotonic() > until:
                    raise SystemExit(f"nothing was asked for {PATIENCE_S:.0f} s, see {self._log.name}")
                time.sleep(0.005)
        time.sleep(self._rng.uniform(0.0, 0.3))
        return leader.poll() is None

    def _calls(self) -> int:
        with suppress(FileNotFoundError):
            return (self._folder / BOOK).read_bytes().count(b"\n")
        return 0

    def _kill(self, leader: subprocess.Popen[bytes]) -> None:
        victim = self._rng.choice(VICTIMS)
        if victim == WORKER:
            there = self._workers()
            if not there:
                return  # none has begun
            with suppress(ProcessLookupError):
                os.kill(self._rng.choice(there), signal.SIGKILL)
        elif victim == LEADER:
            leader.kill()
        elif victim == NODE:
            self._nodes.do("kill")
            time.sleep(self._rng.uniform(0.0, 2.0))
            self._nodes.do("add")
        else:
            self._postgres.kill()
            time.sleep(self._rng.uniform(0.0, 1.5))
            self._postgres.start()
        self.kills[victim] += 1
        self._log.write(f"-- {time.strftime('%X')} killed: {victim}\n".encode())

    def _workers(self) -> list[int]:
        """The processes of workers that are there; those of an earlier run may have ended."""
        told = working(self._address).values() if self._made() else ()
        found = [int(who.split()[1]) for who, _ in told]
        return [one for one in found if b"ray::" in _read(Path(f"/proc/{one}/cmdline"))]

    def _made(self) -> bool:
        with suppress(LedgerError):
            ledger_of(self._folder).close()
            return True
        return False

    def _look(self) -> None:
        """Hold what is on record against what was before."""
        if not self._made():
            return
        found, at = known(self._folder), f"after {self.kills.total()} kills"
        lost = [one for one, reply in self._before.replies.items() if found.replies.get(one) != reply]
        if lost:
            self.different.append(f"{at}: replies are lost or changed: {lost[:5]}")
        if found.records[: len(self._before.records)] != self._before.records:
            self.different.append(f"{at}: records are lost or changed")
        if len({(match, key) for match, key, _ in found.replies}) != len(found.replies):
            self.different.append(f"{at}: a request has two replies")
        if found.spent > round(self._limit * 1e9):
            self.different.append(f"{at}: the budget of {self._limit} was exceeded")
        self._before = found

    def _check(self) -> None:
        """Hold the arena that is done against its undisturbed twin, and against the provider's book."""
        self._look()
        found, kept = account(self._folder), books(self._folder)
        report = json.loads((self._folder / "report.json").read_text())
        self.different += [key for key in found if found[key] != self._calm[key]]
        self.different += unsound(self._folder)
        if report["reason"] != "limit" or report["billed"] + report["possibly"] != spent(self._folder):
            self.different.append(f"the last run reports {report}, on record {spent(self._folder)}")
        self.counts["asked_again"] += asked_again(self._folder)
        self.counts["arenas"] += 1
        self.counts.update(kept._asdict())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@contextmanager
def cluster() -> Iterator[tuple[PostgresServer, Nodes]]:
    from tests.servers.postgres import PostgresServer

    postgres = PostgresServer()
    try:
        nodes = Nodes()
        try:
            yield postgres, nodes
        finally:
            nodes.close()
    finally:
        postgres.stop()


def undisturbed(folder: Path) -> dict[str, Any]:
    """What comes of the arena where one process plays it and nothing happens."""
    if not (folder / "report.json").exists():
        arena(TRIAL, folder, 32)
        forked(TRIAL._replace(longest_s=0.05), folder, Moment())
    return account(folder)


def campaign(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Go on until there were so many kills: all that was found."""
    folder.mkdir(parents=True, exist_ok=True)
    calm, path = undisturbed(folder / "calm"), folder / DONE
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    with cluster() as (postgres, nodes):
        while (left := kills - sum(sum(one["kills"].values()) for one in done)) > 0:
            here, began = folder / f"arena-{len(done) + 1}", time.monotonic()
            shutil.rmtree(here, ignore_errors=True)
            found = Campaign(here, f"{seed}/{len(done) + 1}", postgres, nodes, calm).play(left)
            done.append(found)
            with path.open("a") as lines:
                lines.write(json.dumps(found) + "\n")
            told = f"{dict(found['kills'])}, {dict(found['counts'])}, {found['different']}"
            print(f"{here.name}: {told}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return {
        "kills": sum([Counter(one["kills"]) for one in done], Counter()),
        "different": [f"arena {at}: {what}" for at, one in enumerate(done, 1) for what in one["different"]],
        "counts": sum([Counter(one["counts"]) for one in done], Counter()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    json.dump(campaign(options.folder, options.kills, options.seed), sys.stdout)


if __name__ == "__main__":
    main()
