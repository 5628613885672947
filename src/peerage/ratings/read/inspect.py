"""Logs of Inspect (UK AI Security Institute), `.eval` and JSON, as answers: who solved which sample.

An `.eval` file is a ZIP of JSON: `header.json`, and `samples/ID_epoch_N.json` each. C, P, I and N (correct,
partly, incorrect, no answer) are 1, ½, 0 and 0, as in Inspect.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from importlib import import_module
from itertools import chain, count
from string import ascii_uppercase
from typing import Any, BinaryIO

from peerage.inputs import MOST_BYTES
from peerage.ratings.read.report import DataError, Report, RowError

_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ZSTANDARD = 93
"""ZIP's number for the compression of newer logs, which Python's own `zipfile` does not read."""


def is_log(record: Any) -> bool:
    """Return whether a JSON value is a whole log."""
    return isinstance(record, dict) and isinstance(record.get("samples"), list) and "status" in record


def answers(log: Any, samples: Iterable[Any], report: Report) -> Iterator[dict[str, Any]]:
    """Yield the answers of a log: `player` (the model), `challenge` (task and sample), `question`, `answer`,
    and each score by its scorer, or SCORER/ENTRY where it has several. `solved` is the first, None where a
    sample has no score. Raises DataError."""
    about = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(about, dict) or not {"model", "task"} <= about.keys():
        raise DataError(f"{report.file}: not an Inspect log: its eval names no model, or no task")
    report.unit = "sample"
    for report.number, sample in enumerate(samples, 1):
        with report:
            if isinstance(sample, RowError):
                raise sample
            try:
                answer = {
                    **_scores(sample.get("scores") or {}),
                    "player": about["model"],
                    "challenge": f"{about['task']}/{sample['id']}",
                    "epoch": sample.get("epoch", 1),
                    "question": _asked(sample.get("input"), sample.get("choices")),
                    "answer": (sample.get("output") or {}).get("completion", ""),
                    "error": sample.get("error"),
                }
            except (KeyError, TypeError, AttributeError):
                expected = "expected an object with id, input, output and scores"
                raise RowError(f"not as Inspect writes them: {expected}") from None
            yield answer


def _scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for scorer, score in scores.items():
        value = score["value"] if isinstance(score, Mapping) else score
        entries = value if isinstance(value, Mapping) else {"": value}
        for entry, one in entries.items():
            name = scorer if len(entries) == 1 else f"{scorer}/{entry}"
            values[name] = _VALUES.get(one, one) if isinstance(one, str) else one
    first = next(iter(scores), "")
    return {**values, "solved": values.get(first, scores.get(first))}


def zipped(stream: BinaryIO, name: str, report: Report) -> Iterator[dict[str, Any]]:
    """Yield the answers of an `.eval` file, as `answers`. Raises DataError."""
    try:
        log = zipfile.ZipFile(stream)
    except Exception as error:  # damaged bytes raise whatever they meet first
        raise DataError(f"{name}: not an Inspect log: {error}") from None
    with log:
        names = log.namelist()
        if "xl/workbook.xml" in names:
            raise DataError(f"{name} is a workbook of a spreadsheet; save the sheet as CSV")
        start = "header.json" if "header.json" in names else "_journal/start.json"
        if start not in names:
            raise DataError(f"{name}: a ZIP file, but no Inspect log: header.json is missing")
        header = _json(log, start, name)
        if isinstance(header, RowError):
            raise DataError(f"{name}: {header}")
        samples = (_json(log, each, name) for each in names if re.match("samples/.*[^/]$", each))
        yield from answers(header, samples, report)


def _json(log: zipfile.ZipFile, name: str, file: str) -> Any:
    """Return the value of a member, or the problem with it."""
    info = copy(log.getinfo(name))
    size = info.file_size
    if size > MOST_BYTES:
        return RowError(f"{name} has {size:,} bytes, more than a sample can")
    try:
        if info.compress_type != _ZSTANDARD:
            return json.loads(log.read(name))
        packed = import_module("zstandard").ZstdDecompressor()
        info.compress_type, info.file_size, info.CRC = zipfile.ZIP_STORED, info.compress_size, None  # type: ignore[assignment]
        return json.loads(packed.stream_reader(log.open(info)).read(size))  # of the size that is stated
    except ImportError:
        raise DataError(
            f"{file}: this log is compressed with Zstandard, which needs a package: pip install "
            "'peerage[inspect]'"
        ) from None
    except RecursionError:
        return RowError(f"{name}: lists or objects too deep")
    except Exception as error:  # each way of compressing, and none that is known, has errors of its own
        return RowError(f"{name} cannot be read: {f'{error}'.partition(';')[0]}")


def _asked(said: Any, choices: Any) -> str:
    """Return all that the model was asked: a text, or its messages by role, then the choices that it had;
    empty where some of it is no text."""
    turns = [{"content": said}] if isinstance(said, str) else said or ()
    texts = [_text(turn.get("content", "")) for turn in turns]
    if not all(texts):
        return ""
    if len(texts) > 1:
        texts = [f"{turn.get('role', '')}: {text}" for turn, text in zip(turns, texts, strict=True)]
    names = chain(ascii_uppercase, map(str, count(1)))  # as Inspect names choices
    return "\n".join([*texts, *map("{}) {}".format, names, choices or ())])


def _text(content: Any) -> str:
    """Return the text of a message; empty where it holds something else, such as a picture."""
    parts = [{"text": content}] if isinstance(content, str) else content or ()
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in parts]
    return "\n".join(map(str, texts)) if all(text and isinstance(text, str) for text in texts) else ""
