"""A view of the machine for a program of strangers, by Linux namespaces (namespaces(7)); see `locked`.

Root makes them as it is; anybody else needs unprivileged user namespaces.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from peerage.sandbox.jail import NEW, Jail

_NEW_PROCESSES = 0x2000_0000
_MOUNT_SETATTR, _RECURSIVE, _HERE = 442, 0x8000, -100  # the same on every processor
_READ_ONLY = 1
_BIND, _REC, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_NOSUID_NODEV_NOEXEC = 0b1110
_SET_FLAGS, _UP = 0x8914, 1

COUNTS_BY_TREE = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 14)
"""True where kernel.pid_max is a process tree's own. On an older kernel it is the whole machine's."""

_libc = ctypes.CDLL(None, use_errno=True)


def enter(network: bool) -> None:
    """Enter namespaces of our own, without `network` an empty network too; the next process that is forked is
    the first of a process tree of its own.

    Needs a process with one thread. Raises OSError where they cannot be had.
    """
    wanted = {name: flag for name, flag in NEW.items() if not (network and name == "network")}
    maps = {"setgroups": "deny"}
    maps |= {f"{kind}_map": f"{own} {own} 1" for kind, own in (("uid", os.geteuid()), ("gid", os.getegid()))}
    entered = Jail().isolate({**wanted, "processes": _NEW_PROCESSES})
    _checked(0 if entered else -1, "unshare")
    for name, line in maps.items() if "user" in entered else ():
        Path("/proc/self", name).write_text(line)


def show(hidden: Collection[str], shown: Collection[str], instead: Mapping[str, str]) -> None:
    """Make everything read-only, and lay empty folders and files over what is `hidden`.

    Of what lies below those, only the paths `shown` are there; a path of `instead` becomes a folder that can
    be written, which is the one that it names. A longer path wins over a shorter one.
    """
    _mount(None, "/", flags=_REC | _PRIVATE)
    sources = {path: os.open(path, os.O_PATH) for path in shown if os.path.exists(path)}
    sources |= {path: os.open(source, os.O_PATH) for path, source in instead.items()}
    for path in sorted({*hidden, *sources}, key=lambda path: (path.count("/"), path)):
        if path in sources:
            source = f"/proc/self/fd/{sources[path]}"
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.mkdir(path) if os.path.isdir(source) else open(path, "x").close()
            elif path not in instead:
                continue
            _mount(source, path, flags=_BIND | _REC)
        elif os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", data="size=1m,mode=755")
        elif os.path.exists(path):
            _mount("/dev/null", path, flags=_BIND)
    for name, target in {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}.items():
        os.symlink(target, f"/dev/{name}")
    for name in ("pts", "shm"):
        os.makedirs(f"/dev/{name}", exist_ok=True)  # places may lie in /dev/shm
    _set_attributes("/", _READ_ONLY, 0, _RECURSIVE)
    for path in instead:
        _set_attributes(path, 0, _READ_ONLY, 0)
    _mount("devpts", "/dev/pts", "devpts", data="newinstance,ptmxmode=0666,mode=620")
    if not os.listdir("/dev/shm"):
        _mount("tmpfs", "/dev/shm", "tmpfs", flags=_NOSUID_NODEV_NOEXEC, data="size=64m,mode=1777")
    for handle in sources.values():
        os.close(handle)


def show_own_processes() -> None:
    """Show none but the processes of this namespace in /proc, as far as the system lets us."""
    with suppress(OSError):  # in some containers, where parts of /proc are hidden already
        _mount("proc", "/proc", "proc", flags=_NOSUID_NODEV_NOEXEC)


def limit_processes(most: int) -> None:
    """Let the process tree of this process have so many processes and threads, root's too, where the kernel
    counts by tree."""
    if COUNTS_BY_TREE:
        with suppress(OSError):
            Path("/proc/sys/kernel/pid_max").write_text(str(most))


def raise_loopback() -> None:
    """Let programs of this network reach each other, and what listens there, at 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def _mount(source: str | None, target: str, kind: str = "", *, flags: int = 0, data: str = "") -> None:
    words = [word and os.fsencode(word) for word in (source, target, kind or None)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(data) or None), target)


def _set_attributes(path: str, on: int, off: int, flags: int) -> None:
    wanted = struct.pack("=4Q", on, off, 0, 0)
    size = ctypes.c_size_t(len(wanted))
    _checked(_libc.syscall(_MOUNT_SETATTR, _HERE, os.fsencode(path), flags, wanted, size), path)


def _checked(result: int, path: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
