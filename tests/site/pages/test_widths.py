"""Pages of arenas of three, eight and sixty players, at the width of a phone, a tablet and a desk: nothing is
cut off, broken inside a word or printed over something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.engine.arenas import play, write_arena
from tests.site.browsers import needed

from peerage.site.addresses import player_page
from peerage.site.export.report import report
from peerage.site.pages.router import ASSETS, body
from peerage.site.reading import Site

pytestmark = needed

NAMES = (
    "house:0.95",
    "gpt-5.1-mini",
    "claude-sonnet-4.5",
    "gemini-3-pro-preview",
    "llama-4-maverick-17b-128e-instruct",
    "qwen3-235b-a22b-thinking-2507",
    "mistral-large",
    "grok-4",
)
MATCHES = {3: 12, 8: 40, 60: 120}
CHECKED = 6
"""Players of an arena whose board has accuracy too."""
PAGES = ("index.html", "leaderboard/trueskill.html", "judges.html", "costs.html", "head-to-head.html")
PROMPTS = [
    {"prompt": "Name a bridge.", "category": "bridges"},
    {"prompt": "When is it high?", "category": "tides"},
]

LOOK = """() => {
  const wrong = [], seen = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 0;
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`the page is ${wide} wide`);
  for (const table of document.querySelectorAll("table.board")) {
    if (table.scrollWidth > table.parentElement.clientWidth)
      wrong.push(`the board is ${table.scrollWidth} wide`);
    for (const cell of [...table.querySelectorAll("td, th")].filter(seen)) {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const drawn = cell.querySelector(".whisker, .axis");
      if (drawn) range.setEndBefore(drawn);
      const inside = range.getBoundingClientRect(), box = cell.getBoundingClientRect();
      if (inside.width && (inside.left < box.left - 1 || inside.right > box.right + 1))
        wrong.push(`${cell.textContent} leaves its cell`);
    }
    // An interval is drawn beside or below the words of its row.
    for (const drawn of table.querySelectorAll(".whisker")) {
      const box = drawn.getBoundingClientRect(), row = drawn.closest("tr"), of = row.getBoundingClientRect();
      const inside = of.left <= box.left + 1 && box.right <= of.right + 1 && box.bottom <= of.bottom + 1;
      if (!inside || box.width < 200) wrong.push(`an interval of ${box.width} is cut off`);
      for (const words of [...row.querySelectorAll("a, b, small, .n")].filter(seen)) {
        const range = document.createRange();
        range.selectNodeContents(words);
        const there = range.getBoundingClientRect();
        const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
        if (across > 1 && Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top) > 4)
          wrong.push(`an interval is drawn over ${words.textContent}`);
      }
    }
  }
  // A player's tables need no scrolling.
  if (document.title.includes(document.querySelector("h1").textContent) && document.querySelector("dl.facts"))
    for (const region of document.querySelectorAll('[aria-label="Ratings"], [aria-label^="By "]'))
      if (region.scrollWidth > region.clientWidth)
        wrong.push(`${region.ariaLabel}: ${region.scrollWidth} wide`);
  // A name is broken after its punctuation, or not at all.
  for (const link of [...document.querySelectorAll(".player a, .player b")].filter(seen)) {
    const parts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
    while (parts.nextNode()) {
      for (const word of parts.currentNode.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(parts.currentNode, word.index);
        range.setEnd(parts.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) wrong.push(`${link.textContent} is broken within ${word[0]}`);
      }
    }
  }
  // A row's name has four lines on a phone, and one where there is room; so has each name of a result.
  for (const link of [...document.querySelectorAll("table:not(.board, .heat) tbody th > a")].filter(seen)) {
    const lines = new Set([...link.getClientRects()].map((box) => Math.round(box.top))).size;
    const names = [...link.children].filter((part) => part.matches("span:not([title])"));
    const beside = names.reduce((sum, name) => sum + name.getBoundingClientRect().width + 20, 0);
    const room = beside < link.parentElement.getBoundingClientRect().width ? 1 : Math.max(1, names.length);
    if (lines > (innerWidth < 736 ? 4 : room)) wrong.push(`${link.textContent} takes ${lines} lines`);
    for (const name of innerWidth < 736 ? [] : names) {
      const range = document.createRange();
      range.selectNodeContents(name);
      const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (tops.size > 1) wrong.push(`${name.textContent} is broken in ${link.textContent}`);
    }
  }
  for (const drawing of [...document.querySelectorAll(".drawing")].filter(seen)) {
    const texts = [...drawing.querySelectorAll("text")].filter(seen)
      .map((text) => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([text, box], place) => {
      if (box.left < 0 || box.right > innerWidth) wrong.push(`${text} leaves the page`);
      for (const [other, there] of texts.slice(place + 1)) {
        const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
        const down = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
        if (across > 1 && down > 4) wrong.push(`${text} lies over ${other}`);
      }
    });
  }
  return wrong;
}"""


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Path, tuple[str, ...]]]:
    """The pages of each arena, made before the browser starts: where, and which."""
    found = {count: _built(tmp_path_factory.mktemp(f"of-{count}"), count) for count in MATCHES}
    tasks = [{"prompt": f"What is {number} + 1?", "expected": f"{number + 1}"} for number in range(9)]
    return found | {CHECKED: _built(tmp_path_factory.mktemp("checked"), CHECKED, tasks)}


def _built(
    folder: Path, count: int, prompts: Sequence[Mapping[str, str]] = PROMPTS
) -> tuple[Path, tuple[str, ...]]:
    names = [NAMES[at % 8] + (f" v{at // 8 + 1}" if at >= 8 else "") for at in range(count)]
    players = [
        {
            "name": name,
            "model": f"house:{0.2 + 0.7 * at / (count - 1):.2f}",
            "price": {"input": 0.05 * 1.12**at, "output": 0.4 * 1.12**at},
        }
        for at, name in enumerate(names)
    ]
    write_arena(folder, players, game="tasks", rules={"tasks": [*prompts]}, judging={"judges": 1})
    play(folder, MATCHES.get(count, 18))
    paths = (*PAGES, player_page(names[-1]))
    with closing(Site.open(folder)) as site:
        for path in (*paths, *(f"assets/{name}" for name in ASSETS)):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(body(site, path) or b"")
    return folder, paths


def test_a_board_with_accuracy_is_not_cut_off_where_pages_are_widest(
    tab: Page, built: dict[int, tuple[Path, tuple[str, ...]]]
) -> None:
    tab.goto(f"file://{built[CHECKED][0]}/index.html")
    assert tab.locator(".board:has(td.accuracy)").count() == 1
    for width in (1280, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate(LOOK) == [], width


def test_the_mark_of_a_headline_stays_with_its_last_word(
    tab: Page, built: dict[int, tuple[Path, tuple[str, ...]]]
) -> None:
    tab.goto(f"file://{built[8][0]}/index.html")
    apart = """() => {
        const [headline, mark] = document.querySelector(".titled:has(> h1)").children;
        const words = document.createRange();
        words.selectNodeContents(headline);
        return mark.getBoundingClientRect().top > [...words.getClientRects()].at(-1).bottom;
    }"""
    widths = range(360, 1400, 20)
    for width in widths:
        tab.set_viewport_size({"width": width, "height": 900})
        assert not tab.evaluate(apart), width


def test_prompts_and_marks_of_a_printed_decision_are_no_larger_than_its_sentences(
    tab: Page, built: dict[int, tuple[Path, tuple[str, ...]]], tmp_path: Path
) -> None:
    with closing(Site.open(built[CHECKED][0])) as site:
        (tmp_path / "report.html").write_bytes(report(site))
    tab.goto(f"file://{tmp_path}/report.html")
    tab.emulate_media(media="print")
    size = "each => parseFloat(getComputedStyle(each).fontSize)"
    printed = tab.evaluate(f"[...document.querySelectorAll('.telling :is(.said, .chip)')].map({size})")
    assert printed
    assert max(printed) <= tab.evaluate(f"({size})(document.querySelector('main'))")


@pytest.mark.parametrize("count", MATCHES)
def test_at_every_width_nothing_is_cut_off_broken_or_printed_over(
    tab: Page, built: dict[int, tuple[Path, tuple[str, ...]]], count: int
) -> None:
    folder, paths = built[count]
    for path in paths:
        tab.goto(f"file://{folder}/{path}")
        for width in (360, 768, 1280):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate(LOOK) == [], (path, width)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": 720, "height": 1_000})  # A4, without its margins
        assert not tab.locator(".top nav, .filters, .tabs").filter(visible=True).count()
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        tab.emulate_media(media="screen")
        if path in PAGES[:1]:
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                found = Axe().run(tab, options={"resultTypes": ["violations"], "preload": False})
                assert found.violations_count == 0, found.generate_report()
