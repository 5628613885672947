"""Runs that end when something is known: at the same match, whatever the timing and the interruptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import head, ledger_of, paced, play, play_stopping_at, write_arena

from peerage.arena import open_arena
from peerage.engine.run import rounds as pairing
from peerage.scheduling.goal import GoalState, Known
from peerage.views.ending import ending

GOAL = "p0 placed to 1500"
"""Wide, so that it is known soon."""
MOST = 100


def test_a_run_ends_at_the_same_match_at_any_concurrency_and_interruption(tmp_path: Path) -> None:
    alone, crowded, broken = tmp_path / "alone", tmp_path / "crowded", tmp_path / "broken"
    pairing = {"window": 6}
    report = play(write_arena(alone, 4, pairing=pairing, until=GOAL, engine={"concurrency": 1}), MOST)
    assert report.reason == "known"
    assert report.until is not None
    assert report.until.reached
    assert report.settled < MOST
    crowd = play(
        write_arena(crowded, 4, pairing=pairing, until=GOAL, engine={"concurrency": 64}),
        MOST,
        clients=paced(3),
    )
    assert (crowd.reason, crowd.settled, crowd.until) == ("known", report.settled, report.until)
    assert head(crowded) == head(alone)
    write_arena(broken, 4, pairing=pairing, until=GOAL)
    for run in range(100):
        if play_stopping_at(broken, MOST, 12.0, paced(run)).reason == "known":
            break
    assert run > 0
    assert head(broken) == head(alone)
    again = play(alone, MOST)
    assert (again.reason, again.played) == ("known", 0)
    # A budget that ends with the goal is no reason to go on.
    with open_arena(alone) as arena:
        said = [
            *ending(
                arena.ledger,
                replace(again, reason="budget", note="nothing is left"),
                [],
                arena.settings.until,
                str,
            )
        ]
    assert said[0].startswith("done: ")
    assert not any("to go on" in line for line in said)


def test_the_limit_ends_a_run_whose_goal_is_not_reached(tmp_path: Path) -> None:
    report = play(write_arena(tmp_path, 4, until="order known"), 8)
    assert report.reason == "limit"
    assert report.until is not None
    assert not report.until.reached
    assert report.until.matches <= 8
    assert "the order is not proven yet of" in report.until.in_words


class TakenBack(Known):
    """Known from match 20 on, no longer from match 24 on, and again from match 60 on."""

    @property
    def state(self) -> GoalState:
        matches = len(self._decided)
        return GoalState((int(20 <= matches < 24 or matches >= 60), 1), matches, "")


def test_matches_in_flight_may_take_back_what_was_known_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Known", TakenBack)
    arena = {"players": 5, "until": "best known", "pairing": {"window": 12}}
    report = play(write_arena(tmp_path / "whole", **arena), 140)
    assert report.reason == "known"
    assert 60 <= report.settled < 80
    ledger = ledger_of(tmp_path / "whole")
    rounds = [(row.number, msgspec.json.decode(row.body)["snapshot"]) for row in ledger.fixtures()]
    ledger.close()
    first, again = [number for number, paired_after in rounds if number == paired_after + 1]
    assert first == 1
    assert 24 <= again < 48
    write_arena(tmp_path / "broken", **arena)
    for run in range(100):
        if play_stopping_at(tmp_path / "broken", 140, 12.0, paced(run)).reason == "known":
            break
    assert run > 1
    assert head(tmp_path / "broken") == head(tmp_path / "whole")
