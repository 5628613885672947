"""Unfinished matches that this release does not play, as of another version of their game.

They end without a result when the arena goes on: what was asked stays on record, what it cost counts, nobody
is rated by them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from peerage.game.spec import GameSpec
from peerage.games import plays
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import read_issued


class Unplayable(NamedTuple):
    """Unfinished matches of a game that is not played here, or not in that version; `release` played it."""

    game: str
    version: int
    release: str
    numbers: tuple[int, ...]


def unplayable(ledger: Ledger, specs: Collection[GameSpec[Any]]) -> list[Unplayable]:
    """Return the unfinished matches that a run of these games ends without a result. Raises LedgerError."""
    found: dict[tuple[str, int, str], list[int]] = {}
    for row in ledger.fixtures(ledger.heads()[1] + 1):
        try:
            one = read_issued(row.body)
        except msgspec.MsgspecError as error:
            raise LedgerError(
                f"{ledger.address}: the fixture of match {row.number} cannot be read ({error}); "
                "`peerage verify` says more"
            ) from error
        if not any(plays(spec, one.game, one.version, one.release) for spec in specs):
            found.setdefault((one.game, one.version, one.release), []).append(one.number)
    return [Unplayable(*which, tuple(numbers)) for which, numbers in found.items()]
