"""Programs, endpoints and functions as players: what they are told, and what their replies become."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.players.agents.test_gateway import full_server

from peerage.game.protocol import Choice, Text, fence
from peerage.players import open_client
from peerage.players.agents.agent_protocol import reply_from_bytes, request_of
from peerage.players.agents.endpoint import address, seconds_until
from peerage.players.client import MAX_BODY, Answer, Call, Later, PlayerError
from peerage.settings import PlayerSettings

SECRET = "sk-agent-secret-4321"
CALL = Call(
    key="answer/A",
    role="contestant",
    messages=(("system", "Be brief."), ("user", "Why?")),
    expects=Text(),
    max_tokens=300,
    temperature=0.0,
    seed="seed",
)


def program(folder: Path, source: str, **stated: Any) -> PlayerSettings:
    path = folder / "agent.py"
    path.write_text(source)
    return PlayerSettings.model_validate({"command": [sys.executable, str(path)], **stated})


async def ask(
    settings: PlayerSettings, folder: Path, env: dict[str, str] | None = None, prompt: str = "Why?"
) -> Answer:
    client = open_client(settings, dict(os.environ) if env is None else env, folder)
    try:
        await client.start()
        return await client.answer(replace(CALL, messages=(CALL.messages[0], ("user", prompt))))
    finally:
        await client.close()


async def failure(settings: PlayerSettings, folder: Path, env: dict[str, str] | None = None) -> PlayerError:
    with pytest.raises(PlayerError) as caught:
        await ask(settings, folder, env)
    assert str(caught.value).startswith(f"{settings.name}: ")
    assert SECRET not in str(caught.value)
    return caught.value


def test_the_request_object() -> None:
    settings = PlayerSettings(model="command:x", name="Mine", max_tokens=100)
    request = request_of(CALL, settings)
    assert request == {
        "version": 1,
        "id": request["id"],
        "player": "Mine",
        "role": "contestant",
        "max_tokens": 100,
        "temperature": 0.0,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Why?"},
        ],
        "schema": None,
    }
    assert fence("seed", "answer/A") not in json.dumps(request)
    judged = Call(
        **{f: getattr(CALL, f) for f in CALL.__struct_fields__} | {"expects": Choice("v", ("A", "B"))}
    )
    assert request_of(judged, settings)["schema"]["properties"]["v"]["enum"] == ["A", "B"]


def test_a_whole_reply() -> None:
    told = {
        "text": "Because.", "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.25, "model": "m-1",
        "refused": False, "truncated": True, "unknown": [1], "kwh": 0.001, "images": 0, "audio_seconds": None,
    }  # fmt: skip
    answer = reply_from_bytes(json.dumps(told).encode(), 1.5)
    used = {"kwh": 0.001, "images": 0}
    assert answer == Answer("Because.", 1.5, 5, 2, 0.25, "m-1", False, True, used=used)


@pytest.mark.parametrize(
    "text", ["plain", "", '{"verdict": "A"}', "{broken", "[1, 2]", "{" * 100_000, "null"]
)
def test_what_is_no_reply_object_is_the_text_itself(text: str) -> None:
    assert reply_from_bytes(text.encode(), 0.0).text == text


@pytest.mark.parametrize(
    "reply",
    [
        {"text": 3},
        {"text": None},
        {"text": "x", "cost_usd": -1},
        {"text": "x", "cost_usd": "1"},
        {"text": "x", "cost_usd": True},
        {"text": "x", "kwh": -1},
        {"text": "x", "images": "two"},
        {"text": "x", "input_tokens": -1},
        {"text": "x", "output_tokens": 1.5},
        {"text": "x", "output_tokens": 10**30},
    ],
)
def test_a_broken_field_fails_its_request(reply: dict[str, Any]) -> None:
    with pytest.raises(PlayerError, match="malformed") as caught:
        reply_from_bytes(json.dumps(reply).encode(), 0.0)
    assert caught.value.kind == "request"


def test_an_error_that_is_null_is_none() -> None:
    assert reply_from_bytes(b'{"text": "fine", "error": null}', 0.0).text == "fine"
    for broken in (b'{"error": null}', b'{"text": "fine", "error": ""}'):
        with pytest.raises(PlayerError):
            reply_from_bytes(broken, 0.0)


@pytest.mark.parametrize(
    "content", [b'{"text": "cut \\ud83d", "output_tokens": 7}', b'{"text": "cut \xff", "output_tokens": 7}']
)
def test_half_a_surrogate_pair_becomes_a_replacement(content: bytes) -> None:
    found = reply_from_bytes(content, 0.0)
    assert (found.text, found.output_tokens) == ("cut \ufffd", 7)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    with suppress(PlayerError):
        assert isinstance(reply_from_bytes(content, 0.0).text, str)


async def test_a_program_reads_the_request_and_writes_the_reply(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "json.dump({'text': asked['messages'][-1]['content'].upper(), 'cost_usd': 0.5}, sys.stdout)\n",
    )
    answer = await ask(agent, tmp_path)
    assert (answer.text, answer.cost_usd) == ("WHY?", 0.5)
    assert answer.latency_s > 0


async def test_a_programs_environment_holds_no_key_but_its_own(tmp_path: Path) -> None:
    agent = program(tmp_path, "import json, os\nprint(json.dumps(dict(os.environ)))\n", key_env="MY_KEY")
    env = {**os.environ, "OPENAI_API_KEY": SECRET, "MY_KEY": "mine", "SOME_TOKEN": SECRET}
    seen = json.loads((await ask(agent, tmp_path, env)).text)
    assert SECRET not in seen.values()
    assert seen["MY_KEY"] == "mine"
    assert seen["PATH"] == os.environ["PATH"]


async def test_a_program_runs_in_the_arenas_folder(tmp_path: Path) -> None:
    agent = program(tmp_path, "import os\nprint(os.getcwd(), end='')\n")
    assert Path((await ask(agent, tmp_path)).text).resolve() == tmp_path.resolve()


async def test_a_failing_program_tells_the_end_of_its_errors(tmp_path: Path) -> None:
    source = f"import sys\nsys.stderr.write('x' * 9000 + 'the {SECRET} end')\nsys.exit(3)\n"
    agent = program(tmp_path, source, name="Mine", key_env="K")
    error = await failure(agent, tmp_path, {**os.environ, "K": SECRET})
    assert (error.kind, error.maybe_paid) == ("transient", True)
    assert "exit code 3" in str(error)
    assert str(error).endswith("the [key] end")


async def test_a_programs_traceback_is_told_in_one_line(tmp_path: Path) -> None:
    deep = "def f(n):\n    if n: f(n - 1)\n    else: raise ValueError('the provider said 503')\n"
    source = f"import sys\nprint('warming up', file=sys.stderr)\n{deep}for n in range(9): pass\nf(90)\n"
    agent = program(tmp_path, source, name="Mine")
    error = await failure(agent, tmp_path)
    script = agent.words[-1].rpartition("/")[2]
    assert str(error) == f"Mine: exit code 1: warming up ValueError: the provider said 503 ({script}, line 5)"


async def test_an_error_object_says_whether_to_retry(tmp_path: Path) -> None:
    for retry, kind in ((True, "transient"), (False, "request")):
        agent = program(tmp_path, f"print('{json.dumps({'error': 'search is down', 'retry': retry})}')\n")
        error = await failure(agent, tmp_path)
        assert error.kind == kind
        assert "search is down" in str(error)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
async def test_a_slow_program_is_killed_with_its_children(tmp_path: Path) -> None:
    for patience in (2, 20, 100):  # until it has had the time to start a child
        agent = program(
            tmp_path,
            "import pathlib, subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            "pathlib.Path('pid').write_text(str(child.pid))\n"
            "time.sleep(600)\n",
            timeout_s=patience,
        )
        error = await failure(agent, tmp_path)
        assert f"within {patience} s" in str(error)
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    await gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
async def test_a_child_left_behind_neither_blocks_nor_survives(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('pid').write_text(str(child.pid))\n"
        "print('done', end='')\n",
    )
    assert (await ask(agent, tmp_path)).text == "done"
    await gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="a subreaper")
@pytest.mark.parametrize("end", ["", "time.sleep(600)", "while True: sys.stdout.write('x' * 65536)"])
async def test_a_child_in_a_session_of_its_own_does_not_survive_either(tmp_path: Path, end: str) -> None:
    child = (
        "import os, pathlib, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
        "pathlib.Path('new').write_text(str(os.getpid())); os.rename('new', 'pid'); time.sleep(600)"
    )
    for patience in (2, 20, 100) if end else (100,):  # until it has had the time to start a child
        agent = program(
            tmp_path,
            "import os, subprocess, sys, time\n"
            f"subprocess.run([sys.executable, '-c', {child!r}], stdout=subprocess.DEVNULL)\n"
            "while not os.path.exists('pid'): time.sleep(0.01)\n"
            f"print('done', end='')\n{end}\n",
            timeout_s=patience,
        )
        if end:
            await failure(agent, tmp_path)
        else:
            assert (await ask(agent, tmp_path)).text == "done"
        if (tmp_path / "pid").exists():
            break
    await gone(int((tmp_path / "pid").read_text()))


async def gone(pid: int) -> None:
    for _ in range(1_000):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            return
        await asyncio.sleep(0.05)
    pytest.fail("a child of the program lives on")


async def test_a_cancelled_call_kills_its_program(tmp_path: Path) -> None:
    agent = program(tmp_path, "import os, time\nopen('pid','w').write(str(os.getpid()))\ntime.sleep(60)\n")
    client = open_client(agent, dict(os.environ), tmp_path)
    await client.start()
    task = asyncio.create_task(client.answer(CALL))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert not task.done(), task.result()
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(int((tmp_path / "pid").read_text()))
    await client.close()


async def test_a_flood_is_stopped(tmp_path: Path) -> None:
    agent = program(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)\n", timeout_s=30)
    error = await failure(agent, tmp_path)
    assert f"more than {MAX_BODY // 2**20} MiB" in str(error)


async def test_a_program_that_does_not_read_its_input(tmp_path: Path) -> None:
    deaf = program(tmp_path, "print('ok', end='')\n")
    assert (await ask(deaf, tmp_path, prompt="x" * 10**6)).text == "ok"


async def test_an_unknown_program_is_told_at_start(tmp_path: Path) -> None:
    error = await failure(PlayerSettings(model="command:no-such-program-here --x"), tmp_path)
    assert error.kind == "permanent"
    assert "PATH" in str(error)


async def test_functions_plain_and_async(tmp_path: Path) -> None:
    (tmp_path / "functions_under_test.py").write_text(
        "import threading\n"
        "def plain(request):\n"
        "    return {'text': threading.current_thread().name, 'output_tokens': 4}\n"
        "async def waits(request):\n    return request['messages'][-1]['content']\n"
        "def fails(request):\n    raise KeyError('no such thing')\n"
        "def offline(request):\n    raise ConnectionError('nobody there')\n"
        "def leaves(request):\n    raise SystemExit(1)\n"
        "def sleeps(request):\n    import time; time.sleep(3)\n"
        "def number(request):\n    return 7\n"
        "from peerage.players import Later\n"
        "def asleep(request):\n    raise Later('back at 8:00', 1_700)\n"
        "constant = 1\n"
    )

    def settings(name: str, **stated: Any) -> PlayerSettings:
        return PlayerSettings(model=f"python:functions_under_test:{name}", **stated)

    plain = await ask(settings("plain"), tmp_path)
    assert (plain.text, plain.output_tokens) == ("peerage-player", 4)
    assert (await ask(settings("waits"), tmp_path)).text == "Why?"
    for name, kind, says in (
        ("fails", "request", "KeyError"),
        ("offline", "transient", "nobody there"),
        ("leaves", "request", "RuntimeError"),
        ("number", "request", "not int"),
        ("constant", "permanent", "cannot be called"),
        ("absent", "permanent", "cannot import"),
    ):
        error = await failure(settings(name), tmp_path)
        assert error.kind == kind, name
        assert says in str(error)
    later = await failure(settings("asleep"), tmp_path)
    assert isinstance(later, Later)
    assert str(later).endswith(": back at 8:00")
    assert later.until_ms == 1_700
    late = await failure(settings("sleeps", timeout_s=0.1), tmp_path)
    assert (late.kind, late.maybe_paid) == ("transient", True)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
async def endpoint() -> AsyncIterator[Callable[[Handler], str]]:
    handlers: list[Handler] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        return await handlers[-1](request)

    app = web.Application()
    app.router.add_post("/agent", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]

    def serve(handler: Handler) -> str:
        handlers.append(handler)
        return f"http://127.0.0.1:{port}/agent"

    yield serve
    await runner.cleanup()


async def test_an_endpoint_gets_the_request_and_its_own_key(
    endpoint: Callable[[Handler], str], tmp_path: Path
) -> None:
    keys: list[str] = []

    async def echo(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        keys.append(request.headers.get("Authorization", "none"))
        return web.json_response({"text": asked["messages"][-1]["content"], "model": keys[-1]})

    url = endpoint(echo)
    env = {"MINE": SECRET, "OPENAI_API_KEY": "other"}
    assert (await ask(PlayerSettings(model=url), tmp_path, env)).snapshot == "none"
    keyed = await ask(PlayerSettings(model=f"http:{url}", key_env="MINE"), tmp_path, env)
    assert keys == ["none", f"Bearer {SECRET}"]
    assert (keyed.text, keyed.snapshot) == ("Why?", "Bearer [key]"), "what it repeats is published"
    assert "MINE" in str(await failure(PlayerSettings(model=url, key_env="MINE"), tmp_path, {}))


@pytest.mark.parametrize(
    ("status", "kind", "maybe_paid"),
    [
        (304, "request", False),
        (400, "request", False),
        (401, "permanent", False),
        (402, "permanent", False),
        (404, "permanent", False),
        (429, "transient", False),
        (500, "transient", True),
        (503, "transient", False),
    ],
)
async def test_an_endpoints_statuses(
    endpoint: Callable[[Handler], str], tmp_path: Path, status: int, kind: str, maybe_paid: bool
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=f"no {SECRET}", headers={"Retry-After": "3"})

    settings = PlayerSettings(model=endpoint(refuse), key_env="K")
    error = await failure(settings, tmp_path, {"K": SECRET})
    assert (error.kind, error.maybe_paid) == (kind, maybe_paid)
    assert error.retry_after_s == (3 if kind == "transient" else None)


async def test_an_endpoints_half_a_surrogate_pair_becomes_a_replacement(
    endpoint: Callable[[Handler], str], tmp_path: Path
) -> None:
    async def cut(_: web.Request) -> web.Response:
        return web.json_response({"text": "cut \ud83d", "model": "m\ud83d"})

    found = await ask(PlayerSettings(model=endpoint(cut)), tmp_path)
    assert found.text == "cut \ufffd"


async def test_an_endpoint_that_cuts_its_json_hangs_or_is_gone(
    endpoint: Callable[[Handler], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ["application/json", "application/problem+json"]

    async def cut(_: web.Request) -> web.StreamResponse:
        return web.Response(text='{"text": "hal', content_type=kinds.pop())

    async def plain(_: web.Request) -> web.StreamResponse:
        return web.Response(text="just text")

    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    for _ in (*kinds,):
        assert "cut off" in str(await failure(PlayerSettings(model=endpoint(cut)), tmp_path))
    assert (await ask(PlayerSettings(model=endpoint(plain)), tmp_path)).text == "just text"
    late = await failure(PlayerSettings(model=endpoint(hang), timeout_s=0.2), tmp_path)
    assert (late.kind, late.maybe_paid) == ("transient", True)
    nobody = await failure(PlayerSettings(model="http://127.0.0.1:9/agent"), tmp_path)
    assert (nobody.kind, nobody.maybe_paid) == ("transient", False)
    monkeypatch.setattr("peerage.players.session.CONNECT_S", 0.2)
    with full_server() as url:
        full = await failure(PlayerSettings(model=url), tmp_path)
        assert (full.kind, full.maybe_paid) == ("transient", False)
        assert "no connection" in str(full)


def test_addresses_and_retry_after() -> None:
    assert address("https://h/a") == "https://h/a"
    assert address("http:https://h/a") == "https://h/a"
    assert seconds_until("12") == 12
    assert seconds_until("soon") is None
    assert seconds_until("Thu, 01 Jan 1970 00:00:00 GMT") == 0


async def test_a_program_that_never_works_is_taken_for_broken_and_one_that_did_is_not(tmp_path: Path) -> None:
    settings = program(
        tmp_path,
        "import os, sys\nprint('well')\nsys.exit(0 if os.path.exists('works') else 2)\n",
    )
    client = open_client(settings, dict(os.environ), tmp_path)
    await client.start()
    kinds = []
    for works in (False, False, False, True, False, False, False):
        (tmp_path / "works").touch() if works else (tmp_path / "works").unlink(missing_ok=True)
        try:
            await client.answer(CALL)
        except PlayerError as error:
            kinds.append(error.kind)
    await client.close()
    assert kinds == ["transient", "transient", "permanent", "transient", "transient", "transient"]


async def test_permissions_that_an_agent_changes_are_set_back_and_it_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = {"arena.db": 0o600, ".env": 0o600, "arena.votes.key": 0o400, "arena.yaml": 0o644}
    for name, mode in kept.items():
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(mode)
    tmp_path.chmod(0o750)
    source = f"import os\nfor name in {[*kept, '.']!r}:\n    os.chmod(name, 0o777)\nprint('done')\n"
    stated = program(tmp_path, source)
    hidden = [tmp_path / name for name in kept if name != "arena.yaml"]
    for _ in range(2):
        client = open_client(stated, dict(os.environ), tmp_path, hidden)
        await client.start()
        try:
            assert (await client.answer(CALL)).text.strip() == "done"
        finally:
            await client.close()
        found = {name: (tmp_path / name).stat().st_mode & 0o777 for name in kept}
        assert found == kept
        assert tmp_path.stat().st_mode & 0o777 == 0o750
    told = [line for line in caplog.messages if "changed the permissions" in line]
    assert len(told) == 2 * 5
    assert any(f"{tmp_path / '.env'} from 600 to 777; they are set back" in line for line in told)
    (tmp_path / ".env").chmod(0o640)  # as its owner wants it while no agent runs
    client = open_client(stated, dict(os.environ), tmp_path, hidden)
    await client.start()
    await client.answer(CALL)
    await client.close()
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o640
