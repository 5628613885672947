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
from typing import Any, BinaryIO

from peerage.ratings.read.report import DataError, ReadingReport, RowError
from peerage.values.inputs import MOST_BYTES

_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
ANSWERS = "peerage:answers"
"""Key of a sample's store under which `peerage.inspect` has the answers of several contestants."""
_ZSTANDARD = 93
"""ZIP's number for the compression of newer logs, which Python's own `zipfile` does not read."""


def is_log(record: Any) -> bool:
    """Return whether a JSON value is a whole log."""
    return isinstance(record, dict) and isinstance(record.get("samples"), list) and "status" in record


def samples_of(log: Any, samples: Iterable[Any], report: ReadingReport) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log as they are, with what its `eval` says, and each score by its scorer, or
    SCORER/ENTRY where it has several. `solved` is the first, None where a sample has no score. A sample of
    several contestants is one for each, solved by its share of the points. Raises DataError."""
    about = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(about, dict) or not {"model", "task"} <= about.keys():
        raise DataError(f"{report.file}: not an Inspect log: its eval names no model, or no task")
    report.unit = "sample"
    for report.number, sample in enumerate(samples, 1):
        if not isinstance(sample, dict):
            expected = RowError(
                "not as Inspect writes them: expected an object with id, input, output and scores"
            )
            report.add(sample if isinstance(sample, RowError) else expected)
            continue
        scores = sample.get("scores")
        values = _scores(scores if isinstance(scores, dict) else {})
        row = {**values, "id": None, "input": None, "output": None, **sample, "eval": about}
        store = sample.get("store")
        answers = store.get(ANSWERS) if isinstance(store, dict) else None
        if not isinstance(answers, dict):
            yield row
            continue
        for name, answer in answers.items():
            output = {"completion": answer.get("text") if isinstance(answer, dict) else None}
            share = {"solved": values.get(f"{next(iter(scores or ()), '')}/{name}")}
            yield {**row, "output": output, **share, "eval": {**about, "model": name}}


def _scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        entries = value if isinstance(value, Mapping) else {"": value}
        for entry, part in entries.items():
            name = scorer if len(entries) == 1 else f"{scorer}/{entry}"
            values[name] = _VALUES.get(part, part) if isinstance(part, str) else part
    first = next(iter(scores), "")
    return {**values, "solved": values.get(first, scores.get(first))}


def zipped(stream: BinaryIO, name: str, report: ReadingReport) -> Iterator[dict[str, Any]]:
    """Yield the samples of an `.eval` file, as `samples_of`. Raises DataError."""
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
        header = _json(log, start)
        if isinstance(header, RowError):
            raise DataError(f"{name}: {header}")
        samples = (_json(log, each) for each in names if re.match("samples/.*[^/]$", each))
        yield from samples_of(header, samples, report)


def _json(log: zipfile.ZipFile, name: str) -> Any:
    """Return the value of a member, or the problem with it."""
    info = copy(log.getinfo(name))
    size = info.file_size
    if size > MOST_BYTES:
        return RowError(f"{name} has {size:,} bytes, more than a sample can")
    try:
        if info.compress_type != _ZSTANDARD:
            return json.loads(log.read(name))
        from zstandard import ZstdDecompressor  # few logs are of these

        packed = ZstdDecompressor()
        info.compress_type, info.file_size, info.CRC = zipfile.ZIP_STORED, info.compress_size, None  # type: ignore[assignment]
        return json.loads(packed.stream_reader(log.open(info)).read(size))  # of the size that is stated
    except RecursionError:
        return RowError(f"{name}: lists or objects too deep")
    except Exception as error:  # each way of compressing, and none that is known, has errors of its own
        return RowError(f"{name} cannot be read: {f'{error}'.partition(';')[0]}")
