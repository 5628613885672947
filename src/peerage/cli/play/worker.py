"""`peerage worker`: this machine joins a cluster that plays."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

REACH_S = 10.0
"""How long the head may take to accept a connection."""
LEAVE_S = 45.0
"""How long a machine that leaves may take to end what it started; Ray drains it for 30 s first."""
MOST_LINES = 200
"""Lines that are kept of what Ray says here."""


def worker(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The head of the Ray cluster.")],
    cpus: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Workers here at most.", show_default="one for each CPU"),
    ] = None,
) -> None:
    """Let this machine play for runs of a Ray cluster, until Ctrl+C.

    A run under `engine: ray` places workers here as soon as it sees the machine. When it leaves, calls in
    flight return, and what else is under way goes on elsewhere.
    """
    from peerage.settings import ArenaError

    if find_spec("ray") is None or find_spec("psycopg") is None:
        raise ArenaError("a worker needs the extra `ray`: pip install 'peerage[ray]'")
    _reach(address)
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", f"--address={address}", "--block"]
    if cpus is not None:
        command.append(f"--num-cpus={cpus}")
    node = subprocess.Popen(
        command,
        env={"RAY_USAGE_STATS_ENABLED": "0", **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl+C is for us: Ray would end its processes at once
    )
    printed: deque[str] = deque(maxlen=MOST_LINES)
    joined = partial(typer.echo, f"this machine has joined {address}; Ctrl+C lets it leave")
    reading = threading.Thread(target=_read, args=(node.stdout, printed, joined), daemon=True)
    reading.start()
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.default_int_handler)
    try:
        code = node.wait()
    except KeyboardInterrupt:
        _leave(node)
        return
    if code:
        reading.join(1.0)
        raise ArenaError(_why(address, printed))


def _leave(node: subprocess.Popen[str]) -> None:
    """Let workers give back what they have under way, and end."""
    typer.echo("leaving: calls in flight return, matches go on elsewhere; Ctrl+C again gives them up")
    node.terminate()
    try:
        node.wait(LEAVE_S)
    except (KeyboardInterrupt, subprocess.TimeoutExpired):
        node.kill()


def _read(lines: Iterable[str], printed: deque[str], joined: Callable[[], None]) -> None:
    """Keep what Ray says to itself, but for the news that it has begun."""
    for line in lines:
        printed.append(line.strip())
        if "block forever" in line:
            joined()


def _why(address: str, printed: Iterable[str]) -> str:
    """Return why Ray has ended."""
    from peerage.settings import ArenaError

    try:
        _reach(address)
    except ArenaError:
        return (
            f"the head of the cluster at {address} is gone, and this machine is free. What ran here goes on "
            "with the next `peerage run`"
        )
    errors = [line for line in printed if "Error:" in line] or [line for line in printed if line][-1:]
    return f"Ray ended on this machine, while the head at {address} is there: {' '.join(errors)[-500:]}"


def _reach(address: str) -> None:
    """Raise ArenaError where nothing answers at `address`; Ray itself tries for minutes."""
    from peerage.settings import ArenaError

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ArenaError(
            f"{address!r} is no HOST:PORT, for example 10.0.0.1:6379; `ray start --head` prints the head's"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except (OSError, UnicodeError) as error:
        raise ArenaError(
            f"no head of a Ray cluster answers at {address}: {error}. Start one with `ray start --head`, and "
            "let this machine reach its port"
        ) from None
