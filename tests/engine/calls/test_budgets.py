"""Budgets end to end, with priced house players: never exceeded, used, on record, no loops."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import (
    head,
    house,
    ledger_of,
    paced,
    patience,
    play,
    play_stopping_at,
    spent_by_match,
    statuses,
    total_spent,
    write_arena,
)
from tests.engine.clients import Cast

from peerage.arena import ArenaError, open_arena
from peerage.engine.again.replay import replay
from peerage.engine.record.benches import benched
from peerage.engine.run.report import RunReport
from peerage.engine.run.words import spent
from peerage.game.protocol import REPAIR
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.views.ending import ending

NANO = 10**9
PRICE = {"input": 0.0, "output": 1000.0}
TIGHT = {
    "committee": 1,
    "judges": 1,
    "max_drafts": 1,
    "approval": 0,
    "topics": ["tides"],
    "max_tokens": 60,
}
"""Rules by which a match may cost at most four or five times what it usually does: some 25 cents."""


def priced(count: int = 7) -> list[dict[str, Any]]:
    return house(count, price=PRICE, max_tokens=60)


def arena(
    folder: Path, budget: Any, concurrency: int = 8, players: list[dict[str, Any]] | None = None, **more: Any
) -> Path:
    engine = {"concurrency": concurrency, "retries": 3}
    return write_arena(folder, players or priced(), budget=budget, rules=TIGHT, engine=engine, **more)


def spent_by_player(folder: Path) -> Counter[str]:
    ledger = ledger_of(folder)
    try:
        return Counter(ledger.spent_by())
    finally:
        ledger.close()


def replays(folder: Path) -> bool:
    """Whether all that is on record follows from the replies, with what the budget ended taken as stated."""
    ledger = ledger_of(folder)
    try:
        return not replay(ledger).differences
    finally:
        ledger.close()


@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_an_arena_stops_before_its_budget(tmp_path: Path, concurrency: int) -> None:
    report = play(arena(tmp_path, 6.0, concurrency), None, clients=paced(concurrency))
    assert report.reason == "budget"
    assert re.match(r"\$0\.\d+ left; (one more match costs some|the next call of match \d+ may)", report.note)
    assert 4 * NANO < total_spent(tmp_path) <= 6 * NANO
    assert (report.spent_nano, report.possibly_nano) == (total_spent(tmp_path), 0)
    assert report.settled >= 10
    assert set(statuses(tmp_path)) <= {"done", "arena_budget"}
    assert replays(tmp_path)


@pytest.mark.parametrize("concurrency", [4, 64])
def test_a_budget_that_is_never_reached_changes_nothing(tmp_path: Path, concurrency: int) -> None:
    play(arena(tmp_path / "free", None, concurrency), 20, clients=paced(1))
    for name, limits in {"tight": 14.0, "all": {"arena": 20.0, "match": 3.0, "player": 8.0}}.items():
        play(arena(tmp_path / name, limits, concurrency), 20, clients=paced(concurrency))
        assert head(tmp_path / name) == head(tmp_path / "free")


def test_a_larger_budget_resumes_and_comes_to_the_same_as_one_run(tmp_path: Path) -> None:
    play(arena(tmp_path / "whole", 6.0), None)
    played = []
    for budget in (2.0, 4.5, 6.0):
        played.append(play(arena(tmp_path / "steps", budget, 16), None).settled)
        assert total_spent(tmp_path / "steps") <= budget * NANO
    assert 0 < played[0] < played[1] < played[2]
    assert head(tmp_path / "steps") == head(tmp_path / "whole")
    again = play(tmp_path / "steps", None)
    assert (again.reason, again.played) == ("budget", 0)


def test_a_budget_too_small_for_one_match_plays_none(tmp_path: Path) -> None:
    report = play(arena(tmp_path, 0.1), None)
    assert (report.reason, report.settled, total_spent(tmp_path)) == ("budget", 0, 0)
    with open_arena(tmp_path) as opened:
        assert "to go on, raise `budget` in arena.yaml, or say" in "".join(
            ending(opened.ledger, report, [], opened.settings.until, str)
        )


@pytest.mark.parametrize("limits", [{"arena": 1.0}, {"match": 1.0}, {"player": 1.0}])
def test_a_player_without_a_price_is_refused_under_any_budget(
    tmp_path: Path, limits: dict[str, float]
) -> None:
    players = [*priced(6), {"name": "unpriced", "model": "python:some.module:function"}]
    arena(tmp_path, limits, players=players)

    def clients(settings: Any) -> Any:
        return PacedClient(HouseClient(settings.model_copy(update={"model": "house:0.5"})))

    with pytest.raises(ArenaError, match="no price is known for unpriced"):
        play(tmp_path, 3, clients=clients)
    arena(tmp_path, None, players=players)
    assert play(tmp_path, 3, clients=clients).settled == 3


def test_matches_over_the_match_budget_are_void_and_the_arena_ends(tmp_path: Path) -> None:
    report = play(arena(tmp_path, {"match": 0.1}), None)
    assert report.reason == "budget"
    assert "could be paid for (match_budget)" in report.note
    assert set(statuses(tmp_path)) == {"match_budget"}
    with open_arena(tmp_path) as opened:
        assert "to go on, raise `budget.match` in arena.yaml, or lower" in "".join(
            ending(opened.ledger, report, [], opened.settings.until, str)
        )
    settled = report.settled
    assert 0 < settled < 100
    again = play(tmp_path, None)
    assert (again.reason, again.played, total_spent(tmp_path)) == ("budget", 0, 0)
    arena(tmp_path, {"match": 2})
    assert play(tmp_path, 5).settled == settled + 5
    assert statuses(tmp_path)[settled:] == ["done"] * 5


def test_only_matches_of_a_dear_player_are_over_the_match_budget(tmp_path: Path) -> None:
    players = priced()
    players[0]["price"] = {"input": 0, "output": 100_000}
    report = play(arena(tmp_path, {"match": 2.0}, players=players, pairing={"window": 3}), 40)
    assert report.decided == 40
    found = Counter(statuses(tmp_path))
    assert found["match_budget"] > 0
    assert found["done"] > 0
    assert spent_by_player(tmp_path)["p0"] == 0
    assert max(spent_by_match(tmp_path).values()) <= 2 * NANO


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_spent_player_leaves_the_pool_and_when_too_few_are_left_the_arena_ends(
    tmp_path: Path, concurrency: int
) -> None:
    def settings(folder: Path, concurrency: int, dollars: float = 1.5) -> Path:
        return arena(folder, {"player": dollars}, concurrency, priced(8), pairing={"window": 8})

    settings(tmp_path, concurrency)
    report = play(tmp_path, None, clients=paced(concurrency))
    assert report.reason == "budget"
    found = Counter(status.partition(":")[0] for status in statuses(tmp_path))
    assert set(found) <= {"done", "player_budget", "inconclusive", "no_answer", "no_challenge"}
    assert found["done"] > 10
    assert found["player_budget"] > 0
    assert max(spent_by_player(tmp_path).values()) <= 1.5 * NANO
    assert play(tmp_path, None).played == 0

    assert replays(tmp_path)
    interrupted = settings(tmp_path / "interrupted", 4)
    rng = random.Random(concurrency)
    for run in range(300):
        settings(interrupted, rng.choice([1, 4, 64]))
        stopped = play_stopping_at(interrupted, 10_000, rng.uniform(3, 20), paced(run), times=1)
        assert max(spent_by_player(interrupted).values()) <= 1.5 * NANO
        if stopped.reason == "budget":
            break
    assert run > 2
    assert replays(interrupted)
    for limit in (3, 4, 13, 14, 30, None):
        stepwise = play(settings(tmp_path / "steps", 16), limit)
    assert stepwise.reason == "budget"
    more = play(settings(tmp_path, 8, 3.0), None)
    assert more.settled > report.settled
    assert "done" in statuses(tmp_path)[report.settled :]
    assert max(spent_by_player(tmp_path).values()) <= 3 * NANO


def test_the_others_play_on_when_one_player_has_spent_its_budget(tmp_path: Path) -> None:
    players = priced(8)
    players[0]["price"] = {"input": 0, "output": 20_000}
    arena(tmp_path, {"player": 9.0}, players=players, pairing={"window": 8})
    assert play(tmp_path, 60).decided == 60
    found = statuses(tmp_path)
    assert "player_budget: p0" in found
    assert set(found[30:]) == {"done"}
    ledger = ledger_of(tmp_path)
    for summary in ledger.summaries(31):
        assert "p0" not in summary.players
    ledger.close()
    assert 3 * NANO < spent_by_player(tmp_path)["p0"] <= 9 * NANO


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_players_budget_far_below_the_worst_case_of_a_match_is_used_and_kept(
    tmp_path: Path, concurrency: int
) -> None:
    def settings(folder: Path) -> Path:
        return arena(folder, {"player": 1.0}, concurrency, priced(8), pairing={"window": 8})

    assert play(settings(tmp_path / "whole"), None).reason == "budget"
    assert 0.6 * NANO < max(spent_by_player(tmp_path / "whole").values()) <= NANO
    found = Counter(status.partition(":")[0] for status in statuses(tmp_path / "whole"))
    assert found["done"] > 6
    for run in range(100):
        stopped = play_stopping_at(settings(tmp_path / "parts"), 10_000, 12.0, paced(run), times=1)
        if stopped.reason == "budget":
            break
    assert run > 2
    assert 0.6 * NANO < max(spent_by_player(tmp_path / "parts").values()) <= NANO


BUDGETS = {"arena": 7.0, "match": 1.05, "player": 2.5}


def within(folder: Path) -> bool:
    """Whether nothing has cost more than BUDGETS allow, by the ledger alone."""
    return (
        total_spent(folder) <= BUDGETS["arena"] * NANO
        and max(spent_by_match(folder).values(), default=0) <= BUDGETS["match"] * NANO
        and max(spent_by_player(folder).values(), default=0) <= BUDGETS["player"] * NANO
    )


@pytest.mark.parametrize("concurrency", [1, 16])
def test_failed_attempts_that_may_have_been_paid_count_and_never_break_a_budget(
    tmp_path: Path, concurrency: int
) -> None:
    rng = random.Random(5)
    said = {"committee": '{"vote": "approve"}', "judge": "no verdict"}

    def act(call: Call, _: int) -> Any:
        if rng.random() < 0.6:
            return PlayerError("dropped", maybe_paid=True)
        return Answer(said.get(call.role, "text"), 0.1)  # without usage: at its worst

    cast = Cast(act)
    report = play(arena(tmp_path, BUDGETS, concurrency), 200, clients=cast)
    assert within(tmp_path)
    assert report.spent_nano == total_spent(tmp_path) > 2 * NANO
    assert sum(cast.attempts.values()) > report.calls


def test_calls_given_up_stay_reserved_and_runs_after_them_keep_the_budget(tmp_path: Path) -> None:
    rng = random.Random(6)
    given_up = 0
    for run in range(100):
        arena(tmp_path, BUDGETS, rng.choice([1, 8, 64]))
        report = play_stopping_at(tmp_path, 200, rng.uniform(0, 10), paced(run))
        given_up += report.possibly_paid_twice
        assert within(tmp_path)
        if report.reason != "interrupted":
            break
    assert report.reason == "budget"
    assert given_up > 0


@patience(GIVE_UP_FIRST=500)
def test_a_reply_without_usage_counts_at_its_worst(tmp_path: Path) -> None:
    """A provider that reports no tokens has an unknown cost: on record as unknown, in the budget in full."""
    cast = Cast(lambda call, _: Answer("tie", 0.1))
    report = play(arena(tmp_path, 3.0), None, clients=cast)
    assert report.reason == "budget"
    assert 2 * NANO < total_spent(tmp_path) <= 3 * NANO
    assert report.spent_nano == total_spent(tmp_path)
    ledger = ledger_of(tmp_path)
    assert all(b"cost_nano" not in row.reply for row in ledger.exchanges(1) if row.reply)
    ledger.close()


class Charging(HouseClient):
    """A house player whose every reply is said to have cost `dollars`."""

    dollars = 2.0

    def answer_now(self, call: Call) -> Answer:
        return msgspec.structs.replace(super().answer_now(call), cost_usd=self.dollars)


@pytest.mark.parametrize("budget", [{"arena": 5.0}, {"player": 3.0}, {"match": 5.0}])
def test_a_player_billed_more_than_its_worst_case_is_asked_nothing_more(
    tmp_path: Path, budget: dict[str, float], caplog: pytest.LogCaptureFixture
) -> None:
    """What was in flight cannot be helped; the amount is said, and the others play on."""
    players = priced(8)
    arena(tmp_path, budget, players=players, pairing={"window": 8})
    replies: Counter[str] = Counter()

    class Greedy(HouseClient):
        def answer_now(self, call: Call) -> Answer:
            replies["p0"] += 1
            return msgspec.structs.replace(super().answer_now(call), cost_usd=0.09)

    def clients(player: PlayerSettings) -> PacedClient:
        return PacedClient(Greedy(player) if player.name == "p0" else HouseClient(player))

    report = play(tmp_path, 20, clients=clients)
    assert 1 <= replies["p0"] <= 8, "what was in flight at the first of them"
    assert report.overrun == {"p0": replies["p0"] * round(0.03 * NANO)}
    assert "p0 was billed $0.09 for a call of at most $0.06" in caplog.text
    assert "player_budget: p0" not in statuses(tmp_path), "it has no limit that could be raised"
    assert report.benched == {
        "p0": "billed $0.09 for a call of at most $0.06; does its provider ignore max_tokens?"
    }
    ledger = ledger_of(tmp_path)
    bench = benched(ledger)["p0"]
    fixtures = [read_fixture(row.body, by_hex(ledger.texts())) for row in ledger.fixtures()]
    later = [fixture for fixture in fixtures if fixture.round >= bench.from_round]
    ledger.close()
    assert later
    assert all("p0" not in {seat.player for seat in one.all_seats()} for one in later)
    assert statuses(tmp_path).count("done") > 3
    asked = replies["p0"]
    more = {limit: 4 * dollars for limit, dollars in budget.items()}
    arena(tmp_path, more, players=players, pairing={"window": 8})
    assert play(tmp_path, 24, clients=clients).played
    assert replies["p0"] == asked, "it is not tried again while nothing has changed"
    assert "p0: billed $0.09 for a call of at most $0.06" in caplog.text
    assert "Still benched: state the `price` that it bills" in caplog.text
    players[0] = {**players[0], "price": {name: 2 * dollars for name, dollars in PRICE.items()}}
    arena(tmp_path, more, players=players, pairing={"window": 8})
    assert play(tmp_path, 32, clients=clients).benched == {}
    assert replies["p0"] > asked
    assert replays(tmp_path)


def test_when_everybody_is_billed_too_much_the_run_ends(tmp_path: Path) -> None:
    arena(tmp_path, {"arena": 5.0}, players=priced(5), concurrency=4)
    report = play(tmp_path, 30, clients=lambda player: PacedClient(Charging(player)))
    assert report.reason == "players"
    assert report.calls <= 30
    assert sum(report.overrun.values()) == report.spent_nano - round(report.spent_nano * 0.06 / 2)


@pytest.mark.parametrize("dollars", [9e8, 1e300, 10_001.0])
def test_absurd_costs_are_unknown_and_the_ledger_stays_usable(tmp_path: Path, dollars: float) -> None:
    """Sums of some ten such replies would overflow what a database adds up, and no run could begin again."""
    arena(tmp_path, None, players=house(5))

    class Absurd(Charging):
        pass

    Absurd.dollars = dollars
    play(tmp_path, 3, clients=lambda player: PacedClient(Absurd(player)))
    assert play(tmp_path, 4).settled == 4
    assert total_spent(tmp_path) < NANO


USUAL = {"input": 1.0, "output": 10.0}


def usual(folder: Path, budget: Any, concurrency: int, **more: Any) -> Path:
    """The duel as it comes, at a usual price: a match costs a cent or two, at its worst several dollars."""
    return write_arena(
        folder,
        house(7, price=USUAL),
        budget=budget,
        engine={"concurrency": concurrency, "retries": 3},
        **more,
    )


@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_a_budget_far_below_the_worst_case_of_a_match_is_used_and_kept(
    tmp_path: Path, concurrency: int
) -> None:
    report = play(usual(tmp_path, 0.5, concurrency), None, clients=paced(concurrency))
    assert report.reason == "budget"
    assert report.settled > 5
    assert 0.4 * NANO < total_spent(tmp_path) <= 0.5 * NANO
    assert play(usual(tmp_path, 0.8, 8), None).settled > report.settled
    assert 0.7 * NANO < total_spent(tmp_path) <= 0.8 * NANO
    assert replays(tmp_path)


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_match_keeps_its_budget_call_by_call(tmp_path: Path, concurrency: int) -> None:
    report = play(usual(tmp_path, {"match": 0.12}, concurrency), 40, clients=paced(concurrency))
    assert report.decided == 40
    assert max(spent_by_match(tmp_path).values()) <= 0.12 * NANO


@pytest.mark.parametrize("concurrency", [1, 16])
def test_the_budget_is_kept_through_failures_that_may_have_been_paid(
    tmp_path: Path, concurrency: int
) -> None:
    rng = random.Random(7)

    def act(call: Call, _: int) -> Any:
        if rng.random() < 0.4:
            return PlayerError("dropped", maybe_paid=True)
        return Answer("text", 0.1)

    budget = {"arena": 1.0, "match": 0.3}
    report = play(usual(tmp_path, budget, concurrency), 200, clients=Cast(act))
    assert report.calls > 0
    assert total_spent(tmp_path) <= NANO
    assert max(spent_by_match(tmp_path).values()) <= 0.3 * NANO
    assert report.spent_nano == total_spent(tmp_path)


@pytest.mark.parametrize("concurrency", [1, 16])
def test_budgets_of_matches_and_players_hold_together(tmp_path: Path, concurrency: int) -> None:
    folder = write_arena(
        tmp_path,
        house(5, price={"input": 60, "output": 3}),
        game="color-obfuscation",
        rules={},
        budget={"match": 1.7, "player": 0.8},
        engine={"concurrency": concurrency},
    )
    play(folder, 14, clients=paced(concurrency))
    assert 0 < max(spent_by_player(folder).values()) <= 0.8 * NANO
    assert max(spent_by_match(folder).values()) <= 1.7 * NANO
    assert replays(folder)


class Stammering(HouseClient):
    """A house player whose judges and committee members must be asked twice, each reply at its worst cost."""

    def answer_now(self, call: Call) -> Answer:
        answer = msgspec.structs.replace(super().answer_now(call), cost_usd=0.06)
        if call.role in ("author", "contestant") or call.key.endswith(REPAIR):
            return answer
        return msgspec.structs.replace(answer, text="hm")


def void_replies(folder: Path) -> set[str]:
    """Why replies on record are void."""
    ledger = ledger_of(folder)
    found = {read_reply(row).reason for row in ledger.exchanges(1) if row.reply is not None}
    ledger.close()
    return found


def stammering(latency_seed: int) -> Callable[[PlayerSettings], PacedClient]:
    rng = random.Random(latency_seed)
    return lambda player: PacedClient(Stammering(player), lambda *_: rng.lognormvariate(0.0, 0.8))


@pytest.mark.parametrize("budget", [{"match": 1.201}, {"match": 1.3, "arena": 9.0}])
def test_calls_that_a_match_cannot_pay_for_are_void_on_record(
    tmp_path: Path, budget: dict[str, float]
) -> None:
    """Five judges must repair ten replies, and the budget covers some of these repairs."""
    rules = {**TIGHT, "judges": 5, "order": "both", "early_stop": False}
    folder = write_arena(tmp_path, priced(7), rules=rules, budget=budget)
    for seconds in (2, 5):
        play_stopping_at(folder, 8, seconds, stammering(seconds), times=1)
    play(folder, 8, clients=stammering(1))
    assert "match_budget" in void_replies(folder), "the money must run out for this to say anything"
    assert max(spent_by_match(folder).values()) <= budget["match"] * NANO
    assert replays(folder)


def lost_to_the_budget(folder: Path) -> int:
    """What was spent on matches that the budget ended, or stopped before their end."""
    ended = {number for number, status in enumerate(statuses(folder), 1) if "budget" not in status}
    return sum(nano for number, nano in spent_by_match(folder).items() if number not in ended)


def steady(call: Call, _: Answer) -> float:
    """Seconds that a reply takes: the same for the same call, in any order of calls."""
    return random.Random(f"{call.seed}/{call.key}").lognormvariate(0.0, 0.8)


@pytest.mark.parametrize("concurrency", [8, 64])
def test_twice_the_expected_cost_costs_no_speed(tmp_path: Path, concurrency: int) -> None:
    """At least 90% of the throughput of an arena without a budget, in virtual time: no clock is asked."""
    took: dict[str, float] = {}

    async def watch(folder: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            took[folder] = asyncio.get_running_loop().time()

    def run(name: str, budget: float | None) -> RunReport:
        folder = usual(tmp_path / name, budget, concurrency)
        clients = {"clients": lambda player: PacedClient(HouseClient(player), steady)}
        return play(folder, 48, beside=lambda _: watch(name), **clients)

    free = run("free", None)
    bound = run("bound", 2 * free.spent_nano / NANO)
    assert (bound.settled, bound.spent_nano) == (free.settled, free.spent_nano)
    assert bound.settled >= 48
    assert head(tmp_path / "bound") == head(tmp_path / "free")
    assert took["free"] / took["bound"] >= 0.9


@pytest.mark.parametrize(("concurrency", "times"), [(8, 6), (64, 1)])
def test_hardly_any_money_goes_into_matches_that_the_budget_ends(
    tmp_path: Path, concurrency: int, times: int
) -> None:
    """At most 5%, also where replies are six times as long as the plan says, and a replay says the same; of
    other pairs, and of other rules, `test_budget_end` tells."""

    class Wordy(HouseClient):
        def answer_now(self, call: Call) -> Answer:
            answer = super().answer_now(call)
            return msgspec.structs.replace(
                answer, output_tokens=min(call.max_tokens, times * (answer.output_tokens or 0))
            )

    lost = spent = 0
    for seed in range(3):
        folder = usual(tmp_path / str(seed), 0.4 * times**0.7, concurrency, seed=seed)
        report = play(folder, None, clients=lambda player: PacedClient(Wordy(player), steady))
        assert report.reason == "budget"
        assert report.settled > 5
        lost += lost_to_the_budget(folder)
        spent += total_spent(folder)
        assert total_spent(folder) <= 0.4 * times**0.7 * NANO
        assert replays(folder)
    assert lost <= 0.05 * spent


def test_a_match_that_the_budget_stopped_goes_on_when_it_is_raised(tmp_path: Path) -> None:
    """Unless others have ended after it: then it is on record as ended by the budget, which is no loss."""
    found: Counter[str] = Counter()
    for seed in range(6):
        folder = usual(tmp_path / str(seed), 0.3, 16, seed=seed)
        # The plan is far too cheap for these, so that the money is gone before all of them have ended.
        greedy = {"clients": lambda player: PacedClient(Dear(player), steady)}
        first = play(folder, None, **greedy)
        assert first.reason == "budget"
        found.update(statuses(folder))
        unfinished = [number for number in spent_by_match(folder) if number > first.settled]
        found["unfinished"] += len(unfinished)
        again = play(folder, None, **greedy)
        assert (again.reason, again.played, again.calls) == ("budget", 0, 0)
        usual(folder, 3.0, 16, seed=seed)
        until = max(unfinished, default=first.settled) + 1
        assert play(folder, until, **greedy).settled >= until
        assert {statuses(folder)[number - 1] for number in unfinished} <= {"done", "no_challenge"}
        assert replays(folder)
        for status, scores in scored(folder):
            assert status == "done" or not scores
    assert found["unfinished"] > 0


class Dear(HouseClient):
    """A house player who writes next to nothing, and then as much as it may."""

    def answer_now(self, call: Call) -> Answer:
        return msgspec.structs.replace(
            super().answer_now(call), output_tokens=call.max_tokens if call.role == "judge" else 1
        )


def scored(folder: Path) -> list[tuple[str, tuple[float, ...]]]:
    ledger = ledger_of(folder)
    try:
        return [(row.status, row.scores) for row in ledger.summaries()]
    finally:
        ledger.close()


def test_billed_and_possibly_billed_are_told_apart_from_the_call_to_the_costs_page(tmp_path: Path) -> None:
    """A tenth of all calls time out, perhaps billed; the bill is known only of the rest."""
    rng = random.Random(3)
    bill: Counter[str] = Counter()

    class Flaky(HouseClient):
        def answer_now(self, call: Call) -> Answer:
            answer = super().answer_now(call)
            if rng.random() < 0.1:
                raise PlayerError("no answer in time", maybe_paid=True)
            bill["tokens"] += answer.output_tokens or 0
            return answer

    folder = arena(tmp_path, 20.0, players=priced(7), concurrency=4)
    report = play(folder, 12, clients=lambda player: PacedClient(Flaky(player)))
    assert report.billed_nano == bill["tokens"] * 1_000_000
    assert report.possibly_nano > 0
    assert report.spent_nano == total_spent(folder)
    with open_arena(folder) as opened:
        players = opened.stats().as_dict()["players"]
        said = list(ending(opened.ledger, report, [], opened.settings.until, str))
    assert round(sum(one["cost_usd"] for one in players) * NANO) == report.billed_nano
    assert round(sum(one["possibly_usd"] for one in players) * NANO) == report.possibly_nano
    both = spent(report)
    assert " billed, $" in both
    assert both.endswith(" more possibly billed")
    assert both in said[0]
    again = play(folder, 12)
    assert (again.billed_nano, again.possibly_nano) == (report.billed_nano, report.possibly_nano)
    site = Site.open(folder)
    assert round(sum(row.possibly_usd for row in site.table()) * NANO) == report.possibly_nano
    page_of_costs = page(site, "costs.html")
    assert page_of_costs is not None
    assert b"Possibly billed" in page_of_costs.body
    site.close()
