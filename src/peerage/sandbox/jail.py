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
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from peerage.sandbox import seccomp
from peerage.sandbox.program import Protections

if sys.platform != "win32":
    import resource  # now: nothing can be imported from inside the jail

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on every processor
_LANDLOCK_VERSION, _PATH_BENEATH = 1, 1
_READ_FILE, _MAKE_BLOCK = 1 << 2, 1 << 11
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGE_FOLDER = 0b11_1111 << 4 | 1 << 10 | 1 << 12
"""Remove folders and files, make devices, folders, files, sockets, pipes and symbolic links."""
_REFER = 1 << 13
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1
NEW = {
    "mounts": 0x0002_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "network": 0x4000_0000,
}
NEW_USER = 0x1000_0000
_NOBODY = 65_534
_CAPABILITY_VERSION_3 = 0x2008_0522


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
        namespaces = self.isolate()
        self.become_nobody()
        unprivileged = self.drop_capabilities()
        self.die_with_parent(parent)
        self.no_new_privileges()
        return Protections(self.landlock(), False, namespaces, unprivileged)

    def close(self, held: Protections, *, data: int) -> Protections:
        """Set limits (see `limit`), then the filter of system calls on every thread."""
        limited = self.limit(data)
        return replace(held, limits=limited, seccomp=self.filter_calls())

    def isolate(self) -> tuple[str, ...]:
        """Enter namespaces of our own: an empty network above all. Needs a process with one thread."""
        everything = sum(NEW.values())
        for flags, names in ((everything, ()), (NEW_USER | everything, ("user",))):
            if self._libc.unshare(ctypes.c_int(flags)) == 0:
                return (*names, *NEW)
        return ()

    def become_nobody(self) -> None:
        """From root to a user who owns nothing; for anybody else there is nothing to do."""
        if os.geteuid() == 0:
            with suppress(OSError):  # inside a user namespace root is nobody already
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)

    def drop_capabilities(self) -> bool:
        """Give up every privilege of root, for good; False where the processor's numbers are not known."""
        if self._machine is None:
            return False
        header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
        return bool(self._libc.syscall(self._machine.capset, header, bytes(24)) == 0)

    def die_with_parent(self, parent: int) -> None:
        """Be killed when the parent ends, and keep this process' memory from its peers."""
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        self._libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent has ended")

    def adopt_orphans(self, parent: int) -> None:
        """Become the parent of every descendant whose own has ended; get SIGTERM when `parent`,
        this process' own, does."""
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent has ended")

    def limit(self, data: int) -> bool:
        """Set resource limits: so many bytes of data; no new process or file, no file written, no core."""
        wanted = (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_NPROC, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_NOFILE, 0),
            (resource.RLIMIT_DATA, data),
        )
        try:
            for kind, most in wanted:
                hard = resource.getrlimit(kind)[1]
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            return False
        return True

    def no_new_privileges(self) -> None:
        if self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refuses no_new_privs")

    def landlock(self) -> int:
        """Deny every file, every listing and every TCP port.

        Returns the version of the interface, 0 where there is none.
        """
        version = self.landlock_version()
        files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
        parts = (files,) if version < 4 else (files, 3) if version < 6 else (files, 3, 3)
        return version if self._restrict(parts, ()) else 0

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
        version = self.landlock_version()
        change_file = _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)
        change_folder = _CHANGE_FOLDER | (_REFER if strict and version >= 2 else 0)
        handled = _READ_FILE | _MAKE_BLOCK | change_folder | change_file
        scopes = _SCOPE_SIGNALS | (_SCOPE_ABSTRACT_SOCKETS if strict else 0)
        parts = (handled,) if version < 6 else (handled, 0, scopes)
        rules = (
            (readable, _READ_FILE, _READ_FILE),
            (writable, change_file, change_file | change_folder),
        )
        return self._restrict(parts, rules)

    def _restrict(self, handled: Sequence[int], rules: Iterable[tuple[Iterable[str], int, int]]) -> bool:
        """Deny what is `handled` (rights over files, TCP, scopes), but to the paths of a rule what it allows:
        its rights for a file, or for a folder and all in it."""
        packed = struct.pack(f"={len(handled)}Q", *handled)
        ruleset = self._libc.syscall(_LANDLOCK_CREATE, packed, ctypes.c_size_t(len(packed)), 0)
        if ruleset < 0:
            return False
        try:
            for paths, file_rights, folder_rights in rules:
                for path in paths:
                    with suppress(OSError):  # it is gone, or nothing that a rule can be about
                        self._allow(ruleset, path, file_rights, folder_rights)
            return bool(self._libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
        finally:
            os.close(ruleset)

    def _allow(self, ruleset: int, path: str, file_rights: int, folder_rights: int) -> None:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", folder_rights if os.path.isdir(path) else file_rights, handle)
            self._libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(handle)

    def filter_calls(self) -> bool:
        """Put the system call filter on every thread; False where it cannot be had."""
        if self._machine is None:
            return False
        return seccomp.install(self._libc, self._machine, seccomp.program(self._machine))

    def forbid_calls(self) -> bool:
        """Put the filter for native programs (`seccomp.forbidding`) on this process; False as above."""
        if self._machine is None:
            return False
        return seccomp.install(self._libc, self._machine, seccomp.forbidding(self._machine))
