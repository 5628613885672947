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
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Struct

from peerage.figures import suggest
from peerage.formats import FormatError
from peerage.formats.json_schema import check_schema, misfits
from peerage.formats.objects import objects
from peerage.formats.patterns import found, pattern, searchable, size_of
from peerage.formats.texts import folded, read_json, storable
from peerage.protocol import Ran

Kind: TypeAlias = Literal["exact", "number", "contains", "regex", "choice", "json", "python"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 200_000
"""Characters of an answer that is checked; a longer one has no credit, but from a program."""
MOST_SEARCHED = 50_000_000
"""Characters of an answer times texts that it is searched for."""
MOST_FIELDS = 2_000
"""Fields of one expected JSON value that are compared."""
MOST_TEXTS, MOST_EXPECTED = 1_000, 1_000_000
"""Texts that one check expects or chooses from, and characters in all of them."""
ONE_LINE = 80
"""Characters of an expected answer that is compared where nothing says how; a longer one is a reference."""


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
            one = _turned(check, next(programs, Credit(0.0, "was not run")))
        else:
            too_long = _too_long(check, answer)
            one = Credit(0.0, too_long) if too_long else _turned(check, _CHECKS[check.kind](check, answer))
        credit += check.weight * one.credit / total
        notes += [one.note] * bool(one.note)
    return Credit(round(credit, 6), "; ".join(notes)[:600])


def _too_long(check: Check, answer: str) -> str:
    """Return why an answer cannot be checked in time; empty where it can."""
    if len(answer) > MOST:
        return f"has {len(answer):,} characters; at most {MOST:,} are checked"
    if check.kind in ("contains", "choice"):
        most = MOST_SEARCHED // max(1, len(check.options), len(_texts(check.expected)))
        if len(answer) > most:
            return f"has {len(answer):,} characters; at most {most:,} are searched for so many texts"
    if check.kind == "regex":
        patterns = _texts(check.expected)
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
    wanted = _listed(check.expected) if check.expected is not None else ""
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


def _texts(expected: Any) -> list[str]:
    return [_plain(one) for one in expected] if isinstance(expected, list | tuple) else [_plain(expected)]


def _plain(value: Any) -> str:
    """A text as it is, any other value as JSON, its keys in the order in which ledgers keep them."""
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def _listed(expected: Any) -> str:
    return " | ".join([f"{one[:80]!r}" for one in _texts(expected)[:5]])


def _held(holds: Sequence[bool], every: bool) -> bool:
    return all(holds) if every else any(holds)


def _short(text: str) -> str:
    text = _SPACES.sub(" ", text).strip()
    return f"{text[:60]}…" if len(text) > 60 else text or "nothing"


def _exact(check: Check, answer: str) -> Credit:
    form: Callable[[str], str] = str if check.strict else normalized
    said = form(answer)
    if _held([said == form(one) for one in _texts(check.expected)], check.every):
        return Credit(1.0)
    return Credit(0.0, f"said {_short(answer)!r}, expected {_listed(check.expected)}")


def _contains(check: Check, answer: str) -> Credit:
    form: Callable[[str], str] = str if check.strict else _loose
    said = form(answer)
    wanted = _texts(check.expected)
    holds = [form(one) in said for one in wanted]
    if _held(holds, check.every):
        return Credit(1.0)
    lacking = [one for one, there in zip(wanted, holds, strict=True) if not there]
    return Credit(0.0, f"does not contain {_listed(lacking)}")


def _loose(text: str) -> str:
    return _SPACES.sub(" ", unicodedata.normalize("NFC", folded(text)).casefold()).strip()


# --------------------------------------------------------------------------------------------- patterns


def _regex(check: Check, answer: str) -> Credit:
    said = answer.strip()
    holds = [found(one, said) for one in _texts(check.expected)]
    if _held(holds, check.every):
        return Credit(1.0)
    return Credit(0.0, f"does not match {_listed(check.expected)}")


# ---------------------------------------------------------------------------------------------- numbers

_NUMBER = re.compile(
    r"(?<![\w.,])[-+]?(?:[0-9](?:[0-9.,'’_  ]{0,40}[0-9])?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?"
)
_GROUPED = re.compile(r"[0-9]{1,3}(?:[ ’'_][0-9]{3})+")


_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}")
_APART = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
"""Decompositions of signs that are no digits of a number: `4²` is not 42."""


def number(text: str) -> float | None:
    """Return the number that a text is, with signs of currency and units around it; None where it is none.

    Of `1,234.5` and `1.234,5` the last mark is the decimal one; a comma with three digits behind it groups.
    A whole number is exact, however long.
    """
    found = _numbers(text)
    return found[0] if len(found) == 1 else None


def _numbers(text: str) -> list[float]:
    text = text.translate({ord(sign): _plain_sign(sign) for sign in {*text} if sign > "\x7f"})
    return [value for one in _NUMBER.finditer(text) for value in _read_numbers(one[0])]


def _plain_sign(sign: str) -> str:
    """Return a sign as numbers are written: digits of any script as ASCII."""
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    if unicodedata.decomposition(sign).startswith(_APART):
        return sign
    return {"−": "-", "\u066b": ".", "\u066c": ","}.get(sign) or unicodedata.normalize("NFKC", sign)


def _read_numbers(written: str) -> Iterator[float]:
    """Yield the numbers of digits with marks between them: blanks part numbers unless they group, and so do
    several commas."""
    for part in [written] if _GROUPED.match(written) else written.split():
        listed = part.count(",") > 1 and "." not in part and not _THOUSANDS.fullmatch(part)
        for one in part.split(",") if listed else [part]:
            value = _value(re.sub(r"[ ’'_]", "", one))
            if value is not None:
                yield value


def _value(digits: str) -> float | None:
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        group = "," if point > comma else "."
        digits = digits.replace(group, "").replace(",", ".")
    elif comma >= 0:
        digits = digits.replace(",", "" if _THOUSANDS.fullmatch(digits) else ".")
    elif digits.count(".") > 1:
        if not _THOUSANDS.fullmatch(digits.replace(".", ",")):
            return None  # a version, a date
        digits = digits.replace(".", "")
    try:
        value = int(digits) if digits.strip("+-").isdigit() else float(digits)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _number(check: Check, answer: str) -> Credit:
    said = _numbers(answer)
    if not said:
        return Credit(0.0, f"holds no number, expected {_listed(check.expected)}")
    for one in _texts(check.expected):
        right = number(one)
        if right is None:
            continue
        if _near(said[-1], right, check):
            return Credit(1.0)
    wanted = described(check).removeprefix("number ")
    return Credit(0.0, f"ends with the number {said[-1]:.12g}, expected {wanted}")


def _near(said: float, right: float, check: Check) -> bool:
    give = check.tolerance * (abs(right) if check.relative else 1.0)
    if not give and said % 1 == 0 == right % 1:
        return said == right  # two numbers of accounts may differ in the last digit
    return abs(said - right) <= give + 1e-12 * max(abs(said), abs(right))


# ---------------------------------------------------------------------------------------------- choices

_LETTERS = ("A", "B", "C", "D", "E")


def _choice(check: Check, answer: str) -> Credit:
    options = check.options or tuple(dict.fromkeys([*_LETTERS, *_texts(check.expected)]))
    said = chosen(answer, options)
    if said is None:
        return Credit(0.0, f"names none of {_listed(options)} alone")
    if said in [normalized(one) for one in _texts(check.expected)]:
        return Credit(1.0)
    written = next((one for one in options if normalized(one) == said), said)
    return Credit(0.0, f"chose {written!r}, expected {_listed(check.expected)}")


def chosen(answer: str, options: Sequence[str]) -> str | None:
    """Return the option that an answer chooses, normalized; None where it is none, or several.

    It is the answer as a whole; else what its last lines say, of the form `Answer: B`; else the last option
    of which it says that the answer is that; else the only one that occurs in it as words of their own and
    not behind a `not`, in its own case where it is one letter, and not as an article.
    """
    known = {normalized(one): one for one in options}
    for line in (answer, *reversed(answer.strip().splitlines()[-5:])):
        bare = normalized(line).strip("()[]{}:;!,. ")
        bare = bare.rpartition(":")[2].strip("()[]* ") if bare not in known and ":" in bare else bare
        if bare in known:
            return bare
    text = _SPACES.sub(" ", unicodedata.normalize("NFC", folded(answer)))
    one_of = "|".join(map(re.escape, sorted(known.values(), key=len, reverse=True)))
    stated = re.finditer(rf"\banswer\W{{0,3}}(?:is|:|=)(\W{{0,5}})({one_of})(?!\w)", text, re.IGNORECASE)
    said = [
        one[2]
        for one in stated
        if len(one[2]) > 1 or one[2] in known.values() or "(" in one[1]  # and not an article
    ]
    if said:
        return normalized(said[-1])
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


_ALONE = re.compile(r"(?<!\w)(?<![Nn]ot )(?<!n't )OPTION(?!\w)")
_ARTICLE = re.compile(r"(?! (?!(?:is|was|or|and|nor|because|since|as|seems|fits|would)\b)[a-z])")
"""Not before a word, as in “A clear case”, but “A is right”."""


# ------------------------------------------------------------------------------------------------- JSON

_FENCED = re.compile(r"\A```[\w-]*\n(.*)\n```\Z", re.DOTALL)
NOTHING: Any = object()


def json_in(answer: str) -> Any:
    """Return the JSON value that an answer is, in a code block or not, or the only object in it; `NOTHING`
    where there is none."""
    bare = answer.strip()
    fenced = _FENCED.match(bare)
    try:
        return read_json(fenced[1] if fenced else bare)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        values = [one.value for one in objects(answer) if one.value is not None]
    except FormatError:
        return NOTHING
    return values[0] if len(values) == 1 else NOTHING


def invalid(answer: str, schema: Any) -> str:
    """Return why an answer is not valid by a schema; empty where it is."""
    if len(answer) > MOST:
        return f"has {len(answer):,} characters; at most {MOST:,} are checked"
    said = json_in(answer)
    return "is no JSON" if said is NOTHING else "; ".join(misfits(said, schema))


def _json(check: Check, answer: str) -> Credit:
    said = json_in(answer)
    if said is NOTHING:
        return Credit(0.0, "is no JSON")
    if check.schema is not None and (wrong_shape := misfits(said, check.schema)):
        return Credit(0.0, "; ".join(wrong_shape))
    if check.expected is None:
        return Credit(1.0)
    right = check.expected
    if isinstance(right, str):
        right = read_json(right)
    wrong: list[str] = []
    same, fields = _compared(said, right, check, "", wrong)
    if same >= fields:
        return Credit(1.0)
    return Credit(same / fields, "; ".join(wrong[:5]))


def _compared(said: Any, right: Any, check: Check, path: str, wrong: list[str]) -> tuple[float, int]:
    """Count the fields of an expected value that are right, and all that it has."""
    if isinstance(right, Mapping) and right:
        held = said if isinstance(said, Mapping) else {}
        parts = [
            _compared(held.get(key, NOTHING), value, check, f"{path}.{key}" if path else str(key), wrong)
            for key, value in right.items()
        ]
        return math.fsum(same for same, _ in parts), sum(count for _, count in parts)
    if isinstance(right, list) and right:
        items = said if isinstance(said, list) else []
        parts = [
            _compared(items[at] if at < len(items) else NOTHING, value, check, f"{path}[{at + 1}]", wrong)
            for at, value in enumerate(right)
        ]
        more = max(0, len(items) - len(right))
        if more:
            wrong.append(f"{path or 'the list'} has {more} more")
        return math.fsum(same for same, _ in parts), sum(count for _, count in parts) + more
    if _equal(said, right, check):
        return 1.0, 1
    shown = "missing" if said is NOTHING else f"is {_in_json(said)}"
    wrong.append(f"{path or 'the value'} {shown}, expected {_in_json(right)}")
    return 0.0, 1


def _in_json(value: Any) -> str:
    """A value in a sentence: texts are quoted, all else as JSON writes it."""
    short = _short(_plain(value))
    return repr(short) if isinstance(value, str) else short


def _equal(said: Any, right: Any, check: Check) -> bool:
    if isinstance(said, bool) or isinstance(right, bool):
        return said is right
    if isinstance(said, int | float) and isinstance(right, int | float):
        try:
            return _near(said, right, check)
        except OverflowError:
            return said == right
    if isinstance(said, str) and isinstance(right, str):
        return said == right if check.strict else normalized(said) == normalized(right)
    return bool(said == right)


_CHECKS: Mapping[str, Callable[[Check, str], Credit]] = {
    "exact": _exact,
    "number": _number,
    "contains": _contains,
    "regex": _regex,
    "choice": _choice,
    "json": _json,
}


# --------------------------------------------------------------------------------------------- programs


def program(sources: Mapping[str, str], named: str) -> str:
    """Return the program that runs `file.py:function` of these sources by file: it reads the answer, what is
    expected and the task as JSON, and prints credit and note. What the function prints
    goes to standard error."""
    file, _, function = named.rpartition(":")
    harness = files(__package__).joinpath("run_check.txt").read_text("utf-8")
    texts = {"SOURCE": sources.get(file, ""), "FILE": file, "FUNCTION": function}
    return re.sub("SOURCE|FILE|FUNCTION", lambda name: repr(texts[name[0]]), harness)


PROGRAM_FAILED = ("the check raised ", "the check gave ", "the check crashed", "the check ended ")
"""Beginnings of the notes on answers on which a program failed."""
BEGUN = "\n"
"""The line that the program prints once the function is there: later failures are due to the answer."""


def credit_of(ran: Ran) -> Credit | None:
    """Return the credit that such a program gave; None where it cannot be run or gave none from 0 to 1.

    An answer on which the function fails, gives no such credit, or ends at a limit, has credit 0: else an
    answer could get out of its check.
    """
    if ran.status in ("timeout", "fuel", "memory", "output"):
        return Credit(0.0, f"the check ended at its limit of {ran.status}")
    if not ran.stdout.startswith(BEGUN):
        return None
    try:
        credit, note = msgspec.json.decode(ran.stdout, type=tuple[float, str])
    except (msgspec.MsgspecError, RecursionError):
        return Credit(0.0, "the check crashed")
    if ran.status != "ok":
        return Credit(0.0, "the check crashed")
    if 0 <= credit <= 1:
        return Credit(credit, storable(note))
    return Credit(0.0, f"the check gave {credit:g}; a number from 0 to 1 was expected")


# ------------------------------------------------------------------------------------------- as written

_WRITTEN = re.compile(r"\s*([\w-]+)\s*:?\s*(.*?)\s*", re.DOTALL)
_PROGRAM = re.compile(r"[\w./-]{1,200}\.py:[^\W\d]\w{0,99}")
_TOLERANCE = re.compile(r"(?:±|\+/-|\+-|tolerance)?\s*:?\s*([0-9]+\.?[0-9]*(?:e-?[0-9]+)?|\.[0-9]+)\s*(%?)")


def check_of(written: Any, expected: Any) -> Check:
    """Return the check that a row asks for: `exact`, `number ± 0.5`, `number 1%`, `choice A|B|C`, or a
    mapping with `type` and fields of `Check`.

    Raises ValueError, which says what was expected.
    """
    if isinstance(written, Mapping):
        return _of_mapping(written, expected)
    read = _WRITTEN.fullmatch(str(written))
    kind, more = (read[1].lower(), read[2]) if read else ("", "")
    if kind not in KINDS:
        raise ValueError(f"found {written!r:.60}; no check is called so{suggest(kind, KINDS)}")
    check = Check(kind, expected)
    if kind == "number" and more:
        give = _TOLERANCE.fullmatch(more)
        if give is None:
            raise ValueError(f"found {written!r:.60}; write a tolerance, such as `number 0.5` or `number 1%`")
        share = bool(give[2])
        check = msgspec.structs.replace(
            check, tolerance=float(give[1]) / (100 if share else 1), relative=share
        )
    elif kind == "choice" and more:
        options = tuple([one.strip() for one in re.split(r"[|,;]", more) if one.strip()])
        check = msgspec.structs.replace(check, options=options)
    elif kind == "python":
        check = msgspec.structs.replace(check, program=more)
    elif more:
        raise ValueError(f"found {written!r:.60}; `{kind}` stands alone, and what is right in `expected`")
    return sound(check)


def _of_mapping(written: Mapping[str, Any], expected: Any) -> Check:
    stated = {**written}
    stated["kind"] = stated.pop("type", stated.get("kind", ""))
    stated.setdefault("expected", expected)
    if stated["kind"] not in KINDS:
        raise ValueError(
            f"found type {stated['kind']!r:.60}; no check is called so{suggest(str(stated['kind']), KINDS)}"
        )
    known = Check.__struct_fields__
    if unknown := [key for key in stated if key not in known]:
        raise ValueError(f"found {unknown[0]!r:.60} in a check{suggest(str(unknown[0]), known)}")
    try:
        return sound(msgspec.convert(stated, Check))
    except msgspec.ValidationError as error:
        raise ValueError(f"a check cannot be read: {error}") from None


def sound(check: Check) -> Check:
    """Return a check that can be made. Raises ValueError for a check without what it compares with, a pattern
    or a number that is none, and an expected choice that is no option."""
    expected, kind = check.expected, check.kind
    if not (math.isfinite(check.tolerance) and check.tolerance >= 0):
        raise ValueError(f"the tolerance is {check.tolerance}; a number from 0 was expected")
    if not 0 < check.weight <= 1_000:
        raise ValueError(
            f"the weight of a check is {check.weight}; a number above 0, up to 1000, was expected"
        )
    empty = expected is None or expected in ("", [], ())
    if kind == "python":
        if not _PROGRAM.fullmatch(check.program):
            raise ValueError(f"found the program {check.program!r:.60}; write `python: FILE.py:FUNCTION`")
        return check
    if isinstance(expected, list | tuple) and kind not in ("json", "python"):
        empty = empty or not all(_plain(one).strip() for one in expected)
    if empty and kind != "json":
        raise ValueError(f"the check `{kind}` has nothing to compare with; fill in `expected`")
    if kind != "json":
        for name, texts in (("expected", _texts(expected)), ("options", check.options)):
            if len(texts) > MOST_TEXTS:
                raise ValueError(f"`{name}` has {len(texts):,} texts; {MOST_TEXTS:,} are the most")
            if (size := sum(map(len, texts))) > MOST_EXPECTED:
                raise ValueError(f"`{name}` has {size:,} characters; {MOST_EXPECTED:,} are the most")
    if kind == "regex":
        for one in _texts(expected):
            pattern(one)
    elif kind == "number":
        for one in _texts(expected):
            if number(one) is None:
                raise ValueError(f"found {one!r:.60} in `expected`, and the check `number` needs a number")
    elif kind == "choice" and check.options:
        options = [normalized(one) for one in check.options]
        if wrong := [one for one in _texts(expected) if normalized(one) not in options]:
            raise ValueError(f"expected is {wrong[0]!r:.60}, which is none of {_listed(check.options)}")
    elif kind == "json":
        return _sound_json(check)
    return check


def _sound_json(check: Check) -> Check:
    expected = check.expected
    if check.schema is not None:
        check_schema(check.schema)
    if isinstance(expected, str) and expected.strip():
        try:
            expected = read_json(expected)
        except (msgspec.DecodeError, RecursionError):
            raise ValueError(
                f"found {check.expected!r:.60} in `expected`, which is no JSON; the check `json` needs some"
            ) from None
    elif isinstance(expected, str):
        expected = None
    if _fields(expected) > MOST_FIELDS:
        raise ValueError(f"`expected` has more than {MOST_FIELDS:,} fields; check fewer")
    return msgspec.structs.replace(check, expected=expected)


def _fields(value: Any, depth: int = 0) -> int:
    if depth > 60:
        return MOST_FIELDS + 1
    inner = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return sum([_fields(one, depth + 1) for one in inner]) or 1


def usual_check(expected: Any) -> Check | None:
    """Return the check of a task that states what is expected and not how it is compared: `exact` for one
    line of at most `ONE_LINE` characters, `number` for a number of JSON, `json` for an object; None for a
    text that judges are shown."""
    if isinstance(expected, Mapping):
        return sound(Check("json", expected))
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return sound(Check("number", expected))
    texts = _texts(expected) if expected is not None else []
    if texts and all(one.strip() and len(one) <= ONE_LINE and "\n" not in one.strip() for one in texts):
        return Check("exact", expected)
    return None
