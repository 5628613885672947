"""Memory of arrays: what is large goes back when it is done with."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

TAKEN_AND_LEFT = """
import numpy as np
from peerage.memory import frugal

def held():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

{first}
np.ones(4_000_000)
large = np.ones(1_000_000)
behind_it = np.ones(10_000)
before = held()
del large
print(before - held())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries stay as they are")
@pytest.mark.parametrize(("first", "least"), [("frugal()", 7_000_000), ("", 0)])
def test_an_array_gives_its_memory_back_although_a_larger_one_went_before(first: str, least: int) -> None:
    found = subprocess.run(
        [sys.executable, "-c", TAKEN_AND_LEFT.format(first=first)], capture_output=True, text=True, check=True
    )
    given = int(found.stdout)
    assert given >= least
    assert given < 7_000_000 or first, "glibc does so by itself: what is here can go"
