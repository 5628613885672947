"""Rows from an opened file: CSV, TSV, JSON, JSON lines or Parquet, a piece at a time.

The caller opens the file, in binary; nothing here knows a path. A file larger than memory can be read: CSV
and JSON lines row by row, a JSON list element by element, Parquet in batches.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

from peerage import inputs
from peerage.formats import storable
from peerage.ratings import inspect_logs, samples

Line = tuple[int, dict[str, Any]]

_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".eval": "inspect",
}
_CHUNK = 1 << 18


class DataError(ValueError):
    """Data that cannot be rated; the message names file, row and column, and what was expected."""


def rows(stream: BinaryIO, name: str, score: str = "") -> Iterator[Line]:
    """Rows with their numbers from 1 (a header is not a row). A JSON object by itself is one row.

    The kind of file goes by the ending of `name`, else by the first bytes. `score` names the score of
    Inspect's logs that is read. Raises DataError, also where one is named and there is no log.
    """
    source = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(_Raw(stream))
    head = source.peek(16)[:16]
    ending = "." + name.lower().rpartition(".")[2]
    kind = _KINDS.get(ending) or ("parquet" if head.startswith(b"PAR1") else _guess(head))
    if kind == "parquet":
        if score:
            raise DataError(f"{name} is no log of Inspect: --score names a score of such logs")
        yield from _parquet(source, name)
        return
    if kind == "inspect":
        yield from _log(partial(inspect_logs.of_zip, source, score), name)
        return
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{name} is in UTF-16: expected UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)")
    text = io.TextIOWrapper(source, encoding="utf-8-sig", newline="")
    number = 0
    try:
        if kind in ("csv", "tsv"):
            read = _csv(text, name, "\t" if kind == "tsv" else ",")
        else:
            read = _jsonl(text, name) if kind == "jsonl" else _elements("", text, name)
        for number, row in read:
            if inspect_logs.is_log(row):
                yield from _log(partial(inspect_logs.of_json, row, score), name)
            elif score:
                raise DataError(f"{name} is no log of Inspect: --score names a score of such logs")
            elif samples.is_sample(row):
                yield number, samples.as_answer(row)
            elif samples.is_record(row):
                raise DataError(
                    f"{name} is a record of Every Eval Ever, which states a model's means; its single "
                    "results, which can be rated, are in the .jsonl file next to it, if there is one"
                )
            else:
                yield number, row
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}, after row {number}: byte 0x{error.object[error.start]:02x} is not UTF-8; "
            "convert the file (iconv -f LATIN1 -t UTF-8, if it is Latin-1)"
        ) from None
    finally:
        text.detach()


def _log(read: Callable[[], Iterator[dict[str, Any]]], name: str) -> Iterator[Line]:
    """The answers of an Inspect log."""
    try:
        yield from enumerate(read(), 1)
    except inspect_logs.LogError as error:
        raise DataError(f"{name}: {error}") from None


class _Raw(io.RawIOBase):
    """Any binary stream as a raw one, to be buffered."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _guess(head: bytes) -> str:
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"[": "json", b"{": "jsonl"}.get(first, "csv")


def _csv(text: io.TextIOWrapper, name: str, delimiter: str) -> Iterator[Line]:
    before = csv.field_size_limit(inputs.LONGEST_LINE)  # a whole conversation may stand in one field
    try:
        reader = csv.reader(inputs.lines(text, name), delimiter=delimiter, strict=True)
        header = next(reader, None)
        if header is None:
            return
        header = [column.strip() for column in header]
        twice = {column for column in header if header.count(column) > 1}
        if twice:
            raise DataError(f"{name}: the header names {', '.join(sorted(twice))} twice")
        number = 0
        for fields in reader:
            if not fields:
                continue
            number += 1
            if len(fields) != len(header):
                raise DataError(
                    f"{name}, row {number} (line {reader.line_num}): {len(fields)} fields, "
                    f"the header has {len(header)}"
                )
            yield number, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: not CSV, {error}") from None
    finally:
        csv.field_size_limit(before)


def _jsonl(text: io.TextIOWrapper, name: str) -> Iterator[Line]:
    number = 0
    for line_number, line in enumerate(inputs.lines(text, name), 1):
        if line.isspace():
            continue
        number += 1
        try:
            row = _whole(json.loads(line), line)
        except json.JSONDecodeError as error:
            if number == 1 and not line.rstrip().endswith("}"):  # one object over many lines
                yield from _elements(line, text, name)
                return
            raise DataError(
                f"{name}, line {line_number}: not JSON, {error.msg} at character {error.colno}"
            ) from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, line {line_number}: {_beyond(error)}") from None
        yield number, _object(row, name, number)


def _elements(buffer: str, text: io.TextIOWrapper, name: str) -> Iterator[Line]:
    """The elements of a JSON list, decoded one by one; or the objects of a file that holds some in a row."""
    decoder = json.JSONDecoder()
    number = 0
    inside = False
    ended = False
    while True:
        stripped = buffer.lstrip(" \t\r\n,") if number or inside else buffer.lstrip()
        if not inside and not number and stripped.startswith("["):
            inside, stripped = True, stripped[1:].lstrip()
        if inside and stripped.startswith("]"):
            after = (stripped[1:] or text.read(_CHUNK)).lstrip()
            while not after and (more := text.read(_CHUNK)):
                after = more.lstrip()
            if after:
                raise DataError(f"{name}, after element {number}: more stands behind the end of the list")
            return
        buffer = stripped
        try:
            if not buffer:
                raise json.JSONDecodeError("it is cut short", buffer, 0)
            row, end = decoder.raw_decode(buffer)
            row = _whole(row, buffer[:end])
            if end == len(buffer) and not ended and not isinstance(row, dict | list):
                raise json.JSONDecodeError("cut", buffer, end)
        except json.JSONDecodeError as error:
            if ended:
                if not buffer and not inside:
                    return
                raise DataError(f"{name}, element {number + 1}: not JSON, {error.msg}") from None
            if len(buffer) > inputs.LONGEST_LINE:
                raise DataError(
                    f"{name}, element {number + 1}: more than {inputs.LONGEST_LINE:,} characters, and no "
                    "longer one is read"
                ) from None
            more = text.read(max(_CHUNK, len(buffer)))
            ended = not more
            buffer += more
            continue
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, element {number + 1}: {_beyond(error)}") from None
        number += 1
        yield number, _object(row, name, number)
        buffer = buffer[end:]


def _whole(value: Any, text: str) -> Any:
    """What JSON text holds, with U+FFFD for halves of surrogate pairs, which no store takes."""
    if "\\ud" not in text and "\\uD" not in text:
        return value
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _whole(one, text) for name, one in value.items()}
    return [_whole(one, text) for one in value] if isinstance(value, list) else value


def _beyond(error: Exception) -> str:
    """What is JSON, but more than Python reads."""
    return "lists or objects too deep" if isinstance(error, RecursionError) else f"{error}".partition(";")[0]


def _object(row: Any, name: str, number: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise DataError(
            f"{name}, row {number}: found {type(row).__name__}, expected an object with named fields"
        )
    return row


def _parquet(source: io.BufferedReader, name: str) -> Iterator[Line]:
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(f"{name} is Parquet, which needs pyarrow: pip install pyarrow") from None
    number = 0
    try:
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=20_000):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{name}: not Parquet, {error}") from None
    except (OverflowError, ValueError) as error:
        raise DataError(f"{name}, after row {number}: {error}") from None
