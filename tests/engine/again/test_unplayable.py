"""Another release goes on: what it cannot play ends by a stated rule, said before."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from tests.engine.arenas import ledger_of, paced, play, play_stopping_at, statuses, write_arena
from typer.testing import CliRunner

import peerage
from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.games import GAMES, release_of
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.standings.verify import verify

THIS, NEXT = f"peerage=={peerage.__version__}", "peerage==99.0.0"
DUEL = GAMES["duel"].version
cli = CliRunner()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena of duels that was stopped with matches under way."""
    folder = write_arena(tmp_path_factory.mktemp("stopped"), 7)
    play_stopping_at(folder, 40, 40.0, paced())
    with closing(ledger_of(folder)) as ledger:
        issued, recorded = ledger.heads()
        assert 3 <= recorded < issued
    return folder


@pytest.fixture
def arena(stopped: Path, tmp_path: Path) -> Path:
    return copytree(stopped, tmp_path / "arena")


def upgraded(patch: pytest.MonkeyPatch, version: int = DUEL + 1) -> None:
    """Make this program another release, with another version of the duel."""
    newer = replace(GAMES["duel"], version=version)
    older = GAMES["color-obfuscation"]
    patch.setattr("peerage.games._own", lambda name: newer if name == "duel" else older)
    patch.setattr("peerage.games.__version__", "99.0.0")


def releases(folder: Path) -> list[tuple[int, str]]:
    with closing(ledger_of(folder)) as ledger:
        texts = by_hex(ledger.texts())
        return [
            (one.version, one.release) for one in (read_fixture(row.body, texts) for row in ledger.fixtures())
        ]


def test_a_fixture_names_the_release_and_the_version_that_play_it(stopped: Path) -> None:
    assert set(releases(stopped)) == {(DUEL, THIS)}


def test_matches_of_another_version_end_without_a_result(
    arena: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(ledger_of(arena)) as ledger:
        issued, recorded = ledger.heads()
    ended = range(recorded + 1, issued + 1)
    upgraded(monkeypatch)
    play(arena, recorded + 8)
    numbers = f"{len(ended)} ({recorded + 1} to {issued})"
    assert f"unfinished matches of duel version {DUEL}: {numbers}" in caplog.text
    assert statuses(arena)[recorded:issued] == [f"not playable here: duel version {DUEL}"] * len(ended)
    assert set(releases(arena)[issued:]) == {(DUEL + 1, NEXT)}
    play(arena, recorded + 12)
    with closing(ledger_of(arena)) as ledger:
        assert verify(ledger).ok


def test_the_command_line_tells_what_ends_before_it_plays(
    arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgraded(monkeypatch)
    said = cli.invoke(app, ["run", "--dir", str(arena), "--max-matches", "20"]).output
    told = "They end without a result: what was asked and spent stays on record"
    assert said.index(f"this release plays version {DUEL + 1}. {told}") < said.index("Strength: mean 1500")
    assert said.count(f"unfinished matches of duel version {DUEL}") == 1
    assert f"To finish them first, run {THIS} once more" in said


def test_after_disclosure_a_run_is_refused_before_its_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_arena(tmp_path, 7, seed=None, pairing={"window": 1})
    play(folder, 3)
    assert cli.invoke(app, ["disclose", "--yes", "--dir", str(folder)]).exit_code == 0
    text = (folder / "arena.yaml").read_text()
    paid = "- {model: 'openai:gpt-4o', price: {input: 1, output: 1}, key_env: SOME_KEY}"
    (folder / "arena.yaml").write_text(text.replace("players:\n", f"players:\n{paid}\n"))
    monkeypatch.setenv("SOME_KEY", "k")
    done = cli.invoke(app, ["run", "--max-matches", "9", "--dir", str(folder)])
    assert done.exit_code == 2, done.output
    assert done.stdout == "", "no plan is shown"
    assert "its secret was disclosed, which ended the arena" in done.stderr


def test_another_game_ends_the_matches_of_the_first(arena: Path) -> None:
    text = (arena / "arena.yaml").read_text()
    (arena / "arena.yaml").write_text(
        text.partition("rules:")[0]
        + "game: color-obfuscation\nrating: {k_factor: 16, propagation_width: 50}\n"
    )
    with open_arena(arena) as found:
        (told,) = found.ready()
    assert "arena.yaml now says game: color-obfuscation" in told
    assert "write game: duel again" in told


def test_replay_names_the_release_that_can_and_goes_on(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(ledger_of(arena)) as ledger:
        issued, recorded = ledger.heads()
    upgraded(monkeypatch)
    newer = play(arena, recorded + 8).settled - issued
    done = cli.invoke(app, ["replay", "--dir", str(arena)])
    assert done.exit_code == 3
    assert done.stdout.startswith(f"nothing differs: {newer} of ")
    assert f"{recorded} matches of duel version {DUEL} (1 to {recorded}). This replays them:" in done.stdout
    assert f"  uvx --from {THIS} peerage replay --dir {arena}\n" in done.stdout
    found = json.loads(cli.invoke(app, ["replay", "--format", "json", "--dir", str(arena)]).stdout)
    assert (found["ok"], found["recomputed"]) == (True, newer)
    assert found["elsewhere"] == [
        {"game": "duel", "version": DUEL, "release": THIS, "matches": recorded, "first": 1, "last": recorded}
    ]


def test_a_game_of_another_package_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dist:
        name, version = "nim-game", "1.3"

    class Entry:
        name, value, dist = "nim", "nim:GAME", Dist

    monkeypatch.setattr("peerage.games._offered", lambda: {"nim": Entry})
    assert release_of("nim") == f"{THIS} nim-game==1.3"
    assert release_of("duel") == THIS
    from peerage.cli.check.ledger import _how

    assert f"uvx --from {THIS} --with nim-game==1.3 peerage replay" in _how(release_of("nim"), "")
