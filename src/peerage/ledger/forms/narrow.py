"""Rows of the narrow table as SQL holds them: lists are JSON, which any reader of the file understands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from peerage.ledger.forms.rows import LedgerError, Summary

_FLOATS = msgspec.json.Decoder(list[tuple[float, ...]]).decode
_LISTS = {
    "players": msgspec.json.Decoder(list[tuple[str, ...]]).decode,
    "scores": _FLOATS,
    "costs": msgspec.json.Decoder(list[tuple[float | None, ...]]).decode,
    "raw": _FLOATS,
    "cost_elo": _FLOATS,
}
"""The columns that hold lists, and how many of them are read at once: five times as fast as one by one."""

_SAME = {name: dict[str, Any]() for name in ("game", "topic", "status", "players", "scores")}
"""Values of columns that repeat, by their text: a million rows share them instead of holding their own."""
_MOST_SAME = 50_000

_PLACES = {name: place for place, name in enumerate(Summary.__struct_fields__)}
_YEAR_10_000 = 253_402_300_800_000


def flat(row: Summary) -> tuple[Any, ...]:
    """The columns of a summary."""
    values = msgspec.structs.astuple(row)
    return tuple(
        [msgspec.json.encode(value).decode() if isinstance(value, tuple) else value for value in values]
    )


def deep(rows: Sequence[Sequence[Any]]) -> Iterator[Summary]:
    """Rows of the narrow table as summaries. LedgerError when somebody else wrote one."""
    columns = list(zip(*rows, strict=True))
    times = columns[_PLACES["at_ms"]]
    for at_ms in (min(times), max(times)):
        if not is_time(at_ms):
            raise LedgerError(
                f"the narrow table holds {at_ms}, which is no time in milliseconds; `peerage verify` says "
                "where"
            )
    texts = {name: columns[_PLACES[name]] for name in _SAME}
    for name in _LISTS:
        columns[_PLACES[name]] = column(name, columns[_PLACES[name]])
    for name, known in _SAME.items():
        if len(known) > _MOST_SAME:
            known.clear()
        columns[_PLACES[name]] = tuple(map(known.setdefault, texts[name], columns[_PLACES[name]]))
    lengths = list(zip(*[map(len, columns[_PLACES[name]]) for name in _LISTS], strict=True))
    for players, *others in set(lengths):
        if not {0, players}.issuperset(others):
            row = lengths.index((players, *others))
            names = ", ".join(columns[_PLACES["players"]][row]) or "nobody"
            raise LedgerError(
                f"match {columns[0][row]} is between {names} and has other numbers of scores, costs or "
                "ratings in the narrow table; `peerage verify` says more"
            )
    return map(Summary, *columns)


def is_time(at_ms: int) -> bool:
    """Return whether these milliseconds since 1970 lie before the year 10,000."""
    return 0 <= at_ms < _YEAR_10_000


def column(name: str, texts: Sequence[str]) -> tuple[Any, ...]:
    """The lists that texts of a column are. LedgerError when one is none."""
    decode: Any = _LISTS[name]
    try:
        lists = decode(f"[{','.join(texts)}]")
        if len(lists) == len(texts):
            return tuple(lists)
    except msgspec.MsgspecError:
        pass
    return tuple([_alone(decode, text) for text in texts])


def _alone(decode: Any, text: str) -> Any:
    try:
        (value,) = decode(f"[{text}]")
    except (msgspec.MsgspecError, ValueError) as error:
        raise LedgerError(
            f"the narrow table holds {text[:60]!r} ({error}); `peerage verify` says where"
        ) from error
    return value
