"""Every bench of speed, one after the other: `make bench`, or `python -m bench NAME…` for some of them.

`make bench-numbers` runs the simulations that the tables of the docs are made with.
"""

from __future__ import annotations

import os
import runpy
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
    "ratings",
    "serve",
    "site",
)


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"no bench is called {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    # Processes begin as they do for people: with modules that Python compiled before.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in names or BENCHES:
        print(f"== {name}", flush=True)
        sys.argv = [f"bench.{name}"]
        runpy.run_module(f"bench.{name}", run_name="__main__")
        print(flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
