"""Files of a git repository at a commit, as git stores them.

Nothing of the repository is run or obeyed: no hook, filter, attribute, alias or remote, for only listings and
objects are read. Submodules are left out, and links too, but for those to a file of the same commit: they
become a copy of it. So are paths that `checked_path` refuses.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from typing import NamedTuple

from peerage.sandbox.folder import WorkFolder, checked_path, digest_of

_SAFE = ("-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_LINK, _EXECUTABLE, _MODULE, _NONE = "120000", "100755", "160000", "000000"
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def folder_at(repo: str, base: Path, commit: str, only: Sequence[str] = ()) -> WorkFolder:
    """Return the folder that a repository (below `base` or absolute) holds at a commit, branch or tag.

    Raises ValueError, in words, where there is none.
    """
    whole = _whole(base / repo, commit)
    digest = digest_of(listing_at(base / repo, whole, only))
    return WorkFolder(digest, repo=repo, commit=whole, only=tuple(only))


class CommitChange(NamedTuple):
    """A commit with one `parent` (whole hashes): its message, and the paths of files that it wrote, and of
    those that it removed."""

    commit: str
    parent: str
    message: str
    written: list[str]
    removed: list[str]


def newest_changes(repo: Path) -> Iterator[CommitChange]:
    """Yield what the commits of the current branch changed, the newest first, but for first and merging ones.
    Raises ValueError, in words, where there are none."""
    words = ("rev-list", "--no-merges", "--min-parents=1", "HEAD")
    for commit in _git(repo, *words, commit="HEAD").decode().split():
        yield change_at(repo, commit)


def change_at(repo: Path, commit: str) -> CommitChange:
    """Return what a commit changed. Raises ValueError, in words, where there is none, and for a first commit
    or one that merges."""
    whole = _whole(repo, commit)
    head, _, message = _git(repo, "cat-file", "commit", whole, commit=commit).partition(b"\n\n")
    parents = [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]
    if len(parents) != 1:
        kind = "merges others" if parents else "is the first of its repository"
        raise ValueError(f"commit {commit[:80]} {kind}; name one with one parent, from which work can begin")
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-relative", parents[0], whole)
    listed = _git(repo, *words, commit=commit).split(b"\0")[:-1]
    change = CommitChange(whole, parents[0], message.decode("utf-8", "replace"), [], [])
    for about, raw in zip(listed[::2], listed[1::2], strict=True):
        before, after = about[1:].decode().split()[:2]
        if usable(path := os.fsdecode(raw)) and _MODULE not in (before, after):
            (change.removed if after == _NONE else change.written).append(path)
    return change


def shallow(repo: Path) -> str:
    """Return what to do about a clone that lacks earlier commits, in words; empty of any other."""
    with _started(repo, "rev-parse", "--is-shallow-repository") as git:
        is_shallow = git.communicate()[0].strip() == b"true"
    return "it is a shallow clone, which `git fetch --unshallow` completes" if is_shallow else ""


def listing_at(repo: Path, commit: str, only: Sequence[str] = ()) -> Iterator[tuple[str, bool, str]]:
    """The files of a commit: path, whether it may be executed, and the name that git has for its bytes.

    Raises ValueError, in words, where they cannot be had.
    """
    if not _HASH.fullmatch(commit):
        raise ValueError(
            f"{commit[:80]!r} is no commit; write its whole hash, as `git rev-parse HEAD` prints it"
        )
    entries = _entries(repo, commit).copy()
    wanted = {path.rstrip("/") for path in only}
    for path in wanted - entries.keys():
        if not any(name.startswith(f"{path}/") for name in entries):
            raise ValueError(f"{repo} has no {path!r} at commit {commit[:12]}")
    links = [path for path, (mode, _) in entries.items() if mode == _LINK]
    targets = _contents(repo, [entries[path][1] for path in links])
    for path, target in zip(links, targets, strict=True):
        entries[path] = entries.get(normpath(join(dirname(path), os.fsdecode(target))), (_LINK, ""))
    return (
        (path, mode == _EXECUTABLE, name)
        for path, (mode, name) in entries.items()
        if mode != _LINK and (not wanted or wanted & {path, *map(str, PurePosixPath(path).parents)})
    )


def files_at(repo: Path, commit: str, only: Sequence[str] = ()) -> Iterator[tuple[str, bool, bytes]]:
    """The files of a commit: path, whether it may be executed, and bytes. Raises ValueError."""
    listing = [*listing_at(repo, commit, only)]
    contents = _contents(repo, [name for _, _, name in listing])
    for (path, executable, _), content in zip(listing, contents, strict=True):
        yield path, executable, content


def _whole(repo: Path, commit: str) -> str:
    """Return the whole hash of a commit, branch or tag."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    return _git(repo, *words, commit=commit).decode().strip()


@lru_cache(maxsize=2)
def _entries(repo: Path, commit: str) -> dict[str, tuple[str, str]]:
    """Return the mode and the number of each file of a commit, by its path."""
    listed = _git(repo, "ls-tree", "-r", "-z", "--full-tree", commit, commit=commit)
    entries: dict[str, tuple[str, str]] = {}
    for line in listed.split(b"\0")[:-1]:
        about, _, raw = line.partition(b"\t")
        mode, kind, number = about.decode().split()
        if kind == "blob" and usable(name := os.fsdecode(raw)):
            entries[name] = mode, number
    return entries


@cache
def places_of(repo: Path) -> frozenset[str]:
    """Return where a repository's commits and files lie: its folder, its worktrees, those whose objects it
    borrows."""
    about = _git(repo, "count-objects", "-v", commit="HEAD").splitlines()
    found = set[str]()
    for place in (str(repo), *[os.fsdecode(line[11:]) for line in about if line.startswith(b"alternate: ")]):
        found.add(place)
        with suppress(ValueError):  # objects without a repository
            trees = _git(Path(place), "worktree", "list", "--porcelain", commit="HEAD").splitlines()
            found |= {os.fsdecode(line[9:]) for line in trees if line.startswith(b"worktree ")}
            common = _git(Path(place), "rev-parse", "--git-common-dir", commit="HEAD")
            found.add(join(place, os.fsdecode(common).strip()))
    return frozenset(found)


def usable(path: str) -> bool:
    """Return whether a folder to work in can hold a file there; see `checked_path`."""
    try:
        return bool(checked_path(path))
    except ValueError:
        return False


def _contents(repo: Path, numbers: Iterable[str]) -> Iterator[bytes]:
    """The bytes of objects, one at a time."""
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{number}\n" for number in numbers).encode())
        asked.seek(0)
        with _started(repo, "cat-file", "--batch", stdin=asked.fileno()) as git:
            assert git.stdout is not None
            while head := git.stdout.readline():
                words = head.split()
                if len(words) != 3:
                    git.kill()
                    raise ValueError(f"{repo} lacks an object of this commit: {os.fsdecode(head).strip()}")
                yield git.stdout.read(int(words[2]))
                git.stdout.read(1)


def _git(repo: Path, *words: str, commit: str) -> bytes:
    with _started(repo, *words) as git:
        output, complaint = git.communicate()
    if git.returncode != 0:
        why = shallow(repo) or "".join(os.fsdecode(complaint).strip().splitlines()[-1:])
        raise ValueError(
            f"{repo} has no commit {commit[:80]!r}, or is no git repository; fetch it there, or name another"
            f"{why and f' ({why})'}"
        )
    return output


def _started(repo: Path, *words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.Popen(
            ["git", *_SAFE, "-C", str(repo), *words],
            env={**kept, **_ENVIRONMENT},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if words[0] != "cat-file" else subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise ValueError("git is not installed here; a task with a `repo` needs it") from None
