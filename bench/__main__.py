"""Every bench of speed, one after the other: `make bench`, or `python -m bench NAME…` for some of them.

`make bench-numbers` runs the simulations that the tables of the docs are made with.
"""

from __future__ import annotations

import os
import subprocess
import sys

BENCHES = (
    "help",
    "steps",
    "in_flight",
    "occupancy",
    "budget",
    "client",
    "last_arena",
    "sandbox",
    "verify",
    "judges",
    "games",
    "ratings",
    "library",
    "serve",
    "site",
    "paint",
)


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"no bench is called {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    # Processes begin as they do for people: with modules that Python compiled before.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    failed = []
    for name in names or BENCHES:
        print(f"== {name}", flush=True)
        # Each in a process of its own: the memory of one does not show in another.
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:
            failed.append(name)
        print(flush=True)
    if failed:
        sys.exit(f"these benches failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
