"""What an arena says before its first match, and where it did otherwise, is on record and is shown."""

from __future__ import annotations

import json
import shutil
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage import games
from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.preregistration import differences, plan_of, preregister, stop_of
from peerage.ledger.disclosure import write_redacted
from peerage.ledger.preregistration import (
    Change,
    Deviation,
    Preregistration,
    Stop,
    deviations,
    digest_of,
    preregistration,
    registered_body,
)
from peerage.ledger.secret import arena_secret
from peerage.ledger.store import Amendment, Batch, Summary
from peerage.ledger.verify import verify
from peerage.settings import ArenaError, SettingsError, loads
from peerage.site.reading import Site
from peerage.site.report import report
from peerage.testing.example import GAME

cli = CliRunner()


def command(folder: Path, *words: str, code: int = 0) -> str:
    done = cli.invoke(app, [words[0], "--dir", str(folder), *words[1:]])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def deviating(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An arena registered for 12 matches of seven players, which went on otherwise; and its digest."""
    folder = write_arena(tmp_path_factory.mktemp("registered"))
    digest = json.loads(command(folder, "preregister", "--max-matches", "12", "--format", "json"))["quoted"]
    play(folder, 8)
    players: list[Any] = [*house(7)[:6], {"name": "newcomer", "model": "house:0.8"}]
    write_arena(folder, players, rules={"committee": 2, "judges": 2, "topics": ["bridges"]})
    play(folder, 16)
    return folder, digest


def test_a_registration_stands_before_the_first_match_and_nothing_deviates(tmp_path: Path) -> None:
    folder = write_arena(tmp_path)
    said = command(folder, "preregister", "--max-matches", "6", "--until", "2999-01-01")
    digest = said.splitlines()[0].removeprefix("preregistered: ")
    assert command(folder, "preregister", "--max-matches", "6", "--until", "2999-01-01") == said
    other = command(folder, "preregister", "--max-matches", "7", code=2)
    assert "stop is 7 matches, not 6 matches or the end of 2999-01-01 UTC" in other
    play(folder, 6)
    assert command(folder, "preregister", "--check", digest).splitlines()[0] == said.splitlines()[0]
    with open_arena(folder) as arena:
        found = verify(arena.ledger)
        assert found.ok
        assert found.preregistered.startswith(digest)
        note = (
            f"preregistered before match 1 as {digest}: 7 players, to end at 6 matches or the end of "
            "2999-01-01 UTC; 6 of 6 matches have a result, nothing deviates"
        )
        assert all(note in row.notes for row in arena.leaderboard())
        assert arena.replay().ok


def test_equal_settings_have_one_digest_and_others_another(tmp_path: Path) -> None:
    def digest(name: str, **sections: Any) -> str:
        folder = write_arena(tmp_path / name, **sections)
        made: str = json.loads(command(folder, "preregister", "--max-matches", "5", "--format", "json"))[
            "digest"
        ]
        return made

    first = digest("one")
    assert digest("two", engine={"concurrency": 3}) == first, "what decides no number is not registered"
    assert digest("three", pairing={"window": 24, "width": 60}) != first
    assert digest("four", players=house(6)) != first
    assert digest("five", seed=2) != first, "an arena that draws other tasks"


def test_after_the_first_match_it_is_too_late(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    said = command(tmp_path, "preregister", "--max-matches", "5", code=2)
    assert "matches already, and what is planned after the first one is no preregistration" in said


def test_something_must_end_the_arena(tmp_path: Path) -> None:
    folder = write_arena(tmp_path)
    assert "nothing says when this arena is over" in command(folder, "preregister", code=2)
    assert "over already" in command(folder, "preregister", "--until", "2001-01-01", code=2)
    assert "is no date" in command(folder, "preregister", "--until", "soon", code=2)
    write_arena(folder, budget=10)
    assert "ends at $10.00 in all" in command(folder, "preregister")


def test_what_is_done_otherwise_is_shown_by_name_and_match(deviating: tuple[Path, str]) -> None:
    folder, digest = deviating
    with open_arena(folder) as arena:
        issued = preregistration(arena.ledger)
        assert issued is not None
        (after, changes), *more = issued.differing
        assert not more
        assert {one.in_words for one in changes} == {
            "p6 was withdrawn",
            "newcomer was added",
            "games.duel.rules.judges is 2, not 3",
            'games.duel.rules.topics is ["bridges"], not ["bridges","tides","bees"]',
        }
        decided = [row.number for row in arena.ledger.summaries() if row.status == "done"]
        due = [f"from match {after + 1} on: {one.in_words}" for one in changes]
        due.append(f"from match {decided[12]} on: beyond the registered 12 matches")
        notes = arena.leaderboard()[0].notes
        assert [note for note in notes if note.startswith("deviates")] == sorted(
            [f"deviates from what was registered, {one}" for one in due],
            key=lambda one: (int(one.split()[7]), one.partition(": ")[2]),
        )
        assert verify(arena.ledger).ok
    said = command(folder, "preregister", "--check", digest)
    assert [line for line in said.splitlines() if line.startswith("deviates")]
    listed = json.loads(command(folder, "preregister", "--check", digest, "--format", "json"))
    assert listed["ok"]
    assert {"what": "p6 was withdrawn", "first": after + 1, "last": None} in listed["deviations"]


def test_site_and_report_say_it_first(deviating: tuple[Path, str]) -> None:
    from peerage.site.pages import page

    site = Site.open(deviating[0])
    try:
        index, sent = page(site, "index.html"), report(site)
        assert index is not None
        for text in (index.body.decode(), sent.decode()):
            before, _, _ = text.partition("<table")
            assert f"Preregistered before match 1 as {deviating[1]}" in before
            assert "p6 was withdrawn" in before
            assert "withdrawn after match" in text
    finally:
        site.close()


def test_a_copy_for_others_has_the_same_digest(deviating: tuple[Path, str], tmp_path: Path) -> None:
    folder, digest = deviating
    with open_arena(folder) as arena:
        write_redacted(arena.ledger, tmp_path / "arena.db")
        shown = preregistration(arena.ledger)
    with open_arena(write_arena(tmp_path), create=False) as copy:
        assert verify(copy.ledger).preregistered.startswith(digest)
        assert preregistration(copy.ledger) == shown
    command(tmp_path, "preregister", "--check", digest)
    for words in (["preregister", "--max-matches", "5"], ["run", "--max-matches", "99"]):
        assert "is a copy without the arena's secret" in command(tmp_path, *words, code=2)
    said = command(tmp_path, "preregister", "--check", "0" * 32, code=1)
    assert f"this ledger was registered as {digest}, not as {'0' * 32}" in said


def test_the_owners_prompts_are_registered_and_not_shown(tmp_path: Path) -> None:
    secret = "How many bees fit into a bottle?"
    folder = write_arena(tmp_path, rules={"judges": 3, "prompts": [secret]})
    before = command(folder, "preregister", "--max-matches", "5")
    with open_arena(folder) as arena:
        write_redacted(arena.ledger, tmp_path / "copy.db")
        plan = preregistration(arena.ledger)
        assert plan is not None
        assert secret in str(plan.plan.settings), "the owner's own ledger holds them, sealed"
        write_arena(folder, rules={"judges": 3, "prompts": ["Another?"]})
    assert secret.encode() not in (tmp_path / "copy.db").read_bytes()
    assert secret not in before
    play(folder, 1)
    with open_arena(folder) as arena:
        notes = str(arena.leaderboard()[0].notes)
        assert "games.duel.rules.prompts.texts is others, not those registered" in notes
        assert secret not in notes


def test_a_registration_that_was_changed_or_moved_is_found(
    deviating: tuple[Path, str], tmp_path: Path
) -> None:
    shutil.copytree(deviating[0], tmp_path, dirs_exist_ok=True)
    with sqlite3.connect(tmp_path / "arena.db") as db:
        db.execute(
            "UPDATE entries SET body = CAST(replace(body, '\"matches\":12', '\"matches\":16') AS BLOB)"
        )
    with open_arena(tmp_path, create=False) as arena:
        problems = [str(one) for one in verify(arena.ledger).problems]
    assert any("about preregistration, is not as it was logged" in one for one in problems), problems
    assert "is not as it was logged" in command(tmp_path, "preregister", "--check", deviating[1], code=1)


def test_one_written_after_the_first_match_does_not_count(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2)
    with open_arena(tmp_path) as arena, arena.ledger.runner():
        plan = plan_of(arena.settings, stop_of(arena.settings, Stop(5)), "")
        arena.ledger.write(Batch(amendments=[Amendment("preregistration", registered_body(plan), 1)]))
        found = verify(arena.ledger)
        assert "stands after the first match: it does not count" in str(arena.leaderboard()[0].notes)
    assert found.preregistered == ""
    assert any("after its first match" in str(one) for one in found.problems)


def test_the_last_day_of_the_calendar_and_too_many_matches(tmp_path: Path) -> None:
    folder = write_arena(tmp_path)
    assert "--max-matches" in command(folder, "preregister", "--max-matches", "9" * 30, code=2)
    command(folder, "preregister", "--until", "9999-12-31")
    with open_arena(folder) as arena:
        assert "the end of 9999-12-31 UTC" in str(arena.leaderboard()[0].notes)


def test_what_was_said_of_another_arena_does_not_count(tmp_path: Path) -> None:
    command(write_arena(tmp_path / "one"), "preregister", "--max-matches", "5")
    with open_arena(tmp_path / "one") as arena:
        [registered] = arena.ledger.amendments("preregistration")
    with open_arena(write_arena(tmp_path / "other", seed=2)) as arena, arena.ledger.runner():
        arena_secret(arena.ledger, 2)
        arena.ledger.write(Batch(amendments=[registered]))
    digest = digest_of(registered.body)
    assert "is another arena's" in command(tmp_path / "other", "preregister", "--check", digest, code=1)
    with open_arena(tmp_path / "other") as arena:
        assert any("is another arena's" in str(one) for one in verify(arena.ledger).problems)


def test_another_command_line_of_an_agent_is_a_deviation_and_stays_unseen() -> None:
    text = "players: [house:0.5, {name: agent, command: [./agent, --key, s3cret]}]\nbudget: 2"
    settings = loads(text)
    before = plan_of(settings, stop_of(settings, Stop()), "key")
    assert b"s3cret" not in registered_body(before)
    other = loads(text.replace("s3cret", "better"))
    for key, due in (("key", settings), ("other", settings), ("key", other)):
        now = msgspec.json.decode(registered_body(plan_of(due, stop_of(due, Stop()), key)))["plan"]
        same = key == "key" and due is settings
        told = "players.agent.address is others, not those registered"
        assert [one.in_words for one in differences(before, now)] == ([] if same else [told])


def test_a_game_in_a_file_is_registered_with_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    def registered(release: str) -> Any:
        monkeypatch.setitem(games._FILES, GAME.name, games.GameFile(GAME, release))
        settings = loads(f"game: {GAME.name}\nplayers: [house:0.5, house:0.6]")
        return plan_of(settings, Stop(5), "")

    before, now = registered("auction.py@sha256:51ab"), registered("auction.py@sha256:70cd")
    assert [one.in_words for one in differences(before, msgspec.to_builtins(now))] == [
        f"games.{GAME.name}.release is auction.py@sha256:70cd, not auction.py@sha256:51ab"
    ]


def test_a_game_that_comes_in_unsaid_is_told() -> None:
    settings = loads("players: [house:0.5, house:0.6]\nbudget: 2")
    plan = plan_of(settings, stop_of(settings, Stop()), "")
    names = ("house:0.5", "house:0.6")
    match = Summary(3, 1, "werewolf", "", names, "done", (1, 0), (0, 0), 0, (), (), 0)
    found = Preregistration("0" * 64, 1, 0, plan)
    assert list(deviations(found, [match])) == [Deviation("werewolf is played and was not registered", 3)]
    added = (2, (Change("games.werewolf", None, {"weight": 1}),))
    said = Preregistration("0" * 64, 1, 0, plan, False, (added,))
    assert [one.what for one in deviations(said, [match])] == [
        'games.werewolf is {"weight":1}, and was not stated'
    ]


def test_the_same_settings_again_end_a_deviation_and_time_and_money_count() -> None:
    settings = loads("players: [house:0.5, house:0.6]\nbudget: 0.5\nrules: {judges: 2}")
    plan = plan_of(settings, stop_of(settings, Stop(None, date(2026, 1, 2))), "")
    wider = Change("pairing.width", 50, 60)
    found = Preregistration("0" * 64, 1, 0, plan, False, ((4, (wider,)), (9, ())))
    day = 86_400_000
    first = 1_767_225_600_000  # 2026-01-01

    def match(number: int, at_ms: int, spent: float) -> Summary:
        names = ("house:0.5", "house:0.6" if number < 8 else "guest")
        return Summary(
            number, 1, "duel", "", names, "done", (1, 0), (0, 0), round(spent * 1e9), (), (), at_ms
        )

    matches = [match(at, first + (at > 6) * 2 * day, 0.09) for at in range(1, 11)]
    assert list(deviations(found, matches)) == [
        Deviation("pairing.width is 60, not 50", 5, 9),
        Deviation("beyond the registered $0.50", 6),
        Deviation("after 2026-01-02, when it was to end", 7),
        Deviation("guest plays and was not registered", 8),
    ]
    assert Deviation("x", 5, 9).in_words == "matches 5 to 9: x"


def test_differences_are_told_by_path() -> None:
    text = "players: [house:0.5, house:0.6]\nbudget: 2"
    settings = loads(text)
    before = plan_of(settings, stop_of(settings, Stop()), "")
    other = loads(text.replace("house:0.6", "{model: house:0.6, family: new}").replace("2", "3"))
    now = msgspec.json.decode(registered_body(plan_of(other, stop_of(other, Stop()), "")))["plan"]
    assert [one.in_words for one in differences(before, now)] == [
        "players.house:0.6.family is new, not house:0.6",
        "budget.arena is 3.0, not 2.0",
    ]
    with pytest.raises(SettingsError, match="nothing says when"):
        stop_of(loads("players: [house:0.5, house:0.6]"), Stop())


def test_a_second_plan_is_refused(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)) as arena, arena.ledger.runner():
        made = preregister(arena.ledger, arena.settings, Stop(5), 1)
        assert preregister(arena.ledger, arena.settings, Stop(5), 2) == made
        with pytest.raises(ArenaError, match="It stays as it is"):
            preregister(arena.ledger, arena.settings, Stop(6), 2)
