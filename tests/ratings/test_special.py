"""Methods that need columns of their own, as the command calls them."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

from peerage.ratings.answers import Answers
from peerage.ratings.battles import Battles
from peerage.ratings.data import read
from peerage.ratings.history import duels
from peerage.ratings.methods import METHODS, MethodReport, Options, rate
from peerage.ratings.played import PlayedGames
from peerage.ratings.prediction_powered import fit as powered
from peerage.ratings.streams import DataError


def rated(text: str, options: Options, *, human: bool = False, name: str = "x.csv") -> MethodReport:
    return rate(read([(name, io.BytesIO(text.encode()))], human=human), options)


def votes(rng: np.random.Generator, rows: int, share: float, right: float) -> str:
    """A model votes in every row, `right` in that part of them; people in a `share` of them."""
    lines = ["model_a,model_b,winner,human"]
    for _ in range(rows):
        a, b = rng.permutation(4)[:2]
        won = rng.random() < 1 / (1 + math.exp((a - b) * 0.7))
        said = won if rng.random() < right else not won
        words = {True: "model_a", False: "model_b"}
        lines.append(f"m{a},m{b},{words[bool(said)]},{words[bool(won)] if rng.random() < share else ''}")
    return "\n".join(lines)


def test_human_votes_correct_model_votes() -> None:
    text = votes(np.random.default_rng(3), 3000, 0.2, 0.75)
    report = rated(text, Options(method="prediction-powered"), human=True)
    assert [row["player"] for row in report.rows] == ["m0", "m1", "m2", "m3"]
    true = {f"m{i}": 1500 + (1.5 - i) * 0.7 * 400 / math.log(10) for i in range(4)}
    for row in report.rows:
        assert row["lower"] - 40 < true[row["player"]] < row["upper"] + 40
    plain = {row["player"]: row["rating"] for row in rated(text, Options(method="bt")).rows}
    assert plain["m0"] < report.rows[0]["rating"] - 60, "votes that err draw everybody together"
    data = read([("x.csv", io.BytesIO(text.encode()))], human=True)
    assert isinstance(data, Battles)
    assert data.human is not None
    expected = powered(data.duels, data.human).rating
    assert {row["player"]: row["rating"] for row in report.rows} == pytest.approx(
        dict(zip(data.names, expected, strict=True))
    )


HEAD = "model_a,model_b,winner,human\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model_a,model_b,winner\nx,y,tie\n", "row 1: there is no column human"),
        (HEAD + "x,y,tie,perhaps\n", "row 1, human: found 'perhaps'"),
        (HEAD + "x,y,tie,\n", "no battle in which a person voted too"),
        (HEAD + "x,y,tie,tie\n", "no battle in which a model alone voted"),
        (
            HEAD + "x,y,tie,tie\nx,z,tie,x\ny,z,tie,\n",
            "compare the players only within 2 groups",
        ),
    ],
)
def test_votes_that_cannot_be_corrected_are_told(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rated(text, Options(method="prediction-powered"), human=True)


def test_the_way_of_each_player_through_time() -> None:
    rows = []
    for day in range(40):
        first, second = ("riser", "steady") if day >= 20 else ("steady", "riser")
        rows += [f"riser,steady,{first},{day * 86400}"] * 6 + [f"riser,steady,{second},{day * 86400}"]
    text = "model_a,model_b,winner,timestamp\n" + "\n".join(rows)
    report = rated(text, Options(method="through-time"))
    best = report.rows[0]
    assert best["player"] == "riser"
    path = best["path"]
    assert path[0]["time"] == "1970-01-01"
    assert path[0]["rating"] < 1450 < 1550 < path[-1]["rating"] == best["rating"]
    assert all(point["lower"] < point["rating"] < point["upper"] for point in path)
    still = rated(text, Options(method="through-time", drift=0.5)).rows[0]["path"]
    assert still[-1]["rating"] - still[0]["rating"] < path[-1]["rating"] - path[0]["rating"]
    once = rated(text, Options(method="through-time", period=1000.0))
    assert len(once.rows[0]["path"]) == 1
    assert "smaller --period" in " ".join(once.notes)


def test_who_stopped_playing_is_less_certain_at_the_end() -> None:
    rows = [("x", "y", day) for day in range(10)] + [("x", "z", day) for day in range(10, 100)]
    text = "model_a,model_b,winner,timestamp\n" + "\n".join(
        f"{a},{b},tie,{day * 86400}" for a, b, day in rows
    )
    wide = {
        row["player"]: row["upper"] - row["lower"] for row in rated(text, Options(method="through-time")).rows
    }
    assert wide["y"] > 1.5 * wide["z"]


def test_through_time_needs_times() -> None:
    text = "model_a,model_b,winner,timestamp\nx,y,tie,1\nx,y,tie,\n"
    with pytest.raises(ValueError, match="needs a timestamp in every row"):
        rated(text, Options(method="through-time"))
    with pytest.raises(ValueError, match="period is 0"):
        rated("model_a,model_b,winner,timestamp\nx,y,tie,1\n", Options(method="through-time", period=0.0))
    beyond = rated("model_a,model_b,winner,timestamp\nx,y,tie,1e15\n", Options(method="through-time"))
    assert "day 1.15741e+10" in beyond.notes[0]
    games = '[{"players": ["x", "y", "z"], "ranks": [1, 2, 3], "date": "2025-01-01"}]'
    assert rated(games, Options(method="through-time"), name="x.json").rows[0]["player"] == "x"


def test_answers_give_abilities_and_challenges() -> None:
    rng = np.random.default_rng(4)
    lines = ["model,item,correct"]
    for player in range(12):
        for item in range(30):
            chance = 1 / (1 + math.exp(-(player - 6) * 0.5 + (item - 15) * 0.2))
            lines.append(f"m{player},c{item},{str(bool(rng.random() < chance)).lower()}")
    report = rated("\n".join(lines), Options())
    assert report.rows[0]["player"] in ("m9", "m10", "m11")
    assert set(report.rows[0]) >= {"rating", "lower", "upper", "rank", "rank_range", "games", "mu", "sigma"}
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
        ("x,c,2", "row 1, solved: found '2', expected true, false or a part from 0 to 1"),
        ("x,c,nan", "row 1, solved: found 'nan', expected a number"),
        ("x,c,perhaps", "row 1, solved: found 'perhaps', expected a number"),
        (",c,1", "row 1: there is no player; the columns are player, challenge, solved"),
        ("x,,1", "row 1: there is no challenge"),
    ],
)
def test_bad_answers_are_named(row: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read([("x.csv", io.BytesIO(f"player,challenge,solved\n{row}\n".encode()))])


def test_a_method_that_the_data_cannot_serve_is_told() -> None:
    answers = read([("x.csv", io.BytesIO(b"player,challenge,solved\nx,c,1\n"))])
    with pytest.raises(ValueError, match="bt cannot rate these data: irt reads answers"):
        rate(answers, Options(method="bt"))
    battles = Battles(("x", "y"), duels(2, [0], [1], [1]))
    with pytest.raises(ValueError, match="irt cannot rate these data"):
        rate(battles, Options(method="irt"))
    with pytest.raises(ValueError, match="judge-aware needs battles with a column judge"):
        rate(battles, Options(method="judge-aware"))
    with pytest.raises(ValueError, match="judge-aware rates battles; these are games"):
        rate(PlayedGames((), ()), Options(method="judge-aware"))
    with pytest.raises(ValueError, match="drift does not go with the method bt"):
        rate(battles, Options(method="bt", drift=3.0))
    assert "irt" in METHODS
