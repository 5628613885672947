"""A worker process: started by the pool, holds no secrets, jails itself, then serves.

    python … build SNAPSHOT          make the snapshot, then end
    python … wasm PARENT SNAPSHOT    run programs in WebAssembly, one after the other, until stdin ends
    python … native PARENT           run one program in this very interpreter, then end

It starts with an empty environment and no open file but three pipes. The first frame it sends says what
protects it, or what went wrong.
"""

from __future__ import annotations

import math
import os
import sys
import sysconfig
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.frames import give, take
from peerage.sandbox import jail, seccomp
from peerage.sandbox.jail import Jail
from peerage.sandbox.program import Ended, Limits, Protections, SandboxUnavailable, Task, Welcome

if TYPE_CHECKING:
    from peerage.sandbox.runner import Runner

_THREAD_STACK = 16 * 1024 * 1024  # WebAssembly may use 1.9 MB of it, wherever the system's default lies
_DATA = 4 * 1024 * 1024 * 1024  # a backstop far above any guest's limit
_NATIVE_FILES = 64


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
        serve_wasm(int(rest[0]), Path(rest[1]))
    elif role == "native":
        serve_native(int(rest[0]))


def say(message: Welcome | Ended) -> None:
    give(sys.stdout.buffer, message)


def serve_wasm(parent: int, snapshot: Path) -> None:
    """Jail this process and say so, or why not; then run programs until there are no more."""
    try:
        from wasmtime import WasmtimeError

        from peerage.sandbox import image
        from peerage.sandbox.runner import Runner

        if not image.trusted(snapshot):
            raise SandboxUnavailable(f"there is no snapshot at {snapshot}")
        try:
            runner = Runner(snapshot)
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


def _serve(runner: Runner, held: Protections) -> None:
    say(Welcome(close_wasm(held)))
    while (task := take(sys.stdin.buffer, Task)) is not None:
        try:
            ended = runner.run(*task)
        except Exception:
            say(Ended("sandbox_error", stderr=traceback.format_exc().encode()))
            os._exit(1)
        say(ended)


def close_wasm(held: Protections) -> Protections:
    """What must wait until the thread of the guest is there."""
    if not jail.supported():
        return held
    return Jail().close(held, seccomp.WASM_CALLS, new_code=False, files=0, data=_DATA)


def serve_native(parent: int) -> None:
    """Wait for one program, jail this process, say so, and run it. Never returns when it ran.

    Ten times as fast as WebAssembly, and a thinner wall: the program can run any machine code it likes, so
    that the kernel's attack surface of the allowed calls is all that stands between it and the machine.
    Without both Landlock and seccomp it refuses to run anything.
    """
    if not jail.supported():
        say(Welcome(refused=f"native mode needs Linux; this is {sys.platform}"))
        return
    from peerage.sandbox.guest import execute

    task = take(sys.stdin.buffer, Task)
    if task is None:
        return
    _put_on_stdin(task.stdin)
    held = _enter_native(parent, task.limits)
    if not held.landlock or not held.seccomp:
        missing = " and ".join(name for name in ("landlock", "seccomp") if not getattr(held, name))
        say(Welcome(refused=f"native mode needs Landlock and seccomp; this kernel gives no {missing}"))
        return
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        stream.reconfigure(encoding="utf-8", errors=errors)  # type: ignore[union-attr]
    say(Welcome(held))
    execute.execute(task.source.decode("utf-8", "surrogatepass"))  # type: ignore[no-untyped-call]


def _put_on_stdin(text: bytes) -> None:
    handle = os.memfd_create("stdin", 0)
    with open(handle, "wb", closefd=False) as stdin:
        stdin.write(text)
    os.lseek(handle, 0, os.SEEK_SET)
    os.dup2(handle, 0, inheritable=False)
    os.close(handle)


def _enter_native(parent: int, limits: Limits) -> Protections:
    """Jailed with the standard library's files and packages, but not what is installed beside them."""
    os.environ.clear()
    library = Path(sysconfig.get_path("stdlib"))
    foreign = ("site-packages", "dist-packages", "test", "idlelib", "ensurepip")
    readable = [entry.path for entry in os.scandir(library) if entry.name not in foreign]
    with open("/proc/self/statm", encoding="ascii") as pages:  # proc(5)
        size = int(pages.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    # Whether a user who owns nothing could still import from there.
    open_to_all = all(place.stat().st_mode & 0o005 == 0o005 for place in (library, *library.parents))
    held = Jail().enter(parent, nobody=open_to_all, readable=readable, listable=[str(library)])
    return Jail().close(
        held,
        seccomp.NATIVE_CALLS,
        new_code=True,
        files=_NATIVE_FILES,
        address_space=size + limits.memory,
        cpu_s=math.ceil(limits.seconds) + 1,
    )
