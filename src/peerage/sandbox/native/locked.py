"""Run a program of strangers in a jail: a view of the machine without secrets, and a folder of its own.

Its arguments are a file of `LockedOptions` (JSON), which it removes, and the program's words. Of Linux it
takes namespaces (a read-only view of the files, an empty network, a process tree that ends as one), Landlock
for the same files once more, a filter of system calls, and limits. What the kernel does not give is refused.

This process stays outside: it relays connections from one port of the jail's loopback to one Unix socket,
watches the size of the folder, and ends the program and all that it started when it is told to (SIGTERM, or
its parent has ended). It leaves with the program's exit code, or with 128 and the number of its signal.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from threading import BoundedSemaphore, Thread
from typing import NoReturn, TypedDict

from peerage.sandbox.jail import Jail
from peerage.sandbox.native import namespaces
from peerage.sandbox.native.confined import Ended, end_by_signal, exit_code, readable
from peerage.values.system_errors import reason

if sys.platform != "win32":
    import resource

WRITTEN = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm")
_PROCESSES = 2000
LIMITS = {"FSIZE": 256 * 2**20, "CORE": 0, "NOFILE": 4096, "NPROC": _PROCESSES}
"""By the names of setrlimit(2). The kernel counts no processes of root; the watch does."""
NO_NAMESPACES = (
    "this system lets ordinary users make no namespaces: as root, set user.max_user_namespaces above 0 and "
    "kernel.apparmor_restrict_unprivileged_userns to 0; in a container, give it CAP_SYS_ADMIN and no filter "
    "that forbids unshare and mount"
)
CONNECTIONS = 64
"""At most so many go through the relay at once; more wait."""
_LOOK_S = 30.0
"""Seconds after which a folder is measured again, though the disk holds hardly more."""
_DEEPEST = 3500
"""Characters of a path, beyond which nobody could measure what lies there."""


class LockedOptions(TypedDict):
    """The options of a launcher.

    `parent` waits for it; `hidden` paths are not there, but those `shown` although they lie below; `place`
    holds the folders `work`, `home` and `tmp`, which the program may change, up to so many `bytes` and
    `files`. `network` is none, gateway (127.0.0.1:`port` leads to the Unix socket `gateway`) or all. How it
    ended goes to the descriptor `report` (see `Ended`), where that is not 0.
    """

    parent: int
    hidden: list[str]
    shown: list[str]
    place: str
    bytes: int
    files: int
    network: str
    port: int
    gateway: str
    report: int


def main() -> None:
    with open(sys.argv[1]) as file:
        options: LockedOptions = json.load(file)
    os.unlink(sys.argv[1])
    if options["report"]:
        os.set_inheritable(options["report"], False)
    here = os.getcwd()
    signal.signal(signal.SIGTERM, end_by_signal)
    place = options["place"]
    own = [os.path.join(place, name) for name in ("work", "home", "tmp")]
    try:
        shown = [*options["shown"], place]
        allowed = [*readable(options["hidden"], shown), *own, *WRITTEN]
        if options["gateway"]:
            os.chdir(os.path.dirname(options["gateway"]))
        hidden = [*options["hidden"], *_sockets()]
        namespaces.enter(network=options["network"] != "all")
        namespaces.show(hidden, shown, {**dict(zip(own, own, strict=True)), "/tmp": own[2]})
        if options["network"] != "all":
            namespaces.raise_loopback()
        listener = socket.create_server(("127.0.0.1", options["port"])) if options["gateway"] else None
        Jail().adopt_orphans(options["parent"])
        first = namespaces.fork_first()
    except OSError as error:
        _refuse(options, f"{NO_NAMESPACES} ({error.filename or 'network'}: {error.strerror})")
    if first == 0:
        _be_first(options, sys.argv[2:], here, allowed, [*own, *WRITTEN])
    ended: Ended = {"end": "exit", "code": 128 + signal.SIGTERM, "why": ""}
    try:
        if listener:
            Thread(target=_relay, args=(listener, os.path.basename(options["gateway"])), daemon=True).start()
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


def _be_first(
    options: LockedOptions, words: list[str], here: str, read: list[str], written: list[str]
) -> NoReturn:
    """Be the first process of the namespace, with which all others end, until the program has ended."""
    jail = Jail()
    jail.die_with_parent(0)  # the parent is in no namespace of ours, so it has no number here
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    namespaces.show_own_processes()
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            for name, most in LIMITS.items():
                limit = getattr(resource, f"RLIMIT_{name}")
                hard = resource.getrlimit(limit)[1]
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(limit, (most, most))
            with suppress(OSError), open("/proc/self/oom_score_adj", "w") as first_to_go:
                first_to_go.write("1000")  # when memory is short
            os.chdir(here)
            jail.no_new_privileges()
            held = jail.drop_capabilities() and jail.hide_all_but(read, written, strict=True)
            if not (held and jail.forbid_calls()):
                _refuse(options, "this system has no Landlock or no seccomp, or its processor is not known")
            os.execvpe(words[0], words, os.environ)
        except OSError as error:
            _refuse(options, f"{words[0]} cannot be run: {reason(error)}")
        finally:
            os._exit(127)
    while True:
        process, status = os.wait()
        if process == program:
            os._exit(exit_code(os.waitstatus_to_exitcode(status)))


def _watched(first: int, options: LockedOptions) -> Ended:
    """Wait for the program; kill it when its folder grows too large, or it has too many processes."""
    poll, looked, before = select.poll(), -math.inf, (0, 0)
    poll.register(os.pidfd_open(first), select.POLLIN)
    most = options["bytes"], options["files"]
    while not poll.poll(500):
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


def _too_many_processes() -> str:
    # Where /proc is the jail's, this process is not in it.
    too_many = not os.path.exists("/proc/self") and len(os.listdir("/proc")) > _PROCESSES
    return f"more than {_PROCESSES} processes" if too_many else ""


def _too_large(place: str, most_bytes: int, most_files: int) -> str:
    """Return in words what is too much in a folder; empty where nothing is."""
    held = files = 0
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


def _relay(listener: socket.socket, gateway: str) -> None:
    """Pass on every connection, byte for byte, to a Unix socket, which lies in the current folder."""
    free = BoundedSemaphore(CONNECTIONS)
    while True:
        free.acquire()
        near, _ = listener.accept()
        Thread(target=_pass_both, args=(near, gateway, free), daemon=True).start()


def _pass_both(near: socket.socket, gateway: str, free: BoundedSemaphore) -> None:
    try:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):
            far.connect(gateway)
            back = Thread(target=_pass, args=(far, near), daemon=True)
            back.start()
            _pass(near, far)
            back.join()
    finally:
        free.release()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _report(options: LockedOptions, ended: Ended) -> None:
    if options["report"]:
        with suppress(OSError):
            os.write(options["report"], json.dumps(ended).encode() + b"\n")


def _refuse(options: LockedOptions, why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    _report(options, {"end": "jail", "code": 127, "why": why})
    os._exit(127)
