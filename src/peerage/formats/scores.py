"""Formats for judges who give points: one score, or one for each of several numbered items.

A score is a number from 0 to 10 in digits, whole or with decimals after a point, alone or as `8/10` or `8
out of 10`. Nothing else is a score, and nothing is moved onto the scale: `-3`, `11`, `.8`, `8+`, `8-9`,
`8/5`, `80%`, `7,5` and `ten` are unusable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading.authorship import COURTESY, announced
from peerage.formats.reading.reader import StatedReply, bare, members, names_of, number_in, object_in, stated
from peerage.formats.texts import FormatError, folded, json_text, object_schema, words
from peerage.values.texts import lazy, visible

MOST = 10.0
"""The best score; the worst is 0."""

_SCORE = lazy(r"([0-9]+(?:\.[0-9]+)?)(?:/10(?:\.0+)?)?")
_OFF = lazy(r"[-+\u2212]?[0-9]+(?:[.,][0-9]+)?(?:/[0-9]+)?%?")
_PROSE = frozenset(
    re.findall(
        r"\S+",
        "i i'd i’d would my say yes give rate score scored rating grade a an as of is at it this the answer "
        "response gets deserves earns worth solid strong points point stars star",
    )
)
"""Words with which a judge of few words gives a score."""
_NUMBERED = lazy(
    r"[ \t*#-]*+(?:item|question|answer)?[ \t]*+#?([0-9]{1,4})[ \t*]*+[.:)][ \t]*+(.*)", re.IGNORECASE
)
_BOLD = lazy(r"(?<![^\s:])\*\*([0-9.]+)\*\*\s?/")
_LETTER = lazy(r"[^\W\d_]")
_PROSE_CHARS = 120
_SHOWN = 40  # characters of an unusable score that a repair quotes


class Scored(Struct, frozen=True, gc=False):
    """One score, and what the judge said about it."""

    score: float
    reason: str = ""


class Score(Struct, frozen=True, tag="score"):
    """A score from 0 to 10, read as `reading` says. With `explain`, a 0 or a 10 without a reason is
    unusable."""

    explain: bool = False
    reason_chars: int = 300

    def instruction(self) -> str:
        return (
            "Reply with one JSON object and nothing else: "
            f"{{{_members(self.explain)}}}. {_SCALE}{_why(self.explain)}"
        )

    def schema(self) -> dict[str, Any] | None:
        return object_schema(_properties(self.explain, self.reason_chars))

    def parse(self, text: str) -> Scored:
        expected = "a JSON object with score was expected, each a number from 0 to 10 in digits"
        return self._checked(stated(text, (_FIELD,), _score, expected))

    def write(self, value: Scored | float) -> str:
        return json_text(self.fields(value))

    def fields(self, value: Scored | float) -> dict[str, Any]:
        """Return the JSON object that states a score."""
        scored = value if isinstance(value, Scored) else Scored(value)
        reason = {"reason": scored.reason or "It is worth that."} if self.explain else {}
        return reason | {_FIELD: scored.score}

    def sample(self, rng: Random) -> Scored:
        return Scored(rng.randrange(21) / 2, words(rng, self.reason_chars) if self.explain else "")

    def of(self, fields: dict[str, Any]) -> Scored:
        """Return the value of a JSON object that is already decoded."""
        score = _score(fields.get(_FIELD))
        if score is None:
            raise FormatError(f'no score found; a number from 0 to 10 as "{_FIELD}" was expected, in digits')
        for _, again in members(fields, names_of((_FIELD,)), False, _score):
            if again != score:
                raise FormatError(f'more than one {_FIELD} found; one number as "{_FIELD}" was expected')
        return self._checked(StatedReply({_FIELD: score}, fields, ""))

    def _checked(self, reply: StatedReply[float]) -> Scored:
        score, reason = reply.values[_FIELD], reply.reason
        reason = reason.strip()[: self.reason_chars] if _LETTER.search(reason) else ""
        if self.explain and score in (0.0, MOST) and not reason:
            raise FormatError(f"the score is {score:g} and no reason is given; a 0 or a 10 needs one")
        return Scored(score, reason)


class Scores(Struct, frozen=True, tag="scores"):
    """A score for each of `count` items, numbered from 1.

    A JSON object, found as `reading` says, with a list `scores`: either an object for each item, with its
    number as `item` and the fields of a `Score`, in any order; or, where nothing else is asked for, `count`
    numbers. Without JSON one line for each item: `3. 7`, `Item 3: 7/10`. An item that is missing, or scored
    twice and differently, makes the reply unusable: nobody knows which number belongs to which item then. The
    value is a tuple of `Scored`.
    """

    count: int
    explain: bool = False
    reason_chars: int = 300

    def instruction(self) -> str:
        return (
            'Reply with one JSON object and nothing else: {"scores": [{"item": 1, '
            f"{_members(self.explain)}}}, …]}}, with one entry for each of the {self.count} "
            f"items. {_SCALE}{_why(self.explain)}"
        )

    def schema(self) -> dict[str, Any] | None:
        item = {"type": "integer", "minimum": 1, "maximum": self.count}
        entry = object_schema({"item": item, **_properties(self.explain, self.reason_chars)})
        return object_schema(
            {"scores": {"type": "array", "items": entry, "minItems": self.count, "maxItems": self.count}}
        )

    @property
    def _each(self) -> Score:
        return Score(self.explain, self.reason_chars)

    def parse(self, text: str) -> tuple[Scored, ...]:
        fields = object_in(text, ("scores",))
        given: Iterable[tuple[Any, Scored]]
        if fields is not None:
            listed = fields.get("scores")
            if not isinstance(listed, list):
                raise FormatError('one list "scores" was expected in the JSON object')
            if all(isinstance(entry, dict) for entry in listed):
                given = [(entry.get("item"), self._each.of(entry)) for entry in listed]
            elif len(listed) == self.count:
                given = [(at, self._each.of({_FIELD: entry})) for at, entry in enumerate(listed, 1)]
            else:
                raise FormatError(
                    f'"scores" holds {len(listed)} entries without item numbers; {self.count} were expected'
                )
        else:
            given = self._lines(folded(text).split("\n"))
        scores: dict[int, Scored] = {}
        for item, scored in given:
            if isinstance(item, bool) or not isinstance(item, int) or not 1 <= item <= self.count:
                raise FormatError(f"there is no item {_shown(item)}; items 1 to {self.count} were expected")
            if scores.setdefault(item, scored).score != scored.score:
                raise FormatError(f"item {item} is scored twice, differently; once was expected")
        missing = [str(item) for item in range(1, self.count + 1) if item not in scores]
        if missing:
            raise FormatError(f"no score found for item {', '.join(missing[:20])} of {self.count}")
        return tuple([scores[item] for item in range(1, self.count + 1)])

    def _lines(self, lines: Sequence[str]) -> Iterator[tuple[int, Scored]]:
        """The score of each numbered line. FormatError for words beyond an announcement and a courtesy."""
        begun = others = False
        for line in filter(str.strip, lines):
            numbered = _NUMBERED.fullmatch(line)
            words = "" if numbered or (others and not begun) else bare(line[:_PROSE_CHARS])
            others = others or bool(words and not (COURTESY.fullmatch(words) if begun else announced(words)))
            begun = begun or numbered is not None
            if begun and others:
                raise FormatError("there are other words than scores; one line for each item was expected")
            if numbered:
                yield int(numbered[1]), self._each.parse(numbered[2])

    def write(self, value: Sequence[Scored | float]) -> str:
        return json_text(
            {"scores": [{"item": at, **self._each.fields(score)} for at, score in enumerate(value, 1)]}
        )

    def sample(self, rng: Random) -> tuple[Scored, ...]:
        return tuple([self._each.sample(rng) for _ in range(self.count)])


_FIELD = "score"
_SCALE = "Scores are numbers from 0 to 10."


def _why(explain: bool) -> str:
    return " The reason may stay empty, except for a 0 or a 10." if explain else ""


def _members(explain: bool) -> str:
    return '"reason": "<one sentence>", ' * explain + f'"{_FIELD}": <0 to {MOST:g}>'


def _properties(explain: bool, reason_chars: int) -> dict[str, Any]:
    reason = {"reason": {"type": "string", "maxLength": reason_chars}} if explain else {}
    return {**reason, _FIELD: {"type": "number", "minimum": 0, "maximum": MOST}}


def _score(written: Any) -> float | None:
    """The score that a value is, or that a few words give. FormatError for one that is not on the scale."""
    if isinstance(written, int | float) and not isinstance(written, bool):
        return _on_scale(float(written), str(written))
    if not isinstance(written, str) or len(written) > _PROSE_CHARS or "{" in written:
        return None
    written = _BOLD.sub(r"\1/", written)
    text = " ".join(number_in(written).split()).casefold().replace(" out of ", "/").replace(" / ", "/")
    if _OFF.fullmatch(text) and _SCORE.fullmatch(text) is None:
        raise FormatError(
            f"{_shown(text)} is not on the scale; a number from 0 to 10 was expected, in digits"
        )
    scores: set[float] = set()
    for word in text.split():
        score = _SCORE.fullmatch(number_in(word))
        if score is not None:
            scores.add(_on_scale(float(score[1]), word))
        elif number_in(word) not in _PROSE:
            return None
    return scores.pop() if len(scores) == 1 else None


def _on_scale(score: float, shown: str) -> float:
    if not 0 <= score <= MOST:
        raise FormatError(f"{_shown(shown)} is not on the scale; a number from 0 to 10 was expected")
    return score


def _shown(value: object) -> str:
    return visible(repr(str(value)[:_SHOWN]))
