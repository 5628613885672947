"""Keys reach the provider they belong to and nothing else: no child, no ledger, no log, no output."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest
import yaml
from tests.engine.arenas import SMALL, house
from typer.testing import CliRunner

from peerage.cli.main import app

IN_ENVIRONMENT = "sk-environment-0123456789abcdef"
IN_FILE = "sk-file-0123456789abcdef"
OF_THE_AGENT = "sk-agent-0123456789abcdef"
IN_ARGUMENTS = "token-argument-0123456789abcdef"

SNOOP = """
import json, os, pathlib, sys
sys.stdin.read()
lines = []
for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        lines.append(place.read_bytes().decode("utf-8", "replace"))
    except OSError:
        pass
seen = {"environment": dict(os.environ), "lines": lines, "files": sorted(os.listdir("/proc/self/fd"))}
with open(os.path.join(os.environ["PEERAGE_AGENT_DIR"], "seen.jsonl"), "a") as file:
    file.write(json.dumps(seen) + "\\n")
print("An answer of some words.")
"""


def test_no_key_reaches_a_child_a_ledger_or_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    (tmp_path / ".env").write_text(f"GROQ_API_KEY={IN_FILE}\nAGENT_KEY={OF_THE_AGENT}\n")
    (tmp_path / "agent.py").write_text(SNOOP)
    command = [sys.executable, "agent.py", "--token", IN_ARGUMENTS]
    agents = [
        {"name": "plain", "command": command},
        {"name": "keyed", "command": command, "key_env": "AGENT_KEY"},
    ]
    settings = {
        "engine": {"retries": 0},
        "rules": dict(SMALL),
        "players": [*house(5), *agents],
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings))
    shown = ""
    for words in (
        ["doctor"],
        ["run", "--yes", "--max-matches", "8", "--log-level", "debug"],
        ["leaderboard"],
        ["stats", "--format", "json"],
        ["match", "1"],
        ["players", "--format", "json"],
        ["export", "--format", "jsonl"],
    ):
        done = CliRunner().invoke(app, [*words, "--dir", str(tmp_path)])
        assert not isinstance(done.exception, Exception), words
        shown += done.output
    files = list(tmp_path.glob("agents/*/seen.jsonl"))
    assert len(files) == len(agents)
    seen = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert len(seen) >= 4
    children = json.dumps(seen)
    assert OF_THE_AGENT in children, "the agent that names its key has it"
    assert {OF_THE_AGENT in one["environment"].values() for one in seen} == {True, False}
    assert not any(OF_THE_AGENT in line for one in seen for line in one["lines"])
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("arena.db*"))
    assert len(stored) > 50_000
    for key in (IN_ENVIRONMENT, IN_FILE):
        assert key not in children
    for key in (IN_ENVIRONMENT, IN_FILE, OF_THE_AGENT, IN_ARGUMENTS):
        assert key not in shown
        assert key not in caplog.text
        assert key.encode() not in stored
