"""What ARCHITECTURE.md says of adding things: each is one place, and shows wherever people look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from peerage.arena import open_arena
from peerage.cli import main
from peerage.game.blocks import Sentence
from peerage.render import markdown, terminal
from peerage.render.blocks import Column
from peerage.render.html.writer import Html, notebook
from peerage.site.pages import router
from peerage.site.reading import Site
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.columns import table
from tests.engine.arenas import play, write_arena

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("arena"))
    play(folder, 12)
    return folder


@pytest.fixture
def site(folder: Path) -> Iterator[Site]:
    site = Site.open(folder)
    yield site
    site.close()


def test_a_column_is_one_declaration_and_every_medium_shows_it(folder: Path, tmp_path: Path) -> None:
    with open_arena(folder) as arena:
        rows = table(board(arena.reading))
    luck = Column("luck", "Luck", value=lambda row: f"luck of {row.player}")
    more = replace(rows, columns=[*rows.columns, luck])
    console = tmp_path / "out.txt"
    with console.open("w+", encoding="utf-8") as out:
        terminal.write([more], out)
        out.seek(0)
        written = {"terminal": out.read()}
    written |= {
        "page": Html().blocks([more]),
        "notebook": notebook([more]),
        "Markdown": markdown.markdown([more]),
    }
    for medium, text in written.items():
        assert "Luck" in text, medium
        assert text.count("luck of p") == len(rows.rows), medium


def test_a_page_is_a_function_and_one_line(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("Weather", lambda site: [Sentence(f"It rains on {len(site.table())} players.")])
    monkeypatch.setitem(router.VIEWS, "weather.html", line)  # type: ignore[arg-type]
    page = router.page(site, "weather.html")
    assert page is not None
    assert b"It rains on 7 players." in page.body
    assert b"<title>Weather" in page.body
    assert "weather.html" in router.paths(site)


def test_each_command_is_one_line_and_help_lists_it() -> None:
    source = (ROOT / "src" / "peerage" / "cli" / "main.py").read_text("utf-8")
    for group in main.COMMANDS.values():
        for name, place in group.items():
            assert source.count(f'"{place}"') == 1, name


def test_every_place_that_is_named_is_there() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    section = page[page.index("## To add something") : page.index("## The way of one reply")]
    places = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", section)
    assert len(places) > 8
    for place in places:
        at = ROOT / place if place.startswith("tests/") else ROOT / "src" / "peerage" / place
        assert at.exists(), place
