"""Probes before a run: who is left out, what is on record, what counts against the budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from tests.engine.arenas import head, ledger_of, patience, play, write_arena
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer
from typer.testing import CliRunner

from peerage.arena import ArenaError, open_arena
from peerage.cli.main import app
from peerage.engine.record.benches import benched
from peerage.engine.record.probed import TOPIC, ProbeCost, ProbeEntry, ProbeResult, entries, probe_costs
from peerage.engine.run.probes import TRIES
from peerage.engine.run.report import RunReport
from peerage.ledger import amend
from peerage.players.checks import PROBE_TOKENS, together
from peerage.standings.verify import verify
from peerage.views.stats.spending import ProbeStats

GOOD, BAD = "sk-right-key-1234", "sk-wrong-key-9876"
USAGE = 11 * 1_000 + 7 * 2_000  # of `behave.completion`, at the price below, in 1e-9 dollars
SEVEN = [f"p{place}" for place in range(7)]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOD", GOOD)
    monkeypatch.setenv("BAD", BAD)


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with patience(BACKOFF_S=0.01):
        yield


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async def behaviour(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        if request.headers["Authorization"] != f"Bearer {GOOD}":
            return await behave.status(401)(request, asked)
        if asked["model"] != "tiny":
            return await behave.status(404)(request, asked)
        return await behave.sensible(request, asked)

    async with OpenAIServer() as running:
        running.always(behaviour)
        yield running


def arena(folder: Path, server: OpenAIServer, players: list[str], **sections: Any) -> Path:
    def player(name: str) -> dict[str, Any]:
        return {
            "name": name,
            "model": "openai:tinny" if name.startswith("typo") else "openai:tiny",
            "base_url": server.url,
            "key_env": "BAD" if name.startswith("locked") else "GOOD",
            "price": {"input": 1, "output": 2},
        }

    engine = {"probe": True, **sections.pop("engine", {})}
    return write_arena(folder, [player(name) for name in players], engine=engine, **sections)


async def run(folder: Path, matches: int = 2) -> RunReport:
    with open_arena(folder) as opened:
        return await opened.play(matches)


def probes_of(server: OpenAIServer) -> list[str]:
    return [
        one.headers["Authorization"]
        for one in server.requests
        if one.path.endswith("/completions") and one.body.get("max_tokens") == PROBE_TOKENS
    ]


async def test_who_cannot_play_is_left_out_and_costs_nobody_a_match(
    tmp_path: Path, server: OpenAIServer
) -> None:
    folder = arena(tmp_path, server, [*SEVEN, "locked", "typo"])
    report = await run(folder, 4)
    assert len(probes_of(server)) == 9
    denied = [one for one in server.requests if BAD in str(one.headers) and one.path.endswith("/completions")]
    assert len(denied) == 1
    ledger = ledger_of(folder)
    assert {row.status for row in ledger.summaries()} == {"done"}
    seated = b"".join(row.body for row in ledger.fixtures())
    assert b'"p0"' in seated
    assert b'"locked"' not in seated
    assert b'"typo"' not in seated
    sent, came = entries(ledger)
    assert sent.sent.keys() == came.found.keys() == {*SEVEN, "locked", "typo"}
    assert came.found["p0"].status == "ok"
    assert came.found["p0"].cost_nano == USAGE
    assert came.found["locked"] == ProbeResult("failed", came.found["locked"].reason)
    assert "did you mean `tiny`?" in came.found["typo"].reason
    assert GOOD not in str(came)
    assert BAD not in str(came)
    assert verify(ledger).ok
    in_matches = sum(row.spent_nano for row in ledger.summaries())
    assert report.spent_nano == in_matches + 7 * USAGE
    ledger.close()
    with open_arena(folder) as opened:
        counted = {one.player: one for one in opened.stats().probes}
    assert counted["p0"] == ProbeStats("p0", 1, USAGE / 1e9, 0.0)
    assert counted["locked"].cost_usd == 0.0


async def test_too_few_left_ends_the_run_before_anything_but_the_probes_is_written(
    tmp_path: Path, server: OpenAIServer
) -> None:
    folder = arena(tmp_path, server, ["p0", "p1", "p2", "locked", "typo"])
    with pytest.raises(ArenaError) as refused:
        await run(folder)
    told = str(refused.value)
    assert "2 of 5 players cannot play" in told
    assert "check the key in BAD" in told
    assert "did you mean `tiny`?" in told
    assert len(probes_of(server)) == 5
    ledger = ledger_of(folder)
    assert ledger.heads() == (0, 0)
    assert list(ledger.topics()) == [TOPIC]
    assert "lag" not in ledger.meta()
    assert probe_costs(ledger)["p0"] == ProbeCost(probes=1, billed_nano=USAGE)
    ledger.close()
    looked = await asyncio.to_thread(CliRunner().invoke, app, ["doctor", "--dir", str(folder)])
    assert f"0 matches finished, 0 more issued; at most ${3 * USAGE / 1e9:.6f} billed" in looked.output
    done = await asyncio.to_thread(
        CliRunner().invoke, app, ["run", "--yes", "--max-matches", "2", "--dir", str(folder)]
    )
    assert done.exit_code == 2
    assert "check the key in BAD" in done.output
    assert "Traceback" not in done.output


def test_probes_on_record_leave_the_head_of_play_as_it_is(tmp_path: Path) -> None:
    heads = []
    for name, probed in (("with", True), ("without", False)):
        folder = write_arena(tmp_path / name)
        with open_arena(folder) as opened, opened.ledger.runner():
            if probed:
                entry = ProbeEntry(found={"p0": ProbeResult("ok", cost_nano=9)})
                amend(opened.ledger, TOPIC, [entry], 0)
        report = play(folder, 3)
        assert report.spent_nano == (9 if probed else 0)
        heads.append(head(folder))
    assert heads[0] == heads[1]


async def test_no_probe_on_the_command_line_asks_nobody_first(tmp_path: Path, server: OpenAIServer) -> None:
    folder = arena(tmp_path, server, SEVEN)
    words = ["run", "--yes", "--no-probe", "--max-matches", "1", "--dir", str(folder)]
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert done.exit_code == 0, done.output
    assert not probes_of(server)


async def test_an_arena_with_nothing_to_play_probes_nobody(tmp_path: Path, server: OpenAIServer) -> None:
    folder = arena(tmp_path, server, SEVEN)
    await run(folder, 1)
    assert len(probes_of(server)) == 7
    await run(folder, 1)
    assert len(probes_of(server)) == 7


async def test_who_answered_under_these_settings_is_not_probed_again_and_who_failed_since_is(
    tmp_path: Path, server: OpenAIServer
) -> None:
    folder = arena(tmp_path, server, SEVEN)
    await run(folder, 1)
    await run(folder, 2)
    assert len(probes_of(server)) == 7
    file = folder / "arena.yaml"
    file.write_text(file.read_text().replace("model: openai:tiny", "model: openai:tiny\n  version: 2", 1))
    await run(folder, 3)
    assert len(probes_of(server)) == 8

    async def failing(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        probe = asked.get("max_tokens") == PROBE_TOKENS
        return await (behave.sensible if probe else behave.status(400))(request, asked)

    server.always(failing)
    await run(folder, 4)
    assert len(probes_of(server)) == 8
    with open_arena(folder) as opened:
        last = {call.player: call for call in opened.ledger.exchanges(1)}
        last = {player.name: last[player.name] for player in opened.settings.players if player.name in last}
    failed = [name for name, call in last.items() if call.reply is None or b'"void"' in call.reply]
    assert len(failed) > 0
    await run(folder, 5)
    assert len(probes_of(server)) == 8 + len(failed)


async def test_a_probe_that_the_budget_does_not_cover_is_not_sent(
    tmp_path: Path, server: OpenAIServer
) -> None:
    folder = arena(tmp_path, server, SEVEN, budget={"arena": 0.02})
    report = await run(folder, 1)
    assert 0 < len(probes_of(server)) < 7
    assert report.spent_nano == len(probes_of(server)) * USAGE <= 20_000_000
    assert report.reason == "budget"
    more = await run(folder, 1)
    assert report.spent_nano < more.spent_nano <= 20_000_000


async def test_a_players_budget_counts_its_probes(tmp_path: Path, server: OpenAIServer) -> None:
    folder = arena(tmp_path, server, SEVEN, budget={"player": 0.001})
    await run(folder, 1)
    assert not probes_of(server)


def test_a_probe_that_a_crash_cut_short_counts_at_its_worst(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)):
        pass
    ledger = ledger_of(tmp_path)
    said = [
        ProbeEntry(sent={"a": 70, "b": None}),
        ProbeEntry(sent={"a": 50, "b": 60}),
        ProbeEntry(
            found={
                "a": ProbeResult("ok", cost_nano=9),
                "b": ProbeResult("void", cost_nano=None, worst_nano=60),
            }
        ),
        ProbeEntry(sent={"a": 40}),
    ]
    with ledger.runner():
        amend(ledger, TOPIC, said, 0)
    assert probe_costs(ledger) == {
        "a": ProbeCost(probes=3, failed=2, billed_nano=9, possibly_nano=70 + 40),
        "b": ProbeCost(probes=2, failed=2, possibly_nano=60, unknown=1),
    }
    ledger.close()


def test_probes_that_are_under_way_at_the_same_time_count_once(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)):
        pass
    ledger = ledger_of(tmp_path)
    said = [
        ProbeEntry(sent={"a": 70}),
        ProbeEntry(sent={"b": 60}),
        ProbeEntry(found={"a": ProbeResult("ok", cost_nano=9)}),
        ProbeEntry(found={"b": ProbeResult("ok", cost_nano=8)}),
    ]
    with ledger.runner():
        amend(ledger, TOPIC, said, 0)
    assert probe_costs(ledger) == {
        "a": ProbeCost(probes=1, billed_nano=9),
        "b": ProbeCost(probes=1, billed_nano=8),
    }
    ledger.close()


@pytest.mark.parametrize("limit", ["none", "arena", "player", "daily"])
async def test_probes_of_paused_players_count_as_the_ledger_has_them_and_keep_every_limit(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr("peerage.engine.run.probes.BETWEEN_S", 0.0)
    monkeypatch.setattr("peerage.engine.run.paused_players.FIRST_S", 0.01)
    server.always(behave.status(500))
    price = {"input": 1, "output": 2}
    dead: list[dict[str, Any]] = [
        {"name": name, "model": "openai:tiny", "base_url": server.url, "key_env": "GOOD", "price": price}
        for name in ("ann", "bob")
    ]
    most = 0.05
    if limit == "daily":
        dead = [player | {"daily_budget": most} for player in dead]
    budget = {limit: most} if limit in ("arena", "player") else {}
    monkeypatch.setattr("peerage.engine.calls.pauses.PAUSE_MAX_S", 0.01)
    folder = write_arena(tmp_path, [*_house(6), *dead], engine={"probe": True}, budget=budget)

    async def stop_when_dear(runner: Any) -> None:
        while runner.progress().possibly_nano < 3 * most * 1e9:
            await asyncio.sleep(0.001)
        runner.stop()

    with open_arena(folder) as opened:
        report = await opened.play(10_000 if limit == "none" else 100, beside=stop_when_dear)
    ledger = ledger_of(folder)
    costs = probe_costs(ledger)
    ledger.close()
    by_player = {name: costs[name].most_nano for name in ("ann", "bob")}
    assert report.billed_nano + report.possibly_nano == sum(by_player.values()) > 0
    if limit == "none":
        assert min(cost.probes for cost in costs.values()) > TRIES + 1, "they are asked again in the run"
        assert min(by_player.values()) > most * 1e9, "a limit would be reached"
    elif limit == "arena":
        assert sum(by_player.values()) <= most * 1e9
    else:
        assert max(by_player.values()) <= most * 1e9


def test_a_budget_and_a_misspelled_model_get_the_name_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", GOOD)
    players = [
        f"openai:{name}" for name in ("gpt-5-mni", "gpt-5-mini", "gpt-5-nano", "gpt-4o", "gpt-4o-mini")
    ]
    folder = write_arena(tmp_path, players, budget=1.0)
    done = CliRunner().invoke(app, ["run", "--yes", "--dir", str(folder)])
    assert done.exit_code == 2
    assert "openai:gpt-5-mni (did you mean `gpt-5-mini`?)" in done.output
    assert "Correct the model's name" in done.output
    planned = CliRunner().invoke(app, ["plan", "--matches", "100", "--dir", str(folder)]).output
    assert "not in any sum: gpt-5-mni (did you mean `gpt-5-mini`?)" in " ".join(planned.split())
    assert not ledger_of(folder).heads()[0]


async def test_a_probe_that_costs_more_than_it_could_is_told_with_the_amount(
    tmp_path: Path, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 1_000_000, "total_tokens": 1_000_011}

    async def runaway(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return await behave.body(json.dumps(behave.completion("hi", usage=usage)))(request, asked)

    server.always(runaway)
    report = await run(arena(tmp_path, server, ["a", "b", "c", "d"], budget={"arena": 0.04}))
    assert (report.reason, report.played) == ("budget", 0)
    told = [one.getMessage() for one in caplog.records if "for its probe" in one.getMessage()]
    assert sorted(message.split(",")[0] for message in told) == [
        f"{name} was billed $2 for its probe" for name in "abcd"
    ]


async def test_what_a_probe_finds_is_in_a_plan_that_is_agreed_to_before_anything_is_played(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought = {"completion_tokens_details": {"reasoning_tokens": 9}}
    details = {"prompt_tokens": 11, "completion_tokens": 20, **thought}

    async def thoughtful(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return await behave.body(json.dumps(behave.completion("hi", usage=details)))(request, asked)

    server.always(thoughtful)
    folder = arena(tmp_path, server, SEVEN)
    questions: list[str] = []

    def confirm(question: str, default: bool = False) -> bool:
        questions.append(question)
        return len(questions) == 1

    monkeypatch.setattr("typer.confirm", confirm)
    monkeypatch.setattr(
        "peerage.cli.play.plan.sys",
        SimpleNamespace(
            stdin=SimpleNamespace(isatty=lambda: True), stdout=SimpleNamespace(isatty=lambda: False)
        ),
    )
    words = ["run", "--max-matches", "2", "--dir", str(folder)]
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert (done.exit_code, questions) == (0, ["Play?", "Play?"])
    before, _, after = done.output.partition("A probe showed that a player thinks before it answers")
    assert "First each player is asked one small question, for at most $" in before
    assert "oom to think" not in before
    assert "oom to think for each reply" in " ".join(done.output.split())
    assert "stopped; no match was played" in after
    assert len(probes_of(server)) == len(server.requests) == 7
    assert ledger_of(folder).heads() == (0, 0)


async def test_keys_that_are_all_wrong_are_one_line_at_the_end_and_in_the_log(
    tmp_path: Path, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = ["locked1", "locked2", "locked3"]
    with pytest.raises(ArenaError) as refused:
        await run(arena(tmp_path / "few", server, ["p0", "p1", *wrong]))
    told = [line for line in str(refused.value).splitlines() if "access denied" in line]
    assert [line.partition(": access")[0] for line in told] == ["  locked1, locked2, locked3"]
    assert (await run(arena(tmp_path / "more", server, [*SEVEN, *wrong]), 1)).played
    logged = [line for line in caplog.messages if "access denied" in line]
    assert [line.partition(": access")[0] for line in logged] == ["locked1, locked2, locked3"]


def test_players_with_one_problem_are_told_of_in_one_line() -> None:
    problems = {"a": "a: access denied (401)", "b": "b: access denied (401)", "c": "c: no reply within 30 s"}
    assert together(problems) == ["a, b: access denied (401)", "c: no reply within 30 s"]


def _house(count: int) -> list[Any]:
    return [{"name": f"h{place}", "model": f"house:0.{place + 3}"} for place in range(count)]


def _paused(folder: Path) -> list[tuple[str, str]]:
    ledger = ledger_of(folder)
    try:
        rows = ledger.amendments("benches")
        return [(entry["player"], entry["event"]) for entry in (json.loads(row.body) for row in rows)]
    finally:
        ledger.close()


@pytest.mark.parametrize("answer", [500, 503, None])
async def test_a_player_that_no_probe_gets_through_to_begins_paused_and_holds_nothing_up(
    tmp_path: Path,
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    answer: int | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("peerage.engine.run.paused_players.FIRST_S", 600.0)
    if answer:
        server.always(behave.status(answer))
    url = server.url if answer else "http://127.0.0.1:9/v1"
    dead = {"name": "dead", "model": "openai:tiny", "base_url": url, "key_env": ""}
    folder = write_arena(tmp_path, [*_house(6), dead], engine={"probe": True})
    began = asyncio.get_running_loop().time()
    report = await run(folder, 20)
    assert asyncio.get_running_loop().time() - began < 15
    assert (report.reason, report.decided) == ("limit", 20)
    assert _paused(folder) == [("dead", "paused")]
    assert not report.benched
    assert "paused until it answers" in caplog.text
    ledger = ledger_of(folder)
    assert b'"dead"' not in b"".join(row.body for row in ledger.fixtures())
    assert [len(entry.found) for entry in entries(ledger)] == [0, 1] * TRIES
    assert verify(ledger).ok
    ledger.close()


@pytest.mark.parametrize("busy", [behave.status(429), behave.status(503, headers={"Retry-After": "1"})])
async def test_a_server_that_is_busy_is_there_and_plays(
    tmp_path: Path, server: OpenAIServer, busy: behave.Behaviour
) -> None:
    server.next(busy)
    slow = {"name": "slow", "model": "openai:tiny", "base_url": server.url, "key_env": "GOOD"}
    folder = write_arena(tmp_path, [*_house(6), slow], engine={"probe": True})
    await run(folder, 2)
    assert _paused(folder) == []


async def test_a_paused_player_that_answers_again_is_paired_in_the_same_run(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.engine.run.probes.BETWEEN_S", 0.0)
    monkeypatch.setattr("peerage.engine.run.paused_players.FIRST_S", 0.05)
    server.next(*[behave.status(500)] * (2 * TRIES + 1))  # each try asks once more without the format
    late = {"name": "late", "model": "openai:tiny", "base_url": server.url, "key_env": "GOOD"}
    folder = write_arena(tmp_path, [*_house(6), late], engine={"probe": True})
    report = await run(folder, 400)
    assert _paused(folder) == [("late", "paused"), ("late", "returned")]
    ledger = ledger_of(folder)
    back = next(json.loads(row.body) for row in list(ledger.amendments("benches"))[1:])
    seated = {row.round for row in ledger.fixtures() if b'"late"' in row.body}
    assert seated
    assert min(seated) >= back["from_round"]
    assert verify(ledger).ok
    ledger.close()
    assert report.decided == 400
    with open_arena(folder) as opened:
        assert opened.replay().ok


async def _stop_with_a_call_out(runner: Any) -> None:
    while runner.progress().calls_in_flight == 0:
        await asyncio.sleep(0.001)
    runner.stop()
    runner.stop()


@pytest.mark.parametrize("when", ["in the run", "at the next run"])
async def test_a_paused_player_that_somebody_has_to_fix_is_benched(
    tmp_path: Path,
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    when: str,
) -> None:
    monkeypatch.setattr("peerage.engine.run.probes.BETWEEN_S", 0.0)
    monkeypatch.setattr("peerage.engine.run.paused_players.FIRST_S", 0.02 if when == "in the run" else 60.0)
    late = {"name": "late", "model": "openai:tiny", "base_url": server.url, "key_env": "BAD"}
    folder = write_arena(tmp_path, [*_house(6), late], engine={"probe": True})
    server.always(behave.sensible)
    with open_arena(folder) as opened:
        await opened.play(40, beside=_stop_with_a_call_out)
    changed = late | {"price": {"input": 1, "output": 1}}  # so it is probed again
    write_arena(tmp_path, [*_house(6), changed], engine={"probe": True})
    down = [behave.status(500)] * (2 * TRIES)  # each try asks once more without the format
    server.next(*down)
    server.always(behave.status(401))
    report = await run(folder, 400)
    if when == "at the next run":
        assert _paused(folder) == [("late", "paused")]
        assert not report.benched
        report = await run(folder, 430)
    assert report.decided > 40
    assert _paused(folder) == [("late", "paused"), ("late", "benched")]
    assert "check the key in BAD" in report.benched["late"]
    assert "may use this model; benched" in caplog.text
    assert not report.waiting, "its matches end without it"
    ledger = ledger_of(folder)
    assert benched(ledger)["late"].event == "benched"
    assert "benched: late" in {row.status for row in ledger.summaries()}
    entry = next(json.loads(row.body) for row in list(ledger.amendments("benches"))[1:])
    first = next(json.loads(row.body) for row in ledger.amendments("benches"))["from_round"]
    assert not {row.round for row in ledger.fixtures() if b'"late"' in row.body and row.round >= first}
    assert max(row.round for row in ledger.fixtures()) > entry["from_round"]
    assert verify(ledger).ok
    ledger.close()
    with open_arena(folder) as opened:
        assert opened.replay().ok


async def test_the_matches_of_a_paused_player_wait_and_go_on_when_it_is_back(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.engine.run.probes.BETWEEN_S", 0.0)
    monkeypatch.setattr("peerage.engine.run.paused_players.FIRST_S", 0.05)
    player = {"name": "late", "model": "openai:tiny", "base_url": server.url, "key_env": "GOOD"}
    folder = write_arena(tmp_path, [*_house(6), player], engine={"probe": True})
    with open_arena(folder) as opened:
        await opened.play(40, beside=_stop_with_a_call_out)
    changed = player | {"price": {"input": 1, "output": 1}}  # so it is probed again
    write_arena(tmp_path, [*_house(6), changed], engine={"probe": True})
    server.next(*[behave.status(500)] * (2 * TRIES + 1))  # each try asks once more without the format
    await run(folder, 400)
    assert _paused(folder) == [("late", "paused"), ("late", "returned")]
    ledger = ledger_of(folder)
    assert not any(row.status.startswith("benched") for row in ledger.summaries())
    assert verify(ledger).ok
    ledger.close()
    assert (await run(folder, 400)).decided == 400, (
        "one that the run did not wait for is taken up by the next"
    )


async def test_too_few_left_because_servers_are_down_ends_the_run_at_once(
    tmp_path: Path, server: OpenAIServer
) -> None:
    dead = [
        {"name": f"dead{n}", "model": "openai:tiny", "base_url": "http://127.0.0.1:9/v1", "key_env": ""}
        for n in range(4)
    ]
    folder = write_arena(tmp_path, [*_house(2), *dead], engine={"probe": True})
    with pytest.raises(ArenaError, match="4 of 6 players cannot play"):
        await run(folder, 2)
