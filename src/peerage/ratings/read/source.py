"""Records of an opened file: a table of text, JSON, JSON lines, Parquet or a log of Inspect, piece by piece.

The caller opens the file, in binary; nothing here knows a path. Kind, encoding and separator are recognized
by what is there. A file larger than memory can be read: tables and JSON lines line by line, a JSON list
element by element, Parquet in batches. A bad record is reported with its line, and the next one is read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any, BinaryIO, cast

import msgspec

from peerage import inputs
from peerage.formats import storable
from peerage.ratings.read.inspect import zipped
from peerage.ratings.read.report import DataError, Report, RowError

NO_LOG = "is no log of Inspect: --score names a score of such logs"
Header = Callable[[list[str]], list[str]]
"""Turns the first line of a table into names of columns. Raises RowError."""
Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]] | None

_ENDINGS = {
    ".csv": "table", ".tsv": "table", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".parquet": "parquet", ".eval": "zip",
}  # fmt: skip
ENDINGS = tuple(_ENDINGS)
_MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "zip"}
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_BOMS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_CHUNK = 1 << 18
_BATCH = 5_000
_NO_BYTE = re.compile("[\udc80-\udcff]")
"""Bytes that are no UTF-8, as Python escapes them."""
_NOT_WESTERN = re.compile(
    rb"[\x80-\xff]{3}|[\x81-\x84\x86-\x89\x8b\x8d\x8f\x90\x98\x9b\x9d\xa2\xa4-\xa6\xa8\xaa\xac\xad\xaf\xb1-\xb6"
    rb"\xb8-\xba\xbc-\xbe\xd7\xf7]"
)
"""Bytes that a text in a western language would not have in Windows-1252: other encodings are not guessed."""
_HALF = re.compile(r"\\u(?:[dD]|0000)")
"""What JSON may escape and no store takes: halves of surrogate pairs, and NUL."""
_BETWEEN = re.compile(r"[\s,]*")


def records(
    stream: BinaryIO,
    name: str,
    report: Report,
    *,
    header: Header | None = None,
    unique: bool = False,
    score: str = "",
) -> Iterator[Any]:
    """The records of a file, whose places `report` then knows: rows of a table by column, values of JSON.

    `header` names the columns of a table, `unique` refuses a key that an object has twice, `score` names the
    score of Inspect's logs that counts. Raises DataError for a file that is nothing of the kind; bad records
    are added to `report`.
    """
    source = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(Any, stream))
    head = source.peek(64)[:64]
    report.unit, report.number, report.fixed = "row", 0, False
    packed = next((kind for magic, kind in _PACKED.items() if head.startswith(magic)), "")
    if packed:
        raise DataError(f"{name} is compressed by {packed}; unpack it first")
    ending = "." + name.lower().rpartition(".")[2]
    kind = _MAGIC.get(head[:4]) or _ENDINGS.get(ending)
    if score and kind == "parquet":
        raise DataError(f"{name} {NO_LOG}")
    if kind in ("parquet", "zip"):
        whole = source if source.seekable() else io.BytesIO(source.read(inputs.MOST_BYTES))
        yield from _parquet(whole, name, report) if kind == "parquet" else zipped(whole, name, report, score)
        return
    encoding = _encoding(head)
    first = head.decode(encoding, "ignore").lstrip("\ufeff \t\r\n")[:1]
    report.unit = "line"
    text = _Text(source, encoding, name, report)
    try:
        if (kind or ("json" if first and first in "[{" else "table")) == "table":
            report.fixed = True
            yield from _table(text, ending == ".tsv", report, header or _distinct)
        else:
            yield from _json(text, first == "[", report, _once if unique else None)
    except UnicodeDecodeError as error:
        raise DataError(f"{report.place}: found bytes that are not {error.encoding.upper()}") from None
    finally:
        text.close()


def _encoding(head: bytes) -> str:
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return encoding
    if b"\0" in head[:2] and len(head) > 1:
        return "utf-16-be" if head[0] == 0 else "utf-16-le"
    return "utf-8-sig"


class _Text:
    """The text of a file by lines, or by pieces; `report` gets the number of the line."""

    def __init__(self, source: Any, encoding: str, name: str, report: Report) -> None:
        errors = "surrogateescape" if encoding == "utf-8-sig" else "strict"
        self._text = io.TextIOWrapper(source, encoding, errors, newline="")
        self._name, self._report = name, report
        self._unicode = False

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(inputs.lines(self._text, self._name), 1):
            self._report.number = number
            yield line if line.isascii() and "\0" not in line else self._clean(line)

    def read(self, size: int) -> str:
        """A piece of so many characters; empty at the end."""
        piece = self._text.read(size)
        return piece if piece.isascii() and "\0" not in piece else self._clean(piece)

    def close(self) -> None:
        """Let the stream go, without closing it."""
        self._text.detach()

    def _clean(self, text: str) -> str:
        """The text without NUL. Bytes that are not UTF-8 are read as Windows-1252, which is noted, where the
        whole text can be that."""
        wrong, body = _NO_BYTE.search(text), text.encode("utf-8", "surrogateescape")
        if wrong is None:
            self._unicode = self._unicode or not text.isascii()
        elif self._unicode or _NOT_WESTERN.search(body):
            byte = ord(wrong[0]) - 0xDC00
            self._report.add(RowError(f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"))
            text = _NO_BYTE.sub("\ufffd", text)
        else:
            self._report.remarks[f"{self._name} is not UTF-8, and was read as Windows-1252"] = None
            text = body.decode("cp1252")
        return text.replace("\0", "\ufffd")


def _distinct(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise RowError(f"the header names {', '.join(twice):.200} twice")
    return names


def _table(text: _Text, tabs: bool, report: Report, header: Header) -> Iterator[dict[str, str]]:
    """The rows of a table, of which all blank ones are left out."""
    limit = csv.field_size_limit(inputs.LONGEST_LINE)  # a whole conversation may be in one field
    try:
        lines = iter(text)
        first = next((line for line in lines if not line.isspace()), "")
        stated = re.fullmatch(r"sep=(.)\s*", first)  # as Excel reads and writes it
        if stated:
            first = next(lines, "")
        before = report.number - 1
        mark = stated[1] if stated else _separator(first, "\t,;|" if tabs else ",;\t|")
        quote = f"put cells with quotes or {_MARKS.get(mark, mark)} in quotes"
        reader = csv.reader(chain([first] * bool(first), lines), delimiter=mark, strict=True)
        names: list[str] = []
        line = before + 1
        while True:
            try:
                for cells in reader:
                    report.number, line = line, before + reader.line_num + 1
                    if len(cells) == len(names) and any(cells):
                        yield dict(zip(names, cells, strict=True))
                    elif not names:
                        names = _named(header, cells, report)
                    elif any(map(str.strip, cells)):
                        at = names[len(cells)] if len(cells) < len(names) else str(len(names) + 1)
                        report.add(RowError(f"found {len(cells)} cells, expected {len(names)}; {quote}", at))
                break
            except csv.Error as error:
                report.number, line = line, before + reader.line_num + 1
                report.add(RowError(f"no CSV ({error}); {quote}"))
        if not names:
            _named(header, [], report)
    finally:
        csv.field_size_limit(limit)


def _named(header: Header, cells: list[str], report: Report) -> list[str]:
    """The columns of a table; without a sound header nothing can be read."""
    names: list[str] = []
    with report:
        names = header(cells)
    report.check()
    return names


def _separator(header: str, marks: str) -> str:
    """The separator by which a header has the most columns."""
    return max(marks, key=lambda mark: len(next(csv.reader([header], delimiter=mark), ())))


_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def _json(text: _Text, listed: bool, report: Report, hook: Hook) -> Iterator[Any]:
    if listed:
        yield from _elements(text, "", report, hook)
        return
    begun = False
    for line in text:
        if line.isspace():
            continue
        try:
            value = _value(line, hook)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(line.rstrip()) and "Unterm" not in error.msg
            if cut and not begun and line.lstrip()[0] == "{":
                yield from _elements(text, line, report, hook)  # one object on many lines
                return
            report.add(RowError(f"not JSON ({error.msg})", str(error.colno)))
        except (ValueError, RecursionError) as error:
            report.add(RowError(_beyond(error)))
        else:
            yield value
        begun = True


def _value(line: str, hook: Hook) -> Any:
    """What a line of JSON says. NaN and numbers of any length are read, as Python writes them."""
    if hook is None and not _HALF.search(line):
        try:
            return msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            pass
    return _stored(json.loads(line, object_pairs_hook=hook))


def _elements(text: _Text, buffer: str, report: Report, hook: Hook) -> Iterator[Any]:
    """The elements of a JSON list, decoded one by one; or the objects of a file that holds some in a row."""
    decoder = json.JSONDecoder(object_pairs_hook=hook)
    at, counted, line, number, listed, ended = 0, 0, max(report.number, 1), 0, False, False
    while True:
        between = _BETWEEN.match(buffer, at)
        at = between.end() if between else at
        line, counted = line + buffer.count("\n", counted, at), at
        if buffer.startswith("[", at) and not (number or listed):
            listed, at = True, at + 1
            continue
        report.number = number + 1 if listed else line
        report.unit = (f"line {line}, row" if line > 1 else "row") if listed else "line"
        if listed and buffer.startswith("]", at):
            rest = buffer[at + 1 :]
            while not rest.strip() and (rest := text.read(_CHUNK)):
                pass
            if rest.strip():
                report.number = number
                report.add(RowError("more stands behind the end of the list"))
            return
        try:
            if at == len(buffer):
                raise json.JSONDecodeError("it is cut short", buffer, at)
            value, end = decoder.raw_decode(buffer, at)
            if end == len(buffer) and not ended and not isinstance(value, dict | list):
                raise json.JSONDecodeError("cut", buffer, end)
        except json.JSONDecodeError as error:
            final = error.pos < len(buffer) - 20 and "Unterm" not in error.msg
            if ended and at == len(buffer) and not listed:
                return
            if ended or final:
                report.add(RowError(f"not JSON ({error.msg}); nothing behind it was read"))
                return
            if len(buffer) - at > inputs.LONGEST_LINE:
                raise DataError(
                    f"{report.place}: more than {inputs.LONGEST_LINE:,} characters, and no longer one is read"
                ) from None
            piece = text.read(max(_CHUNK, len(buffer) - at))
            buffer, at, counted, ended = buffer[at:] + piece, 0, 0, not piece
            continue
        except (ValueError, RecursionError) as error:
            report.add(RowError(f"{_beyond(error)}; nothing behind it was read"))
            return
        number += 1
        yield _stored(value) if _HALF.search(buffer, at, end) else value
        at = end


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError for a key that it has twice."""
    row: dict[str, Any] = {}
    for key, value in pairs:
        if key in row:
            raise ValueError(f"the key {key!r:.80} stands there twice; keep one")
        row[key] = value
    return row


def _stored(value: Any) -> Any:
    """A value of JSON with U+FFFD for halves of surrogate pairs and NUL, which no store takes."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _stored(each) for name, each in value.items()}
    return [_stored(each) for each in value] if isinstance(value, list) else value


def _beyond(error: Exception) -> str:
    """The problem of JSON that is more than Python reads."""
    deep = isinstance(error, RecursionError)
    return "lists or objects too deep" if deep else f"{error}".partition("; use")[0]


def _parquet(source: Any, name: str, report: Report) -> Iterator[dict[str, Any]]:
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
