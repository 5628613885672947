"""Marks as columns against the rows they were made from."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.gathered import tabled

from peerage.judging.marks.marks import Mark, Marks

MARK = st.builds(
    Mark,
    st.sampled_from("xyz"),
    st.sampled_from("abc"),
    st.sampled_from(["1", "2", "10"]),
    st.integers(0, 10).map(float),
    st.none() | st.just(7),
)


def rows(marks: Marks) -> list[Mark]:
    columns = (marks.judge, marks.author, marks.contest, marks.value.tolist(), marks.chars.tolist())
    return [
        Mark(marks.judges[j], marks.authors[a], marks.contests[c], value, None if math.isnan(n) else int(n))
        for j, a, c, value, n in zip(*columns, strict=True)
    ]


@given(st.lists(MARK), st.randoms(use_true_random=False))
def test_the_order_of_marks_does_not_matter(marks: list[Mark], rng: Random) -> None:
    found = rows(tabled(marks))
    assert sorted(map(str, found)) == sorted(map(str, marks))
    assert [mark[:4] for mark in found] == sorted([mark[:4] for mark in marks], key=_place)
    again = rows(tabled(rng.sample(marks, len(marks))))
    assert [mark[:4] for mark in again] == [mark[:4] for mark in found]


def _place(mark: tuple[str, str, str, float]) -> tuple[str, str, str, float]:
    judge, author, contest, value = mark
    return judge, contest, author, value


@given(st.lists(MARK))
def test_numbers_of_answers_and_sheets_tell_apart_what_names_do(marks: list[Mark]) -> None:
    table = tabled(marks)
    for number, names in (
        (table.answer, [(mark.contest, mark.author) for mark in rows(table)]),
        (table.sheet, [(mark.judge, mark.contest) for mark in rows(table)]),
    ):
        order = {name: at for at, name in enumerate(sorted(set(names)))}
        assert number.tolist() == [order[name] for name in names]


def test_marks_of_one_answer_by_one_judge_become_their_mean() -> None:
    twice = [Mark("x", "a", "1", 4), Mark("x", "a", "1", 7), Mark("x", "b", "1", 1), Mark("y", "a", "1", 9)]
    assert rows(tabled(twice).single) == [
        Mark("x", "a", "1", 5.5),
        Mark("x", "b", "1", 1),
        Mark("y", "a", "1", 9),
    ]
    once = tabled(twice[1:])
    assert once.single is once


def test_kinship_is_asked_once_for_a_pair() -> None:
    asked: list[tuple[str, str]] = []

    def same_family(judge: str, author: str) -> bool:
        asked.append((judge, author))
        return judge == "x" and author == "b"

    table = tabled([Mark("x", author, contest, 1) for author in "ab" for contest in "123"])
    assert table.same_family(same_family).tolist() == [False, True] * 3
    assert sorted(asked) == [("x", "a"), ("x", "b")]


@pytest.mark.parametrize("name", ["answer", "sheet", "single"])
def test_no_marks(name: str) -> None:
    assert not len(getattr(tabled([]), name))
