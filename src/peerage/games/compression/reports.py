"""Reports: texts alike but for what fills their places, the questions they answer, the exact answers. Pure.

All reports of a match have the same sentences, and in each place as many characters, so that a summary of one
can be as short as a summary of any other. Names are made of syllables: there is nothing to know beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from msgspec import Struct

from peerage.game.texts import toml
from peerage.games.names import made_up

FEWEST_FACTS, MOST_FACTS = 5, 16
"""Facts of a report at the first and the last level."""
_MONTHS = (("March", "April"), ("January", "October"), ("February", "November", "December"), ("June", "July"))
"""Months of equal length."""
_SHAPES = {"name": ("CVCVC", "CVCCV", "CVCCVC"), "place": ("CVCVCC", "VCCVC", "CVCCVCV")}
_FIRST_DAYS = (10, 14)
_WORD = re.compile(r"(\d+)(?:st|nd|rd|th)\b|(\w+)")


class SummaryReport(Struct, frozen=True):
    """One contestant's report, and the answers to the questions in order."""

    text: str
    answers: tuple[str, ...]


class Reports(Struct, frozen=True):
    """Draws for a match: questions, a report for each seat and one more, which is nobody's. `follows` gives
    the questions from whose answers that of a question follows, by its place."""

    questions: tuple[str, ...]
    reports: tuple[SummaryReport, ...]
    spare: SummaryReport
    follows: Mapping[str, tuple[int, ...]]
    level: int = 0


IDLE = 3
"""Sentences of a report that answer no question."""


def reports(rng: Random, seats: int, facts: int) -> Reports:
    """Draw so many reports of `facts` questions and answers, with `IDLE` sentences that answer none."""
    material, plan = toml(__package__, "reports"), []
    sentences = list(material["sentence"])
    rng.shuffle(sentences)
    left = facts
    while left:
        sentence = sentences.pop()
        asked = list(sentence["asks"])[:left]
        left -= len(asked)
        questions = [sentence["asks"][place] for place in asked]
        plan.append((rng.choice(sentence["says"]), sentence["fill"], asked, questions))
    shapes = [{place: _shape(rng, how) for place, how in fill.items()} for _, fill, _, _ in plan]
    between = [(rng.randint(0, len(plan)), text) for text in rng.sample(material["idle"], IDLE)]
    made: dict[str, SummaryReport] = {}
    while len(made) < seats + 1:
        filled = [_filled(rng, shape) for shape in shapes]
        lines = [says.format_map(values) for (says, *_), values in zip(plan, filled, strict=True)]
        for at, text in sorted(between, reverse=True):
            lines.insert(at, text)
        answers = [
            values[place] for (_, _, asked, _), values in zip(plan, filled, strict=True) for place in asked
        ]
        if len({answer for answer in answers if answer[0].isupper()}) == sum(a[0].isupper() for a in answers):
            made[" ".join(lines)] = SummaryReport(" ".join(lines), tuple(answers))
    *given, spare = made.values()
    questions = [question for *_, asks in plan for question in asks]
    return Reports(
        tuple(questions), tuple(given), spare, _follows([(fill, asked) for _, fill, asked, _ in plan])
    )


def _follows(plan: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> dict[str, tuple[int, ...]]:
    places: dict[tuple[int, str], int] = {}
    for at, (_, asked) in enumerate(plan):
        places |= {(at, place): len(places) + more for more, place in enumerate(asked)}
    follows: dict[str, tuple[int, ...]] = {}
    for (at, place), question in places.items():
        how = plan[at][0][place]
        of = re.findall(r"[a-z]+", how) if isinstance(how, str) and " " in how else []
        if of and all((at, need) in places for need in of):
            follows[str(question)] = tuple([places[at, need] for need in of])
    return follows


def _shape(rng: Random, how: Any) -> Any:
    """Return what is the same of a place in all reports of a match."""
    if isinstance(how, str) and how in _SHAPES:
        return rng.choice(_SHAPES[how])
    return rng.choice(_MONTHS) if how == "day" else how


def _filled(rng: Random, shapes: Mapping[str, Any]) -> dict[str, str]:
    """A value for each place of a sentence."""
    numbers: dict[str, int] = {}
    words_by_place: dict[str, str] = {}
    month = ""
    for place, shape in shapes.items():
        if isinstance(shape, tuple):
            month, numbers[place] = rng.choice(shape), rng.randint(*_FIRST_DAYS)
            words_by_place[place] = f"{numbers[place]} {month}"
        elif isinstance(shape, str) and " " in shape:
            first, sign, other = shape.split()
            a, b = numbers[first], numbers[other]
            numbers[place] = a + b if sign == "+" else a - b if sign == "-" else a * b
            words_by_place[place] = f"{numbers[place]} {month}".rstrip()
        elif isinstance(shape, str):
            words_by_place[place] = made_up(rng, shape)
        elif isinstance(shape[0], int):
            numbers[place] = rng.randint(*shape)
            words_by_place[place] = str(numbers[place])
        else:
            words_by_place[place] = rng.choice(shape)
    return words_by_place


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words and numbers of a text, without case and without the endings of ordinals."""
    return tuple([ordinal or word for ordinal, word in _WORD.findall(text.casefold())])


def right(answer: str, expected: str) -> bool:
    """Return whether an answer says the right words and no other, in any order."""
    return sorted(words(answer)) == sorted(words(expected))


def summarized(drawn: Reports, answers: Sequence[str], spelled: float, rng: Random) -> str:
    """A summary that holds these answers, a share of them with questions; without those that follow."""
    parts: list[str] = []
    for at, (question, answer) in enumerate(zip(drawn.questions, answers, strict=True)):
        if answer and rng.random() < spelled:
            parts.append(f"{question} {answer}")
        elif answer and str(at) not in drawn.follows:
            parts.append(answer)
    return "; ".join(parts) if rng.random() < spelled else " ".join(parts)
