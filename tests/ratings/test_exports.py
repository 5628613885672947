"""Rows that `peerage export` wrote, read as games."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from peerage.ratings.read.histories import PlayedGames
from peerage.ratings.read.report import DataError
from peerage.ratings.read.results import read

HEADER = "number,round,game,topic,status,seat,player,score,cost,raw,cost_elo,spent_nano,at_ms\n"


def reading(text: str) -> PlayedGames:
    found = read([("-", io.BytesIO(text.encode()))])
    assert isinstance(found, PlayedGames)
    return found


def document(void: str = "", **changed: Any) -> dict[str, Any]:
    seats = [{"label": "A", "player": "x"}, {"label": "B", "player": "y"}]
    outcome = {"void": void, "scores": {} if void else {"A": 0.0, "B": 1.0}}
    return {"match": 3, "fixture": {"seats": seats}, "record": {"outcome": outcome}, "at_ms": 5000, **changed}


def test_lines_of_one_match_share_its_number_not_the_name_of_what_was_played() -> None:
    text = HEADER + (
        "1,1,duel,t,done,1,x,1.0,,,,0,9000\n1,1,duel,t,done,2,y,0.0,,,,0,9000\n"
        "2,1,duel,t,inconclusive,1,x,,,,,0,9500\n2,1,duel,t,inconclusive,2,y,,,,,0,9500\n"
        "3,2,duel,t,done,1,'=y,1.0,,,,0,7000\n3,2,duel,t,done,2,x,0.0,,,,0,7000\n"
    )
    played = reading(text)
    assert [[played.names[team[0]] for team in game.teams] for game in played.games] == [
        ["=y", "x"],
        ["x", "y"],
    ]
    assert [list(game.ranks) for game in played.games] == [[-1.0, 0.0], [-1.0, 0.0]]
    assert played.times is not None
    assert played.times.tolist() == [7.0, 9.0]
    assert played.notes == ("1 match without a result is left out",)


def test_each_name_is_read_as_it_was_before_it_was_kept_from_being_a_formula() -> None:
    names = ("'=y", "''=y", "'t", "'\uff1dy")
    rows = [
        f"{n},1,duel,t,done,{seat},{name},1.0,,,,0,9\n" for n in names for seat, name in ((1, n), (2, "x"))
    ]
    assert reading(HEADER + "".join(rows)).names == ("=y", "x", "'=y", "'t", "\uff1dy")
    table = [dict(zip(HEADER.split(","), row.split(","), strict=True)) for row in rows[:2]]
    parquet = [json.dumps({**row, "number": 1, "at_ms\n": 0, "at_ms": 9}) for row in table]
    assert reading("\n".join(parquet)).names == ("'=y", "x")


def test_a_document_is_a_game_by_its_scores() -> None:
    played = reading("\n".join(map(json.dumps, [document(), document("no_answer")])))
    assert (played.names, [list(game.ranks) for game in played.games]) == (("x", "y"), [[0.0, -1.0]])
    assert played.times is not None
    assert played.times.tolist() == [5.0], "seconds"
    assert played.notes == ("1 match without a result is left out",)


@pytest.mark.parametrize(
    "broken", [{"fixture": {}}, {"fixture": None}, {"record": {"outcome": []}}, {"record": 7}]
)
def test_a_document_that_no_export_holds_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(
        DataError,
        match=r"line 1(, column fixture.seats.\*.player: empty|: there is no column record.outcome.void)",
    ):
        reading(json.dumps(document(**broken)))


def test_a_line_without_its_match_is_refused() -> None:
    with pytest.raises(DataError, match="line 2, column number: empty"):
        reading(HEADER + ",1,duel,t,done,1,x,1.0,,,,0,9000\n")
