"""The challenge exchange's pool in arenas that run: from the second match on, and beside other games."""

from pathlib import Path
from typing import Any

import msgspec
from tests.engine.arenas import ledger_of, play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app

RULES: dict[str, Any] = {"proof": "blind", "attempts": 1}


def drawn(folder: Path) -> list[dict[str, Any]]:
    ledger = ledger_of(folder)
    found = [msgspec.json.decode(row.body)["drawn"] for row in ledger.fixtures(1)]
    ledger.close()
    return found


def test_the_second_match_of_a_small_arena_draws_on_the_first(tmp_path: Path) -> None:
    """Without a word on the window; and flagged challenges do not come back."""
    folder = write_arena(tmp_path, 4, game="challenge-exchange", rules=RULES, pairing={})
    play(folder, 8)
    given = drawn(folder)
    assert given[0]["challenges"] == []
    assert given[1]["challenges"] != []
    ledger = ledger_of(folder)
    assert ledger.meta()["lag"] == "1"
    ledger.close()
    listed = CliRunner().invoke(app, ["challenges", "list", "--format", "json", "--dir", str(folder)])
    rows = msgspec.json.decode(listed.stdout)
    flagged = {row["challenge_id"] for row in rows if row["state"] == "flagged"}
    assert flagged, "eight matches of four players show some to be trivial"
    play(folder, 9)
    assert not flagged & {one["challenge_id"] for one in drawn(folder)[8]["challenges"]}


def test_a_stated_window_and_that_of_other_games_stay(tmp_path: Path) -> None:
    stated = write_arena(tmp_path / "a", 4, game="challenge-exchange", rules=RULES, pairing={"window": 3})
    other = write_arena(tmp_path / "b", 4, pairing={})
    for folder, lag in ((stated, "3"), (other, "4")):
        play(folder, 1)
        ledger = ledger_of(folder)
        assert ledger.meta()["lag"] == lag
        ledger.close()


def test_a_pool_learns_from_its_own_game_alone(tmp_path: Path) -> None:
    """Facts of a tournament are of another shape: neither a run nor a list may stumble over them."""
    small = {"preset": "development", "seats": 3, "questions": 1}
    folder = write_arena(tmp_path, 4, game="last-arena", rules=small, pairing={"window": 1})
    play(folder, 1)
    write_arena(tmp_path, 4, game="challenge-exchange", rules=RULES, pairing={"window": 1})
    play(folder, 4)
    assert drawn(folder)[-1]["challenges"] != []
    for game, rules in (("challenge-exchange", RULES), ("last-arena", small)):
        write_arena(tmp_path, 4, game=game, rules=rules, pairing={"window": 1})
        listed = CliRunner().invoke(app, ["challenges", "list", "--dir", str(folder)])
        assert listed.exit_code == 0, listed.output
