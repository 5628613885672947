"""The JSON objects in a reply, as models write them, in time linear in its length. Pure.

Besides JSON it reads, where there is one reading: raw line feeds in a text, invalid escapes, comments, a
comma before a closing bracket, single and typographic quotation marks, keys and words without any, full-width
colons and commas, invisible characters between values, and quotation marks within a text that no colon
follows.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from peerage.formats.texts import FormatError
from peerage.values.texts import lazy, storable

MOST = 100
"""Objects that a reply may begin: more is an attack, or no reply in any format of ours."""
_DEEPEST, _TOKENS = 64, 20_000  # of the lenient reader, which is a hundred times slower than the strict one
_GAP = r"[\s\u200b-\u200d\u2060\ufeff]"
_SKIP = lazy(rf"(?:{_GAP}++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)*+")
_BEGINS = lazy(rf"""\{{(?={_GAP}*+(?:["'“”„]|[\w-]++{_GAP}*+[:：]|/[/*]))""")
_KEY = lazy(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[“”„](?:[^“”\\]|\\.)*+[“”]|[^\W\d][\w-]*+""", re.DOTALL)
_TEXT = lazy(
    rf""""(?:[^"\\]|\\.|"(?!{_GAP}*+(?:[,，}}\]]|//|/\*)))*+"|'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*+'"""
    r"""|[“”„](?:[^“”\\]|\\.)*+[“”]""",
    re.DOTALL,
)
_WORD = lazy(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?![\w.])|[^\W\d_]++(?![\w.])")
_NUMBER = lazy(r"[-0-9]")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_HALF = lazy(r"\\u(?:[dD][89a-fA-F]|0000)|[\0\ud800-\udfff]")
_MEMBER = lazy(r'(?<!\\)"\s*+[:：]')
_ESCAPE = lazy(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|(\\)|(")', re.DOTALL)


class Found(NamedTuple):
    """An object at `start:end` of a reply, or (`value` None) one that breaks off or is no JSON. `keys` are
    its own, as written; `problem` says why it cannot be read."""

    start: int
    end: int
    keys: tuple[str, ...]
    value: dict[str, Any] | None
    problem: str = ""


def objects(text: str) -> list[Found]:
    """The outermost objects of a reply, in order. FormatError for a key that one gives two values."""
    listed: list[Found] = []
    lenient = _Lenient(text)
    begins = _BEGINS.search(text)
    while begins:
        if len(listed) == MOST:
            raise FormatError(f"more than {MOST} JSON objects found; one was expected")
        listed.append(_object_at(text, begins.start(), lenient))
        begins = _BEGINS.search(text, listed[-1].end)
    return listed


def _object_at(text: str, start: int, lenient: _Lenient) -> Found:
    try:
        value, end = _STRICT(text, start)
        if _HALF.search(text, start, end):
            value = _whole_characters(value)
    except RecursionError:
        raise FormatError(
            "the reply is not one JSON object: it is too deep; an object was expected"
        ) from None
    except ValueError:
        try:
            value, end = lenient.object(start, 0), lenient.at
        except _Broken as broken:
            return Found(start, max(lenient.at, start + 1), tuple(lenient.keys), None, str(broken))
    return Found(start, end, tuple(value), value)


def _whole_characters(value: Any) -> Any:
    """A decoded value as every store can hold it."""
    if isinstance(value, dict):
        return {storable(name): _whole_characters(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole_characters(member) for member in value]
    return storable(value) if isinstance(value, str) else value


class _Broken(Exception):
    """No object can be read here; the message says why."""


class _Lenient:
    """A reader of one object: `at` is where it is, `keys` those of the outermost object so far."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.keys, self._left = text, 0, list[str](), _TOKENS

    def object(self, start: int, depth: int) -> dict[str, Any]:
        self.at = start + 1
        if depth == 0:
            self.keys = []
        pairs: list[tuple[str, Any]] = []
        while self._next() != "}":
            key = _KEY.match(self.text, self.at)
            if key is None:
                self._broken("a key was expected")
            self.at = key.end()
            name = _unescaped(key[0])
            if depth == 0:
                self.keys.append(name)
            if self._next() not in (":", "："):
                self._broken(f'after "{name[:40]}" a colon was expected')
            self.at += 1
            pairs.append((name, self._value(depth + 1)))
            self._comma("}")
        self.at += 1
        return _once(pairs)

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while self._next() != "]":
            values.append(self._value(depth + 1))
            self._comma("]")
        self.at += 1
        return values

    def _value(self, depth: int) -> Any:
        first = self._next()
        if first in ("{", "["):
            if depth > _DEEPEST:
                self._broken("it is too deep")
            return self.object(self.at, depth) if first == "{" else self._list(depth)
        text = _TEXT.match(self.text, self.at)
        if text is not None:
            self.at = text.end()
            inner = text[0][1:-1]
            if first == '"' and _MEMBER.search(inner):
                self._broken("the end of a text is unclear: quotation marks in it need a backslash")
            return _unescaped(text[0])
        word = _WORD.match(self.text, self.at)
        if word is None:
            self._broken("a value was expected")
        self.at = word.end()
        if _NUMBER.match(word[0]):
            return _whole(word[0]) if word[0].lstrip("-").isdigit() else _float(word[0])
        if word[0] in ("NaN", "Infinity"):
            _constant(word[0])
        return _WORDS.get(word[0], word[0])

    def _comma(self, closing: str) -> None:
        if self._next() in (",", "，"):
            self.at += 1
        elif self.text[self.at : self.at + 1] != closing:
            self._broken(f"a comma or {closing} was expected")

    def _next(self) -> str:
        self._left -= 1
        if self._left < 0:
            raise FormatError(
                "the JSON cannot be read, and is too long for a second look; JSON alone was expected"
            )
        skipped = _SKIP.match(self.text, self.at)
        self.at = skipped.end() if skipped else self.at
        return self.text[self.at : self.at + 1]

    def _broken(self, why: str) -> NoReturn:
        where = f"before {self.text[self.at : self.at + 20]!r}" if self.at < len(self.text) else "at the end"
        raise _Broken(f"{why} {where}")


def _unescaped(written: str) -> str:
    """The text of a key or a value as it is written, with its quotation marks if it has any."""
    inner = written[1:-1] if written[0] in "\"'“”„" else written
    if written[0] == "'":
        inner = inner.replace("\\'", "'")
    with suppress(ValueError):
        return storable(str(json.loads(f'"{inner}"', strict=False)))
    escaped = _ESCAPE.sub(lambda part: "\\\\" if part[1] else '\\"' if part[2] else part[0], inner)
    return storable(str(json.loads(f'"{escaped}"', strict=False)))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields and fields[name] != value:
            raise FormatError(f"{json.dumps(name)[:60]} occurs more than once; one value was expected")
        fields[name] = value
    return fields


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise FormatError("a number is too large; one below 1e308 was expected")
    return number


def _whole(text: str) -> int:
    if len(text) > 300:
        raise FormatError("a number is too long; one of at most 300 digits was expected")
    return int(text)


def _constant(name: str) -> NoReturn:
    raise FormatError(f"{name} is no JSON; a number was expected")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_float, parse_int=_whole, parse_constant=_constant, strict=False
).raw_decode
