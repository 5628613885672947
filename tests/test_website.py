"""The documentation as a site: every page is in it, every link leads somewhere, and commands are run."""

from __future__ import annotations

import importlib.util
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def website() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_website", DOCS / "website.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_staged_and_in_the_menu_once(website: ModuleType, tmp_path: Path) -> None:
    website.stage(tmp_path)
    staged = {page.relative_to(tmp_path).as_posix() for page in tmp_path.rglob("*.md")}
    assert {page.name for page in DOCS.glob("*.md")} < staged
    assert {"index.md", "games/duel.md", "examples/smollm2.md", "changelog.md"} < staged
    listed = [name for names in website.NAV.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) <= staged
    assert "](quickstart.md)" in (tmp_path / "index.md").read_text("utf-8")
    assert (tmp_path / "docs" / "images" / "live.svg").exists()


def test_a_link_that_leads_nowhere_fails_the_build(website: ModuleType, tmp_path: Path) -> None:
    page = DOCS / "quickstart.md"
    with pytest.raises(SystemExit, match=r"quickstart\.md: gone\.md leads nowhere"):
        website._moved("gone.md", page, "quickstart.md", website.staged_names(), tmp_path)


def test_blocks_show_the_output_of_their_commands_and_not_an_older_one(
    website: ModuleType, tmp_path: Path
) -> None:
    commands = "$ peerage demo --matches 1 --dir one\n$ peerage verify --dir one\nan older output\n"
    page = f"Before\n```console\n{commands}```\nAfter"
    shown = website.played(page, tmp_path)
    assert "$ peerage verify --dir one\nwhole: 1 match" in shown
    assert shown.endswith("```\nAfter")
    assert "an older output" not in shown
    with pytest.raises(SystemExit, match="exit code 2"):
        website.played("```console\n$ peerage verify --dir none\n```", tmp_path)


def test_formulas_are_set_and_the_shell_keeps_its_dollars(website: ModuleType) -> None:
    page = "A chance $`p_a`$ of $5 or `$HOME`:\n\n```math\n\\frac{1}{2}\n```\nEnd"
    shown = website.with_formulas(page)
    assert "A chance <math" in shown
    assert "of $5 or `$HOME`" in shown
    assert '<div class="formula"><math' in shown
    assert "<mfrac>" in shown
    assert "_" not in shown
    for name in website.staged_names():
        assert "merror" not in website.with_formulas(name.read_text("utf-8"))


def test_the_tour_in_the_repository_shows_the_output_of_its_commands() -> None:
    blocks = re.findall(r"```console\n(.*?)```", (DOCS / "tour.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        lines = block.splitlines()
        assert len(lines) > sum(line.startswith("$ ") for line in lines), block
        assert all(len(line) <= 80 for line in lines), block


@pytest.mark.parametrize(("body", "fault"), [
    ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
    ('<link rel="stylesheet" href="//fonts.example/a.css">', "loads //fonts.example/a.css"),
    ('<a href="gone.html#x">', "links to gone.html#x"),
    ('<a href="https://example.org">elsewhere</a><a href="page.html">here</a><img src="page.html">', ""),
])  # fmt: skip
def test_pages_load_nothing_from_elsewhere(
    website: ModuleType, tmp_path: Path, body: str, fault: str
) -> None:
    (tmp_path / "page.html").write_text(body, "utf-8")
    found = "\n".join(website.wrong(tmp_path))
    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="`make docs-site` installs what builds it")
def test_the_site_is_built_and_has_an_arena_and_a_search(website: ModuleType, tmp_path: Path) -> None:
    website.build(tmp_path / "site")
    assert "house:0.85" in (tmp_path / "site" / "demo" / "index.html").read_text("utf-8")
    tour = (tmp_path / "site" / "tour.html").read_text("utf-8")
    assert "whole: 120 matches" in tour
    assert 'href="demo/index.html"' in tour
    assert (tmp_path / "site" / "search" / "search_index.json").stat().st_size > 100_000
