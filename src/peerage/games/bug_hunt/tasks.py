"""Hunts: programs with bugs, and the tests that tell which of the bugs are there. Pure.

`programs.toml` holds correct programs. `bugs.json` holds, for each of them, tests and hunts: up to
three bugs with, for each bug, its witnesses. A witness is a test that fails in every version of the program
that has the bug and passes in every version that has not, whatever the other bugs; a guard passes in all
versions. `python -m tests.games.make_bug_hunts` made the file by running all versions of every hunt,
and a test runs them all again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import TypeAlias

import msgspec
from msgspec import Struct

from peerage.games.bug_hunt.mutations import Bug, applied
from peerage.games.run_tests import Test

Edit: TypeAlias = tuple[str, int, int, str]
"""A `Bug` as it is stored: kind, start, end, text."""

MOST_BUGS = 3


class Base(Struct, frozen=True):
    """A correct program: what it does, the inputs it is tried on, its text."""

    about: str
    inputs: tuple[str, ...]
    source: str


class Hunt(Struct, frozen=True):
    """Bugs with their witnesses, bug by bug, and the guards: places in the program's list of tests."""

    bugs: tuple[Edit, ...]
    witnesses: tuple[tuple[int, ...], ...]
    guards: tuple[int, ...]


class Ground(Struct, frozen=True):
    """One program's tests and hunts."""

    tests: tuple[Test, ...]
    hunts: tuple[Hunt, ...]


class BuggyTask(Struct, frozen=True):
    """A task as it is embedded in a fixture. `witnesses` are places in `tests`, bug by bug; the
    others guard."""

    program: str
    statement: str
    source: str
    bugs: tuple[Edit, ...]
    tests: tuple[Test, ...]
    witnesses: tuple[tuple[int, ...], ...]


@cache
def bases() -> Mapping[str, Base]:
    """Every correct program by name."""
    found = tomllib.loads(files("peerage.games.bug_hunt").joinpath("programs.toml").read_text("utf-8"))
    return {
        name: Base(one["about"], tuple(one["inputs"]), one["source"].strip() + "\n")
        for name, one in found.items()
    }


@cache
def grounds() -> Mapping[str, Ground]:
    """Tests and proven hunts of every program, by its name."""
    body = files("peerage.games.bug_hunt").joinpath("bugs.json").read_bytes()
    return msgspec.json.decode(body, type=dict[str, Ground])


def buggy(rng: Random, bugs: int) -> BuggyTask:
    """Draw a program, one of its hunts and so many of that hunt's bugs, or all when it has fewer."""
    name = rng.choice(sorted(grounds()))
    ground = grounds()[name]
    hunt = rng.choice(ground.hunts)
    chosen = sorted(rng.sample(range(len(hunt.bugs)), min(bugs, len(hunt.bugs))))
    kept = sorted({*hunt.guards, *(test for witnesses in hunt.witnesses for test in witnesses)})
    edits = tuple(hunt.bugs[at] for at in chosen)
    return BuggyTask(
        name,
        bases()[name].about,
        applied(bases()[name].source, [Bug(*edit) for edit in edits]),
        edits,
        tuple(ground.tests[test] for test in kept),
        tuple(tuple(kept.index(test) for test in hunt.witnesses[at]) for at in chosen),
    )


def repairs(task: BuggyTask) -> list[str] | None:
    """Programs with ever fewer of a task's bugs fixed, the correct one first; None for an unknown program."""
    if task.program not in bases():
        return None
    edits = [Bug(*edit) for edit in task.bugs]
    return [applied(bases()[task.program].source, edits[len(edits) - left :]) for left in range(len(edits))]
