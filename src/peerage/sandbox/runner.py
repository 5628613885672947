"""One run in WebAssembly: a fresh instance of the snapshot, a world of plain values, and a verdict."""

from __future__ import annotations

from pathlib import Path

import wasmtime

from peerage.sandbox import image, wasi
from peerage.sandbox.program import Limits, RunEnded, Status
from peerage.sandbox.wasm import PAGE

_NEARLY = 2 * 1024 * 1024  # a guest that dies this close to its memory's limit died of it


class SnapshotRunner:
    """The loaded snapshot. `run` may be called any number of times, one at a time."""

    def __init__(self, snapshot: Path) -> None:
        self._engine = image.engine()
        self._module = wasmtime.Module.deserialize_file(self._engine, str(snapshot))
        self._link = wasi.Linked(self._engine, self._module)

    def run(self, source: bytes, stdin: bytes, limits: Limits) -> RunEnded:
        """Run one program within `limits`. Raises only when the sandbox itself is at fault."""
        world = wasi.World(
            streams=[source, stdin],
            output=limits.output,
            deadline_ns=int(limits.seconds * 1e9),
            fuel=limits.fuel,
        )
        store = wasmtime.Store(self._engine)
        store.set_limits(memory_size=limits.memory, instances=1, memories=1, tables=1)
        store.set_fuel(limits.fuel)
        try:
            status = self._status(store, world, limits.memory)
            used = limits.fuel - store.get_fuel()
            return RunEnded(status, b"".join(world.stdout), b"".join(world.stderr), used)
        finally:
            self._link.leave()
            store.close()

    def _status(self, store: wasmtime.Store, world: wasi.World, limit: int) -> Status:
        exports = self._link.enter(store, self._module, world).exports(store)
        run, memory = exports[image.RUN], exports[image.MEMORY]
        assert isinstance(run, wasmtime.Func)
        assert isinstance(memory, wasmtime.Memory)
        text = memory.grow(store, 1) * PAGE
        memory.write(store, image.ENTRY, text)
        try:
            run(store, text, 0)
        except wasi.GuestStopped as stopped:
            return stopped.status
        except wasmtime.Trap as trap:
            if trap.trap_code == wasmtime.TrapCode.OUT_OF_FUEL:
                return "fuel"
            if memory.data_len(store) > limit - _NEARLY:
                return "memory"
            if trap.trap_code == wasmtime.TrapCode.STACK_OVERFLOW:
                world.stderr.append(b"the C stack of the guest overflowed\n")
            return "error"
        return "error"  # the entry point always leaves through proc_exit; a guest has broken it
