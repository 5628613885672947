"""The one reader of replies: it finds what a reply states, and reads it where its writer states it and does
not quote it (`authorship`). Pure, in linear time.

A field is stated by a JSON object that has it, or by a line: `field: value`, `field is value`, the value
alone in `[[…]]`, `\\boxed{…}`, `**…**` or `<field>…</field>`. Three rules make that safe:

- All statements must agree. A quoted one counts against them, so a reply with two readings has none.
- One statement at least is the writer's own: it is the whole reply, or begins or ends it, and neither the
  words before it lead on to a quotation ("The answer says:", a line of `>`) nor the words after it go on ("…
  is what it says"). With text on both sides only an object counts, and only after words such as "Here is my
  verdict:".
- After the last statement only a reason may follow, or a courtesy: sentences about the answers that name no
  other value, no verdict, vote or score, nobody who judges, and take nothing back. "Just kidding." is none.

Case, Markdown marks, quotation marks, invisible and no-break blanks and full-width letters around names and
values do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from peerage.formats.reading.authorship import (
    MOST_AFTER,
    NEAR,
    RETRACTED,
    SENTENCE_END,
    TAKEN_BACK,
    announced,
    is_own,
    only_a_reason,
)
from peerage.formats.reading.objects import MOST, Found, objects
from peerage.formats.texts import DECORATION, FormatError, folded
from peerage.values.texts import lazy

Value = TypeVar("Value")

_NAMES: Mapping[str, tuple[str, ...]] = {
    "verdict": (
        *("winner", "decision", "judgment", "judgement", "choice", "vote", "result", "preference"),
        *("preferred", "preferred answer", "preferred response", "better", "better answer"),
        *("better response", "best answer", "answer"),
    ),
    "vote": ("verdict", "decision", "choice"),
    "score": ("rating", "grade"),
    "move": ("action", "choice", "chosen move", "decision"),
    "color": ("colour",),
}
"""Other words for a field, that count where they say the same."""
_LEAD = lazy(
    r"(?:(?:so|therefore|thus|hence|then|and|in conclusion|conclusion|i conclude that|my|the|our|overall"
    r"|final)[\s,:]+)++"
)
_LINE = lazy(
    r"([^:=\n]{1,80}?)[\s*_\"'`)\]]*(?::|=|→|->|\s[-–—]\s|\s(?:is|goes to|would be)(?=[\s:]))[\s:]*(.*)",
    re.IGNORECASE,
)
_MARKED = lazy(
    r"\[\[([^\[\]\n]{1,60})\]\]|\\boxed\{(?:\\text\{)?([^{}\n]{1,60})\}{1,2}"
    r"|<([a-z_ ]{1,30})>\s{0,20}([^<>\n]{1,200})\s{0,20}</\3>",
    re.IGNORECASE,
)
_MATHS = "$*_` "
_BOLD = lazy(r"\*\*([^*\n:]{1,60})\*\*\.?")
_STOP = lazy(r",?\s+(?=because\s|since\s)|[.,;!]\s+|\s+[-–—]\s+|\s*\(|,?\s+(?:as|for)\s+")
_LISTED = lazy(rf"(?:\d{{1,2}}[.)]\s|[{re.escape(DECORATION)}>•✅✔☑✓🏆🥇👉➡→⭐🎯⚖-]){{0,40}}")
_STRUCK = lazy(r"(?<!~)~~(?!~)")
_FINAL = lazy(r"final|overall|total|correct|revis|result|adjust|actual|real|true|updat|chang")
"""Words in a key that states the field again."""

_BECAUSE = lazy(r"(?<=\s)(?:because|since)\s", re.IGNORECASE)
_WHOLE_FENCE = lazy(r"\s*+```[\w-]*+[ \t\r]*+\n(.*)```\s*", re.DOTALL)


class StatedReply(NamedTuple, Generic[Value]):
    """A reply as it is read: each field's value, the object that states them (empty: lines), other words."""

    values: Mapping[str, Value]
    stated: Mapping[str, Any]
    words: str

    @property
    def reason(self) -> str:
        """Return the reason that the object gives, or the words around the lines."""
        if not self.stated:
            return self.words.strip()
        reasons = (value for key, value in self.stated.items() if bare(key) in _REASONS)
        return next((reason for reason in reasons if isinstance(reason, str)), "")


_REASONS = ("reason", "reasoning", "reasons", "explanation", "rationale")


class _Line(NamedTuple, Generic[Value]):
    """A statement at `start:end` that is no object; `value` None cannot be read."""

    field: str
    value: Value | None
    own: bool
    start: int
    end: int


def bare(text: str) -> str:
    """Return a name or a value without case and without the marks around it."""
    return folded(text).strip(DECORATION).casefold()


def number_in(text: str) -> str:
    """Return a number as it is written, without the marks around it; those that would change it stay: `.8`,
    `-8`, `8+`."""
    marks = " \t\n*_`\"'“”()"
    text = text.strip()
    return folded(text).strip(marks).rstrip(".,;:! ").strip(marks) if len(text) <= NEAR else ""


def between(text: str, tag: str) -> list[str]:
    """Return the text between each opening tag and the next closing one; the case of tags does not count."""
    contents: list[str] = []
    opened: int | None = None
    for tag_match in re.finditer(rf"<(/?){tag}>", text, re.IGNORECASE):
        if not tag_match[1] and opened is None:
            opened = tag_match.end()
        elif tag_match[1] and opened is not None:
            contents.append(text[opened : tag_match.start()])
            opened = None
    return contents


def object_in(text: str, fields: Iterable[str], others: bool = False) -> dict[str, Any] | None:
    """Return the object that a reply states, with `fields` by these names, whatever their case; None when
    none has any. With `others` the only object counts where none has any of them. FormatError for several
    that differ, for one that breaks off, and for one that is quoted."""
    names = {bare(field): field for field in fields}
    ours: list[Found] = []
    parts = objects(text)
    for part in parts:
        keys = [names[name] for name in map(bare, part.keys) if name in names]
        if keys and part.value is None:
            raise FormatError(f"the reply is not one JSON object: {part.problem}")
        if keys:
            ours.append(part)
    if others and not ours and len(parts) == 1:
        return parts[0].value
    if not ours:
        return None
    try:
        differ = any(part.value != ours[0].value for part in ours)
    except RecursionError:
        differ = True
    if differ:
        raise FormatError(f"{len(ours)} different JSON objects found; one was expected")
    if any(TAKEN_BACK.search(text[part.end : part.end + NEAR]) for part in ours[-1:]):
        raise FormatError("what follows the JSON object takes it back; the object alone was expected")
    if not any(is_own(text, part.start, part.end) for part in ours):
        raise FormatError("the JSON object is quoted within other text; the object alone was expected")
    keyed: dict[str, Any] = {}
    for key, value in (ours[0].value or {}).items():
        name = names.get(bare(key), key)
        if name in keyed and keyed[name] != value:
            raise FormatError(f'"{name}" occurs more than once; one value was expected')
        keyed[name] = value
    return keyed


def stated(
    text: str, fields: Sequence[str], read: Callable[[Any], Value | None], expected: str
) -> StatedReply[Value]:
    """Return the value that a reply states for each of `fields`, as `read` makes it of the words written
    there; see the module. `read` is total but for FormatError, and gives None for what it cannot read.
    FormatError, with `expected` in its words, unless every field has one value."""
    text = _unfenced(text)
    if _STRUCK.search(text[:NEAR]) and "{" not in text[:NEAR]:
        raise FormatError(f"words are struck out; {expected}")
    if len(fields) == 1 and (alone := _sentence(text, read)) is not None:
        return StatedReply({fields[0]: alone}, {}, "")
    names = names_of(tuple(fields))
    values: dict[str, list[Value | None]] = {field: [] for field in fields}
    parts = objects(text)
    ours = [
        part for part in parts if any(bare(key) in names or _field_of(key, names)[1] for key in part.keys)
    ]
    own, source = False, text.casefold()
    for part in ours:
        if part.value is None:
            raise FormatError(f"the JSON object cannot be read: {part.problem}; {expected}")
        own = own or is_own(text, part.start, part.end)
        for field, value in members(part.value, names, source.count(fields[0].casefold()) > 1, read):
            values[field].append(value)
    shown, last = _without(text, parts, ours)
    lines: list[_Line[Value]] = []
    if shown.strip():
        lines += _named_lines(shown, names, read)
        lines += _marked(shown, fields[0], names, read) if len(fields) == 1 else ()
    for line in lines:
        values[line.field].append(line.value)
        own = own or line.own
    for field in fields:
        readings = set(values[field])
        if len(readings) != 1 or None in readings:
            problem = f"more than one {field} found" if len(readings) > 1 else f"the {field} cannot be read"
            raise FormatError(f"{problem if readings else f'no {field} found'}; {expected}")
    if not own:
        raise FormatError(
            f"no clear {fields[0]} found, only one that is quoted or between other words; {expected}"
        )
    agreed: dict[str, Value] = {
        field: value for field in fields for value in values[field] if value is not None
    }
    last = max([last, *(line.end for line in lines)])
    after = shown[max(0, last - MOST_AFTER) : last] if len(fields) == 1 else ""
    reasons = [value for part in ours for value in (part.value or {}).values() if isinstance(value, str)]
    for sentence in SENTENCE_END.split("\n".join([after, *reasons])[:MOST_AFTER]):
        words = sentence.strip(DECORATION + "->•")
        if " " in words and _sentence(words, read) not in (None, agreed[fields[0]]):
            raise FormatError(f"more than one {fields[0]} found; {expected}")
    if not only_a_reason(shown[last:], read, agreed[fields[0]]):
        raise FormatError(f"more than a reason follows the {fields[0]}; {expected}")
    if ours:
        return StatedReply(agreed, ours[-1].value or {}, "")
    return StatedReply(agreed, {}, _around(shown, lines))


def _around(text: str, lines: Iterable[_Line[Any]]) -> str:
    """Return the words around lines, as one paragraph."""
    kept, at = [], 0
    for line in sorted(lines, key=lambda line: line.start):
        kept.append(text[at : line.start])
        at = max(at, line.end)
    return re.sub(r"\s*\n\s*", " ", "".join([*kept, text[at:]]).strip())


@lru_cache(maxsize=256)
def names_of(fields: tuple[str, ...]) -> Mapping[str, tuple[str, bool]]:
    """Return the field that each name stands for, and whether it is its own; names as `bare` has them."""
    names = {other: (field, False) for field in fields for other in _NAMES.get(bare(field), ())}
    return names | {bare(field): (field, True) for field in fields}


def _field_of(key: str, names: Mapping[str, tuple[str, bool]]) -> tuple[str, bool]:
    """Return the field that a key of an object states, "" for none, and whether it must hold a value. Its own
    name and `final_<field>` must; other names, and keys that have one in them, need not."""
    name = bare(key) if len(key) < 100 else ""
    if name in names or not name or name in _REASONS:
        return names.get(name, ("", False))
    anew = bool(_FINAL.search(name))
    for known, (field, its_own_name) in names.items():
        if known in name:
            return field, its_own_name and anew
    return (
        (next(iter(names.values()))[0], False)
        if anew and len({f for f, _ in names.values()}) == 1
        else ("", False)
    )


def members(
    fields: Mapping[str, Any],
    names: Mapping[str, tuple[str, bool]],
    deeper: bool,
    read: Callable[[Any], Value | None],
) -> Iterator[tuple[str, Value | None]]:
    """Yield each field that an object states, with its value: under the field's own name, or under another
    where the value can be read. With `deeper`, values further in under a field's name are statements too."""
    levels: list[Any] = [fields]
    while levels:
        level = levels.pop()
        if isinstance(level, dict):
            for key, member in level.items():
                field, is_own = _field_of(key, names)
                if level is not fields and bare(key) not in names:
                    continue
                value = read(member) if field else None
                if (is_own and (level is fields or value is not None)) or (
                    level is fields and value is not None
                ):
                    yield field, value
        if deeper:
            inner = level.values() if isinstance(level, dict) else level
            levels += [value for value in inner if isinstance(value, dict | list)]


def _named_lines(
    text: str, names: Mapping[str, tuple[str, bool]], read: Callable[[Any], Value | None]
) -> Iterator[_Line[Value]]:
    """Yield the statements of lines that begin with a field's name."""
    low = text.lower()
    if len(low) != len(text):  # a capital that is two small letters moves all that follows
        low = text
    starts = {start for name in names for start in _line_starts(low, name)}
    if len(starts) > 20 * MOST:
        raise FormatError(f"more than {20 * MOST} lines name a field; one statement was expected")
    for start in sorted(starts):
        end = _end_of_line(text, start)
        line = text[start:end]
        stated = _LINE.match(_LISTED.sub("", line[:200], count=1))
        name, value = (stated[1], stated[2]) if stated else (line[:100], "")
        field, _ = names.get(_LEAD.sub("", bare(name)), ("", False))
        if not field:
            continue
        if not value.strip(DECORATION):  # a heading, or a name before its value on the next line
            following = len(text) - len(text[end:].lstrip()) if len(text) - end < 10_000 else end + 1
            end = _end_of_line(text, following)
            value = text[following:end]
            if len(value) > 60 or read(value) is None:
                continue
        elif len(line) > 200:
            value = line[line.find(value[:40]) :]
        mark = _MARKED.search(value[:NEAR])
        lead = value[: mark.start()].strip(_MATHS) if mark else ""
        if mark and read(value) is None and (not lead or read(lead) == read(mark[1] or mark[2] or mark[4])):
            continue  # the mark in it is the statement
        own = not line.lstrip().startswith(">") and is_own(text, start, end, among=False)
        yield _Line(field, _value(value, read), own, start, end)


def _line_starts(text: str, name: str) -> Iterator[int]:
    """Yield the beginnings of lines that have a name near their beginning."""
    if text.count(name) > 20 * MOST:
        raise FormatError(f'"{name}" occurs more than {20 * MOST} times; one statement was expected')
    at = text.find(name)
    while at >= 0:
        start = text.rfind("\n", max(0, at - 100), at) + 1
        if start or at <= 100:
            yield start
        at = text.find(name, at + len(name))


def _marked(
    text: str, only: str, names: Mapping[str, tuple[str, bool]], read: Callable[[Any], Value | None]
) -> Iterator[_Line[Value]]:
    """Yield the statements in marks: `[[B]]`, `\\boxed{B}`, `<verdict>B</verdict>`, and a line of `**B**`."""
    if "[[" in text or "\\boxed{" in text or "</" in text:
        for at, mark in enumerate(_MARKED.finditer(text)):
            if at == MOST:
                raise FormatError(f"more than {MOST} marks such as [[…]] found; one was expected")
            field, _ = names.get(bare(mark[3]), ("", False)) if mark[3] else (only, True)
            value = read(mark[1] or mark[2] or mark[4]) if field else None
            if value is None:
                continue
            start = text.rfind("\n", 0, mark.start()) + 1
            lead, tail = text[start : mark.start()].rstrip(_MATHS), text[mark.end() : mark.end() + 20]
            end = mark.end() + len(tail) - len(tail.lstrip(_MATHS + "."))
            agrees = not lead.strip() or announced(lead) or (len(lead) < 200 and read(lead) == value)
            own = agrees and not lead.lstrip().startswith(">") and is_own(text, start, end, among=False)
            yield _Line(field, value, own, start if agrees else mark.start(), end)
    for start, end in {_first_line(text), _last_line(text)}:
        bold = _BOLD.fullmatch(text, start, end)
        if bold and (value := read(bold[1])) is not None:
            yield _Line(only, value, is_own(text, start, end, among=False), start, end)


def _value(written: str, read: Callable[[Any], Value | None]) -> Value | None:
    """Return the value at the beginning of the words after a name; None where more follows than a reason."""
    value = read(written)
    if value is not None:
        return value
    parts = _STOP.split(written[:NEAR], maxsplit=1)
    value = read(parts[0]) if len(parts) == 2 else None
    if value is None or RETRACTED.search(parts[1]):
        return None
    return value if only_a_reason(parts[1] + written[NEAR:], read, value) else None


def _sentence(text: str, read: Callable[[Any], Value | None]) -> Value | None:
    """Return the value of a whole text: all of it, or all but a reason that begins with "because"."""
    value = read(text)
    if value is not None or len(text) > MOST_AFTER:
        return value
    because = _BECAUSE.search(text)
    if not because:
        return None
    value = read(text[: because.start()].rstrip(", "))
    return value if value is not None and only_a_reason(text[because.start() :], read, value) else None


def _unfenced(text: str) -> str:
    """Return the contents of the code fence that the whole reply is, or the reply."""
    whole = _WHOLE_FENCE.fullmatch(text) if "```" in text and text.count("```") == 2 else None
    return whole[1] if whole else text


def _without(text: str, parts: Sequence[Found], ours: Sequence[Found]) -> tuple[str, int]:
    """Return the text around objects as `folded` has it, with an empty line for each of `ours` and an
    ellipsis for each other; and the place in it where the last of `ours` ended."""
    at, last, kept, size = 0, 0, [], 0
    for part in parts:
        is_ours = part in ours
        kept += [folded(text[at : part.start]), "\n" if is_ours else "\n…\n"]
        size += len(kept[-2]) + len(kept[-1])
        at, last = part.end, size if is_ours else last
    return "".join([*kept, folded(text[at:])]), last


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _first_line(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    return start, _end_of_line(text, start)


def _last_line(text: str) -> tuple[int, int]:
    end = len(text.rstrip())
    return text.rfind("\n", 0, end) + 1, end
