"""What one build leaves for the next: what no further match changes is computed once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from tests.site.test_build import files

from peerage.outputs import Folder
from peerage.site import build_cache
from peerage.site.board_charts import stops
from peerage.site.build import build_folder
from peerage.site.reading import Site

GAMES = {"trivia": {"weight": 1.0}, "market": {"weight": 1.0}}


def test_ratings_and_waits_of_earlier_matches_are_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, out = write_arena(tmp_path / "arena"), tmp_path / "out"
    before = play(arena, 25).settled
    build_folder(arena, out)
    play(arena, before + 1)
    with closing(Site.open(arena)) as site:
        assert build_cache.read(Folder(out), site, before).matches == before < site.number
        read: list[tuple[int, int | None]] = []
        exchanges = site.moment.exchanges
        monkeypatch.setattr(
            site.moment, "exchanges", lambda first, last: read.append((first, last)) or exchanges(first, last)
        )
        monkeypatch.setattr("peerage.site.reading.METHODS", {})
        for track in site.tracks:
            assert [site.earlier(track, stop) for stop in stops(before)]
        assert site.speeds
        assert read == [(before + 1, site.number)]


def test_ratings_are_found_again_where_games_weigh_otherwise(tmp_path: Path) -> None:
    arena, out, fresh = (
        write_arena(tmp_path / "arena", rules={}, games=GAMES),
        tmp_path / "out",
        tmp_path / "fresh",
    )
    play(arena, 24)
    build_folder(arena, out)
    before = files(out)
    write_arena(arena, rules={}, games=GAMES | {"trivia": {"weight": 9.0}})
    build_folder(arena, out)
    build_folder(arena, fresh)
    assert files(out) == files(fresh)
    assert files(out)["data/course-overall.csv"] != before["data/course-overall.csv"]


def test_what_cannot_be_read_is_computed(tmp_path: Path) -> None:
    arena, out, fresh = write_arena(tmp_path / "arena"), tmp_path / "out", tmp_path / "fresh"
    play(arena, 8)
    build_folder(arena, out)
    (out / build_cache.FILE).write_bytes(b"\x93\x01")
    play(arena, 9)
    build_folder(arena, out)
    build_folder(arena, fresh)
    assert files(out) == files(fresh)
