"""Agents in a real arena: ids of match and seat, their conversation, and the end of a match."""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from tests.players.agents.test_agents import CALL

from peerage.arena import open_arena
from peerage.players import open_client
from peerage.players.agents.processes import BROKEN_AFTER
from peerage.players.client import PlayerError, Remembering
from peerage.settings import PlayerSettings
from peerage.settings.players.sessions import SESSION_TOKENS, session_tokens

ROUNDS, MATCHES = 3, 2


class Served:
    """An endpoint that cooperates, and what it was sent, in order; notices it answers as `notice` says."""

    def __init__(self, notice: str = "well") -> None:
        self.sent: list[dict[str, Any]] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.sent.append(asked)
                if "ended" in asked and notice != "well":
                    if notice == "hangs":
                        time.sleep(20)
                    self.send_error(500)
                    return
                reply = json.dumps({"text": '{"moves": ["cooperate"]}', "cost_usd": 0.0}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [request for request in self.sent if "messages" in request and request.get("seat")]

    @property
    def ended(self) -> list[dict[str, Any]]:
        return [request for request in self.sent if "ended" in request]


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served()
    yield server
    server.close()


def play(folder: Path, *players: dict[str, Any], matches: int = MATCHES, **more: Any) -> None:
    """Play matches of the dilemma, and recompute them."""
    folder.mkdir(exist_ok=True)
    rules = {"market": "prisoners-dilemma", "seats": 2, "rounds": ROUNDS}
    stated = {"game": "market", "rules": rules, "players": [*players], **more}
    (folder / "arena.yaml").write_text(yaml.safe_dump(stated))
    with open_arena(folder) as arena:
        assert arena.run(max_matches=matches).played == matches
        assert arena.replay().ok


def agent(served: Served, session: str | int, name: str = "Agent") -> dict[str, Any]:
    return {"model": served.address, "name": name, "price": {"input": 0, "output": 0}, "session": session}


HOUSE = {"model": "house:0.5", "name": "House"}


def test_requests_to_a_seat_of_a_match_bear_its_ids_and_its_end_is_sent_once(
    tmp_path: Path, served: Served
) -> None:
    play(tmp_path, agent(served, "own"), HOUSE)
    by_seat: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for request in served.asked:
        by_seat[request["match"], request["seat"]].append(request)
    assert len({match for match, _ in by_seat}) == len(by_seat) == MATCHES
    for (match, seat), requests in by_seat.items():
        assert len(requests) == ROUNDS
        assert all(len(request["messages"]) == 2 for request in requests), "it remembers by itself"
        (notice,) = [notice for notice in served.ended if notice["match"] == match]
        assert notice == {"version": 1, "match": match, "seat": seat, "player": "Agent", "ended": True}
        assert served.sent.index(notice) > max(map(served.sent.index, requests))


def test_an_agent_that_does_not_is_sent_its_conversation_and_no_end(tmp_path: Path, served: Served) -> None:
    play(tmp_path, agent(served, "match"), HOUSE)
    for first, later in zip(served.asked, served.asked[1:], strict=False):
        if first["match"] == later["match"]:
            assert later["messages"][: len(first["messages"])] == first["messages"]
            assert later["messages"][len(first["messages"])]["role"] == "assistant"
    assert max(len(request["messages"]) for request in served.asked) == 2 * ROUNDS
    assert not served.ended


@pytest.mark.parametrize("notice", ["fails", "hangs"])
def test_what_becomes_of_a_notice_changes_nothing(
    tmp_path: Path, served: Served, notice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.engine.match.notices.NOTICE_S", 0.5)
    bad = Served(notice)
    try:
        play(tmp_path, agent(bad, "own"), HOUSE)
        assert len(bad.ended) == MATCHES
    finally:
        bad.close()
    with open_arena(tmp_path) as arena:
        assert [arena.match(number).status for number in (1, 2)] == ["done"] * MATCHES


LISTENER = """
import json, sys

def answer(asked):
    with open("heard.log", "a") as log:
        print(json.dumps(asked), file=log)
    if "messages" not in asked:
        raise KeyError("messages")
    if asked["messages"][-1]["content"] == "Fail":
        raise ValueError("as it was asked to")
    return "Because."

if __name__ == "__main__":
    print(answer(json.load(sys.stdin)))
"""


@pytest.mark.parametrize("model", [{"command": [sys.executable, "mine.py"]}, {"model": "python:mine:answer"}])
async def test_a_program_and_a_function_hear_the_end_and_fail_at_it_without_being_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: dict[str, Any]
) -> None:
    (tmp_path / "mine.py").write_text(LISTENER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    settings = PlayerSettings.model_validate({**model, "name": "Mine", "session": "own"})
    client = open_client(settings, dict(os.environ), tmp_path)
    await client.start()
    assert isinstance(client, Remembering)
    for _ in range(BROKEN_AFTER):
        with pytest.raises((PlayerError, KeyError)):
            await client.ended("secret-seed", "B")
    with pytest.raises(PlayerError) as failed:
        await client.answer(replace(CALL, messages=(("user", "Fail"),)))
    assert failed.value.kind != "permanent", "only its failing at calls would show that it is broken"
    assert (await client.answer(CALL)).text.strip() == "Because."
    await client.close()
    *notices, _, _ = [json.loads(line) for line in (tmp_path / "heard.log").read_text().splitlines()]
    assert notices[0].keys() == {"version", "match", "seat", "player", "ended"}
    assert "secret-seed" not in json.dumps(notices)


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        ({"model": "openai:gpt-5", "session": "own"}, "is for agents"),
        ({"model": "house:0.5", "session": "own"}, "is for agents"),
        ({"model": "human:ada", "session": "match"}, "is a person"),
        ({"model": "openai:gpt-5", "session": 0}, "session"),
        ({"model": "openai:gpt-5", "session": True}, "session"),
        ({"model": "openai:gpt-5", "session": "always"}, "session"),
    ],
)
def test_settings_that_mean_nothing_are_refused(stated: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        PlayerSettings.model_validate(stated)


@pytest.mark.parametrize(
    ("stated", "repeated", "other"),
    [
        ({}, SESSION_TOKENS, 0),
        ({"session": "match"}, SESSION_TOKENS, SESSION_TOKENS),
        ({"session": 500}, 500, 500),
        ({"session": "none"}, 0, 0),
        ({"model": "ollama:llama3"}, 2_000, 0),
        ({"model": "http://localhost:1/", "session": "own"}, 0, 0),
        ({"model": "human:ada"}, 0, 0),
    ],
)
def test_how_much_a_player_is_sent_of_its_match(stated: dict[str, Any], repeated: int, other: int) -> None:
    settings = PlayerSettings.model_validate({"model": "openai:gpt-5", **stated})
    assert session_tokens(settings.session, settings.provider, usual=True) == repeated
    assert session_tokens(settings.session, settings.provider, usual=False) == other
