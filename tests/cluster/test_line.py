"""Lines between the processes of a cluster, over real sockets."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from peerage.cluster.line import Line, awaited, dialled

KEY = b"k" * 32
HERE = "127.0.0.1"


class End:
    """One end, and all that it heard."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.over: list[str] = []
        self._news = asyncio.Event()
        self.line = Line(self._hear, self._ended)

    def _hear(self, message: Any) -> None:
        self.heard.append(message)
        self._news.set()

    def _ended(self, why: str) -> None:
        self.over.append(why)
        self._news.set()

    async def until(self, count: int = 0, *, over: bool = False) -> None:
        while len(self.heard) < count or (over and not self.over):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 60)


async def connected() -> tuple[End, End]:
    one, other = End(), End()
    await dialled(HERE, await awaited(HERE, KEY, one.line), KEY, other.line)
    return one, other


async def test_messages_of_any_size_come_whole_and_in_order_both_ways() -> None:
    one, other = End(), End()
    sent = ["first", {"large": "x" * 5_000_000}, *range(3_000), ("small", None), b"y" * 70_000]
    one.line.send(sent[0])  # before there is anybody
    port = await awaited(HERE, KEY, one.line)
    await dialled(HERE, port, KEY, other.line)
    for message in sent[1:]:
        one.line.send(message)
    for message in reversed(sent):
        other.line.send(message)
    await other.until(len(sent))
    await one.until(len(sent))
    assert other.heard == sent
    assert one.heard == sent[::-1]
    one.line.close()
    await other.until(over=True)
    await one.until(over=True)
    assert (len(one.over), len(other.over)) == (1, 1)
    other.line.send("too late")


class Planted:
    """Makes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


async def test_who_does_not_show_the_key_is_hung_up_on_and_nothing_of_it_is_read(tmp_path: Path) -> None:
    one, other = End(), End()
    port = await awaited(HERE, KEY, one.line)
    bomb = pickle.dumps(Planted(tmp_path / "unpickled"))
    reader, writer = await asyncio.open_connection(HERE, port)
    writer.write(b"x" * 32 + len(bomb).to_bytes(4, "little") + bomb)
    with suppress(ConnectionError):
        assert await reader.read(1) == b""
    writer.close()
    await dialled(HERE, port, KEY, other.line)
    other.line.send("it is me")
    await one.until(1)
    assert one.heard == ["it is me"]
    assert not (tmp_path / "unpickled").exists()
    with pytest.raises(ConnectionRefusedError):  # there is one line
        await dialled(HERE, port, KEY, End().line)
    other.line.close()
    await one.until(over=True)


@pytest.fixture
def certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ray's documentation has them made: one authority, and a certificate of each node."""
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "node.key", "-out", "node.crt"]
    made = ["openssl", *words, "-subj", "/CN=ray", "-days", "1"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setenv("RAY_USE_TLS", "1")
    monkeypatch.setenv("RAY_TLS_SERVER_CERT", str(tmp_path / "node.crt"))
    monkeypatch.setenv("RAY_TLS_SERVER_KEY", str(tmp_path / "node.key"))
    monkeypatch.setenv("RAY_TLS_CA_CERT", str(tmp_path / "node.crt"))


@pytest.mark.usefixtures("certificates")
async def test_where_the_cluster_is_encrypted_so_is_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = await connected()
    other.line.send("quietly")
    await one.until(1)
    assert one.heard == ["quietly"]
    assert one.line._transport is not None
    assert one.line._transport.get_extra_info("peercert")  # of who dialled
    other.line.close()
    await one.until(over=True)
    one, plain, other = End(), End(), End()
    port = await awaited(HERE, KEY, one.line)
    with monkeypatch.context() as changed:
        changed.setenv("RAY_USE_TLS", "0")
        await dialled(HERE, port, KEY, plain.line)
    await plain.until(over=True)
    assert not one.heard
    await dialled(HERE, port, KEY, other.line)
    other.line.close()
    await one.until(over=True)
