"""Scores as votes: every order of two answers, by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.judging.gathered import tabled

from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import Mark
from peerage.judging.measures.favours.search import favours

SCORES = {
    ("kim", "1/q"): {"ann": 9.0, "bo": 4.0, "cy": 4.0},
    ("lee", "1/q"): {"ann": 2.0, "cy": 7.0},
    ("kim", "1/r"): {"bo": 1.0},
}
MARKS = [
    Mark(judge, author, contest, value)
    for (judge, contest), row in SCORES.items()
    for author, value in row.items()
]


def test_every_two_answers_of_a_sheet_are_an_order() -> None:
    votes = in_orders(tabled(MARKS))
    history = votes.history
    found = Counter(
        (votes.judges[judge], votes.players[one], votes.players[two], score)
        for judge, one, two, score in zip(
            votes.judge.tolist(),
            history.first.tolist(),
            history.second.tolist(),
            history.score.tolist(),
            strict=True,
        )
    )
    orders = [
        ("kim", "ann", "bo", 1.0),
        ("kim", "ann", "cy", 1.0),
        ("kim", "bo", "cy", 0.5),
        ("lee", "ann", "cy", 0.0),
    ]
    assert found == Counter(orders)
    assert history.weight == pytest.approx([3 / 2 / 4] * 4), "three authors meet as at a table of three"
    assert votes.worth is not None
    by_judge = dict(zip(votes.judge.tolist(), votes.worth.tolist(), strict=True))
    assert by_judge == {0: pytest.approx(9 / 11), 1: pytest.approx(1.0)}
    assert not len(in_orders(tabled([])).judge)


def test_orders_of_many_answers_are_worth_what_their_sum_scatters() -> None:
    """Kendall's variance, drawn: of all orders of m answers by chance, against as many coins."""
    rng = np.random.default_rng(5)
    for answers in (2, 3, 7):
        drawn = rng.random((20_000, answers))
        one, two = np.triu_indices(answers, 1)
        sums = np.sign(drawn[:, one] - drawn[:, two]).sum(axis=1)
        marks = [Mark("kim", f"a{at}", "q", float(at)) for at in range(answers)]
        worth = in_orders(tabled(marks)).worth
        assert worth is not None
        assert len(one) / sums.var() == pytest.approx(worth[0], rel=0.04)


def test_what_nobody_was_asked_about_rates_and_says_nothing_of_judges() -> None:
    marks = tabled([*MARKS, Mark("lee", "bo", "1/q", 0.0)])
    unjudged = np.zeros((2, 3), np.bool_)
    unjudged[marks.contests.index("1/q"), marks.authors.index("bo")] = True
    votes = in_orders(marks, unjudged)
    about = np.array([1 in pair for pair in zip(votes.history.first, votes.history.second, strict=True)])
    assert votes.worth is not None
    assert (votes.worth[about] == 0).all()
    assert (votes.worth[~about] > 0).all()
    assert votes.scores is not None
    assert (votes.scores.author != 1).sum() == len(votes.scores) - 1, "kim's for bo on another question stays"


def test_favours_are_looked_for_in_the_scores_themselves() -> None:
    rng = np.random.default_rng(3)
    names = [f"p{at}" for at in range(6)]
    marks = tabled(
        [
            Mark(judge, author, str(contest), 10.0 if (judge, author) == ("p1", "p2") else worth)
            for contest in range(60)
            for author, worth in zip(names, rng.integers(0, 8, 6).tolist(), strict=True)
            for judge in names
            if judge != author
        ]
    )
    assert favours(in_orders(marks)) == favours(marks)
    assert [(one.judge, one.author) for one in favours(marks).favours if one.found] == [("p1", "p2")]
