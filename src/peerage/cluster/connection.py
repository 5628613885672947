"""The line to a Ray cluster."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing here reports to others

import ray

from peerage.settings import ArenaError

REACHED_S = 10.0


def connect(address: str) -> None:
    """Connect this process with the cluster at `address`, or where that is empty with the one that
    `$RAY_ADDRESS` names, or a new one on this machine. Raises ArenaError where it cannot be reached."""
    here = not address and not os.environ.get("RAY_ADDRESS")
    # "local", or Ray would join any cluster that it finds on this machine.
    more: dict[str, Any] = (
        {"address": "local", "include_dashboard": False} if here else {"address": address or None}
    )
    try:
        host, _, port = address.rpartition(":")
        if port.isdigit() and "/" not in host:  # Ray itself tries for minutes
            socket.create_connection((host.strip("[]"), int(port)), REACHED_S).close()
        ray.init(
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
            namespace="peerage",
            **more,
        )
    except (OSError, RuntimeError, ValueError) as error:
        where = f"the Ray cluster at {address}" if address else "a Ray cluster"
        raise ArenaError(
            f"{where} cannot be reached: {' '.join(str(error).split())[:300]}. `ray status` says more; "
            "without `--address` this machine does all alone"
        ) from None
