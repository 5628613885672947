"""Samples of Inspect's datasets and logs as tasks: `input` is the prompt, or messages, `target` what is
expected, `choices` are options that contestants see. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain, count
from string import ascii_uppercase
from typing import Any

from peerage.games.tasks.seen import MEDIA
from peerage.games.tasks.task import Taker

_FIELDS = frozenset(("input", "target", "choices", "id", "metadata", "sandbox", "files", "setup"))
_KEPT = ("id", "category", "rubric", "system", "weight", *MEDIA)
_OTHERS = frozenset(("prompt", "messages", "expected", "check"))
_NUMBER = re.compile(r"\s*[-+]?\d[\d,]*(?:\.\d+)?\s*")


def is_sample(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a sample of Inspect's, and not a task that names a column otherwise."""
    if "input" not in row or row.keys() >= {"eval", "output"}:  # a log has messages, too
        return "input" in row
    known = row.keys() <= _FIELDS.union(_KEPT)
    return (known or "target" in row or "choices" in row) and not row.keys() & _OTHERS


def row_of(sample: Mapping[str, Any], check: str, problem: Taker) -> dict[str, Any]:
    """Return the columns of a task that a sample comes to; `check` is the arena's own, if it states one. A
    target of digits is a number. A sample that needs a sandbox is a problem, and so are several right
    choices."""
    row = {name: sample[name] for name in _KEPT if name in sample}
    for name in ("sandbox", "files", "setup"):
        if sample.get(name):
            problem(name, "contestants have no sandbox here; leave the sample out")
    metadata = _json(sample.get("metadata"))
    if isinstance(metadata, Mapping) and metadata.get("category"):
        row.setdefault("category", str(metadata["category"]))
    options = dict(
        zip(
            chain(ascii_uppercase, map(str, count(1))), _choices(sample.get("choices"), problem), strict=False
        )
    )
    asked = sample["input"]
    turns: Any = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    if isinstance(turns, list) and all(isinstance(turn, Mapping) for turn in turns):
        turns = [{"role": turn.get("role"), "content": _content(turn.get("content"))} for turn in turns]
        if options and turns and isinstance(content := turns[-1]["content"], str | list):
            shown = "\n".join(map("{}) {}".format, options, options.values()))
            shown = f"\n\n{shown}\n\nAnswer with the letter of the right choice."
            more: Any = shown if isinstance(content, str) else [{"type": "text", "text": shown}]
            turns[-1]["content"] = content + more
    row |= {"prompt": turns[0]["content"]} if isinstance(asked, str) else {"messages": turns}
    target = sample.get("target")
    several = target if isinstance(target, list) else [target]
    right = [str(text) for text in several if text not in (None, "") and text == text]  # pandas writes NaN
    if options and right:
        if len(right) > 1 or right[0] not in options:
            letters = f"the letters {', '.join(options)}"
            problem("target", f"found {', '.join(right)!r:.60}; expected one of {letters}")
        row["check"] = {"type": "choice", "options": [*dict.fromkeys([*options, *right])]}
    elif right and not check and all(map(_NUMBER.fullmatch, right)):
        row["check"] = "number"
    return row | ({"expected": right if len(right) > 1 else right[0]} if right else {})


def _choices(written: Any, problem: Taker) -> list[str]:
    """The choices of a sample, in a table separated by commas, else blanks, as Inspect reads them."""
    written = _json(written)
    if isinstance(written, str):
        written = written.split("," if "," in written else None)
    if not isinstance(written, list | None) and written == written:
        problem("choices", f"found {written!r:.60}; expected a list of texts")
    return (
        [str(choice).strip() for choice in written if str(choice).strip()]
        if isinstance(written, list)
        else []
    )


def _content(content: Any) -> Any:
    """The text of a turn, which may stand in parts; what is no text as it is."""
    parts = content if isinstance(content, list) else ()
    texts = [str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text")]
    return "\n".join(texts) if texts and len(texts) == len(parts) else content


def _json(cell: Any) -> Any:
    """A list or an object that stands in a cell as JSON; anything else as it is."""
    try:
        return json.loads(cell) if isinstance(cell, str) and cell[:1] in ("[", "{") else cell
    except (ValueError, RecursionError):
        return cell
