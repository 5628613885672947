"""The host of `host_kills`: serves models, and marks what it is asked for.

python host_server.py serve MARKS PORT PORT
python host_server.py stop MARKS
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOWLY_S = 0.15


def mark(word: str) -> None:
    """Append a word to the file of marks."""
    file = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{word}\n".encode())
    os.close(file)


class Handler(BaseHTTPRequestHandler):
    """One model."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._say({"data": [{"id": "m"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        told = json.dumps(body["messages"])
        warm = "Your hand" not in told
        mark("warming" if warm else "call")
        time.sleep(SLOWLY_S if warm else 0.03)
        text = "ready" if warm else json.dumps({"points": len(told) % 7})
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        self._say(
            {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            | {"usage": usage}
        )

    def _say(self, what: dict[str, object]) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    if sys.argv[1] == "stop":
        mark("stopping")
        time.sleep(SLOWLY_S)
        return
    mark(f"pid:{os.getpid()}")
    mark("starting")
    time.sleep(SLOWLY_S)
    ports = [int(port) for port in sys.argv[3:]]
    servers = [ThreadingHTTPServer(("127.0.0.1", port), Handler) for port in ports]
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    servers[0].serve_forever()


if __name__ == "__main__":
    main()
