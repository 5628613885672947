"""One arena of hostile players, and its pages as files, for all tests of the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.site.arenas import hostile_arena, sealed_arena

from peerage.site.build import build
from peerage.site.reading import Site


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
