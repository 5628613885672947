"""Run a program that cannot read certain files, nor change what others run; then end all that it started.

`main` is called with the arguments PARENT HIDDEN FIXED OWN -- PROGRAM ARGS: the process that waits for it,
and JSON lists of absolute paths; without HIDDEN nothing is confined. The program may do all else
that its user may: it is not in a sandbox. Landlock holds it, which only knows what is allowed: everything
next to the way to those files, as it is when the program starts. So in a folder on the way to what is FIXED
it makes, changes, renames and removes nothing; below OWN it may, that wins. It cannot rename from one folder
to another, but copy. Run by root, it has none of root's privileges over others' files.

When the program ends, or this process is told to (SIGTERM, or PARENT has ended), every process that it left
behind is killed, in whatever session: this process is the subreaper (prctl(2)) that orphans fall to. It
leaves with the program's exit code, or with 128 and the number of the signal that killed it.

The program, and whatever it starts, can neither trace nor look into processes that are not its own, nor
signal them (from Linux 6.12 on), nor mount; a name, a hard link or a symbolic link of one of the files does
not open it either.
"""

from __future__ import annotations

import json
import os
import signal
import site
import socket
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NoReturn, TypedDict

from peerage.sandbox.jail import Jail, supported
from peerage.values.system_errors import reason

END_S = 5.0

STARTED_BY_THEMSELVES = (".config/autostart", ".config/systemd", ".local/share/systemd", ".ssh")
"""Below the home folder. What a shell reads at its start are files on the way there, and so fixed too."""


class Ended(TypedDict):
    """The end of a program: `exit` with its code, `size` (its folder grew too large), or `jail`: it was not
    run. `why` says what was wrong."""

    end: Literal["exit", "size", "jail"]
    code: int
    why: str


class LockedOptions(TypedDict):
    """The options of `locked`.

    `parent` waits for it; `hidden` paths are not there, but those `shown` although they lie below; `place`
    holds the folders `work`, `home` and `tmp`, which the program may change, up to so many `bytes` and
    `files`. With `network` it has that of the machine. How it ended goes to the descriptor `report` (see
    `Ended`), where that is not 0. Where `port` is not 0 it is a Unix socket, to which goes first the socket
    that listens to 127.0.0.1:`port` in the jail (see `listener`).
    """

    parent: int
    hidden: list[str]
    shown: list[str]
    place: str
    bytes: int
    files: int
    network: bool
    port: int
    report: int


_SOURCE = os.path.abspath(f"{__file__}/../../../..")


def launcher(module: str, *flags: str, places: Iterable[str] = (_SOURCE,)) -> list[str]:
    """Return the words that run `main` of a module of the sandbox, of this very source: another one may be
    installed. `flags` are those of Python, which looks in `places` first."""
    start = "import sys; sys.path[:0] = sys.argv.pop(1).split('\\n')"
    start += f"; from peerage.sandbox.{module} import main; main()"
    return [sys.executable, *flags, "-c", start, "\n".join(places)]


def listener(report: socket.socket) -> socket.socket | None:
    """Return the socket that a launcher sends to the other end of `report`, which listens in its jail; None
    where it ended before. Waits for it."""
    handles = socket.recv_fds(report, 1, 1, socket.MSG_CMSG_CLOEXEC)[1]
    return socket.socket(fileno=handles[0]) if handles else None


def available() -> bool:
    """Return whether this system can hold a program so."""
    return supported() and Jail().landlock_version() > 0


def readable(hidden: Collection[str], shown: Collection[str] = ()) -> Iterator[str]:
    """The files and folders that together are all but `hidden`, and `shown` although it lies below those;
    each folder stands for all that is in it."""
    way = _way_to(hidden)
    yield from (entry.path for entry in _all_but(hidden, [path for path in shown if path in way]))
    yield from (path for path in shown if path not in way)


def writable(fixed: Collection[str]) -> Iterator[str]:
    """The folders, devices and sockets that together are all but `fixed` and what lies on the way there."""
    for entry in _all_but(fixed):
        if not entry.is_file(follow_symlinks=False):
            yield entry.path


def run_by_others() -> list[str]:
    """Return where programs and modules lie that this user runs without thinking: Python's and Peerage's own,
    those on PATH, and what a session of the user starts by itself."""
    home = os.path.expanduser("~")
    paths = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, site.getusersitepackages()}
    paths |= {os.path.abspath(path) for path in sys.path}
    paths |= {os.path.abspath(path) for path in os.get_exec_path()}
    paths |= {os.path.join(home, name) for name in STARTED_BY_THEMSELVES}
    return sorted(paths)


def _way_to(hidden: Collection[str]) -> set[str]:
    """The folders above what is hidden; of /dev too each device is named."""
    way = {"/", "/dev"}
    for path in map(os.path.realpath, hidden):
        while (path := os.path.dirname(path)) not in way:
            way.add(path)
    return way


def _all_but(hidden: Collection[str], shown: Collection[str] = ()) -> Iterator[os.DirEntry[str]]:
    paths = {os.path.realpath(path) for path in hidden}
    files: set[tuple[int, int]] = set()
    for path in paths:
        with suppress(OSError):
            status = os.stat(path)
            files.add((status.st_dev, status.st_ino))
    way = _way_to(paths)
    todo = ["/", *shown]
    while todo:
        try:
            entries = list(os.scandir(todo.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.path in paths:
                continue
            if entry.path in way and entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
                continue
            try:
                here = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            # A link would allow what it leads to; that is reached by its own path. A disk holds all files.
            secret = (here.st_dev, here.st_ino) in files
            if not (secret or stat.S_ISLNK(here.st_mode) or stat.S_ISBLK(here.st_mode)):
                yield entry


def main() -> None:
    parent, hidden, fixed, own = (json.loads(argument) for argument in sys.argv[1:5])
    signal.signal(signal.SIGTERM, end_by_signal)
    jail = Jail()
    jail.adopt_orphans(parent)

    def lacking() -> str:
        if hidden:
            jail.renounce_privileges()  # of root, who could look into other processes all the same
            if not jail.hide_all_but(readable(hidden, own), [*writable([*fixed, *run_by_others()]), *own]):
                return "this system has no Landlock, and the program could read the arena's ledger"
        return ""

    try:
        program = fork_program(sys.argv[6:], lacking, lambda why: print(why, file=sys.stderr, flush=True))
        code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_children()
    os._exit(exit_code(code))


def fork_program(words: list[str], lacking: Callable[[], str], refuse: Callable[[str], None]) -> int:
    """Return the number of a new process, which becomes a program once `lacking` has confined it. That, or a
    program that is not there, is refused in words; then it leaves with 127."""
    if process := os.fork():
        return process
    try:
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):  # two of which Python ignores
            signal.signal(number, signal.SIG_DFL)
        if why := lacking():
            refuse(why)
        else:
            os.execvpe(words[0], words, os.environ)
    except OSError as error:
        refuse(f"{words[0]} cannot be run: {reason(error)}")
    finally:
        os._exit(127)


def exit_code(code: int) -> int:
    """Return what a shell makes of a program's end: 128 and the number of the signal that killed it."""
    return code if code >= 0 else 128 - code


def end_by_signal(*_: object) -> NoReturn:
    """Leave in good order; a handler of signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not interrupt the end
    sys.exit(128 + signal.SIGTERM)


def end_children() -> None:
    """Kill this process' children, and those of theirs that fall to it then, until there are none."""
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for stat_file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parent = int(stat_file.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
                if parent == os.getpid():
                    os.kill(int(stat_file.parent.name), signal.SIGKILL)
        time.sleep(0.002)
