"""A worker process: started by the pool, holds no secrets, jails itself, then serves.

    python … build SNAPSHOT          make the snapshot, then end
    python … serve PARENT SNAPSHOT   run programs in WebAssembly, one after the other, until stdin ends

It starts with an empty environment and no open file but three pipes. The first frame it sends says what
protects it, or what went wrong.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.sandbox import jail
from peerage.sandbox.jail import Jail
from peerage.sandbox.program import Limits, Protections, RunEnded, SandboxTask, SandboxUnavailable, Welcome
from peerage.values.frames import give, take

if TYPE_CHECKING:
    from peerage.sandbox.runner import SnapshotRunner

_THREAD_STACK = 16 * 1024 * 1024  # WebAssembly may use 1.9 MB of it, wherever the system's default lies


def main() -> None:
    """Do what the command line says; see above."""
    _, role, *rest = sys.argv
    if role == "build":
        from peerage.sandbox import image

        try:
            image.build(Path(rest[0]))
        except SandboxUnavailable as reason:
            sys.exit(str(reason))
    elif role == "serve":
        serve(int(rest[0]), Path(rest[1]))


def say(message: Welcome | RunEnded) -> None:
    give(sys.stdout.buffer, message)


def serve(parent: int, snapshot: Path) -> None:
    """Jail this process and say so, or why not; then run programs until there are no more."""
    try:
        from wasmtime import WasmtimeError

        from peerage.sandbox import image
        from peerage.sandbox.runner import SnapshotRunner

        if not image.trusted(snapshot):
            raise SandboxUnavailable(f"there is no snapshot at {snapshot}")
        try:
            runner = SnapshotRunner(snapshot)
        except WasmtimeError as error:  # truncated, or made on a processor with more features
            say(Welcome(refused=f"{snapshot}: {error}", stale=True))
            return
        warm = runner.run(b"", b"", Limits(fuel=10**9))
        if warm.status != "ok":
            raise SandboxUnavailable(f"an empty program ended with {warm.status}: {warm.stderr!r}")
        held = Jail().enter(parent) if jail.supported() else Protections()
    except Exception as error:
        say(Welcome(refused=f"{type(error).__name__}: {error}"))
        return
    threading.stack_size(_THREAD_STACK)
    thread = threading.Thread(target=_serve, args=(runner, held), name="guest")
    thread.start()
    thread.join()


def _serve(runner: SnapshotRunner, held: Protections) -> None:
    say(Welcome(Jail().close(held) if jail.supported() else held))
    while (task := take(sys.stdin.buffer, SandboxTask)) is not None:
        try:
            ended = runner.run(*task)
        except Exception:
            say(RunEnded("sandbox_error", stderr=traceback.format_exc().encode()))
            os._exit(1)
        say(ended)
