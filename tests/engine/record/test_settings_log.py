"""The settings of match 1 and every later change of them are on record, and are listed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage import games
from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.record.settings_log import log_settings
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.topics.settings_log import settings_changes, statements
from peerage.settings import loads
from peerage.standings.verify import verify
from peerage.testing.example import GAME

pytestmark = pytest.mark.usefixtures("plain_bodies")

cli = CliRunner()


def command(folder: Path, *words: str, code: int = 0) -> str:
    done = cli.invoke(app, [words[0], "--dir", str(folder), *words[1:]])
    assert done.exit_code == code, done.output
    return done.output


def in_words(folder: Path) -> list[str]:
    with open_arena(folder, create=False) as arena:
        return [change.in_words for change in settings_changes(arena.ledger)]


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena whose rules, players and one price changed after some matches."""
    folder = write_arena(tmp_path_factory.mktemp("changed"))
    play(folder, 8)
    newcomer = {"name": "newcomer", "model": "house:0.8", "price": {"input": 1, "output": 2}}
    write_arena(folder, [*house(7)[:6], newcomer], rules={"committee": 2, "judges": 2, "topics": ["bridges"]})
    play(folder, 16)
    newcomer["price"] = {"input": 1, "output": 3}
    write_arena(folder, [*house(7)[:6], newcomer], rules={"committee": 2, "judges": 2, "topics": ["bridges"]})
    play(folder, 18)
    return folder


def test_every_change_after_match_1_is_listed_with_its_match(changed: Path) -> None:
    with open_arena(changed) as arena:
        first, second = statements(arena.ledger)
        assert first.after_match == 0
        assert first.settings["games"]["duel"]["rules"]["judges"] == 3
        after = second.after_match
    *listed, price = in_words(changed)
    assert listed == [
        f"after match {after}: newcomer was added",
        f"after match {after}: p6 was withdrawn",
        f"after match {after}: games.duel.rules.judges is 2, not 3",
        f'after match {after}: games.duel.rules.topics is ["bridges"], not ["bridges","tides","bees"]',
    ]
    assert price.endswith(": players.newcomer.price.output is 3.0, not 2.0")
    shown = command(changed, "verify")
    assert [line for line in shown.splitlines() if line.startswith("settings changed")] == [
        f"settings changed {line}" for line in (*listed, price)
    ]
    found = msgspec.json.decode(command(changed, "verify", "--format", "json"))
    assert {"after_match": after, "what": "players.p6", "was": "p6", "now": None} in found["changes"]


def test_the_page_of_the_ledger_lists_them(changed: Path) -> None:
    from peerage.site.pages.router import page
    from peerage.site.reading import Site

    site = Site.open(changed)
    try:
        shown = page(site, "ledger.html")
        assert shown is not None
        _, _, below = shown.body.decode().partition("<h2>What was changed</h2>")
        assert "games.duel.rules.judges is 2, not 3" in below
    finally:
        site.close()


def test_runs_with_the_same_settings_write_nothing_more(tmp_path: Path) -> None:
    for matches in (2, 4):
        play(write_arena(tmp_path, engine={"concurrency": 3 + matches}), matches)
    with open_arena(tmp_path) as arena:
        assert len(statements(arena.ledger)) == 1
        assert not settings_changes(arena.ledger)


def test_a_checkpoint_before_match_1_opens_the_ledger(tmp_path: Path) -> None:
    folder, key = write_arena(tmp_path / "arena"), tmp_path / "key"
    command(folder, "checkpoint", "--key", str(key), "--new-key")
    command(folder, "checkpoint", "--key", str(key))
    with open_arena(folder) as arena:
        assert {"arena", "players", "settings"} <= set(arena.ledger.topics())
        assert arena.ledger.heads() == (0, 0)
        size = len(list(arena.ledger.log()))
    command(folder, "checkpoint", "--key", str(key))
    play(folder, 3)
    assert "extends" in command(folder, "verify")
    with open_arena(folder) as arena:
        assert arena.replay().ok
        assert len(statements(arena.ledger)) == 1
        assert size < len(list(arena.ledger.log()))
    write_arena(folder, house(7)[:6])
    play(folder, 5)
    assert any("p6 was withdrawn" in line for line in in_words(folder))


def test_a_checkpoint_of_settings_that_cannot_be_played_opens_nothing(tmp_path: Path) -> None:
    folder, key = write_arena(tmp_path / "arena", 3), tmp_path / "key"
    command(folder, "checkpoint", "--key", str(key), "--new-key")
    assert "too few for 'duel'" in command(folder, "checkpoint", "--key", str(key), code=2)
    with open_arena(folder) as arena:
        assert not arena.ledger.topics()


def test_a_copy_for_others_lists_the_same(changed: Path, tmp_path: Path) -> None:
    with open_arena(changed) as arena:
        write_redacted(arena.ledger, tmp_path / "arena.db")
    write_arena(tmp_path)
    assert in_words(tmp_path) == in_words(changed)


def test_the_owners_tasks_are_not_in_it(tmp_path: Path) -> None:
    secret = "How many bees fit into a bottle?"
    folder = write_arena(tmp_path, game="tasks", rules={"tasks": [secret]})
    with open_arena(folder) as arena, arena.ledger.runner():
        log_settings(arena.ledger, arena.settings, "key", 1)
        [entry] = arena.ledger.amendments("settings")
        assert secret.encode() not in entry.body
        write_arena(folder, game="tasks", rules={"tasks": ["Another?"]})
        log_settings(arena.ledger, loads((folder / "arena.yaml").read_text()), "key", 2)
        [change] = settings_changes(arena.ledger)
    assert change.what == "games.tasks.rules.tasks.digest"


def test_an_entry_that_was_changed_is_found_and_one_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    for old, new, due in (
        ('"judges":3', '"judges":4', "about settings, is not as it was logged"),
        ('{"after_match"', '["after_match"', "an entry about settings cannot be read"),
    ):
        with sqlite3.connect(tmp_path / "arena.db") as db:
            db.execute("UPDATE entries SET body = CAST(replace(body, ?, ?) AS BLOB)", (old, new))
        db.close()
        with open_arena(tmp_path, create=False) as arena:
            problems = [str(each) for each in verify(arena.ledger).problems]
        assert any(due in each for each in problems), problems


def test_a_game_in_a_file_is_logged_with_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"game: {GAME.name}\nplayers: [house:0.5, house:0.6]"
    with open_arena(write_arena(tmp_path)) as arena, arena.ledger.runner():
        for release in ("auction.py@sha256:51ab", "auction.py@sha256:70cd"):
            monkeypatch.setitem(games._FILES, GAME.name, games.GameFile(GAME, release))
            settings: Any = loads(text)
            log_settings(arena.ledger, settings, "key", 1)
        [change] = settings_changes(arena.ledger)
    assert (change.what, change.now) == (f"games.{GAME.name}.release", "auction.py@sha256:70cd")
