"""A witness as C2SP tlog-witness describes it, for one log: it cosigns what it has been shown to grow."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.ledger.rfc9162 import check_consistency

from peerage.ledger.check.notes import WITNESS, Signature, VerifierKey, read_checkpoint, signers

NAME = "witness.example.org/w1"


class Witness:
    """Knows the log whose public key is `log`; `at_s` is the time it signs."""

    def __init__(self, log: VerifierKey, at_s: int = 1_800_000_000) -> None:
        self._private = Ed25519PrivateKey.generate()
        self.key = VerifierKey(NAME, WITNESS, self._private.public_key().public_bytes_raw())
        self._log, self._at_s = log, at_s
        self.size, self._root = 0, b""

    def add(self, body: str) -> tuple[int, str]:
        """Status and text that answer a request."""
        head, _, text = body.partition("\n\n")
        old, *path = head.split("\n")
        note = read_checkpoint(text)
        if note.origin != self._log.name:
            return 404, "unknown log\n"
        if not signers(note, [self._log])[0]:
            return 403, "nobody known signed it\n"
        if old != f"old {self.size}":
            return 409, f"{self.size}\n"
        proof = [b64decode(line) for line in path]
        if self.size and not check_consistency(self.size, note.size, self._root, note.root, proof):
            return 422, "inconsistent\n"
        self.size, self._root = note.size, note.root
        said = b"cosignature/v1\ntime %d\n%b" % (self._at_s, note.text.encode())
        made = self._at_s.to_bytes(8, "big") + self._private.sign(said)
        return 200, f"{Signature(NAME, self.key.id, made)}\n"


@contextmanager
def serving(witness: Witness) -> Iterator[str]:
    """Serve a witness; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, text = witness.add(body) if self.path == "/add-checkpoint" else (404, "")
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
