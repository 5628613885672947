"""Mutation testing: does a test fail where the code is wrong? With mutmut, part by part.

    python -m tests.mutants                 # every part; stopped at any moment, it goes on there next time
    python -m tests.mutants prices budget   # some parts
    python -m tests.mutants ratings --sample 300    # so many changes, drawn by lot, the same each time
    python -m tests.mutants ratings --sample 300 --seed 2   # others: for a share that no test was written for
    python -m tests.mutants --report        # what is known by now, without running anything

Each part is a few sources and the tests that must notice what is wrong in them; those are to be quick, since
each change of the code runs them. The work lies in `.mutants`, a folder for each part. A change that no test
notices is a survivor; `tests/mutants.toml` says of which survivors the program does the same, and why. What
strict mypy refuses is noticed without a test. Of a sample the share has its 95% interval (Wilson's).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
WORK = ROOT / ".mutants"
KILLED = {"killed", "timeout", "segfault", "caught by type check", "suspicious"}
LEFT = {"survived", "no tests"}
SKIPPED = 34
"""How mutmut marks what is not to be tried."""


class Part(NamedTuple):
    """Sources below src/peerage, tests below tests, and sources left out: numba compiles what mutmut would
    wrap."""

    sources: Sequence[str]
    tests: Sequence[str]
    without: Sequence[str] = ()


PARTS = {
    "budget": Part(
        ["engine/calls/budget.py", "engine/calls/call_costs.py", "engine/calls/reservations.py"],
        [
            "engine/calls/test_budget.py",
            "engine/calls/test_call_costs.py",
            "engine/calls/test_reservations.py",
            "properties/test_engine_budget.py",
        ],
    ),
    "recovery": Part(
        ["engine/again/recovery.py", "engine/record/journal.py", "ledger/topics/waits.py"],
        [
            *("engine/again/test_recovery.py", "engine/record/test_journal.py", "engine/run/test_waits.py"),
            *("engine/again/test_recovery_folds.py", "ledger/topics/test_wait_entries.py"),
        ],
    ),
    "codec": Part(
        ["ledger/forms/codec.py", "ledger/forms/merkle.py", "ledger/forms/log.py", "values/sealing.py"],
        [
            *(
                "ledger/forms/test_codec.py",
                "ledger/forms/test_merkle.py",
                "ledger/forms/test_log_digests.py",
            ),
            *("values/test_sealing.py", "properties/test_ledger_codec.py"),
            "properties/test_ledger_merkle.py",
        ],
    ),
    "verify": Part(
        [
            *("ledger/check/verify.py", "ledger/check/audit.py", "ledger/check/held.py"),
            *("ledger/check/kept_checkpoints.py", "ledger/check/checkpoints.py"),
        ],
        [
            *("ledger/check/test_verify.py", "ledger/check/test_findings.py"),
            *("ledger/check/test_since.py", "ledger/check/test_checkpoints.py"),
            "engine/record/test_settings_log.py",
        ],
    ),
    "prices": Part(["players/prices.py"], ["players/test_prices.py"]),
    "keys": Part(
        ["players/keys.py", "players/redaction.py"],
        ["players/test_keys.py", "players/test_redaction.py", "players/test_secrets.py"],
    ),
    "provider": Part(
        [
            "players/models/provider.py",
            "players/models/library.py",
            "players/models/translation.py",
            "players/models/failures.py",
            "players/models/wire.py",
            "players/models/thinking.py",
        ],
        [
            *(
                "players/models/test_failures.py",
                "players/models/test_provider.py",
                "players/models/test_wiring.py",
            ),
            *(
                "players/models/test_thinking.py",
                "players/models/test_thinking_settings.py",
                "players/models/test_native.py",
            ),
            "players/test_secrets.py",
        ],
    ),
    "settings": Part(
        ["settings/*.py", "settings/players/*.py"],
        [
            *("settings/test_settings.py", "settings/test_players.py", "settings/test_reading.py"),
            *("test_settings_said.py", "settings/test_hours.py", "settings/test_weights.py"),
        ],
    ),
    "scheduling": Part(["scheduling/*.py"], ["scheduling", "properties/test_scheduling.py"]),
    "judging": Part(["judging/**/*.py"], ["judging"]),
    "ratings": Part(["ratings/**/*.py"], ["ratings"], ["ratings/**/*kernels.py"]),
    "escaping": Part(
        ["game/protocol.py", "site/rendering.py"], ["game/test_protocol.py", "site/test_rendering.py"]
    ),
}

DRIVER = [sys.executable, str(ROOT / "tests/mutating.py")]

_DIFFS = """
import json, sys
from mutmut.__main__ import find_mutant
from mutmut.mutation.diff_apply import get_diff_for_mutant
print(json.dumps({name: get_diff_for_mutant(name, path=find_mutant(name).path) for name in sys.argv[1:]}))
"""


def _sources(part: Part) -> list[str]:
    """The part's sources, below the root."""
    found = {path for each in part.sources for path in (ROOT / "src/peerage").glob(each)}
    left = {path for each in part.without for path in (ROOT / "src/peerage").glob(each)}
    return sorted(str(path.relative_to(ROOT)) for path in found - left)


def prepare(name: str) -> Path:
    """The part's folder, with the sources as they are now."""
    part, folder = PARTS[name], WORK / name
    every = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(every, cwd=ROOT, check=True, capture_output=True, text=True)
    for path in filter(None, listed.stdout.split("\0")):
        here, there = ROOT / path, folder / path
        if here.is_file() and not (there.exists() and there.read_bytes() == here.read_bytes()):
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(here, there)
    stated = {
        "source_paths": ["src"],
        "only_mutate": [f"src/peerage/{each}" for each in part.sources],
        "do_not_mutate": [f"src/peerage/{each}" for each in part.without],
        "also_copy": ["bench", "docs", "examples", "README.md", "constraints.txt"],
        "use_git_change_detection": False,
        "track_dependencies": False,
    }
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in stated.items())
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    (folder / "pyproject.toml").write_text(f"{settings}\n[tool.mutmut]\n{lines}", "utf-8")
    return folder


def run(name: str, processes: str, sample: int, seed: int) -> None:
    """Try what was not tried yet, and again what no test noticed where tests are others now."""
    tests, sources = hashlib.sha256(), hashlib.sha256()
    for digest, room in ((tests, "tests"), (sources, "src")):
        for path in sorted((ROOT / room).rglob("*.py")):
            digest.update(path.read_bytes())
    folder = prepare(name)
    seen, now = folder / "seen", [tests.hexdigest(), sources.hexdigest()]
    before = seen.read_text().split() if seen.exists() else ["", ""]
    subprocess.run([*DRIVER, "make"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    _mark(folder, sample, seed, again=before[0] != now[0])
    if not (WORK / "mypy").exists() and (ROOT / ".mypy_cache").exists():
        shutil.copytree(ROOT / ".mypy_cache", WORK / "mypy")
    subprocess.run([*DRIVER, "mypy", *_sources(PARTS[name])], cwd=folder / "mutants", check=True)
    seen.write_text("\n".join(now))
    chosen = [f"tests/{each}" for each in PARTS[name].tests if (ROOT / "tests" / each).exists()]
    subprocess.run([*DRIVER, "run", processes, *chosen], cwd=folder / "mutants", check=True)


def drawn(names: Collection[str], sample: int, seed: int) -> list[str]:
    """So many of the mutants, by lot: the same each time, and of a larger sample the first. All for 0."""
    by_lot = sorted(names, key=lambda name: hashlib.sha256(f"{seed or ''}{name}".encode()).digest())
    return by_lot[:sample] if sample else by_lot


def _mark(folder: Path, sample: int, seed: int, *, again: bool) -> None:
    """Leave to mutmut what is in the sample and not tried yet, or to be tried again."""
    found = statuses(folder)
    wanted = dict.fromkeys(drawn(found, sample, seed))
    # In the order of the lot: where a run is stopped, what was tried is a smaller sample.
    (folder / "mutants" / "order").write_text("\n".join(wanted))
    marks: dict[str, int | None] = {}
    for mutant, status in found.items():
        if status in ("not checked", "skipped") or (again and status in LEFT):
            marks[mutant] = None if mutant in wanted else SKIPPED
    for path in (folder / "mutants").rglob("*.meta"):
        data = json.loads(path.read_text("utf-8"))
        codes = data["exit_code_by_key"]
        codes |= {mutant: code for mutant, code in marks.items() if mutant in codes}
        path.write_text(json.dumps(data), "utf-8")


def _mutmut(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def statuses(folder: Path) -> dict[str, str]:
    """What became of each mutant, by name."""
    if not (folder / "mutants").exists():
        return {}
    lines = _mutmut(folder, "results", "--all", "true").splitlines()
    return dict(line.strip().rsplit(": ", 1) for line in lines if ": " in line)


def changes(folder: Path, names: list[str]) -> dict[str, str]:
    """What each mutant changes: the lines of its diff."""
    if not names:
        return {}
    command = [sys.executable, "-c", _DIFFS, *names]
    found = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return {name: _changed(diff) for name, diff in json.loads(found.splitlines()[-1]).items()}


def _changed(diff: str) -> str:
    lines = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def report(name: str, sample: int, seed: int) -> bool:
    """Print what became of a part; whether at least nine in ten of its mutants were noticed."""
    folder = WORK / name
    everything = statuses(folder)
    wanted = {*drawn(everything, sample, seed)}
    found = {mutant: status for mutant, status in everything.items() if mutant in wanted}
    done = Counter(found.values())
    left = [mutant for mutant, status in found.items() if status in LEFT]
    known = {(one["where"], one["change"]) for one in _equivalent()}
    told = changes(folder, left)
    same = [mutant for mutant in left if (_function(mutant), told[mutant]) in known]
    killed = sum(done[status] for status in KILLED)
    counted = killed + len(left) - len(same)
    share = killed / counted if counted else 0.0
    waiting = done["not checked"] + done["skipped"]
    of = f"; a sample, of {len(everything)}: 95% {_interval(killed, counted)}" if sample else ""
    print(
        f"{name}: {killed} of {counted} noticed ({share:.1%}{of}), {done['caught by type check']} of them by "
        f"mypy and {done['timeout']} by their time, {len(same)} the same program, {waiting} not tried yet"
    )
    for mutant in left:
        if mutant not in same:
            print(f"  {_function(mutant)} ({found[mutant]})")
            print("    " + told[mutant].replace("\n", "\n    "))
    return share >= 0.9 and not waiting


def _interval(killed: int, counted: int) -> str:
    """Wilson's interval for a share."""
    if not counted:
        return "unknown"
    z = 1.96
    middle = (killed + z * z / 2) / (counted + z * z)
    half = z * sqrt(killed * (counted - killed) / counted + z * z / 4) / (counted + z * z)
    return f"{middle - half:.1%} to {middle + half:.1%}"


def _function(mutant: str) -> str:
    """`peerage.engine.calls.budget.Budget.pay` of mutmut's own name of a mutant."""
    module, _, name = mutant.rpartition("__mutmut_")[0].rpartition(".")
    return f"{module}.{name.removeprefix('x').strip('_').strip('ǁ').replace('ǁ', '.')}"


def _equivalent() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf-8"))["same"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--processes", default="2", help="mutants tried at once")
    parser.add_argument("--sample", type=int, default=0, help="so many mutants of each part, drawn by lot")
    parser.add_argument("--seed", type=int, default=0, help="of the lot")
    options = parser.parse_args()
    if unknown := {*options.parts} - {*PARTS}:
        parser.error(f"{', '.join(sorted(unknown))}: no such part; there are {', '.join(PARTS)}")
    fine = True
    for name in options.parts or PARTS:
        if not options.report:
            run(name, options.processes, options.sample, options.seed)
        fine &= report(name, options.sample, options.seed)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
