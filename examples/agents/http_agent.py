"""An endpoint as a player: the same JSON request in a POST, the same JSON reply in its response.

Start it with `python http_agent.py`, then in arena.yaml:

    players:
      - {model: "http://127.0.0.1:8765/", name: Counter over HTTP}
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(asked: dict) -> dict:
    """The reply to one request; `python:http_agent:answer` makes a player of this function alone."""
    if asked["schema"] is None:
        return {"text": f"The question has {len(asked['messages'][-1]['content'].split())} words."}
    fields = asked["schema"]["properties"]
    return {"text": json.dumps({name: about.get("enum", ["no reason"])[0] for name, about in fields.items()})}


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(answer(asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    ThreadingHTTPServer(("127.0.0.1", port), Agent).serve_forever()
