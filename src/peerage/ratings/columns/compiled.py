"""Numba for the kernels of one module, when it is installed and the work is long enough to repay it.

Nothing here imports Numba until a history is long: the import alone costs more than a short history does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@cache
def installed() -> bool:
    """Return whether Numba can be imported (without importing it)."""
    return importlib.util.find_spec("numba") is not None


@cache
def _compiled(module: ModuleType) -> dict[str, Any]:
    """A module's names with each of its own functions replaced by a Numba one. The functions are rebuilt over
    this namespace so that one kernel calls another in compiled form. One that has a twin `<name>_loops` is
    compiled from it: NumPy wants whole arrays where Numba wants loops."""
    import numba

    _loaded.add(module)
    namespace: dict[str, Any] = dict(vars(module))
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            plain = FunctionType(value.__code__, namespace, name, value.__defaults__, value.__closure__)
            plain.__module__ = module.__name__
            try:
                namespace[name] = numba.njit(cache=True)(plain)
            except RuntimeError:  # no folder in which to cache: an unwritable install
                namespace[name] = numba.njit(plain)
    for name in [name for name in namespace if name.endswith("_loops")]:
        namespace[name.removesuffix("_loops")] = namespace[name]
    return namespace


_loaded: set[ModuleType] = set()


def ready(module: ModuleType) -> bool:
    """Return whether a module's kernels are compiled in this process: then less work repays their use."""
    return module in _loaded


def kernel(function: F, *, long: bool) -> F:
    """`function` itself, or its compiled form when the work is `long` and Numba is installed."""
    if not (long and installed()):
        return function
    fast: F = _compiled(sys.modules[function.__module__])[function.__name__]
    return fast


def columns(*, long: bool, **arrays: Any) -> dict[str, Any]:
    """One-dimensional arrays as `kernel` reads them best: plain Python takes a number out of a memoryview
    several times as fast as out of an array, and it is a float, not NumPy's."""
    return arrays if long and installed() else {name: array.data for name, array in arrays.items()}
