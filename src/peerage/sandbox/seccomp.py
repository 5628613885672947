"""A system call filter for this process: a list of what is allowed, everything else fails with EPERM.

The filter is classic BPF over `struct seccomp_data` (linux/seccomp.h): the call's number at offset 0, the
architecture at 4, six 64-bit arguments from 16. It is put on every thread at once and can never be lifted.

Written by hand, because pyseccomp calls the system's libseccomp and brings none along: so the sandbox holds
wherever the kernel can, with nothing to install.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Mapping
from typing import NamedTuple

_SECCOMP_SET_MODE_FILTER, _TSYNC = 1, 1
_ALLOW, _KILL, _EPERM = 0x7FFF_0000, 0x8000_0000, 0x0005_0001
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OTHER_NUMBERS = 0x4000_0000
"""From here on the same calls have other numbers (x32)."""
_PROT_EXEC = 4
_F_GETFD, _F_SETFD, _F_GETFL = 1, 2, 3


class Machine(NamedTuple):
    """The differences between processors: the audit name, and the number of each system call by its name."""

    audit: int
    numbers: Mapping[str, int]


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


def _numbers(table: str) -> dict[str, int]:
    words = table.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


MACHINES = {
    "x86_64": Machine(
        0xC000_003E,
        _numbers(
            """read 0 write 1 close 3 fstat 5 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12 rt_sigaction 13
            rt_sigprocmask 14 rt_sigreturn 15 readv 19 writev 20 sched_yield 24 mremap 25 madvise 28
            nanosleep 35 getpid 39 socket 41 exit 60 fcntl 72 gettimeofday 96 getrusage 98 capset 126
            sigaltstack 131 gettid 186 time 201 futex 202 sched_getaffinity 204 restart_syscall 219
            clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231 add_key 248
            request_key 249 keyctl 250 set_robust_list 273 perf_event_open 298 seccomp 317 getrandom 318
            bpf 321 userfaultfd 323 membarrier 324 rseq 334 io_uring_setup 425"""
        ),
    ),
    "aarch64": Machine(
        0xC000_00B7,
        _numbers(
            """fcntl 25 close 57 lseek 62 read 63 write 64 readv 65 writev 66 fstat 80 capset 91 exit 93
            exit_group 94 futex 98 set_robust_list 99 nanosleep 101 clock_gettime 113 clock_getres 114
            clock_nanosleep 115 sched_getaffinity 123 sched_yield 124 restart_syscall 128 sigaltstack 132
            rt_sigaction 134 rt_sigprocmask 135 rt_sigreturn 139 getrusage 165 gettimeofday 169 getpid 172
            gettid 178 socket 198 brk 214 munmap 215 mremap 216 add_key 217 request_key 218 keyctl 219
            mmap 222 mprotect 226 madvise 233 perf_event_open 241 seccomp 277 getrandom 278 bpf 280
            userfaultfd 282 membarrier 283 rseq 293 io_uring_setup 425"""
        ),
    ),
}

CALLS = _words(
    """read write readv writev close fstat lseek munmap mremap madvise brk rt_sigaction rt_sigprocmask
    rt_sigreturn sigaltstack clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time
    getrandom exit exit_group gettid getpid sched_yield sched_getaffinity futex restart_syscall rseq
    set_robust_list membarrier getrusage"""
)
"""System calls that a worker needs which interprets nothing but WebAssembly: no way to name a file, a process
or a peer."""

FORBIDDEN = _words("add_key request_key keyctl perf_event_open bpf userfaultfd io_uring_setup")
"""System calls that a native program in its jail may not make: keys of the user, and ways around filters."""
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
"""The kinds of sockets that it may make: those that a network namespace holds, or a view of the files."""


def machine() -> Machine | None:
    """This processor's numbers, or None where they are not known."""
    return MACHINES.get(platform.machine()) if ctypes.sizeof(ctypes.c_void_p) == 8 else None


def allowing(on: Machine) -> bytes:
    """The filter for workers, as an array of `struct sock_filter`: all is refused but `CALLS`.

    Calls that this processor does not have are left out. `mmap` and `mprotect` are allowed without PROT_EXEC,
    `fcntl` for the flags of a descriptor.
    """
    out = _start(on)
    for name in CALLS:
        if name in on.numbers:
            out += [_step(_EQUAL, on.numbers[name], no=1), _step(_RETURN, _ALLOW)]
    for name in ("mmap", "mprotect"):
        out += [_step(_EQUAL, on.numbers[name], no=4), _argument(2)]
        out += [_step(_ANY_BIT, _PROT_EXEC, no=1), _step(_RETURN, _EPERM), _step(_RETURN, _ALLOW)]
    out += [_step(_EQUAL, on.numbers["fcntl"], no=5), _argument(1)]
    out += [_step(_EQUAL, _F_GETFD, yes=2), _step(_EQUAL, _F_SETFD, yes=1), _step(_EQUAL, _F_GETFL, no=1)]
    out += [_step(_RETURN, _ALLOW), _step(_RETURN, _EPERM)]
    return b"".join(out)


def forbidding(on: Machine) -> bytes:
    """The filter for native programs: all is allowed but `FORBIDDEN` and sockets of other `FAMILIES`."""
    out = [*_start(on), _step(_AT_LEAST, _OTHER_NUMBERS, no=1), _step(_RETURN, _EPERM)]
    for name in FORBIDDEN:
        out += [_step(_EQUAL, on.numbers[name], no=1), _step(_RETURN, _EPERM)]
    out += [_step(_EQUAL, on.numbers["socket"], yes=1), _step(_RETURN, _ALLOW), _argument(0)]
    for family in FAMILIES.values():
        out += [_step(_EQUAL, family, no=1), _step(_RETURN, _ALLOW)]
    return b"".join([*out, _step(_RETURN, _EPERM)])


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _argument(number: int) -> bytes:
    return _step(_LOAD, 16 + 8 * number)


def _start(on: Machine) -> list[bytes]:
    """Kill on another processor's calls, then load the number of the call."""
    return [_step(_LOAD, 4), _step(_EQUAL, on.audit, yes=1), _step(_RETURN, _KILL), _step(_LOAD, 0)]


class _Fprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(libc: ctypes.CDLL, on: Machine, filter_: bytes) -> bool:
    """Put the filter on every thread; `no_new_privs` must be set. False when the kernel refuses."""
    words = _SECCOMP_SET_MODE_FILTER, _TSYNC, ctypes.byref(_Fprog(len(filter_) // 8, filter_))
    return bool(libc.syscall(on.numbers["seccomp"], *words) == 0)
