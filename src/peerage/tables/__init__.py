"""What a ledger says, as rows: leaderboard, statistics, transcripts, histories, plans.

Functions from a ledger (and the arena's settings) to plain values, which terminals, pages and exports show.
They read, compute and return; nothing here writes or prints. In the order of imports `tables` stands above
`engine`; only `site`, `arena` and `cli` stand above it, in this order.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class Shown(Struct, frozen=True):
    """A value that is shown as it is, and as plain JSON data."""

    def as_dict(self) -> dict[str, Any]:
        """The fields in order, as JSON has them."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return found
