"""One arena played by several workers, on a real PostgreSQL: the same ledger and money, whoever is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.links import HereLink, HerePlaces, here
from tests.engine.arenas import SMALL, house, play, write_arena
from tests.engine.clients import Cast
from tests.servers import openai_server
from tests.servers.crowded import Crowded
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.cluster import crew as crews
from peerage.cluster.leases import GivenUp, Leases, WorkersLedger, working
from peerage.cluster.messages import MatchesToClaim
from peerage.cluster.offers import Offers
from peerage.engine.run import course as runners
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.ledger import Batch, IntentRow, MatchRows
from peerage.players.client import Call, Later, PlayerError
from peerage.settings import ArenaError
from peerage.values.clock import now_ms

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
PAID = house(6, price={"input": 1, "output": 4})


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Chains of the records of the same arena, as one process comes to them."""
    folder = write_arena(tmp_path_factory.mktemp("alone"), PAID)
    play(folder, 8)
    with open_arena(folder) as arena:
        return [one.chain.hex() for one in arena.ledger.records()]


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[HerePlaces]:
    return here(monkeypatch)


class Played:
    """What is on record after a run."""

    def __init__(self, folder: Path, matches: int | None, **how: Any) -> None:
        with open_arena(folder) as arena:
            self.report: RunReport = asyncio.run(arena.play(matches, **how))
            ledger = arena.ledger
            self.chains = [one.chain.hex() for one in ledger.records()]
            self.spent = sum(ledger.spent_by().values())
            self.exchanges = list(ledger.exchanges(1))
            self.verified = arena.verify().ok
            log = list(ledger.log())
            self.log = [one.about for one in log]

    @property
    def asked_again(self) -> int:
        """Attempts after one that was replied to: there must be none, ever."""
        replied = {(one.match, one.key): one.attempt for one in self.exchanges if one.reply is not None}
        return sum(one.attempt > replied.get((one.match, one.key), one.attempt) for one in self.exchanges)


def arena(folder: Path, postgres: PostgresServer, **sections: Any) -> Path:
    engine = {"kind": "ray", "concurrency": 12, **sections.pop("engine", {})}
    return write_arena(
        folder, sections.pop("players", PAID), ledger=postgres.address(), engine=engine, **sections
    )


def soon() -> float:
    return 0.002


def test_workers_come_to_the_same_ledger_as_one_process(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces], alone: list[str]
) -> None:
    crew = Played(arena(tmp_path, postgres, budget=50, engine={"workers": 3}), 6)
    assert crew.chains == alone[:6]
    assert crew.verified
    assert crew.report.billed_nano == crew.report.spent_nano == crew.spent > 0
    assert crew.report.calls == len(crew.exchanges)
    assert len({one.id for one in crew.exchanges}) == max(one.id for one in crew.exchanges)
    drove = {link.worker._ledger.number for link in placed[0].links if link.worker is not None}
    assert drove == {1, 2, 3}


def test_a_worker_that_is_cut_off_writes_nothing_more_and_others_go_on(
    tmp_path: Path,
    postgres: PostgresServer,
    placed: list[HerePlaces],
    alone: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = arena(tmp_path, postgres, budget=50, engine={"workers": 2})
    calls, busy = [0], list[HereLink]()

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == 30:
            busy.append(max(placed[0].links, key=lambda link: link.busy))
            busy[0].cut = True

    def seconds() -> float:
        return 0.5 if 20 <= calls[0] <= 30 else soon()  # so that the cut finds calls in flight

    crew = Played(folder, 6, clients=Cast(act, seconds))
    assert "was lost (cut off)" in caplog.text
    assert len(placed[0].links) == 3  # another was placed
    assert crew.chains == alone[:6]
    assert crew.verified
    assert crew.asked_again == 0
    lost = [one for one in crew.exchanges if one.failure is not None]
    assert lost
    assert all(one.failure and "its worker was lost" in one.failure.reason for one in lost)
    assert crew.report.spent_nano == crew.spent  # kept by the leader as the store has it
    cut_off = busy[0].worker
    assert cut_off is not None
    with pytest.raises(GivenUp, match="given up"), cut_off._ledger.writing():
        cut_off._ledger.write(Batch(intents=[IntentRow(1, "late", 1, "p0", b"{}", 0)]))


def test_a_match_that_its_worker_put_down_goes_to_one_other_where_that_worker_is_lost(
    tmp_path: Path,
    postgres: PostgresServer,
    placed: list[HerePlaces],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It goes on, and is offered only after the worker that has the lease of it still was given up."""
    monkeypatch.setattr(runners, "SOONEST_S", 0.0)
    put_off, offered, held, claimed = [0], list[int](), list[Callable[[], None]](), list[int]()
    add, revoke, claim = Offers._add, Leases.revoke, WorkersLedger.claim

    def act(call: Call, attempt: int) -> Later | None:
        put_off[0] += 1
        return Later("busy", until_ms=now_ms()) if put_off[0] == 1 else None

    def adds(offers: Offers, turn: tuple[int, int]) -> None:
        offered.append(turn[0])
        if len(offered) == 2:
            (address,) = {one.worker._posting.address for one in placed[0].links if one.worker}
            (has,) = [worker for worker, (_, matches) in working(address).items() if matches]
            (link,) = [one for one in placed[0].links if one.worker and one.worker._ledger.number == has]
            link.cut = True
            loop = asyncio.get_running_loop()
            held.append(lambda: loop.call_soon_threadsafe(add, offers, turn))
        else:
            add(offers, turn)

    def revokes(leases: Leases, worker: int) -> Any:
        found = revoke(leases, worker)
        for late in held:
            late()
        return found

    def claims(ledger: WorkersLedger, most: int) -> Any:
        found = claim(ledger, most)
        claimed.extend(one.number for one in found)
        return found

    monkeypatch.setattr(Offers, "_add", adds)
    monkeypatch.setattr(Leases, "revoke", revokes)
    monkeypatch.setattr(WorkersLedger, "claim", claims)
    folder = arena(tmp_path, postgres, engine={"workers": 2})
    played = Played(folder, 1, clients=Cast(act, soon))
    assert "was lost (cut off): 0 of its matches go on elsewhere" in caplog.text
    assert offered == claimed == [1, 1]
    assert played.report.settled == 1
    assert played.verified
    assert played.asked_again == 0


def test_a_worker_whose_share_shrinks_as_it_claims_goes_on(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces], alone: list[str]
) -> None:
    calls = [0]

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] % 10 == 0:
            for link in placed[0].links:
                assert link.worker is not None
                link.worker.order(
                    [MatchesToClaim(64, 8), MatchesToClaim(1, 1)]
                )  # as where others join meanwhile

    folder = arena(tmp_path, postgres, engine={"workers": 2})
    assert Played(folder, 6, clients=Cast(act, soon)).chains == alone[:6]


def test_a_worker_whose_machine_leaves_gives_its_matches_back(
    tmp_path: Path,
    postgres: PostgresServer,
    placed: list[HerePlaces],
    alone: list[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crews, "STAFF_EVERY_S", 0.01)
    folder = arena(tmp_path, postgres, budget=50, engine={"workers": 2})
    calls = [0]

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == 30:
            placed[0].departing.add(max(placed[0].links, key=lambda link: link.busy).where)

    played = Played(folder, 6, clients=Cast(act, soon))
    assert "has left, as its machine does" in caplog.text
    assert "; 0 calls it left open may have been billed" in caplog.text
    assert played.chains == alone[:6]
    assert played.verified
    lost = [one.failure for one in played.exchanges if one.failure is not None]
    assert all(one.reason.startswith("not sent") for one in lost)  # what was in flight came in
    assert played.report.possibly_nano == 0
    assert played.report.spent_nano == played.spent


def test_the_budget_holds_over_all_workers(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    folder = arena(tmp_path, postgres, budget=0.06, engine={"workers": 3})
    most = [0.0]

    async def watch(runner: Runner) -> None:
        while True:
            most[0] = max(most[0], (runner._budget.spent + runner._budget.held) / 1e9)
            await asyncio.sleep(0.003)

    played = Played(folder, 500, clients=Cast(lambda call, attempt: None, soon), beside=watch)
    assert played.report.reason == "budget"
    assert played.report.played > 0
    assert 0.01 < played.spent / 1e9 <= 0.06
    assert 0.01 < most[0] <= 0.06


def test_workers_share_the_calls_that_may_be_in_flight(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    flying, most = [0], [0]

    class Counting(Cast):
        def __call__(self, settings: Any) -> Any:
            client = super().__call__(settings)
            inner = client.answer

            async def answer(call: Call) -> Any:
                flying[0] += 1
                most[0] = max(most[0], flying[0])
                try:
                    return await inner(call)
                finally:
                    flying[0] -= 1

            client.answer = answer  # type: ignore[method-assign]
            return client

    for workers, calls in ((2, 5), (3, 2)):  # two each; and too few to share, so that each call asks
        most[0] = 0
        folder = arena(tmp_path / f"{workers}", postgres, engine={"workers": workers, "calls": calls})
        played = Played(folder, 8, clients=Counting(lambda call, attempt: None, soon))
        assert played.report.reason == "limit"
        assert 1 < most[0] <= (calls if calls < workers else workers * (calls // workers))


def test_limits_of_a_player_hold_over_all_workers(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    players = house(4, concurrency=1)
    folder = arena(tmp_path, postgres, players=players, engine={"workers": 3})
    here_now: dict[str, int] = {}
    most: dict[str, int] = {}

    class Counting(Cast):
        def __call__(self, settings: Any) -> Any:
            client = super().__call__(settings)
            inner = client.answer

            async def answer(call: Call) -> Any:
                here_now[settings.name] = here_now.get(settings.name, 0) + 1
                most[settings.name] = max(most.get(settings.name, 0), here_now[settings.name])
                try:
                    return await inner(call)
                finally:
                    here_now[settings.name] -= 1

            client.answer = answer  # type: ignore[method-assign]
            return client

    played = Played(folder, 2, clients=Counting(lambda call, attempt: None, soon))
    assert played.report.reason == "limit"
    assert most == {f"p{at}": 1 for at in range(4)}


def test_a_stopped_run_goes_on_where_it_was(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces], alone: list[str]
) -> None:
    folder = arena(tmp_path, postgres)
    calls = [0]
    running: list[Runner] = []

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == 30:
            running[0].stop()

    async def watch(runner: Runner) -> None:
        running.append(runner)
        await asyncio.sleep(3600)

    first = Played(folder, 6, clients=Cast(act, soon), beside=watch)
    assert first.report.reason == "interrupted"
    assert all(one.reply is not None or one.failure is not None for one in first.exchanges)
    read: list[MatchRows | None] = []

    def look(call: Call, attempt: int) -> None:
        if not read:  # a worker has written, and the leader may have folded nothing yet
            with open_arena(folder) as arena:
                read.append(arena.ledger.match(1))

    second = Played(folder, 6, clients=Cast(look, soon))
    assert (second.report.reason, second.report.possibly_paid_twice) == ("limit", 0)
    assert second.chains == alone[:6]
    assert second.asked_again == 0
    assert second.verified
    assert read[0] is not None


def test_no_worker_begins_while_a_run_stops(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with nothing in flight has stopped at once: nobody follows it, and nothing more is asked."""
    monkeypatch.setattr(crews, "STAFF_EVERY_S", 0.01)
    folder = arena(tmp_path, postgres, players=house(6), engine={"workers": 2})
    calls, running = [0], list[Runner]()

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == 30:
            running[0].stop()

    def seconds() -> float:
        return 1.0 if calls[0] == 30 else soon()

    async def watch(runner: Runner) -> None:
        running.append(runner)
        await asyncio.sleep(3600)

    played = Played(folder, 60, clients=Cast(act, seconds), beside=watch)
    assert played.report.reason == "interrupted"
    assert len(placed[0].links) == 2
    assert played.report.possibly_nano == 0
    assert all(one.reply is not None or one.failure is not None for one in played.exchanges)


def test_a_player_that_fails_for_good_is_benched_everywhere(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    folder = arena(tmp_path, postgres, engine={"workers": 3})
    cast: Callable[[Any], Any] = Cast(lambda call, attempt: None, soon)

    def clients(settings: Any) -> Any:
        bad = Cast(lambda call, attempt: PlayerError("no credit (402)", kind="permanent"), soon)
        return bad(settings) if settings.name == "p3" else cast(settings)

    played = Played(folder, 6, clients=clients)
    assert set(played.report.benched) == {"p3"}
    assert played.report.decided == 6


def test_status_tells_who_works_on_what(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    folder = arena(tmp_path, postgres, engine={"workers": 2})
    seen: list[dict[str, Any]] = []
    shown: list[str] = []
    calls = [0]

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == 20:
            done = CliRunner().invoke(app, ["status", "--format", "json", "--dir", str(folder)])
            seen.append(json.loads(done.output))
            shown.append(CliRunner().invoke(app, ["status", "--dir", str(folder)]).output)

    Played(folder, 4, clients=Cast(act, soon))
    workers = {one["number"]: one["matches"] for one in seen[0]["workers"]}
    assert workers.keys() == {1, 2}
    driven = {one["match"]: one["worker"] for one in seen[0]["under_way"]}
    assert driven
    assert all(number in workers[worker] for number, worker in driven.items() if worker is not None)
    assert "Worker 1, process" in shown[0]
    done = CliRunner().invoke(app, ["status", "--format", "json", "--dir", str(folder)])
    assert json.loads(done.output)["workers"] == []


def test_a_ledger_in_a_file_is_refused_with_the_reason(tmp_path: Path, postgres: PostgresServer) -> None:
    write_arena(tmp_path, PAID, ledger="sqlite:///arena.db", engine={"kind": "ray"})
    with open_arena(tmp_path) as arena, pytest.raises(ArenaError, match="A file has one writer"):
        asyncio.run(arena.play(1))


async def test_the_limit_that_a_provider_bears_is_found_over_all_workers_and_told(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    crowded, told = Crowded(3), set[str]()

    async def look(runner: Runner) -> None:
        while True:
            told.update(one.lowered for one in runner.progress().troubles if one.player == "a")
            await asyncio.sleep(0.01)

    async with openai_server.OpenAIServer(keep=False) as server:
        server.always(crowded)
        asked = {"name": "a", "model": "openai:tiny", "base_url": server.url, "key_env": ""}
        players = [*house(4), asked | {"price": {"input": 0, "output": 0}}]
        rules = {**SMALL, "judges": 5, "order": "both", "early_stop": False}  # so that it is asked often
        folder = arena(tmp_path, postgres, players=players, rules=rules, engine={"workers": 2}, budget=50)
        with open_arena(folder) as opened:
            report = await opened.play(12, beside=look)
            assert opened.verify().ok
    assert report.reason == "limit"
    assert 2 <= max(crowded.seen) <= 6
    assert crowded.refused <= 0.2 * crowded.answered
    lowered = "halved after 429", "as more only slow its replies"  # as a busy machine may seem to
    assert any(line.startswith("at most") and line.endswith(lowered) for line in told)
