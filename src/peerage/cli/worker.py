"""`peerage worker`: this machine joins a cluster that plays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

LEAVE_S = 20.0
"""How long a machine that leaves may take to end what it started."""


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
