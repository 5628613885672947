"""Native mode: one program in a CPython process of its own, held by Landlock and seccomp alone. Linux only.

Ten times as fast as WebAssembly, and a thinner wall: the program can run any machine code it likes, so that
the kernel's attack surface of the allowed calls is all that stands between it and the machine. Without both
Landlock and seccomp it refuses to run anything.
"""

from __future__ import annotations

import math
import os
import sys
import sysconfig
from pathlib import Path

from peerage.frames import give, take
from peerage.sandbox import jail as jails
from peerage.sandbox import seccomp
from peerage.sandbox.guest import execute
from peerage.sandbox.jail import Jail
from peerage.sandbox.program import Limits, Protections, Task, Welcome

_FILES = 64


def serve(parent: int) -> None:
    """Wait for one program, jail this process, say so, and run it. Never returns when it ran."""
    if not jails.supported():
        give(sys.stdout.buffer, Welcome(refused=f"native mode needs Linux; this is {sys.platform}"))
        return
    task = take(sys.stdin.buffer, Task)
    if task is None:
        return
    _put_on_stdin(task.stdin)
    protections = _lock_in(parent, task.limits)
    if not protections.landlock or not protections.seccomp:
        missing = " and ".join(name for name in ("landlock", "seccomp") if not getattr(protections, name))
        give(
            sys.stdout.buffer,
            Welcome(refused=f"native mode needs Landlock and seccomp; this kernel gives no {missing}"),
        )
        return
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        stream.reconfigure(encoding="utf-8", errors=errors)  # type: ignore[union-attr]
    give(sys.stdout.buffer, Welcome(protections))
    execute.execute(task.source.decode("utf-8", "surrogatepass"))  # type: ignore[no-untyped-call]


def _put_on_stdin(text: bytes) -> None:
    handle = os.memfd_create("stdin", 0)
    with open(handle, "wb", closefd=False) as stdin:
        stdin.write(text)
    os.lseek(handle, 0, os.SEEK_SET)
    os.dup2(handle, 0, inheritable=False)
    os.close(handle)


def _lock_in(parent: int, limits: Limits) -> Protections:
    jail = Jail()
    os.environ.clear()
    library = sysconfig.get_path("stdlib")
    readable, size = _library_parts(library), _size()
    namespaces = jail.isolate()
    if _open_to_all(library):
        jail.become_nobody()
    unprivileged = jail.drop_capabilities()
    jail.die_with_parent(parent)
    jail.no_new_privileges()
    version = jail.landlock(readable=readable, listable=[library])
    limited = jail.limit(
        files=_FILES, address_space=size + limits.memory, cpu_s=math.ceil(limits.seconds) + 1
    )
    return Protections(
        landlock=version,
        network_rules=version >= 4,
        namespaces=namespaces,
        unprivileged=unprivileged,
        limits=limited,
        seccomp=jail.filter_calls(seccomp.NATIVE_CALLS, new_code=True),
    )


def _library_parts(library: str) -> list[str]:
    """The standard library's files and packages, but not what is installed beside them."""
    foreign = ("site-packages", "dist-packages", "test", "idlelib", "ensurepip")
    return [entry.path for entry in os.scandir(library) if entry.name not in foreign]


def _open_to_all(folder: str) -> bool:
    """Whether a user who owns nothing could still import from `folder`."""
    return all(place.stat().st_mode & 0o005 == 0o005 for place in (Path(folder), *Path(folder).parents))


def _size() -> int:
    """This process' address space in bytes, before the program starts (proc(5), statm)."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[0]) * os.sysconf("SC_PAGESIZE")
