"""Battles from whole columns: Parquet, Arrow, and data frames that Arrow takes.

Two million battles differ in a few thousand pairs and verdicts: each of these is read once, as a row of any
other file is, and the rest is counting. Only the columns that are needed are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.merging import numbered
from peerage.ratings.read.forms import Form, Mapper, labelled
from peerage.ratings.read.histories import AMOUNTS, BattlesRead
from peerage.ratings.read.report import MOST, ReadingReport

_BATCH = 131_072


class Frame(NamedTuple):
    """Results in memory: a `table` of Arrow, polars or pandas, or rows, and the same as `lines` of JSON."""

    table: Any
    lines: Callable[[], BinaryIO]


def take(
    source: BinaryIO | Frame,
    mapper_of: Callable[[Any], Mapper],
    into: BattlesRead,
    report: ReadingReport,
    *,
    alone: bool,
) -> Form | None:
    """Take all battles of a file or frame in, and return their form. Return None, with nothing taken, where
    that is no table of battles in columns, or rows have to be read one by one: some are wrong, may repeat
    (where the file is not `alone`), or hold lists."""
    try:
        names, batches = _opened(source)
        mapper = mapper_of(next(batches(1, [])).to_pylist()[0])
        if mapper.form.kind == "battles":
            _take(names, batches, mapper, into, report, alone)
            return mapper.form
    except Exception:  # ours, or Arrow's for what it cannot do: who reads rows says what is wrong
        pass
    if not isinstance(source, Frame) and source.seekable():
        source.seek(0)
    return None


_Batches = Callable[[int, Sequence[str]], Iterator[Any]]


def _opened(source: Any) -> tuple[tuple[str, ...], _Batches]:
    """Return the names of the columns, and what yields batches of so many rows of some of them, or of all."""
    if isinstance(source, Frame):
        table = source.table.to_arrow() if hasattr(source.table, "to_arrow") else source.table
        if hasattr(table, "iloc"):  # of pandas
            of = import_module("pyarrow").Table.from_pandas
            return (*table.columns,), lambda size, some: iter(
                of(table[some] if some else table.head(1), preserve_index=False).to_batches(size)
            )
        return (*table.column_names,), lambda size, some: iter(
            (table.select(some) if some else table).to_batches(size)
        )
    if not source.seekable():
        raise ValueError
    magic = source.read(4)
    source.seek(0)
    if magic != b"PAR1":
        raise ValueError
    parquet = import_module("pyarrow.parquet").ParquetFile
    return (*parquet(source).schema_arrow.names,), lambda size, some: parquet(
        source, read_dictionary=some[:3]
    ).iter_batches(size, columns=some or None, use_threads=False)


def _take(
    names: Sequence[str],
    batches: _Batches,
    mapper: Mapper,
    into: BattlesRead,
    report: ReadingReport,
    alone: bool,
) -> None:
    form = mapper.form
    ours = ["model_a", "model_b", "winner", "battle_id", "timestamp", *AMOUNTS, *into.labels]
    places = {column: place for column in ours if (place := _place(mapper, column, names))}
    kinds = [
        places.get("model_a", ""),
        places.get("model_b", ""),
        *(form.flags or [places.get("winner", "")]),
    ]
    paths = [_path(form, control, side, names) for control in into.controls for side in "ab"]
    wanted = [*dict.fromkeys([*kinds, *places.values(), *[path[0] for path in paths]])]
    special = form.private or form.counted or form.verdicts or not {"at_ms", "share"}.isdisjoint(names)
    if special or not mapper.as_named or not ({*wanted} <= {*names} and into.needed <= places.keys()):
        raise ValueError
    columns = _columns(batches, wanted)
    if "battle_id" in places and not (alone and _differ(columns.pop(places["battle_id"]))):
        raise ValueError
    coded = [_coded(columns[name]) for name in kinds]
    key = np.zeros(len(columns[kinds[0]]), np.int64)
    for values, codes in coded:
        key = key * len(values) + codes
    held, kind = numbered(key)
    first = np.empty(len(held), np.int64)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    like, notes = BattlesRead((), (), ()), ReadingReport(strict=report.strict)
    of, many = np.full(len(held), -1), np.bincount(kind)
    left: list[tuple[tuple[str, str], str, int]] = []
    for number in np.argsort(first).tolist():  # so that players are met in the order of the rows
        row = {name: values[codes[first[number]]] for name, (values, codes) in zip(kinds, coded, strict=True)}
        kept = len(like)
        like.add(mapper(row), form, notes)
        of[number] = kept if len(like) > kept else -1
        left += [(words, why, int(many[number])) for words, whys in notes.left_out.items() for why in whys]
        notes.left_out.clear()
    which = of[kind]
    counting = which >= 0
    labels = {}
    for label in into.labels:
        # Where each row has a question of its own, no two judge one.
        column = columns.pop(places.get(label, ""), None)
        if column and not ({*into.labels} == {"question"} and _differ(column)):
            values, codes = _coded(column)
            if label in into.needed and (None in values or "" in values):
                raise ValueError
            labels[label] = np.array([*map(labelled, values)], object)[codes[counting]].tolist()
    amounts = [
        _numbers(columns[places[name]], none=none, most=most) if name in places else none
        for name, none, most in [("timestamp", np.nan, np.inf), *[(*each, MOST) for each in AMOUNTS.items()]]
    ]
    amounts += [_numbers(columns[path[0]], *path[1:]) for path in paths]
    if any(np.isnan(column).any() for column in amounts[1 + len(AMOUNTS) :]):
        raise ValueError
    beside = None
    if paths or not {"timestamp", *AMOUNTS}.isdisjoint(places):
        beside = np.empty((int(counting.sum()), len(amounts)))
        for at, amount in enumerate(amounts):
            beside[:, at] = amount[counting] if isinstance(amount, np.ndarray) else amount
    columns.clear()
    into.take(like, which[counting], beside, labels)
    for words, reason, rows in left:
        report.leave(words, reason, count=rows)
    report.row = names


def _columns(batches: _Batches, wanted: Sequence[str]) -> dict[str, Any]:
    parts = zip(*[batch.columns for batch in batches(_BATCH, wanted)], strict=True)
    return dict(zip(wanted, map(import_module("pyarrow").chunked_array, parts), strict=True))


def _place(mapper: Mapper, column: str, names: Sequence[str]) -> str:
    """Return where our column is; an empty text where it is not there."""
    there = mapper.places(column, names)
    if len(there) > 1 or not {*there} <= {*names}:
        raise ValueError
    return there[0] if there else column * (column in names)


def _path(form: Form, control: str, side: str, names: Sequence[str]) -> list[str]:
    """Return the column of a control, and the fields in it that lead to the amount."""
    column = f"{control}_{side}"
    return [column] if column in names else form.controls.get(control, "").format(side).split(".")


def _coded(column: Any) -> tuple[list[Any], Ints]:
    """Return the values of a column, and each row's place among them."""
    if str(column.type).startswith("struct"):
        pa = import_module("pyarrow")
        column = pa.chunked_array([pa.array([*map(labelled, part.to_pylist())]) for part in column.chunks])
    is_coded = str(column.type).startswith("dictionary")
    chunks = (column.unify_dictionaries() if is_coded else column.dictionary_encode()).chunks
    values = chunks[0].dictionary.to_pylist()
    codes = _array([chunk.indices.cast("int32") for chunk in chunks], len(values))
    return values + [None] * bool(column.null_count), codes


def _array(chunks: Sequence[Any], none: float) -> Any:
    """Return chunks of numbers in one piece, `none` in place of null."""
    # Arrow's own way to NumPy loads pandas first.
    return np.concatenate(
        [chunk.fill_null(none).to_numpy() if chunk.null_count else np.from_dlpack(chunk) for chunk in chunks]
    )


def _differ(column: Any) -> bool:
    """Return whether no text occurs twice, as far as their first and last eight bytes show that."""
    prints = [np.zeros(0, np.uint64)]
    for chunk in column.chunks:
        if str(chunk.type) != "string" or chunk.null_count:
            return False
        _, ends, letters = chunk.buffers()
        end = np.frombuffer(ends, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        if (np.diff(end) < 8).any():
            return False
        eight = np.lib.stride_tricks.sliding_window_view(np.frombuffer(letters, np.uint8), 8)
        head, tail = (eight[at].view(np.uint64).ravel() for at in (end[:-1], end[1:] - 8))
        prints.append(head * np.uint64(0x9E3779B97F4A7C15) + tail)
    whole = np.sort(np.concatenate(prints))
    return not (whole[1:] == whole[:-1]).any()


def _numbers(column: Any, *path: str, none: float = np.nan, most: float = np.inf) -> Floats:
    """Return a column of amounts, or of times as seconds; `none` where there is none."""
    for step in path:
        column = import_module("pyarrow.compute").struct_field(column, step)
    kind, scale = str(column.type), 1.0
    if kind.startswith("struct") and not column.null_count:  # counts by kind
        parts = import_module("pyarrow").table({"": column}).flatten().columns
        return np.asarray(sum(_numbers(part, none=0.0) for part in parts), np.float64)
    if kind.startswith(("timestamp", "date")):
        column, scale = column.cast("timestamp[us]", safe=False).cast("int64"), 1e6
    elif not kind.startswith(("int", "uint", "float", "double")):
        raise ValueError
    values = _array(column.cast("double").chunks, np.nan) / scale
    known = np.isfinite(values)
    if int(known.sum()) + column.null_count < len(values) or (most < np.inf and (values < 0).any()):
        raise ValueError
    if (values[known] > most).any():
        raise ValueError
    return np.where(known, values, none)
