"""Runs against providers with one quirk each, as outsiders met them."""

from __future__ import annotations

from pathlib import Path

from tests.servers.quirks import play


def test_a_plausible_provider_plays(tmp_path: Path) -> None:
    played = play({}, tmp_path)
    assert played.code == 0, played.printed
    assert played.player["failed"] == played.player["invalid"] == 0
    assert played.player["output_tokens"] == 20 * (len(played.bodies) - 1)  # but the probe


def test_content_in_parts_is_read_without_the_parts_that_think(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "maybe B"}]}
    content = [thinking, {"type": "text", "text": "$TEXT"}]
    played = play({"choice": {"message": {"content": content}}}, tmp_path)
    assert played.code == 0, played.printed
    assert played.player["matches"] > 0
    assert played.player["failed"] == played.player["invalid"] == 0
