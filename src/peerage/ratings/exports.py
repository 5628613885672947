"""What `peerage export` writes, as rows of games: the documents of matches, and their table as CSV or
Parquet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from peerage.ratings.fields import needed, number_of, short
from peerage.ratings.streams import DataError

_DOCUMENT = frozenset(("match", "fixture", "record"))
_SEAT = frozenset(("number", "game", "status", "seat", "player", "score", "at_ms"))
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a text that a spreadsheet might take for a formula, in full-width letters too, or that
already has the apostrophe put before such a text in CSV."""


def exported(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of ours: a document, or a contestant's line of the table."""
    return row.keys() >= _DOCUMENT or row.keys() >= _SEAT


def as_game(row: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """A row of ours as a game, or as one seat of it; None for a match without a result.

    Raises DataError for one that no export holds.
    """
    return _of_document(row, where) if row.keys() >= _DOCUMENT else _of_seat(row, where)


def _of_seat(row: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """A match's seats share its number: `game` is what was played."""
    if needed(row, "status", where) != "done":
        return None
    player = needed(row, "player", where)
    number = needed(row, "number", where)
    if isinstance(number, str) and isinstance(player, str) and player[:1] == "'" and FORMULA.match(player):
        player = player[1:]  # so written in CSV that no spreadsheet takes it for a formula
    return {
        "game": str(number),
        "player": player,
        "score": needed(row, "score", where),
        "timestamp": number_of(needed(row, "at_ms", where), "at_ms", where) / 1000,
    }


def _of_document(row: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    try:
        outcome, seats = row["record"]["outcome"], row["fixture"]["seats"]
        if outcome["void"] or not seats:
            return None
        scores = [outcome["scores"][seat["label"]] for seat in seats]
        players = [seat["player"] for seat in seats]
    except (KeyError, TypeError, AttributeError):
        raise DataError(
            f"{where}: match {short(row['match'])} lacks its seats or its scores, expected a document that "
            "`peerage export` wrote"
        ) from None
    time = number_of(needed(row, "at_ms", where), "at_ms", where) / 1000
    return {"players": players, "scores": scores, "timestamp": time}
