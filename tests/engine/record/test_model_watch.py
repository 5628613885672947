"""A provider that names another model is on record, told, and recomputed; it is no other player."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import head, ledger_of, play, play_stopping_at, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.record import model_watch
from peerage.engine.record.model_watch import MOST, WINDOW, Change, Watch, changes, in_words
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient
from peerage.settings import PlayerSettings
from peerage.standings.verify import verify

OLD, NEW = "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"
WATCHED = "p1"


class Served:
    """A house player whose provider names what `model` says of the call and of how many came before."""

    def __init__(self, settings: PlayerSettings, model: Any) -> None:
        self._house = HouseClient(settings)
        self._model = model
        self.calls = 0

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        self.calls += 1
        return msgspec.structs.replace(self._house.answer_now(call), snapshot=self._model(call, self.calls))


def served(model: Any) -> Any:
    def client(settings: PlayerSettings) -> Client:
        return Served(settings, model if settings.name == WATCHED else lambda call, count: "")

    return client


def on_record(folder: Path) -> list[Change]:
    with closing(ledger_of(folder)) as ledger:
        return [change for mine in changes(ledger).values() for change in mine]


def changed_over(folder: Path) -> Path:
    """An arena whose provider served another model after forty calls."""
    write_arena(folder, 7, engine={"concurrency": 1})
    play(folder, 30, clients=served(lambda call, count: OLD if count <= 40 else NEW))
    return folder


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_over(tmp_path_factory.mktemp("served"))


def test_the_match_from_which_on_a_provider_names_another_model_is_on_record(
    arena: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = on_record(arena)
    assert (first.player, first.model, first.before) == (WATCHED, OLD, "")
    assert (second.player, second.model, second.before) == (WATCHED, NEW, OLD)
    with closing(ledger_of(arena)) as ledger:
        named: dict[int, set[str]] = {}
        for exchange in ledger.exchanges(1):
            model = json.loads(exchange.reply or b"{}").get("model")
            if exchange.player == WATCHED and model:
                named.setdefault(exchange.match, set()).add(model)
        assert first.match == min(named)
        assert second.match == min(number for number, models in named.items() if NEW in models)
        assert verify(ledger).ok
        logged = [entry.about for entry in ledger.log()]
        (_, at) = [row.position - 1 for row in ledger.amendments("models")]
        assert logged.index(f"record {second.match}") < at < logged.index(f"record {second.match + 1}")
    changed_over(tmp_path)
    assert f"{WATCHED}: from match {second.match} on the provider names {NEW} (before: {OLD})" in caplog.text


def test_readers_of_the_rating_are_told(arena: Path) -> None:
    change = on_record(arena)[-1]
    said = f"from match {change.match} on the provider names {NEW} (before: {OLD})"
    with open_arena(arena) as found:
        notes = {row.player: row.notes for row in found.leaderboard()}
    assert said in notes[WATCHED]
    assert not any("provider" in note for name, mine in notes.items() if name != WATCHED for note in mine)
    listed = CliRunner().invoke(app, ["players", "--dir", str(arena)]).output
    assert f"{WATCHED}: {said}" in " ".join(listed.split())


def test_it_stays_one_player_with_one_rating(arena: Path) -> None:
    with open_arena(arena) as found:
        names = [row.player for row in found.leaderboard()]
        assert names.count(WATCHED) == 1
        assert len(names) == 7


def test_replay_finds_changes_that_do_not_follow(arena: Path, tmp_path: Path) -> None:
    with open_arena(arena) as found:
        assert found.replay().ok
    (tmp_path / "arena.db").write_bytes((arena / "arena.db").read_bytes())
    (tmp_path / "arena.yaml").write_bytes((arena / "arena.yaml").read_bytes())
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db, db:
        newest = "SELECT max(position) FROM entries WHERE topic = 'models'"
        db.execute(f"DELETE FROM entries WHERE position = ({newest})")
    with open_arena(tmp_path) as found:
        (difference,) = found.replay().differences
    assert (difference.about, difference.recorded) == (f"models of {WATCHED}", "no entry")


def test_entries_are_the_same_at_any_concurrency_and_however_often_a_run_is_stopped(tmp_path: Path) -> None:
    def mixed(call: Call, count: int) -> str:
        return (OLD, NEW, "gpt-4o-2025")[int(call.seed[:8], 16) % 3]

    entries, heads = [], []
    for concurrency in (1, 8):
        folder = write_arena(tmp_path / f"at-{concurrency}", 7, engine={"concurrency": concurrency})
        play(folder, 40, clients=served(mixed))
        entries.append(on_record(folder))
        heads.append(head(folder))
    folder = write_arena(tmp_path / "stopped", 7, engine={"concurrency": 8})
    for _ in range(3):
        play_stopping_at(folder, 40, 0.0, served(mixed))
        play(folder, head(folder)[0] + 7, clients=served(mixed))
    play(folder, 40, clients=served(mixed))
    assert len(entries[0]) == 3, "in a mixture each is named once"
    assert entries[1] == entries[0] == on_record(folder)
    assert heads[1] == heads[0] == head(folder)


def test_a_run_goes_on_with_what_the_last_matches_of_the_one_before_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_watch, "WINDOW", 8)
    write_arena(tmp_path, 6)
    for matches, model in ((6, OLD), (12, NEW), (30, OLD)):
        play(tmp_path, matches, clients=served(lambda call, count, model=model: model))
    assert [one.model for one in on_record(tmp_path)] == [OLD, NEW, OLD]
    assert on_record(tmp_path)[2].match > 16, "the newest was named until match 10 or so"
    with open_arena(tmp_path) as arena:
        assert arena.replay().ok


def test_a_model_that_is_back_is_told_once_the_newest_was_gone_for_a_while() -> None:
    watch = Watch()
    served = {1: "x", 10: "y", 11: "x", 12: "y"} | dict.fromkeys(range(13, 200), "x")
    found = [
        change for number, model in served.items() for change in watch.see(number, number, {"p": {model}})
    ]
    assert [(one.match, one.model, one.before) for one in found] == [
        (1, "x", ""),
        (10, "y", "x"),
        (12 + WINDOW, "x", "y"),
    ]
    assert in_words({"p": found}, "p") == [f"{found[-1].in_words}, after 1 change before"]
    assert in_words({"p": found[:1]}, "p") == []


def test_an_agent_that_names_another_model_each_time_does_not_fill_the_ledger() -> None:
    watch = Watch()
    for number in range(1, 500):
        watch.see(number, number, {"p": {f"model {number}", f"other {number}"}})
    assert len(watch.changes["p"]) == MOST
