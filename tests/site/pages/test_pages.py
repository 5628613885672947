"""Every page: whole, linked, and with nothing in it that a player could have slipped past us."""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
from collections.abc import Mapping
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import msgspec
import pytest
from markupsafe import escape
from tests.engine.arenas import house, play, write_arena
from tests.site.arenas import EVIL, NAMES

from peerage.judging.measures.corrections import CORRECTIONS
from peerage.render.blocks import Figure
from peerage.site.addresses import match_page, number_in, player_page, slug
from peerage.site.pages import downloads, matches
from peerage.site.pages.router import POLICY, page, paths
from peerage.site.reading import Site
from peerage.values.figures import dollars, sentence
from peerage.values.texts import visible
from peerage.views.arena.charts import charts, course, priced
from peerage.views.judges.report import Favour, JudgeRow, JudgesReport
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.match.match import match_view

# What a page may refer to, and what no page may hold.
ADDRESSES = ("href", "src", "data-library")
NO_ICON = "data:,"


class Read(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, body: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._inside.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def addresses(self) -> list[str]:
        found = [attributes.get(name) for _, attributes in self.elements for name in ADDRESSES]
        return [address for address in found if address is not None and address != NO_ICON]


@pytest.fixture(scope="module")
def documents(pages: Site) -> dict[str, Read]:
    return read_all(pages)


def read_all(pages: Site) -> dict[str, Read]:
    """Every page of a site by its path."""
    return {path: Read(body(pages, path)) for path in paths(pages) if path.endswith(".html")}


def body(pages: Site, path: str) -> bytes:
    made = page(pages, path)
    assert made is not None, path
    return made.body


def test_every_link_of_every_page_leads_somewhere(pages: Site, documents: dict[str, Read]) -> None:
    there = {*paths(pages), *downloads.paths(pages)}
    ids = {path: set(found.ids) for path, found in documents.items()}
    for path, found in documents.items():
        assert len(found.ids) == len(set(found.ids)), path
        for address in found.addresses:
            target, fragment = urldefrag(address)
            assert not target.startswith(("/", "http", "//")), (path, address)
            full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert full in there, (path, address)
            if fragment and target.endswith(".html"):
                assert unquote(fragment) in ids[full], (path, address)
            elif fragment and not target:
                assert unquote(fragment) in ids[path], (path, address)


def test_every_page_says_what_it_is_and_offers_few_entries(documents: dict[str, Read]) -> None:
    for path, found in documents.items():
        named = {
            one.get("name") or one.get("property"): one["content"]
            for _, one in found.elements
            if "content" in one
        }
        assert {"description", "og:title", "og:type"} <= named.keys(), path
        assert ("html", {"lang": "en"}) in found.elements, path
        assert any(
            one.get("rel") == "icon" and one["href"].endswith("assets/icon.svg") for _, one in found.elements
        )
        bar = found.elements.index(("nav", {"aria-label": "Pages"}))
        more = next(at for at, (tag, _) in enumerate(found.elements) if tag == "details" and at > bar)
        assert sum(tag == "a" for tag, _ in found.elements[bar:more]) <= 7, path
        assert (
            sum("aria-current" in one and "class" not in one for _, one in found.elements[bar : more + 8])
            <= 1
        ), path


def test_values_are_shown_as_people_write_them(tmp_path: Path) -> None:
    rules = {"topics": ["what's legal"], "judges": 2, "committee": 2}
    folder = write_arena(tmp_path / "arena", house(6), rules=rules)
    play(folder, 1)
    with closing(Site.open(folder)) as site:
        shown = body(site, "games.html")
    assert b"u0027" not in shown
    assert "what's legal" in Read(shown).text
    assert "their peers drafted" not in Read(shown).text


def test_nothing_that_players_wrote_is_markup(documents: dict[str, Read]) -> None:
    assert len(documents) > len(NAMES)
    hold_no_markup(documents)


def test_nothing_that_the_owner_wrote_is_markup(tmp_path: Path) -> None:
    """The arena's name, its prompts and their categories, and all that is stated for a player."""
    stated = {"family": EVIL, "architecture": EVIL, "pricing_source": EVIL, "system_prompt": EVIL}
    stated = {name: visible(text) for name, text in stated.items()}
    players = [
        {**one, **stated, "family": f"{visible(EVIL)} {at}", "price": {"input": 1, "output": 2}}
        for at, one in enumerate(house(6))
    ]
    prompts = [{"prompt": f"{EVIL} {at}", "category": visible(EVIL)[:200]} for at in range(3)]
    rules, judging = {"tasks": prompts}, {"judges": 2}
    folder = write_arena(
        tmp_path / "arena", players, game="tasks", rules=rules, judging=judging, name=visible(EVIL)
    )
    play(folder, 6)
    with closing(Site.open(folder)) as site:
        documents = read_all(site)
    hold_no_markup(documents)
    for number in range(1, 7):
        text = documents[f"match/{number}.html"].text
        assert visible(EVIL.replace("\x00", "\ufffd")) in text, "each match shows its task"
    assert visible(EVIL)[:100] in documents["index.html"].text


def hold_no_markup(documents: Mapping[str, Read]) -> None:
    """Fail where anything on a page is more than text, links within the site and our own script."""
    for path, found in documents.items():
        for tag, attributes in found.elements:
            assert tag not in ("img", "style", "iframe", "object", "base"), path
            assert not any(name.startswith("on") or name == "style" for name in attributes), (
                path,
                attributes,
            )
            if tag == "script":
                assert attributes.get("type") == "application/json" or "assets/" in attributes["src"], path
        for address in found.addresses:
            assert not address.lower().lstrip().startswith(("javascript:", "data:")), (path, address)
        metas = [a for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
        assert [meta["content"] for meta in metas] == [POLICY], path


def test_what_cannot_be_seen_is_made_visible(pages: Site) -> None:
    for path in paths(pages):
        text = body(pages, path).decode()
        if path.endswith(".html"):
            assert visible(text) == text, path
            assert "{{" not in text or "{{ 7*7 }}" in text, path


def test_hostile_text_is_shown_as_text(documents: dict[str, Read]) -> None:
    assert visible(EVIL) in documents["match/1.html"].text
    for name in NAMES:
        assert documents[player_page(name)].text.count(name) > 3
        assert name in documents["index.html"].text


def test_a_match_page_tells_what_the_transcript_tells(pages: Site, documents: dict[str, Read]) -> None:
    for number in (1, 2, 19):
        text = documents[f"match/{number}.html"].text
        found = match_view(pages.ledger, number)
        assert f"Match {number}" in text
        for one in found.exchanges:
            assert visible(one.choice_reason or one.reply) in text, (number, one.key)
        assert found.digests.root in text
        assert found.digests.record in text
        assert found.digests.chain in text
        for moved in found.ratings.values():
            for before, after in moved.values():
                assert f"{after:,.0f}" in text
                assert f"{after - before:+.1f}" in text


def test_the_leaderboard_is_the_tables(pages: Site, documents: dict[str, Read]) -> None:
    for track in pages.tracks:
        path = "index.html" if track == pages.track else f"leaderboard/{track}.html"
        text = documents[path].text
        for row in board(pages, track).rows:
            assert (f"{row.rating:,.1f}" if track == "trueskill" else f"{row.rating:,.0f}") in text
        rows = json.loads(body(pages, f"data/leaderboard-{track}.json"))
        assert rows == [row.as_dict() for row in pages.table(track)]
        listed = list(csv.DictReader(io.StringIO(body(pages, f"data/leaderboard-{track}.csv").decode())))
        assert [line["player"] for line in listed] == [row["player"] for row in rows]


def test_the_leaderboard_says_what_it_takes_to_be_sure(pages: Site, documents: dict[str, Read]) -> None:
    track = next(one for one in pages.tracks if one == "bt")
    path = "index.html" if track == pages.track else f"leaderboard/{track}.html"
    found = pages.outlook
    assert found is not None
    for line in found.lines:
        assert line in documents[path].text


def test_the_interval_of_a_skill_is_said_to_be_that_of_mu_and_holds_it(
    pages: Site, documents: dict[str, Read]
) -> None:
    page = body(pages, "leaderboard/trueskill.html").decode()
    assert "95% of μ<svg" in page
    assert "Bars are 95% intervals" not in page
    whiskers = re.findall(r'<path d="M([\d.]+) 7H([\d.]+)M.*?d="M([\d.]+) 7h0"', page)
    rows = [row for row in pages.table("trueskill") if row.rank is not None]
    assert len(whiskers) == len(rows)
    for low, high, at in whiskers:
        assert float(at) == pytest.approx((float(low) + float(high)) / 2, abs=0.2)
    for row in rows:
        assert f'<td class="n mu" data-v="{row.mu}">{row.mu:,.1f}' in page, "an interval stands by its μ"
        assert f'aria-label="{row.lower:,.1f} to {row.upper:,.1f}"' in page
    for point in course(pages, "trueskill"):
        assert point["low"] < point["rating"] < point["high"]
    assert all(offer["low"] is offer["high"] is None for offer in priced(rows))


def test_the_page_of_games_names_the_tracks_that_the_leaderboard_offers(
    pages: Site, documents: dict[str, Read]
) -> None:
    assert ", ".join([METHODS[track].name for track in pages.tracks]) in documents["games.html"].text


def test_a_table_is_described_by_its_verdict(pages: Site, documents: dict[str, Read]) -> None:
    (said,) = [
        one["content"] for _, one in documents["index.html"].elements if one.get("name") == "description"
    ]
    headline, *more = pages.board().verdict.lines
    assert said.endswith("…")
    assert len(said) <= 200
    assert visible(" ".join(more)).startswith(said.removesuffix("…"))
    shared = [
        one["content"] for _, one in documents["index.html"].elements if one.get("property") == "og:title"
    ]
    assert shared == [visible(headline)]


def _texts(chart: Figure) -> list[list[str]]:
    return [[column.text(row) for column in chart.columns] for row in chart.rows]


def test_below_a_chart_is_who_is_on_its_line_the_best_first(pages: Site) -> None:
    found = {one.name.split("-")[0]: one for one in charts(pages, pages.track, pages.board())}
    for kind in ("frontier", "speed"):
        joined = [(row[0], row[1]) for row in reversed(_texts(found[kind])) if "yes" in row]
        assert list(found[kind].key) == (joined if len(joined) > 1 else [])
    assert len(found["frontier"].key) > 1
    made = page(pages, "index.html")
    assert made is not None
    assert all(value.encode() in made.body.partition(b'class="key"')[2] for _, value in found["frontier"].key)


def test_each_telling_match_says_why_it_is_shown(pages: Site) -> None:
    telling = body(pages, "index.html").decode().partition(">Telling matches<")[2].partition("</section>")[0]
    rows = telling.partition("<tbody>")[2].split("</tr>")[:-1]
    assert rows
    for row in rows:
        assert re.search("greatest upset|split judges|newest", row), row


def test_each_chart_can_be_saved_with_its_title_and_the_name_of_the_arena(pages: Site) -> None:
    name = pages.settings.name
    for path in (f"data/frontier-{pages.track}", f"data/course-{pages.track}"):
        assert f'href="{path}.svg"' in body(pages, "index.html").decode()
        assert f"{path}.svg" in paths(pages)
        drawn = body(pages, f"{path}.svg").decode()
        title = "Cost against quality" if "frontier" in path else "Ratings over the matches"
        assert f">{title}</text>" in drawn
        assert f">{escape(visible(name))}</text>" in drawn
        assert body(pages, f"{path}.png").startswith(b"\x89PNG")
    player = next(row.player for row in pages.table())
    course = f"{player_page(player).removesuffix('html')}course-{pages.track}"
    assert b">Rating over the matches</text>" in body(pages, f"{course}.svg")
    assert page(pages, "data/course-nothing.svg") is None
    assert page(pages, f"{player_page(player).removesuffix('html')}nothing.svg") is None


def test_a_chart_crowns_nobody_whom_the_verdict_does_not(pages: Site) -> None:
    found = pages.board()
    good = next(row.player for row in found.rows if row.player != found.verdict.pick)
    level = msgspec.structs.replace(found.verdict, may_be_as_good=(good,))
    for chart in charts(pages, pages.track, msgspec.structs.replace(found, verdict=level)):
        assert "pick" not in chart.about
        assert "highest rating" not in chart.about


def test_the_table_of_a_chart_has_the_headings_and_figures_of_the_chart(pages: Site) -> None:
    found = {one.name.split("-")[0]: one for one in charts(pages, pages.track, pages.board())}
    cost = found["frontier"]
    titles = [column.title for column in cost.columns[:4]]
    assert titles == ["Player", "$ for 100 matches of its own play", "Rating", "95%"]
    offers = {one["player"]: one for one in priced(pages.table())}
    for player, price, rating, _, best in _texts(cost):
        assert price == dollars(offers[player]["cost"], 100)
        assert rating == f"{offers[player]['rating']:,.0f}"
        assert best == ("yes" if offers[player]["best"] else "no")
    assert set(found) >= {"frontier", "speed", "course"}
    for one in found.values():
        assert not [
            value for row in _texts(one) for value in row[1:] if re.search(r"\.\d{5}|e-|True|None", value)
        ]


def test_a_player_page_does_not_repeat_its_name(tmp_path: Path) -> None:
    named = [{"model": "house:0.9", "name": "Ada", "family": "kin"}, {"model": "house:0.7", "name": "Bob"}]
    play(write_arena(tmp_path, [*named, "house:0.5", "house:0.3"]), 4)
    with closing(Site.open(tmp_path)) as site:
        assert b'<p class="quiet">house:0.9 \xc2\xb7 family kin</p>' in body(site, player_page("Ada"))
        assert b'<p class="quiet">house:0.7</p>' in body(site, player_page("Bob"))
        assert b"</h1>\n<p" not in body(site, player_page("house:0.5"))


def test_the_page_of_judges_shows_what_corrections_would_change(
    pages: Site, documents: dict[str, Read]
) -> None:
    text = "".join(documents["judges.html"].text.split())
    corrected = pages.corrected([one for one in CORRECTIONS if one != "style"])
    assert corrected, "this arena has votes enough"
    for row in corrected:
        told = f"{visible(row.player)}{row.rating:,.0f}{row.corrected:,.0f}"
        assert "".join(told.split()) in text
    assert all("".join(sentence(note).split()) in text for note in corrected[0].notes)


def test_the_page_of_judges_shows_who_prefers_whom_and_marks_what_is_beyond_chance(sealed: Path) -> None:
    with closing(Site.open(sealed)) as site:
        row = ("p0", "p1", 40, 0.25, 0.0001, 0.001, True, False)
        pairs = (Favour(*row), Favour("p2", "p1", 40, -0.1, 0.4, 1.0, False, False))
        site.judges = JudgesReport("Yes.", (), (), (), (judge_row("p0"), judge_row("p2")), pairs, ())
        told = body(site, "judges.html").decode()
    assert ' w6" data-v="0.25" title="40 marks, p 0.000, q 0.001">+25</td>' in told
    assert ' self" data-v="-0.1" title="40 marks, p 0.400, q 1.000">-10</td>' in told
    assert "2 pairs of judge and author tested, 1 beyond chance" in told


def judge_row(name: str) -> JudgeRow:
    """A judge of whom nothing is known."""
    unknown = dict.fromkeys(JudgeRow.__struct_fields__)
    return JudgeRow(**{**unknown, "judge": name, "family": "", "marks": 0})  # type: ignore[arg-type]


def test_a_topic_has_its_own_leaderboard(pages: Site, documents: dict[str, Read]) -> None:
    topic = "<b onclick=window.stolen=1>tides</b>"
    found = documents[f"leaderboard/strength/topic-{slug(topic)}.html"]
    decided = sum(row.topic == topic and row.status == "done" for row in pages.summaries)
    assert topic in found.text
    assert f"{decided} decided matches" in found.text
    assert f"topic: {topic}" in found.text
    page = body(pages, f"leaderboard/strength/topic-{slug(topic)}.html").decode()
    assert 'href="../../index.html"><span>All matches</span></a>' in page, "the way back"


def test_the_index_of_matches_holds_them_all(pages: Site) -> None:
    said = body(pages, "data/matches-1.js").decode()
    assert said.startswith("peerageShard(1,")
    rows = json.loads(said[len("peerageShard(1,") :].rstrip().removesuffix(")"))
    told = re.findall(r'href="([^"]+)"', rows)
    assert told == [match_page(row.number) for row in reversed(pages.summaries)]
    assert "<script" not in rows


@pytest.mark.parametrize(
    "path",
    [
        "nothing.html",
        "matches/1.html",
        "match/0.html",
        "match/-1.html",
        "match/01.html",
        "match/99999.html",
        "match/1.html/..",
        "match/１.html",
        "match/99999999999999999999.html",
        "data/matches-2.js",
        "data/nothing.csv",
        "data/leaderboard-x.csv",
        "players/../index.html",
        "players/x.html",
        "assets/../pages.py",
        "assets/nothing.css",
        "../arena.yaml",
        "leaderboard/x.html",
        "\x00.html",
        "templates/base.html",
    ],
)
def test_what_does_not_exist_is_no_page(pages: Site, path: str) -> None:
    assert page(pages, path) is None


def test_of_very_many_matches_files_show_texts_as_they_were_written(
    pages: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "RENDERED", 1)
    shown = body(pages, "match/2.html")
    assert b'class="prose"' not in shown
    assert b"Texts are shown as they were written; <code>peerage serve</code> renders" in shown


def test_a_match_says_who_won_and_why_to_those_who_are_sent_it(documents: dict[str, Read]) -> None:
    named = {
        one.get("name") or one.get("property"): one["content"]
        for _, one in documents["match/3.html"].elements
        if "content" in one
    }
    told = named["og:title"]
    assert re.search(r"(beats|tie|no result)", told)
    assert named["description"].startswith(told[:150])
    assert len(named["description"]) <= 200


def test_addresses() -> None:
    assert match_page(21) == "match/21.html"
    assert number_in("match/21.html", "match", ".html") == 21
    assert slug("GPT-5 mini").startswith("gpt-5-mini-")
    assert slug("a") != slug("A")
    assert set(slug("../é/<x>")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_the_same_site_gives_the_same_bytes(pages: Site, arena: object) -> None:
    first = page(pages, "index.html")
    second = page(pages.at(pages.number), "index.html")
    assert first is not None
    assert first == second


def test_a_leaderboard_marks_who_is_benched_and_what_was_possibly_billed(pages: Site) -> None:
    then, plain = pages.at(20), body(pages.at(20), "index.html")
    assert b"Billed" in plain
    assert b"Possibly" not in plain
    assert b"benched" not in plain
    found = then.board()
    first, second, *others = found.rows
    rows = (
        msgspec.structs.replace(first, status="benched", possibly_usd=1.25),
        msgspec.structs.replace(second, status="left"),
        *others,
    )
    changed = msgspec.structs.replace(found, rows=rows)
    changed.__dict__.update(found.__dict__)
    then._boards[then.track, "", "", "", "all"] = changed
    shown = Read(body(then, "index.html")).text
    assert shown.count("benched") == shown.count("no longer plays") == 1
    assert "Possibly" in shown
    assert "$1.25" in shown
    assert re.search(r"Possibly\s*\$1.25", Read(body(then, player_page(first.player))).text)
