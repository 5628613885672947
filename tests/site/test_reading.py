"""Ratings at earlier moments, and what one moment of an arena hands on to the next."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import play
from tests.site.arenas import hostile, hostile_arena, spans_read

from peerage.engine.record.challenges import pool, retire, withdraw
from peerage.ledger import LedgerError
from peerage.reading.moment import Moment
from peerage.site.pages.router import page
from peerage.site.reading import Site
from peerage.views.arena.charts import stops


def test_a_course_goes_through_what_the_leaderboards_were(pages: Site) -> None:
    for track in pages.tracks:
        for stop in stops(pages.number)[::7]:
            then = pages.earlier(track, stop)
            rows = {row.player: row for row in pages.at(stop).table(track) if row.rank is not None}
            assert set(then.players) == set(rows)
            columns = (
                then.players,
                *(then.bounded[key] for key in ("rating", "lower", "upper")),
                then.middle,
            )
            for player, rating, lower, upper, middle in zip(*columns, strict=True):
                row = rows[player]
                assert (rating, lower, upper) == (row.rating, row.lower, row.upper), (track, stop)
                assert middle == (row.mu if track == "trueskill" else row.rating)


def test_what_was_read_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = hostile_arena(tmp_path / "arena", 10)
    site = Site.open(arena)
    assert site.stats.matches == site.number
    assert site.tally.number == site.number
    assert site.speeds
    play(arena, 13, clients=hostile)
    later, fresh = site.refreshed(), Site.open(arena)
    read = spans_read(monkeypatch)
    assert later.stats == fresh.stats
    # What was not read before, then all.
    assert read == [(site.number + 1, later.number), (1, later.number)]
    assert later.judges == fresh.judges
    assert later.tally == fresh.tally
    assert later.speeds == fresh.speeds
    fresh.close()
    site.close()


def test_what_was_amended_is_read_again_without_another_match(sealed: Path, tmp_path: Path) -> None:
    with closing(Site.open(Path(shutil.copytree(sealed, tmp_path / "arena")))) as site:
        assert site.refreshed() is site
        for number, amend in enumerate((retire, withdraw)):
            before = site.refreshed()
            shown = page(before, "challenges.html")
            name = list(pool(site.ledger).entries)[number]
            amend(site.ledger, name, "why", 1)
            after = before.refreshed()
            assert after is not before
            assert after.refreshed() is after
            assert shown != page(after, "challenges.html")


def test_where_an_arena_stands_is_folded_once(pages: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    then = pages.at(18)
    first = then.table("bt")
    monkeypatch.setattr(Moment, "records", lambda *span: pytest.fail("records are read again"))
    assert then.table("raw")
    monkeypatch.undo()
    assert pages.at(18).table("bt") == first
    assert {row.matches for row in then.table("raw")} == {row.matches for row in first}


def test_a_number_far_beyond_all_others_is_told(tmp_path: Path) -> None:
    with (
        closing(Site.open(hostile_arena(tmp_path, 3))) as site,
        pytest.raises(LedgerError, match="lacks rows"),
    ):
        _ = Moment(site.ledger, 10**15).rows
