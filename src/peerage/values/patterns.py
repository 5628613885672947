"""Regular expressions that are compiled when they are first used: many commands need none of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """One regular expression; it has the methods of the compiled one from the first use of any."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._stated = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._stated)
        for method in dir(compiled):
            if not method.startswith("_"):
                setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression whose compiling waits for its first use."""
    return cast("re.Pattern[str]", _Pattern(pattern, flags))
