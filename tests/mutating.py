"""Drives mutmut for `tests/mutants.py`, inside the folder of a part.

    python tests/mutating.py make              # the mutants, none tried
    python tests/mutating.py run PROCESSES     # try those that have no result
    python tests/mutating.py mypy SOURCE...    # what strict mypy says of those, as mutmut calls it

mutmut alone checks the types of all mutants at once, which takes minutes where a sample is wanted, and runs
for each mutant every test that comes by its function, in any order.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

MOST_S = 10.0
"""A mutant is tried on the quickest tests that come by it, for so many seconds as they take without it. What
is said to be noticed the suite notices, and perhaps more."""


def make() -> None:
    from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths

    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(1)


MEMORY = 8 * 2**30
"""Bytes of address space: a loop that never ends may gather without end too."""


def run(processes: str) -> None:
    import mutmut.__main__ as program
    from mutmut.workers.isolation import ForkServerRunner

    known = program.collect_or_load_stats

    def collect(*arguments: Any, **named: Any) -> None:
        known(*arguments, **named)
        state = program.state()
        for function, tests in state.tests_by_mangled_function_name.items():
            state.tests_by_mangled_function_name[function] = quickest(tests, state.duration_by_test)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    program.collect_or_load_stats = collect
    # They passed when they were timed, and are timed again when anything changed (`tests.mutants`).
    ForkServerRunner.run_clean_tests = lambda self, tests: 0
    program.cli(["run", "--max-children", processes])


def quickest(tests: Collection[str], seconds: dict[str, float]) -> list[str]:
    """The quickest tests, for `MOST_S` seconds together; one at least."""
    found, took = [], 0.0
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        took += seconds[test]
        if found and took > MOST_S:
            break
        found.append(test)
    return found


def types(sources: list[str]) -> None:
    """Check the sources without the mutants that have a result, lines in their places."""
    command = [sys.executable, "-m", "mypy", "--output", "json", "--no-warn-unused-ignores"]
    command += ["--cache-dir", os.path.abspath("../../mypy")]
    checked: dict[str, list[tuple[int, int]]] = {}
    for source in sources:
        path = Path(source)
        codes = json.loads(Path(f"{source}.meta").read_text("utf-8"))["exit_code_by_key"]
        asked = {mutant.rpartition(".")[2] for mutant, code in codes.items() if code is None}
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
        checked[source] = [span for function, span in spans.items() if function in asked]
    if checked:
        found = subprocess.run([*command, *checked], check=False, capture_output=True, text=True)
        for line in found.stdout.splitlines():
            said = json.loads(line)
            # What mutmut writes around mutants has types of its own.
            if any(first <= said["line"] <= last for first, last in checked.get(said["file"], ())):
                print(line)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make"]:
            make()
        case ["run", processes]:
            run(processes)
        case ["mypy", *sources]:
            types(sources)
        case _:
            sys.exit(__doc__)
