"""One thread for small matrices.

BLAS hands a matrix of 200 rows to every core and lets them spin: the seconds of CPU double, and on a busy
machine the work takes longer, not shorter.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

_SMALL = 32  # players from which on BLAS would use threads, where each is a judge too


class _Played(Protocol):
    @property
    def players(self) -> int: ...


History = TypeVar("History", bound=_Played)
Rest = ParamSpec("Rest")
Found = TypeVar("Found")


def one_thread(
    fit: Callable[Concatenate[History, Rest], Found],
) -> Callable[Concatenate[History, Rest], Found]:
    """`fit`, with BLAS kept to the calling thread where the history has so many players that it matters."""

    @wraps(fit)
    def alone(history: History, /, *rest: Rest.args, **named: Rest.kwargs) -> Found:
        if history.players < _SMALL or os.environ.get("OPENBLAS_NUM_THREADS") == "1":
            return fit(history, *rest, **named)
        with _controller().limit(limits=1, user_api="blas"):
            return fit(history, *rest, **named)

    return alone


@cache
def _controller() -> Any:
    return import_module("threadpoolctl").ThreadpoolController()
