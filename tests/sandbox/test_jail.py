"""The second wall, tried from inside: what a worker could still do if WebAssembly itself had a hole."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from peerage.sandbox import seccomp
from peerage.sandbox.seccomp import CALLS, FAMILIES, FORBIDDEN, MACHINES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the jail is for Linux")

TRIES = """
import json, mmap, os, socket, sys, threading
def attempt(name, what):
    try:
        what()
        found[name] = "done"
    except (OSError, RuntimeError) as error:
        found[name] = type(error).__name__
found = {}
def tries():
    attempt("passwd", lambda: open("/etc/passwd").read())
    attempt("write", lambda: open(os.devnull, "w"))
    attempt("list", lambda: os.listdir("/"))
    attempt("stat", lambda: os.stat("/etc/passwd"))
    attempt("socket", lambda: socket.socket())
    attempt("unix", lambda: socket.socket(socket.AF_UNIX))
    attempt("fork", os.fork)
    attempt("exec", lambda: os.execv("/bin/true", ["true"]))
    attempt("kill", lambda: os.kill(os.getppid(), 0))
    attempt("thread", lambda: threading.Thread(target=int).start())
    attempt("pipe", os.pipe)
    attempt("memfd", lambda: os.memfd_create("x"))
    attempt("new code", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))
    attempt("memory", lambda: mmap.mmap(-1, 4096))
"""


def tried(jail: str) -> dict[str, str]:
    """Run TRIES in a child of our own, after the lines of `jail`."""
    code = f"""{TRIES}
import os
from peerage.sandbox import seccomp, worker
{textwrap.dedent(jail)}
tries()
os.write(1, json.dumps(found).encode())
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
    assert done.stdout, done.stderr.decode()
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_a_worker_can_do_nothing_but_compute() -> None:
    found = tried("worker.Jail().close(worker.Jail().enter(os.getppid()))")
    assert found.pop("memory") == "done"
    assert set(found.values()) <= {"PermissionError", "OSError", "RuntimeError"}, found


def test_without_the_jail_all_of_that_works() -> None:
    found = tried("os.fork, os.execv = (lambda: None), (lambda *a: None)")
    assert set(found.values()) == {"done"}, found


@pytest.mark.parametrize(
    ("only", "denied"),
    [
        ("jail.landlock()", {"passwd", "write", "list"}),
        (
            "jail.filter_calls(seccomp.allowing)",
            {
                "passwd",
                "write",
                "list",
                "stat",
                "socket",
                "unix",
                "fork",
                "exec",
                "kill",
                "thread",
                "pipe",
                "memfd",
                "new code",
            },
        ),
    ],
)
def test_each_wall_holds_alone(only: str, denied: set[str]) -> None:
    safe = "" if "fork" in denied else "os.fork, os.execv = (lambda: None), (lambda *a: None)"
    found = tried(f"jail = worker.Jail(); jail.renounce_privileges(); {only}\n{safe}")
    assert {name for name, what in found.items() if what != "done"} >= denied, found


def decide(program: bytes, audit: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Interpret the filter as the kernel would: linux/filter.h, the instructions that it uses."""
    words = [number, audit, 0, 0]
    for one in (*arguments, *(0,) * (6 - len(arguments))):
        words += [one & 0xFFFF_FFFF, one >> 32]
    at = value = 0
    while True:
        code = int.from_bytes(program[8 * at : 8 * at + 2], "little")
        yes, no = program[8 * at + 2 : 8 * at + 4]
        operand = int.from_bytes(program[8 * at + 4 : 8 * at + 8], "little")
        at += 1
        if code == 0x20:
            value = words[operand // 4]
        elif code == 0x15:
            at += yes if value == operand else no
        elif code == 0x35:
            at += yes if value >= operand else no
        elif code == 0x45:
            at += yes if value & operand else no
        else:
            assert code == 0x06
            return operand


ALLOW, EPERM, KILL = 0x7FFF_0000, 0x0005_0001, 0x8000_0000


@pytest.mark.parametrize("name", MACHINES)
def test_the_filter_allows_its_list_and_nothing_else(name: str) -> None:
    on = MACHINES[name]
    program = seccomp.allowing(on)
    listed = {on.numbers[call] for call in CALLS if call in on.numbers}
    special = {on.numbers[call] for call in ("mmap", "mprotect", "fcntl")}
    for number in set(range(600)) - special:
        assert decide(program, on.audit, number) == (ALLOW if number in listed else EPERM)
    for call in ("mmap", "mprotect"):
        assert decide(program, on.audit, on.numbers[call], (0, 4096, 3)) == ALLOW
        assert decide(program, on.audit, on.numbers[call], (0, 4096, 5)) == EPERM
    assert decide(program, on.audit, on.numbers["fcntl"], (3, 1)) == ALLOW
    assert decide(program, on.audit, on.numbers["fcntl"], (3, 8)) == EPERM  # F_SETOWN
    assert decide(program, on.audit, 0x4000_0000 | on.numbers["read"]) == EPERM  # the x32 interface
    assert decide(program, 0x4000_0003, on.numbers["read"]) == KILL  # 32-bit x86


@pytest.mark.parametrize("name", MACHINES)
def test_native_programs_lose_a_few_calls_and_the_other_kinds_of_sockets(name: str) -> None:
    on = MACHINES[name]
    program = seccomp.forbidding(on)
    lost = {on.numbers[call] for call in FORBIDDEN}
    for number in set(range(600)) - {on.numbers["socket"]}:
        assert decide(program, on.audit, number) == (EPERM if number in lost else ALLOW)
    for family in range(50):
        wanted = ALLOW if family in FAMILIES.values() else EPERM
        assert decide(program, on.audit, on.numbers["socket"], (family,)) == wanted
    assert decide(program, on.audit, 0x4000_0000 | on.numbers["read"]) == EPERM  # the x32 interface
    assert decide(program, 0x4000_0003, on.numbers["read"]) == KILL  # 32-bit x86
