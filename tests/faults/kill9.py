"""Plays seeded arenas of every game and ends their runs by signals at random moments, until they are done.

    python -m tests.faults.kill9 FOLDER --kills 12 --seed 1

The kills are spread over the arenas of `trials`. Each run is a fork of this process (which has imported
everything already), with another concurrency. A moment is a number of requests after its start and some
milliseconds, or a time while it starts. Half of the signals are SIGKILL, others SIGTERM, SIGHUP (some of
these two hurried on by SIGKILL), and SIGSTOP, which SIGCONT and then SIGKILL follow. Prints one JSON object:
what was killed, and what became of it next to an undisturbed run.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.engine.arenas import asked_again, head, ledger_of
from tests.faults.trials import DEAD, TRIALS, Trial, arena, booked, playable, player, spent

from peerage.arena import open_arena
from peerage.engine.again.recovery import recover
from peerage.engine.record.benches import TOPIC
from peerage.game.protocol import SANDBOX
from peerage.ledger import Exchange, LedgerError
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.standings.fold import elo_settings

SIGNALS = (*[signal.SIGKILL] * 3, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
INTERRUPTED = 130
STOPPED_S = 1.2
"""Longer than the gap by which a run knows that it was suspended."""
HURRIED = 0.25
"""The share of runs ending in good order that SIGKILL ends all the same."""
NOT_SENT = "not sent: the run was stopped"
PATIENCE_S = 30.0


class Moment(NamedTuple):
    """When and how a run is ended: so many seconds after so many requests (None: not at all)."""

    calls: int | None = None
    seconds: float = 0.0
    number: signal.Signals = signal.SIGKILL
    hurried: bool = False


def run(trial: Trial, folder: Path, told: int) -> int:
    """Play, telling the file descriptor `told` of each request; the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever this process was started under, as nohup
    with open_arena(folder) as opened:
        report = opened.run(trial.matches, clients=lambda one: player(one, trial, folder, told))
    said = {
        "twice": report.possibly_paid_twice,
        "billed": report.billed_nano,
        "possibly": report.possibly_nano,
        "reason": report.reason,
    }
    (folder / "report.json").write_text(json.dumps(said))
    return INTERRUPTED if report.reason == "interrupted" else 0


def forked(trial: Trial, folder: Path, moment: Moment) -> bool:
    """Run in a process of its own until it ends or is ended. True when the signal ended it."""
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(hear)
            status = run(trial, folder, tell)
        finally:
            os._exit(status)
    os.close(tell)
    calls = moment.calls
    while calls is None or calls > 0:
        heard = len(os.read(hear, 65536 if calls is None else calls))
        if not heard:
            break
        calls = calls and calls - heard
    if calls == 0:
        time.sleep(moment.seconds)
        os.kill(child, moment.number)
        if moment.number is signal.SIGSTOP:
            time.sleep(STOPPED_S)
            os.kill(child, signal.SIGCONT)
        if moment.number is signal.SIGSTOP or moment.hurried:
            time.sleep(moment.seconds)
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(hear)  # a run that ends in good order tells of its last requests
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, INTERRUPTED, -moment.number, -signal.SIGKILL):
        raise SystemExit(f"a run of {folder} ended with {code} after {moment.number.name}")
    return code != 0


def made(folder: Path) -> bool:
    """Whether a killed run got as far as making the ledger's tables."""
    if not (folder / "arena.db").exists():
        return False
    try:
        ledger_of(folder).close()
    except LedgerError:
        return False
    return True


def unanswered(folder: Path) -> list[Exchange]:
    with closing(ledger_of(folder)) as ledger:
        return list(ledger.exchanges(1, unanswered=True))


def answered(folder: Path) -> int:
    """Requests to players whose replies are on record."""
    with closing(ledger_of(folder)) as ledger:
        return sum(row.reply is not None and row.player != SANDBOX for row in ledger.exchanges(1))


def account(folder: Path) -> dict[str, Any]:
    """Everything that must not depend on interruptions."""
    with closing(ledger_of(folder)) as ledger, open_arena(folder) as opened:
        state = recover(ledger, int(ledger.meta()["lag"]), elo_settings(opened.settings.rating))
        summaries = [
            [row.number, row.players, row.status, row.scores, row.costs, row.raw, row.cost_elo]
            for row in ledger.summaries()
        ]
        ratings = [state.standings.players, state.standings.raw, state.standings.cost]
        benches = [row.body for row in ledger.amendments(TOPIC)]
        asked = {
            (row.match, row.key): (row.player, row.reply)
            for row in ledger.exchanges(1)
            if row.reply is not None
        }
        return {
            "head": head(folder),
            "summaries": summaries,
            "ratings": ratings,
            "benches": benches,
            "replies": asked,
            "billed": state.billed_nano,
        }


class Books(NamedTuple):
    """The ledger held against the provider's book, in requests and 1e-9 dollars.

    `received` are requests in the book, `recorded` attempts on record that were sent and ended, `open` those
    that kills left open. `wrong` are requests received more often than the ledger can account for, or less.
    `short` and `over` are what the bills of requests are below what is on record as billed, and beyond what
    is billed and possibly billed.
    """

    received: int
    recorded: int
    open: int
    wrong: int
    short: int
    over: int


def books(folder: Path) -> Books:
    book = booked(folder)
    recorded: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    billed: Counter[tuple[str, str]] = Counter()
    possibly: Counter[tuple[str, str]] = Counter()
    with closing(ledger_of(folder)) as ledger:
        texts = by_hex(ledger.texts())
        seeds = {row.number: read_fixture(row.body, texts).seed for row in ledger.fixtures()}
        for row in ledger.exchanges(1):
            if row.player in (SANDBOX, DEAD):
                continue
            request = seeds[row.match], row.key
            if row.reply is not None:
                recorded[request] += 1
                billed[request] += read_reply(row).cost_nano or 0
                continue
            assert row.failure is not None, "an attempt is neither answered nor accounted for"
            _, reason, cost, _ = row.failure
            possibly[request] += cost or 0
            if reason.startswith("left open"):  # by a run, or by a worker
                left[request] += 1
            elif reason != NOT_SENT:
                recorded[request] += 1
    wrong = [
        request
        for request in {*book.requests, *recorded, *left}
        if not recorded[request] <= book.requests[request] <= recorded[request] + left[request]
    ]
    return Books(
        book.requests.total(),
        recorded.total(),
        left.total(),
        len(wrong),
        (billed - book.bills).total(),
        (book.bills - billed - possibly).total(),
    )


def unsound(folder: Path) -> list[str]:
    """What does not hold of a finished arena's ledger."""
    with open_arena(folder) as opened:
        verified, replayed = opened.verify(), opened.replay()
    problems = [f"verify: {problem}" for problem in verified.problems]
    problems += [f"replay: {difference}" for difference in replayed.differences]
    if replayed.recomputed != verified.matches:
        problems.append(f"replay recomputed {replayed.recomputed} of {verified.matches} matches")
    return problems


class Campaign:
    """Kills of one trial, and what was found."""

    def __init__(self, name: str, folder: Path, rng: random.Random) -> None:
        self._trial = TRIALS[name]
        self._folder = folder
        self._rng = rng
        self._calm = folder / "calm"
        arena(self._trial, self._calm, 32)
        forked(self._trial, self._calm, Moment())
        self._account = account(self._calm)
        self._requests = answered(self._calm)
        self.signals: Counter[str] = Counter()
        self.different: list[str] = []
        self.counts: Counter[str] = Counter()

    def kill(self, kills: int) -> None:
        """Play arenas until so many runs were killed, the last one to its end."""
        while self.signals.total() < kills:
            self.counts["arenas"] += 1
            self._play(self._folder / f"killed-{self.counts['arenas']}", kills)

    def _play(self, folder: Path, kills: int) -> None:
        opened: set[tuple[int, str, int]] = set()
        before = 0
        while True:
            limit = self._limit(folder)
            arena(self._trial, folder, self._rng.choice(self._trial.concurrency), limit)
            moment = self._moment(folder) if self.signals.total() < kills else Moment()
            ended = forked(self._trial, folder, moment)
            known = made(folder)
            if known and limit is not None and spent(folder) > round(limit * 1e9):
                self.different.append(f"{folder}: the budget of {limit} was exceeded")
            if not ended:
                break
            self.signals[moment.number.name] += 1
            self.counts["hurried"] += moment.hurried
            found = [one for one in unanswered(folder) if one.failure is None] if known else []
            self.counts["resumed"] += bool(before)
            before = sum(one.player != SANDBOX for one in found)
            opened |= {(one.match, one.key, one.attempt) for one in found}
        self._check(folder, opened, before)
        if not self.different:
            shutil.rmtree(folder)

    def _limit(self, folder: Path) -> float | None:
        """A budget that holds calls up and is never reached: what is spent, and twice the whole again."""
        if not self._trial.budget:
            return None
        return round(((spent(folder) if made(folder) else 0) + 2 * self._account["billed"]) / 1e9, 6)

    def _moment(self, folder: Path) -> Moment:
        """While a run starts, or soon after one of the requests that are still to come."""
        left = self._requests - (answered(folder) if made(folder) else 0)
        if left < 2 and self._rng.random() < 0.5:
            return Moment()
        early = left < 2 or self._rng.random() < 0.15
        calls = 0 if early else self._rng.randrange(1, 1 + min(left, max(1, self._requests // 2)))
        seconds = self._rng.uniform(0.0, 0.3 * self._trial.slow if early else 0.02)
        number = self._rng.choice(SIGNALS)
        mild = number in (signal.SIGTERM, signal.SIGHUP)
        return Moment(calls, seconds, number, mild and self._rng.random() < HURRIED)

    def _check(self, folder: Path, opened: set[tuple[int, str, int]], before: int) -> None:
        report = json.loads((folder / "report.json").read_text())
        found, kept = account(folder), books(folder)
        lost = unanswered(folder)
        self.different += [f"{folder}: {key}" for key in found if found[key] != self._account[key]]
        self.different += [f"{folder}: {problem}" for problem in unsound(folder)]
        if report["reason"] != "limit" or report["billed"] != found["billed"]:
            self.different.append(f"{folder}: the last run reports {report}")
        if report["billed"] + report["possibly"] != spent(folder):
            self.different.append(f"{folder}: reported {report}, on record {spent(folder)}")
        replies = {(match, key) for match, key in found["replies"]}
        self.counts["opened"] += len(opened)
        self.counts["misreported"] += abs(report["twice"] - before)
        self.counts["unaccounted"] += sum(one.failure is None for one in lost)
        self.counts["not_asked_again"] += sum((match, key) not in replies for match, key, _ in opened)
        self.counts["asked_again"] += asked_again(folder)
        for name, number in kept._asdict().items():
            self.counts[name] += number


def adopt() -> None:
    """Become the parent of what killed runs leave behind, where the system offers that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def orphans() -> int:
    """How many processes of killed runs are still there after a while."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return 0
        if time.monotonic() > until:
            return 1
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", nargs="+", default=playable())
    options = parser.parse_args()
    adopt()
    result: dict[str, Any] = {"signals": {}, "different": [], "counts": Counter(), "of": {}}
    for at, name in enumerate(options.trials):
        campaign = Campaign(name, options.folder / name, random.Random(f"{options.seed}/{name}"))
        share = options.kills // len(options.trials) + (at < options.kills % len(options.trials))
        began = time.monotonic()
        campaign.kill(share)
        result["signals"][name] = campaign.signals
        result["different"] += campaign.different
        result["counts"].update(campaign.counts)
        result["of"][name] = campaign.counts
        print(f"{name}: {dict(campaign.counts)}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    result["orphans"] = orphans()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
