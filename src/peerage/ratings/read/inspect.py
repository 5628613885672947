"""Logs of Inspect (UK AI Security Institute), `.eval` and JSON, as answers: who solved which sample.

An `.eval` file is a ZIP of JSON: `header.json`, and `samples/ID_epoch_N.json` each. A sample's score is that
of the first scorer, or the one that is named; C, P, I and N (correct, partly, incorrect, no answer) are 1, ½,
0 and 0, as in Inspect.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from copy import copy
from importlib import import_module
from itertools import chain, count
from string import ascii_uppercase
from typing import Any, BinaryIO

from peerage.inputs import MOST_BYTES
from peerage.ratings.read.forms import at
from peerage.ratings.read.report import DataError, Report, RowError

NO_LOG = "is no log of Inspect: --score names a score of such logs"
_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ZSTANDARD = 93
"""ZIP's number for the compression of newer logs, which Python's own `zipfile` does not read."""


def is_log(record: Any) -> bool:
    """Return whether a JSON value is a whole log."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("samples"), list)
        and isinstance(record.get("eval"), dict)
        and "status" in record
    )


def answers(log: Mapping[str, Any], report: Report, score: str = "") -> Iterator[dict[str, Any]]:
    """Yield the answers of a log: `player` (the model), `challenge` (task and sample), `solved`, and for
    judges `question` and `answer`. Samples without a score have None, and those that ended with an error no
    answer either. `score` names a scorer, or an entry of a score that has several. Raises DataError."""
    about = log["eval"]
    if not {"model", "task"} <= about.keys():
        raise DataError(f"{report.file}: not an Inspect log: eval names no model, or no task")
    report.unit = "sample"
    for report.number, sample in enumerate(log["samples"], 1):
        with report:
            if isinstance(sample, RowError):
                raise sample
            try:
                answer = {
                    "player": about["model"],
                    "challenge": f"{about['task']}/{sample['id']}",
                    "solved": _solved(sample.get("scores") or {}, score, report.file),
                    "epoch": sample.get("epoch", 1),
                    "question": _asked(sample.get("input"), sample.get("choices")),
                    "answer": (sample.get("output") or {}).get("completion", ""),
                }
            except (KeyError, TypeError, AttributeError, OverflowError):
                expected = "expected an object with id, input, output and scores"
                raise RowError(f"not as Inspect writes them: {expected}") from None
            yield {**answer, "answer": None} if sample.get("error") else answer


def zipped(stream: BinaryIO, name: str, report: Report, score: str) -> Iterator[dict[str, Any]]:
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
        for part, value in ((start, header), ("eval", at(header, "eval"))):
            if not isinstance(value, dict):
                raise DataError(f"{name}: not an Inspect log: {part} is no object")
        samples = (_json(log, each, name) for each in names if re.match("samples/.*[^/]$", each))
        yield from answers({**header, "samples": samples}, report, score)


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


def _solved(scores: Mapping[str, Any], wanted: str, file: str) -> float | None:
    """Return the value of the score that is wanted (SCORER, ENTRY, or SCORER/ENTRY where scorers share its
    name), else of the first; None where there is no score."""
    values: dict[str, Any] = {}
    for scorer, score in scores.items():
        value = score["value"] if isinstance(score, Mapping) else score
        entries = value if isinstance(value, Mapping) and value else {"": value}
        values |= {f"{scorer}/{entry}".removesuffix("/"): each for entry, each in entries.items()}
    if not values:
        return None
    sought, part = (wanted, -1) if wanted else (next(iter(scores)), 0)
    names = [name for name in values if name == sought or name.split("/", 1)[part] == sought]
    if len(names) != 1:
        listed = ", ".join([name[:60] for name in names or values][:10])
        count = len(names) or "no"
        raise DataError(f"{file}: {count} scores are called {sought!r}; name one with --score: {listed}")
    value = values[names[0]]
    value = _VALUES.get(value, value) if isinstance(value, str) else value
    if not isinstance(value, bool | int | float):
        raise RowError(f"a score is {value!r:.60}; expected C, P, I, N or a number")
    return float(value)


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
