"""Records of an opened file: a table of text, JSON, JSON lines, Parquet or a log of Inspect.

The caller opens the file, in binary; nothing here knows a path. Kind, encoding and separator are recognized
by what is there. Tables, JSON lines and Parquet may be larger than memory; other JSON is read whole. A bad
record is reported with its line, and the next one is read.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import PurePath
from typing import Any, BinaryIO, TextIO, cast

import msgspec

from peerage.ratings.read import inspect
from peerage.ratings.read.report import DataError, ReadingReport, RowError
from peerage.values import inputs
from peerage.values.texts import storable

Header = Callable[[list[str]], list[str]]
"""Turns the first line of a table into names of columns. Raises RowError."""
Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]] | None

_ENDINGS = {
    ".csv": "table", ".tsv": "table", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".parquet": "parquet", ".eval": "zip",
}  # fmt: skip
ENDINGS = tuple(_ENDINGS)
_MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "zip"}
_PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open,
}  # fmt: skip
_PACKED_ENDINGS = (".gz", ".bz2", ".xz")
ALL_ENDINGS = tuple([ending + packed for ending in ENDINGS for packed in ("", *_PACKED_ENDINGS)])
_MARKED = (
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "utf-32"), (rb"\xff\xfe|\xfe\xff", "utf-16"),
    (rb"\0.", "utf-16-be"), (rb".\0", "utf-16-le"),
)  # fmt: skip
"""Beginnings of files of other encodings than UTF-8."""
_NO_TEXT = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]|\0{2}")
"""Bytes at the beginning that no table has, so that pictures and programs are no columns."""
_BATCH = 5_000
_NO_BYTE = re.compile("[\udc80-\udcff]")
"""Bytes that are no UTF-8, as Python escapes them."""
_HALF = re.compile(r"\\u(?:[dD]|0000|[fF]8[fF][12])")
"""Escapes of JSON that no text holds: halves of surrogate pairs, NUL, and what is around marks of media."""
_BETWEEN = re.compile(r"[\s,]*")


def records(
    stream: BinaryIO,
    name: str,
    report: ReadingReport,
    *,
    header: Header | None = None,
    unique: bool = False,
    western: bool = False,
) -> Iterator[Any]:
    """The records of a file, whose places `report` then knows: rows of a table by column, values of JSON,
    answers of a log.

    `header` names the columns of a table, `unique` refuses a key that an object has twice, `western` reads a
    text as Windows-1252 that is not UTF-8 and looks like it, with a note. Raises DataError for a file that is
    nothing of the kind; bad records are added to `report`.
    """
    source = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(Any, stream))
    head = source.peek(64)[:64]
    report.unit, report.number, report.fixed = "row", 0, False
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        raise DataError(f"{name} is compressed by Zstandard; unpack it first")
    for opened in [kind for magic, kind in _PACKED.items() if head.startswith(magic)]:
        inner = name[: -len(ending)] if (ending := PurePath(name).suffix) in _PACKED_ENDINGS else name
        try:
            yield from records(opened(source), inner, report, header=header, unique=unique, western=western)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise DataError(f"{name}: damaged, {error}") from None
        return
    ending = "." + name.lower().rpartition(".")[2]
    encoding = next((encoding for mark, encoding in _MARKED if re.match(mark, head, re.DOTALL)), "utf-8-sig")
    first = head.decode(encoding, "ignore").lstrip("\ufeff \t\r\n")[:1]
    kind = _MAGIC.get(head[:4]) or _ENDINGS.get(ending) or ("json" if first and first in "[{" else "table")
    if kind == "table" and encoding == "utf-8-sig" and _NO_TEXT.search(head):
        raise DataError(
            f"{name} is no text, but a picture, a program or the like; expected {', '.join(ENDINGS)}"
        )
    if kind in ("parquet", "zip"):
        whole = source if source.seekable() else io.BytesIO(source.read(inputs.MOST_BYTES))
        yield from (_parquet if kind == "parquet" else inspect.zipped)(whole, name, report)
        return
    errors = "surrogateescape" if encoding == "utf-8-sig" else "strict"
    text, report.unit = io.TextIOWrapper(source, encoding, errors, newline=""), "line"
    lines = _lines(text, name, report, western=western and errors == "surrogateescape")
    try:
        if kind == "table":
            yield from _table(lines, "\t,;|" if ending == ".tsv" else ",;\t|", report, header or distinct)
            return
        for value in _json(text, lines, report, _once if unique else None, listed=first == "["):
            log = inspect.is_log(value)
            yield from inspect.samples_of(value, value["samples"], report) if log else (value,)
    except UnicodeDecodeError as error:
        raise DataError(f"{report.place}: found bytes that are not {error.encoding.upper()}") from None
    finally:
        with suppress(ValueError):  # the stream stays open, if it is
            text.detach()


def _lines(text: TextIO, name: str, report: ReadingReport, *, western: bool) -> Iterator[str]:
    """Yield the lines of a text. Under `western` the first that is more than ASCII says whether all are UTF-8
    or Windows-1252, whose letters come one or two at a time."""
    is_western = None if western else False
    for number, line in enumerate(inputs.lines(text, name), 1):
        report.number = number
        if not line.isascii() and is_western is not False:
            raw = line.encode("utf-8", "surrogateescape")
            if is_western is None:
                is_western = bool(_NO_BYTE.search(line)) and not re.search(rb"[\x80-\xff]{3}", raw)
            if is_western:
                report.guess(f"read as Windows-1252 (Latin-1), since it is not UTF-8: {report.file}")
                line = raw.decode("cp1252", "replace")
        yield line if line.isascii() and "\0" not in line else _clean(line, report)


def _clean(text: str, report: ReadingReport) -> str:
    """The text with U+FFFD for NUL and for bytes that are not UTF-8, which are a problem."""
    if wrong := _NO_BYTE.search(text):
        report.number += text.count("\n", 0, wrong.start())
        byte = f"byte 0x{ord(wrong[0]) - 0xDC00:02x} is not UTF-8; save the file as UTF-8"
        report.add(RowError(byte, ends=True))
    return storable(text)


def distinct(cells: list[str]) -> list[str]:
    """The columns of a table. Raises RowError for one that is named twice."""
    names = [cell.strip() for cell in cells]
    if twice := sorted({column for column in names if column and names.count(column) > 1}):
        raise RowError(f"the header names {', '.join(twice):.200} twice; delete or rename one")
    return names


_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def _table(
    lines: Iterator[str], marks: str, report: ReadingReport, header: Header
) -> Iterator[dict[str, str]]:
    """The rows of a table, of which all blank ones are left out."""
    limit = csv.field_size_limit(inputs.LONGEST_LINE)  # a whole conversation may be in one field
    report.fixed = True
    try:
        first = next((line for line in lines if not line.isspace()), "")
        stated = re.fullmatch(r"sep=(.)\s*", first)  # as Excel reads and writes it
        if stated:
            marks, first = stated[1], next(lines, "")
        mark = max(marks, key=lambda mark: len(next(csv.reader([first], delimiter=mark), ())))
        quote = f"put cells with quotes or {_MARKS.get(mark, mark)} in quotes"
        before = report.number - 1
        reader = csv.reader(chain([first] * bool(first), lines), delimiter=mark, strict=True)
        names: list[str] = []
        ended = False
        while not ended:
            line = before + reader.line_num + 1
            with report:
                try:
                    names = names or header(next(reader, []))
                    line = before + reader.line_num + 1
                    for cells in reader:
                        report.number, line = line, before + reader.line_num + 1
                        if len(cells) == len(names) and any(cells):
                            yield dict(zip(names, cells, strict=True))
                        elif any(map(str.strip, cells)):
                            at = names[len(cells)] if len(cells) < len(names) else str(len(names) + 1)
                            problem = f"found {len(cells)} cells, expected {len(names)}; {quote}"
                            report.add(RowError(problem, at))
                    ended = True
                except csv.Error as error:
                    report.number = line
                    ends = "unexpected end" in str(error)
                    raise RowError(f"no CSV ({error}); {quote}", ends=ends) from None
            if not names:  # nothing can be read without a sound header
                report.check()
    finally:
        csv.field_size_limit(limit)


def _json(
    text: TextIO, lines: Iterator[str], report: ReadingReport, hook: Hook, *, listed: bool
) -> Iterator[Any]:
    """The values of JSON lines; those of a list, or the objects of a file that holds some in a row."""
    begun, line = False, ""
    for line in () if listed else lines:
        if line.isspace():
            continue
        try:
            yield _value(line, hook)
        except (ValueError, RecursionError) as error:
            at = error if isinstance(error, json.JSONDecodeError) else None
            cut = at and at.pos >= len(line.rstrip()) and "Unterm" not in at.msg
            if cut and not begun and line.lstrip()[0] == "{":  # one object on many lines
                listed = True
                break
            report.add(RowError(_wrong(error), str(at.colno) if at else ""))
        begun = True
    if listed:
        start = report.number = max(report.number, 1)
        whole = text.read(inputs.LONGEST_LINE + 1)
        if len(whole) > inputs.LONGEST_LINE:
            raise DataError(
                f"{report.place}: JSON of more than {inputs.LONGEST_LINE:,} characters, and no longer one is "
                "read; write one record a line"
            )
        yield from _elements(line + _clean(whole, report), start, report, hook)


def _value(line: str, hook: Hook) -> Any:
    """Return the value of a line of JSON. NaN and numbers of any length are read, as Python writes them."""
    if hook is None and not _HALF.search(line):
        try:
            return msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            pass
    return _stored(json.loads(line, object_pairs_hook=hook))


def _elements(text: str, line: int, report: ReadingReport, hook: Hook) -> Iterator[Any]:
    """The elements of a JSON list, decoded one by one; or the objects of a file that holds some in a row."""
    decoder = json.JSONDecoder(object_pairs_hook=hook)
    begun, end, number, listed, between = 0, 0, 0, False, _BETWEEN.match
    while True:
        at = cast(re.Match[str], between(text, end)).end()
        if not (number or listed) and text.startswith("[", at):
            listed, end = True, at + 1
            continue
        line, begun = line + text.count("\n", begun, at), at
        row = f"line {line}, row" if line > 1 else "row"
        report.unit, report.number = (row, number + 1) if listed else ("line", line)
        closed = text.startswith("]", at) if listed else at == len(text)
        if closed:
            if text[at + 1 :].strip():
                report.number = number
                report.add(RowError("there is more after the end of the list"))
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            problem = f"{_wrong(error, cut=at == len(text))}; nothing behind it was read"
            report.add(RowError(problem, ends=True))
            return
        number += 1
        yield _stored(value) if _HALF.search(text, at, end) else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError for a key that it has twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = Counter([key for key, _ in pairs]).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r:.80} occurs twice; keep one")
    return row


def _stored(value: Any) -> Any:
    """A value of JSON with U+FFFD for halves of surrogate pairs and NUL, which no store takes."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _stored(each) for name, each in value.items()}
    return [_stored(each) for each in value] if isinstance(value, list) else value


def _wrong(error: Exception, *, cut: bool = False) -> str:
    """The problem of JSON that is none, or more than Python reads."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({'it is cut short' if cut else error.msg})"
    deep = isinstance(error, RecursionError)
    return "lists or objects too deep" if deep else f"{error}".partition("; use")[0]


def _parquet(source: Any, name: str, report: ReadingReport) -> Iterator[dict[str, Any]]:
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(f"{name} is Parquet, which needs pyarrow: pip install pyarrow") from None
    report.fixed = True
    try:
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                report.number += 1
                yield row
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{name}: not Parquet, {error}") from None
    except (OverflowError, ValueError) as error:
        raise DataError(f"{name}, after row {report.number}: {error}") from None
