"""The arenas whose pages are tested: of hostile players, of sealed answers, and one that is served."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.engine.arenas import play, write_arena
from tests.site.arenas import MATCHES_SERVED, hostile_arena, sealed_arena
from tests.site.browsers import CHROMIUM, DESK, FLAGS, PATIENCE_MS

from peerage.site.export.build import build
from peerage.site.reading import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_arena(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def pages(arena: Path) -> Iterator[Site]:
    site = Site.open(arena)
    yield site
    site.close()


@pytest.fixture(scope="session")
def built(pages: Site, arena: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    build(pages, arena, out)
    return out


@pytest.fixture(scope="session")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sealed_arena(tmp_path_factory.mktemp("sealed"))


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena to be served, not to be written to."""
    folder = write_arena(tmp_path_factory.mktemp("served"))
    play(folder, MATCHES_SERVED)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """A copy of it that may be written to."""
    return Path(shutil.copytree(played, tmp_path / "arena"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A window, in which nothing may complain and nothing of a player's may run."""
    page = browser.new_page(viewport=DESK)
    page.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None
    )
    yield page
    assert page.evaluate("window.stolen") is None
    assert not complaints
    page.close()
