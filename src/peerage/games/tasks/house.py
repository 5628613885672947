"""House players at one's own tasks: right by what is expected with a chance of their skill, else a near miss.

Their answers are mock answers: they show what an arena will look like, and nothing about the tasks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from peerage.formats.reading.numbers import number
from peerage.formats.texts import json_text
from peerage.game import HouseCall, HouseReply, usual
from peerage.game.house import SPREAD, essay, worth
from peerage.judging.checks.credit import Check, Credit, graded

RIGHT, WRONG = 0.85, 0.25
"""Quality of a right answer and of a near miss, as house judges see it."""
_TRIES = 20


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    if call.role != "contestant":
        return usual(call, skill, rng)
    known: Sequence[Check] = call.oracle["checks"]
    checks = [check for check in known if check.kind != "python"]
    if known and not checks:  # what the owner's program makes of an answer is not known here
        checks = [Check("exact", known[0].expected or "right", strict=True)]
    if not checks:
        made = essay(call, rng.gauss(skill, SPREAD), rng)
        schema = call.expects.schema()
        return made if schema is None else made._replace(value=json_text(_shaped(schema, made.value)))
    right = _right(checks)
    if rng.random() < skill and right is not None:
        return HouseReply(right, _worth(right=True))
    for _ in range(_TRIES):
        missed = _missed(right or "", checks[0], rng)
        if graded(checks, missed).credit < 1:
            return HouseReply(missed, _worth(right=False))
    return HouseReply("I do not know.", _worth(right=False))


def _worth(*, right: bool) -> dict[str, Any]:
    """Return what house judges know of an answer that a check calls right or wrong."""
    return {**worth(RIGHT if right else WRONG), "right": right}


def _shaped(schema: Any, text: str, depth: int = 0) -> Any:
    """A plain value that fits a plain schema: the first of a choice, texts where texts may stand."""
    if not isinstance(schema, Mapping) or depth > 20:
        return text
    stated = {**schema, **next(iter(schema.get("anyOf", schema.get("oneOf", ()))), {})}
    if "const" in stated or stated.get("enum"):
        return stated.get("const", stated.get("enum", [None])[0])
    kind = stated.get("type", "object" if "properties" in stated else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        parts = stated.get("properties", {})
        return {name: _shaped(parts.get(name, {}), text, depth + 1) for name in stated.get("required", parts)}
    if kind == "array":
        return [_shaped(stated.get("items", {}), text, depth + 1)] * max(1, stated.get("minItems", 1))
    bounded = stated.keys() & {"maximum", "exclusiveMaximum", "multipleOf"}
    count = stated.get("minimum", 1) + (0 if bounded else len(text))  # as texts differ, so do counts
    plain = {"integer": count, "number": stated.get("minimum", 1.5), "boolean": True}
    return None if kind == "null" else plain.get(kind, text[: stated.get("maxLength", len(text))])


def _right(checks: Sequence[Check]) -> str | None:
    """An answer of full credit, None where none is found."""
    parts = [part for check in checks if not check.negated and (part := _holding(check))]
    tried = [*parts, "\n".join(parts), "None of this, I am afraid."]
    full = [text for text in tried if text and graded(checks, text) == Credit(1.0)]
    return full[0] if full else None


def _holding(check: Check) -> str:
    """A text of which a check holds, as a rule."""
    expected = check.expected
    if check.kind == "json":
        return msgspec.json.encode({} if expected is None else expected, order="sorted").decode()
    texts = [
        part if isinstance(part, str) else msgspec.json.encode(part).decode() for part in _listed(expected)
    ]
    if check.kind == "regex":
        return sampled(texts[0])
    return " ".join(texts) if check.every else texts[0]


def _listed(expected: Any) -> Sequence[Any]:
    return expected if isinstance(expected, list | tuple) and expected else [expected]


def _missed(right: str, check: Check, rng: Random) -> str:
    """A near miss of a right answer."""
    if check.kind == "json" and isinstance(check.expected, Mapping) and check.expected:
        lost = rng.choice(sorted(check.expected))
        return msgspec.json.encode({**check.expected, lost: None}, order="sorted").decode()
    if check.kind == "choice":
        return rng.choice(check.options or ("A", "B", "C", "D"))
    value = number(right)
    if value is not None:
        return f"{value + rng.choice((-1, 1)) * max(1, round(abs(value) * rng.uniform(0.05, 0.3))):g}"
    words = right.split()
    if len(words) > 1:
        words.pop(rng.randrange(len(words)))
        return " ".join(words)
    at = rng.randrange(len(right) + 1)
    return right[:at] + rng.choice("aeinort") + right[at + 1 :]


def sampled(pattern: str) -> str:
    """A text that a simple pattern matches: classes, repeats, groups, first choices; empty for others."""
    from importlib import import_module

    try:
        return _piece(import_module("re._parser").parse(pattern))
    except (re.error, KeyError, RecursionError, OverflowError):
        return ""


_OF_CLASS = {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "x"}


def _piece(parsed: Any) -> str:
    out: list[str] = []
    for operation, given in parsed:
        match str(operation):
            case "LITERAL":
                out.append(chr(given))
            case "ANY" | "NOT_LITERAL":
                out.append("x")
            case "IN":
                kind, value = given[0]
                code = value[0] if str(kind) == "RANGE" else value
                out.append(_OF_CLASS[str(value)] if str(kind) == "CATEGORY" else chr(code))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                out.append(_piece(given[2]) * min(max(given[0], min(1, given[1])), 50))
            case "SUBPATTERN":
                out.append(_piece(given[3]))
            case "BRANCH":
                out.append(_piece(given[1][0]))
            case "AT":
                pass
            case _:
                raise KeyError(str(operation))
    return "".join(out)
