"""The server on a network, by real sockets: half requests, ambiguous ones, too many streams, slow readers."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn
from tests.site.arenas import eventually

from peerage.site.http import connections
from peerage.site.http.connections import LEAST, RESERVED
from peerage.site.http.guard import PIECE, Guard
from peerage.site.people.voting_pages import SESSIONS_A_MINUTE
from peerage.site.server import server

resource = pytest.importorskip("resource")

FILES = 256
CONNECTIONS = FILES - RESERVED
STREAMS = CONNECTIONS * 3 // 4
PATIENCE_S = 60
"""For whatever must happen at some time, on however busy a machine."""
ASK = b"GET /api/arena HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /api/votes HTTP/1.1\r\nHost: localhost\r\n"
WATCH = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Running(NamedTuple):
    """A server in a process of its own."""

    port: int
    pid: int
    log: Path

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def answer(self, request: bytes) -> bytes:
        return answer(self.port, request)

    def cpu_s(self) -> float:
        """The CPU time of its own process so far."""
        times = Path(f"/proc/{self.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def answer(port: int, request: bytes) -> bytes:
    """All that comes back for what is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(request)
        return rest(client)


def rest(client: socket.socket) -> bytes:
    """What a connection still brings until its end."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := client.recv(65_536):
            found += piece
    return found


def head(client: socket.socket) -> bytes:
    """An answer up to the end of its headers."""
    found = b""
    while b"\r\n\r\n" not in found:
        piece = client.recv(1)
        if not piece:
            break
        found += piece
    return found


def status(found: bytes) -> int:
    return int(found.split(b" ", 2)[1])


@contextlib.contextmanager
def process(folder: Path, log: Path, files: int, *options: str) -> Iterator[Running]:
    """`peerage serve` that may open so many files."""
    command = [sys.executable, "-m", "peerage", "serve", "--dir", str(folder), "--port", "0", *options]
    with log.open("wb") as said:
        running = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
        try:
            assert running.stdout is not None
            found = re.search(r":(\d+)/", running.stdout.readline())
            assert found is not None
            yield Running(int(found[1]), running.pid, log)
        finally:
            running.terminate()
            try:
                running.communicate(timeout=PATIENCE_S)
            finally:
                running.kill()


@pytest.fixture
def small(folder: Path, tmp_path: Path) -> Iterator[Running]:
    """As after `ulimit -n 256`."""
    with process(folder, tmp_path / "log", FILES) as running:
        yield running


@contextlib.contextmanager
def thread(folder: Path) -> Iterator[int]:
    """The port of a server in this process, whose times a test may shorten."""
    started: list[uvicorn.Server] = []

    class Noted(server._Uvicorn):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            started.append(self)
            await super().startup(sockets)

    door = server.listening("127.0.0.1", 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_Uvicorn", Noted)
        serving = server.ArenaServer(folder, voting=True, token=None)
        running = threading.Thread(target=serving.run, args=(door,), daemon=True)
        running.start()
        yield door.getsockname()[1]
        started[0].should_exit = True
        running.join(PATIENCE_S)
        assert not running.is_alive()


def test_half_requests_shut_out_nobody(small: Running) -> None:
    """Many more than there is room for, some of which go on a byte at a time."""
    halves = []
    for number in range(3 * CONNECTIONS):
        halves.append(small.connect())
        halves[-1].sendall(b"POST /vote.html HTTP/1.1\r\nHost: localhost\r\nX: ")
        if number % 30 == 0:
            for half in halves[-50:]:
                with contextlib.suppress(ConnectionError):
                    half.sendall(b"x")
            with small.connect() as client:
                client.sendall(ASK)
                assert status(head(client)) == 200
    if Path("/proc/self/fd").exists():
        assert len(list(Path(f"/proc/{small.pid}/fd").iterdir())) < FILES
    ends = [rest(half) for half in halves]
    told = [end for end in ends if end]
    assert told
    assert {status(end) for end in told} == {408}
    for half in halves:
        half.close()
    said = small.log.read_text()
    assert f"all {CONNECTIONS} connections are taken" in said
    assert len(said.splitlines()) <= 5


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs a system that tells CPU times")
@pytest.mark.parametrize("path", [b"/", b"/api/arena", b"/live.html"])
def test_requests_that_do_not_wait_and_are_not_read_hold_nobody_up(small: Running, path: bytes) -> None:
    """Counted in the server's CPU, since this machine may be busy: before they took turns it was 2.3 s."""
    ask = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path
    with small.connect() as client:
        client.sendall(ask)
        assert status(head(client)) == 200
    before = small.cpu_s()
    with contextlib.ExitStack() as flood:
        for _ in range(200):
            client = flood.enter_context(small.connect())
            client.setblocking(False)
            assert client.send(100 * ask)
        with small.connect() as client:
            client.sendall(ask)
            assert status(head(client)) == 200
        assert small.cpu_s() - before < 0.9


def test_so_many_streams_and_not_one_more(small: Running) -> None:
    streams = [small.connect() for _ in range(STREAMS + 15)]
    for stream in streams:
        stream.sendall(WATCH)
    heads = [head(stream) for stream in streams]
    assert sum(status(found) == 200 for found in heads) == STREAMS
    refused = [found for found in heads if status(found) != 200]
    assert len(refused) == 15
    assert all(status(found) == 503 and b"retry-after: 60" in found for found in refused)
    with small.connect() as client:
        client.sendall(ASK)
        assert status(head(client)) == 200

    def another() -> bool:
        with small.connect() as client:
            client.sendall(WATCH)
            return status(head(client)) == 200

    assert not another()
    streams[[status(found) for found in heads].index(200)].close()
    eventually(another)
    for stream in streams:
        stream.close()


@pytest.mark.parametrize(
    "wrong",
    [
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
        POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n",
        POST + b"Content-Length: +4\r\n\r\n",
        POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n",
        POST + b"Transfer-Encoding: xchunked\r\n\r\n",
        POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n",
        POST + b"Transfer-Encoding : chunked\r\n\r\n",
        POST + b"X: y\nTransfer-Encoding: chunked\r\n\r\n",
        POST + b"X: y\rTransfer-Encoding: chunked\r\n\r\n",
        b"GET /api/arena HTTP/1.1\nHost: localhost\n\n",
        b"GET /api/arena HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_a_request_that_two_servers_may_read_differently_is_refused(served: int, wrong: bytes) -> None:
    found = answer(served, wrong + b"0\r\n\r\n" + ASK)
    assert status(found) == 400
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in found


@pytest.fixture(scope="module")
def served(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with thread(Path(shutil.copytree(played, tmp_path_factory.mktemp("network") / "arena"))) as port:
        yield port


def test_requests_one_after_the_other_are_answered(served: int) -> None:
    last = ASK.replace(b"Host", b"Connection: close\r\nHost")
    assert answer(served, ASK + ASK + last).count(b"HTTP/1.1 200") == 3
    chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    found = answer(served, chunked + last)
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"415", b"200"]


def test_a_body_that_breaks_off_in_chunks_is_refused_in_words(
    served: int, caplog: pytest.LogCaptureFixture
) -> None:
    for path in (b"/api/votes", b"/matches.html"):
        broken = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" % path
        with socket.create_connection(("127.0.0.1", served), timeout=PATIENCE_S) as client:
            client.sendall(broken)
            time.sleep(0.1)
            client.sendall(b"no number\r\n\r\n")
            assert status(rest(client)) in (400, 405, 415)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_client_that_takes_its_time_is_let_go(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECEIVE_S", 0.3)
    assert answer(served, b"") == b""
    assert status(answer(served, b"GET / HT")) == 408
    body = b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    assert status(answer(served, POST + body)) == 408
    # Answered at once; what still comes of its body keeps it open no longer than any other.
    found = answer(served, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx")
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"405"]


def test_a_request_that_comes_in_pieces_is_answered(served: int) -> None:
    with socket.create_connection(("127.0.0.1", served), timeout=PATIENCE_S) as client:
        for place in range(0, len(ASK), 7):
            client.sendall(ASK[place : place + 7])
            time.sleep(0.01)
        assert status(head(client)) == 200


def test_a_reader_who_takes_nothing_is_let_go(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.3)
    page = b"GET /assets/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(PATIENCE_S)
        client.connect(("127.0.0.1", served))
        with pytest.raises(ConnectionError):
            client.sendall(page * 200_000)
    assert status(answer(served, ASK.replace(b"Host", b"Connection: close\r\nHost"))) == 200


@pytest.mark.parametrize("files", [64, RESERVED + LEAST - 1])
def test_with_too_few_files_it_says_so(folder: Path, files: int) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "peerage", "serve", "--dir", str(folder), "--port", "0"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        check=False,
    )
    assert shown.returncode == 1
    assert "ulimit -n" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_no_header_is_believed_that_was_not_named(served: int) -> None:
    """uvicorn believes X-Forwarded-For of this machine, where any proxy stands."""
    ask = b"GET /api/ballot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    ask += b"X-Forwarded-For: 10.0.0.%d\r\n\r\n"
    found = {status(answer(served, ask % number)) for number in range(SESSIONS_A_MINUTE + 5)}
    assert 429 in found


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 7])
async def test_an_answer_goes_out_in_pieces(size: int) -> None:
    body = (b"0123456789" * size)[:size]
    sent: list[MutableMapping[str, Any]] = []

    async def whole(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(dict(message))

    scope = {"type": "http", "raw_path": b"/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    await Guard(whole, None)(scope, None, send)  # type: ignore[arg-type]
    pieces = sent[1:]
    assert b"".join(message["body"] for message in pieces) == body
    assert all(len(message["body"]) <= PIECE for message in pieces)
    assert [message.get("more_body", False) for message in pieces] == [True] * (len(pieces) - 1) + [False]
