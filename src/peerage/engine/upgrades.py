"""Upgrades: another release goes on with an arena, and ends what it cannot play; as entries of the log.

A match is played by the version of its game that its fixture names. An unfinished match of any other version
or game ends without a result: what was asked stays on record, what it cost counts, nobody is rated by it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from peerage.games import plays, release_of
from peerage.games.game import GameSpec
from peerage.ledger.store import FixtureRow, Ledger, LedgerError

TOPIC = "upgrades"


class Upgrade(Struct, frozen=True):
    """One entry: after match `after_match` the release `after` goes on where `before` stopped, both as pip
    names them, and ends the unfinished matches in `ends`."""

    before: str
    after: str
    after_match: int
    ends: tuple[int, ...]


class Unplayable(NamedTuple):
    """Unfinished matches of a game that is not played here, or not in that version; `release` played it."""

    game: str
    version: int
    release: str
    numbers: tuple[int, ...]


class _Issued(Struct):
    """The little of a fixture that says what plays it."""

    number: int
    game: str
    version: int
    release: str


_decode_issued = msgspec.json.Decoder(_Issued).decode
_read = msgspec.json.Decoder(Upgrade).decode


def _read_issued(ledger: Ledger, row: FixtureRow) -> _Issued:
    try:
        return _decode_issued(row.body)
    except msgspec.MsgspecError as error:
        raise LedgerError(
            f"{ledger.address}: the fixture of match {row.number} cannot be read ({error}); "
            "`peerage verify` says more"
        ) from error


def unplayable(ledger: Ledger, specs: Collection[GameSpec[Any]]) -> list[Unplayable]:
    """The unfinished matches that a run of these games ends without a result."""
    found: dict[tuple[str, int, str], list[int]] = {}
    for row in ledger.fixtures(ledger.heads()[1] + 1):
        one = _read_issued(ledger, row)
        if not any(plays(spec, one.game, one.version, one.release) for spec in specs):
            found.setdefault((one.game, one.version, one.release), []).append(one.number)
    return [Unplayable(*which, tuple(numbers)) for which, numbers in found.items()]


def upgrade(ledger: Ledger, specs: Sequence[GameSpec[Any]]) -> Upgrade | None:
    """The entry to write before this release goes on with these games; None where it went on before, or
    begins. Of several games the one issued last says what went on before."""
    issued, recorded = ledger.heads()
    if not issued:
        return None
    entries = [_read(row.body) for row in ledger.amendments(TOPIC)]
    newest = ledger.match(issued, exchanges=False)
    if newest is None:
        raise LedgerError(f"{ledger.address} lacks match {issued}; `peerage verify` says more")
    last = _read_issued(ledger, newest.fixture)
    before = entries[-1].after if entries else last.release
    games = [spec.name for spec in specs]
    after = release_of(last.game if last.game in games else games[0])
    ends = sorted(number for group in unplayable(ledger, specs) for number in group.numbers)
    return Upgrade(before, after, recorded, tuple(ends)) if before != after else None
