"""Judges held against checks in real arenas: in the judges' table, and first in the verdict."""

import re
from contextlib import closing
from os.path import dirname, join, normpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import open_arena
from peerage.site.pages import downloads
from peerage.site.pages.router import page, paths
from peerage.site.reading import Site
from peerage.views.judges.report import judges

JUDGES = [{"model": "house:0.95", "name": "ada"}, {"model": "house:0.5", "name": "toss"}]
TASKS = [{"prompt": f"What is {at} + {at}?", "expected": str(2 * at)} for at in range(1, 201)]


def arena(folder: Path, matches: int, **judging: Any) -> Path:
    players = [{"model": "house:0.75", "name": "p0"}, {"model": "house:0.45", "name": "p1"}]
    folder = write_arena(folder, players, rules={}, judges=JUDGES, judging=judging, tasks=TASKS)
    play(folder, matches)
    return folder


@pytest.mark.parametrize("judging", [{"checks": "measure"}, {"controls": 40}], ids=str)
def test_a_coin_is_found_and_named_first(tmp_path: Path, judging: dict[str, Any]) -> None:
    with open_arena(arena(tmp_path, 200, **judging)) as opened:
        report, verdict = judges(opened.reading), opened.verdict()
        rows = {row.judge: row for row in report.judges}
        assert verdict.lines[1].startswith(
            "toss judges no better than a coin: it preferred the right answer in"
        )
        assert "ada" not in verdict.lines[1]
        assert report.remarks[0] == verdict.lines[1]
        assert opened.replay().differences == ()
    assert rows["ada"].known_right / rows["ada"].known > 0.85
    assert 0.3 < rows["toss"].known_right / rows["toss"].known < 0.7
    assert rows["toss"].known_share_lower < 0.5 < rows["toss"].known_share_upper < 0.75  # type: ignore[operator]
    if "controls" in judging:
        assert rows["ada"].marks == 0
        assert 40 <= rows["ada"].known <= 64  # matches under way when enough had seen them go on


def test_controls_never_count(tmp_path: Path) -> None:
    with (
        open_arena(arena(tmp_path / "without", 60)) as one,
        open_arena(arena(tmp_path / "with", 60, controls=9)) as two,
    ):
        before, after = one.leaderboard().rows, two.leaderboard().rows
        assert [(row.player, row.rating, row.wins) for row in before] == [
            (row.player, row.rating, row.wins) for row in after
        ]


def test_pages_say_how_often_each_was_right_and_link_nowhere_in_vain(tmp_path: Path) -> None:
    folder = arena(tmp_path, 80, checks="measure")
    with closing(Site.open(folder)) as site:
        made = page(site, "judges.html")
        assert made is not None
        assert b"Prefers the right" in made.body
        there = {*paths(site), *downloads.paths(site)}
        for path in ("judges.html", "index.html", "stats.html", "match/1.html"):
            if (shown := page(site, path)) is None:
                continue
            targets = [urldefrag(one)[0] for one in re.findall(r'href="([^"]+)"', shown.body.decode())]
            local = [one for one in targets if one and "://" not in one and not one.startswith("data:")]
            for target in local:
                assert unquote(normpath(join(dirname(path), target))) in there, (path, target)
