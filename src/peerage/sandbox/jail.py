"""A Linux process locks itself in: no files, no network, no new processes, no privileges, small limits.

Every part is one-way and independent: what a kernel lacks is reported, and the caller decides whether the
rest is enough. Landlock is used as landlock(7) describes it, through its three system calls.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from peerage.sandbox import seccomp
from peerage.sandbox.program import Protections

if sys.platform != "win32":
    import resource  # now: nothing can be imported from inside the jail

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on every processor
_LANDLOCK_VERSION, _PATH_BENEATH = 1, 1
_EVERY_RIGHT, _PORTS = (1 << 16) - 1, 0b11
_READ_FILE, _MAKE_BLOCK = 1 << 2, 1 << 11
_CHANGE_FILE = 1 << 1 | 1 << 14
"""Write and truncate it."""
_CHANGE_FOLDER = 0b11_1111 << 4 | 1 << 10 | 1 << 12
"""Remove folders and files, make devices, folders, files, sockets, pipes and symbolic links."""
_REFER = 1 << 13
_SCOPE_SIGNALS = 1 << 1
_SCOPES = 1 << 0 | _SCOPE_SIGNALS
"""Abstract Unix sockets of others, and signals to them."""
NEW = {
    "mounts": 0x0002_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "network": 0x4000_0000,
}
NEW_USER = 0x1000_0000
_NOBODY = 65_534
_CAPABILITY_VERSION_3 = 0x2008_0522
_LIMITS = {"CORE": 0, "FSIZE": 0, "NPROC": 0, "MEMLOCK": 0, "NOFILE": 0, "DATA": 4 * 2**30}
"""Of a worker: no new process or file, no file written, and data far above any guest's limit."""


def supported() -> bool:
    """Return whether this system has a jail at all."""
    return sys.platform == "linux"


class Jail:
    """The steps, in the order in which they must be taken. Linux only."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._machine = seccomp.machine()

    def enter(self, parent: int) -> Protections:
        """Do what must happen while there is one thread, and return what holds this process; `close` does the
        rest."""
        namespaces = self.isolate(NEW)
        self.become_nobody()
        unprivileged = self.renounce_privileges()
        self.die_with_parent(parent)
        return Protections(self.landlock(), False, namespaces, unprivileged)

    def close(self, held: Protections) -> Protections:
        """Do what must wait until all threads are there: set limits, then the filter of system calls on every
        thread."""
        return replace(held, limits=self.limit(_LIMITS), seccomp=self.filter_calls(seccomp.allowing))

    def isolate(self, wanted: Mapping[str, int]) -> tuple[str, ...]:
        """Enter namespaces of our own, as root or in one of users. Return their names, none where they cannot
        be had. Needs a process with one thread."""
        for names in (wanted, {"user": NEW_USER, **wanted}):
            if self._libc.unshare(ctypes.c_int(sum(names.values()))) == 0:
                return tuple(names)
        return ()

    def become_nobody(self) -> None:
        """From root to a user who owns nothing; for anybody else there is nothing to do."""
        if os.geteuid() == 0:
            with suppress(OSError):  # inside a user namespace root is nobody already
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)

    def renounce_privileges(self) -> bool:
        """Give up every privilege of root, for good; False where the processor's numbers are not known."""
        if self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refuses no_new_privs")
        if self._machine is None:
            return False
        header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
        return bool(self._libc.syscall(self._machine.numbers["capset"], header, bytes(24)) == 0)

    def die_with_parent(self, parent: int) -> None:
        """Be killed when the parent ends, and keep this process' memory from its peers."""
        self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        self._end_after(parent, signal.SIGKILL)

    def adopt_orphans(self, parent: int) -> None:
        """Become the parent of every descendant whose own has ended; get SIGTERM when `parent`,
        this process' own, does."""
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._end_after(parent, signal.SIGTERM)

    def _end_after(self, parent: int, by: signal.Signals) -> None:
        self._libc.prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent has ended")

    def limit(self, limits: Mapping[str, int]) -> bool:
        """Set resource limits, by their names of setrlimit(2), none above what it is now."""
        try:
            for name, most in limits.items():
                kind = getattr(resource, f"RLIMIT_{name}")
                hard = resource.getrlimit(kind)[1]
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            return False
        return True

    def landlock(self) -> int:
        """Deny every file, every listing and every TCP port.

        Returns the version of the interface, 0 where there is none.
        """
        return self.landlock_version() if self._restrict(_EVERY_RIGHT, _PORTS, _SCOPES, ()) else 0

    def landlock_version(self) -> int:
        """The version of Landlock's interface, 0 or less where there is none."""
        return int(self._libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION))

    def hide_all_but(self, readable: Iterable[str], writable: Iterable[str], *, strict: bool = False) -> bool:
        """Deny reading every file but those beneath `readable`, changing all but what is beneath `writable`,
        and signals to others; nothing else. False without Landlock.

        What is held by Landlock can neither mount nor look into processes that are not. Nor may it make a
        block device, behind which every file is. When `strict`, it also reaches no abstract socket of others,
        and may move files between folders that it can change.
        """
        change_folder = _CHANGE_FILE | _CHANGE_FOLDER | (_REFER if strict else 0)
        rules = ((readable, _READ_FILE), (writable, change_folder))
        scopes = _SCOPES if strict else _SCOPE_SIGNALS
        return self._restrict(_READ_FILE | _MAKE_BLOCK | change_folder, 0, scopes, rules)

    def _restrict(
        self, rights: int, ports: int, scopes: int, rules: Iterable[tuple[Iterable[str], int]]
    ) -> bool:
        """Deny rights over files, TCP and scopes, as far as this kernel knows them. To the paths of a rule it
        leaves those that the rule allows, over a folder and all in it, or those of them that a file has."""
        version = self.landlock_version()
        known = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
        handled = (rights & known, ports, scopes)[: 1 if version < 4 else 2 if version < 6 else 3]
        packed = struct.pack(f"={len(handled)}Q", *handled)
        ruleset = self._libc.syscall(_LANDLOCK_CREATE, packed, ctypes.c_size_t(len(packed)), 0)
        if ruleset < 0:
            return False
        try:
            for paths, allowed in rules:
                for path in paths:
                    with suppress(OSError):  # it is gone, or nothing that a rule can be about
                        self._allow(ruleset, path, allowed & known)
            return bool(self._libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
        finally:
            os.close(ruleset)

    def _allow(self, ruleset: int, path: str, rights: int) -> None:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            of_files = _READ_FILE | _CHANGE_FILE
            rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & of_files, handle)
            self._libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(handle)

    def filter_calls(self, wanted: Callable[[seccomp.Machine], bytes]) -> bool:
        """Put a system call filter (`seccomp.allowing`, `seccomp.forbidding`) on every thread; False where it
        cannot be had."""
        machine = self._machine
        return machine is not None and seccomp.install(self._libc, machine, wanted(machine))
