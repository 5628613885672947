"""`peerage run --until "NAME placed"`: a newcomer plays until its place is known or its budget is spent."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.arenas import ledger_of, play, write_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.again.recovery import spent
from peerage.game.match import Fixture
from peerage.ledger.forms.codec import by_hex, read_fixture

NEW = "house:0.83"
PRICED = [
    {"name": f"p{at}", "model": f"house:0.{at + 2}", "price": {"input": 1, "output": 10}} for at in range(6)
]


def peerage(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == code, done.output
    return done.output


def place(folder: Path, *words: str, name: str = NEW, code: int = 0) -> str:
    return peerage("run", "--until", f"{name} placed", "--dir", str(folder), *words, code=code)


def fixtures(folder: Path, first: int) -> list[Fixture]:
    ledger = ledger_of(folder)
    try:
        texts = by_hex(ledger.texts())
        return [read_fixture(row.body, texts) for row in ledger.fixtures(first)]
    finally:
        ledger.close()


def test_a_newcomer_plays_all_matches_and_its_budget_is_kept(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, PRICED, pairing={"window": 8})
    play(folder, 12)
    before = ledger_of(folder)
    had, cost = before.heads()[0], spent(before)
    before.close()
    budget = f"{cost / 1e9 + 0.3:.4f}"
    said = place(folder, "--player", NEW, "--budget", budget, "--yes")
    new = fixtures(folder, had + 1)
    assert new
    assert all(NEW in [seat.player for seat in one.seats] for one in new)
    after = ledger_of(folder)
    paid = spent(after) - cost
    after.close()
    assert 0 < paid <= 300_000_000
    assert f"until {NEW} placed: {NEW} is between place " in said


def test_a_player_of_the_arena_is_placed_by_name_and_so_many_matches(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 5, pairing={"window": 4})
    play(folder, 8)
    had = len(fixtures(folder, 1))
    place(folder, "--matches", "13", name="p2")
    new = fixtures(folder, had + 1)
    assert len(new) >= 5
    assert all("p2" in [seat.player for seat in made.seats] for made in new)


def test_the_pool_of_challenges_is_frozen(tmp_path: Path) -> None:
    rules = {"proof": "blind", "attempts": 1}
    folder = write_arena(tmp_path, 6, game="challenge-exchange", rules=rules, pairing={})
    play(folder, 6)
    had = fixtures(folder, 1)
    place(folder, "--player", NEW, "--matches", "9")
    new = fixtures(folder, len(had) + 1)
    assert [len(one.seats) for one in new[:3]] == [4, 4, 4]
    for one in new:
        assert NEW in [seat.player for seat in one.seats]
        assert one.settings["write"] == 0
        assert len(one.drawn["challenges"]) == 4


def test_there_must_be_others_to_be_placed_among(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 5)
    assert "no match is on record" in place(folder, "--player", NEW, code=2)
    write_arena(tmp_path, 5, pairing={"policy": "adaptive"}, until="p2 placed")
    assert "no match is on record" in peerage("run", "--dir", str(folder), code=2)


def test_with_an_empty_pool_it_says_what_fills_it_and_plays_nothing(tmp_path: Path) -> None:
    folder = tmp_path
    folder.joinpath("arena.yaml").write_text(
        "game: challenge-exchange\nplayers: [house:0.9, house:0.6, house:0.3]\n", "utf-8"
    )
    peerage("run", "--matches", "1", "--yes", "--dir", str(folder))
    there = peerage("challenges", "list", "--format", "json", "--dir", str(folder))
    for one in json.loads(there):
        peerage("challenges", "retire", one["challenge_id"], "--dir", str(folder))
    had = len(fixtures(folder, 1))
    told = " ".join(place(folder, "--player", NEW, "--yes", code=2).split())
    assert "challenge-exchange has no challenge in its pool that may come up" in told
    assert "`peerage run` without `NAME placed` plays the arena, which writes some" in told
    assert len(fixtures(folder, 1)) == had
