"""Rows of the narrow table as SQL holds them: lists are JSON, which any reader of the file understands."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from peerage.ledger.store import LedgerError, Summary

INTO = (
    "summaries (number, round, game, topic, players, status, scores, costs, spent_nano, raw, cost_elo, at_ms)"
)
"""The columns in the order of `flat`."""

STRINGS = msgspec.json.Decoder(tuple[str, ...])
FLOATS = msgspec.json.Decoder(tuple[float, ...])
COSTS = msgspec.json.Decoder(tuple[float | None, ...])


Value = TypeVar("Value")


def decoded(decoder: msgspec.json.Decoder[Value], text: str) -> Value:
    """A list of the narrow table; LedgerError when somebody else wrote it."""
    try:
        return decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise LedgerError(
            f"the narrow table holds {text[:60]!r} ({error}); `peerage verify` says where"
        ) from error


def _json(value: tuple[object, ...]) -> str:
    return msgspec.json.encode(value).decode()


def flat(row: Summary) -> tuple[Any, ...]:
    return (
        row.number,
        row.round,
        row.game,
        row.topic,
        _json(row.players),
        row.status,
        _json(row.scores),
        _json(row.costs),
        row.spent_nano,
        _json(row.raw),
        _json(row.cost_elo),
        row.at_ms,
    )


def deep(row: tuple[Any, ...]) -> Summary:
    number, round_, game, topic, players, status, scores, costs, spent_nano, raw, cost_elo, at_ms = row
    return Summary(
        number,
        round_,
        game,
        topic,
        decoded(STRINGS, players),
        status,
        decoded(FLOATS, scores),
        decoded(COSTS, costs),
        spent_nano,
        decoded(FLOATS, raw),
        decoded(FLOATS, cost_elo),
        at_ms,
    )
