"""Peerage ranks language models by letting them play.

import peerage

with peerage.open("my-arena") as arena:
    arena.run(max_matches=100)
    for row in arena.leaderboard():
        print(row.rank, row.player, row.rating)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

__all__ = ["Arena", "__version__", "open"]

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.arena import open_arena as open

_HOME = {"Arena": "Arena", "open": "open_arena"}


def __getattr__(name: str) -> Any:
    """Load the arena when it is first asked for: `import peerage` alone stays instant."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    from peerage import arena

    return getattr(arena, _HOME[name])


def __dir__() -> list[str]:
    return list(__all__)
