"""Every attack works outside the sandbox (the control) and gets nothing inside, and the sandbox lives on."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.sandbox.attacks import ATTACKS, Attack
from tests.sandbox.conftest import Sandboxes

from peerage.sandbox.program import Limits

LIMITS = Limits(fuel=1_500_000_000, seconds=60.0)
PATIENCE_S = 0.6
FLOOD = 4 * 1024 * 1024
LINUX = sys.platform == "linux"


@pytest.fixture(scope="session")
def bomb() -> str:
    return base64.b64encode(zlib.compress(zlib.compress(bytes(270 * 2**20), 1))).decode()


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bomb: str) -> Iterator[Mapping[str, object]]:
    monkeypatch.setenv("PEERAGE_TEST_SECRET", "a secret of the parent")
    monkeypatch.chdir(tmp_path)
    secret, victim, unix = tmp_path / "secret", tmp_path / "victim", tmp_path / "unix"
    secret.write_text("secret")
    victim.write_text("here")
    held = os.open(secret, os.O_RDONLY)
    os.set_inheritable(held, True)
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(unix))
        local.listen()
        yield {
            "secret": secret,
            "victim": victim,
            "unix": unix,
            "port": tcp.getsockname()[1],
            "bomb": bomb,
            "held": held,
        }
    os.close(held)


def test_there_are_enough_of_them() -> None:
    assert len(ATTACKS) >= 45
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.skipif(not LINUX, reason="the controls are written for Linux")
@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.control], ids=str)
def test_it_works_outside(attack: Attack, around: Mapping[str, object]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", attack.source.format_map(around)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if "errors" in attack.name else subprocess.DEVNULL,
        pass_fds=[int(str(around["held"]))],
    )
    assert process.stdin
    assert process.stdout
    try:
        if attack.sign == "hangs":
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
        elif attack.sign == "crashes":
            assert process.wait(10) in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
        elif attack.sign == "floods":
            stream = process.stderr or process.stdout
            assert len(stream.read(FLOOD)) == FLOOD
        else:
            assert b"PWNED" in process.stdout.read()
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_it_fails_inside(attack: Attack, sandbox: Sandboxes, around: Mapping[str, object]) -> None:
    result = sandbox.run(attack.source.format_map(around), "", LIMITS)
    assert "PWNED" not in result.stdout
    assert result.status in attack.ends, result.stderr
    assert len(result.stdout) + len(result.stderr) <= LIMITS.output
    assert Path(str(around["victim"])).exists()
    assert sandbox.run("print(6 * 7)").stdout == "42\n"
