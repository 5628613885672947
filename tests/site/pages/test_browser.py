"""The pages in a real browser, opened as files: no error, search, replay keys, charts, accessibility."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from itertools import combinations
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page
from tests.engine.arenas import play, statuses, write_arena
from tests.site.arenas import NAMES
from tests.site.browsers import DESK, PATIENCE_MS, PHONE, needed

from peerage.site.addresses import player_page
from peerage.site.pages.router import ASSETS, body, document, missing
from peerage.site.reading import Site
from peerage.values.figures import dollars
from peerage.views.arena import leaderboard

pytestmark = needed

PAGES = (
    "index.html",
    "matches.html",
    "match/3.html",
    "match/2.html#step-2",
    "head-to-head.html",
    "games.html",
    "challenges.html",
    "judges.html",
    "costs.html",
    "method.html",
    "ledger.html",
    player_page(NAMES[0]),
    "compare/*/*.html",
    "leaderboard/*/topic-*.html",
)


def until(tab: Page, script: str) -> None:
    """Wait until a script says true. The driver's own way asks a second time from within the page, where its
    policy lets nothing be evaluated."""
    for _ in range(PATIENCE_MS // 50):
        with suppress(Error):  # a page that is being left
            if tab.evaluate(script):
                return
        tab.wait_for_timeout(50)
    raise AssertionError(script)


def open_page(tab: Page, built: Path, path: str) -> None:
    tab.goto("about:blank")
    tab.goto(f"file://{built}/{path}")


@pytest.fixture(scope="module", autouse=True)
def unusual(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pages of a pool, of quizzes, and of nothing, made before the browser starts."""
    out = tmp_path_factory.mktemp("unusual")
    quizzes = write_arena(
        out / "arena", 4, games={"trivia": {}, "logic": {}, "color-obfuscation": {}}, rules={}
    )
    play(quizzes, 3)
    shown = []
    for folder, paths in (
        (sealed, ("costs.html", "challenges.html", "match/1.html")),
        (quizzes, ("match/1.html", "match/2.html", "match/3.html")),
    ):
        with closing(Site.open(folder)) as site:
            made = {path: body(site, path) or b"" for path in (*paths, *(f"assets/{one}" for one in ASSETS))}
            made["404.html"] = document(site, "404.html", missing("/x"))
        for path, page in made.items():
            at = out / folder.name / "pages" / path
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(page)
        shown += [out / folder.name / "pages" / path for path in paths]
    return [*shown, out / quizzes.name / "pages" / "404.html"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_show_without_error_and_fit_in_light_and_dark(tab: Page, built: Path, path: str) -> None:
    if "*" in path:  # which pages there are follows from the ratings
        path = str(min(built.glob(path)).relative_to(built))
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(size)
        open_page(tab, built, path)
        for width in (360, 768, 1280):
            tab.set_viewport_size({**size, "width": width})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (scheme, width)
        tab.set_viewport_size(size)
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert tab.locator("main :is(h1, h2):visible").count() > 0
        found = Axe().run(tab, options={"resultTypes": ["violations"], "preload": False})
        assert found.violations_count == 0, found.generate_report()


def test_pages_print_in_light_colours_whatever_the_theme(tab: Page, built: Path) -> None:
    paper = "getComputedStyle(document.querySelector('.heat tbody th')).backgroundColor"
    colours = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        tab.emulate_media(media=media, color_scheme=scheme)
        open_page(tab, built, "index.html")
        colours.append(tab.evaluate(paper))
    light, dark, printed = colours
    assert printed == light != dark


def test_what_is_folded_and_what_few_arenas_have_is_for_everybody_too(
    tab: Page, built: Path, unusual: list[Path]
) -> None:
    for path in (built / "method.html", *unusual):
        tab.goto(f"file://{path}")
        assert tab.locator("main h1:visible").count() == 1
        tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            tab.emulate_media(color_scheme=scheme)
            found = Axe().run(tab, options={"resultTypes": ["violations"], "preload": False, **rules})
            assert found.violations_count == 0, f"{path}: {found.generate_report()}"


@pytest.mark.parametrize("path", ["index.html", "costs.html", player_page(NAMES[5])])
def test_a_chart_fits_a_phone_and_its_labels_do_not_overlap(tab: Page, built: Path, path: str) -> None:
    tab.set_viewport_size(PHONE)
    open_page(tab, built, path)
    for drawing in tab.locator("figure > .drawing:visible").all():
        place = drawing.bounding_box()
        assert place is not None
        texts = [text.bounding_box() for text in drawing.locator("text").all()]
        inside = [text for text in texts if text is not None and text["width"]]
        assert len(inside) > 5
        for text in inside:
            assert text["x"] >= 0
            assert text["x"] + text["width"] <= PHONE["width"]
            assert text["height"] >= 8
        names = [one.bounding_box() for one in drawing.locator(".names text").all()]
        for one, other in combinations([name for name in names if name is not None], 2):
            apart = [
                max(one[side], other[side]) + 3 - min(one[side] + one[size], other[side] + other[size])
                for side, size in (("x", "width"), ("y", "height"))
            ]
            assert max(apart) >= 0, (one, other)


def test_a_phone_shows_no_wins_without_their_matches(tab: Page, built: Path) -> None:
    tab.set_viewport_size(PHONE)
    open_page(tab, built, "index.html")
    first = tab.locator("table.board tbody tr").first
    assert not first.locator(":is(td.matches, td.wins)").first.is_visible()
    tab.locator("details.wider summary").click()
    assert first.locator("td.matches").is_visible()
    assert first.locator("td.wins").is_visible()


def test_a_mark_tells_its_values(tab: Page, built: Path) -> None:
    open_page(tab, built, player_page(NAMES[5]))
    tips = tab.locator(".drawing circle title").all_text_contents()
    assert len(tips) > 5
    assert not [tip for tip in tips if not re.fullmatch(r"plain: [0-9]+ after match [0-9]+", tip)]


def test_without_scripts_a_page_is_complete(browser: Browser, built: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"file://{built}/index.html")
    assert tab.locator("table.board tbody tr").count() == len(NAMES)
    assert tab.locator(".drawing svg circle").count() > 5
    assert not tab.locator(".filters").is_visible()  # which nothing would answer
    tab.goto(f"file://{built}/match/3.html#step-2")
    assert tab.locator(".match:visible").count() == 1
    assert tab.locator("#step-2:target").is_visible()
    assert tab.locator(".replay").count() == 0
    context.close()


def test_the_rest_of_the_menu_closes_when_it_is_left(tab: Page, built: Path) -> None:
    open_page(tab, built, "index.html")
    more, entry = tab.locator(".less summary"), tab.get_by_role("link", name="Challenges")
    for leave in ("Escape", "Shift+Tab", "click"):
        more.focus()
        tab.keyboard.press("Enter")
        assert entry.is_visible()
        if leave == "click":
            tab.locator("h1").click()
        else:
            tab.keyboard.press(leave)
        assert not entry.is_visible(), leave
        if leave == "Escape":
            assert more.evaluate("it => it === document.activeElement")


def test_the_leaderboard_sorts_and_searches_and_its_address_says_how(tab: Page, built: Path) -> None:
    open_page(tab, built, "index.html")
    first = tab.locator("table.board tbody th").first
    best = first.inner_text()
    tab.get_by_role("button", name="Rating").click()
    tab.get_by_role("button", name="Rating").click()
    assert first.inner_text() != best
    tab.get_by_label("Search players").fill("PLAIN")
    assert tab.locator("table.board tbody tr:visible").count() == 1
    address = tab.url
    assert re.search(r"#sort=2&order=up&q=PLAIN$", address)
    tab.goto("about:blank")
    tab.goto(address)
    assert tab.locator("table.board tbody tr:visible").count() == 1
    assert tab.locator("th[aria-sort=ascending]").inner_text().startswith("Rating")


def test_a_choice_of_players_by_weights_and_price_stays_in_the_address(
    tab: Page, pages: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = dict(zip(NAMES, ("open", "open", "open", "proprietary"), strict=False))
    monkeypatch.setattr(leaderboard, "weights_of", lambda _: kinds)
    for path in ("index.html", "leaderboard/trueskill.html", *(f"assets/{name}" for name in ASSETS)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(body(pages, path) or b"")
    prices = sorted(row.cost_per_match for row in pages.table() if row.cost_per_match is not None)
    shown_as = [float(dollars(price, 100).lstrip("$")) for price in prices]
    middle = str(shown_as[len(prices) // 2])
    shown = tab.locator("table.board tbody tr:visible")
    open_page(tab, tmp_path, "index.html")
    tab.get_by_label("Weights").select_option("open")
    assert shown.count() == 3
    tab.get_by_label("Weights").select_option("unknown")
    assert shown.count() == len(NAMES) - 4
    tab.get_by_label("Weights").select_option("any")
    tab.get_by_label("At most").fill(middle)
    cheap = shown.count()
    assert cheap == sum(price <= float(middle) for price in shown_as)
    assert 0 < cheap < len(NAMES)
    assert tab.get_by_role("status").filter(has_text=f"{cheap} of {len(NAMES)}").is_visible()
    assert tab.url.endswith(f"#most={middle}")
    tab.locator("details.choice summary").click()
    tab.get_by_role("link", name="TrueSkill").click()  # the other tables keep it
    until(tab, "document.readyState === 'complete' && location.pathname.includes('trueskill')")
    assert tab.url.endswith(f"#most={middle}")
    assert shown.count() == cheap
    tab.get_by_role("button", name="Show all").click()
    assert shown.count() == len(NAMES)


def test_matches_are_found_by_words_topic_and_what_is_notable(tab: Page, built: Path, arena: Path) -> None:
    last = len(statuses(arena))
    open_page(tab, built, "matches.html")
    found, rows = tab.locator("#found"), tab.locator(".matches tbody tr")
    assert rows.count() == last

    def search(text: str) -> int:
        tab.locator("[name=q]").fill(text)
        until(tab, "document.getElementById('found').textContent !== ''")
        return rows.count()

    mine = search(NAMES[0])
    assert 0 < mine < last
    assert found.inner_text() == f"{mine} of {last} matches"
    assert all(NAMES[0] in text for text in rows.all_inner_texts())
    assert search(NAMES[0].upper()[:-1]) >= mine
    assert search(f'"{NAMES[0]}" {NAMES[1]}') < mine, "both met"
    assert search("nobody is called so %'\"<b>") == 0
    assert found.inner_text().startswith("No match fits. Try fewer words")
    assert search(NAMES[0]) == mine
    tab.get_by_role("radio", name="bees").check(force=True)
    until(tab, f"document.querySelectorAll('.matches tbody tr').length < {mine}")
    here = rows.count()
    address = tab.url
    tab.goto("about:blank")
    tab.goto(address)
    until(tab, "document.getElementById('found').textContent !== ''")
    assert rows.count() == here
    rows.first.locator("a").click()
    until(
        tab,
        "document.readyState === 'complete' && "
        "[...document.querySelectorAll('.match')].filter((one) => one.checkVisibility()).length === 1",
    )


def test_a_long_list_of_matches_is_shown_step_by_step(tab: Page, built: Path, arena: Path) -> None:
    last = len(statuses(arena))
    open_page(tab, built, "matches.html")
    more = tab.get_by_role("button", name="Show more")
    assert more.is_hidden()
    tab.evaluate("shown = 2; search()")
    until(tab, "document.querySelectorAll('.matches tbody tr').length === 2")
    more.click()
    until(tab, f"document.querySelectorAll('.matches tbody tr').length === {last}")
    assert more.is_hidden()


def test_a_mark_opens_its_question_and_a_replay_shows_the_game_at_each_step(
    tab: Page, unusual: list[Path]
) -> None:
    texts = {path: path.read_text("utf-8") for path in unusual}
    quiz, *_ = [path for path, text in texts.items() if "Question 1, " in text]
    tab.goto(f"file://{quiz}")
    tab.locator(".marks td.m a").nth(2).click()
    until(tab, "document.querySelectorAll('details.closed')[2].open")
    assert tab.locator("details.closed[open]").count() == 1
    colors, *_ = [path for path, text in texts.items() if 'class="state" hidden' in text]
    tab.goto(f"file://{colors}")
    shown = tab.locator(".replay .picture li")
    assert shown.count() == 0
    for count in (1, 2):  # the hidden color, then what its ally made of the riddle
        tab.keyboard.press("ArrowRight")
        assert shown.count() == count
    tab.keyboard.press("Escape")
    assert shown.count() == 0


def test_a_match_is_replayed_step_by_step_by_keys_and_buttons(tab: Page, built: Path) -> None:
    open_page(tab, built, "match/2.html")
    match, said = tab.locator(".match"), tab.locator(".replay [role=status]")
    steps, points = match.locator("section .step").count(), match.locator(".score b").first
    tab.keyboard.press("ArrowRight")
    assert match.locator(".step.later").count() == steps - 1
    assert not points.is_visible()  # how it ended shows at its end
    assert match.get_by_text("What it cost and what it moved").evaluate("it => !!it.closest('[inert]')")
    tab.keyboard.press("j")
    assert said.inner_text().startswith(f"2 of {steps} · The answers · ")
    assert tab.url.endswith("#step-2")
    tab.keyboard.press("k")
    tab.keyboard.press("ArrowLeft")
    assert match.locator(".step.now").count() == 1
    tab.keyboard.press("End")
    assert said.inner_text().startswith(f"{steps} of {steps}")
    assert points.is_visible()
    tab.get_by_label("Step", exact=True).fill("1")
    assert said.inner_text().startswith(f"1 of {steps}")
    assert match.locator(".step.later").count() == steps - 1
    tab.locator(".tools summary").click()
    tab.get_by_role("button", name="Speed").click()
    tab.get_by_role("button", name="Play").click()
    until(tab, "at === 2")
    tab.keyboard.press("Escape")
    assert match.locator(".later").count() == 0


def test_a_match_is_searched_and_what_is_folded_opens(tab: Page, built: Path) -> None:
    open_page(tab, built, "match/2.html")
    said = tab.locator(".replay [role=status]")
    tab.keyboard.press("/")
    tab.keyboard.type("ROOT OF THE")
    assert said.inner_text() == "1 of 1 found"
    assert tab.locator(".match .hit").is_visible()
    tab.get_by_label("Find").fill("judge")
    assert said.inner_text().startswith("1 of ")
    tab.keyboard.press("Enter")
    assert said.inner_text().startswith("2 of ")
    tab.get_by_label("Find").fill("nobody wrote this")
    assert said.inner_text() == "not in this match"
    assert tab.locator(".match .hit").count() == 0


def test_a_match_is_copied_as_markdown_in_which_nothing_of_a_player_is_markup(tab: Page, built: Path) -> None:
    open_page(tab, built, "match/2.html")
    tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    tab.locator(".tools summary").click()
    tab.get_by_role("button", name="Copy as Markdown").click()
    until(tab, "window.copied !== undefined")
    told = tab.evaluate("window.copied")
    assert re.match(r"## \S.* [AB] [½01] · \S.* [AB] [½01]\n", told), "who, label, score"
    assert tab.locator(".replay [role=status]").inner_text() == "copied"
    fenced = re.findall("^(```+)text\n(.*?)\n\\1$", told, re.MULTILINE | re.DOTALL)
    words = tab.locator("section .step:not(details), section .votes .said")
    assert len(fenced) == words.count()
    assert sum("<script>window.stolen" in text for _, text in fenced) > 2
    outside = re.sub("^(```+)text\n.*?\n\\1$", "", told, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"(?<!\\)[<\[]", outside.replace(f"<{tab.url}>", ""))
