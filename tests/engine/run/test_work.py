"""Work in folders on record: commands, who has hands, and agents' ways to their replies."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import head, ledger_of, play, play_stopping_at, write_arena

import peerage.engine.calls.programs as programs
import peerage.playing.requirements as requirements
from peerage.arena import ArenaError, open_arena
from peerage.cli.begin import doctor
from peerage.game.work import AgentStep, CommandResult, ModelCall, ShellCommand, Trace, command_result
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.out.export import documents
from peerage.players.client import Answer, Call
from peerage.playing.requirements import unplayable_here
from peerage.render.html.writer import Html
from peerage.render.terminal import write
from peerage.sandbox.folder import File, WorkFolder, patch_text
from peerage.sandbox.native.confined import available
from peerage.sandbox.program import SandboxUnavailable
from peerage.testing.commands import commanded
from peerage.views.match.match import MatchView, match_view, transcript

GAME = (Path(__file__).parents[1] / "mending.py").read_text("utf-8")
HOSTILE = "<script>x</script>\x1b[31m\u202e `code` {place} [link](https://example.com)"
TRACE = Trace(
    (
        AgentStep("thought", detail=f"I read it. {HOSTILE}"),
        AgentStep("plan", detail="1. mend"),
        AgentStep("tool", "write answer <b>\nMatch 9", "right", "completed"),
        AgentStep("tool", "run tests", "", "failed"),
        AgentStep("permission", "fetch the web", status="refused"),
    ),
    (
        ModelCall("chat", "gpt<i>", 200, 1_000, 20, 900, 2_500_000, 800, "aa", "bb"),
        ModelCall("chat", "gpt<i>", 200, 2_000, 30, 0, 2_500_000, 800, "aa", "bb"),
        ModelCall("chat", refused="its budget of $0.50 is spent"),
    ),
)
RIGHT = patch_text({"answer": File("right\n"), "test.sh": File("exit 0\n")})
CHEAT = patch_text({"test.sh": File("exit 0\n")})


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run without a jail: they are all ours."""

    async def ran(self: object, command: ShellCommand) -> CommandResult:
        return command_result(commanded(command).text)

    monkeypatch.setattr(programs.Programs, "_commanded", ran)


class Mender:
    """Mends what A was asked to mend, and changes the visible test as B."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        assert call.folder is not None
        assert call.folder.files["answer"].text == "wrong\n"
        good = call.seat == "A"
        return Answer(RIGHT if good else CHEAT, 1.0, 3_000, 50, trace=TRACE if good else None)


class Slow(Mender):
    """Takes its time, of which a run that stops has less."""

    async def answer(self, call: Call) -> Answer:
        await asyncio.sleep(0.7)
        return await super().answer(call)


def arena(folder: Path, players: Any = 2) -> Path:
    (folder / "mending.py").write_text(GAME, "utf-8")
    write_arena(folder, players, game="./mending.py", rules={})
    play(folder, 1, clients=lambda settings: Mender())
    return folder


def test_a_match_with_commands_is_recorded_checked_and_replayed(tmp_path: Path) -> None:
    with open_arena(arena(tmp_path)) as opened:
        view = opened.match(1)
        assert view.detail == {"passed": {"A": True, "B": False}, "hands": []}
        assert opened.verify().ok
        assert opened.replay().ok
        tests = {one.key: one for one in view.exchanges if one.role == "sandbox"}
        assert tests["test/A"].reply == "tested\n"
        assert (tests["test/B"].status, tests["test/B"].reason) == ("error", "exit code 1")
        parts = dict(tests["test/A"].request)
        assert parts == {
            "command": "sh test.sh",
            "folder": "answer\ntest.sh",
            "patch": RIGHT,
            "laid over it": "test.sh",
        }
        assert dict(next(one for one in view.exchanges if one.key == "mend/A").request)["folder"]
        (document,) = documents(opened.ledger)
        asked = {each["key"]: each for each in json.loads(msgspec.json.encode(document))["exchanges"]}
        assert asked["test/A"]["command"]["overlay"]["files"] == {
            "test.sh": {"text": "echo tested; grep -q right answer\n"}
        }
        assert len(asked["mend/A"]["folder"]) == 64
        assert asked["mend/A"]["reply"]["trace"]["steps"][1] == {"kind": "plan", "detail": "1. mend"}


def test_a_run_that_was_stopped_goes_on_to_the_same_record(tmp_path: Path) -> None:
    heads = []
    for name, stops in (("whole", ()), ("parts", (0.5, 1.5, 2.5))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mending.py").write_text(GAME, "utf-8")
        write_arena(folder, 4, game="./mending.py", rules={})
        for seconds in stops:
            play_stopping_at(folder, 6, seconds, lambda settings: Slow())
        play(folder, 6, clients=lambda settings: Slow())
        heads.append(head(folder))
    assert heads[0] == heads[1]
    assert heads[0][0] >= 6


def test_fixtures_say_who_works_with_tools_of_its_own(tmp_path: Path) -> None:
    players = [{"name": "ada", "command": ["true"]}, {"name": "bob", "model": "house:0.5"}]
    ledger = ledger_of(arena(tmp_path, players))
    (row, *_) = ledger.fixtures()
    fixture = read_fixture(row.body, by_hex(ledger.texts()))
    assert fixture.hands == tuple([seat.label for seat in fixture.seats if seat.player == "ada"])
    assert match_view(ledger, 1).detail["hands"] == list(fixture.hands)
    ledger.close()


def test_a_game_that_runs_commands_is_not_played_where_none_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> object:
        raise SandboxUnavailable("this kernel has no Landlock")

    monkeypatch.setattr(programs, "opened", none)
    with pytest.raises(ArenaError, match=r"mending runs commands.*no Landlock"):
        arena(tmp_path)
    with open_arena(tmp_path) as opened:
        assert unplayable_here(opened.settings, "mending") == ""
        monkeypatch.setattr(requirements, "available", lambda: False)
        assert "has no jail" in unplayable_here(opened.settings, "mending")
    found = {one.what: one for one in doctor.examine(tmp_path)}
    assert (found["jail"].state, "has no jail" in found["jail"].about) == ("broken", True)


def shown(folder: Path) -> MatchView:
    with open_arena(folder) as opened:
        return opened.match(1)


def test_the_way_to_a_reply_is_shown_below_it(tmp_path: Path) -> None:
    view = shown(arena(tmp_path))
    (traced,) = [one for one in view.exchanges if one.trace]
    assert traced.trace == TRACE
    page = Html().blocks([transcript(view)])
    folds = page.split("<summary>How it got there: ")
    assert len(folds) == 2
    assert page.index('id="step-1"') < page.index("How it got there") < page.index("What came of it")
    for told in ("thought", "plan", "run tests", "refused", "3,000", "900", "2 calls of its model, $0.005"):
        assert told in page
    assert "1 call not sent to its model: its budget of $0.50 is spent" in page
    for markup in ("<script>x", "answer <b>", "gpt<i>", "\x1b", "\u202e"):
        assert markup not in folds[1].split("</details>")[0]


def test_a_terminal_shows_the_way_with_the_requests(tmp_path: Path) -> None:
    view = shown(arena(tmp_path))
    short, full = io.StringIO(), io.StringIO()
    write([transcript(view)], short)
    write([transcript(view, requests=True)], full)
    assert "(nothing)" not in full.getvalue()
    assert "in 5 steps" in short.getvalue()
    assert "write answer" not in short.getvalue()
    assert "write answer" in full.getvalue()
    assert "\x1b" not in full.getvalue()
    assert "\n  | I read it." in full.getvalue()
    assert "write answer <b> Match 9\n" in full.getvalue()


@pytest.mark.skipif(not available(), reason="needs Landlock")
def test_programs_work_and_their_patches_are_tried_in_the_jail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    (tmp_path / "mending.py").write_text(GAME, "utf-8")
    (tmp_path / "good.py").write_text("open('answer', 'w').write('right')\nprint('Mended.')", "utf-8")
    (tmp_path / "bad.py").write_text("open('test.sh', 'w').write('exit 0')", "utf-8")
    players = [{"name": name, "command": [sys.executable, f"{name}.py"]} for name in ("good", "bad")]
    write_arena(tmp_path, players, game="./mending.py", rules={})
    with open_arena(tmp_path) as opened:
        opened.run(1)
        view = opened.match(1)
        assert {view.player(label): passed for label, passed in view.detail["passed"].items()} == {
            "good": True,
            "bad": False,
        }
        assert sorted(view.detail["hands"]) == ["A", "B"]
        assert [one.trace for one in view.exchanges if one.player == "good"] == [
            Trace((AgentStep("text", detail="Mended.\n"),))
        ]
        assert opened.replay().ok


async def test_a_command_whose_files_cannot_be_had_voids_its_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    lacking = WorkFolder("0" * 64, repo="lacking", commit="0" * 40)
    async with programs.opened(tmp_path, programs=False) as opened:
        reply = await opened.perform(ShellCommand("k", lacking, "true"))
    assert (reply.status, reply.cost_nano) == ("void", 0)
    assert reply.reason.startswith("sandbox_error: ")
