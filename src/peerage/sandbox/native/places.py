"""Folders to work in, each for one seat or one command, with the launcher of their jail (see `locked`).

All of a process lie below one private folder in the system's folder for temporary files. These functions
block: call them in a thread.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock

from peerage.sandbox.folder import File, Patch, WorkFolder, checked_path, digest_of, listing_of, patch_text
from peerage.sandbox.jail import supported
from peerage.sandbox.native.confined import LockedOptions, available, launcher
from peerage.sandbox.native.repositories import files_at, listing_at, places_of, usable
from peerage.values.system_errors import SCARCE, reason

if sys.platform != "win32":
    import fcntl
    import pwd

MOST_BYTES, MOST_FILES = 2 * 2**30, 200_000
"""The most that a place holds before its programs are killed."""
MOST_PATCH, MOST_CHANGED = 150_000, 200
"""Characters of a patch as JSON, and its files."""
_TOO_LARGE = (
    f"the changes are too large to keep: at most {MOST_CHANGED} files, and {MOST_PATCH:,} characters as "
    "JSON, were expected"
)
IGNORED = (
    *(".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    *("node_modules", ".venv", ".tox"),
)
"""Files and folders that belong to no patch; `*.pyc` does not either."""
SECRET = (
    *("/dev", "/run", "/tmp", "/var/tmp", "/var/spool"),
    *("/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/ssl/private"),
)
"""Hidden wherever it exists, with everything in the home that starts with a dot."""
SHOWN = (
    *(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")),
    *("/etc/resolv.conf", "/run/current-system", sys.prefix, sys.base_prefix),
)
GENERATORS = Path(__file__).parents[2] / "games"
"""Our own games, whose parts hold what is right in the tasks that they draw."""
PROGRAMS = (
    *(".local/bin", ".local/lib", ".local/pipx", ".cargo/bin", ".opencode/bin", ".claude/local"),
    *(f".local/share/{name}" for name in ("pipx", "pnpm", "fnm", "mise", "claude", "cursor-agent")),
    *(".local/share/uv/python", ".local/share/uv/tools"),
    *(".nvm", ".pyenv", ".rbenv", ".asdf", ".volta", ".nodenv", ".bun", ".deno", ".rustup", ".sdkman"),
    *(".nix-profile", ".guix-profile", ".linuxbrew", ".juliaup", ".ghcup", ".yarn"),
    *(".npm", ".npm-global", ".npm-packages"),
    *(f".dotnet/{name}" for name in ("dotnet", "host", "packs", "sdk", "shared", "tools")),
)
"""Below the home, programs and what they need; the keys in `.cargo`, `.dotnet` and of uv remain hidden."""
_NAME, _LOCK = "peerage-work-", "lock"


class PatchTooLarge(ValueError):
    """A folder holds more changes than a patch may; the message says so in words."""


class WorkPlace:
    """A folder of its own with `work`, `home` and `tmp`; `remove` it in the end."""

    def __init__(self) -> None:
        self.path = _root() / f"{next(_numbers):06}"
        self.work, self.home, self.tmp = (self.path / name for name in ("work", "home", "tmp"))
        for folder in (self.path, self.work, self.home, self.tmp):
            folder.mkdir(mode=0o700)
        self._hidden = set[str]()  # repositories that it was filled from hold what comes after a commit, too

    def lay_out(self, folder: WorkFolder, base: Path, patch: Patch, overlay: WorkFolder | None) -> None:
        """Write the files of a folder, those of a patch over them, then those of `overlay`. Raises ValueError
        as `fill` does."""
        self.fill(folder, base)
        self.lay(patch)
        if overlay is not None:
            self.fill(overlay, base)

    def fill(self, folder: WorkFolder, base: Path) -> None:
        """Write the files of a task, which win over what is there; `base` is the arena's folder, where a path
        of a repository begins. Raises ValueError, in words, where they cannot be had or are not those that
        are meant."""
        if folder.repo:
            self._hidden |= places_of(base / folder.repo)
        tree = _unpacked(folder, base)
        if next(self.work.iterdir(), None) is None:
            shutil.copytree(tree, self.work, dirs_exist_ok=True)
        else:
            for path, executable, _, handle in _files(str(tree)):
                self.lay({path: File.of(_read(handle), executable)})

    def lay(self, patch: Patch) -> None:
        """Make files as a patch has them, while no program works there. What is in their way goes."""
        for path, file in sorted(patch.items(), key=lambda item: (item[1] is not None, item[0])):
            target = self.work
            if file is None and not os.path.lexists(target / checked_path(path)):
                continue
            for part in checked_path(path).split("/"):
                if target.is_symlink() or not target.is_dir():
                    target.unlink(missing_ok=True)
                    target.mkdir()
                target /= part
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            target.unlink(missing_ok=True)
            if file is not None:
                _write(target, file.executable, file.content)

    def patch(self, folder: WorkFolder, base: Path, *, without: Collection[str] = ()) -> Patch:
        """Return what differs from `folder`, but for paths `without`. Links, devices, sockets and pipes are
        no files: they are neither followed nor kept. Raises PatchTooLarge."""
        before = _unpacked(folder, base)
        changed: dict[str, File | None] = {path: None for path, *_ in _files(str(before))}
        room, more = MOST_PATCH, MOST_CHANGED
        for path, executable, size, handle in _files(str(self.work)):
            if path in changed and _same(before / path, executable, size, handle):
                del changed[path]
            elif path not in without:
                room, more = room - size, more - 1
                if room < 0 or more < 0:
                    raise PatchTooLarge(f"{_TOO_LARGE}; up to {path} they are larger")
                changed[path] = File.of(_read(handle, room + size), executable)
        kept = {path: file for path, file in sorted(changed.items()) if path not in without}
        if len(kept) > MOST_CHANGED or len(patch_text(kept)) > MOST_PATCH:
            raise PatchTooLarge(_TOO_LARGE)
        return kept

    def patch_beneath(self, folder: WorkFolder, base: Path, patch: Patch, overlay: WorkFolder | None) -> str:
        """Return the patch that stands in the place after `lay_out`, as a text, in which the files of
        `overlay` are as they were before. Raises PatchTooLarge."""
        laid = [] if overlay is None else [path for path, *_ in _files(str(_unpacked(overlay, base)))]
        hidden = {path: patch[path] for path in laid if path in patch}
        return patch_text({**self.patch(folder, base, without=laid), **hidden})

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return variables with which programs keep things in this place. PATH, our own where none is stated,
        ends with Python's folder."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.tmp), "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("config", "cache", "data", "state"):
            own[f"XDG_{name.upper()}_HOME"] = f"{self.home}/.{name}"
        stated = env.get("PATH") or os.environ.get("PATH", os.defpath)
        own["PATH"] = os.pathsep.join([stated, os.path.dirname(sys.executable)])
        return {"LANG": "C.UTF-8", **env, **own}

    def launcher(
        self,
        hidden: Iterable[Path] = (),
        *,
        words: Sequence[str] = (),
        network: bool = False,
        port: int = 0,
        report: int = 0,
        most: tuple[int, int] = (MOST_BYTES, MOST_FILES),
    ) -> list[str]:
        """Return the words to put before those of a program, to run it once in the jail of this place, with
        `work` as its current folder and what `environment` returns.

        It sees neither what is `hidden` (name the arena's folder), nor repositories that the place was filled
        from, nor any other place; of the program's own `words`, files that exist are shown wherever they lie,
        and so are Python's environments on PATH. With `network` it has that of the machine, else its own. To
        the descriptor `report`, which the process inherits, it writes `confined.Ended`; where a `port` is
        stated, that is a Unix socket to which it sends first the socket that listens to 127.0.0.1:PORT in the
        jail (`confined.listener`). `most` are the bytes and files of a place.
        """
        secret, shown = {*SECRET, tempfile.gettempdir()}, {*SHOWN}
        for home in _homes():
            programs = {os.path.join(home, name) for name in PROGRAMS}
            with suppress(OSError):
                secret |= {os.path.join(home, name) for name in os.listdir(home) if name[0] == "."} - programs
            shown |= programs
        secret |= {os.path.abspath(path) for path in [*map(str, hidden), *self._hidden]}
        secret = {os.path.realpath(path) for path in secret} - {"/"}
        environments = {os.path.dirname(path) for path in os.get_exec_path()}
        shown |= {path for path in environments if os.path.exists(os.path.join(path, "pyvenv.cfg"))}
        shown |= _own_files(words, secret)
        secret.add(os.path.realpath(GENERATORS))
        options: LockedOptions = {
            "parent": os.getpid(),
            "hidden": sorted(secret),
            "shown": sorted({os.path.realpath(path) for path in shown if os.path.exists(path)} - secret),
            "place": str(self.path),
            "bytes": most[0],
            "files": most[1],
            "network": network,
            "port": port,
            "report": report,
        }
        # Not among its words, which everybody can read: what is hidden has telling names.
        file = self.path.with_suffix(f".{next(_numbers)}.json")
        file.write_text(json.dumps(options))
        return [*launcher("native.locked", "-I", "-S"), str(file)]

    def without_its_path(self, text: str) -> str:
        """Return a text with `/work`, `/home` and `/tmp` for the folders of this place, as of any other."""
        return text.replace(str(self.path), "")

    def remove(self) -> None:
        """Remove the place with all that is in it."""
        _remove(self.path)


async def placed(fill: Callable[[WorkPlace], object]) -> WorkPlace:
    """Return a place that `fill` has filled in a thread. Where that fails, or this task is cancelled, nothing
    of it is left."""

    def make() -> WorkPlace:
        place = WorkPlace()
        try:
            fill(place)
        except BaseException:
            place.remove()
            raise
        return place

    making = asyncio.ensure_future(asyncio.to_thread(make))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            await asyncio.to_thread((await making).remove)
        raise


@cache
def lacking() -> str:
    """Return in words what this system lacks for the jail of agents and commands; empty where it has all. It
    runs a program there to know, once."""
    if not supported():
        return "agents and commands work in a jail of Linux; use Linux, a container or a virtual machine"
    if not available():
        return "the kernel has no Landlock: use Linux 5.13 or newer, with `landlock` in its parameter `lsm`"
    try:
        place = WorkPlace()
        words, env = [*place.launcher(), "true"], place.environment({})
        tried = subprocess.run(words, cwd=place.work, env=env, capture_output=True, text=True)
        place.remove()
    except OSError as error:
        return f"no folder to work in can be made: {reason(error)}"
    return (
        tried.stderr.strip() or f"a jail ended with exit code {tried.returncode}" if tried.returncode else ""
    )


def _homes() -> set[str]:
    """The home folders of this user: the one that is stated, and the one on record."""
    homes = {os.path.expanduser("~")}
    with suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    return homes - {"/"}


def _own_files(words: Sequence[str], hidden: Collection[str]) -> set[str]:
    """The files that a command names, and the folder where its program lies (of an environment of Python or
    Node.js the whole), unless that holds something hidden."""
    found = {os.path.abspath(word) for word in words if os.path.isfile(word)}
    if words and (program := shutil.which(words[0])):
        found.add(program)
        for file in (Path(os.path.abspath(program)), Path(os.path.realpath(program))):
            whole = [
                path for path in file.parents if path.name == "node_modules" or (path / "pyvenv.cfg").exists()
            ]
            folder = whole[-1] if whole else file.parent
            if not any(Path(path).is_relative_to(folder) for path in hidden):
                found.add(str(folder))
    return found


def _files(name: str, folder: int | None = None, path: str = "") -> Iterator[tuple[str, bool, int, int]]:
    """The files below a folder that may be in a patch: path, whether it may be executed, bytes, and the open
    file. Every step is made from an open folder, so nobody can lead it elsewhere meanwhile. Raises OSError
    where too many files are open: none may seem to be gone."""
    try:
        handle = _opened(name, folder)
    except OSError as error:
        if error.errno in SCARCE:
            raise
        return  # a link, a socket, or gone
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode):
            yield path, bool(status.st_mode & stat.S_IXUSR), status.st_size, handle
        elif stat.S_ISDIR(status.st_mode):
            for child in sorted(os.listdir(handle)):
                below = f"{path}/{child}" if path else child
                if usable(below) and not child.endswith(".pyc") and child not in IGNORED:
                    yield from _files(child, handle, below)
    finally:
        os.close(handle)


def _opened(name: str, folder: int | None) -> int:
    """Open a file or folder of ours to read, also where its permissions were taken away."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        if not supported():
            raise
        found = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=folder)
        try:
            mode = os.fstat(found).st_mode
            os.chmod(f"/proc/self/fd/{found}", mode & 0o777 | (0o500 if stat.S_ISDIR(mode) else 0o400))
        finally:
            os.close(found)
        return os.open(name, flags, dir_fd=folder)


def _read(handle: int, most: int = -1) -> bytes:
    """The bytes of an open file from its start, at most so many and one more: it may grow meanwhile."""
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as file:
        return file.read(most + 1 if most >= 0 else -1)


def _same(before: Path, executable: bool, size: int, handle: int) -> bool:
    status = before.stat()
    alike = (bool(status.st_mode & stat.S_IXUSR), status.st_size) == (executable, size)
    return alike and before.read_bytes() == _read(handle, size)


_numbers = count(1)
_unpacking, _making = Lock(), Lock()


def _unpacked(folder: WorkFolder, base: Path) -> Path:
    """Return a folder's files on disk, unpacked once for all places of this process. Raises ValueError."""
    with _unpacking:
        tree = _root() / f"tree-{folder.digest[:64]}"
        if tree.exists():
            return tree
        half = tree.with_suffix(".half")
        half.mkdir(mode=0o700)
        whole = base / folder.repo, folder.commit, folder.only
        try:
            digest = digest_of(listing_at(*whole) if folder.repo else listing_of(folder.files))
            if digest != folder.digest:
                raise ValueError(
                    f"the files of a task{folder.repo and f' in {base / folder.repo}'} have the digest "
                    f"{digest[:12]}…; {folder.digest[:12]}… was expected: name the commit that was meant"
                )
            files: Iterable[tuple[str, bool, bytes]]
            files = ((path, file.executable, file.content) for path, file in folder.files.items())
            for path, executable, content in files_at(*whole) if folder.repo else files:
                target = half / checked_path(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, executable, content)
            return half.rename(tree)
        except OSError as error:
            raise ValueError(f"{error.filename} of a task cannot be written: {reason(error)}") from None
        finally:
            _remove(half)


def _write(target: Path, executable: bool, content: bytes) -> None:
    target.write_bytes(content)
    target.chmod(0o755 if executable else 0o644)


def _root() -> Path:
    with _making:  # `cache` alone would make one for each thread that asks at once
        return _root_of(os.getpid())


@cache
def _root_of(process: int) -> Path:
    """The private folder of a process. Those of processes that were killed go when the next one starts."""
    for other in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        with suppress(OSError):
            if other.lstat().st_uid != os.geteuid():
                continue  # another user's, who may have laid a pipe or a link there
            with open(other / _LOCK, "a") as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(other)
    hidden = Path(tempfile.mkdtemp(prefix=f".{_NAME}"))  # from those who look for it until it is locked
    lock = os.open(hidden / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    # Held until this process ends, however it does; by the other one systemd-tmpfiles leaves old files there.
    for handle in (lock, os.open(hidden, os.O_RDONLY)):
        fcntl.flock(handle, fcntl.LOCK_EX)
    root = hidden.rename(hidden.with_name(hidden.name[1:]))
    atexit.register(lambda: _remove(root) if os.getpid() == process else None)
    return root


def places_in_use() -> list[str]:
    """Return the folder of all places of this process, where there is one."""
    return [str(_root())] if _root_of.cache_info().currsize else []


def _remove(path: Path) -> None:
    """Remove a folder, however deep, whatever may be read there. Neither program follows links."""
    for words in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if path.exists():
            subprocess.run([*words, "--", path], stderr=subprocess.DEVNULL)
