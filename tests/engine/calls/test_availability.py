"""Players that are not always there: their matches wait, hold up nobody, and go on when they are back."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import house, ledger_of, play, play_stopping_at, statuses, write_arena
from tests.engine.clients import Cast
from tests.engine.run.test_waits import Clock, clock, sound

from peerage.arena import open_arena
from peerage.engine.calls.availability import DAY_MS, Availability, spent_today
from peerage.engine.run.runner import Runner
from peerage.ledger import amend
from peerage.ledger.topics.uptimes import HOUR_MS, Uptime, Use
from peerage.ledger.topics.uptimes import TOPIC as UPTIMES
from peerage.ledger.topics.waits import TOPIC, read_wait
from peerage.players.prices import price_of
from peerage.playing.requirements import refuse_unpriced, too_expensive
from peerage.settings import ArenaError, SettingsError, load
from peerage.settings.players.hours import closed_until, read_hours
from peerage.views.match.under_way import out_of_hours
from peerage.views.stats.report import stats

__all__ = ["clock"]

# The virtual clock begins at 22:13:20 UTC on Tuesday, 14 November 2023.
BEGAN_MS = 1_700_000_000_000
AWAY = "23:00-5:00, weekends"


def asked_at(folder: Path, player: str) -> list[int]:
    """When a player replied."""
    ledger = ledger_of(folder)
    try:
        return [one.at_ms or 0 for one in ledger.exchanges(1) if one.player == player and one.reply]
    finally:
        ledger.close()


def hands(folder: Path, lineup: list[dict[str, Any]]) -> None:
    """An arena of a game of one call a seat."""
    write_arena(folder, lineup, game="./hands.py", rules={}, engine={"concurrency": 8})
    (folder / "hands.py").write_text((Path(__file__).parents[1] / "hands.py").read_text("utf-8"), "utf-8")


def players(**more: Any) -> list[dict[str, Any]]:
    return [*house(6), {"name": "owl", "model": "house:0.6", **more}]


@pytest.mark.parametrize("now", [{}, {"available": "0:00-23:00"}], ids=["taken away", "others"])
def test_changed_hours_hold_for_matches_that_wait_already(
    tmp_path: Path, clock: Clock, now: dict[str, str]
) -> None:
    hands(tmp_path, players(available="3:00-4:00"))
    assert play(tmp_path, 40).waiting
    clock.passes(0.1)
    hands(tmp_path, players(**now))
    assert play(tmp_path, 40).reason == "limit"
    assert asked_at(tmp_path, "owl")[0] < BEGAN_MS + HOUR_MS
    sound(tmp_path)


def test_a_larger_daily_budget_holds_for_matches_that_wait_already(tmp_path: Path, clock: Clock) -> None:
    price = {"input": 0.0, "output": 50_000.0}
    hands(tmp_path, players(price=price, daily_budget=6.0))
    cast = Cast(lambda call, attempt: None, lambda: 20.0)
    assert play(tmp_path, 30, clients=cast).waiting
    clock.passes(0.1)
    assert play(tmp_path, 30, clients=cast).waiting
    clock.passes(0.1)
    hands(tmp_path, players(price=price, daily_budget=600.0))
    assert play(tmp_path, 30, clients=cast).reason == "limit"
    assert max(asked_at(tmp_path, "owl")) < BEGAN_MS + HOUR_MS
    sound(tmp_path)


def test_a_match_whose_player_is_out_of_hours_waits_and_holds_up_nobody(tmp_path: Path, clock: Clock) -> None:
    hours = read_hours(AWAY)
    hands(tmp_path, players(available=AWAY))
    shown: list[tuple[str, int | None]] = []

    async def look(runner: Runner) -> None:
        while True:
            await asyncio.sleep(60)
            shown.extend((one.why, one.until_ms) for one in runner.progress().waiting)

    report = play(tmp_path, 40, beside=look)
    assert (report.reason, report.decided, report.waiting) == ("limit", 40, ())
    opens = closed_until(hours, BEGAN_MS)
    assert set(shown) == {("out of hours", opens)}
    assert opens is not None
    asked = asked_at(tmp_path, "owl")
    assert asked
    assert min(asked) >= opens, "nobody asks it before"
    assert min(asked_at(tmp_path, "p0")) < opens, "the others play meanwhile"
    ledger = ledger_of(tmp_path)
    left = {one.match for row in ledger.amendments(TOPIC) for one in (read_wait(row.body),)}
    failures = list(ledger.exchanges(1, unanswered=True))
    order = [row.number for row in ledger.records()]
    ledger.close()
    assert left
    assert order != sorted(order)
    assert not failures, "what waits for its hours is not asked, so nothing of it fails"
    sound(tmp_path)


def test_nothing_is_played_without_whom_a_run_is_to_place(tmp_path: Path, clock: Clock) -> None:
    hands(tmp_path, players(available="3:00-4:00"))
    settings = tmp_path / "arena.yaml"
    stated = settings.read_text("utf-8").replace("  window: 24", "  window: 24\n  policy: adaptive")
    settings.write_text(f"{stated}until: owl placed\n", "utf-8")
    report = play(tmp_path, 400)
    assert report.reason == "waiting"
    assert report.decided < 60
    clock.passes(5.5)
    assert play(tmp_path, 60).decided == 60
    sound(tmp_path)


def test_a_run_that_finds_nobody_else_ends_and_says_until_when(tmp_path: Path, clock: Clock) -> None:
    hands(tmp_path, players(available="3:00-4:00"))
    report = play(tmp_path, 40)
    assert report.reason == "waiting"
    opens = closed_until(read_hours("3:00-4:00"), BEGAN_MS)
    assert {(one.player, one.why, one.until_ms) for one in report.waiting} == {("owl", "out of hours", opens)}
    with open_arena(tmp_path) as arena:
        assert out_of_hours(arena.ledger, BEGAN_MS) == [("owl", opens)]
        assert out_of_hours(arena.ledger, opens or 0) == []
    clock.passes(5.5)
    assert play(tmp_path, 40).reason == "limit"
    sound(tmp_path)


def test_no_call_leaves_after_the_last_hour(tmp_path: Path, clock: Clock) -> None:
    """Calls that are on their way when the hours end come back; what has not left waits for the next day."""
    available = "22:00-22:15"
    hands(tmp_path, players(available=available, concurrency=1))
    cast = Cast(lambda call, attempt: None, lambda: 50.0)
    report = play(tmp_path, 30, clients=cast)
    assert report.reason == "waiting"
    assert report.waiting
    closes = BEGAN_MS + 100_000
    assert closed_until(read_hours(available), closes - 1) is None
    assert closed_until(read_hours(available), closes)
    asked = asked_at(tmp_path, "owl")
    assert asked
    assert max(asked) <= closes + 50_000
    sound(tmp_path)


@pytest.mark.parametrize("stopped", [0, 1])
def test_a_day_costs_no_more_than_its_money(tmp_path: Path, clock: Clock, stopped: int) -> None:
    """Also over runs that are killed, and with calls that cost less than their worst."""
    price = {"input": 0.0, "output": 50_000.0}
    hands(tmp_path, players(price=price, daily_budget=6.0))
    cast = Cast(lambda call, attempt: None, lambda: 20.0)
    for runs in range(1, 13):
        if stopped and runs < 4:
            report = play_stopping_at(tmp_path, 30, 50, cast)
        else:
            report = play(tmp_path, 30, clients=cast)
        if report.reason == "limit":
            break
        clock.passes(7.9 if not stopped or runs > 3 else 0.05)
    assert report.reason == "limit"
    ledger = ledger_of(tmp_path)
    days: Counter[int] = Counter()
    for one in ledger.exchanges(1):
        if one.player == "owl" and one.at_ms is not None:
            days[one.at_ms // DAY_MS] += one.cost_nano or 0
        elif one.player == "owl" and one.failure is not None:
            days[one.failure.at_ms // DAY_MS] += one.lost_nano or 0
    whys = {one.why for row in ledger.amendments(TOPIC) for one in (read_wait(row.body),) if one.why}
    ledger.close()
    assert len(days) > 1, days
    assert max(days.values()) <= 6 * 10**9
    assert max(days.values()) > 0.75 * 10**9, "what calls do not cost is there for others"
    assert whys == {"its day's $6 are spent"}
    sound(tmp_path)


def test_a_daily_budget_that_pays_for_no_call_is_refused_before_match_1(tmp_path: Path) -> None:
    write_arena(tmp_path, players(price={"input": 0.0, "output": 50_000.0}, daily_budget=0.001))
    with pytest.raises(ArenaError, match=r"owl: one call may cost up to \$100, and its `daily_budget` is"):
        play(tmp_path, 12)
    assert statuses(tmp_path) == []
    enough = load(write_arena(tmp_path, players(price={"input": 0.0, "output": 50_000.0}, daily_budget=100)))
    assert too_expensive(enough, {one.name: price_of(one, date(2026, 1, 1)) for one in enough.players}) == []


def test_a_call_that_no_day_can_pay_for_has_no_reply_and_says_why(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is longer than usual."""
    monkeypatch.setattr("peerage.playing.players.refuse_too_expensive", lambda settings, prices: None)
    write_arena(tmp_path, players(price={"input": 0.0, "output": 50_000.0}, daily_budget=0.001))
    play(tmp_path, 12)
    with open_arena(tmp_path) as arena:
        rows = {row.player: row for row in stats(arena.reading).players}
        whys = {
            view.reason.partition(":")[0]
            for number in range(1, 13)
            for view in arena.match(number).exchanges
            if view.player == "owl"
        }
    assert (rows["owl"].cost_usd or 0.0, rows["owl"].calls > 0) == (0.0, True)
    assert whys == {"daily_budget"}


def test_a_price_must_be_known_for_a_daily_budget(tmp_path: Path) -> None:
    settings = load(write_arena(tmp_path, players(daily_budget=1.0)))
    refuse_unpriced(settings, ["p0"])
    with pytest.raises(ArenaError, match="no price is known for owl"):
        refuse_unpriced(settings, ["owl", "p0"])


def test_hours_are_read_with_the_settings(tmp_path: Path) -> None:
    write_arena(tmp_path, players(available="at night"))
    with pytest.raises(SettingsError, match="'at' is neither hours nor days nor a time zone") as error:
        load(tmp_path)
    assert "players" in str(error.value)
    assert "available" in str(error.value)


def test_others_play_on_where_it_is_a_judge_of_all(tmp_path: Path, clock: Clock) -> None:
    """In a small arena somebody who is away holds a role in every match; pairing then does without it."""
    write_arena(tmp_path, [*house(5), {"name": "owl", "model": "house:0.6", "available": "3:00-4:00"}])
    report = play(tmp_path, 70)
    assert report.decided >= 20
    assert 8 <= len(report.waiting) <= 8 + 24 + 8
    assert report.decided + len(report.waiting) == 70


def test_what_waits_beyond_the_limit_does_not_keep_a_run_from_its_end(tmp_path: Path, clock: Clock) -> None:
    hands(tmp_path, players(available="3:00-4:00"))
    first = play(tmp_path, 40)
    assert first.reason == "waiting"
    below = min(one.match for one in first.waiting) - 1
    assert play(tmp_path, below).reason == "limit"


def test_a_day_counts_what_a_host_was_held_for_beside_calls(tmp_path: Path, clock: Clock) -> None:
    hands(tmp_path, players(daily_budget=1.0, price={"input": 1, "output": 1}))
    uptime = Uptime("box", BEGAN_MS - HOUR_MS, BEGAN_MS, "done", 600_000_000, used={"owl": Use()})
    with open_arena(tmp_path) as arena:
        with arena.ledger.runner():
            amend(arena.ledger, UPTIMES, [uptime], BEGAN_MS)
        lineup = arena.settings.players
        assert spent_today(arena.ledger, lineup, BEGAN_MS) == {"owl": 600_000_000}
        assert not spent_today(arena.ledger, lineup, BEGAN_MS + DAY_MS)
    there = Availability(lineup, lambda: BEGAN_MS, {"owl": 600_000_000})
    assert there.away("owl") is None
    there.charge({"owl": 400_000_000, "p0": 1})
    assert there.away("owl") is not None
