"""Folders to work in, each for one seat or one command, with the launcher of their jail (see `locked`).

All of a process lie below one private folder in the system's folder for temporary files.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

from peerage.sandbox.folder import File, Patch, WorkFolder, checked_path, digest_of, patch_text
from peerage.sandbox.jail import supported
from peerage.sandbox.native.confined import available, launcher
from peerage.sandbox.native.repositories import files_at, usable

Network: TypeAlias = Literal["none", "gateway", "all"]

MOST_BYTES, MOST_FILES = 2 * 2**30, 200_000
"""What a place may hold before its programs are killed."""
MOST_PATCH, MOST_CHANGED = 150_000, 200
"""Characters of a patch as JSON, and its files."""
_TOO_LARGE = (
    f"the changes are too large to keep: at most {MOST_CHANGED} files, and {MOST_PATCH:,} characters as "
    "JSON, were expected"
)
IGNORED = (
    *(".git", "__pycache__", ".pytest_cache", ".mypy_cache", "node_modules", ".venv", ".hypothesis"),
    *(".ruff_cache", ".tox"),
)
"""Folders that belong to no patch, and `*.pyc`."""
SECRET = (
    *("/dev", "/run", "/tmp", "/var/tmp", "/var/run", "/etc/shadow", "/etc/gshadow", "/etc/ssh"),
    *("/etc/ssl/private", "/var/spool", "/root/.ssh"),
)
"""Hidden wherever it is there, with everything in the home that starts with a dot. Sockets of services lie
there too: a file that cannot be found cannot be connected to."""
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
PROGRAMS = (
    *(
        ".local/bin",
        ".local/lib",
        ".local/pipx",
        ".cargo/bin",
        ".opencode/bin",
        ".codex/bin",
        ".claude/local",
    ),
    *(f".local/share/{name}" for name in ("uv", "pipx", "pnpm", "fnm", "mise", "claude", "cursor-agent")),
    *(".nvm", ".pyenv", ".rbenv", ".asdf", ".volta", ".nodenv", ".bun", ".deno", ".rustup", ".sdkman"),
    *(".npm", ".npm-global", ".npm-packages", ".yarn", ".linuxbrew", ".juliaup", ".ghcup", ".dotnet"),
)
"""Below the home, programs and what they need; of `.cargo`, say, the keys remain hidden."""

if sys.platform != "win32":
    import fcntl
    import pwd

_NAME, _LOCK = "peerage-work-", "lock"


class PatchTooLarge(ValueError):
    """A folder holds more changes than a patch may; the message says so in words."""


class WorkPlace:
    """A folder of its own with `work`, `home` and `tmp`; `remove` it in the end. Blocks: use a thread."""

    def __init__(self) -> None:
        self.path = _root() / f"{next(_numbers):06}"
        self.work, self.home, self.tmp = (self.path / name for name in ("work", "home", "tmp"))
        for folder in (self.path, self.work, self.home, self.tmp):
            folder.mkdir(mode=0o700)
        self._repositories: list[Path] = []

    def fill(self, folder: WorkFolder, base: Path) -> None:
        """Write the files of a task; `base` is the arena's folder, where a path of a repository begins.

        They win over what is there. Raises ValueError, in words, where they are not those that are meant, or
        cannot be had.
        """
        if not folder.repo:
            listing = [(path, file.executable, file.content) for path, file in folder.files.items()]
            if digest_of(listing) != folder.digest:
                raise ValueError("the files of a task are not those that its digest means")
            self.lay(folder.files)
            return
        self._repositories.append(base / folder.repo)
        tree = _unpacked(folder, base)
        if next(self.work.iterdir(), None) is None:
            shutil.copytree(tree, self.work, dirs_exist_ok=True)
            return
        for path, status, handle in _regular(tree):
            self.lay({path: File.of(_read(handle), bool(status.st_mode & stat.S_IXUSR))})

    def lay(self, patch: Patch) -> None:
        """Make files as a patch has them. What is in their way goes, whatever it is."""
        for path, file in sorted(patch.items()):
            parts = checked_path(path).split("/")
            target = self.work
            for part in parts[:-1]:
                target /= part
                if not stat.S_ISDIR(_mode(target)):
                    target.unlink(missing_ok=True)
                    target.mkdir()
            target /= parts[-1]
            if stat.S_ISDIR(_mode(target)):
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
            if file is not None:
                target.write_bytes(file.content)
                target.chmod(0o755 if file.executable else 0o644)

    def patch(self, folder: WorkFolder, base: Path, *, without: Collection[str] = ()) -> Patch:
        """Return what differs from `folder`, but for paths `without`. Links, devices, sockets and pipes are
        no files: they are neither followed nor kept. Raises PatchTooLarge."""
        before = _Before(folder, base)
        found: dict[str, File | None] = {}
        there: set[str] = set()
        room = MOST_PATCH
        for path, status, handle in _regular(self.work):
            there.add(path)
            executable = bool(status.st_mode & stat.S_IXUSR)
            if path in without or before.same(path, executable, status.st_size, handle):
                continue
            room -= status.st_size
            if room < 0:
                raise PatchTooLarge(f"{_TOO_LARGE}; up to {path} they are larger")
            os.lseek(handle, 0, os.SEEK_SET)
            found[path] = File.of(_read(handle, room), executable)
        gone = {*before.paths()} - there - {*without}
        found |= {path: None for path in gone if not _ignored(path)}
        if len(found) > MOST_CHANGED or len(patch_text(found)) > MOST_PATCH:
            raise PatchTooLarge(_TOO_LARGE)
        return dict(sorted(found.items()))

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return variables with which programs keep things in this place. PATH ends with Python's folder."""
        home = str(self.home)
        own = {"HOME": home, "TMPDIR": str(self.tmp), "PYTHONDONTWRITEBYTECODE": "1"}
        own |= {
            f"XDG_{name}_HOME": f"{home}/.{name.lower()}" for name in ("CONFIG", "CACHE", "DATA", "STATE")
        }
        own["PATH"] = os.pathsep.join([env.get("PATH", os.defpath), os.path.dirname(sys.executable)])
        return {"LANG": "C.UTF-8", **env, **own}

    def launcher(
        self,
        hidden: Iterable[Path] = (),
        *,
        words: Sequence[str] = (),
        network: Network = "none",
        gateway: tuple[int, Path] | None = None,
        report: int = 0,
        most: tuple[int, int] = (MOST_BYTES, MOST_FILES),
    ) -> list[str]:
        """Return the words to put before those of a program, to run it with `work` as its current folder and
        what `environment` returns.

        It sees neither what is `hidden` (name the arena's folder, and the repositories of tasks) nor any
        other place; of the program's own `words`, files that exist are shown wherever they lie. With the
        network `gateway`, port 127.0.0.1:PORT leads to that Unix socket, as `gateway` names them. `report` is
        a descriptor that the process inherits, see `locked.Ended`; `most` are the bytes and files of a place.
        """
        secret = {*SECRET, tempfile.gettempdir()}
        shown = {*DEVICES, sys.prefix, sys.base_prefix, "/etc/resolv.conf", "/run/current-system"}
        for home in _homes():
            programs = {os.path.join(home, name) for name in PROGRAMS}
            with suppress(OSError):
                dotted = {os.path.join(home, name) for name in os.listdir(home) if name.startswith(".")}
                secret |= dotted - programs
            shown |= programs
        secret |= {os.path.abspath(path) for path in (*hidden, *self._repositories)}
        shown |= _own_files(words, secret)
        whole = {os.path.realpath(path) for path in secret} - {"/"}
        port, socket = gateway or (0, "")
        options = {
            "parent": os.getpid(),
            "hidden": sorted(whole),
            "shown": sorted({os.path.realpath(path) for path in shown if os.path.exists(path)} - whole),
            "place": str(self.path),
            "bytes": most[0],
            "files": most[1],
            "network": network,
            "port": port,
            "gateway": str(socket),
            "report": report,
        }
        # Not among its words, which everybody can read: what is hidden has telling names.
        file = self.path.with_suffix(f".{next(_numbers)}.json")
        file.write_text(json.dumps(options))
        return [*launcher("locked", "-I", "-S"), str(file)]

    def without_its_path(self, text: str) -> str:
        """Return a text with `/work`, `/home` and `/tmp` for the folders of this place, as of any other."""
        return text.replace(str(self.path), "")

    def remove(self) -> None:
        """Remove the place with all that is in it."""
        _remove(self.path)


def _homes() -> set[str]:
    """The home folders of this user: the one that is stated, and the one on record."""
    with suppress(KeyError):
        return {os.path.expanduser("~"), pwd.getpwuid(os.getuid()).pw_dir} - {"/"}
    return {os.path.expanduser("~")} - {"/"}


def _own_files(words: Sequence[str], hidden: Iterable[str]) -> set[str]:
    """The files that a command names, and the folder where its program really lies, as long as that is none
    that is hidden as a whole."""
    found = {os.path.abspath(word) for word in words if os.path.isfile(word)}
    program = shutil.which(words[0]) if words else None
    if program:
        folder = os.path.dirname(os.path.realpath(program))
        whole = [os.path.realpath(path) for path in hidden]
        above = any(path == folder or path.startswith(f"{folder}/") for path in whole)
        found |= {os.path.abspath(program), os.path.realpath(program)} | (set() if above else {folder})
    return found


@cache
def lacking() -> str:
    """Return in words what this system lacks for the jail of agents and commands; empty where it has all.

    It runs a program there to know, once.
    """
    if not supported():
        return "agents and commands work in a jail of Linux; use Linux, a container or a virtual machine"
    if not available():
        return "the kernel has no Landlock: use Linux 5.13 or newer, with `landlock` in its parameter `lsm`"
    place = WorkPlace()
    try:
        tried = subprocess.run([*place.launcher(), "true"], cwd=place.work, capture_output=True, text=True)
    finally:
        place.remove()
    return (
        tried.stderr.strip() or f"a jail ended with exit code {tried.returncode}" if tried.returncode else ""
    )


def paths_of(folder: WorkFolder, base: Path) -> list[str]:
    """Return the paths of a folder's files."""
    return _Before(folder, base).paths()


class _Before:
    """The files of a folder as `WorkPlace.fill` writes them, to tell what changed."""

    def __init__(self, folder: WorkFolder, base: Path) -> None:
        self._files = folder.files
        self._tree = _unpacked(folder, base) if folder.repo else None

    def paths(self) -> list[str]:
        if self._tree is None:
            return list(self._files)
        return [path for path, _, _ in _regular(self._tree)]

    def same(self, path: str, executable: bool, size: int, handle: int) -> bool:
        """Return whether it was there with these bytes, those of an open file."""
        if self._tree is None:
            was = self._files.get(path)
            alike = was is not None and was.executable == executable and len(was.content) == size
            return alike and was is not None and was.content == _read(handle)
        try:
            known = (self._tree / path).lstat()
        except OSError:
            return False
        if not stat.S_ISREG(known.st_mode) or known.st_size != size:
            return False
        changed_mode = bool(known.st_mode & stat.S_IXUSR) != executable
        return not changed_mode and (self._tree / path).read_bytes() == _read(handle)


def _regular(top: Path) -> Iterator[tuple[str, os.stat_result, int]]:
    """The files below a folder whose paths may be in a patch: path, status, and the open file.

    Every step is made from an open folder, so nobody can lead it elsewhere meanwhile.
    """
    handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield from _below(handle, "")
    finally:
        os.close(handle)


def _below(folder: int, above: str) -> Iterator[tuple[str, os.stat_result, int]]:
    for name in sorted(os.listdir(folder)):
        path = f"{above}{name}"
        if not usable(path) or _ignored(path):
            continue
        with suppress(OSError):
            status = os.lstat(name, dir_fd=folder)
            if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
                continue
            handle = _opened(name, folder)
            try:
                now = os.fstat(handle)
                if stat.S_ISDIR(now.st_mode):
                    yield from _below(handle, f"{path}/")
                elif stat.S_ISREG(now.st_mode):
                    yield path, status, handle
            finally:
                os.close(handle)


def _opened(name: str, folder: int) -> int:
    """Open a file or folder of ours to read, also where its permissions were taken away."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        place = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{place}", 0o700)
        finally:
            os.close(place)
        return os.open(name, flags, dir_fd=folder)


def _read(handle: int, room: int = -1) -> bytes:
    """The bytes of an open file, or more than `room` of them: it may grow meanwhile."""
    with os.fdopen(os.dup(handle), "rb") as file:
        return file.read(room + 1 if room >= 0 else -1)


def _ignored(path: str) -> bool:
    return path.endswith(".pyc") or not {*path.split("/")}.isdisjoint(IGNORED)


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


_numbers = count(1)
_unpacking = Lock()


def _unpacked(folder: WorkFolder, base: Path) -> Path:
    """Return the files of a repository at its commit, unpacked once for all places of this process.

    Raises ValueError where they are not those that the folder means.
    """
    with _unpacking:
        tree = _root() / f"tree-{folder.digest[:64]}"
        if tree.exists():
            return tree
        half = tree.with_suffix(".half")
        half.mkdir(mode=0o700)
        try:
            digest = digest_of(_written(files_at(base / folder.repo, folder.commit, folder.only), half))
            if digest != folder.digest:
                raise ValueError(
                    f"{base / folder.repo} holds other files at commit {folder.commit[:12]} than the task "
                    f"means: their digest is {digest[:12]}…, {folder.digest[:12]}… was expected"
                )
            return half.rename(tree)
        finally:
            _remove(half)


def _written(files: Iterable[tuple[str, bool, bytes]], top: Path) -> Iterator[tuple[str, bool, bytes]]:
    for path, executable, content in files:
        target = top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if executable else 0o644)
        yield path, executable, content


def _root() -> Path:
    return _root_of(os.getpid())


@cache
def _root_of(process: int) -> Path:
    """The private folder of this process. Those of processes that were killed go when the next one starts."""
    for other in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with suppress(OSError), open(other / _LOCK) as held:
            if other.stat().st_uid == os.getuid():
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(other)
    root = Path(tempfile.mkdtemp(prefix=_NAME))
    lock = os.open(root / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)  # held until this process ends, however it does
    atexit.register(_remove, root, process)
    return root


def _remove(path: Path, process: int = 0) -> None:
    if process in (0, os.getpid()) and path.exists():
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():  # what is too deep, or may not be read; both of these follow no link
            for words in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
                subprocess.run([*words, "--", str(path)], stderr=subprocess.DEVNULL)
