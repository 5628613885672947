"""A battle of Color Obfuscation between two settings of a real language model, in this process."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]

SHORT = {"max_tokens": 100, "max_instructions": 5}


def test_a_battle(tmp_path: Path) -> None:
    arena = {
        "game": "color-obfuscation",
        "seed": 5,
        "rules": {"shares": [1], "limits": SHORT},
        "players": [
            {"name": "warm", "model": PLAYER, "temperature": 0.8},
            {"name": "hot", "model": PLAYER, "temperature": 1.1},
        ],
        "engine": {"concurrency": 1, "calls": 2},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena), "utf-8")
    with open_arena(tmp_path) as opened:
        report = opened.run(max_matches=1)
        assert report.settled == 1
        match = opened.match(1)
        assert match.status == "done"
        assert sum(match.scores.values()) == 1
        replies = {one.key: one for one in match.exchanges}
        assert {"1/obfuscate", "2/obfuscate"} <= set(replies)
        assert all(one.reply and one.output_tokens for one in replies.values())
        # a model of this size gives usable strings and colours often, not always
        assert {one.status for one in replies.values()} <= {"ok", "invalid"}
        assert opened.verify().ok
        assert opened.replay().ok
