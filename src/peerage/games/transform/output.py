"""The output of a transformation: its format, and what of it counts. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from peerage.formats import read_json
from peerage.formats.texts import blocks, unix, words
from peerage.game import FormatError

JSON_READING = """\
Your output is compared as JSON: white space and the order of an object's keys do not count, all else does; \
its lines are the arrays and objects that hold no others."""
LINES_READING = """\
Your output is compared line by line: white space at the end of a line, and empty lines at the beginning \
and at the end, do not count, all else does."""


class Output(Struct, frozen=True):
    """An output of at most `max_chars` characters: what the reply's only code block holds, of a reply without
    a block the whole. Unusable is what is blank or longer, several blocks, a block that does not end, and
    what is no JSON where `json` asks for it. The value is the reply's text."""

    json: bool
    max_chars: int = 20_000

    def instruction(self) -> str:
        return (
            f"Reply with the {'JSON' if self.json else 'output'} alone, of at most {self.max_chars} "
            "characters. It may be in one Markdown code block; then what is around the block does not count."
        )

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        content = output(text)
        if not content.strip():
            raise FormatError("the output is empty; some text was expected")
        if len(content) > self.max_chars:
            raise FormatError(
                f"the output has {len(content)} characters; at most {self.max_chars} are allowed"
            )
        if self.json:
            _laid_out(content)
        return text

    def write(self, value: str) -> str:
        return value

    def sample(self, rng: Random) -> str:
        return msgspec.json.encode([words(rng, self.max_chars)]).decode()


def output(reply: str) -> str:
    """The output in a reply. Raises FormatError for more than one code block, or one that does not end."""
    fenced = [*blocks(unix(reply))]
    if len(fenced) > 1:
        raise FormatError(f"{len(fenced)} code blocks found; one or none was expected")
    return fenced[0] if fenced else reply


def canonical(text: str, is_json: bool) -> list[str]:
    """The lines of an output that count. Raises FormatError for what is no JSON, and should be. Of JSON they
    are those of its value laid out with sorted keys: an array or object that holds no other has a line, and
    so have the beginning and the end of one that does; numbers are compared by value. Of anything else they
    are the lines without white space at their ends, from the first that is not empty to the last."""
    if is_json:
        return _laid_out(text)
    lines = [line.rstrip() for line in unix(text).split("\n")]
    filled = [at for at, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _laid_out(text: str) -> list[str]:
    try:
        return [*_lines(_plain(read_json(text)), "")]
    except msgspec.DecodeError as error:
        raise FormatError(f"the output is not JSON: {error}") from None
    except RecursionError:
        raise FormatError("the output is too deep for JSON that was asked for") from None


def _lines(value: Any, key: str) -> Iterator[str]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(part, dict | list) for part in parts):
        yield key + json.dumps(value, sort_keys=True, ensure_ascii=False)
        return
    begin, end = "{}" if isinstance(value, dict) else "[]"
    yield key + begin
    for name in sorted(value) if isinstance(value, dict) else range(len(value)):
        yield from _lines(
            value[name], f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(name, str) else ""
        )
    yield end


def share_right(expected: Sequence[str], given: Sequence[str]) -> float:
    """Return the share of the lines that are right and in the right order, of those that are right or given,
    whichever are more: by the longest common subsequence. Lines without a letter or a digit do not count."""
    right, own = ([line for line in lines if any(map(str.isalnum, line))] for lines in (expected, given))
    lengths = [0] * (len(right) + 1)
    for line in own[: 2 * len(right)]:  # more would not come to half of them, and take long
        before = 0
        for at, other in enumerate(right, 1):
            same = before + 1
            before = lengths[at]
            lengths[at] = same if line == other else max(before, lengths[at - 1])
    return lengths[-1] / max(len(right), len(own), 1)


def _plain(value: Any) -> Any:
    """A value in which equal numbers are the same."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
