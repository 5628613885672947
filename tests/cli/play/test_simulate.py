"""`peerage simulate`: figures without an arena and of one, and what is wrong with what was asked."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import SMALL, house, play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app

QUICK = ("--players", "6", "--matches", "40", "--arenas", "2")


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["simulate", *words])
    assert done.exit_code == code, done.output
    return done.output


def rows(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said(*words, "--format", "json"))
    return found


def test_rows_are_pools_and_amounts() -> None:
    found = rows("--players", "5,6", "--matches", "30,60", *QUICK[4:])
    amounts = [(players, matches) for players in (5, 6) for matches in (30, 60)]
    assert [(row["players"], row["matches"]) for row in found] == amounts
    assert {row["arenas"] for row in found} == {2}
    assert found[0]["usd"] is None
    assert found[1]["half_width"] < found[0]["half_width"]


def test_needed_matches_and_money_follow_from_the_width() -> None:
    (one,) = rows(*QUICK, "--accuracy", "20", "--usd-per-match", "0.5")
    assert one["needed"] == pytest.approx(40 * (one["half_width"] / 20) ** 2, abs=1)
    assert one["usd"] == 20
    assert one["needed_usd"] == one["needed"] / 2
    table = said(*QUICK, "--accuracy", "20", "--usd-per-match", "0.5")
    assert "For ± 20" in table
    assert "$20" in table


def test_the_seed_decides() -> None:
    assert rows(*QUICK) == rows(*QUICK)
    assert rows(*QUICK) != rows(*QUICK, "--seed", "1")


def test_what_too_few_matches_do_not_tell_is_left_empty() -> None:
    (row,) = rows("--matches", "1", "--usd-per-match", "1")
    assert (row["half_width"], row["needed"], row["needed_usd"]) == (None, None, None)
    assert row["usd"] == 1
    assert "–" in said("--matches", "1")


def test_csv_has_the_keys_of_json() -> None:
    listed = list(csv.DictReader(io.StringIO(said(*QUICK, "--format", "csv"))))
    assert list(listed[0]) == list(rows(*QUICK)[0])


def test_tables_of_many_have_a_referee() -> None:
    (seated,), (judged,) = rows(*QUICK, "--seats", "4"), rows(*QUICK)
    assert seated["half_width"] != judged["half_width"]
    assert rows("--seats", "2", "--players", "2", "--arenas", "1")[0]["players"] == 2


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--players", "six"], "expected whole numbers"),
        (["--players", "2"], "2 players: a duel before judges needs at least 3"),
        (["--players", "1", "--seats", "2"], "1 player: a table needs at least 2"),
        (["--sd", "nan"], "found 'nan'"),
        (["--usd-per-match", "inf"], "usd-per-match"),
        (["--matches", "0"], "expected whole numbers"),
        (["--dir", "/nowhere"], "/nowhere"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], wanted: str) -> None:
    output = said(*QUICK, *words, code=2)
    assert wanted in " ".join(output.replace("│", " ").split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("own"), house(7), name="own", rules={**SMALL, "order": "one"})
    play(made, 40)
    return made


def test_an_arena_is_simulated_as_it_is(folder: Path) -> None:
    own = ("--dir", str(folder), "--arenas", "2")
    (one,) = rows(*own)
    assert (one["players"], one["matches"]) == (7, 40)
    assert one["usd"] == 0, "house players cost nothing"
    assert "own, simulated" in said(*own)
    assert one["tau"] > 0.5, "its players differ"
    (equals,) = rows(*own, "--sd", "0")
    assert equals["tau"] is None
    assert one["half_width"] != equals["half_width"]
