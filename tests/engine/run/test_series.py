"""Series on record: one ledger at any concurrency and interruption, shown when they have ended."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from tests.engine.arenas import (
    asked_again,
    head,
    house,
    ledger_of,
    paced,
    play,
    play_stopping_at,
    write_arena,
)

from peerage.arena import open_arena
from peerage.engine.match.plans import schedulers
from peerage.game.match import Fixture
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.out.export import contestants, documents
from peerage.ledger.topics.series import in_series, matches_of, shown
from peerage.reading.moment import public
from peerage.render.terminal import on
from peerage.scheduling.fixtures import next_round
from peerage.scheduling.standing import History, Standing
from peerage.settings import SettingsError, loads
from peerage.views.match.match import match_view, transcript
from peerage.views.match.under_way import under_way

HANDS = (Path(__file__).parents[1] / "hands.py").read_text("utf-8")
MATCHES = 18


def arena(
    folder: Path, series: str | None = "seats", players: Any = 8, concurrency: int = 8, **rules: Any
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hands.py").write_text(HANDS, "utf-8")
    return write_arena(
        folder,
        house(players) if isinstance(players, int) else players,
        game="./hands.py",
        rules=rules,
        pairing={"window": 12} | ({"series": series} if series else {}),
        engine={"concurrency": concurrency},
    )


def fixtures(ledger: Ledger) -> list[Fixture]:
    texts = by_hex(ledger.texts())
    return [read_fixture(row.body, texts) for row in ledger.fixtures()]


def test_kills_in_the_middle_of_series_leave_no_trace(tmp_path: Path) -> None:
    whole = arena(tmp_path / "whole", concurrency=1, seats=3)
    play(whole, MATCHES)
    inside = 0
    for seed, (concurrency, seconds) in enumerate(((1, 25.0), (8, 4.0), (64, 2.5))):
        folder = tmp_path / f"{concurrency}"
        rng, runs = random.Random(seed), 0
        while True:
            runs += 1
            arena(folder, concurrency=concurrency, seats=3)
            report = play_stopping_at(folder, MATCHES, rng.uniform(0, seconds), paced(100 * seed + runs))
            if report.reason == "limit":
                break
            ledger = ledger_of(folder)
            inside += shown(ledger) < ledger.heads()[1]
            ledger.close()
        assert head(folder) == head(whole)
        assert asked_again(folder) == 0
    assert inside, "some run was interrupted in the middle of a series"
    with open_arena(folder) as opened:
        assert opened.verify().ok
        assert opened.replay().ok
        assert opened.replay().recomputed == MATCHES


def test_others_see_a_ledger_that_ends_before_the_first_open_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(arena(tmp_path, players=4, seats=4), 10)
    ledger = ledger_of(tmp_path)
    issued, done = ledger.heads()
    assert (done, shown(ledger), issued >= 12) == (10, 8, True)
    assert matches_of(ledger, 9) == [9, 10, 11, 12]
    assert {one.series for one in in_series(ledger) if one.number <= 10} == {1, 5, 9}
    words = {one.number: one.drawn["word"] for one in fixtures(ledger)}
    seen = public(ledger)
    exported = msgspec.json.encode([list(documents(seen)), list(contestants(seen))]).decode()
    assert words[8] in exported
    assert words[9] not in exported
    assert [one["match"] for one in documents(seen)] == list(range(1, 9))
    for number in (9, 10, 11):
        view = match_view(ledger, number)
        told = msgspec.json.encode(view).decode()
        seen_by_owner = on(Console(width=200), [transcript(view, requests=True)])
        assert "in the series of matches 9 to 12" in seen_by_owner
        assert "Shown when its series has ended" in seen_by_owner
        assert words[9] not in seen_by_owner
        assert (view.verdict, view.series) == ("shown when its series has ended", (9, 10, 11, 12))
        assert view.status == "under way"
        assert not any([view.exchanges, view.scores, view.seed])
        live = under_way(ledger, number)
        assert live is not None
        assert (live.series, live.sent) == (9, ())
        assert words[9] not in told + str(live)
    with monkeypatch.context() as meanwhile:  # others are folded past it between two looks at the ledger
        meanwhile.setattr("peerage.views.match.match.shown", lambda ledger: 99)
        assert match_view(ledger, 11).drawn == {}
    assert under_way(ledger, 8) is None
    assert match_view(ledger, 8).drawn["word"] == words[8]
    ledger.close()
    play(arena(tmp_path, players=4, seats=4), 12)
    ledger = ledger_of(tmp_path)
    assert shown(ledger) == 12
    assert match_view(ledger, 9).drawn["word"] == words[9]
    assert public(ledger) is ledger
    ledger.close()


def test_an_arena_without_series_writes_what_it_always_wrote(tmp_path: Path) -> None:
    play(arena(tmp_path, None), 6)
    ledger = ledger_of(tmp_path)
    assert all(b'"series"' not in row.body for row in ledger.fixtures())
    assert "series" not in ledger.meta()
    assert shown(ledger) == ledger.heads()[1] == 6
    ledger.close()


@pytest.mark.parametrize(("made", "then"), [(None, "seats"), ("seats", None)])
def test_series_are_fixed_when_the_arena_is_made(tmp_path: Path, made: str | None, then: str | None) -> None:
    play(arena(tmp_path, made), 4)
    with pytest.raises(SettingsError, match=r"pairing\.series in arena\.yaml is not what this arena"):
        play(arena(tmp_path, then), 8)
    assert play(arena(tmp_path, made), 8).settled == 8


def test_a_player_that_may_remember_never_meets_a_task_again(tmp_path: Path) -> None:
    agent = {"name": "elephant", "command": ["true"], "price": {"input": 0, "output": 0}}
    players = [agent, *house(3)]
    with pytest.raises(SettingsError, match="elephant may remember it from one match to the next"):
        play(arena(tmp_path / "seats", players=players), 4)
    with open_arena(arena(tmp_path / "fresh", players=players, shared=False)) as opened:
        assert opened.ready() == []


def test_duels_are_played_in_series(tmp_path: Path) -> None:
    write_arena(tmp_path, 7, pairing={"series": "seats"})
    assert play(tmp_path, 4).settled == 4


def test_the_plan_and_the_budget_count_every_match_of_a_series(tmp_path: Path) -> None:
    players = house(4, price={"input": 1.0, "output": 10.0})
    with open_arena(arena(tmp_path, players=players, seats=4)) as opened:
        plan = opened.plan(8)
        assert {one.calls for one in plan.players} == {8}
    play(tmp_path, 8)
    ledger = ledger_of(tmp_path)
    spent = sum(ledger.spent_by().values()) / 1e9
    ledger.close()
    assert 0 < spent <= plan.worst_usd


@pytest.mark.parametrize(
    ("text", "series"),
    [
        ("", 2),
        ("pairing: {series: none}\n", 0),
        ("pairing: {series: seats}\n", 2),
        ("  - {command: [python, agent.py], name: agent, price: {input: 0, output: 0}}\n", 0),
    ],
)
def test_games_of_cards_meet_in_series_unless_the_arena_says_otherwise(text: str, series: int) -> None:
    """The same cards in each other's seats, where nobody may remember them from one match to the next."""
    listed = "game: openspiel-holdem\nplayers:\n  - house:0.1\n  - house:0.2\n"
    (scheduler,) = schedulers(loads(listed + text), "secret").values()
    standings = [Standing(name, name, 1500.0, 1500.0) for name in ("house:0.1", "house:0.2")]
    made = next_round(scheduler, standings, History(), number=1, round=1, snapshot=0)
    assert len([each for each in made if each.series]) == series
    assert len({each.drawn["seed"] for each in made}) == 1
