"""Run a program of strangers in a jail: a view of the machine without secrets, and a folder of its own.

Its arguments are a file of `LockedOptions` (JSON), which it removes, and the program's words. Of Linux it
takes namespaces (a read-only view of the files, an empty network, a process tree that ends as one), Landlock
for the same files once more, a filter of system calls, and limits. What the kernel does not give is refused.

This process stays outside: it watches the size of the folder, and ends the program and all that it started
when it is told to (SIGTERM, or its parent has ended). It leaves with the program's exit code, or with 128 and
the number of its signal.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import select
import signal
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from glob import glob
from typing import NoReturn

from peerage.sandbox import seccomp
from peerage.sandbox.jail import Jail
from peerage.sandbox.native import namespaces
from peerage.sandbox.native.confined import (
    Ended,
    LockedOptions,
    end_by_signal,
    exit_code,
    fork_program,
    readable,
)

WRITTEN = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm")
_PROCESSES = 2000
LIMITS = {"FSIZE": 256 * 2**20, "CORE": 0, "NOFILE": 4096, "NPROC": _PROCESSES}
"""By the names of setrlimit(2). Of root, NPROC counts nothing; `limit_processes` does, or the watch."""
NO_NAMESPACES = (
    "this system lets ordinary users make no namespaces: as root, set user.max_user_namespaces above 0 and "
    "kernel.apparmor_restrict_unprivileged_userns to 0; in a container, give it CAP_SYS_ADMIN and no filter "
    "that forbids unshare and mount"
)
_DENIED = (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS, errno.ENOSYS, errno.EINVAL)
"""Errors by which a system that makes no namespaces says so; ENOSPC where it makes no more."""
_LOOK_S = 30.0
"""Seconds after which a folder is measured again, though the disk holds hardly more."""
_DEEPEST = 3500
"""Characters of a path, beyond which nobody could measure what lies there."""


def main() -> None:
    with open(sys.argv[1]) as file:
        options: LockedOptions = json.load(file)
    os.unlink(sys.argv[1])
    if options["report"]:
        os.set_inheritable(options["report"], False)
    here, launcher = os.getcwd(), os.pidfd_open(os.getpid())
    signal.signal(signal.SIGTERM, end_by_signal)
    place = options["place"]
    own = [os.path.join(place, name) for name in ("work", "home", "tmp")]
    try:
        shown = [*options["shown"], place]
        allowed = [*readable(options["hidden"], shown), *own, *WRITTEN]
        hidden = [*options["hidden"], *_sockets()]
        namespaces.enter(options["network"])
        namespaces.show(hidden, shown, {**dict(zip(own, own, strict=True)), "/tmp": own[2]})
        if not options["network"]:
            namespaces.raise_loopback()
        if options["port"]:
            _listen(options)
        Jail().adopt_orphans(options["parent"])
        first = os.fork()
    except OSError as error:
        why = NO_NAMESPACES if error.errno in _DENIED else "a jail cannot be made here"
        _refuse(options, f"{why} ({error.filename or 'network'}: {error.strerror})")
        os._exit(127)
    if first == 0:
        _be_first(options, launcher, here, allowed, [*own, *WRITTEN])
    ended: Ended = {"end": "exit", "code": 128 + signal.SIGTERM, "why": ""}
    try:
        ended = _watched(first, options)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(first, signal.SIGKILL)
            os.waitpid(first, 0)  # which takes all processes of its namespace along
        _report(options, ended)
    os._exit(ended["code"])


def _sockets() -> list[str]:
    """Paths of all sockets that others listen on now: to write to one takes no more than to see it."""
    with open("/proc/net/unix", errors="surrogateescape") as listed:
        words = [line.rstrip("\n").split(maxsplit=7) for line in listed]
    return [line[7] for line in words if len(line) == 8 and line[7].startswith("/")]


def _listen(options: LockedOptions) -> None:
    """Hand the parent a socket that listens in the jail, since only there it can be made."""
    with (
        socket.create_server(("127.0.0.1", options["port"])) as listener,
        socket.socket(fileno=os.dup(options["report"])) as parent,
    ):
        socket.send_fds(parent, [b"\0"], [listener.fileno()])


def _be_first(
    options: LockedOptions, launcher: int, here: str, read: list[str], written: list[str]
) -> NoReturn:
    """Be the first process of the namespace, with which all others end, until the program has ended."""
    namespaces.show_own_processes()
    namespaces.limit_processes(_PROCESSES)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as first_to_go:
        first_to_go.write("1000")  # when memory is short; from `die_with_parent` on it is root's file
    jail = Jail()
    jail.die_with_parent(0)  # the parent is in no namespace of ours, so it has no number here
    if select.select([launcher], [], [], 0)[0]:
        os._exit(1)  # it had ended before that
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def lacking() -> str:
        os.setsid()
        os.chdir(here)
        held = jail.limit(LIMITS) and jail.renounce_privileges()
        held = (
            held and jail.hide_all_but(read, written, strict=True) and jail.filter_calls(seccomp.forbidding)
        )
        return "" if held else "this system has no Landlock or no seccomp, or its processor is not known"

    program = fork_program(sys.argv[2:], lacking, partial(_refuse, options))
    while True:
        process, status = os.wait()
        if process == program:
            os._exit(exit_code(os.waitstatus_to_exitcode(status)))


def _watched(first: int, options: LockedOptions) -> Ended:
    """Wait for the program; kill it when its folder grows too large, or it has too many processes."""
    poll, looked, before = select.poll(), -math.inf, (0, 0)
    poll.register(os.pidfd_open(first), select.POLLIN)
    most = options["bytes"], options["files"]
    # Within half a second those of root, whom nobody counts on an old kernel, would use up all numbers.
    pause = 500 if os.getuid() or namespaces.COUNTS_BY_TREE else 50
    while not poll.poll(pause):
        disk, now = os.statvfs(options["place"]), time.monotonic()
        free = disk.f_bavail * disk.f_frsize, disk.f_favail
        grown = any(was - there > part / 8 for was, there, part in zip(before, free, most, strict=True))
        why = _too_many_processes()
        if not why and (grown or now > looked + _LOOK_S):
            looked, before = now, free
            why = _too_large(options["place"], *most)
        if why:
            sys.stderr.write(f"killed: {why}\n")
            return {"end": "size", "code": 128 + signal.SIGXFSZ, "why": why}
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return {"end": "exit", "code": exit_code(code), "why": ""}


def _processes() -> list[str]:
    """Return the folders in /proc of the jail's processes; none where those of others are there, too."""
    return [] if os.path.exists("/proc/self") else glob("/proc/[0-9]*")


def _too_many_processes() -> str:
    threads = 0
    for process in _processes():
        with suppress(OSError):
            threads += os.stat(f"{process}/task").st_nlink - 2
    return f"more than {_PROCESSES} processes and threads" if threads > _PROCESSES else ""


def _unlinked(place: str) -> int:
    """Return the bytes on the disk of `place` whose files are removed, but open or mapped in a process."""
    disk, files = os.stat(place).st_dev, Counter[int]()
    for process in _processes():
        for handle in glob(f"{process}/fd/*"):
            with suppress(OSError):
                status = os.stat(handle)
                if not status.st_nlink and status.st_dev == disk:
                    files[status.st_ino] = status.st_blocks * 512
        mapped = Counter[int]()
        with suppress(OSError), open(f"{process}/maps", errors="replace") as maps:
            for line in maps:
                if line.endswith("(deleted)\n"):
                    start, end, _, _, major, minor, number, *_ = re.split("[- :]", line, maxsplit=7)
                    if os.makedev(int(major, 16), int(minor, 16)) == disk:
                        mapped[int(number)] += int(end, 16) - int(start, 16)
        files |= mapped
    return files.total()


def _too_large(place: str, most_bytes: int, most_files: int) -> str:
    """Return in words what is too much in a folder; empty where nothing is."""
    held, files = _unlinked(place), 0
    folders = [place]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                files += 1
                held += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    if len(entry.path) > _DEEPEST:
                        return "its folders are too deep"
                if held > most_bytes or files > most_files:
                    return f"its folder holds more than {most_bytes:,} bytes or {most_files:,} files"
    return ""


def _report(options: LockedOptions, ended: Ended) -> None:
    if options["report"]:
        with suppress(OSError):
            os.write(options["report"], json.dumps(ended).encode() + b"\n")


def _refuse(options: LockedOptions, why: str) -> None:
    print(why, file=sys.stderr, flush=True)
    _report(options, {"end": "jail", "code": 127, "why": why})
