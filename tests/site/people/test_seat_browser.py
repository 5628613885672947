"""A person plays in a real browser, on a desk and on a phone, while a real run goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from tests.cli.terminals import Terminal
from tests.engine.arenas import house, write_arena
from tests.site.browsers import DESK, PATIENCE_MS, PHONE, needed

from peerage.formats import Choice, Code, Encoding, Format, Integer, Scores, Text
from peerage.ledger import open_ledger
from peerage.players.people.requests import People, Request
from peerage.site.people.seats import SeatLinks

pytestmark = [needed, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")]
HOUR = 3_600_000
LONG = "A question with a verylongwordthatneverends" + "x" * 120 + "\n\n" + "More to read here. " * 40
FORMATS: dict[str, Format] = {
    "text": Text(2_000),
    "code": Code(),
    "choice": Choice("verdict", ("A", "B", "tie")),
    "integer": Integer(),
    "scores": Scores(3, explain=True),
    "encoding": Encoding(),
}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def ask(folder: Path, expects: Format, prompt: str = "What?", key: str = "k") -> Request:
    messages = [("system", "You are a judge."), ("user", f"{prompt}\n{expects.instruction()}")]
    request = Request.of("seed", key, "me", "judge", messages, expects, HOUR)  # type: ignore[arg-type]
    People(folder).ask(request, now_ms())
    return request


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_arena(tmp_path, [*house(5), "human:me"], seed=None, pairing={"window": 4})


@pytest.fixture
def link(folder: Path) -> Iterator[str]:
    """What the owner's terminal says."""
    with closing(Terminal("serve", "--port", "0", "--dir", str(folder))) as server:
        server.waits_for("Ctrl+C stops it")
        found = re.search(r"me: (http://127\.0\.0\.1:\d+/seat/\S+)", server.seen)
        assert found is not None
        yield found[1]
        server.presses(b"\x03")
        assert server.ends() == 0


def test_every_form_fits_and_can_be_used_by_anybody(link: str, tab: Page, folder: Path) -> None:
    for name, expects in FORMATS.items():
        asked = ask(folder, expects, LONG, key=name)
        for scheme, size in (("light", DESK), ("dark", PHONE)):
            tab.emulate_media(color_scheme=scheme)
            tab.set_viewport_size(size)
            tab.goto(link)
            expect(tab.get_by_role("heading", level=1)).to_have_text("You are asked as judge")
            assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
            form, main = (tab.locator(part).bounding_box() for part in ("form.seat", "main"))
            assert form is not None
            assert main is not None
            assert form["width"] > 0.9 * main["width"]
            found = Axe().run(tab, options={"resultTypes": ["violations"]})
            assert found.violations_count == 0, f"{name}: {found.generate_report()}"
            if shots := os.environ.get("PEERAGE_SHOTS"):
                tab.screenshot(path=f"{shots}/{name}-{size['width']}.png", full_page=True)
        People(folder).reply("me", asked.id, None, now_ms())


def test_a_new_request_shows_up_by_itself_and_buttons_send_it(link: str, tab: Page, folder: Path) -> None:
    tab.set_viewport_size(PHONE)
    tab.goto(link)
    expect(tab.get_by_role("heading", level=1)).to_have_text("Nothing waits for you now")
    asked = ask(folder, FORMATS["choice"])
    expect(tab.get_by_role("heading", level=1)).to_have_text("You are asked as judge", timeout=PATIENCE_MS)
    assert "Reply with one JSON object" not in tab.locator("main").inner_text()
    tab.get_by_label("reason").fill("It is longer.")
    tab.get_by_role("button", name="tie").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Nothing waits for you now")
    told = People(folder).ask(asked, now_ms())
    assert (told.state, told.text) == ("replied", '{"reason":"It is longer.","verdict":"tie"}')
    assert 0 < told.seconds < 60


def test_what_is_being_written_is_kept_when_the_request_ends(link: str, tab: Page, folder: Path) -> None:
    asked = ask(folder, Text())
    tab.goto(link)
    tab.get_by_label("Your reply").fill("Half of an answer")
    People(folder).reply("me", asked.id, "from the terminal", now_ms())
    expect(tab.get_by_role("alert")).to_contain_text("This request is closed", timeout=PATIENCE_MS)
    expect(tab.get_by_label("Your reply")).to_have_value("Half of an answer")


def test_a_person_in_a_browser_plays_a_whole_run(link: str, tab: Page, folder: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "peerage.cli.main",
        "run",
        "--yes",
        "--max-matches",
        "2",
        "--dir",
        str(folder),
    ]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    over = threading.Event()
    threading.Thread(target=lambda: (run.wait(), over.set()), daemon=True).start()
    tab.goto(link)
    until = time.monotonic() + 2 * PATIENCE_MS / 1000
    while not over.wait(0.2) and time.monotonic() < until:
        if tab.locator("form.seat").count() == 0:
            continue
        for area in tab.locator("textarea:visible").all():
            area.fill("What I think.")
        tab.locator(".send button").first.click()
        tab.wait_for_load_state()
    said, _ = run.communicate(timeout=PATIENCE_MS / 1000)
    assert run.returncode == 0, said
    with closing(open_ledger("sqlite:///arena.db", folder, create=False)) as ledger:
        mine = [one for one in ledger.exchanges(1) if one.player == "me" and one.reply is not None]
    assert mine
    assert b"What I think." in b"".join([one.reply or b"" for one in mine])
    token = SeatLinks.of(folder).token("me")
    assert token not in said
    assert all(token.encode() not in path.read_bytes() for path in folder.iterdir() if path.is_file())
