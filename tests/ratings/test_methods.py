"""The one door to all methods, over real records and by hand."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from peerage.ratings.columns.history import Game, duels
from peerage.ratings.methods import METHODS, Method, Options, rate
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.results import read

RECORDED = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def cob() -> Battles | PlayedGames:
    with (RECORDED / "cob" / "data.json").open("rb") as stream:
        return read([("data.json", stream)])


@pytest.fixture(scope="module")
def arena() -> Battles:
    rng = np.random.default_rng(8)
    truth = np.array([0.9, 0.3, 0.0, -1.2])
    lines = ["model_a,model_b,winner,judge,question,length_a,length_b,cost_a,cost_b,timestamp"]
    for number in range(600):
        a, b = rng.permutation(4)[:2]
        won = rng.random() < 1 / (1 + np.exp(truth[b] - truth[a]))
        word = "tie" if rng.random() < 0.1 else "model_a" if won else "model_b"
        sizes = ",".join(map(str, rng.integers(1, 99, 2)))
        costs = f"{(a + 1) / 100},{(b + 1) / 100}"
        lines.append(f"m{a},m{b},{word},j{number % 3},q{number // 4},{sizes},{costs},{number // 20 * 86400}")
    data = read(
        [("x.csv", io.BytesIO("\n".join(lines).encode()))], labels=("judge", "question"), controls=("length",)
    )
    assert isinstance(data, Battles)
    return data


def test_cob_gives_the_published_elo_arithmetic(cob: Battles) -> None:
    rating = dict.fromkeys(cob.names, 1500.0)
    for a, b, score in zip(cob.duels.first, cob.duels.second, cob.duels.score, strict=True):
        x, y = cob.names[a], cob.names[b]
        chance = 1 / (1 + 10 ** ((rating[y] - rating[x]) / 400))
        rating[x] += 32 * (score - chance)
        rating[y] += 32 * ((1 - score) - (1 - chance))
    report = rate(cob, Options())
    assert {row["player"]: row["rating"] for row in report.rows} == pytest.approx(rating, abs=1e-9)
    assert "K = 32" in report.title


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("irt", "paired")])
def test_every_method_finds_the_best_and_the_worst(arena: Battles, method: Method) -> None:
    report = rate(arena, Options(method=method, k=4.0 if method == "elo" else None))
    assert (report.rows[0]["player"], report.rows[-1]["player"]) == ("m0", "m3")
    for row in report.rows:
        assert set(row) >= {"player", "rating", "lower", "upper", "rank", "games"}
        assert row["lower"] < row["upper"]
    if method in ("auto", "bt", "bradley-terry", "trueskill"):
        assert sum(row["best"] for row in report.rows) == pytest.approx(1, abs=0.01)
        assert report.rows[0]["best"] == max(row["best"] for row in report.rows)
        assert "m3" in report.rows[0]["above"]
        claims = sum(len(row["above"]) for row in report.rows)
        assert report.notes[-1].startswith(f"proven above: {claims} of 6 pairs, about ")
    else:
        assert not any({"best", "above"} & set(row) for row in report.rows)
    assert sum(row["games"] for row in report.rows) == 1200
    assert [row["rank"] for row in report.rows] == sorted(row["rank"] for row in report.rows)


def test_chances_and_claims_go_with_the_intervals(arena: Battles) -> None:
    """None where a covariate is held equal, or where clusters are too few for intervals."""
    by_question = rate(arena, Options(cluster=("question",)))
    assert "about tasks like these" in by_question.notes[-1]
    for options in (Options(controls=("length",)), Options(cluster=("judge",))):
        rows = rate(arena, options).rows
        assert not any("best" in row or "above" in row for row in rows), options


@pytest.mark.parametrize(
    "options",
    [
        Options(cluster=("question",)),
        Options(cluster=("question",), controls=("length",)),
        Options(controls=("length",)),
        Options(ties="davidson"),
        Options(ties="davidson", cluster=("question",)),
    ],
)
def test_bradley_terrys_options_agree_about_who_is_who(arena: Battles, options: Options) -> None:
    plain = {row["player"]: row for row in rate(arena, Options()).rows}
    for row in rate(arena, options).rows:
        assert row["rating"] == pytest.approx(plain[row["player"]]["rating"], abs=45)
        width = row["upper"] - row["lower"]
        assert 0.3 < width / (plain[row["player"]]["upper"] - plain[row["player"]]["lower"]) < 5


def test_cost_track_takes_the_cost_columns(arena: Battles) -> None:
    report = rate(arena, Options(method="elo", track="cost"))
    assert report.title == "Elo adjusted for cost"
    assert report.rows[0]["lower"] is None
    assert np.mean([row["rating"] for row in report.rows]) < 1450


def test_tables_say_what_intervals_are_of_and_what_ties_do(arena: Battles) -> None:
    notes = {name: " ".join(rate(arena, Options(method=name)).notes) for name in ("bt", "elo", "trueskill")}
    assert "ties" not in notes["bt"]
    assert "intervals are of the rating, where it would end" in notes["elo"]
    assert "95%" not in rate(arena, Options(method="trueskill")).title + notes["trueskill"]
    tied = replace(arena.duels, score=np.where(np.arange(600) % 5 == 0, 0.5, arena.duels.score))
    many = replace(arena, duels=tied)
    assert "% of results are ties" in " ".join(rate(many, Options(method="bt")).notes)
    assert "results are ties" not in " ".join(rate(many, Options(method="bt", ties="davidson")).notes)


COST = {"method": "elo", "track": "cost"}


@pytest.mark.parametrize(
    ("usual", "changed"),
    [
        ({"method": "elo"}, {"k": 4.0}),
        ({"method": "elo"}, {"initial": 1000.0}),
        (COST, {"k": 4.0}),
        (COST, {"initial": 1000.0}),
        (COST, {"cost_sensitivity": 0.0}),
        (COST, {"cost_sensitivity": 0.7}),
        ({"method": "bt"}, {"ties": "davidson"}),
        ({"method": "bt"}, {"cluster": ("judge",)}),
        ({"method": "bt", "cluster": ("question",)}, {"cluster": ("judge",)}),
        ({"method": "bt", "cluster": ("question",)}, {"ties": "davidson"}),
        ({"method": "bt"}, {"controls": ("length",)}),
        ({"method": "bt", "controls": ("length",)}, {"cluster": ("judge",)}),
        ({"method": "bt"}, {"anchor": "m2"}),
        ({"method": "glicko2"}, {"initial": 1000.0}),
        ({"method": "trueskill"}, {"k": 0.0}),
        ({"method": "trueskill"}, {"k": 1.0}),
        ({"method": "trueskill"}, {"draw_probability": 0.4}),
    ],
    ids=str,
)
def test_every_option_changes_the_table(
    arena: Battles, usual: dict[str, Any], changed: dict[str, Any]
) -> None:
    before, after = rate(arena, Options(**usual)), rate(arena, Options(**{**usual, **changed}))
    if changed.keys() - {"cluster"}:
        assert [row["rating"] for row in before.rows] != [row["rating"] for row in after.rows]
    else:
        assert [row["lower"] for row in before.rows] != [row["lower"] for row in after.rows]


def test_how_a_player_of_several_seats_counts_changes_the_table() -> None:
    """Ada holds two seats in each game: the first and the last of it."""
    played = tuple([Game(((0,), (1,), (2,), (0,)), (1, 2, 3, 4)), Game(((0,), (2,), (1,)), (1, 2, 3))] * 2)
    data = PlayedGames(("ada", "bo", "cy"), played)
    tables = [rate(data, Options(method="trueskill", seats=seats)).rows for seats in ("mean", "best", "each")]
    assert tables[0] != tables[1] != tables[2] != tables[0]


def test_an_anchor_moves_everybody_alike(arena: Battles) -> None:
    free, held = rate(arena, Options()), rate(arena, Options(anchor="m2"))
    shift = held.rows[0]["rating"] - free.rows[0]["rating"]
    for a, b in zip(free.rows, held.rows, strict=True):
        assert b["rating"] - a["rating"] == pytest.approx(shift)
        assert b["upper"] - a["upper"] == pytest.approx(shift)
        assert b["player"] != "m2" or b["rating"] == pytest.approx(1500)


def test_notes_say_what_a_reader_must_know(arena: Battles) -> None:
    assert "150 clusters (question)" in " ".join(rate(arena, Options(cluster=("question",))).notes)
    assert "too few to show" in " ".join(rate(arena, Options(cluster=("judge",))).notes)
    assert "length" in " ".join(rate(arena, Options(controls=("length",))).notes)
    assert "reliability" in " ".join(rate(arena, Options(method="judge-aware")).notes)
    # Where nothing is claimed, nothing is said to hold.
    assert "hold" not in " ".join(rate(arena, Options(method="elo", track="cost")).notes)
    apart = Battles(("x", "y"), duels(2, [0], [1], [1]))
    assert "not everybody can be compared: 2 groups" in rate(apart, Options()).notes[0]


def test_games_of_many_by_methods_of_two() -> None:
    listed = tuple(
        Game(((0,), (1,), (2,)), ranks) for ranks in [(1, 2, 3), (1, 3, 2), (2, 1, 3), (1, 2, 2)] * 3
    )
    data = PlayedGames(("a", "b", "c"), listed)
    for method in ("bt", "elo", "trueskill", "glicko2"):
        report = rate(data, Options(method=method))
        assert report.rows[0]["player"] == "a", method
        assert [row["games"] for row in report.rows] == [12, 12, 12]
    assert "12 clusters (game)" in " ".join(rate(data, Options(method="bt")).notes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "elo", "cluster": ("judge",)}, "cluster does not go with the method elo"),
        ({"method": "bt", "track": "cost"}, "track cost does not go with"),
        ({"method": "trueskill", "anchor": "m0"}, "anchor does not go with"),
        ({"anchor": "nobody"}, "anchor 'nobody' does not play; the players are"),
        ({"controls": ("length",), "ties": "davidson"}, "control takes ties as half wins"),
        ({"method": "elo", "k": -1.0}, "k_factor is -1"),
    ],
)
def test_what_does_not_go_together_is_said(arena: Battles, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rate(arena, Options(**given))


def test_one_player_or_none() -> None:
    assert rate(Battles((), duels(0, [], [], [])), Options()).rows == ()
    assert rate(Battles(("x",), duels(1, [], [], [])), Options()).rows[0]["rating"] == 1500
