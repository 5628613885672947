"""Methods that need columns of their own, as the command calls them."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

from peerage.ratings.columns.history import duels
from peerage.ratings.methods import METHODS, MethodReport, Options, rate
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.report import DataError
from peerage.ratings.read.results import read


def rated(text: str, options: Options) -> MethodReport:
    return rate(read([("x.csv", io.BytesIO(text.encode()))]), options)


def test_answers_give_abilities_and_challenges() -> None:
    rng = np.random.default_rng(4)
    lines = ["model,item,correct"]
    for player in range(12):
        for item in range(30):
            chance = 1 / (1 + math.exp(-(player - 6) * 0.5 + (item - 15) * 0.2))
            lines.append(f"m{player},c{item},{str(bool(rng.random() < chance)).lower()}")
    report = rated("\n".join(lines), Options())
    assert report.rows[0]["player"] in ("m9", "m10", "m11")
    assert set(report.rows[0]) >= {"rating", "lower", "upper", "rank", "games", "mu", "sigma"}
    assert [row["games"] for row in report.rows] == [30] * 12
    hardest = [row["challenge"] for row in report.challenges]
    assert np.mean([int(name[1:]) for name in hardest[:10]]) > np.mean(
        [int(name[1:]) for name in hardest[-10:]]
    )
    assert all(row["answers"] == 12 and row["discrimination"] > 0 for row in report.challenges)


def test_tries_again_count_by_their_mean() -> None:
    data = read([("x.csv", io.BytesIO(b"player,challenge,solved\nx,c,1\nx,c,0\ny,c,0.5\ny,d,yes\n"))])
    assert isinstance(data, Answers)
    assert data.solved[0, 0] == data.solved[1, 0] == 0.5
    assert np.isnan(data.solved[0, 1])
    assert "1 answer is a further try" in data.notes[0]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("x,c,2", "line 2, column solved: found '2', expected true, false or a part from 0 to 1"),
        ("x,c,perhaps", "line 2, column solved: found 'perhaps', expected true, false or a part"),
        (",c,1", "line 2, column player: empty"),
        ("x,,1", "line 2, column challenge: empty"),
    ],
)
def test_bad_answers_are_named(row: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read([("x.csv", io.BytesIO(f"player,challenge,solved\n{row}\n".encode()))])


def test_answers_without_a_score_are_left_out_and_counted() -> None:
    rows = b"player,challenge,solved\nx,c,failed\nx,d,NaN\nx,e,\nx,f,error\nx,g,passed\n"
    data = read([("x.csv", io.BytesIO(rows))])
    assert isinstance(data, Answers)
    assert (data.challenges, data.solved.tolist()) == (("c", "g"), [[0.0, 1.0]])
    assert data.notes == ("3 answers have no score and are left out",)


def test_a_method_that_the_data_cannot_serve_is_told() -> None:
    answers = read([("x.csv", io.BytesIO(b"player,challenge,solved\nx,c,1\n"))])
    with pytest.raises(ValueError, match="bt cannot rate these data: irt and paired read answers"):
        rate(answers, Options(method="bt"))
    battles = Battles(("x", "y"), duels(2, [0], [1], [1]))
    with pytest.raises(ValueError, match="irt cannot rate these data"):
        rate(battles, Options(method="irt"))
    with pytest.raises(ValueError, match="judge-aware needs battles with a column judge"):
        rate(battles, Options(method="judge-aware"))
    with pytest.raises(ValueError, match="judge-aware rates battles; these are games"):
        rate(PlayedGames((), ()), Options(method="judge-aware"))
    assert "irt" in METHODS
