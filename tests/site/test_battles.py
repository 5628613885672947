"""Battles of colour obfuscation: on a page of their own and as the original's file, where there are any."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from tests.engine.arenas import play, statuses, write_arena

from peerage.site.pages import page, paths
from peerage.site.reading import Site


def test_battles_have_a_page_and_the_file_that_the_original_reads(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, 4, game="color-obfuscation", rules={})
    play(folder, 6)
    decided = statuses(folder).count("done")
    assert decided
    with closing(Site.open(folder)) as site:
        assert {"battles.html", "data.json"} <= set(paths(site))
        shown, data = page(site, "battles.html"), page(site, "data.json")
    assert shown is not None
    assert data is not None
    assert shown.body.decode().count("#m") >= decided
    assert len(json.loads(data.body)) == decided


def test_an_arena_without_battles_has_neither(pages: Site) -> None:
    assert not {"battles.html", "data.json"} & set(paths(pages))
    assert page(pages, "battles.html") is None
    assert page(pages, "data.json") is None
