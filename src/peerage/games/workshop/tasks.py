"""Tasks of workshops: the owner's as values, and small programs of several modules that are drawn. Pure.

A drawn program is one of `bug_hunt`, whose parts become modules of a package. It has proven bugs, or lacks
parts that are to be added. Only inputs of hidden tests reach a jail: what is to be printed stays here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from random import Random
from textwrap import indent

from msgspec import Struct

from peerage.game.levels import difficulty
from peerage.game.programs.run_tests import Test, same_output
from peerage.game.texts import toml
from peerage.games import numbers
from peerage.games.bug_hunt import commands
from peerage.games.bug_hunt.tasks import BUGS, USUAL_WORK, buggy, family_of
from peerage.games.parts import RAISED, DrawnPart, SlotBug, effort, outputs, work_at, written
from peerage.sandbox.folder import WorkFolder

HIDDEN = ".hidden/"
"""The folder of hidden tests in that of a drawn task."""
CHECK = "python3 check.py"
TEST_NAMES = ("test_*.py", "*/test_*.py", "*_test.*", "*.test.*", "*.spec.*")
"""Patterns of paths of tests that a runner can be given."""
_COMMANDS_FROM = 5
"""The first level whose programs keep balances; easier ones are about a list of numbers."""
_INPUTS, _KEPT, _SHOWN = 120, 3, 2
"""Inputs that are tried; of hidden tests those kept for each part to be added, and guards; of examples those
that fail at first, and those that pass."""
_SHOWN_AS = ("given", "expected", "printed")
_MODULES = 5
_DEFINED = re.compile(r"^(?:def )?(\w+)(?: = |\()", re.MULTILINE)
_IMPORT = re.compile(r"^from .*\n+", re.MULTILINE)


class Reference(Struct, frozen=True):
    """The secrets of a drawn task. `tests` are its hidden tests, `failing` the places of those that fail at
    first; `bugs` are wrong values of slots of `parts`, `lacking` the places of parts to be added."""

    level: int
    difficulty: float
    parts: tuple[DrawnPart, ...]
    bugs: tuple[SlotBug, ...]
    lacking: tuple[int, ...]
    tests: tuple[Test, ...]
    failing: tuple[int, ...]


class WorkTask(Struct, frozen=True, omit_defaults=True):
    """A task: what to do in a `folder`. Hidden `tests` are laid over what somebody made of it, those that are
    `gone` by then are removed, and `command` tries them, after `setup`; contestants may run `check`. Without
    tests judges decide alone. `solved` is the folder as somebody solved it."""

    id: str
    statement: str
    folder: WorkFolder
    command: str = ""
    tests: WorkFolder | None = None
    setup: str = ""
    check: str = ""
    gone: tuple[str, ...] = ()
    solved: WorkFolder | None = None
    reference: Reference | None = None

    @property
    def runnable(self) -> list[str]:
        """Return the paths of hidden tests that a runner can be given."""
        return [] if self.tests is None else runnable([*(self.tests.only or self.tests.files)])

    @property
    def hidden(self) -> Collection[str]:
        """Return the paths that are as the task has them, whatever a patch says."""
        return () if self.tests is None else {*(self.tests.only or self.tests.files), *self.gone}


def is_test(path: str) -> bool:
    """Tell a test that a runner can be given by its name."""
    return any(fnmatchcase(path, name) for name in TEST_NAMES)


def runnable(tests: list[str]) -> list[str]:
    """Return those paths of tests that a runner can be given; all of them where none has such a name."""
    return [*filter(is_test, tests)] or tests


def work_task(rng: Random, level: int) -> WorkTask:
    """Draw a task of a level, with bugs to cure or with parts to add."""
    made, examples = None, list[Test]()
    while made is None or not examples:
        made = _with_bugs(rng, level) if rng.random() < 0.5 else _with_gaps(rng, level)
        examples = _examples(rng, made) if made else []
    family = family_of(made.parts)
    says = family.says(made.parts).split("\n")
    for place in made.lacking:
        says[place - len(made.parts)] += " (NEW)"
    (given, expected), *_ = examples
    [old] = printed([given], made.parts, made.bugs, made.lacking)
    issue = toml(__package__, "issue")["add" if made.lacking else "cure"].format(
        count=len(made.lacking) or len(made.bugs),
        says="\n".join(says),
        **{name: indent(text, "    ") for name, text in zip(_SHOWN_AS, (given, expected, old), strict=True)},
    )
    check, run = (files(__package__).joinpath(f"{name}.txt").read_text("utf-8") for name in ("check", "run"))
    tests = {"check.py": check, "examples.json": json.dumps(examples, indent=1) + "\n"}
    readme = family.says([part for at, part in enumerate(made.parts) if at not in made.lacking]) + "\n"
    inputs = json.dumps([given for given, _ in made.tests])
    return WorkTask(
        id=f"level {level}",
        statement=issue,
        folder=WorkFolder.of({"README.md": readme, **tests, **package(made.parts, made.bugs, made.lacking)}),
        command=f"python3 -I -S -B {HIDDEN}run.py",
        tests=WorkFolder.of({f"{HIDDEN}run.py": run, f"{HIDDEN}inputs.json": inputs, **tests}),
        check=CHECK,
        reference=made,
    )


def _with_bugs(rng: Random, level: int) -> Reference:
    task = buggy(rng, level)
    failing = tuple(sorted({place for places in task.goals for place in places}))
    return Reference(level, task.difficulty, task.parts, task.bugs, (), task.tests, failing)


def _with_gaps(rng: Random, level: int) -> Reference | None:
    """Return a program without some parts, half as many as it would have bugs, each with tests that fail
    where it alone is lacking; None where such were not found."""
    count = BUGS[level - 1]
    wanted = work_at(level, USUAL_WORK) / count
    parts = commands.drawn(rng, wanted) if level >= _COMMANDS_FROM else numbers.drawn(rng, wanted)
    family = family_of(parts)
    needed = {need for part in parts for need in family.kinds[part.name].get("needs", ())}
    # the first part of a program with commands, and the last of one about numbers, is its frame
    inner = range(1, len(parts)) if family is commands.FAMILY else range(len(parts) - 1)
    free = [at for at in inner if parts[at].name not in needed]
    if len(free) < (lack := max(1, count // 2)) or len(parts) < lack + 2:
        return None
    lacking = tuple(sorted(rng.sample(free, lack)))
    lines = list(dict.fromkeys([family.line(rng, parts) for _ in range(_INPUTS)]))
    right = [*zip(lines, printed(lines, parts), strict=True)]
    tests: dict[str, str] = {}
    for gaps in [*[(at,) for at in lacking], ()]:  # tests of each part, then those that pass from the start
        before = printed(lines, parts, (), gaps or lacking)
        fails = [not same_output(old, expected) for old, (_, expected) in zip(before, right, strict=True)]
        telling = [test for test, failed in zip(right, fails, strict=True) if failed == bool(gaps)]
        telling = [test for test in telling if test[1] != RAISED and test[0] not in tests]
        if not telling:
            return None
        tests |= dict(telling[:_KEPT])
    before = printed([*tests], parts, (), lacking)
    wrong = [not same_output(old, expected) for old, expected in zip(before, tests.values(), strict=True)]
    failing = tuple([at for at, failed in enumerate(wrong) if failed])
    hard = difficulty(work=effort(family.program(parts)) * count, usual_work=USUAL_WORK)
    return Reference(level, hard, parts, (), lacking, tuple(tests.items()), failing)


def _examples(rng: Random, made: Reference) -> list[Test]:
    """Return inputs that no hidden test has, with what is to be printed: first some that fail, then some that
    pass; none where there are not enough."""
    known = dict(made.tests)
    lines = dict.fromkeys([family_of(made.parts).line(rng, made.parts) for _ in range(_INPUTS)])
    given = [line for line in lines if line not in known]
    right, before = printed(given, made.parts), printed(given, made.parts, made.bugs, made.lacking)
    sorts: tuple[list[Test], list[Test]] = ([], [])
    for line, expected, old in zip(given, right, before, strict=True):
        if expected != RAISED:
            sorts[same_output(old, expected)].append((line, expected))
    return [test for some in sorts for test in some[:_SHOWN]] if all(sorts) else []


# ------------------------------------------------------------------------------------------------ modules


def package(
    parts: Sequence[DrawnPart], bugs: Sequence[SlotBug] = (), lacking: Collection[int] = ()
) -> dict[str, str]:
    """Return the modules of a program by path, with these bugs and without these parts, `main.py` last."""
    family = family_of(parts)
    texts = dict(enumerate(written(parts, family.kinds, bugs)))
    left = [at for at in texts if at not in lacking]
    size = -(-len(parts) // min(_MODULES, max(2, len(parts) // 2)))
    if family is commands.FAMILY:
        head, _, foot = commands.FAMILY.framed([parts[at] for at in left], ["\0"]).partition("\0")
        texts[0] = head + texts[0]
    else:
        foot = f"{numbers.READ['plain']}\n"
        foot += "\n".join([f"numbers = {parts[at].name}(numbers)" for at in left])
        texts = {
            at: f"def {parts[at].name}(numbers):\n{indent(text, '    ')}\n    return numbers"
            for at, text in texts.items()
        }
    modules = {
        f"program/{parts[at].name}.py": "\n\n\n".join(
            [texts[part] for part in left if at <= part < at + size]
        )
        for at in range(0, len(parts), size)
    }
    modules |= {"main.py": foot.strip()}
    defined: dict[str, list[str]] = {}
    for path, text in modules.items():
        words, own = {*re.findall(r"\w+", text)}, _DEFINED.findall(text)
        imports = [
            f"from {module} import {', '.join(used)}\n"
            for module, names in defined.items()
            if (used := [name for name in names if name in words and name not in own])
        ]
        defined[path.removesuffix(".py").replace("/", ".")] = own
        modules[path] = "".join(imports) + "\n\n" * bool(imports) + text + "\n"
    return {path: text for path, text in modules.items() if text.strip()}


def printed(
    inputs: Sequence[str],
    parts: Sequence[DrawnPart],
    bugs: Sequence[SlotBug] = (),
    lacking: Collection[int] = (),
) -> list[str]:
    """Return what such a program prints for each input: its modules, one after the other, run as one."""
    modules = package(parts, bugs, lacking).values()
    return outputs("\n\n".join([_IMPORT.sub("", text) for text in modules]), inputs)
