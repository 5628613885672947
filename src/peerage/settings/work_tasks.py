"""The owner's tasks of a workshop, read from folders and from past commits of a repository.

tasks: [{folder: todo, statement: "Add --done.", tests: todo-tests, command: python -m pytest -q}]
tasks: {repo: ., commits: [4f2c81d, 09aa3e1], command: python -m pytest -q}
tasks: {repo: ., command: "python -m pytest -q {tests}"}       # the newest eight that changed tests, too
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from peerage.games.workshop.diffs import steers
from peerage.games.workshop.tasks import TEST_NAMES, runnable
from peerage.sandbox.folder import File, WorkFolder
from peerage.sandbox.native.places import IGNORED
from peerage.sandbox.native.repositories import (
    CommitChange,
    change_at,
    folder_at,
    listing_at,
    newest_changes,
    shallow,
)
from peerage.settings.source import SettingsError
from peerage.values.figures import suggest

TESTS = ("test/*", "tests/*", "*/test/*", "*/tests/*", *TEST_NAMES)
"""Patterns of paths that are tests, where the owner names none."""
WORKSHOP = "workshop"
MOST_FILES, MOST_BYTES = 500, 1_000_000
"""Bounds of a folder that is named by its path: every fixture holds all of it."""
COMMITS, MOST_COMMITS = 8, 1_000
"""Commits that are tasks where the owner names none, and at most."""
_OWN = ("id", "statement", "folder", "files", "tests", "command", "setup")
_PAST = ("repo", "commits", "tests", "command", "setup", "issues")


def work_tasks(stated: Any, base: Path, where: str) -> list[dict[str, Any]]:
    """Return tasks as `WorkTask` has them, of those that an owner wrote at the place `where`; their paths
    begin at `base`. Raises SettingsError with all that is wrong."""
    tasks: list[dict[str, Any]] = []
    wrong: list[str] = []
    for at, task in enumerate(stated if isinstance(stated, list) else [stated], 1):
        place = f"{where}, task {at}" if isinstance(stated, list) else where
        try:
            if not isinstance(task, dict):
                raise ValueError(f"found {task!r:.60}; expected `folder` or `files`, or `repo` and `commits`")
            tasks += _past(task, base) if "repo" in task else [_own(task, base, str(at))]
        except (ValueError, OSError) as error:
            wrong.append(f"{place}: {error}")
    if wrong:
        raise SettingsError("\n".join(wrong))
    return tasks


def _checked(task: Mapping[str, Any], keys: Collection[str], needed: Collection[str]) -> None:
    for key in task:
        if key not in keys:
            raise ValueError(f"{key!r} is not known{suggest(str(key), keys)}")
    for key in ("statement", "command", "setup", "repo"):
        if not isinstance(task.get(key, ""), str):
            raise ValueError(f"{key}: found {task[key]!r:.60}; expected text")
    for key in needed:
        if not task.get(key):
            raise ValueError(f"`{key}` is missing")


def _own(task: Mapping[str, Any], base: Path, name: str) -> dict[str, Any]:
    """Return a task whose files stand in a folder, or are written out."""
    _checked(task, _OWN, ["statement", *["command"] * bool(task.get("tests"))])
    if ("folder" in task) == ("files" in task):
        raise ValueError("expected `folder: PATH` or `files: {PATH: TEXT}`, one of the two")
    stated = {key: task[key] for key in ("statement", "command", "setup") if key in task}
    tests = {"tests": _folder(task["tests"], base, hidden=True)} if task.get("tests") else {}
    for secret in (base, base / str(task.get("tests"))) if "folder" in task else ():
        if secret.resolve().is_relative_to((base / str(task["folder"])).resolve()):
            raise ValueError(f"contestants would get {secret} with the folder {task['folder']}; move either")
    folder = _folder(task["files"] if "files" in task else task["folder"], base)
    return {"id": str(task.get("id", name)), **stated, "folder": folder, **tests}


def _folder(stated: object, base: Path, hidden: bool = False) -> Any:
    """Return the files of a folder by its path, or those that are written out. What shall be `hidden` has to
    lie in the arena's folder."""
    if isinstance(stated, dict):
        texts = {str(path): text for path, text in stated.items()}
        if wrong := [path for path, text in texts.items() if not isinstance(text, str)]:
            raise ValueError(f"the file {wrong[0]!r} is no text")
        return msgspec.to_builtins(WorkFolder.of(texts))
    top = base / str(stated)
    if not top.is_dir():
        raise ValueError(f"{top} is no folder; a path begins at the arena's folder")
    if hidden and not top.resolve().is_relative_to(base.resolve()):
        raise ValueError(f"contestants could read the tests in {top}; move them into the arena's folder")
    files: dict[str, str | File] = {}
    size = 0
    for path in sorted(_below(top)):
        size += path.stat().st_size
        if len(files) >= MOST_FILES or size > MOST_BYTES:
            raise ValueError(
                f"{top} holds more than {MOST_FILES} files or {MOST_BYTES:,} bytes; put it into a git "
                "repository, and name that as `repo`"
            )
        files[path.relative_to(top).as_posix()] = File.of(path.read_bytes(), os.access(path, os.X_OK))
    return msgspec.to_builtins(WorkFolder.of(files))


def _below(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = Path(folder, name)
            known = {*path.relative_to(top).parts}.isdisjoint(IGNORED) and path.suffix != ".pyc"
            if known and path.is_file() and not path.is_symlink():
                yield path


def _past(task: Mapping[str, Any], base: Path) -> Iterator[dict[str, Any]]:
    """Yield a task for each commit: what its parent holds, and the commit's tests as hidden ones."""
    _checked(task, _PAST, ("command",))
    repo, top, issues = task["repo"], base / task["repo"], task.get("issues", {})
    if not isinstance(issues, dict):
        raise ValueError(f"issues: found {issues!r:.60}; expected `{{COMMIT: TEXT}}`")
    commits, patterns = task.get("commits", COMMITS), [*map(str, _list(task.get("tests", TESTS)))]
    if any(isinstance(name, float) for name in (*_list(commits), *issues)):
        raise ValueError('a commit whose hash looks like a number stands in quotes, such as "12e4567"')

    def tests(paths: Iterable[str]) -> list[str]:
        return [path for path in paths if any(fnmatchcase(path, each) for each in patterns)]

    changes = {change.commit: change for change in _changes(commits, top, tests)}
    texts = {change_at(top, str(name)).commit: str(text) for name, text in issues.items()}
    if stray := texts.keys() - changes:
        raise ValueError(f"issues: {stray.pop()[:10]} is not among the commits of this task")
    for change in changes.values():
        name, written = change.commit[:10], tests(change.written)
        if not written:
            raise ValueError(
                f"commit {name} changes no file that `tests` matches, so nothing would tell whether an "
                f"issue is solved; name another commit, or `tests`: {', '.join(patterns)}"
            )
        if not (statement := texts.get(change.commit, change.message).strip()):
            raise ValueError(f"commit {name} has no message; say what to do by `issues: {{{name}: TEXT}}`")
        paths = [path for path, *_ in listing_at(top, change.commit)]
        hidden, gone = ({*filter(steers, each), *tests(each)} for each in (paths, change.removed))
        folders = {
            "tests": folder_at(repo, base, change.commit, sorted(hidden)),
            "solved": folder_at(repo, base, change.commit),
            "folder": folder_at(repo, base, change.parent),
        }
        yield {
            "id": name,
            "statement": statement,
            **{key: msgspec.to_builtins(folder) for key, folder in folders.items()},
            "gone": sorted(gone),
            "command": task["command"].replace("{tests}", shlex.join(runnable(written))),
            **{key: task[key] for key in ("setup",) if key in task},
        }


def _list(stated: Any) -> list[Any]:
    return [*stated] if isinstance(stated, (list, tuple)) else [stated]


def _changes(commits: Any, repo: Path, tests: Callable[[Iterable[str]], list[str]]) -> Iterable[CommitChange]:
    """Return the commits that are named; or, of a number, at most so many of the newest that have a message
    and changed `tests` and something else."""
    if type(commits) is not int or commits > MOST_COMMITS:  # a hash may be all digits
        return [change_at(repo, str(commit)) for commit in _list(commits)]
    found = (
        change
        for change in newest_changes(repo)
        if 0 < len(tests(change.written)) < len(change.written) and change.message.strip()
    )
    if not (changes := [*islice(found, max(commits, 0))]):
        why = shallow(repo) or "name `commits`, or the `tests`"
        raise ValueError(f"found no commit in {repo} that changes tests and something else; {why}")
    return changes
