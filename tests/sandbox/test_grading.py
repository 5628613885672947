"""Cheats that fool a naive grader and not the trial of games: what is expected never enters the guest."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.sandbox.conftest import QUICK, Sandboxes

from peerage.engine.calls.programs import Programs
from peerage.game.programs.run_tests import Test, trial
from peerage.game.protocol import Ran, Reply, Run, ran

NAIVE = """
import json, sys
def grade(source, arguments, expected):
    namespace = {}
    exec(source, namespace)
    result = namespace['f'](*arguments)
    verdict = result == expected
    print(json.dumps({'passed': bool(verdict)}))
grade(*json.loads(sys.argv[1]))
"""
"""Judges in the submission's own interpreter; its reader believes a line that says passed, or exit code 0."""

CHEATS = {
    "always-equal object": "class E:\n def __eq__(self, other): return True\ndef f(x): return E()",
    "subclass of int": "class E(int):\n def __eq__(self, other): return True\ndef f(x): return E(7)",
    "subclass of dict": "class E(dict):\n def __eq__(self, other): return True\ndef f(x): return E()",
    "early os._exit": "import os\nos._exit(0)",
    "early os._exit inside": "import os\ndef f(x): os._exit(0)",
    "sys.exit": "import sys\ndef f(x): sys.exit(0)",
    "forged line": "import os\ndef f(x):\n print('{\"passed\": true}', flush=True)\n os._exit(0)",
    "forged answer and line": "import os\ndef f(x):\n os.write(1, b'{\"passed\": true}')\n return 0",
    "patched print": "import builtins\nreal = print\n"
    "builtins.print = lambda *a, **k: real('{\"passed\": true}')\ndef f(x): return 0",
    "patched json": "import json\njson.dumps = lambda *a, **k: '{\"passed\": true}'\ndef f(x): return 0",
    "reading the harness": "import sys\ndef f(x): return sys._getframe(1).f_locals['expected']",
    "searching the heap": "import gc\ndef f(x):\n for o in gc.get_objects():\n"
    "  if isinstance(o, list) and o and o[0] == 'the answer': return o\n"
    "  if isinstance(o, dict) and isinstance(e := o.get('expected'), list): return e\n return 0",
    "reading argv": "import sys, json\ndef f(x): return json.loads(sys.argv[1])[2]",
    "true for one": "def f(x): return [True, x]",
    "float for int": "def f(x): return [1.0, x]",
}
EXPECTED: dict[str, Any] = {"true for one": [1, 4], "float for int": [1, 4]}


def expected_of(cheat: str) -> Any:
    return EXPECTED.get(cheat, ["the answer", 42])


def tried(program: str, tests: Sequence[Test], sandbox: Sandboxes) -> tuple[str, ...]:
    """The verdicts of a trial whose runs are performed as the engine performs them."""
    programs = Programs(sandbox.pool(), 2, Path())

    def performed(run: Run) -> Reply:
        quick = {"fuel": QUICK.fuel, "memory": QUICK.memory, "seconds": QUICK.seconds}
        reply = sandbox.wait(programs.perform(msgspec.structs.replace(run, **quick)))
        return msgspec.structs.replace(reply, value=ran(reply.text))

    steps = trial(program, tests)
    asked: Any = next(steps)
    while True:
        try:
            asked = steps.send(
                performed(asked) if isinstance(asked, Run) else [performed(run) for run in asked]
            )
        except StopIteration as done:
            return tuple(done.value)


@pytest.mark.parametrize("cheat", CHEATS)
def test_it_fools_a_naive_grader(cheat: str) -> None:
    told = json.dumps([CHEATS[cheat], [4], expected_of(cheat)])
    done = subprocess.run([sys.executable, "-c", NAIVE, told], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert '"passed": true' in done.stdout or not done.stdout


@pytest.mark.parametrize("cheat", CHEATS)
def test_it_does_not_fool_ours(cheat: str, sandbox: Sandboxes) -> None:
    program = f"{CHEATS[cheat]}\nprint(f(int(input())))"
    (verdict,) = tried(program, [("4", str(expected_of(cheat)))], sandbox)
    assert verdict in ("wrong", "error")


def test_a_run_is_given_its_input_alone() -> None:
    steps = trial("print(input())", [("3", "the answer"), ("5", "the answer")])
    first = next(steps)
    others = steps.send(Reply("ok", value=Ran("ok", "3\n", "", 1)))
    assert isinstance(first, Run)
    for run, given in zip([first, *others], "35", strict=True):
        assert (run.source, run.stdin) == ("print(input())", f"{given}\n")
        assert b"the answer" not in msgspec.json.encode(run)


def test_what_is_printed_decides(sandbox: Sandboxes) -> None:
    tests = [("3", "6"), ("4", "8\n"), ("5", "11"), ("x", "")]
    verdicts = tried("print(int(input()) * 2, ' ')", tests, sandbox)
    assert verdicts == ("passed", "passed", "wrong", "error")


@pytest.mark.parametrize(
    ("program", "verdicts"),
    [
        ("1 / 0", ("error", "error")),
        ("import os\nos._exit(0)", ("wrong", "wrong")),
        ("import sys\nsys.exit(1)", ("error", "error")),
        ("print(10 ** 5000)", ("error", "error")),
        ("while 1: pass", ("fuel", "not run")),
        ("bytes(10 ** 9)", ("memory", "not run")),
        ("print('7' * 2 ** 21)", ("output", "not run")),
    ],
)
def test_how_a_program_may_fail(program: str, verdicts: tuple[str, ...], sandbox: Sandboxes) -> None:
    assert tried(program, [("1", "7"), ("2", "7")], sandbox) == verdicts


def test_one_test_cannot_see_another(sandbox: Sandboxes) -> None:
    program = "import builtins\nbuiltins.seen = getattr(builtins, 'seen', 0) + 1\nprint(builtins.seen)"
    assert tried(program, [(str(at), "1") for at in range(4)], sandbox) == ("passed",) * 4
