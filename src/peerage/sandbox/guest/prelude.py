# ruff: noqa: E402
# mypy: ignore-errors
"""Run in the guest first, while the snapshot of the interpreter is made: mends what the stock build lacks.

Its C `lru_cache` recurses on a C stack that is too small; the library's own Python fallback does not. One
call of a cached function is then two Python frames, hence the recursion limit of 3000 in place of 1000.
"""

import sys

sys.modules["_functools"] = None
import functools

del sys.modules["_functools"]
import _functools

for _name in ("partial", "reduce", "cmp_to_key"):
    setattr(functools, _name, getattr(_functools, _name))
sys.setrecursionlimit(3000)
