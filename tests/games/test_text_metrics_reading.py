"""A second reading of texts to be put into another form: from the printed example alone, the text becomes the
reference, and in one way only.
"""

import re
from random import Random

import pytest

from peerage.games.text_metrics.tasks import TextTask, drawn_task

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)


def parts(line: str) -> list[str]:
    """Words and numbers, those of dates without a zero before them."""
    found = re.findall(r"[a-z]+|\d+", line.casefold().replace(":", ""))
    return [
        str(MONTHS.index(one) + 1)
        if one in MONTHS
        else str(int(one))
        if len(one) < 3 and one.isdigit()
        else one
        for one in found
    ]


def lines(text: str) -> list[list[str]]:
    return [*map(parts, re.split(r"\n|(?<=\.) ", text))]


def readings(task: TextTask) -> list[list[str]]:
    """Each line as the example makes it; a part that could come from two places is '?'."""
    given, made = map(lines, task.shown)
    columns = [*zip(*given, strict=True)]
    ways = []
    for column in zip(*made, strict=True):
        same = [at for at, other in enumerate(columns) if other == column]
        constant = len(set(column)) == 1
        ways.append((same, column[0] if constant else "?"))
    return [
        [line[same[0]] if len({line[at] for at in same}) == 1 else word for same, word in ways]
        for line in lines(task.source)
    ]


@pytest.mark.parametrize("kind", ["prose", "convert", "rewrite"])
def test_the_example_leaves_one_reading_and_it_is_the_reference(kind: str) -> None:
    for seed in range(200):
        task = drawn_task(Random(f"read/{seed}"), kind, 4)
        assert readings(task) == lines(task.references[0]), f"{seed}: {task.shown}\n{task.source}"


@pytest.mark.parametrize("kind", ["notation", "convert"])
def test_an_example_of_dates_shows_how_small_numbers_are_written(kind: str) -> None:
    for seed in range(200):
        task = drawn_task(Random(f"read/{seed}"), kind, 2)
        dates = re.findall(r"\b(\d\d)-(\d\d)\b|(?<=[(@\[ |])(\d+)/(\d+)\b", "\n".join(task.shown))
        parts_of = [int(one) for found in dates for one in found if one]
        assert not parts_of or min(parts_of) < 10, f"{seed}: {task.shown}"
