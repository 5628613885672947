"""Programs as requests: driven, recorded, fed back, and void when the sandbox fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import write_arena
from tests.engine.games import FIXTURE, NoRules, ask, drive, game, yes

import peerage.engine.calls.programs as programs
from peerage.arena import Arena, ArenaError, open_arena
from peerage.engine.match.driver import Driver, GameError
from peerage.game.blocks import SourceCode as ShownProgram
from peerage.game.match import Outcome
from peerage.game.protocol import SANDBOX, Job, Ran, Reply, Run, Together
from peerage.game.spec import Needs
from peerage.ledger.forms.codec import by_hex
from peerage.ledger.forms.codec_requests import read_request, request_body
from peerage.sandbox.program import Limits, Program, RunResult, SandboxUnavailable
from peerage.views.match.match import match_view

OK = Reply("ok", '{"status":"ok","stdout":"42\\n"}')


def driver(play: Any) -> Driver:
    import dataclasses

    return Driver(
        dataclasses.replace(game(play), needs=Needs(sandbox=lambda rules: True)), FIXTURE, NoRules()
    )


def test_a_run_is_driven_like_a_question_and_its_value_is_what_it_printed() -> None:
    seen: list[Any] = []

    def play(table: Any) -> Any:
        seen.append((yield Run("one", "print(42)")))
        seen.extend((yield [ask("q"), Run("two", "print(42)")]))
        seen.append((yield Together({"side": side()})))
        return Outcome(scores={"A": 1.0, "B": 0.0})

    def side() -> Any:
        return (yield Run("three", "print(42)"))

    match = driver(play)
    (first,) = match.start()
    assert (first.key, first.to) == ("one", SANDBOX)
    question, second = match.feed("one", OK)
    match.feed("two", OK)
    (third,) = match.feed("q", yes())
    assert third.key == "side/three"
    match.feed("side/three", OK)
    assert match.outcome is not None
    assert [reply.value for reply in (seen[0], seen[2], seen[3]["side"])] == [Ran("ok", "42\n")] * 3
    assert question.key == "q"
    assert second.key == "two"


@pytest.mark.parametrize("reason", ["sandbox_error: the worker died", "deadline"])
def test_a_failure_of_the_sandbox_voids_the_match_whatever_the_game_says(reason: str) -> None:
    def play(table: Any) -> Any:
        yield [ask("q"), Run("one", "print()"), Run("two", "print()")]
        return Outcome(scores={"A": 1.0, "B": 0.0})

    match = driver(play)
    match.start()
    match.feed("one", Reply("void", reason=reason))
    match.feed("q", yes())
    assert match.outcome is None
    match.feed("two", OK)
    assert match.outcome == Outcome(void=reason.partition(":")[0])


class _Noting:
    """In a pool's place: notes what is to be run, and says how it ended."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        self.programs: list[Program] = []

    async def run(self, program: Program) -> RunResult:
        self.programs.append(program)
        return self.result


async def test_a_run_is_performed_within_its_own_limits() -> None:
    run = Run("k", "print(1)", "in", fuel=10**7, memory=2**27, output=321, seconds=4.5)
    pool = _Noting(RunResult("ok", "1\n", "x" * 9_000 + "end", 55))
    reply = await programs.Programs(pool, 1, Path()).perform(run)  # type: ignore[arg-type]
    limits = Limits(fuel=10**7, memory=2**27, output=321, seconds=4.5)
    assert pool.programs == [Program("print(1)", "in", limits)]
    told = json.loads(reply.text)
    assert (told["status"], told["stdout"], told["fuel"]) == ("ok", "1\n", 55)
    assert told["stderr"].endswith("xend")
    assert len(told["stderr"]) == programs.STDERR_CHARS
    assert (reply.status, reply.cost_nano) == ("ok", 0)


async def test_a_sandbox_that_fails_gives_no_result_and_its_last_words() -> None:
    pool = _Noting(RunResult("sandbox_error", stderr="the worker died"))
    reply = await programs.Programs(pool, 1, Path()).perform(Run("k", "print(1)"))  # type: ignore[arg-type]
    assert (reply.status, reply.reason, reply.cost_nano) == ("void", "sandbox_error: the worker died", 0)


def test_a_game_that_did_not_say_so_gets_no_sandbox() -> None:
    def play(table: Any) -> Any:
        yield Run("one", "print()")
        return Outcome(scores={"A": 1.0, "B": 0.0})

    with pytest.raises(GameError, match="never does"):
        drive(play).start()


def test_a_stored_reply_that_no_run_gives_is_refused() -> None:
    def play(table: Any) -> Any:
        yield Run("one", "print()")
        return Outcome(scores={"A": 1.0, "B": 0.0})

    match = driver(play)
    match.start()
    with pytest.raises(GameError, match="not what a run gives"):
        match.feed("one", Reply("ok", '{"status":"passed"}'))


@pytest.mark.parametrize("run", [Run("k", "print(1)"), Run("k", "#" * 5_000, "x" * 900, 1, 2, 3, 4.5)])
def test_a_run_reads_back_as_it_was_asked(run: Run) -> None:
    body, texts = request_body(run)
    assert len(body) < 500
    assert read_request("k", body, by_hex(dict(texts)), {}.__getitem__) == run


def test_no_player_may_be_called_like_the_sandbox(tmp_path: Path) -> None:
    from peerage.settings import SettingsError

    write_arena(tmp_path, [{"name": "sandbox", "model": "house:0.5"}, "house:0.4"])
    with pytest.raises(SettingsError, match="under which programs are recorded"):
        open_arena(tmp_path)


def golf(folder: Path, concurrency: int = 4) -> Path:
    rules = {"tasks": 1, "difficulty": 3, "seats": 3}
    return write_arena(folder, 3, game="code-golf", rules=rules, engine={"concurrency": concurrency})


class Breaking(programs.Programs):
    """A sandbox that fails at the programs whose number is in `at`."""

    at: tuple[int, ...] = ()
    done = 0

    async def perform(self, job: Job) -> Reply:
        self.done += 1
        if self.done in self.at:
            return Reply("void", reason="sandbox_error: killed", cost_nano=0)
        return await super().perform(job)


def test_an_arena_plays_resumes_and_replays_the_same(tmp_path: Path) -> None:
    pytest.importorskip("wasmtime")
    whole = golf(tmp_path / "whole", 1)
    parts = golf(tmp_path / "parts")
    with open_arena(whole) as arena:
        arena.run(4)
        chain = next(iter(arena.ledger.records(4, 4))).chain
        assert arena.verify().ok
        assert arena.replay().ok
        shown = match_view(arena.ledger, 1)
        assert [one.role for one in shown.exchanges].count("sandbox") >= 6
        shown_programs = {shown.player(one.label) for one in shown.blocks if isinstance(one, ShownProgram)}
        assert shown_programs == {"p0", "p1", "p2"}
        assert [row.track for row in arena.leaderboard()] == ["trueskill"] * 3
        assert SANDBOX not in {row.player for row in arena.leaderboard()}
        assert SANDBOX not in {one.player for one in arena.stats().players}
    with open_arena(parts) as arena:
        arena.run(1)
        stop_early(arena)
        arena.run(4)
        assert next(iter(arena.ledger.records(4, 4))).chain == chain


def stop_early(arena: Arena) -> None:
    async def stop(runner: Any) -> None:
        while runner.progress().answered < 5:
            await asyncio.sleep(0.005)
        runner.stop()

    report = arena.run(4, beside=stop)
    assert report.reason in ("interrupted", "limit")
    assert report.possibly_paid_twice == 0


def test_a_sandbox_that_fails_voids_its_match_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wasmtime")
    monkeypatch.setattr(programs, "Programs", Breaking)
    monkeypatch.setattr(Breaking, "at", (2,))
    with open_arena(golf(tmp_path, 1)) as arena:
        arena.run(2)
        statuses = [summary.status for summary in arena.ledger.summaries()]
        assert statuses == ["sandbox_error", "done", "done"]
        assert arena.replay().ok


def test_without_a_sandbox_nothing_is_played_and_the_error_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden: list[Path] = []

    @asynccontextmanager
    async def opened(base: Path, secret: list[Path], **__: Any) -> AsyncIterator[Any]:
        hidden.extend(secret)
        raise SandboxUnavailable('install it with: pip install "peerage[sandbox]"')
        yield

    monkeypatch.setattr(programs, "opened", opened)
    with open_arena(golf(tmp_path)) as arena:
        with pytest.raises(ArenaError, match=r"code-golf runs programs.*peerage\[sandbox\]"):
            arena.run(1)
        assert arena.ledger.heads() == (0, 0)
    assert {tmp_path / ".env", tmp_path / "arena.db"} <= {*hidden}
