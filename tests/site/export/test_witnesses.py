"""Witnesses: what is sent and what is made of the answers, as another implementation gave them.

`tests/data/witness/exchanges.json` holds what aics-witness 0.1.0 answered over HTTP to the requests of a log
with a fixed key, which are made here again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from threading import Thread
from typing import Any, ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from peerage.ledger.check.notes import Checkpoint, read_key, sign, signers
from peerage.ledger.forms.merkle import root
from peerage.site.export.witnesses import Rewritten, WitnessError, cosigned, fetch, listed

DATA = json.loads((Path(__file__).parents[2] / "data" / "witness" / "exchanges.json").read_text("utf-8"))
WITNESS = read_key(DATA["key"])
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
ORIGIN = f"peerage/{'0f' * 16}"
LEAVES = [sha256(b"%d" % number).digest() for number in range(9)]
FORKED = [*LEAVES[:3], sha256(b"other").digest(), *LEAVES[4:], bytes(32)]


class _Answers(BaseHTTPRequestHandler):
    """Answers as recorded; a request that was not recorded is answered with 400."""

    known: ClassVar[dict[str, tuple[int, str]]] = {}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(*self.known.get(self.path + body, (400, "not recorded\n")))

    def do_GET(self) -> None:
        self._answer(*self.known.get(self.path, (404, "")))

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    _Answers.known = {
        f"/add-checkpoint{one['request']}": (one["status"], one["answer"]) for one in DATA["exchanges"]
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def note(leaves: list[bytes], origin: str = ORIGIN, private: Ed25519PrivateKey = PRIVATE) -> Checkpoint:
    return sign(Checkpoint(origin, len(leaves), root(leaves)), private)


@pytest.mark.parametrize("size", [5, 9])  # 9 where the witness knows 5: with a consistency proof
def test_a_witness_of_others_cosigns(address: str, size: int) -> None:
    before = note(LEAVES[:size])
    after = cosigned(before, LEAVES, address, [WITNESS])
    held, wrong = signers(after, [WITNESS])
    assert (after.text, wrong, len(after.signatures)) == (before.text, [], 2)
    assert [one.key for one in held] == [WITNESS]
    recorded = [one["answer"] for one in DATA["exchanges"] if one["status"] == 200]
    assert f"{after.signatures[1]}\n" in recorded
    assert held[0].at_s == 1_795_425_088


@pytest.mark.parametrize(
    ("leaves", "told"),
    [
        (
            LEAVES[:4],
            "has cosigned 9 entries of this log, and this checkpoint is of 4: the ledger was cut off",
        ),
        (FORKED, "what it cosigned before is not the beginning of this log: its past was rewritten"),
    ],
)
def test_a_witness_tells_another_history(address: str, leaves: list[bytes], told: str) -> None:
    with pytest.raises(Rewritten, match=told):
        cosigned(note(leaves), leaves, address, [WITNESS])


def test_what_a_witness_refuses_is_explained(address: str) -> None:
    with pytest.raises(WitnessError, match="it does not know this log"):
        cosigned(note(LEAVES, f"peerage/{'aa' * 16}"), LEAVES, address, [WITNESS])
    other = Ed25519PrivateKey.from_private_bytes(bytes(31) + b"x")
    with pytest.raises(WitnessError, match="it has another key for this log"):
        cosigned(note(LEAVES, private=other), LEAVES, address, [WITNESS])
    with pytest.raises(WitnessError, match="it answers 400"):
        cosigned(note(LEAVES[:2]), LEAVES, address, [WITNESS])
    with pytest.raises(WitnessError, match="is no web address"):
        cosigned(note(LEAVES), LEAVES, "file:///etc/passwd", [WITNESS])
    with socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        away = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(WitnessError, match="cannot be reached"):
            cosigned(note(LEAVES), LEAVES, away, [WITNESS])


def test_a_cosignature_counts_with_a_known_key_alone(address: str) -> None:
    with pytest.raises(WitnessError, match=r"signs as witness.example.org/w1\+6dcf85bf, .* --witness-key"):
        cosigned(note(LEAVES[:5]), LEAVES, address, [])
    # The signature of one checkpoint under another, as a witness that lies would send it.
    request = f"/add-checkpoint{DATA['exchanges'][2]['request']}"
    before, _Answers.known[request] = _Answers.known[request], (200, DATA["exchanges"][0]["answer"])
    try:
        with pytest.raises(WitnessError, match="which none of the witnesses' keys at hand fits"):
            cosigned(note(LEAVES), LEAVES, address, [WITNESS])
    finally:
        _Answers.known[request] = before


def test_checkpoints_of_a_published_site_are_found(address: str) -> None:
    _Answers.known |= {
        "/arena/checkpoints/list.txt": (200, "5.txt\n9.txt\nhttp://elsewhere/1.txt\n../keys.txt\n"),
        "/arena/checkpoints/9.txt": (200, str(note(LEAVES))),
    }
    found = listed(f"{address}/arena")
    assert found == [f"{address}/arena/checkpoints/{size}.txt" for size in (5, 9)]
    assert fetch(found[1]).decode() == str(note(LEAVES))
    with pytest.raises(WitnessError, match="answers 404"):
        fetch(found[0])
