"""Statements that insert rows into PostgreSQL, and the types of its columns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from peerage.ledger.sql_tables import KINDS, SqlTable

_INTENT = "(SELECT id FROM intents WHERE match = r.match AND key = r.key AND attempt = r.attempt)"
_TYPES = {int: "bigint", str: "text", bytes: "bytea"}


def type_of(column: str) -> str:
    """The type of a column."""
    # Keys are in the order of their bytes, in every database.
    return 'text COLLATE "C"' if column == "key" else _TYPES[KINDS[column]]


def indexes_of(table: SqlTable) -> set[str]:
    """The names of all indexes of a table."""
    return {f"{table.name}_pkey", *table.unique, *table.indexes}


def columns_of(rows: Sequence[tuple[Any, ...]], conflict: str) -> list[list[Any]]:
    """Rows as one array a column, as `insert_sql` takes them; PostgreSQL's texts hold no NUL."""
    if conflict == "OR REPLACE":  # no statement may replace what it has just inserted
        rows = list({row[0]: row for row in rows}.values())
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        if isinstance(column[0], str) and any("\0" in text for text in column):
            column[:] = [text.replace("\0", "\ufffd") for text in column]
    return columns


@lru_cache
def insert_sql(table: SqlTable, conflict: str, whole: bool) -> str:
    """Rows as one array a column, so that each table has one statement whatever the number of rows. Ids count
    on from the newest, without a gap; there is one writer."""
    own = [column for column in table.columns if whole or column != "id"]
    given: list[tuple[str, str]] = []
    for column in own:
        if column == "intent" and not whole:
            given += [("match", "bigint"), ("key", "text"), ("attempt", "bigint")]
        else:
            given.append((column, _TYPES[KINDS[column]]))
    into = [*own]
    values = [_INTENT if column == "intent" and not whole else f"r.{column}" for column in own]
    if "id" in table.columns and not whole:
        into.insert(0, "id")
        values.insert(0, f"(SELECT coalesce(max(id), 0) FROM {table.name}) + r.at")
    arrays = ", ".join([f"%b::{kind}[]" for _, kind in given])
    names = ", ".join([name for name, _ in given])
    sql = (
        f"INSERT INTO {table.name} ({', '.join(into)}) SELECT {', '.join(values)} "
        f"FROM unnest({arrays}) WITH ORDINALITY AS r({names}, at)"
    )
    if not conflict:
        return sql
    key, *others = table.columns
    replaced = ", ".join([f"{column} = EXCLUDED.{column}" for column in others])
    does = f"UPDATE SET {replaced}" if conflict == "OR REPLACE" else "NOTHING"
    return f"{sql} ON CONFLICT ({key}) DO {does}"
