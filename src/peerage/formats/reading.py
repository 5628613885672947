"""The one reader of replies: what a reply states, and whether its writer states it or quotes it. Pure, in
linear time.

A field is stated by a JSON object that has it, or by a line: `field: value`, `field is value`, the value
alone in `[[…]]`, `\\boxed{…}`, `**…**` or `<field>…</field>`. Three rules make that safe:

- All statements must agree. What is quoted counts against, so a reply with two readings has none.
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

from peerage.formats.objects import MOST, Found, objects
from peerage.formats.texts import FormatError

Value = TypeVar("Value")

DECORATION = " \t\r\n*_`~#\"'“”‘’«»()[]{}.,!;:"
"""Marks around a name or a value that do not count."""
_FOLDED = {
    **{0xFF01 + at: 0x21 + at for at in range(94)},
    **dict.fromkeys(map(ord, "\u00a0\u1680\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys(map(ord, "\u2028\u2029\x85\x0b\x0c"), "\n"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\ufe0e\ufe0f\r"), None),
}
_UNFOLDED = re.compile("[" + re.escape("".join(map(chr, _FOLDED))) + "]")
_REMARK = 400
"""Characters next to a statement that decide whose it is."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "verdict": (
        *(
            "winner",
            "decision",
            "judgment",
            "judgement",
            "choice",
            "vote",
            "result",
            "preference",
            "preferred",
        ),
        *(
            "preferred answer",
            "preferred response",
            "better",
            "better answer",
            "better response",
            "best answer",
            "answer",
        ),
    ),
    "vote": ("verdict", "decision", "choice"),
    "score": ("rating", "grade"),
    "move": ("action", "choice", "chosen move", "decision"),
    "color": ("colour",),
}
"""Other words for a field, that count where they say the same."""
_LEAD = re.compile(
    r"(?:(?:so|therefore|thus|hence|then|and|in conclusion|conclusion|i conclude that|my|the|our|overall"
    r"|final)[\s,:]+)++"
)
_LINE = re.compile(
    r"([^:=\n]{1,80}?)[\s*_\"'`)\]]*(?::|=|→|->|\s[-–—]\s|\s(?:is|goes to|would be)(?=[\s:]))[\s:]*(.*)",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"\[\[([^\[\]\n]{1,60})\]\]|\\boxed\{(?:\\text\{)?([^{}\n]{1,60})\}{1,2}"
    r"|<([a-z_ ]{1,30})>\s{0,20}([^<>\n]{1,200})\s{0,20}</\3>",
    re.IGNORECASE,
)
_MATHS = "$*_` "
_BOLD = re.compile(r"\*\*([^*\n:]{1,60})\*\*\.?")
_STOP = re.compile(r",?\s+(?=because\s|since\s)|[.,;!]\s+|\s+[-–—]\s+|\s*\(|,?\s+(?:as|for)\s+")
_TAKEN_BACK = re.compile(
    r"\b(?:kidding|jok(?:e|ing)|(?:ignore|disregard|forget|scratch|strike) (?:the|that|this|it|what)"
    r"|reflection|second thoughts?|actually|correction|make (?:that|it)|instead|wait)\b",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"\b(?:or|not|no|wait|actually|rather|instead|maybe|perhaps|unless|sorry|correction|al?though|though|however|but)\b|\?",
    re.IGNORECASE,
)
_MOST_AFTER = 4_000
"""Characters of a reason after a statement."""
_LABEL = re.compile(
    r"(?:reason(?:ing|s)?|explanation|rationale|justification|check|proof|verification)\W*(?::|\s[-–—])\W*",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"(?:please )?let me know(?: if you (?:need|want|have) (?:anything else"
    r"|(?:any|more|other|further)(?: more| other)? (?:questions?|details?|help|information)))?"
    r"|i hope (?:this|that|it) helps|hope this helps"
    r"|(?:if you need anything else,? )?(?:please )?feel free to (?:ask|reach out)"
    r"|that(?: i|')s all|done|good luck(?: to (?:all|you|everyone))?|thank you|thanks|end",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:because|since|while|whereas|also|(?:the\s+)?(?:first|second|answers?|responses?|assistants?|candidates?)|it|its|both|nothing|everything|there"
    r"|they|their|each|neither|all|more|most|less|fewer|much|far|clear|short|concise|precise|correct|accurate"
    r"|complete|good|solid|fair|well|(?!other|rather|either|whether|never|however|ever)\w+er)\b"
    r"|(?:(?-i:[AB])\s+\w+s\b)",
    re.IGNORECASE,
)
"""How sentences begin that give a reason: with the answers, or with a comparison of them."""
_UNSAID = re.compile(
    r"\b(?:i|i['’]\w+|me|my|mine|myself|we|us|our|you|your|judges?|prompt|verdicts?|decisions?|decid\w*|judg[e]?ments?"
    r"|choices?|cho(?:oses?|se|sen)|vot\w+|ratings?|scores?|scored|grades?|results?|prefer\w*|pick\w*|select\w*"
    r"|wins?|won|winners?|winning|deserv\w+|final\w*|overall"
    r"|sa(?:ys?|id)|writ\w+|wrote|t(?:ells?|old)|ask\w*|wants?|wanted|demand\w*|instruct\w*|request\w*|command\w*|order(?:s|ed)"
    r"|claim\w*|quot\w+|insist\w*|begs?|begged|wish\w*|hop(?:es?|ing)|pretend\w*|trick\w*|inject\w*|manipulat\w*"
    r"|kidding|jok\w+|ignor\w+|disregard\w*|forget|reflection|thoughts?|actually|really|wait|sorry|corrections?|scratch|strike"
    r"|instead|chang\w+|revis\w+|reconsider\w*|retract\w*|withdraw\w*|opposite|revers\w+|swap\w*|what|above|otherwise"
    r"|los[et]s?|lies?|false|mean[st]?|test|too|lower|higher|before|then)\b"
    r"|\b(?:is|was|are|were|seems?)\s+(?:(?:\w+\s+){0,3}(?:better|best|superior|stronger)"
    r"|(?:not\s+)?(?:answer\s+|response\s+)?(?-i:[AB]))\b"
    r"|\bgets?\s+(?:it|the)\b"
    r"|\b(?:that|this|it|[ab]|first|second)\W*$|\bit is$|\?",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of the statement or of who made it, or that takes it back."""
_COUNT = re.compile(
    r"\d+(?:[.,/]\d+)*|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|half|minus|plus)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"(?:\d{{1,2}}[.)]\s|[{re.escape(DECORATION)}>•✅✔☑✓🏆🥇👉➡→⭐🎯⚖-]){{0,40}}")
_STRUCK = re.compile(r"(?<!~)~~(?!~)")
_RIGHT = re.compile(r"\b([AB])\s+(?:is|was)\s+(?:\w+\s+){0,2}(?:right|correct)\b")
_AGAIN = re.compile(r".{1,60}?\b(?:better|best|superior|stronger|wins)\b", re.IGNORECASE)
_FINAL = re.compile(r"final|overall|total|correct|revis|result|adjust|actual|real|true|updat|chang")
"""Words in a key that states the field anew."""

_OUR = re.compile(
    r"\b(?:my|mine|i|we|our|here|final|verdict|judge?ments?|decision|result|output|json|evaluation|assessment|conclusion"
    r"|therefore|thus|so|hence|vote|scores?|rating|reply|bid|move|choice|object|format|hier|mein\w*|voici|mon|ma"
    r"|aqu[ií]|mi|ecco|mio)\b|[我私]|最终|判断|以下",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"\b(?:answers?|responses?|assistants?|contestants?|candidates?|players?|models?|options?)\s+(?:[ab12]|one|two)\b"
    r"|\b(?:first|second|other|former|latter|it|its|he|she|his|her|they|their|them|author|writer|opponent)\b",
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"\b(?:sa(?:ys?|id|ying)|wr(?:ites?|ote|itten|iting)|stat(?:es?|ed|ing)|claim\w*|quot\w*|contain\w*|includ\w*|reads?"
    r"|demand\w*|(?<!as )(?<!the )instruct\w*|inject\w*|tells?|told|end(?:s|ed|ing)|begins?|starts?|asks?"
    r"|asked|orders?|commands?|insert\w*|embed\w*|append\w*|pretend\w*|imitat\w*|fak\w+|tricks?|manipulat\w*|verbatim|cites?|repeats?|puts?)\b",
    re.IGNORECASE,
)
_LEADS_ON = re.compile(
    r"\b(?:line|lines|text|words?|sentence|phrase|string|with|that|this|these|like|by|of|as|follows|following"
    r"|message|code|block)$",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:following|follows|below|verbatim|quot\w+)\b|\b(?:this|that|these|those)[.!]*$", re.IGNORECASE
)
_GOES_ON = re.compile(r"(?:this|that|these|those|the above|above|such|so|it)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|why|reflects|means)\b", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s")
_BECAUSE = re.compile(r"(?<=\s)(?:because|since)\s", re.IGNORECASE)
_WHAT = re.compile(r"\b(?:what|from|by)\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?。！])\s+")
_SENTENCE = re.compile(r"[.!?。！]\s+|\n\s*")
_WHOLE_FENCE = re.compile(r"\s*+```[\w-]*+[ \t\r]*+\n(.*)```\s*", re.DOTALL)
_TAIL = re.compile(
    r"\s*(?:```|~~~)[\w-]*\s*\Z|\s*</(?:reason|reasoning|explanation|rationale)>\s*\Z|\s*<(?:answer|output|json|result|verdict|final|final_answer)>\s*\Z",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\A\s*(?:```|~~~|[-=_]{3,}\s*\Z)|\A\s*</(?:answer|output|json|result|verdict|final|final_answer)>",
    re.IGNORECASE,
)
_RULE = re.compile(r"(?:\A|\n)[-=*_ ]{3,}\Z")


class Stated(NamedTuple, Generic[Value]):
    """What a reply states: the value of each field, the object that states them (empty for lines), and the
    other words."""

    values: Mapping[str, Value]
    found: Mapping[str, Any]
    words: str

    @property
    def reason(self) -> str:
        """The reason that the object gives, or the words around the lines."""
        if not self.found:
            return self.words.strip()
        reasons = (value for key, value in self.found.items() if bare(key) in _REASONS)
        return next((reason for reason in reasons if isinstance(reason, str)), "")


_REASONS = ("reason", "reasoning", "reasons", "explanation", "rationale")


class _Line(NamedTuple, Generic[Value]):
    """A statement at `start:end` that is no object; `value` None cannot be read."""

    field: str
    value: Value | None
    own: bool
    start: int
    end: int


def folded(text: str) -> str:
    """`text` as a person sees it: full-width letters as usual ones, any blank as a blank, nothing
    invisible."""
    return text.translate(_FOLDED) if _UNFOLDED.search(text) else text


def bare(text: str) -> str:
    """A name or a value without case and without the marks around it."""
    return folded(text).strip(DECORATION).casefold()


def number_in(text: str) -> str:
    """A number as it is written, without the marks around it; those that would change it stay: `.8`, `-8`,
    `8+`."""
    marks = " \t\n*_`\"'“”()"
    text = text.strip()
    return folded(text).strip(marks).rstrip(".,;:! ").strip(marks) if len(text) <= _REMARK else ""


def between(text: str, tag: str) -> list[str]:
    """What stands between each opening tag and the next closing one; tags are compared without case."""
    contents: list[str] = []
    opened: int | None = None
    for found in re.finditer(rf"<(/?){tag}>", text, re.IGNORECASE):
        if not found[1] and opened is None:
            opened = found.end()
        elif found[1] and opened is not None:
            contents.append(text[opened : found.start()])
            opened = None
    return contents


def object_in(text: str, fields: Iterable[str], others: bool = False) -> dict[str, Any] | None:
    """The object that a reply states, with `fields` by these names, whatever their case; None when none has
    any.

    With `others` the only object counts where none has any of them.
    FormatError for several that differ, for one that breaks off, and for one that is quoted.
    """
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
    if any(_TAKEN_BACK.search(text[part.end : part.end + _REMARK]) for part in ours[-1:]):
        raise FormatError("what follows the JSON object takes it back; the object alone was expected")
    if not any(_own(text, part.start, part.end) for part in ours):
        raise FormatError("the JSON object is quoted within other text; the object alone was expected")
    found: dict[str, Any] = {}
    for key, value in (ours[0].value or {}).items():
        name = names.get(bare(key), key)
        if name in found and found[name] != value:
            raise FormatError(f'"{name}" occurs more than once; one value was expected')
        found[name] = value
    return found


def stated(
    text: str, fields: Sequence[str], read: Callable[[Any], Value | None], expected: str
) -> Stated[Value]:
    """The value that a reply states for each of `fields`, as `read` makes it of what is written; see the
    module.

    `read` is total but for FormatError, and gives None for what it cannot read. FormatError, with `expected`
    in its words, unless every field has one value.
    """
    text = _unfenced(text)
    if _STRUCK.search(text[:_REMARK]) and "{" not in text[:_REMARK]:
        raise FormatError(f"words are struck out; {expected}")
    if len(fields) == 1 and (alone := _sentence(text, read)) is not None:
        return Stated({fields[0]: alone}, {}, "")
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
        own = own or _own(text, part.start, part.end)
        for field, value in members(part.value, names, source.count(fields[0].casefold()) > 1, read):
            values[field].append(value)
    shown, last = _without(text, parts, ours)
    lines = [
        *_named_lines(shown, names, read),
        *(_marked(shown, fields[0], names, read) if len(fields) == 1 else ()),
    ]
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
    said = shown[max(0, last - _MOST_AFTER) : last] if len(fields) == 1 else ""
    reasons = [value for part in ours for value in (part.value or {}).values() if isinstance(value, str)]
    for sentence in _SENTENCE.split("\n".join([said, *reasons])[:_MOST_AFTER]):
        words = sentence.strip(DECORATION + "->•")
        if " " in words and _sentence(words, read) not in (None, agreed[fields[0]]):
            raise FormatError(f"more than one {fields[0]} found; {expected}")
    if not _harmless(shown[last:], read, agreed[fields[0]]):
        raise FormatError(f"more than a reason follows the {fields[0]}; {expected}")
    kept, at = [], 0
    for line in sorted(lines, key=lambda line: line.start):
        kept.append(shown[at : line.start])
        at = max(at, line.end)
    words = re.sub(r"\s*\n\s*", " ", "".join([*kept, shown[at:]]).strip()) if not ours else ""
    return Stated(agreed, ours[-1].value or {} if ours else {}, words)


@lru_cache(maxsize=256)
def names_of(fields: tuple[str, ...]) -> Mapping[str, tuple[str, bool]]:
    """The field that each name stands for, and whether it is the field's own name; names as `bare` makes
    them."""
    names = {other: (field, False) for field in fields for other in _NAMES.get(bare(field), ())}
    return names | {bare(field): (field, True) for field in fields}


def _field_of(key: str, names: Mapping[str, tuple[str, bool]]) -> tuple[str, bool]:
    """The field that a key of an object states, "" for none, and whether it must hold a value.

    Its own name and `final_<field>` must; other names, and keys that have one in them, need not.
    """
    name = bare(key) if len(key) < 100 else ""
    if name in names or not name or name in _REASONS:
        return names.get(name, ("", False))
    anew = bool(_FINAL.search(name))
    for known, (field, is_own) in names.items():
        if known in name:
            return field, is_own and anew
    return (
        (next(iter(names.values()))[0], False)
        if anew and len({f for f, _ in names.values()}) == 1
        else ("", False)
    )


def members(
    found: Mapping[str, Any],
    names: Mapping[str, tuple[str, bool]],
    deeper: bool,
    read: Callable[[Any], Value | None],
) -> Iterator[tuple[str, Value | None]]:
    """The values of fields that an object states: under their own names, or under others that can be read.
    What it
    holds further in under a field's own name is a statement too."""
    levels: list[Any] = [found]
    while levels:
        level = levels.pop()
        if isinstance(level, dict):
            for key, member in level.items():
                field, is_own = _field_of(key, names)
                if level is not found and bare(key) not in names:
                    continue
                value = read(member) if field else None
                if (is_own and (level is found or value is not None)) or (
                    level is found and value is not None
                ):
                    yield field, value
        if deeper:
            inner = level.values() if isinstance(level, dict) else level
            levels += [value for value in inner if isinstance(value, dict | list)]


def _named_lines(
    text: str, names: Mapping[str, tuple[str, bool]], read: Callable[[Any], Value | None]
) -> Iterator[_Line[Value]]:
    """The statements of lines that begin with a field's name."""
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
        mark = _MARKED.search(value[:_REMARK])
        lead = value[: mark.start()].strip(_MATHS) if mark else ""
        if mark and read(value) is None and (not lead or read(lead) == read(mark[1] or mark[2] or mark[4])):
            continue  # the mark in it is the statement
        own = not line.lstrip().startswith(">") and _own(text, start, end, among=False)
        yield _Line(field, _value(value, read), own, start, end)


def _line_starts(text: str, name: str) -> Iterator[int]:
    """Where lines begin that have a name near their beginning."""
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
    """The statements in marks: `[[B]]`, `\\boxed{B}`, `<verdict>B</verdict>`, and a line of `**B**`."""
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
            own = agrees and not lead.lstrip().startswith(">") and _own(text, start, end, among=False)
            yield _Line(field, value, own, start if agrees else mark.start(), end)
    for start, end in {_first_line(text), _last_line(text)}:
        bold = _BOLD.fullmatch(text, start, end)
        if bold and (value := read(bold[1])) is not None:
            yield _Line(only, value, _own(text, start, end, among=False), start, end)


def _value(written: str, read: Callable[[Any], Value | None]) -> Value | None:
    """The value at the beginning of what is written after a name; None where more follows than a reason."""
    value = read(written)
    if value is not None:
        return value
    parts = _STOP.split(written[:_REMARK], maxsplit=1)
    value = read(parts[0]) if len(parts) == 2 else None
    if value is None or _RETRACTED.search(parts[1]):
        return None
    return value if _harmless(parts[1] + written[_REMARK:], read, value) else None


def _sentence(text: str, read: Callable[[Any], Value | None]) -> Value | None:
    """The value of a whole text: all of it, or all but a reason that begins with "because"."""
    value = read(text)
    if value is not None or len(text) > _MOST_AFTER:
        return value
    because = _BECAUSE.search(text)
    if not because:
        return None
    value = read(text[: because.start()].rstrip(", "))
    return value if value is not None and _harmless(text[because.start() :], read, value) else None


def _harmless(after: str, read: Callable[[Any], Value | None], value: Value) -> bool:
    """Whether what follows a statement of `value` is only a reason or a courtesy; see the module."""
    if len(after) > _MOST_AFTER:
        return not after.strip()
    for sentence in _SENTENCE.split(_HEAD.sub("", after)):
        words = sentence.strip(DECORATION + "->•–—=\\$")
        if not words or read(words) == value or COURTESY.fullmatch(words):
            continue
        if isinstance(value, str) and words.isdigit():  # of a list
            continue
        again = _AGAIN.match(words)
        if again and read(again[0].rstrip(", ")) == value:
            words = f"because {words[again.end() :]}"
        reason = _LABEL.sub("", words, count=1)
        if reason == words and not _ABOUT.match(words):
            return False
        if _UNSAID.search(reason) or read(words) is not None:
            return False
        if any(read(answer) not in (None, value) for answer in _RIGHT.findall(reason)):
            return False
        counts = [] if isinstance(value, str) else _COUNT.findall(reason)
        if counts and (_RETRACTED.search(reason) or read(counts[-1]) != value):
            return False
    return True


# ------------------------------------------------------------------------------------ whose statement it is


def _own(text: str, start: int, end: int, among: bool = True) -> bool:
    """Whether the statement at `start:end` is the writer's own; `among`: also with text on both sides of
    it."""
    before = folded(text[max(0, start - _REMARK) : start])
    after = folded(text[end : end + _REMARK])
    if before.rstrip(" \t\n*_`")[-1:] in tuple("\"'“„«‘") and after.lstrip(" \t\n*_`")[:1] in tuple(
        "\"'”“»’"
    ):
        return False
    while True:
        rest = _RULE.sub("", before.rstrip().removesuffix("[").rstrip("*_`"))
        rest = _TAIL.sub("\n", rest)
        if rest.rstrip() == before.rstrip():
            break
        before = rest
    while True:
        rest = _HEAD.sub("\n", after.lstrip(" \t*_`").removeprefix("]"), count=1) if after else ""
        if rest.strip() == after.strip():
            break
        after = rest
    if before.strip() and after.strip() and not (among and announced(_last_sentence(before))):
        return False
    return not (before.strip() and _leads_on(before)) and not (after.strip() and _goes_on(after))


def announced(sentence: str) -> bool:
    """Whether an unfinished sentence says that the writer's own statement follows: "Here is my verdict:"."""
    return bool(_OUR.search(sentence)) and not _THEIRS.search(sentence) and not _SAYING.search(sentence)


def _leads_on(before: str) -> bool:
    """Whether the words before a statement lead on to a quotation."""
    sentence = _last_sentence(before)
    line = before.rstrip().rpartition("\n")[2]
    last = sentence.rstrip(" *_\"'”)")[-1:]
    if line.lstrip().startswith(">"):
        return "\n\n" not in before[len(before.rstrip()) :].replace(" ", "")
    if last in (".", "!", "?", "…", "。", "！"):
        return bool(_POINTS.search(sentence)) and bool(_SAYING.search(sentence) or _THEIRS.search(sentence))
    if not before[len(before.rstrip()) :].count("\n") or not (last.isalnum() or last == "%"):
        above = before.rstrip().rpartition("\n")[0]
        return not announced(sentence) or (bool(above.strip()) and _leads_on(above + "\n"))
    return bool(_LEADS_ON.search(sentence)) or (not _BULLET.match(line) and bool(_SAYING.search(sentence)))


def _goes_on(after: str) -> bool:
    """Whether the words after a statement are about it as about somebody else's: "… is what the first answer
    says"."""
    rest = after.lstrip()
    same_line = "\n" not in after[: len(after) - len(rest)]
    first = rest.lstrip("*_#`( ")[:1]
    if re.match(r"(?:because|since|as)\s", rest, re.IGNORECASE):
        return False
    if first.islower() or (same_line and not (first.isupper() or first.isdigit() or first.isalpha())):
        return not (same_line and first in ".!" and not rest[1:].strip())
    sentence = re.split(r"[.!?\n]", rest, maxsplit=1)[0]
    return (
        bool(_GOES_ON.match(sentence))
        and bool(_SAYING.search(sentence) or _WHAT.search(sentence))
        and not _REASON.search(sentence)
    )


def _last_sentence(text: str) -> str:
    return _SENTENCES.split(text.rstrip().rpartition("\n")[2].rpartition("}")[2])[-1]


def _unfenced(text: str) -> str:
    """The contents of the code fence that the whole reply is, or the reply."""
    whole = _WHOLE_FENCE.fullmatch(text) if "```" in text and text.count("```") == 2 else None
    return whole[1] if whole else text


def _without(text: str, parts: Sequence[Found], ours: Sequence[Found]) -> tuple[str, int]:
    """The text around objects as `folded` has it, each of `ours` in the place of a line of its own and others
    as an ellipsis; and where the last of `ours` stood in it."""
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
