"""Makes and tries mutants for `tests/mutants.py`: mutmut's, which is too slow at trying a sample of them.

    python tests/mutating.py make              # the mutants, none tried; inside the folder of a part
    python tests/mutating.py mypy SOURCE...    # which of those without a result strict mypy refuses
    python tests/mutating.py run PROCESSES TEST...      # the others; both inside its folder `mutants`

The tests are read in once, and each mutant is tried in a fork of that process: on the tests of recorded
numbers and words, then on its module's own, those that name it and the others, the module's room first,
until one fails or `MOST_S` are over. A test that fails is run without the mutant too, and once more with it,
since one that fails anyway, or now and then, notices nothing. What is said to be noticed the suite notices,
and perhaps more; what happens when modules are imported is not seen.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

MOST_S = 20.0
"""Seconds of the processor for which tests are run on a mutant."""
IDLE_S = 60
"""Seconds after which a process that does nothing is taken to hang."""


def make() -> None:
    from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths

    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(1)


KILLED, SURVIVED, NO_TESTS, TIMEOUT, REFUSED = 1, 0, 33, 36, 37
"""How mutmut marks what becomes of a mutant; the last is what a type checker refuses."""
MEMORY = 8 * 2**30
"""Bytes of address space: a loop that never ends may gather without end too."""


class Trying:
    """Tries mutants in place of pytest's own loop over tests."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.sound: dict[str, bool] = {}
        """Of tests that failed, whether they pass without a mutant."""
        self.twice: set[str] = set()
        """Mutants that a test noticed, and did not notice by itself."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _outcome(session, session.items, "")
        for name in Path("imported").read_text("utf-8").splitlines():
            with suppress(Exception):  # else each process would do it anew
                import_module(name)
        under_way: dict[int, tuple[Path, str]] = {}
        codes: dict[str, tuple[Path, int | None]] = {}
        for meta in Path("src").rglob("*.meta"):
            found = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
            codes |= {mutant: (meta, code) for mutant, code in found.items()}
        for mutant in Path("order").read_text("utf-8").splitlines():
            meta, code = codes[mutant]
            if code is not None:
                continue
            while len(under_way) >= self.processes:
                self._ended(session, under_way)
            under_way[_forked(session, named(session.items, mutant), mutant)] = meta, mutant
        while under_way:
            self._ended(session, under_way)
        return True

    def _ended(self, session: pytest.Session, under_way: dict[int, tuple[Path, str]]) -> None:
        pid, status = os.wait()
        meta, mutant = under_way.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        failed = Path(f"{pid}.failed")
        test = failed.read_text("utf-8") if code == KILLED else ""
        failed.unlink(missing_ok=True)
        if test and not self._holds(session, test, mutant):
            under_way[_forked(session, named(session.items, mutant), mutant)] = meta, mutant
            return
        data = json.loads(meta.read_text("utf-8"))
        data["exit_code_by_key"][mutant] = code if code >= 0 else TIMEOUT
        meta.write_text(json.dumps(data), "utf-8")
        print(mutant, data["exit_code_by_key"][mutant], flush=True)

    def _holds(self, session: pytest.Session, test: str, mutant: str) -> bool:
        """Whether a test that failed does so because of the mutant: not without it, and once more with it.
        One that fails without is left out from then on; a mutant is tried twice at most."""
        alone = [item for item in session.items if item.nodeid == test]
        if test not in self.sound:
            self.sound[test] = _outcome(session, alone, "") == SURVIVED
        if not self.sound[test]:
            print(test, "fails without any mutant, and is left out", flush=True)
            session.items[:] = [item for item in session.items if item.nodeid != test]
            return False
        if mutant in self.twice or _outcome(session, alone, mutant) == KILLED:
            return True
        self.twice.add(mutant)
        return False


def named(items: Sequence[pytest.Item], mutant: str) -> list[pytest.Item]:
    """The tests to try on a mutant, in their order."""
    module = mutant.rpartition(".")[0]
    stem = module.rpartition(".")[2]
    texts = {path: path.read_text("utf-8") for path in {item.path for item in items}}

    def distance(item: pytest.Item) -> tuple[int, bool]:
        elsewhere = item.path.parent.name not in module.split(".")
        if "recorded.check" in texts[item.path]:
            return 0, elsewhere
        return (1 if item.path.stem == f"test_{stem}" else 2 if stem in texts[item.path] else 3), elsewhere

    return sorted(items, key=distance)


def _forked(session: pytest.Session, items: list[pytest.Item], mutant: str) -> int:
    """A process that tries the tests on a mutant; its number."""
    pid = os.fork()
    if pid:
        return pid
    os.environ["MUTANT_UNDER_TEST"] = mutant
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(6 * MOST_S), int(6 * MOST_S) + 2))
    threading.Thread(target=_end_idle, daemon=True).start()
    session.config.pluginmanager.unregister(name="terminalreporter")
    code = NO_TESTS
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        code = SURVIVED
        if session.testsfailed:
            Path(f"{os.getpid()}.failed").write_text(item.nodeid, "utf-8")
            code = KILLED
        if code == KILLED or time.process_time() > MOST_S:
            break
    if not mutant:
        Path("imported").write_text("\n".join(sorted(sys.modules)), "utf-8")
    os._exit(code)


def _outcome(session: pytest.Session, items: list[pytest.Item], mutant: str) -> int:
    """What becomes of a mutant on these tests."""
    pid = _forked(session, items, mutant)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    Path(f"{pid}.failed").unlink(missing_ok=True)
    return code


def _end_idle() -> None:
    """End this process once it does nothing: a test of it waits for what a mutant never does."""
    while True:
        before = time.process_time()
        time.sleep(IDLE_S)
        if time.process_time() - before < IDLE_S / 1000:
            os._exit(TIMEOUT)


def run(processes: str, tests: list[str]) -> None:
    sys.path.insert(0, "src")
    os.environ["PYTHONPATH"] = os.path.abspath("src")
    sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests], plugins=[Trying(int(processes))]))


def types(sources: list[str]) -> None:
    """Check the sources without the mutants that have a result, lines in their places, and note which of the
    others strict mypy refuses."""
    command = [sys.executable, "-m", "mypy", "--output", "json", "--cache-dir", os.path.abspath("../../mypy")]
    checked: dict[str, dict[str, tuple[int, int]]] = {}
    for source in sources:
        path = Path(source)
        codes = json.loads(Path(f"{source}.meta").read_text("utf-8"))["exit_code_by_key"]
        asked = {mutant.rpartition(".")[2]: mutant for mutant, code in codes.items() if code is None}
        if not asked:
            continue
        spans = json.loads(Path(f"{source}.spans").read_text("utf-8"))["spans"]
        lines = path.read_text("utf-8").splitlines()
        for function, (first, last) in spans.items():
            if "__mutmut_" in function and function not in asked and not function.endswith("_orig"):
                lines[first - 1 : last] = [""] * (last - first + 1)
        shadow = path.with_suffix(".shadow")
        shadow.write_text("\n".join(lines) + "\n", "utf-8")
        command += ["--shadow-file", source, str(shadow)]
        checked[source] = {asked[function]: span for function, span in spans.items() if function in asked}
    if not checked:
        return
    said = subprocess.run([*command, *checked], check=False, capture_output=True, text=True).stdout
    wrong = [one for one in map(json.loads, said.splitlines()) if one["code"] != "unused-ignore"]
    for source, spans in checked.items():
        meta = Path(f"{source}.meta")
        data = json.loads(meta.read_text("utf-8"))
        for one in wrong:
            # What mutmut writes around mutants has types of its own.
            for mutant, (first, last) in spans.items():
                if one["file"] == source and one["severity"] == "error" and first <= one["line"] <= last:
                    data["exit_code_by_key"][mutant] = REFUSED
        meta.write_text(json.dumps(data), "utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make"]:
            make()
        case ["run", processes, *tests]:
            run(processes, tests)
        case ["mypy", *sources]:
            types(sources)
        case _:
            sys.exit(__doc__)
