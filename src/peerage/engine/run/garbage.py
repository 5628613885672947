"""Rare collection of garbage in a process that drives matches."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def tuned() -> Iterator[None]:
    """Collect garbage rarely: a run keeps thousands of matches alive, which every collection walks through.

    Hardly anything the engine makes is cyclic; measured, the default thresholds cost a fifth of its time.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
