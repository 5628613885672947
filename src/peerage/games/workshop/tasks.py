"""Tasks of workshops: the owner's as values, and small programs of several modules that are drawn. Pure.

A drawn program is one of `bug_hunt`, whose parts become modules of a package. It has proven bugs, or lacks
parts that are to be added. Only inputs of hidden tests reach a jail: what is to be printed stays here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
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
_COMMANDS_FROM = 5
"""The first level whose programs keep balances; easier ones are about a list of numbers."""
_INPUTS, _KEPT, _SHOWN = 120, 3, 2
"""Inputs that are tried; of hidden tests those kept for each part to be added, and guards; of examples those
that fail at first, and those that pass."""
_MODULES = 5
_DEFINED = re.compile(r"^(?:def )?(\w+)(?: = |\()", re.MULTILINE)
_IMPORT = re.compile(r"^from .*\n+", re.MULTILINE)


class Reference(Struct, frozen=True):
    """What is known of a drawn task. `tests` are its hidden tests, `failing` the places of those that fail at
    first; `bugs` are wrong values of slots of `parts`, `lacking` the places of parts to be added."""

    level: int
    difficulty: float
    parts: tuple[DrawnPart, ...]
    bugs: tuple[SlotBug, ...]
    lacking: tuple[int, ...]
    tests: tuple[Test, ...]
    failing: tuple[int, ...]


class WorkTask(Struct, frozen=True, omit_defaults=True):
    """A task: what to do in a `folder`. Hidden `tests` are laid over what somebody made of it, and `command`
    tries them, after `setup`; contestants may run `check`. Without tests judges decide alone."""

    id: str
    statement: str
    folder: WorkFolder
    command: str = ""
    tests: WorkFolder | None = None
    setup: str = ""
    check: str = ""
    reference: Reference | None = None

    @property
    def hidden(self) -> Collection[str]:
        """Return the paths that are as the task has them, whatever a patch says."""
        return () if self.tests is None else self.tests.only or self.tests.files


def work_task(rng: Random, level: int) -> WorkTask:
    """Draw a task of a level, with bugs to cure or with parts to add."""
    while True:
        reference = _with_bugs(rng, level) if rng.random() < 0.5 else _with_gaps(rng, level)
        if reference is not None and (examples := _examples(rng, reference)):
            break
    parts, lacking = reference.parts, reference.lacking
    family = family_of(parts)
    lines = family.says(parts).split("\n")
    for place in lacking:
        lines[place - len(parts)] += " (NEW)"
    given, expected = examples[0]
    [printed] = outputs(flat(package(parts, reference.bugs, lacking)), [given])
    issue = toml(__package__, "issue")["add" if lacking else "cure"].format(
        count=len(lacking) or len(reference.bugs),
        says="\n".join(lines),
        given=indent(given, "    "),
        expected=indent(expected, "    "),
        printed=indent(printed, "    "),
    )
    own = {
        "README.md": family.says([part for at, part in enumerate(parts) if at not in lacking]) + "\n",
        "check.py": files(__package__).joinpath("check.txt").read_text("utf-8"),
        "examples.json": json.dumps(examples, indent=1) + "\n",
    }
    hidden = {
        f"{HIDDEN}run.py": files(__package__).joinpath("run.txt").read_text("utf-8"),
        f"{HIDDEN}inputs.json": json.dumps([given for given, _ in reference.tests]),
    }
    return WorkTask(
        id=f"level {level}",
        statement=issue,
        folder=WorkFolder.of(own | package(parts, reference.bugs, lacking)),
        command=f"python3 -I -S -B {HIDDEN}run.py",
        tests=WorkFolder.of(hidden | {name: own[name] for name in ("check.py", "examples.json")}),
        check=CHECK,
        reference=reference,
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
    first = 1 if family is commands.FAMILY else 0
    free = [at for at in range(first, len(parts) - 1 + first) if parts[at].name not in needed]
    if len(free) < (lack := max(1, count // 2)) or len(parts) < lack + 2:
        return None
    lacking = tuple(sorted(rng.sample(free, lack)))
    lines = list(dict.fromkeys([family.line(rng, parts) for _ in range(_INPUTS)]))
    right = outputs(flat(package(parts)), lines)
    chosen: dict[str, str] = {}
    for gaps in [*[(at,) for at in lacking], ()]:
        before = outputs(flat(package(parts, (), gaps or lacking)), lines)
        telling = [
            test
            for test, old in zip(zip(lines, right, strict=True), before, strict=True)
            if test[1] != RAISED and same_output(old, test[1]) != bool(gaps) and test[0] not in chosen
        ][:_KEPT]
        if not telling:
            return None
        chosen |= dict(telling)
    tests = tuple(chosen.items())
    before = outputs(flat(package(parts, (), lacking)), [*chosen])
    failing = tuple([at for at, old in enumerate(before) if not same_output(old, tests[at][1])])
    work = effort(family.program(parts)) * count
    hard = difficulty(work=work, usual_work=USUAL_WORK)
    return Reference(level, hard, parts, (), lacking, tests, failing)


def _examples(rng: Random, reference: Reference) -> list[Test]:
    """Return inputs that no hidden test has, with what is to be printed: first some that fail, then some that
    pass; none where there are not enough."""
    parts, known = reference.parts, {given for given, _ in reference.tests}
    lines = [family_of(parts).line(rng, parts) for _ in range(_INPUTS)]
    lines = [given for given in dict.fromkeys(lines) if given not in known]
    right = outputs(flat(package(parts)), lines)
    before = outputs(flat(package(parts, reference.bugs, reference.lacking)), lines)
    sorts: tuple[list[Test], list[Test]] = ([], [])
    for given, expected, old in zip(lines, right, before, strict=True):
        if expected != RAISED:
            sorts[same_output(old, expected)].append((given, expected))
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


def flat(modules: Mapping[str, str]) -> str:
    """Return a program's modules as one, which runs alike."""
    return "\n\n".join([_IMPORT.sub("", text) for text in modules.values()])
