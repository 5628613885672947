"""A worker process: started by the pool, holds no secrets, jails itself, then serves.

    python … build SNAPSHOT          make the snapshot, then end
    python … wasm PARENT SNAPSHOT    run programs in WebAssembly, one after the other, until stdin ends
    python … native PARENT           run one program in this very interpreter, then end

It starts with an empty environment and no open file but three pipes. The first frame it sends says what
protects it, or what went wrong.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.frames import give, take
from peerage.sandbox import jail as jails
from peerage.sandbox import seccomp
from peerage.sandbox.jail import Jail
from peerage.sandbox.program import Ended, Limits, Protections, SandboxUnavailable, Task, Welcome

if TYPE_CHECKING:
    from peerage.sandbox.runner import Runner

_THREAD_STACK = 16 * 1024 * 1024  # WebAssembly may use 1.9 MB of it, wherever the system's default lies
_DATA = 4 * 1024 * 1024 * 1024  # a backstop far above any guest's limit


def main(arguments: list[str]) -> None:
    """Do what the command line says; see above."""
    role, *rest = arguments
    if role == "build":
        from peerage.sandbox import image

        try:
            image.build(Path(rest[0]))
        except SandboxUnavailable as reason:
            sys.exit(str(reason))
    elif role == "wasm":
        _wasm(int(rest[0]), Path(rest[1]))
    elif role == "native":
        from peerage.sandbox import native

        native.serve(int(rest[0]))


def _wasm(parent: int, snapshot: Path) -> None:
    try:
        from wasmtime import WasmtimeError

        from peerage.sandbox import image
        from peerage.sandbox.runner import Runner

        if not image.trusted(snapshot):
            raise SandboxUnavailable(f"there is no snapshot at {snapshot}")
        try:
            runner = Runner(snapshot)
        except WasmtimeError as error:  # truncated, or made on a processor with more features
            give(sys.stdout.buffer, Welcome(refused=f"{snapshot}: {error}", stale=True))
            return
        warm = runner.run(b"", b"", Limits(fuel=10**9))
        if warm.status != "ok":
            raise SandboxUnavailable(f"an empty program ended with {warm.status}: {warm.stderr!r}")
        protections = _lock_in(parent)
    except Exception as error:
        give(sys.stdout.buffer, Welcome(refused=f"{type(error).__name__}: {error}"))
        return
    threading.stack_size(_THREAD_STACK)
    thread = threading.Thread(target=_serve, args=(runner, protections), name="guest")
    thread.start()
    thread.join()


def _lock_in(parent: int) -> Protections:
    """What must happen while there is one thread; `_finish` does the rest."""
    if not jails.supported():
        return Protections()
    jail = Jail()
    namespaces = jail.isolate()
    jail.become_nobody()
    unprivileged = jail.drop_capabilities()
    jail.die_with_parent(parent)
    jail.no_new_privileges()
    version = jail.landlock()
    return Protections(
        landlock=version, network_rules=version >= 4, namespaces=namespaces, unprivileged=unprivileged
    )


def _finish(protections: Protections) -> Protections:
    if not jails.supported():
        return protections
    jail = Jail()
    limits = jail.limit(files=0, data=_DATA)
    return replace(protections, limits=limits, seccomp=jail.filter_calls(seccomp.WASM_CALLS, new_code=False))


def _serve(runner: Runner, protections: Protections) -> None:
    give(sys.stdout.buffer, Welcome(_finish(protections)))
    while (task := take(sys.stdin.buffer, Task)) is not None:
        try:
            ended = runner.run(*task)
        except Exception:
            give(sys.stdout.buffer, Ended("sandbox_error", stderr=traceback.format_exc().encode()))
            os._exit(1)
        give(sys.stdout.buffer, ended)
