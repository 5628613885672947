"""Agents that try to know what they must not: what is drawn, from the seed, the ledger or the live page."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger import open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.sandbox.native.confined import available

THIEF = """
import glob, json, os, sys
from hashlib import sha256

request = json.load(sys.stdin)
found = []
for seed in range(30):
    for number in range(1, 9):
        match = sha256(f"peerage/match/{seed}/{number}".encode()).hexdigest()
        for key in ("1/obfuscate", "2/obfuscate", "1/recover", "2/recover", "1/attack/1", "2/attack/1"):
            if sha256(f"agent\\0{match}\\0{key}".encode()).hexdigest()[:16] == request["id"]:
                found.append(f"seed {seed}")
copies = ["before.db", "kept/arena.db.bak"]
for path in ["arena.db", "arena.db-wal", ".env", *copies, *glob.glob(f"/proc/{os.getppid()}/fd/*")]:
    try:
        if b"SQLite" in open(path, "rb").read() or path == ".env":
            found.append(path)
    except OSError:
        pass
for path in ["arena.yaml", ".env", "arena.db", "rival.py", "sitecustomize.py"]:
    try:
        found.append(("wrote", open(path, "a").write(" ")))
    except OSError:
        pass
for renamed in ("arena.db", "rival.py"):
    try:
        found.append(("renamed", os.rename(renamed, "gone")))
    except OSError:
        pass
with open(os.path.join(os.environ["PEERAGE_AGENT_DIR"], "tried"), "a") as log:
    log.write(json.dumps(found) + "\\n")
print("#123456")
"""


@pytest.mark.skipif(not available(), reason="this system has no Landlock")
def test_an_agent_learns_nothing_from_seed_ledger_and_processes_and_changes_none(tmp_path: Path) -> None:
    (tmp_path / "thief.py").write_text(THIEF)
    (tmp_path / "rival.py").write_text("print('#123456')\n")
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-secret\n")
    (tmp_path / "kept").mkdir()
    for copy in ("before.db", "kept/arena.db.bak"):
        (tmp_path / copy).write_bytes(b"SQLite format 3\0")
    thief = {"command": [sys.executable, "thief.py"], "name": "thief", "price": {"input": 0, "output": 0}}
    settings = {
        "seed": 0,
        "game": "color-obfuscation",
        "rules": {"ally_failure": "ignore"},
        "players": [thief, "house:0.9", "house:0.5", "house:0.2"],
        "engine": {"probe": False},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
    assert said.exit_code == 0, said.output
    (log,) = tmp_path.glob("agents/thief-*/tried")
    tried = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(tried) >= 4, said.output
    assert not any(tried), tried


@pytest.mark.parametrize("agent", [{"command": ["true"]}, {"model": "http://127.0.0.1:9/"}])
@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ({"ally": "self"}, "a player is its own ally"),
        ({"color": "same", "ally_failure": "ignore"}, "`color: same` hides the same color in both rounds"),
    ],
)
def test_an_agent_may_not_play_where_remembering_the_color_would_help_it(
    tmp_path: Path, agent: dict[str, Any], rules: dict[str, Any], why: str
) -> None:
    settings = {
        "game": "color-obfuscation",
        "rules": rules,
        "players": [agent | {"name": "elephant"}, "house:0.9", "house:0.5"],
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
    assert said.exit_code != 0
    told = " ".join(said.output.split())
    assert f"elephant is an agent and may remember what color-obfuscation asked it before: {why}" in told


@pytest.mark.parametrize(("game", "rules"), [("color-obfuscation", {"ally_failure": "ignore"})])
def test_a_game_that_hides_things_refuses_a_player_inside_this_process(
    tmp_path: Path, game: str, rules: dict[str, Any]
) -> None:
    houses = [f"house:0.{at}" for at in range(2, 9)]
    players = [{"model": "python:json:dumps", "name": "inside"}, *houses]
    settings = {"game": game, "rules": rules, "players": players}
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
    assert said.exit_code != 0
    assert "inside runs inside this process" in said.output


@pytest.mark.parametrize("kind", ["command", "acp"])
def test_a_game_that_hides_things_refuses_a_program_that_nothing_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("peerage.playing.requirements.available", lambda: False)
    monkeypatch.setattr("peerage.playing.requirements.lacking", lambda: "no user namespaces")
    players = [{kind: [sys.executable, "-c", "1"], "name": "loose"}, "house:0.9", "house:0.5"]
    settings = {"game": "color-obfuscation", "rules": {"ally_failure": "ignore"}, "players": players}
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
    assert said.exit_code != 0
    assert "nothing keeps loose from reading them" in " ".join(said.output.split())


WATCHER = """
import json, os, sys, time, urllib.request

json.load(sys.stdin)
time.sleep(float(sys.argv[2]))
seen = []
for path in [
    "api/arena", "api/matches", "api/leaderboard", "api/pool", "index.html", "matches.html", "live.html",
    *[f"{page}/{number}" for page in ("api/live", "api/matches") for number in range(1, 9)],
    *[f"live/{number}.html" for number in range(1, 9)],
]:
    try:
        seen.append(urllib.request.urlopen(sys.argv[1] + path, timeout=20).read().decode())
    except OSError:
        pass
with open(os.path.join(os.environ["PEERAGE_AGENT_DIR"], "seen"), "a") as log:
    log.write(json.dumps(" ".join(seen)) + "\\n")
print("#123456")
"""


def told_at(address: str) -> str:
    """What the server says of a match, as soon as it knows that the match is over."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=20) as page:
                return str(page.read().decode()).upper()
        except urllib.error.HTTPError as error:
            error.close()
        time.sleep(0.2)
    raise AssertionError(f"nothing at {address}")


@pytest.mark.skipif(not available(), reason="this system has no Landlock")
def test_an_agent_that_watches_the_live_pages_sees_what_is_over_and_no_color_in_play(tmp_path: Path) -> None:
    (tmp_path / "watcher.py").write_text(WATCHER)
    settings = {
        "seed": 0,
        "game": "color-obfuscation",
        "rules": {"ally_failure": "ignore"},
        "players": ["house:0.9"],
        "engine": {"probe": False, "concurrency": 1},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    others = ["house:0.9", "house:0.5"]
    serve = [sys.executable, "-m", "peerage", "serve", "--dir", str(tmp_path), "--port", "0"]
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env=unbuffered) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().split(", at ")[1].strip()
            command = [sys.executable, "watcher.py", address, "0"]
            watcher = {"command": command, "name": "watcher", "price": {"input": 0, "output": 0}}
            (tmp_path / "arena.yaml").write_text(yaml.safe_dump({**settings, "players": [watcher, *others]}))
            said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
            assert said.exit_code == 0, said.output
            over = told_at(f"{address}api/matches/1")
        finally:
            served.terminate()
    (log,) = tmp_path.glob("agents/watcher-*/seen")
    seen = [json.loads(line).upper() for line in log.read_text().splitlines()]
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    texts = by_hex(ledger.texts())
    fixtures = [read_fixture(one.body, texts) for one in ledger.fixtures(1)]
    drawn = {one.number: one.drawn["colors"] for one in fixtures}
    asked = [one.match for one in ledger.exchanges(1) if one.player == "watcher"]
    ledger.close()
    assert len(seen) == len(asked) >= 4, said.output
    for match, pages in zip(asked, seen, strict=True):
        # A digest may hold the six letters of a color by chance.
        assert not [color for color in drawn[match] if re.search(rf"(?<![0-9A-F]){color}(?![0-9A-F])", pages)]
    shown = [f"LIVE/{match}" in pages for match, pages in zip(asked, seen, strict=True)]
    assert any(shown), "matches in play are shown"
    assert [color for color in drawn[1] if color in over], "what is over is shown"


ECHO = """
import json, sys
schema = (json.load(sys.stdin).get("schema") or {}).get("properties", {})
made = {"bids": [7] * schema.get("bids", {}).get("maxItems", 1), "plan": "", "working": "", "color": "00FF00"}
made |= {"obfuscated": "00FF00", "instructions": ["Read it."]}
print(json.dumps({key: made[key] for key in schema}))
"""


@pytest.mark.parametrize(
    ("game", "setting"), [("color-obfuscation", {"ally": "other"}), ("market", {"rotate": "fresh"})]
)
def test_who_remembers_plays_by_the_rule_that_makes_it_fair(
    tmp_path: Path, game: str, setting: dict[str, Any]
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    agent = {"command": [sys.executable, "echo.py"], "name": "elephant", "price": {"input": 0, "output": 0}}
    players = [agent, *[f"house:0.{at}" for at in (9, 7, 5)]]
    settings = {"game": game, "players": players, "seed": None, "engine": {"probe": False}}
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    said = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "4", "--yes"])
    assert said.exit_code == 0, said.output
    with open_arena(tmp_path) as arena:
        assert arena.replay().differences == ()
        texts = by_hex(arena.ledger.texts())
        fixtures = [read_fixture(row.body, texts) for row in arena.ledger.fixtures()]
    assert all(setting.items() <= fixture.settings.items() for fixture in fixtures)
    if game == "color-obfuscation":
        readers = [fixture.officials["committee"][0].player for fixture in fixtures]
        assert not any(
            reader in {seat.player for seat in fixture.seats}
            for reader, fixture in zip(readers, fixtures, strict=True)
        )
