"""Rows of the narrow table as SQL holds them: lists are JSON, which any reader of the file understands."""

from __future__ import annotations

from typing import Any

import msgspec

from peerage.ledger.store import Summary

INTO = (
    "summaries (number, round, game, topic, players, status, scores, costs, spent_nano, raw, cost_elo, at_ms)"
)
"""The columns in the order of `flat`."""

STRINGS = msgspec.json.Decoder(tuple[str, ...])
FLOATS = msgspec.json.Decoder(tuple[float, ...])
COSTS = msgspec.json.Decoder(tuple[float | None, ...])


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
        STRINGS.decode(players),
        status,
        FLOATS.decode(scores),
        COSTS.decode(costs),
        spent_nano,
        FLOATS.decode(raw),
        FLOATS.decode(cost_elo),
        at_ms,
    )
