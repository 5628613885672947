"""The guest's whole world: every function it can call, written here, and nothing of the host's behind them.

WASI preview 1 has 45 functions that CPython imports. Those below answer from plain values: one input stream,
two output streams, a clock that only the guest's own work moves, and a fixed stream of "random" bytes. Every
other one says ENOSYS. There is no file, directory, socket, environment or process here to be reached, so a
hole in a host's WASI cannot matter; and a run is a pure function of the program, its input and its limits.

Each call costs `CALL_FUEL`, and more where it makes the host do more, so that a guest cannot spend the host's
time for free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import wasmtime

from peerage.sandbox.program import Status, verdict

MODULE = "wasi_snapshot_preview1"
CALL_FUEL = 100_000
ITEM_FUEL = 10_000  # for each of a call's buffers or subscriptions
RANDOM_FUEL = 1_000  # for each byte
EPOCH_NS = 1_767_225_600 * 10**9  # the guest's clock starts on 2026-01-01T00:00:00Z
FUEL_PER_NS = 4  # about what one core does

_EBADF, _EFAULT, _EINVAL, _ENOSYS, _ESPIPE = 8, 21, 28, 52, 70
_MAX_VECTORS = 1024
_WORD = (1 << 64) - 1
_STREAM = 0  # of unknown type, so that nothing takes it for a terminal


class GuestStopped(Exception):
    """A call of the guest ended its run: it left, wrote too much, would sleep past its deadline, or has no
    fuel left for the call. `status` says which."""

    def __init__(self, status: Status) -> None:
        self.status = status


class Snapshot(Exception):
    """The guest is where its snapshot is to be taken."""


@dataclass(slots=True)
class World:
    """The state of one run, as its guest sees it.

    `streams` are read one after the other on descriptor 0, each up to its end. Times are in nanoseconds.
    """

    arguments: Sequence[bytes] = ()
    environment: Sequence[bytes] = ()
    streams: list[bytes] = field(default_factory=list)
    position: int = 0
    output: int = 1024 * 1024
    deadline_ns: int = 30 * 10**9
    fuel: int = 0
    slept_ns: int = 0
    seed: int = 0
    written: int = 0
    stdout: list[bytes] = field(default_factory=list)
    stderr: list[bytes] = field(default_factory=list)

    def now_ns(self, fuel_left: int) -> int:
        return (self.fuel - fuel_left) // FUEL_PER_NS + self.slept_ns

    def read(self, size: int) -> bytes:
        if not self.streams:
            return b""
        part = self.streams[0][self.position : self.position + size]
        self.position += len(part)
        if size and not part:
            self.streams.pop(0)
            self.position = 0
        return part

    def write(self, sink: list[bytes], parts: Sequence[bytes]) -> None:
        for part in parts:
            room = self.output - self.written
            if part:
                sink.append(part[:room])
            self.written += min(len(part), room)
            if len(part) > room:
                raise GuestStopped("output")

    def random(self, size: int) -> bytes:
        """The same bytes in every run: SplitMix64 from zero (Steele, Lea and Flood, 2014)."""
        out = bytearray()
        while len(out) < size:
            self.seed = (self.seed + 0x9E37_79B9_7F4A_7C15) & _WORD
            mixed = ((self.seed ^ self.seed >> 30) * 0xBF58_476D_1CE4_E5B9) & _WORD
            mixed = ((mixed ^ mixed >> 27) * 0x94D0_49BB_1331_11EB) & _WORD
            out += (mixed ^ mixed >> 31).to_bytes(8, "little")
        return bytes(out[:size])


class Guest:
    """Access to the memory and fuel of the instance that is calling."""

    __slots__ = ("_caller", "_memory", "_store")

    def __init__(self, caller: Any, store: wasmtime.Store) -> None:
        self._caller = caller
        self._store = store
        self._memory = caller["memory"]

    def read(self, at: int, size: int) -> bytes:
        at &= 0xFFFF_FFFF
        if at + size > self._memory.data_len(self._caller):
            raise IndexError
        return bytes(self._memory.read(self._caller, at, at + size))

    def number(self, at: int, size: int = 4) -> int:
        return int.from_bytes(self.read(at, size), "little")

    def write(self, at: int, data: bytes) -> None:
        if data:
            self._memory.write(self._caller, data, at & 0xFFFF_FFFF)

    def put(self, at: int, number: int, size: int = 4) -> None:
        self.write(at, number.to_bytes(size, "little"))

    def vectors(self, at: int, count: int) -> list[tuple[int, int]]:
        if not 0 <= count <= _MAX_VECTORS:
            raise IndexError
        self.charge(count * ITEM_FUEL)
        table = self.read(at, 8 * count)
        words = [int.from_bytes(table[k : k + 4], "little") for k in range(0, len(table), 4)]
        return list(zip(words[::2], words[1::2], strict=True))

    @property
    def fuel(self) -> int:
        return self._store.get_fuel()

    def charge(self, fuel: int) -> None:
        """Take `fuel` from the guest; `GuestStopped` when it has not that much left."""
        left = self._store.get_fuel()
        self._store.set_fuel(max(0, left - fuel))
        if left < fuel:
            raise GuestStopped("fuel")


def _strings(guest: Guest, values: Sequence[bytes], table: int, buffer: int) -> int:
    for value in values:
        guest.put(table, buffer & 0xFFFF_FFFF)
        guest.write(buffer, value + b"\0")
        table, buffer = table + 4, buffer + len(value) + 1
    return 0


def _sizes(guest: Guest, values: Sequence[bytes], count: int, size: int) -> int:
    guest.put(count, len(values))
    guest.put(size, sum(len(value) + 1 for value in values))
    return 0


def args_get(world: World, guest: Guest, table: int, buffer: int) -> int:
    return _strings(guest, world.arguments, table, buffer)


def args_sizes_get(world: World, guest: Guest, count: int, size: int) -> int:
    return _sizes(guest, world.arguments, count, size)


def environ_get(world: World, guest: Guest, table: int, buffer: int) -> int:
    return _strings(guest, world.environment, table, buffer)


def environ_sizes_get(world: World, guest: Guest, count: int, size: int) -> int:
    return _sizes(guest, world.environment, count, size)


def clock_res_get(world: World, guest: Guest, clock: int, at: int) -> int:
    guest.put(at, 1, 8)
    return 0


def clock_time_get(world: World, guest: Guest, clock: int, precision: int, at: int) -> int:
    guest.put(at, (0 if clock else EPOCH_NS) + world.now_ns(guest.fuel), 8)
    return 0


def random_get(world: World, guest: Guest, at: int, size: int) -> int:
    if not 0 <= size <= 65_536:
        return _EINVAL
    guest.charge(size * RANDOM_FUEL)
    guest.write(at, world.random(size))
    return 0


def fd_read(world: World, guest: Guest, descriptor: int, vectors: int, count: int, read: int) -> int:
    if descriptor != 0:
        return _EBADF
    total = 0
    for at, size in guest.vectors(vectors, count):
        part = world.read(size)
        guest.write(at, part)
        total += len(part)
        if len(part) < size:
            break
    guest.put(read, total)
    return 0


def fd_write(world: World, guest: Guest, descriptor: int, vectors: int, count: int, written: int) -> int:
    if descriptor not in (1, 2):
        return _EBADF
    parts: list[bytes] = []
    total = 0
    for at, size in guest.vectors(vectors, count):
        parts.append(guest.read(at, min(size, world.output + 1)))
        total += size
        if total > world.output:
            break
    world.write(world.stdout if descriptor == 1 else world.stderr, parts)
    guest.put(written, total)
    return 0


def fd_fdstat_get(world: World, guest: Guest, descriptor: int, at: int) -> int:
    if descriptor not in (0, 1, 2):
        return _EBADF
    rights = 1 << 1 if descriptor == 0 else 1 << 6  # fd_read, fd_write
    guest.write(at, bytes([_STREAM]) + bytes(7) + rights.to_bytes(8, "little") + bytes(8))
    return 0


def fd_filestat_get(world: World, guest: Guest, descriptor: int, at: int) -> int:
    if descriptor not in (0, 1, 2):
        return _EBADF
    guest.write(at, bytes(16) + bytes([_STREAM]) + bytes(47))
    return 0


def fd_seek(world: World, guest: Guest, descriptor: int, offset: int, whence: int, at: int) -> int:
    return _ESPIPE if descriptor in (0, 1, 2) else _EBADF


def fd_close(world: World, guest: Guest, descriptor: int) -> int:
    return 0 if descriptor in (0, 1, 2) else _EBADF


def fd_prestat_get(world: World, guest: Guest, descriptor: int, at: int) -> int:
    return _EBADF  # which ends the search for preopened directories: there are none


def sched_yield(world: World, guest: Guest) -> int:
    return 0


def proc_exit(world: World, guest: Guest, code: int) -> None:
    raise GuestStopped(verdict(code))


def poll_oneoff(world: World, guest: Guest, subscriptions: int, events: int, count: int, stored: int) -> int:
    """Sleeping moves the guest's clock and costs no time; past the deadline it ends the run.

    A subscription is 48 bytes: user data (8), a tag (0 for a clock) and from byte 16 the clock's id, from 24
    its timeout, from 40 its flags (1: absolute). An event is 32 bytes: user data, error (2), type (1).
    """
    if not 0 < count <= _MAX_VECTORS:
        return _EINVAL
    guest.charge(count * ITEM_FUEL)
    waits: list[int] = []
    answers: list[bytes] = []
    now = world.now_ns(guest.fuel)
    for number in range(count):
        subscription = guest.read(subscriptions + 48 * number, 48)
        tag = subscription[8]
        if tag == 0:
            timeout = int.from_bytes(subscription[24:32], "little")
            if subscription[40] & 1:
                timeout -= now + (0 if subscription[16] else EPOCH_NS)
            waits.append(max(0, timeout))
        else:
            waits.append(0)
        answers.append(subscription[:8] + bytes(2) + bytes([tag]) + bytes(21))
    shortest = min(waits)
    world.slept_ns += shortest
    if now + shortest > world.deadline_ns:
        raise GuestStopped("timeout")
    due = [answer for answer, wait in zip(answers, waits, strict=True) if wait == shortest]
    guest.write(events, b"".join(due))
    guest.put(stored, len(due))
    return 0


_FUNCTIONS: tuple[Callable[..., int | None], ...] = (
    args_get,
    args_sizes_get,
    environ_get,
    environ_sizes_get,
    clock_res_get,
    clock_time_get,
    random_get,
    fd_read,
    fd_write,
    fd_fdstat_get,
    fd_filestat_get,
    fd_seek,
    fd_close,
    fd_prestat_get,
    sched_yield,
    proc_exit,
    poll_oneoff,
)
OFFERED = {function.__name__: function for function in _FUNCTIONS}


class Linked:
    """A module's imports bound to this file's functions. `enter` says whose run it is, one at a time."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module, stop_at: str = "") -> None:
        self._linker = wasmtime.Linker(engine)
        self._world = World()
        self._store: wasmtime.Store | None = None
        for wanted in module.imports:
            if wanted.module != MODULE or not isinstance(wanted.type, wasmtime.FuncType):
                raise ValueError(
                    f"the module asks for {wanted.module}.{wanted.name}, which is not WASI preview 1"
                )
            handler = self._stop if wanted.name == stop_at else self._handler(str(wanted.name))
            self._linker.define_func(MODULE, str(wanted.name), wanted.type, handler, access_caller=True)

    def enter(self, store: wasmtime.Store, module: wasmtime.Module, world: World) -> wasmtime.Instance:
        """A fresh instance of `module` that lives in `world`."""
        self._store, self._world = store, world
        return self._linker.instantiate(store, module)

    def leave(self) -> None:
        """Forget the run, so that its memory can go."""
        self._store, self._world = None, World()

    def _stop(self, caller: Any, *arguments: int) -> int:
        raise Snapshot

    def _handler(self, name: str) -> Callable[..., int | None]:
        function = OFFERED.get(name)

        def call(caller: Any, *arguments: int) -> int | None:
            store = self._store
            if store is None:
                raise RuntimeError("a guest called the host outside its run")
            guest = Guest(caller, store)
            guest.charge(CALL_FUEL)
            if function is None:
                return _ENOSYS
            try:
                return function(self._world, guest, *arguments)
            except (IndexError, ValueError, OverflowError):
                return _EFAULT

        return call
