"""Cheats that fool a naive grader and not ours: what is expected never enters the guest."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from tests.sandbox.conftest import QUICK, Sandboxes

from peerage.sandbox.grading import FunctionCase, ProgramCase, grade_function, grade_program, same

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


@pytest.mark.parametrize("cheat", CHEATS)
def test_it_fools_a_naive_grader(cheat: str) -> None:
    told = json.dumps([CHEATS[cheat], [4], expected_of(cheat)])
    done = subprocess.run([sys.executable, "-c", NAIVE, told], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    assert '"passed": true' in done.stdout or not done.stdout


@pytest.mark.parametrize("cheat", CHEATS)
def test_it_does_not_fool_ours(cheat: str, sandbox: Sandboxes) -> None:
    case = FunctionCase((4,), expected_of(cheat))
    (verdict,) = sandbox.wait(grade_function(sandbox.pool(), CHEATS[cheat], "f", [case]))
    assert not verdict.passed
    assert verdict.grade in ("wrong", "no_answer", "error")


def test_a_right_function_passes_and_a_wrong_one_does_not(sandbox: Sandboxes) -> None:
    source = (
        "print('noise')\ndef f(a, b):\n print('more')\n return {'sum': a + b, 'both': (a, b), 'none': None}"
    )
    cases = [
        FunctionCase((1, 2), {"sum": 3, "both": [1, 2], "none": None}),
        FunctionCase((1, 2), {"sum": 4, "both": [1, 2], "none": None}),
        FunctionCase(("a", "b"), {"sum": "ab", "both": ["a", "b"], "none": None}),
    ]
    verdicts = sandbox.wait(grade_function(sandbox.pool(), source, "f", cases))
    assert [verdict.grade for verdict in verdicts] == ["passed", "wrong", "passed"]
    assert verdicts[0].answer == {"sum": 3, "both": [1, 2], "none": None}


@pytest.mark.parametrize(
    ("body", "grade"),
    [
        ("1 / 0", "error"),
        ("return {1, 2}", "error"),
        ("return float('nan')", "error"),
        ("return {1: 2}", "error"),
        ("return 10 ** 5000", "error"),
        ("return object()", "error"),
        ("while 1: pass", "fuel"),
        ("return bytes(10 ** 9)", "memory"),
    ],
)
def test_how_a_function_may_fail(body: str, grade: str, sandbox: Sandboxes) -> None:
    source = f"def f():\n {body}"
    (verdict,) = sandbox.wait(grade_function(sandbox.pool(), source, "f", [FunctionCase((), 0)], QUICK))
    assert verdict.grade == grade


def test_one_case_cannot_see_another(sandbox: Sandboxes) -> None:
    source = "seen = []\ndef f(x):\n seen.append(x)\n return len(seen)"
    cases = [FunctionCase((n,), 1) for n in range(4)]
    assert all(one.passed for one in sandbox.wait(grade_function(sandbox.pool(), source, "f", cases)))


def test_programs_are_compared_by_what_they_print(sandbox: Sandboxes) -> None:
    cases = [
        ProgramCase("3\n", "6"),
        ProgramCase("4\n", "8\n"),
        ProgramCase("5\n", "11"),
        ProgramCase("x", ""),
    ]
    verdicts = sandbox.wait(grade_program(sandbox.pool(), "print(int(input()) * 2, ' ')", cases))
    assert [verdict.grade for verdict in verdicts] == ["passed", "passed", "wrong", "error"]


def test_a_case_that_is_not_json_is_refused(sandbox: Sandboxes) -> None:
    with pytest.raises(ValueError, match="plain JSON"):
        sandbox.wait(grade_function(sandbox.pool(), "", "f", [FunctionCase((), (1, 2))]))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (1, True),
        (1, 1.0),
        ("1", 1),
        ([1], [True]),
        ({"a": 1}, {"a": 1.0}),
        ([1], [1, 2]),
        (None, False),
        ({}, []),
    ],
)
def test_types_count(answer: Any, expected: Any) -> None:
    assert not same(answer, expected)
    assert not same(expected, answer)
    assert same(answer, answer)
