"""One call from intent to reply: retries, backoff, deadlines, clients that break their contract."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import head, ledger_of, patience, play, statuses, write_arena
from tests.engine.clients import Cast, says

from peerage.engine.calls.pauses import backoff
from peerage.game.protocol import Reply
from peerage.ledger.forms.codec import read_reply
from peerage.players.client import Answer, Call, PlayerError

FAST = {"concurrency": 4, "retries": 2, "match_deadline_s": 3600.0}


def replies(folder: Path) -> dict[tuple[int, str], tuple[int, Reply]]:
    """(match, key) → (attempt, reply) of everything answered."""
    ledger = ledger_of(folder)
    try:
        return {
            (row.match, row.key): (row.attempt, read_reply(row))
            for row in ledger.exchanges(1)
            if row.reply is not None
        }
    finally:
        ledger.close()


def failures(folder: Path) -> list[Any]:
    ledger = ledger_of(folder)
    try:
        return [lost for lost in ledger.exchanges(1, unanswered=True) if lost.failure]
    finally:
        ledger.close()


@pytest.fixture(autouse=True)
def hasty() -> Iterator[None]:
    with patience(GIVE_UP_AFTER=6):
        yield


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    return write_arena(tmp_path, 6, engine=FAST)


def test_backoff_doubles_with_seeded_jitter_up_to_its_limit_and_never_undercuts_retry_after() -> None:
    waits: dict[str, list[float]] = {}
    for seed in ("a", "b", "a"):
        waits[seed] = []
        for tries in range(1, 9):
            wait = backoff(seed, tries, 0.0)
            waits[seed].append(wait)
            whole = min(60.0, 2.0 ** (tries - 1))
            assert whole / 2 <= wait <= whole
            assert backoff(seed, tries, 333.0) == 333.0
            assert backoff(seed, tries, 0.0) == wait
    assert waits["a"] != waits["b"]


def test_a_transient_failure_is_tried_again_and_leaves_no_trace_in_the_record(tmp_path: Path) -> None:
    plain = write_arena(tmp_path / "plain", 6, engine=FAST)
    play(plain, 6)
    rough = write_arena(tmp_path / "rough", 6, engine=FAST)
    cast = Cast(lambda call, attempt: PlayerError("429") if attempt < 2 else None)
    report = play(rough, 6, clients=cast)
    assert head(rough) == head(plain)
    assert set(cast.attempts.values()) == {3}
    assert {attempt for attempt, _ in replies(rough).values()} == {3}
    assert len(failures(rough)) == 2 * report.calls
    assert {lost.lost_nano for lost in failures(rough)} == {0}


@pytest.mark.parametrize(("kind", "attempts"), [("transient", 3), ("request", 1)])
def test_a_contestant_that_cannot_be_reached_voids_its_match(arena: Path, kind: Any, attempts: int) -> None:
    cast = Cast(lambda call, _: PlayerError("down", kind=kind) if call.key == "answer/A" else None)
    play(arena, 3, clients=cast)
    assert set(statuses(arena)) == {"no_answer"}
    found = [(attempt, reply) for (_, key), (attempt, reply) in replies(arena).items() if key == "answer/A"]
    assert {(attempt, reply.status, reply.reason) for attempt, reply in found} == {(attempts, "void", "down")}


def test_an_official_that_cannot_be_reached_abstains(arena: Path) -> None:
    play(arena, 6, clients=Cast(lambda call, _: PlayerError("down") if "judge/1/" in call.key else None))
    assert set(statuses(arena)) == {"done"}
    ledger = ledger_of(arena)
    for row in ledger.records():
        assert b'"vote":"abstain"' in row.body
    ledger.close()


@pytest.mark.parametrize(
    "wrong",
    [
        ZeroDivisionError("oops"),
        OSError("broken pipe"),
        asyncio.CancelledError(),
        "a bare string",
        Answer(None, 0.1),  # type: ignore[arg-type]
        Answer(b"bytes", 0.1),  # type: ignore[arg-type]
        Answer("text", None),  # type: ignore[arg-type]
        Answer("text", 0.1, snapshot=None),  # type: ignore[arg-type]
        Answer("text", 0.1, hidden=object()),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_a_client_that_breaks_its_contract_costs_its_own_player_only(arena: Path, wrong: Any) -> None:
    report = play(arena, 6, clients=Cast(lambda call, _: wrong if call.key == "answer/B" else None))
    assert report.settled >= 6
    assert set(statuses(arena)) == {"no_answer"}
    assert {reply.status for (_, key), (_, reply) in replies(arena).items() if key == "answer/A"} == {"ok"}


@pytest.mark.parametrize(
    "odd",
    [
        Answer("text", float("nan"), -5, 2**70),
        Answer("text", 1e300, 3, None),
        Answer("text", -1.0, 3.5, True, cost_usd=float("inf")),  # type: ignore[arg-type]
        Answer("text", 0.1, 1, 1, cost_usd=-1.0),
        Answer("te\ud800xt\0", 0.1, 1, 1, cost_usd=1e300, snapshot="\ud800"),
    ],
    ids=["usage", "usage-missing", "types", "negative", "unstorable"],
)
def test_impossible_accounts_are_unknown(arena: Path, odd: Answer) -> None:
    report = play(arena, 3, clients=Cast(lambda call, _: odd if call.key == "answer/A" else None))
    assert report.reason == "limit"
    for (_, key), (_, reply) in replies(arena).items():
        if key == "answer/A":
            assert reply.status == "ok"
            assert reply.text in ("text", "te\ufffdxt\ufffd")
            for count in (reply.input_tokens, reply.output_tokens):
                assert count is None or 0 <= count < 2**40
            assert reply.latency_ms >= 0
            assert odd.cost_usd is None or reply.cost_nano is None


def test_a_silent_player_times_out_as_possibly_paid_and_is_asked_again(tmp_path: Path) -> None:
    priced = [
        {"model": "house:0.5", "name": f"p{n}", "timeout_s": 30, "price": {"input": 1, "output": 1}}
        for n in range(6)
    ]
    write_arena(tmp_path, priced, engine=FAST)
    slow = [True]

    def seconds() -> float:
        return 1e6 if slow and slow.pop() else 1.0

    report = play(tmp_path, 3, clients=Cast(lambda *_: None, seconds))
    (lost,) = failures(tmp_path)
    assert lost.lost_nano == lost.worst_nano > 0
    assert report.settled == 3
    assert set(statuses(tmp_path)) == {"done"}


def test_retry_after_holds_the_player_back_and_only_that_player(tmp_path: Path) -> None:
    write_arena(tmp_path, 6, engine=FAST)
    first: list[bool] = [True]
    times: list[tuple[float, str]] = []

    def act(call: Call, attempt: int) -> Any:
        now = asyncio.get_running_loop().time()
        times.append((now, "limited" if call.key == "answer/A" else "free"))
        if call.key == "answer/A" and first:
            first.clear()
            return PlayerError("429", retry_after_s=500.0)
        return None

    play(tmp_path, 3, clients=Cast(act))
    again = [when for when, who in times if who == "limited"]
    assert min(when for when in again[1:] if when > again[0]) < 500 or len(again) < 3
    assert max(again) >= 500


@pytest.mark.parametrize("asked", [float("nan"), float("inf"), -5.0, 1e12])
def test_an_absurd_retry_after_does_not_stop_the_arena(tmp_path: Path, asked: float) -> None:
    """The player is out for a day at most, and its matches are void at their deadline, still waiting."""
    write_arena(tmp_path, 6, engine=FAST | {"match_deadline_s": 600})
    limited: list[str] = []
    seen = [0.0]

    def act(call: Call, attempt: int) -> Any:
        if call.key == "answer/A" and not limited:
            limited.append(call.seed)
            return PlayerError("429", retry_after_s=asked)
        return None

    async def watch(_: Any) -> None:
        while True:
            seen[0] = asyncio.get_running_loop().time()
            await asyncio.sleep(10)

    report = play(tmp_path, 3, clients=Cast(act), beside=watch)
    assert report.reason == ("waiting" if asked > 0 else "limit")
    assert report.decided + len(report.waiting) == 3
    assert all(one.until_ms and one.until_ms - one.since_ms <= 86_400_000 for one in report.waiting)
    assert seen[0] <= 4 * 600


@patience(GIVE_UP_AFTER=8, GIVE_UP_FIRST=8)
def test_a_match_past_its_deadline_is_void_even_while_its_calls_only_wait(tmp_path: Path) -> None:
    """One request an hour: the queue alone takes longer than the deadline."""
    slow = [{"model": f"house:0.{n}", "requests_per_minute": 1 / 60} for n in range(2, 8)]
    write_arena(tmp_path, slow, engine=FAST | {"match_deadline_s": 5000})
    moments: list[float] = []

    async def watch(runner: Any) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(60)
            moments.append(loop.time())
            assert runner.progress().matches_in_flight <= 4

    report = play(tmp_path, 8, clients=Cast(lambda *_: None), beside=watch)
    assert report.reason == "no_result"
    assert report.settled == 8
    assert "no_answer" in statuses(tmp_path) or "no_challenge" in statuses(tmp_path)
    reasons = {reply.reason for _, reply in replies(tmp_path).values() if reply.status == "void"}
    assert reasons == {"deadline"}
    assert moments[-1] <= 8 * 5000


def test_replies_beyond_all_limits_are_cut_and_marked(arena: Path) -> None:
    play(arena, 3, clients=Cast(lambda call, _: says("x" * 400_000) if call.key == "answer/A" else None))
    ledger = ledger_of(arena)
    for row in ledger.exchanges(1):
        if row.key == "answer/A" and row.reply is not None:
            assert len(read_reply(row).text) == 262_144
            assert b'"truncated":true' in row.reply
    ledger.close()
    assert set(statuses(arena)) == {"done"}


def test_stop_lets_calls_in_flight_return_and_stop_twice_gives_them_up(tmp_path: Path) -> None:
    for times, left in ((1, 0), (2, 1)):
        folder = write_arena(tmp_path / str(times), 6, engine=FAST)

        async def stop(runner: Any, times: int = times) -> None:
            await asyncio.sleep(10)
            for _ in range(times):
                runner.stop()

        cast = Cast(lambda *_: None, lambda: 7.0)
        report = play(folder, 50, clients=cast, beside=stop)
        assert report.reason == "interrupted"
        ledger = ledger_of(folder)
        assert any(not lost.failure for lost in ledger.exchanges(1, unanswered=True)) == bool(left)
        ledger.close()
        assert all(player.closed for player in cast.players.values())
        again = play(folder, 6, clients=Cast(lambda *_: None))
        assert (again.possibly_paid_twice > 0) == bool(left)
        assert play(folder, 6, clients=cast).possibly_paid_twice == 0


def test_a_client_that_cannot_start_is_told_and_all_are_closed(arena: Path) -> None:
    cast = Cast(lambda *_: None)

    def clients(settings: Any) -> Any:
        player = cast(settings)
        if settings.name == "p3":

            async def fails() -> None:
                raise PlayerError("p3: no such program")

            player.start = fails  # type: ignore[method-assign]
        return player

    with pytest.raises(PlayerError, match="no such program"):
        play(arena, 3, clients=clients)
    assert all(player.closed for player in cast.players.values())
    assert play(arena, 3).settled == 3
