"""CPU seconds of `peerage --help`, best of five. Target: 0.12."""

from __future__ import annotations

import os
import subprocess
import sys


def main() -> None:
    spent = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-m", "peerage", "--help"], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        spent.append(sum(after[2:4]) - sum(before[2:4]))
    print(f"peerage --help\n  s of CPU      {min(spent):.3f} (at most 0.12)")


if __name__ == "__main__":
    main()
