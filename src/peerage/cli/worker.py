"""`peerage worker`: this machine joins a cluster that plays."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

REACH_S = 10.0
"""How long the head may take to accept a connection."""
LEAVE_S = 45.0
"""How long a machine that leaves may take to end what it started; Ray drains it for 30 s first."""


def worker(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The head of the Ray cluster.")],
    cpus: Annotated[
        int | None,
        typer.Option(min=1, help="Workers here at most.", show_default="one for each CPU"),
    ] = None,
) -> None:
    """Let this machine play for runs of a Ray cluster, until Ctrl+C.

    A run under `engine: ray` places workers here as soon as it sees the machine. What they have under way
    when it leaves goes on elsewhere.
    """
    from peerage.settings import ArenaError

    if find_spec("ray") is None or find_spec("psycopg") is None:
        raise ArenaError("a worker needs the extra `ray`: pip install 'peerage[ray]'")
    _reach(address)
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", f"--address={address}", "--block"]
    if cpus is not None:
        command.append(f"--num-cpus={cpus}")
    environment = {"RAY_USAGE_STATS_ENABLED": "0", **os.environ}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    node = subprocess.Popen(command, env=environment)
    try:
        code = node.wait()
    except KeyboardInterrupt:  # of this process alone, perhaps
        node.terminate()
        try:
            node.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            node.kill()
        code = 0
    raise typer.Exit(code and 1)


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
