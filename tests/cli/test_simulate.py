"""`peerage simulate`: figures without an arena and of one, and what is wrong with what was asked."""

from __future__ import annotations

import csv
import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import SMALL, house, play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.tables import simulate as tables

QUICK = ("--players", "6", "--matches", "40", "--arenas", "2", "--workers", "1")


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["simulate", *words])
    assert done.exit_code == code, done.output
    return done.output


def rows(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said(*words, "--format", "json"))
    return found


def test_rows_are_pools_and_amounts_and_plants() -> None:
    found = rows(
        "--players", "5,6", "--matches", "30,60", "--plant", "lazy=2", "--plant", "harsh", *QUICK[4:]
    )
    assert [(row["players"], row["matches"], row["kind"]) for row in found] == [
        (players, matches, kind)
        for players in (5, 6)
        for matches in (30, 60)
        for kind in ("", "lazy", "harsh")
    ]
    assert found[1]["plant"] == "2 of 5 judges always picking the answer shown first"
    assert {row["arenas"] for row in found} == {2}
    assert found[0]["usd"] is None
    assert found[0]["moved"] is None
    assert 0 <= found[0]["held"] <= 1


def test_needed_matches_and_money_follow_from_the_width() -> None:
    (one,) = rows(*QUICK, "--accuracy", "20", "--usd-per-match", "0.5")
    assert one["needed"] == pytest.approx(40 * (one["half_width"] / 20) ** 2, abs=1)
    assert one["usd"] == 20
    assert one["needed_usd"] == one["needed"] / 2
    table = said(*QUICK, "--accuracy", "20", "--usd-per-match", "0.5")
    assert "For ± 20" in table
    assert "$20.00" in table


def test_two_workers_come_to_the_same() -> None:
    words = ("--players", "5", "--matches", "30", "--arenas", "3", "--plant", "lazy")
    assert rows(*words, "--workers", "1") == rows(*words, "--workers", "2")
    assert rows(*words, "--workers", "1") != rows(*words, "--workers", "1", "--seed", "1")


def test_csv_has_the_keys_of_json() -> None:
    listed = list(csv.DictReader(io.StringIO(said(*QUICK, "--format", "csv"))))
    assert list(listed[0]) == list(rows(*QUICK)[0])


def test_tables_of_many_have_a_referee_and_no_judges() -> None:
    (one,) = rows(*QUICK, "--seats", "3")
    assert one["false_alarms"] is None
    assert one["held"] > 0.5
    assert "no judge" not in said(*QUICK, "--seats", "3")
    assert "have none" in said(*QUICK, "--seats", "3", "--plant", "lazy", code=2)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--plant", "lasy"], "did you mean 'lazy'"),
        (["--plant", "ring=2"], "expected a number from 1, with one of lazy"),
        (["--plant", "lazy=9"], "9 cannot take part among 6 players"),
        (["--players", "six"], "expected whole numbers"),
        (["--players", "2"], "at least 3"),
        (["--matches", "0"], "expected whole numbers"),
        (["--dir", "/nowhere"], "/nowhere"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], wanted: str) -> None:
    output = said(*QUICK, *words, code=2)
    assert wanted in " ".join(output.replace("│", " ").split())


def test_ctrl_c_shows_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tables.simulate

    def interrupted(*given: Any) -> Iterator[Any]:
        for at, one in enumerate(real(*given)):
            if at == 1:
                raise KeyboardInterrupt
            yield one

    monkeypatch.setattr(tables, "simulate", interrupted)
    output = said(*QUICK, "--plant", "lazy", code=130)
    assert "picking the answer shown first" in output
    assert "interrupted after 1 of 2 arenas: the figures above are of those" in output
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("own"), house(7), name="own", rules={**SMALL, "order": "one"})
    play(made, 40)
    return made


def test_an_arena_is_simulated_as_it_is(folder: Path) -> None:
    own = ("--dir", str(folder), "--arenas", "2", "--workers", "1")
    (one,) = rows(*own)
    assert (one["players"], one["matches"]) == (7, 40)
    assert one["usd"] == 0, "house players cost nothing"
    assert "own, simulated" in said(*own)
    assert one["tau"] > 0.5, "its players differ"
    (equals,) = rows(*own, "--sd", "0")
    assert equals["tau"] is None
    plants = {row["kind"]: row for row in rows(*own, "--plant", "position")}
    assert plants["position"]["moved"] is not None, "its judges see one order"


def test_tournaments_are_simulated_by_questions() -> None:
    words = ("--questions", "40", "--players", "6", "--arenas", "2", "--workers", "1")
    nothing, favour, harsh = rows(*words, "--plant", "favour", "--plant", "harsh=2", "--usd-per-match", "0.1")
    assert [one["questions"] for one in (nothing, favour, harsh)] == [40, 40, 40]
    assert nothing["usd"] == 4
    assert nothing["needed"] == pytest.approx(40 * (nothing["half_width"] / 0.25) ** 2, abs=1)
    assert 0.1 < nothing["half_width"] < 1, "in points of the scale"
    assert favour["moved"] > 0.1
    assert favour["noticed"] is not None
    assert harsh["noticed"] is None
    table = said(*words, "--generous", "3")
    assert "Questions" in table
    assert "Matches" not in table


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--questions", "40", "--seats", "4"), "--seats says nothing"),
        (("--questions", "40", "--plant", "position"), "no plant 'position'"),
        (("--plant", "camps"), "no plant 'camps'"),
        (("--generous", "2"), "give --questions too"),
        (("--questions", "many"), "expected whole numbers"),
    ],
)
def test_what_does_not_go_with_a_tournament_is_said(words: tuple[str, ...], told: str) -> None:
    assert told in " ".join(said(*words, code=2).replace("│", " ").split())
