"""Rows put into columns come out as they went in, however they were cut and joined."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.marks.marks import Layout, MarkColumns, MarkRows

LAYOUT = Layout(codes=2, counts=1, numbers=1)
Row = tuple[str, str, int, float]
ROWS = st.lists(
    st.tuples(st.text(max_size=3), st.sampled_from("abc"), st.integers(0, 32767), st.floats(allow_nan=False))
)


def columns(rows: list[Row]) -> MarkColumns:
    gathered = MarkRows(LAYOUT)
    for one, two, count, number in rows:
        gathered.add((one, two), (count,), (number,))
    return gathered.columns()


def joined(parts: list[MarkColumns]) -> MarkColumns:
    gathered = MarkRows(LAYOUT)
    for part in parts:
        gathered.join(part)
    return gathered.columns()


def read(found: MarkColumns) -> list[Row]:
    names = [[found.names[at] for at in found.code(column)] for column in range(2)]
    return list(zip(*names, found.count(0).tolist(), found.number(0).tolist(), strict=True))


@given(st.lists(ROWS, max_size=4))
def test_parts_joined_are_the_whole(parts: list[list[Row]]) -> None:
    whole = [row for part in parts for row in part]
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(list(map(columns, parts))), type=list[MarkColumns])
    assert joined(kept) == columns(whole)
    assert read(joined(kept)) == whole


@given(ROWS)
def test_named_columns_hold_their_own_names_in_order(rows: list[Row]) -> None:
    for column in range(2):
        names, places = columns(rows).named(column)
        assert list(names) == sorted({row[column] for row in rows})
        assert [names[at] for at in places] == [row[column] for row in rows]


def test_many_rows_are_put_down_in_their_order() -> None:
    rows: list[Row] = [(str(at % 7), "abc"[at % 3], at, at / 2) for at in range(2500)]
    assert read(columns(rows)) == rows
    assert joined([columns(rows[:1300]), columns(rows[1300:])]) == columns(rows)


@given(ROWS)
def test_rows_added_together_are_added_one_by_one(rows: list[Row]) -> None:
    gathered = MarkRows(LAYOUT)
    gathered.add(
        [name for row in rows for name in row[:2]], [row[2] for row in rows], [row[3] for row in rows]
    )
    assert gathered.columns() == columns(rows)


def test_a_row_of_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of"):
        MarkRows(LAYOUT).add(("a",), (1,), (1.0,))
    with pytest.raises(ValueError, match="expected one of"):
        MarkRows(LAYOUT).add(("a", "b", "c", "d"), (1, 2), (1.0,))
