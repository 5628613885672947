"""A real Ray cluster of two nodes on this machine, in a process of its own.

Prints its address. With the argument `rig` one of them has another address, 127.0.0.2, and the resource of
that name. Each line it reads has it `kill` a node with all its processes, or `add` one, which it
confirms; it ends with its input.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster


def kill(cluster: Cluster, node: Any) -> None:
    """SIGKILL to the workers of a node and to what placed them there."""
    (raylet,) = [one.process.pid for one in node.all_processes["raylet"]]
    children = Path(f"/proc/{raylet}/task/{raylet}/children")
    for one in [*children.read_text().split(), raylet]:
        with suppress(ProcessLookupError):
            os.kill(int(one), signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


def added(cluster: Cluster, **more: Any) -> Any:
    """One more node. Ray gives it 30 seconds to start, which is short on a busy machine."""
    for _ in range(4):
        with suppress(Exception):
            return cluster.add_node(num_cpus=1, **more)
    return cluster.add_node(num_cpus=1, **more)


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    rig = {"resources": {"rig": 1}, "node_ip_address": "127.0.0.2"} if sys.argv[1:] == ["rig"] else {}
    nodes = [added(cluster), added(cluster, **rig)]
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line == "kill\n":
            kill(cluster, nodes.pop(0))
        else:
            nodes.append(added(cluster))
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
