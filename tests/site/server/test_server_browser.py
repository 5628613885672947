"""`peerage serve` as a person meets it: votes by keys, a table that moves, hostile text as text."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.engine.arenas import play, statuses
from tests.site.arenas import DECIDED, hostile
from tests.site.browsers import DESK, PATIENCE_MS, PHONE, needed

from peerage.ledger.topics.votes import PeopleVotes, Vote
from peerage.site.people.seats import SeatLinks

pytestmark = needed


@pytest.fixture(scope="module")
def folder(arena: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(arena, tmp_path_factory.mktemp("served") / "arena"))


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Where the command says that it serves; it ends at Ctrl+C, with 0 and in words."""
    command = [sys.executable, "-m", "peerage", "serve", "--dir", str(folder), "--port", "0", "--vote"]
    command += ["--annotator", "ada"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert server.stdout is not None
    try:
        found = re.search(r"at (http://127\.0\.0\.1:\d+/)$", server.stdout.readline().rstrip())
        assert found is not None
        yield found[1]
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=PATIENCE_MS / 1000)
    finally:
        server.kill()
    assert server.returncode == 0
    assert said.endswith("stopped\n")


@pytest.mark.parametrize("path", ["live.html", "live/3.html", "vote.html", "audience.html", "api"])
def test_pages_show_without_error_and_fit_in_light_and_dark(tab: Page, address: str, path: str) -> None:
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(size)
        tab.goto(address + path)
        expect(tab.locator(".pulse.on")).to_be_visible(timeout=PATIENCE_MS)
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
        found = Axe().run(tab, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()


def test_voting_by_keys(tab: Page, address: str, folder: Path) -> None:
    tab.goto(f"{address}vote.html")
    tab.keyboard.press("1")
    expect(tab.get_by_role("heading", level=1)).to_contain_text("You preferred", timeout=PATIENCE_MS)
    [vote] = cast(folder, "")
    assert vote.verdict == vote.shown[0]
    assert tab.locator(".duel .text").count() == 2
    assert tab.locator(".chosen .revealed").inner_text() in tab.get_by_role("heading", level=1).inner_text()
    tab.wait_for_load_state()  # a page shows before its script listens
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Which answer is better?", timeout=PATIENCE_MS)
    tab.get_by_role("button", name="Skip this pair").click()
    tab.get_by_role("button", name="They are equal").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("You found them equal", timeout=PATIENCE_MS)
    tab.wait_for_load_state()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Which answer is better?", timeout=PATIENCE_MS)
    tab.wait_for_load_state()
    tab.keyboard.press("b")
    expect(tab.get_by_role("heading", level=1)).to_have_text("You found both bad", timeout=PATIENCE_MS)
    assert [vote.verdict for vote in cast(folder, "")][1:] == ["tie", "both bad"]


def cast(folder: Path, expert: str) -> list[Vote]:
    return [vote for vote in PeopleVotes("sqlite:///arena.db", folder).votes() if vote.expert == expert]


def test_an_expert_judges_at_a_private_link(tab: Page, address: str, folder: Path) -> None:
    link = address + SeatLinks.of(folder).path("ada", "annotate")
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(size)
        tab.goto(link)
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
        found = Axe().run(tab, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, found.generate_report()
    lead, seen = tab.locator("main .lead"), []
    for behind, name in enumerate(("A is better", "Both are bad", "Skip this duel"), 1):
        shown = tab.locator(".duel .text").all_inner_texts()
        assert len(shown) == 2
        seen.append(tuple(shown))
        tab.get_by_role("button", name=name).click()
        expect(lead).to_contain_text(f"{behind} of ", timeout=PATIENCE_MS)
    assert len(set(seen)) == 3
    first, *others = cast(folder, "ada")
    assert first.verdict == first.shown[0]
    assert [vote.verdict for vote in others] == ["both bad", "skipped"]


def test_pages_move_while_somebody_plays(tab: Page, address: str, folder: Path, browser: Browser) -> None:
    last = len(statuses(folder))
    tab.goto(f"{address}live.html")
    expect(tab.locator(".pulse")).to_have_text(f"match {last}", timeout=PATIENCE_MS)
    board = browser.new_page()
    board.goto(f"{address}index.html#sort=1&order=up", timeout=PATIENCE_MS)
    expect(board.locator(".pulse")).to_have_text(f"match {last}", timeout=PATIENCE_MS)
    names = board.locator("table.board tbody th").all_inner_texts()
    pairs = browser.new_page()
    pairs.goto(f"{address}head-to-head.html", timeout=PATIENCE_MS)
    expect(pairs.locator(".pulse")).to_have_text(f"match {last}", timeout=PATIENCE_MS)
    with ThreadPoolExecutor(1) as thread:
        newest = thread.submit(play, folder, DECIDED + 3, clients=hostile).result().settled
    expect(tab.locator(".pulse")).to_have_text(f"match {newest}", timeout=PATIENCE_MS)
    expect(tab.locator("#live .ended").first).to_contain_text(str(newest), timeout=PATIENCE_MS)
    expect(board.locator(".ranking p.quiet").first).to_contain_text(
        f"{DECIDED + 3} decided", timeout=PATIENCE_MS
    )
    assert board.locator("table.board tbody th").all_inner_texts() == names
    fresh = browser.new_page()
    fresh.goto(f"{address}index.html#sort=1&order=up", timeout=PATIENCE_MS)
    for part in (".answer", "main > .worth", "table.board .axis", "table.board tbody", ".charts"):
        texts = fresh.locator(part).all_text_contents()
        assert texts, part
        expect(board.locator(part)).to_have_text(texts, timeout=PATIENCE_MS)
    fresh.goto(f"{address}head-to-head.html", timeout=PATIENCE_MS)
    texts = fresh.locator("table.heat tbody").all_text_contents()
    expect(pairs.locator("table.heat tbody")).to_have_text(texts, timeout=PATIENCE_MS)
    for page in (fresh, pairs, board):
        page.close()
