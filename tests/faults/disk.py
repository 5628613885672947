"""A disk under SQLite that loses what was not synced: a file layer (VFS) in the library `sqlite3` uses.

SQLite's own layer does the work; this one stands before its writes, syncs, truncations and deletions. What
was written and not synced is in the files, as the system's cache would show it, and known here. A power
failure writes each file again as it may leave it: all that was synced, and of the rest any subset of
sectors, some torn. At a chosen operation the disk fails, fills up, does the work and reports an error, or
the process dies.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

SECTOR = 512
OK, FULL, IOERR_WRITE, IOERR_SYNC, IOERR_TRUNCATE, IOERR_DELETE = 0, 13, 778, 1034, 1546, 2570
NAME = b"peerage-faults"


class Fault(Enum):
    """What befalls an operation of the disk."""

    ERROR = "an error, and nothing is done"
    UNANSWERED = "an error, and all is done"
    FULL = "no space is left, for this operation and those that follow"
    DEATH_BEFORE = "the process dies before it"
    DEATH_WITHIN = "the process dies while part of it is done"
    DEATH_AFTER = "the process dies after it"


@dataclass
class _File:
    """What a power failure leaves for certain (None: no such file), what was done since, in order (offset and
    bytes, or a size to which the file was cut), and what a deleted file of this name held."""

    durable: bytearray | None
    since: list[tuple[int, bytes] | int] = field(default_factory=list)
    ghost: bytearray | None = None

    def sync(self) -> None:
        self.apply(None, lambda: True)
        self.ghost = None

    def apply(self, survives: Callable[[bytes], bytes | None] | None, coin: Callable[[], bool]) -> None:
        """Make durable what `survives` (None: all) of each sector written since, and each cut for which
        `coin` falls so."""
        image = self.durable = bytearray() if self.durable is None else self.durable
        for one in self.since:
            if isinstance(one, int):
                if coin():
                    image[one:] = bytes(max(0, one - len(image)))
                continue
            offset, data = one
            first = -(offset % SECTOR)
            for at in range(first, len(data), SECTOR) if survives is not None else (0,):
                begin = max(0, at)
                kept = data if survives is None else survives(data[begin : at + SECTOR])
                if kept is not None:
                    image.extend(bytes(max(0, offset + begin - len(image))))
                    image[offset + begin : offset + begin + len(kept)] = kept
        self.since.clear()


_Close = CFUNCTYPE(c_int, c_void_p)
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_Delete = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_Randomness = CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)
_Sleep = CFUNCTYPE(c_int, c_void_p, c_int)


class _Methods(Structure):
    """sqlite3_io_methods."""

    _fields_ = (
        ("version", c_int),
        ("close", _Close),
        ("read", c_void_p),
        ("write", _Write),
        ("truncate", _Truncate),
        ("sync", _Sync),
        ("others", c_void_p * 13),
    )


class _Opened(Structure):
    """sqlite3_file."""

    _fields_ = (("methods", POINTER(_Methods)),)


class _Vfs(Structure):
    """sqlite3_vfs."""

    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", _Open),
        ("delete", _Delete),
        ("access", c_void_p),
        ("full_path", c_void_p),
        ("dynamic", c_void_p * 4),
        ("randomness", _Randomness),
        ("sleep", _Sleep),
        ("others", c_void_p * 6),
    )


def _library() -> Any:
    """The SQLite that this interpreter's `sqlite3` uses. AttributeError where it shows no functions."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = POINTER(_Vfs)
    library.sqlite3_vfs_register.argtypes = (c_void_p, c_int)
    library.sqlite3_randomness.argtypes = (c_int, c_void_p)
    return library


def missing() -> str:
    """Why there can be no such disk here; empty where there can."""
    try:
        _library()
    except (AttributeError, OSError) as error:
        return f"the SQLite of this Python takes no file layer: {error}"
    return ""


class Disk:
    """The disk of one simulated machine, for every database in `folder` while it is `mounted`.

    `faults` maps the number of an operation (a write, sync or truncation of a database or its log; `done`
    counts them) to what befalls it. `died()` is called when the process dies, `watch(number)` before each
    operation of a living one. `trace` hears of each.
    """

    def __init__(self, folder: Path, rng: Random, trace: Callable[..., None]) -> None:
        self.faults: dict[int, Fault] = {}
        self.done = 0
        self.dead = False
        self.full = False
        self.struck: list[Fault] = []
        self.died: Callable[[], None] = lambda: None
        self.watch: Callable[[int], None] = lambda _: None
        self.broken: BaseException | None = None
        self._folder = str(folder.resolve()) + os.sep
        self._rng = rng
        self._trace = trace
        self._files: dict[str, _File] = {}
        self._open: dict[int, str] = {}

    @property
    def open_files(self) -> list[str]:
        return list(self._open.values())

    def die(self) -> None:
        """The process is gone: nothing that it does from now on reaches the disk."""
        if not self.dead:
            self.dead = True
            self.died()

    def restart(self, *, power: bool) -> None:
        """Begin as another process, after a power failure or with what the system's cache still holds."""
        assert not self._open, f"a dead process still has {self.open_files}"
        if power:
            self._lose_power()
        self.dead = self.full = False
        self.done = 0
        self.faults = {}
        self.struck = []

    def _lose_power(self) -> None:
        rng = self._rng
        kept, torn = rng.choice((0.0, 0.5, 0.9, 1.0)), rng.choice((0.0, 0.1))

        def survives(data: bytes) -> bytes | None:
            if rng.random() < torn:
                at = rng.randrange(len(data) + 1)
                return data[:at] + rng.randbytes(len(data) - at)
            return data if rng.random() < kept else None

        for path, file in self._files.items():
            if file.durable is not None or rng.random() < 0.5:
                file.apply(survives, lambda: rng.random() < 0.5)
            elif rng.random() < 0.5:  # what a deleted file of its name held may be there again
                file.durable = file.ghost
            file.ghost = None
            file.since.clear()
            with suppress(FileNotFoundError):
                os.unlink(path)
            if file.durable is not None:
                Path(path).write_bytes(file.durable)
        for index in Path(self._folder).glob("*-shm"):
            index.unlink()
        self._files = {path: file for path, file in self._files.items() if file.durable is not None}

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Let SQLite use this disk in the process. Not at once with another one."""
        library = _library()
        before = library.sqlite3_vfs_find(None)
        real = before.contents
        own = _Vfs.from_buffer_copy(real)
        tables: dict[int, tuple[_Methods, _Methods]] = {}
        of: dict[int, _Methods] = {}

        def guarded(failed: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
            """What goes wrong in here must not pass for success."""

            def wrap(act: Callable[..., int]) -> Callable[..., int]:
                def safe(*values: Any) -> int:
                    try:
                        return act(*values)
                    except BaseException as error:
                        self.broken = self.broken or error
                        return failed

                return safe

            return wrap

        @guarded(IOERR_WRITE)
        def write(file: int, data: int, size: int, offset: int) -> int:
            written = ctypes.string_at(data, size)

            def do(part: int = size) -> int:
                code: int = of[file].write(file, data, part, offset)
                if code == OK:
                    self._files[self._open[file]].since.append((offset, written[:part]))
                return code

            return self._operate("write", file, (offset, size), IOERR_WRITE, do, lambda: do(size // 2))

        @guarded(IOERR_TRUNCATE)
        def truncate(file: int, size: int) -> int:
            def do() -> int:
                code: int = of[file].truncate(file, size)
                self._files[self._open[file]].since.append(size)
                return code

            return self._operate("truncate", file, (size,), IOERR_TRUNCATE, do, do)

        @guarded(IOERR_SYNC)
        def sync(file: int, _: int) -> int:
            def do() -> int:
                synced = self._files[self._open[file]]
                if synced.durable is None:  # of a new file SQLite syncs the folder too
                    for other in self._files.values():
                        other.ghost = None
                synced.sync()
                return OK

            return self._operate("sync", file, (), IOERR_SYNC, do, lambda: OK)

        @guarded(OK)
        def close(file: int) -> int:
            self._open.pop(file)
            code: int = of.pop(file).close(file)
            return code

        @guarded(14)
        def open_(_: int, name: int | None, file: int, flags: int, out: int | None) -> int:
            path = os.fsdecode(ctypes.string_at(name)) if name else ""
            ours = path.startswith(self._folder)
            there = ours and os.path.exists(path)
            code: int = real.open(ctypes.addressof(real), name, file, flags, out)
            if code != OK or not ours:
                return code
            opened = ctypes.cast(file, POINTER(_Opened)).contents
            key = ctypes.addressof(opened.methods.contents)
            if key not in tables:
                known = opened.methods.contents
                changed = _Methods.from_buffer_copy(known)
                changed.close, changed.write = _Close(close), _Write(write)
                changed.truncate, changed.sync = _Truncate(truncate), _Sync(sync)
                tables[key] = known, changed
            known, changed = tables[key]
            of[file], self._open[file] = known, path
            opened.methods = ctypes.pointer(changed)
            if not there:
                ghost = self._files.pop(path).ghost if path in self._files else None
                self._files[path] = _File(None, ghost=ghost)
            elif path not in self._files:
                self._files[path] = _File(bytearray(Path(path).read_bytes()))
            return code

        @guarded(IOERR_DELETE)
        def delete(_: int, name: int, durably: int) -> int:
            path = os.fsdecode(ctypes.string_at(name))
            if self.dead:
                return IOERR_DELETE
            code: int = real.delete(ctypes.addressof(real), name, 0)
            if path in self._files:
                file = self._files.pop(path)
                self._files[path] = _File(None, ghost=None if durably else file.durable)
            return code

        @guarded(0)
        def randomness(_: int, size: int, into: int) -> int:
            ctypes.memmove(into, self._rng.randbytes(size), size)
            return size

        own.name = NAME
        own.open, own.delete, own.randomness = _Open(open_), _Delete(delete), _Randomness(randomness)
        own.sleep = _Sleep(lambda _, microseconds: microseconds)  # nobody else is there to wait for
        library.sqlite3_vfs_register(ctypes.byref(own), 1)
        library.sqlite3_randomness(0, None)
        try:
            yield
        finally:
            library.sqlite3_vfs_register(before, 1)
            library.sqlite3_vfs_unregister(ctypes.byref(own))
            library.sqlite3_randomness(0, None)

    def _operate(
        self, what: str, file: int, where: tuple[int, ...], failed: int, do: Callable[[], int], part: Any
    ) -> int:
        """Do an operation of the disk, or what its fault says."""
        if self.dead:
            return failed
        self.done += 1
        self.watch(self.done)
        fault = self.faults.get(self.done)
        self._trace(what, os.path.basename(self._open[file]), *where, fault and fault.name)
        if fault is not None:
            self.struck.append(fault)
        if fault is Fault.FULL:
            self.full = True
        if self.full and what == "write":
            return FULL
        if fault is None or fault is Fault.FULL:
            return do()
        if fault is Fault.DEATH_WITHIN:
            part()
        elif fault in (Fault.UNANSWERED, Fault.DEATH_AFTER):
            do()
        if fault not in (Fault.ERROR, Fault.UNANSWERED):
            self.die()
        return failed
