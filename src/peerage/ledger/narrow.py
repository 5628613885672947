"""Rows of the narrow table as SQL holds them: lists are JSON, which any reader of the file understands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def deep(rows: Sequence[tuple[Any, ...]]) -> Iterator[Summary]:
    """Rows of the narrow table as summaries. LedgerError when somebody else wrote one."""
    columns = list(zip(*rows, strict=True))
    for at_ms in (min(columns[_AT_MS]), max(columns[_AT_MS])):
        if not is_time(at_ms):
            raise LedgerError(
                f"the narrow table holds {at_ms}, which is no time in milliseconds; `peerage verify` says "
                "where"
            )
    for place, many, one in _LISTS:
        columns[place] = _column(many, one, columns[place])
    lengths = list(zip(*[map(len, columns[place]) for place, _, _ in _LISTS], strict=True))
    for players, *others in set(lengths):
        if not {0, players}.issuperset(others):
            row = lengths.index((players, *others))
            raise LedgerError(
                f"match {columns[0][row]} is between {', '.join(columns[4][row]) or 'nobody'} and has other "
                "numbers of scores, costs or ratings in the narrow table; `peerage verify` says more"
            )
    return map(Summary, *columns)


def is_time(at_ms: int) -> bool:
    """Whether these milliseconds since 1970 lie before the year 10,000."""
    return 0 <= at_ms < _YEAR_10_000


_AT_MS = 11
_YEAR_10_000 = 253_402_300_800_000
_LISTS = (
    (4, msgspec.json.Decoder(list[tuple[str, ...]]), STRINGS),
    (6, msgspec.json.Decoder(list[tuple[float, ...]]), FLOATS),
    (7, msgspec.json.Decoder(list[tuple[float | None, ...]]), COSTS),
    (9, msgspec.json.Decoder(list[tuple[float, ...]]), FLOATS),
    (10, msgspec.json.Decoder(list[tuple[float, ...]]), FLOATS),
)
"""Which columns hold lists, and how all of one are read at once, or one alone."""


def _column(
    many: msgspec.json.Decoder[list[Any]], one: msgspec.json.Decoder[Any], texts: Sequence[str]
) -> tuple[Any, ...]:
    """The lists of a column. One decoding for all of them is five times as fast as one each."""
    try:
        found = many.decode(f"[{','.join(texts)}]")
    except msgspec.MsgspecError:
        found = []
    if len(found) == len(texts):
        return tuple(found)
    return tuple([decoded(one, text) for text in texts])
