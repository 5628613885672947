"""One program under several names is one family, for all that asks for families."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.arenas import play

from peerage.arena import open_arena
from peerage.players.house import HouseClient
from peerage.reading.matches import Matches
from peerage.settings import ArenaSettings, PlayerSettings
from peerage.settings.reading import load

AGENT = """import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"text": "A"}), flush=True)
"""


def settings(folder: Path, *players: Any, **more: Any) -> ArenaSettings:
    listed = [player if isinstance(player, dict) else {"model": player} for player in players]
    named = [{"name": f"p{at}", **player} for at, player in enumerate(listed)]
    (folder / "arena.yaml").write_text(yaml.safe_dump({"players": named, **more}))
    return load(folder)


def families(folder: Path, *players: Any) -> list[str]:
    return [player.family for player in settings(folder, *players).players]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": ["./agent.py"]}, {"command": ["./agent.py"]}),
        ({"command": ["./agent.py"]}, {"command": ["agent.py"]}),
        ({"command": ["./agent.py"]}, {"command": ["./copy.py"]}),
        ({"command": [sys.executable, "agent.py"]}, {"command": [sys.executable, "./copy.py"]}),
        ({"command": ["./agent.py", "--fast"]}, {"command": ["./copy.py", "--fast"]}),
        ("http://localhost:8000/answer", "http://127.0.0.1:8000/answer/"),
        ("https://me:pass@example.org/a?key=1", "https://EXAMPLE.org:443/a"),
        ("python:my.module:answer", "python:my.module:answer"),
        ("gguf:weights.gguf", "gguf:same-weights.gguf"),
        (
            {"model": "openai:mine", "base_url": "http://localhost:8000/v1"},
            {"model": "openai:mine", "base_url": "http://127.0.0.1:8000/v1/", "system_prompt": "Be brief."},
        ),
        ({"model": "openai:gpt-5-mini"}, {"model": "openai:gpt-5-mini", "temperature": 0.2}),
    ],
)
def test_one_program_under_two_names_is_one_family(
    one: Any, other: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("agent.py", "copy.py"):
        (tmp_path / name).write_text(AGENT)
    for name in ("weights.gguf", "same-weights.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    one, other = (player if isinstance(player, dict) else {"model": player} for player in (one, other))
    with caplog.at_level(logging.WARNING):
        found = families(tmp_path, one | {"family": "ours"}, "house:0.5", other | {"family": "theirs"})
    assert found == ["ours", "house:0.5", "ours"]
    assert "p0 and p2 are one program, so all are of the family ours" in caplog.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": ["./agent.py"]}, {"command": ["./other.py"]}),
        ({"command": [sys.executable, "agent.py"]}, {"command": [sys.executable, "other.py"]}),
        ("http://localhost:8000/answer", "http://localhost:8001/answer"),
        ("https://example.org/a", "https://example.org/b"),
        (
            {"model": "openai:mine", "base_url": "http://localhost:8000/v1"},
            {"model": "openai:mine", "base_url": "http://localhost:8001/v1"},
        ),
        ("house:0.5", "house:0.5"),
        ("human:ada", "human:bo"),
        ("openai:gpt-5-mini", "openai:gpt-5"),
    ],
)
def test_programs_that_differ_keep_their_families(one: Any, other: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "other.py").write_text(AGENT + "# another\n")
    one, other = (player if isinstance(player, dict) else {"model": player} for player in (one, other))
    assert families(tmp_path, one | {"family": "a"}, other | {"family": "b"}) == ["a", "b"]


def test_a_program_that_no_file_can_be_is_itself(tmp_path: Path) -> None:
    long = "a" * 5_000
    assert families(tmp_path, {"command": [long], "family": "a"}, {"command": [f"./{long}"]})[0] == "a"


def test_an_agent_entered_ten_times_never_judges_itself_where_families_are_kept_apart(tmp_path: Path) -> None:
    sybils = []
    for at in range(10):  # ten copies of one file, each said to be of a family of its own
        (tmp_path / f"agent{at}.py").write_text(AGENT)
        sybils.append({"command": [sys.executable, f"agent{at}.py"], "family": f"f{at}"})
    honest = [f"house:0.{at}" for at in range(4, 9)]
    made = settings(
        tmp_path,
        *sybils,
        *honest,
        game="duel",
        rules={"author": "top", "committee": 1, "judges": 1, "exclude_family": True},
    )
    assert {player.family for player in made.players[:10]} == {"f0"}
    skilled = PlayerSettings(model="house:0.5")
    play(
        tmp_path,
        12,
        clients=lambda player: HouseClient(player if player.provider == "house" else skilled),
    )
    with open_arena(tmp_path, create=False) as arena:
        seats = [Matches(arena.ledger).match(number).fixture for number in range(1, 13)]
    ours = {f"p{at}" for at in range(10)}
    judged = [
        (
            bool(ours & {seat.player for seat in fixture.seats}),
            bool(ours & {seat.player for seat in fixture.officials["judge"]}),
        )
        for fixture in seats
    ]
    assert (True, False) in judged
    assert (True, True) not in judged
