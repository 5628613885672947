"""Battles of Color Obfuscation as the original's file, where there are any."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from tests.engine.arenas import play, statuses, write_arena

from peerage.site.pages.router import page, paths
from peerage.site.reading import Site


def test_battles_are_in_the_file_that_the_original_reads(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 4, game="color-obfuscation", rules={})
    play(folder, 6)
    decided = statuses(folder).count("done")
    assert decided
    with closing(Site.open(folder)) as site:
        data, games, match = (page(site, path) for path in ("data.json", "games.html", "match/1.html"))
    assert data is not None
    assert games is not None
    assert match is not None
    assert len(json.loads(data.body)) == decided
    assert 'href="data.json"' in games.body.decode()
    assert match.body.decode().count("hides a color from") == 2


def test_an_arena_without_battles_has_none(pages: Site) -> None:
    assert "data.json" not in set(paths(pages))
    assert page(pages, "data.json") is None
