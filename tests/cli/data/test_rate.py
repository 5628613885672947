"""`peerage rate`, as a user types it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from peerage.cli.data import rate as command
from peerage.ratings import methods
from peerage.ratings.columns import history
from peerage.ratings.fits import tie_models
from peerage.ratings.read.forms import Layout

RECORDED = Path(__file__).parents[2] / "data"
app = typer.Typer(rich_markup_mode=None)
app.command()(command.rate)


def run(*arguments: str, piped: str | None = None) -> str:
    result = CliRunner().invoke(app, list(arguments), input=piped, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_folder_of_recorded_tournaments() -> None:
    rows = json.loads(run(str(RECORDED / "valyrian"), "--format", "valyrian", "--output", "json"))
    assert len(rows) == 18
    assert rows[0]["player"] == "OpenAI:gpt-4.1-2025-04-14"
    assert rows[0]["rating"] == pytest.approx(rows[0]["mu"] - 3 * rows[0]["sigma"])
    assert rows[0]["mu"] == pytest.approx(29.839, abs=1e-3), "the exact limit"


def test_a_pipe_and_every_way_of_writing() -> None:
    text = "model_a,model_b,winner\nx,y,model_a\ny,x,model_a\nx,y,tie\n"
    assert json.loads(run("-", "--output", "json", piped=text))[0]["games"] == 3
    assert run("-", "--output", "csv", piped=text).startswith(
        "player,rating,lower,upper,rank,games,best,above"
    )
    assert "Bradley-Terry" in run("-", "--output", "markdown", piped=text)
    assert "Rating" in run("-", piped=text)
    one = json.loads(run("-", "--output", "json", "--method", "elo", "--k", "10", piped=text))
    assert {row["player"] for row in one} == {"x", "y"}


def test_the_interval_of_a_skill_is_said_to_be_that_of_mu_and_holds_it() -> None:
    text = "model_a,model_b,winner\nx,y,model_a\ny,x,model_a\nx,y,tie\nx,y,model_a\n"
    for row in json.loads(run("-", "--method", "trueskill", "--output", "json", piped=text)):
        assert (row["lower"] + row["upper"]) / 2 == pytest.approx(row["mu"])
        assert row["rating"] == pytest.approx(row["mu"] - 3 * row["sigma"])
    for output in ("table", "markdown"):
        shown = run("-", "--method", "trueskill", "--output", output, piped=text)
        assert "Lower of mu" in shown
        assert "Upper of mu" in shown
        assert "mu ± 1.96 sigma" in shown


def test_bad_input_is_told_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(command.CommandRefused, match="winner: found 'perhaps'"):
        run("-", piped="model_a,model_b,winner\nx,y,perhaps\n")
    with pytest.raises(command.CommandRefused, match="holds no data"):
        run(str(tmp_path))
    with pytest.raises(command.CommandRefused, match="cluster does not go with"):
        run("-", "--method", "elo", "--cluster", "judge", piped="model_a,model_b,winner,judge\nx,y,tie,j\n")
    with pytest.raises(FileNotFoundError):
        run(str(tmp_path / "missing.csv"))


def test_votes_of_several_judges_on_the_same_answers_are_not_taken_for_independent() -> None:
    """Each vote three times over says no more than once; questions named once each change nothing."""
    draws = Random(3)
    votes = [
        ("ab", "bc", "ca")[n % 3] + ("model_a" if draws.random() < 0.7 else "model_b") for n in range(60)
    ]

    def rated(times: int, *options: str) -> dict[str, tuple[float, float]]:
        lines = [f"{n},{one[0]},{one[1]},{one[2:]}" for n, one in enumerate(votes) for _ in range(times)]
        piped = "\n".join(["question_id,model_a,model_b,winner", *lines])
        found = json.loads(run("-", "--output", "json", *options, piped=piped))
        return {row["player"]: (row["rating"], row["upper"] - row["lower"]) for row in found}

    once, often = rated(1), rated(3)
    assert once == rated(1, "--method", "bt")
    for player, (rating, wide) in once.items():
        assert often[player][0] == pytest.approx(rating, abs=15)
        assert often[player][1] == pytest.approx(wide, rel=0.15)
    assert often == rated(3, "--cluster", "question")
    swapped = "q,a,b,model_a\nq,b,a,model_b\n" + "".join(f"{n},a,b,tie\n,b,c,tie\n" for n in range(20))
    said = run("-", piped=f"question_id,model_a,model_b,winner\n{swapped}")
    assert "Intervals allow for 41 clusters (question)" in said


def test_the_words_of_the_command_are_those_of_the_library() -> None:
    assert list(get_args(command.Method)) == list(methods.METHODS) == list(get_args(methods.Method))
    assert list(get_args(command.Layout)) == list(get_args(Layout))
    assert list(get_args(command.Ties)) == list(get_args(tie_models.Ties))
    assert list(get_args(command.Seats)) == list(get_args(history.Seats))


def test_what_is_held_equal_has_no_bounds_where_few_clusters_tell_none() -> None:
    rows = "a,b,model_a,10,20,j\nb,c,model_b,5,30,k\nc,a,model_b,10,10,j\na,b,tie,20,10,k\n"
    piped = f"model_a,model_b,winner,length_a,length_b,judge\n{rows}"
    said = run("-", "--control", "length", "--cluster", "judge", piped=piped)
    assert "Held equal: length, +27.3 points a standard deviation.\n" in said


def test_what_is_held_equal_may_be_said_one_by_one() -> None:
    rng = Random(1)
    rows = [
        [*rng.sample("abc", 2), rng.choice(["model_a", "model_b"]), *rng.choices(range(1, 9), k=4)]
        for _ in range(60)
    ]
    lines = [",".join(map(str, row)) for row in rows]
    piped = "\n".join(["model_a,model_b,winner,length_a,length_b,bold_a,bold_b", *lines])
    one_by_one = run("-", "--control", "length", "--control", "bold", piped=piped)
    assert one_by_one == run("-", "--control", "length,bold", piped=piped)
    assert "Held equal: length" in one_by_one
    assert "Held equal: bold" in one_by_one


def table(*arguments: str) -> dict[str, dict[str, Any]]:
    return {row["player"]: row for row in json.loads(run(*arguments, "--output", "json"))}


def test_players_who_tied_share_a_rank_however_they_are_listed(tmp_path: Path) -> None:
    """As in sublee/trueskill, issues 13 and 15: four lost to one and tied with each other."""
    names, found = ["w", "l1", "l2", "l3", "l4"], []
    for order in (names, names[::-1], ["l3", "w", "l1", "l4", "l2"]):
        game = {"players": order, "ranks": [int(name != "w") for name in order]}
        (tmp_path / "one.json").write_text(json.dumps([game]))
        rows = table(str(tmp_path / "one.json"), "--method", "trueskill")
        assert [rows[name]["rank"] for name in names] == [1, 2, 2, 2, 2]
        losers = [rows[name] for name in names[1:]]
        assert len({(row["mu"], row["sigma"], row["rating"]) for row in losers}) == 1
        found.append({name: (row["mu"], row["sigma"]) for name, row in rows.items()})
    for other in found[1:]:
        assert {name: pytest.approx(row) for name, row in other.items()} == found[0]


def test_a_tie_of_both_bad_is_a_tie_and_said_to_be_one(tmp_path: Path) -> None:
    """As in bojieli/ai-agent-book, issue 77."""
    file = tmp_path / "battles.csv"
    file.write_text("model_a,model_b,winner\na,b,model_a\na,b,tie (bothbad)\nb,c,model_a\n")
    shown = run(str(file), "--method", "elo")
    assert "1 of 1 ties are of answers said to be both bad" in shown
    rows = table(str(file), "--method", "elo")
    assert [*rows] == ["a", "b", "c"]
    assert all(math.isfinite(row["rating"]) for row in rows.values())


def test_names_do_not_matter_where_one_always_wins(tmp_path: Path) -> None:
    """As in tabarena, issues 494 and 502, and Auto-Arena, issue 4."""
    tables = []
    for name in ("m0", "zz"):
        file = tmp_path / f"{name}.csv"
        file.write_text(
            "model_a,model_b,winner\n" + f"{name},m1,model_a\n{name},m2,model_a\nm1,m2,model_a\n" * 20
        )
        tables.append([{**row, "player": ""} for row in table(str(file)).values()])
    assert tables[0] == tables[1]
    assert all(math.isfinite(row["rating"]) for row in tables[0])


def test_columns_and_words_of_others_are_stated_and_what_is_guessed_is_said(tmp_path: Path) -> None:
    text = "p,q,preference\nx,y,1\nx,y,2\ny,x,0\nx,y,\n"
    stated = ["--columns", "a=p,b=q", "--columns", "winner=preference", "--winner", "1=a,2=b,0=tie"]
    (tmp_path / "votes.csv").write_text(text, "utf-8")
    votes = str(tmp_path / "votes.csv")
    assert "1 row without a winner is left out (1 empty)" in run(votes, *stated)
    with pytest.raises(command.CommandRefused, match="line 5, column preference: found empty"):
        run(votes, *stated, "--strict")
    with pytest.raises(command.CommandRefused, match=r"there is no column pp; is p meant\?"):
        run(votes, "--columns", "a=pp,b=q,winner=preference")
    with pytest.raises(command.CommandRefused, match="expected pairs such as a=left,b=right"):
        run(votes, "--columns", "left")
    (tmp_path / "guess.csv").write_text("First,Second,Result\nx,y,1\nx,y,2\n", "utf-8")
    shown = run(str(tmp_path / "guess.csv"))
    assert "Read as a=First, b=Second, winner=Result." in shown
    assert "Winners are read as 1=a,2=b." in shown


def test_categories_are_tables_for_people_and_a_column_for_programs(tmp_path: Path) -> None:
    lines = [f"a,b,{winner},{tongue}" for winner in ("model_a", "tie") * 20 for tongue in ("en", "pl; x")]
    text = "\n".join(["model_a,model_b,winner,lang", *lines])
    shown = run("-", "--by", "language", piped=text)
    assert [f"intervals: {name}" in shown for name in ("(all)", "en", "pl; x")] == [True] * 3
    rows = json.loads(run("-", "--by", "lang", "--output", "json", piped=text))
    assert [(row["category"], row["player"], row["games"]) for row in rows[:3]] == [
        ("(all)", "a", 80), ("(all)", "b", 80), ("en", "a", 40)
    ]  # fmt: skip
    assert (
        run("-", "--by", "lang", "--output", "csv", piped=text).splitlines()[0].startswith("category,player,")
    )
    assert run("-", "--by", "lang", "--output", "latex", piped=text).count(r"\begin{tabular}") == 3
    assert run("-", "--by", "lang", "--output", "markdown", piped=text).count("**Strengths by lang") == 3
    with pytest.raises(command.CommandRefused, match="no battle has a nothing; the columns are model_a"):
        run("-", "--by", "nothing", piped=text)


def test_pairs_are_a_table_of_their_own() -> None:
    text = "player,challenge,solved\n" + "".join(
        f"{name},{at},{int(name == 'x')}\n" for name in "xy" for at in range(9)
    )
    assert "Differences, paired by sample" in run("-", "--method", "paired", piped=text)
    pairs = json.loads(run("-", "--method", "paired", "--of", "pairs", "--output", "json", piped=text))
    assert pairs[0]["first"] == "x"
    assert pairs[0]["apart"] is True
    with pytest.raises(command.CommandRefused, match="--of pairs goes with answers"):
        run("-", "--of", "pairs", piped=text)
