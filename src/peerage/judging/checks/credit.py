"""Checks of answers against what is known to be right: credit from 0 to 1, with the reason. Pure.

    >>> graded([Check("number", "12.5", tolerance=0.1)], "The total is 12.45 EUR.")
    Credit(credit=1.0, note='')

An answer is hostile: one that would take a check longer than a second has no credit, also where the check is
negated. So no answer gets out of its check by its length.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Struct

from peerage.formats import FormatError
from peerage.formats.patterns import occurs, searchable, size_of
from peerage.formats.reading.numbers import number, numbers
from peerage.formats.reading.objects import objects
from peerage.formats.schemas.brought import misfits
from peerage.formats.texts import folded, read_json

Kind: TypeAlias = Literal["exact", "number", "contains", "regex", "choice", "json", "python"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 200_000
"""Characters of an answer that is checked; a longer one has no credit, but from a program."""
MOST_SEARCHED = 50_000_000
"""Characters of an answer times texts that it is searched for."""


class Check(Struct, frozen=True, omit_defaults=True):
    """One thing that must hold of an answer.

    `expected` is a text, or a list of texts of which one must hold (with `every`: each); of `regex` it is the
    pattern, of `json` any value. `tolerance` is how far a number may be off, `relative` as a share of the
    expected one. `options` are those of a choice. With `strict` texts are compared byte for byte. `negated`
    turns the check round. `program` names the function of `python`: `checks.py:grade`.
    `weight` is its part among several checks of one task.
    """

    kind: Kind
    expected: Any = None
    tolerance: float = 0.0
    relative: bool = False
    options: tuple[str, ...] = ()
    schema: Any = None
    program: str = ""
    every: bool = False
    strict: bool = False
    negated: bool = False
    weight: float = 1.0


class Credit(NamedTuple):
    """Credit of an answer, from 0 to 1, and why it is not full; empty where it is."""

    credit: float
    note: str = ""


def graded(checks: Sequence[Check], answer: str, ran: Sequence[Credit] = ()) -> Credit:
    """Return the credit of an answer: the mean of its checks by their weights, with the reasons of those that
    do not hold. `ran` are the credits of those that are programs, in order; without them these have none."""
    programs = iter(ran)
    total = math.fsum(check.weight for check in checks)
    credit, notes = 0.0, list[str]()
    for check in checks:
        if check.kind == "python":
            given = _turned(check, next(programs, Credit(0.0, "was not run")))
        elif too_long := _too_long(check, answer):
            given = Credit(0.0, too_long)
        else:
            given = _turned(check, _CHECKS[check.kind](check, answer))
        credit += check.weight * given.credit / total
        notes += [given.note] * bool(given.note)
    return Credit(round(credit, 6), "; ".join(notes)[:600])


def _too_long(check: Check, answer: str) -> str:
    """Return why an answer cannot be checked in time; empty where it can."""
    if len(answer) > MOST:
        return f"has {len(answer):,} characters; at most {MOST:,} are checked"
    if check.kind in ("contains", "choice"):
        most = MOST_SEARCHED // max(1, len(check.options), len(texts_of(check.expected)))
        if len(answer) > most:
            return f"has {len(answer):,} characters; at most {most:,} are searched for so many texts"
    if check.kind == "regex":
        patterns = texts_of(check.expected)
        size = size_of(answer) * len(patterns)
        if not all(searchable(written, size) for written in patterns):
            return "is too long for the pattern, whose counts are large"
    return ""


def _turned(check: Check, credit: Credit) -> Credit:
    if not check.negated:
        return credit
    held = credit.credit == 1.0
    return Credit(0.0, f"holds, and must not: {described(check)}") if held else Credit(1.0)


def described(check: Check) -> str:
    """Return what a check asks for, for people: `number 12.5 ± 0.1`."""
    wanted = listed(check.expected) if check.expected is not None else ""
    wanted = f"{check.program} {wanted}" if check.program else wanted
    give = f" ± {check.tolerance:.6g}" if check.tolerance and not check.relative else ""
    give = f" ± {check.tolerance:.4g} of it" if check.tolerance and check.relative else give
    return f"{'not ' if check.negated else ''}{check.kind} {wanted}{give}".strip()[:300]


# ------------------------------------------------------------------------------------------------- texts

_EMPHASIS = "*_`~"
_QUOTES = "\"'“”‘’„«»"
_SPACES = re.compile(r"\s+")


def normalized(text: str) -> str:
    """Return a text as `exact` compares it: Unicode NFC, without case, white space collapsed, and without
    quotation marks, Markdown emphasis and a full stop around it."""
    text = unicodedata.normalize("NFC", folded(text)).casefold()
    text = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    for _ in range(4):
        bare = text.strip(_QUOTES + _EMPHASIS + " ")
        bare = bare[:-1] if bare.endswith(".") and not bare.endswith("..") else bare
        text = bare or text
    return text


def texts_of(expected: Any) -> list[str]:
    """Return the texts of which one must hold: what is expected is one of them, or a list."""
    return [_plain(value) for value in (expected if isinstance(expected, list | tuple) else [expected])]


def _plain(value: Any) -> str:
    """A text as it is, any other value as JSON, its keys in the order in which ledgers keep them."""
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def listed(expected: Any) -> str:
    """Return the first five of the texts that are expected, for people."""
    return " | ".join([f"{text[:80]!r}" for text in texts_of(expected)[:5]])


def _held(holds: Sequence[bool], every: bool) -> bool:
    return all(holds) if every else any(holds)


def _short(text: str) -> str:
    text = _SPACES.sub(" ", text).strip()
    return f"{text[:60]}…" if len(text) > 60 else text or "nothing"


def _exact(check: Check, answer: str) -> Credit:
    form: Callable[[str], str] = str if check.strict else normalized
    compared = form(answer)
    if _held([compared == form(text) for text in texts_of(check.expected)], check.every):
        return Credit(1.0)
    return Credit(0.0, f"said {_short(answer)!r}, expected {listed(check.expected)}")


def _contains(check: Check, answer: str) -> Credit:
    form: Callable[[str], str] = str if check.strict else _loose
    searched = form(answer)
    wanted = texts_of(check.expected)
    holds = [form(text) in searched for text in wanted]
    if _held(holds, check.every):
        return Credit(1.0)
    lacking = [text for text, there in zip(wanted, holds, strict=True) if not there]
    return Credit(0.0, f"does not contain {listed(lacking)}")


def _loose(text: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", folded(text)).casefold()).strip()


# --------------------------------------------------------------------------------------------- patterns


def _regex(check: Check, answer: str) -> Credit:
    holds = [occurs(pattern, answer.strip()) for pattern in texts_of(check.expected)]
    if _held(holds, check.every):
        return Credit(1.0)
    return Credit(0.0, f"does not match {listed(check.expected)}")


# ---------------------------------------------------------------------------------------------- numbers


def _number(check: Check, answer: str) -> Credit:
    values = numbers(answer)
    if not values:
        return Credit(0.0, f"holds no number, expected {listed(check.expected)}")
    rights = [right for text in texts_of(check.expected) if (right := number(text)) is not None]
    if any(_near(values[-1], right, check) for right in rights):
        return Credit(1.0)
    wanted = described(check).removeprefix("number ")
    return Credit(0.0, f"ends with the number {values[-1]:.12g}, expected {wanted}")


def _near(value: float, right: float, check: Check) -> bool:
    give = check.tolerance * (abs(right) if check.relative else 1.0)
    if not give and value % 1 == 0 == right % 1:
        return value == right  # two numbers of accounts may differ in the last digit
    return abs(value - right) <= give + 1e-12 * max(abs(value), abs(right))


# ---------------------------------------------------------------------------------------------- choices

_LETTERS = ("A", "B", "C", "D", "E")


def _choice(check: Check, answer: str) -> Credit:
    options = check.options or tuple(dict.fromkeys([*_LETTERS, *texts_of(check.expected)]))
    choice = chosen(answer, options)
    if choice is None:
        return Credit(0.0, f"names none of {listed(options)} alone")
    if choice in [normalized(text) for text in texts_of(check.expected)]:
        return Credit(1.0)
    written = next((option for option in options if normalized(option) == choice), choice)
    return Credit(0.0, f"chose {written!r}, expected {listed(check.expected)}")


def chosen(answer: str, options: Sequence[str]) -> str | None:
    """Return the option that an answer chooses, normalized; None where it is none, or several.

    It is the answer as a whole; else what its last lines say, of the form `Answer: B`; else the last option
    of which it says that the answer is that, unless a list follows (`A or B`); else the only one that occurs
    in it as words of their own and not behind a `not`, in its own case where it is one letter, and not as an
    article.
    """
    known = {normalized(option): option for option in options}
    for line in (answer, *reversed(answer.strip().splitlines()[-5:])):
        bare = normalized(line).strip("()[]{}:;!,. ")
        bare = bare.rpartition(":")[2].strip("()[]* ") if bare not in known and ":" in bare else bare
        if bare in known:
            return bare
    text = _SPACES.sub(" ", unicodedata.normalize("NFC", folded(answer)))
    any_option = "|".join(map(re.escape, sorted(known.values(), key=len, reverse=True)))
    stated = re.finditer(rf"\banswer\W{{0,3}}(?:is|:|=)(\W{{0,5}})({any_option})(?!\w)", text, re.IGNORECASE)
    named = [
        (option, place.end())
        for place in stated
        for marks, option in [place.groups()]
        if len(option) > 1 or option in known.values() or "(" in marks  # and not an article
    ]
    if named:
        option, end = named[-1]
        listed_too = re.match(_LISTED.replace("OPTION", any_option), text[end:], re.IGNORECASE)
        last = listed_too and (listed_too[1] or listed_too[2])
        return None if last and normalized(last) != normalized(option) else normalized(option)
    loose = text.casefold()
    there = [
        form
        for form, written in known.items()
        if written.casefold() in loose
        and re.search(
            _ALONE.pattern.replace("OPTION", re.escape(written))
            + (_ARTICLE.pattern if written in "AI" else ""),
            text,
            0 if len(written) == 1 else re.IGNORECASE,
        )
    ]
    return there[0] if len(there) == 1 else None


_AND = r"\W{0,4}(?:\b(?:and|or)\b|[,;&+/|])\W{0,4}(?:(?:and|or)\b\W{0,4})?"
_OR = r"\W{0,4}(?:\bor\b|[/|])\W{0,4}"
_LISTED = (
    rf"(?:{_AND}(?:OPTION)(?!\w))*{_OR}(OPTION)(?!\w)"
    rf"|(?:{_AND}(OPTION)(?!\w))+\W*(?:[.!?]|$)"
)
"""Text after an option that is one of a list: “A or B”, “A, B and C.”, and not “A, B is wrong”."""
_ALONE = re.compile(r"(?<!\w)(?<![Nn]ot )(?<!n't )OPTION(?!\w)")
_ARTICLE = re.compile(r"(?! (?!(?:is|was|or|and|nor|because|since|as|seems|fits|would)\b)[a-z])")
"""Not before a word, as in “A clear case”, but “A is right”."""


# ------------------------------------------------------------------------------------------------- JSON

_FENCED = re.compile(r"\A```[\w-]*\n(.*)\n```\Z", re.DOTALL)
NOTHING: Any = object()


def json_in(answer: str) -> Any:
    """Return an answer's JSON value, in a code block or not, or its only object; `NOTHING` where none is."""
    bare = answer.strip()
    fenced = _FENCED.match(bare)
    try:
        return read_json(fenced[1] if fenced else bare)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        values = [part.value for part in objects(answer) if part.value is not None]
    except FormatError:
        return NOTHING
    return values[0] if len(values) == 1 else NOTHING


def _no_json(answer: str) -> str:
    try:
        several = any(part.value is not None for part in objects(answer))
    except FormatError:
        several = False
    return "holds several JSON objects, and may hold one" if several else "is no JSON"


def invalid(answer: str, schema: Any) -> str:
    """Return why an answer is not valid by a schema; empty where it is."""
    if len(answer) > MOST:
        return f"has {len(answer):,} characters; at most {MOST:,} are checked"
    value = json_in(answer)
    return _no_json(answer) if value is NOTHING else "; ".join(misfits(value, schema))


def _json(check: Check, answer: str) -> Credit:
    value = json_in(answer)
    if value is NOTHING:
        return Credit(0.0, _no_json(answer))
    if check.schema is not None and (wrong_shape := misfits(value, check.schema)):
        return Credit(0.0, "; ".join(wrong_shape))
    if check.expected is None:
        return Credit(1.0)
    right = check.expected
    if isinstance(right, str):
        right = read_json(right)
    wrong: list[str] = []
    same, fields = _compared(value, right, check, "", wrong)
    if same >= fields:
        return Credit(1.0)
    return Credit(same / fields, "; ".join(wrong[:5]))


def _compared(value: Any, right: Any, check: Check, path: str, wrong: list[str]) -> tuple[float, int]:
    """Count the fields of an expected value that are right, and all that it has."""
    if isinstance(right, Mapping) and right:
        held = value if isinstance(value, Mapping) else {}
        parts = [
            _compared(held.get(key, NOTHING), part, check, f"{path}.{key}" if path else str(key), wrong)
            for key, part in right.items()
        ]
        return math.fsum(same for same, _ in parts), sum(count for _, count in parts)
    if isinstance(right, list) and right:
        items = value if isinstance(value, list) else []
        parts = [
            _compared(items[at] if at < len(items) else NOTHING, part, check, f"{path}[{at + 1}]", wrong)
            for at, part in enumerate(right)
        ]
        more = max(0, len(items) - len(right))
        if more:
            wrong.append(f"{path or 'the list'} has {more} more")
        return math.fsum(same for same, _ in parts), sum(count for _, count in parts) + more
    if _equal(value, right, check):
        return 1.0, 1
    shown = "missing" if value is NOTHING else f"is {_in_json(value)}"
    wrong.append(f"{path or 'the value'} {shown}, expected {_in_json(right)}")
    return 0.0, 1


def _in_json(value: Any) -> str:
    """A value in a sentence: texts are quoted, all else as JSON writes it."""
    short = _short(_plain(value))
    return repr(short) if isinstance(value, str) else short


def _equal(value: Any, right: Any, check: Check) -> bool:
    if isinstance(value, bool) or isinstance(right, bool):
        return value is right
    if isinstance(value, int | float) and isinstance(right, int | float):
        try:
            return _near(value, right, check)
        except OverflowError:
            return value == right
    if isinstance(value, str) and isinstance(right, str):
        return value == right if check.strict else normalized(value) == normalized(right)
    return bool(value == right)


_CHECKS: Mapping[str, Callable[[Check, str], Credit]] = {
    "exact": _exact,
    "number": _number,
    "contains": _contains,
    "regex": _regex,
    "choice": _choice,
    "json": _json,
}
