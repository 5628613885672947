"""A tournament between three settings of a real language model, in this process."""

from pathlib import Path

import pytest
import yaml
from tests.real.arena import PLAYER, needs_model

from peerage.arena import open_arena

pytestmark = [pytest.mark.real, needs_model]

RULES = {
    "preset": "development",
    "questions": 1,
    "quality": "none",
    "categories": ["science", "language"],
    "per_call": 2,
    "max_tokens": 30,
}


def test_a_tournament(tmp_path: Path) -> None:
    arena = {
        "game": "last-arena",
        "seed": 5,
        "rules": RULES,
        "players": [
            {"name": name, "model": PLAYER, "temperature": temperature}
            for name, temperature in (("cool", 0.3), ("warm", 0.8), ("hot", 1.1))
        ],
        "engine": {"concurrency": 1, "calls": 2},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena), "utf-8")
    with open_arena(tmp_path) as opened:
        report = opened.run(max_matches=1)
        assert report.settled == 1
        match = opened.match(1)
        # a model of this size keeps a format often, not always
        assert match.status in ("done", "inconclusive")
        phases = ("question", "rate", "answer", "judge")
        assert {one.key.partition("/")[0] for one in match.exchanges} == set(phases)
        for phase in phases:
            assert any(one.status == "ok" for one in match.exchanges if one.key.startswith(phase))
        assert {one.status for one in match.exchanges} <= {"ok", "invalid"}
        assert opened.verify().ok
        assert opened.replay().ok
