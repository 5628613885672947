"""An unknown price is unknown wherever money is shown, and never free."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.servers.quirks import peerage, quirky

ARENA = """
name: unknown
players:
  - {{model: "openai:m", base_url: "{url}", name: Q1}}
  - {{model: "openai:n", base_url: "{url}", name: Q2}}
  - {{model: "openai:o", base_url: "{url}", name: Q3}}
tasks: {{tasks: ["Explain in one sentence why a bicycle stays upright."], samples: fresh}}
judging: {{judges: 1}}
"""


def test_nothing_of_unknown_price_is_shown_to_cost_nothing(tmp_path: Path) -> None:
    with quirky({}) as server:
        (tmp_path / "arena.yaml").write_text(ARENA.format(url=server.url), "utf-8")
        printed = {
            words: peerage(tmp_path, words.split())
            for words in (
                "plan --matches 100", "run --matches 3 --yes", "run --matches 4 --yes", "leaderboard",
                "stats", "verdict", "status", "doctor", "match 1", "plan", "players", "site build pages",
            )
        }  # fmt: skip
    for words, done in printed.items():
        assert done.returncode == 0, (words, done.stderr)
        assert not re.search(r"(?<!B )\bfree\b|\$0", done.stdout + done.stderr), words
    assert "at unknown prices" in printed["plan --matches 100"].stdout
    assert "one small question, Q1, Q2, Q3 at an unknown price." in printed["run --matches 3 --yes"].stdout
    first, second = (printed[f"run --matches {count} --yes"].stdout for count in (3, 4))
    assert "in 12 calls; 15 calls of unknown cost in all" in first  # three probes
    assert "19 calls of unknown cost in all" in second
    assert "19 calls of unknown cost" in printed["status"].stdout
    assert "19 calls of unknown cost" in printed["doctor"].stdout
    stats = json.loads(peerage(tmp_path, ["stats", "--format", "json"]).stdout)
    for part in ("players", "probes", "costs"):
        assert {row["cost_usd"] for row in stats[part]} == {None}, part
    assert {row["possibly_usd"] for part in ("players", "probes") for row in stats[part]} == {None}
    assert {row["cost_usd"] for row in stats["kinds"]} == {None}
    pages = [*(tmp_path / "pages").rglob("*.html")]
    assert pages
    assert [page.name for page in pages if re.search(r">free<|\$0", page.read_text("utf-8"))] == []
