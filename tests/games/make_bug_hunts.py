"""Finds and proves bugs for the programs of the bug hunt, by running them.

    python -m tests.games.make_bug_hunts      # writes src/peerage/games/bug_hunt/bugs.json anew

Only programs of our own and their mutants run here, each under an alarm; nothing that a model wrote.
"""

import io
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random

import peerage.games.bug_hunt.tasks as bug_hunts
from peerage.games.bug_hunt.mutations import Bug, applied, mutations
from peerage.games.bug_hunt.tasks import MOST_BUGS, bases
from peerage.games.run_tests import same_output

FILE = Path(bug_hunts.__file__).with_name("bugs.json")
HUNTS, TRIES = 8, 1_500
SECONDS = 0.5
"""Of processor time, so that a busy machine stops no program that ends."""


class Slow(BaseException):
    """The program did not end in time."""


@contextmanager
def alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@cache
def printed(source: str, stdin: str) -> str | None:
    """What a program prints; None when it fails. Raises Slow."""
    out, before = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(stdin + "\n")
    try:
        with alarm(), redirect_stdout(out), redirect_stderr(io.StringIO()):
            exec(compile(source, "program.py", "exec", dont_inherit=True), {"__name__": "__main__"})
    except Exception:
        return None
    finally:
        sys.stdin = before
    return out.getvalue()


def failures(source: str, tests: Sequence[tuple[str, str]]) -> frozenset[int]:
    """The places of the tests that a program fails. Raises Slow."""
    failed = set()
    for place, (given, wanted) in enumerate(tests):
        found = printed(source, given)
        if found is None or not same_output(found, wanted):
            failed.add(place)
    return frozenset(failed)


def prove(
    source: str, bugs: Sequence[Bug], tests: Sequence[tuple[str, str]]
) -> tuple[list[list[int]], list[int]]:
    """Witnesses of each bug and the guards, from all versions of the program. Raises Slow."""
    versions = {
        chosen: failures(applied(source, [bugs[at] for at in chosen]), tests)
        for size in range(len(bugs) + 1)
        for chosen in combinations(range(len(bugs)), size)
    }
    witnesses = [
        [
            test
            for test in range(len(tests))
            if all((test in failed) == (at in chosen) for chosen, failed in versions.items())
        ]
        for at in range(len(bugs))
    ]
    guards = [test for test in range(len(tests)) if not any(test in failed for failed in versions.values())]
    return witnesses, guards


def killed(source: str, tests: Sequence[tuple[str, str]]) -> list[Bug]:
    """The bugs that alone fail some of the tests, but not all, and never hang."""
    found = []
    for bug in sorted(set(mutations(source))):
        try:
            failed = failures(applied(source, [bug]), tests)
        except (Slow, SyntaxError):
            continue
        if 0 < len(failed) < len(tests):
            found.append(bug)
    return found


def hunts(name: str) -> dict[str, object]:
    base = bases()[name]
    tests = []
    for given in base.inputs:
        wanted = printed(base.source, given)
        assert wanted is not None, (name, given)
        tests.append((given, wanted.rstrip()))
    bugs, rng = killed(base.source, tests), Random(name)
    made: list[dict[str, object]] = []
    seen: set[Bug] = set()
    for size in range(MOST_BUGS, 0, -1):
        for _ in range(TRIES if len(bugs) >= size else 0):
            if len(made) == HUNTS:
                break
            some = sorted(rng.sample(bugs, size), key=lambda bug: bug.start)
            lines = {base.source.count("\n", 0, bug.start) for bug in some}
            if len(lines) < size or len(seen & {*some}) > max(0, size - 2):
                continue
            try:
                witnesses, guards = prove(base.source, some, tests)
            except Slow:
                continue
            if guards and all(witnesses):
                seen.update(some)
                made.append({"bugs": some, "witnesses": witnesses, "guards": guards})
    return {"tests": tests, "hunts": made}


def main() -> None:
    found = {name: hunts(name) for name in bases()}
    for name, ground in found.items():
        print(f"{name:20} {len(ground['hunts'])} hunts")  # type: ignore[arg-type]
    text = (
        json.dumps(found, separators=(",", ":"))
        .replace('{"bugs"', '\n{"bugs"')
        .replace('{"tests"', '\n{"tests"')
    )
    FILE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
