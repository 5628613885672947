"""The static export: a build on top of another ends with what a fresh one writes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from msgspec.structs import replace
from tests.engine.arenas import play
from tests.ledger import forger
from tests.site.arenas import hostile, hostile_arena
from tests.views.leaderboard.test_board import UNLOGGED
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.again.replay import repair
from peerage.ledger import open_ledger
from peerage.ledger.topics.secret import disclose
from peerage.ledger.topics.votes import Vote
from peerage.reading.match import Match
from peerage.site import cards
from peerage.site.export import build as site_build
from peerage.site.export import made as made_parts
from peerage.site.export.build import FILES, SiteError, build, build_folder
from peerage.site.pages import downloads, matches
from peerage.site.pages.router import body, page, paths
from peerage.site.reading import Site
from peerage.values.outputs import OutputRefused
from peerage.values.parallel import Processes
from peerage.values.texts import visible

cli = CliRunner()

FOUR = 4
"""Matches of a part of a build, where a test sees which parts are made."""


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.parent.name != Path(FILES).parent.name
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena of few matches: what is tried of a build is the same."""
    return hostile_arena(tmp_path_factory.mktemp("small") / "arena", 4)


@pytest.fixture(scope="module")
def small_built(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small") / "out"
    build_folder(small, out)
    return out


def test_a_build_is_every_page_and_nothing_else(pages: Site, built: Path) -> None:
    wanted = {}
    for path in paths(pages):
        made = page(pages, path)
        assert made is not None
        wanted[path] = made.body
    found = files(built)
    assert {path: found[path] for path in wanted} == wanted
    assert found.keys() - wanted.keys() == set(downloads.paths(pages))


@pytest.fixture(scope="module")
def dozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena of three parts of `FOUR` matches."""
    return hostile_arena(tmp_path_factory.mktemp("dozen") / "arena", 3 * FOUR)


def test_a_file_is_written_where_its_bytes_differ(dozen: Path, tmp_path: Path) -> None:
    arena, out = Path(shutil.copytree(dozen, tmp_path / "arena")), tmp_path / "out"
    first = build_folder(arena, out)
    assert (first.kept, first.removed) == (0, 0)
    assert build_folder(arena, out) == (0, first.written, 0, False)

    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("match/*.html")}
    play(arena, 4 * FOUR, clients=hostile)
    second = build_folder(arena, out)
    assert 0 < second.written < second.written + second.kept
    # The last match of before leads to the next one now.
    again = [int(path.stem) for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp]
    assert again == [max(int(path.stem) for path in stamps)]


def test_pages_of_matches_of_which_nothing_changed_are_not_made_again(
    dozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (site_build, made_parts):
        monkeypatch.setattr(module, "CHUNK", FOUR)
    arena, out = Path(shutil.copytree(dozen, tmp_path / "arena")), tmp_path / "out"
    build_folder(arena, out)
    made: list[int] = []

    def noted(site: Site, place: int, match: Match) -> Any:
        made.append(place)
        return page_of(site, place, match)

    page_of = matches.page_of
    monkeypatch.setattr(matches, "page_of", noted)
    build_folder(arena, out)
    assert made == []
    (out / "match" / "6.html").write_bytes(b"somebody else's")
    build_folder(arena, out)
    assert made == [5, 6, 7, 8]
    assert b"somebody" not in (out / "match" / "6.html").read_bytes()
    settings = yaml.safe_load((arena / "arena.yaml").read_text())
    (arena / "arena.yaml").write_text(yaml.safe_dump({**settings, "name": "Another name"}))
    made.clear()
    build_folder(arena, out)
    assert len(made) == len([*(out / "match").iterdir()])
    assert b"Another name" in (out / "match" / "6.html").read_bytes()


def test_a_part_is_made_of_the_chain_of_its_last_record(pages: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_parts, "CHUNK", 10)
    before, records = made_parts.made_of(pages), type(pages.moment).records

    def other(*given: Any) -> Any:
        rows = records(*given)
        return [replace(row, chain=b"other") if row.number == 10 else row for row in rows]

    monkeypatch.setattr(type(pages.moment), "records", other)
    after = made_parts.made_of(pages)
    assert [path for path in before if before[path] != after[path]] == ["match/1.html"]


def test_pages_that_are_none_any_more_go_and_strange_files_stay(
    arena: Path, built: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(built, out)
    (out / "CNAME").write_text("example.org")
    site = Site.open(arena)
    earlier = site.at(18)
    found = build(earlier, arena, out)
    site.close()
    assert found.removed >= 2
    assert not (out / "match" / "21.html").exists()
    assert (out / "CNAME").read_text() == "example.org"
    assert set(files(out)) - {"CNAME"} == {*paths(earlier), *downloads.paths(earlier)}


def test_somebody_elses_folder_is_left_alone(arena: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputRefused, match="holds no site"):
        build_folder(arena, tmp_path)
    with pytest.raises(OutputRefused, match="holds no site"):
        build_folder(arena, tmp_path / "thesis.txt")
    assert os.listdir(tmp_path) == ["thesis.txt"]
    said = cli.invoke(app, ["site", "build", str(tmp_path), "--dir", str(arena)])
    assert said.exit_code == 2
    assert "holds no site that Peerage wrote; name a new or an empty folder" in said.output


def interrupted(site: Site, folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin a build that ends after three pages, before there is anything that all pages load."""
    left = list(range(3))

    def stops(site: Site, path: str) -> bytes | None:
        left.pop()
        return body(site, path)

    with monkeypatch.context() as patch:
        patch.setattr(site_build, "body", stops)
        with pytest.raises(IndexError):
            build(site, folder, out, workers=1)


def test_a_build_that_was_interrupted_begins_again(
    small: Path, small_built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    site = Site.open(small)
    interrupted(site, small, out, monkeypatch)
    assert not (out / "assets").exists()
    build(site, small, out)
    assert files(out) == files(small_built)

    shutil.copytree(small_built, kept)
    earlier = site.at(2)
    interrupted(earlier, small, kept, monkeypatch)
    build(earlier, small, kept)
    site.close()
    assert set(files(kept)) == {*paths(earlier), *downloads.paths(earlier)}


def test_a_worker_that_is_killed_is_reported(
    arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers: list[Processes] = []

    def hired(*stated: Any) -> Processes:
        helpers.append(Processes(*stated))
        return helpers[0]

    def kills(site: Site, out: Path, wanted: list[str]) -> int:
        while not helpers[0]._started:
            time.sleep(0.01)
        for one in helpers[0]._started:
            one.kill()
        return 0

    monkeypatch.setattr(site_build, "Processes", hired)
    monkeypatch.setattr(site_build, "_write", kills)
    site = Site.open(arena)
    with pytest.raises(SiteError, match="build again"):
        build(site, arena, tmp_path / "out", workers=2)
    site.close()


def test_the_same_matches_played_at_another_time_are_other_pages(
    small: Path, small_built: Path, tmp_path: Path
) -> None:
    """An arena that is made anew from its seed has the same chain, which does not hold times."""
    again, out = tmp_path / "arena", tmp_path / "out"
    shutil.copytree(small, again)
    shutil.copytree(small_built, out)
    with sqlite3.connect(again / "arena.db") as rows:
        rows.execute(UNLOGGED)
        for table in ("records", "summaries"):
            rows.execute(f"UPDATE {table} SET at_ms = at_ms + 86400000")
    rows.close()
    forger.again(again)
    build_folder(again, out)
    build_folder(again, tmp_path / "fresh")
    assert files(out) == files(tmp_path / "fresh") != files(small_built)


def test_the_command_says_what_it_wrote(small: Path, small_built: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(small_built, out)
    (out / "costs.html").unlink()
    said = cli.invoke(app, ["site", "build", str(out), "--dir", str(small)])
    assert said.exit_code == 0, said.output
    assert f"1 page written, {len(files(small_built)) - 1} unchanged" in said.output
    assert files(out) == files(small_built)


def test_an_arena_without_a_match_has_pages_too(tmp_path: Path) -> None:
    arena = hostile_arena(tmp_path / "arena", 0)
    built = build_folder(arena, tmp_path / "out")
    assert built.written > 10


def test_a_list_of_files_that_is_lost_or_damaged_harms_nothing(
    small: Path, small_built: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(small_built, out)
    whole = (out / FILES).read_bytes()
    for listed in (whole[:-1], b"\xff" * 99):
        (out / FILES).write_bytes(listed)
        for path in ("costs.html", "match/1.html"):
            (out / path).write_bytes(b"old")
        assert build_folder(small, out).written == 2
        assert files(out) == files(small_built)
        assert (out / FILES).read_bytes() == whole
    shutil.rmtree((out / FILES).parent)
    build_folder(small, out)
    assert files(out) == files(small_built)


def test_files_to_download_that_were_damaged_are_made_again(
    small: Path, small_built: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(small_built, out)
    for path in ("arena.db", "matches.csv", "matches.jsonl"):
        (out / "data" / path).write_bytes((out / "data" / path).read_bytes()[:100])
    assert build_folder(small, out).written == 3
    assert files(out) == files(small_built)


def test_of_two_builds_at_once_one_is_refused(
    small: Path, small_built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def meanwhile(site: Site, path: str) -> bytes | None:
        with pytest.raises(SiteError, match="another build is writing to"):
            build_folder(small, out)
        return body(site, path)

    monkeypatch.setattr(site_build, "body", meanwhile)
    build_folder(small, out)
    assert files(out) == files(small_built)


def test_nothing_outside_is_removed_whatever_was_written_down(
    small: Path, small_built: Path, tmp_path: Path
) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    shutil.copytree(small_built, out)
    victim.write_text("mine")
    listed = json.loads((out / FILES).read_bytes())
    (out / FILES).write_text(json.dumps([*listed, "../victim", str(victim), "data/../../victim"]))
    assert build_folder(small, out).removed == 0
    assert victim.read_text() == "mine"


def test_a_narrow_table_that_was_repaired_makes_other_pages(
    small: Path, small_built: Path, tmp_path: Path
) -> None:
    theirs, out = tmp_path / "arena", tmp_path / "out"
    shutil.copytree(small, theirs)
    with sqlite3.connect(theirs / "arena.db") as rows:
        rows.execute(UNLOGGED)
        rows.execute("UPDATE summaries SET topic = 'forged', spent_nano = 7")
    rows.close()
    build_folder(theirs, out)
    assert b"forged" in (out / "data" / "matches.csv").read_bytes()
    with closing(open_ledger("sqlite:///arena.db", theirs, create=False)) as ledger:
        assert repair(ledger).ok
    build_folder(theirs, out)
    assert files(out).keys() == files(small_built).keys()
    ours = ("data/matches.csv", "data/matches.jsonl", "data/spending.csv", "match/1.html", "costs.html")
    assert {path: files(out)[path] for path in ours} == {path: files(small_built)[path] for path in ours}


def test_a_build_on_top_of_another_is_a_fresh_one_whatever_happened_between(tmp_path: Path) -> None:
    arena, out = hostile_arena(tmp_path / "arena", 4), tmp_path / "out"
    players = yaml.safe_load((arena / "arena.yaml").read_text("utf-8"))["players"]

    def vote() -> None:
        with closing(Site.open(arena)) as site:
            match = next(row.number for row in site.summaries if row.status == "done")
            record = sha256(next(site.ledger.records(match, match)).body).hexdigest()
            given = Vote(match=match, record=record, shown=("A", "B"), verdict="A", voter="ab" * 16)
            site.votes.cast(given, 1_767_225_700_000)

    def change(**values: Any) -> None:
        made = yaml.safe_load((arena / "arena.yaml").read_text("utf-8"))
        (arena / "arena.yaml").write_text(yaml.safe_dump(made | values), "utf-8")

    def edit() -> None:
        (out / "costs.html").write_text("edited")
        (out / "match" / "1.html").unlink()

    steps: dict[str, Callable[[], object]] = {
        "one match more, and a vote": lambda: (play(arena, 5, clients=hostile), vote()),
        "another name, a removed player": lambda: change(name="Another", players=players[:-1]),
        "pages were edited and removed": edit,
    }
    assert build_folder(arena, out).written > 0
    assert build_folder(arena, out).written == 0
    for what, happens in steps.items():
        happens()
        built = build_folder(arena, out)
        fresh = tmp_path / what
        assert built.written + built.kept == build_folder(arena, fresh).written, what
        assert files(out) == files(fresh), what
        assert built.written > 0, what


def test_once_the_secret_is_open_pages_show_what_was_sealed(sealed: Path, tmp_path: Path) -> None:
    arena, out, fresh = (
        Path(shutil.copytree(sealed, tmp_path / "arena")),
        tmp_path / "out",
        tmp_path / "fresh",
    )
    build_folder(arena, out)
    before = files(out)
    with closing(open_ledger("sqlite:///arena.db", arena, create=False)) as ledger, ledger.runner():
        disclose(ledger, 1)
    build_folder(arena, out)
    build_folder(arena, fresh)
    assert files(out) == files(fresh)
    assert files(out)["data/matches.jsonl"] != before["data/matches.jsonl"]


def test_a_picture_has_its_text_in_every_script_and_bounded(arena: Path) -> None:
    def png(text: str) -> bytes:
        head = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60">'
        return cards.png_of(f"{head}{cards._text(5, 40, text, size=30, room=290, weight=700)}</svg>")

    blank, shown = (
        png(""),
        [png(text) for text in ("Ada", "Αθηνά", "Мария", "模型", "🦊", "عربية", "<&>")],
    )
    assert blank not in shown
    assert len(set(shown)) == len(shown)
    long = "模型" * 5_000
    drawn = ElementTree.fromstring(cards.drawn(long, long, [cards.CardRow(long, long, long)] * 6))
    assert max(len(each.text or "") for each in drawn.iter()) < 90
    assert cards.png(long, long, [])[16:24] == (1200).to_bytes(4) + (630).to_bytes(4)


@pytest.mark.parametrize("sentence", ["Pick W: proven.", "W" * 300, "many words " * 25, "模型" * 60])
def test_no_text_of_a_picture_is_wider_than_it(sentence: str) -> None:
    """What could be too wide is set into the room that it has; a sentence of a verdict is whole."""
    drawn = ElementTree.fromstring(cards.drawn("Arena", sentence, [cards.CardRow(sentence, "1,000")]))
    texts = [each for each in drawn.iter() if each.tag.endswith("text") and each.get("font-weight") == "700"]
    assert all(int(each.get("textLength", 0)) <= 1080 for each in texts)
    assert len(texts) <= 7
    if len(sentence) < 200:
        assert sentence.replace(" ", "") in "".join([each.text or "" for each in texts]).replace(" ", "")


def test_links_to_an_address_have_a_picture_and_wrong_ones_lead_back(small: Path, tmp_path: Path) -> None:
    out, url = tmp_path / "pages", "https://example.org/arena/"
    told = cli.invoke(app, ["site", "build", str(out), "--dir", str(small), "--url", url.rstrip("/")])
    assert told.exit_code == 0, told.output
    home, other = ((out / name).read_text("utf-8") for name in ("index.html", "matches.html"))
    assert f'<meta property="og:image" content="{url}index.png">' in home
    assert "og:image" not in other
    trueskill = (out / "leaderboard" / "trueskill.html").read_text("utf-8")
    assert f'<meta property="og:image" content="{url}index.png">' in trueskill
    assert f'<meta property="og:url" content="{url}leaderboard/trueskill.html">' in trueskill
    assert f'<meta property="og:url" content="{url}">' in home
    assert (out / "index.png").read_bytes().startswith(b"\x89PNG")
    missing = (out / "404.html").read_text("utf-8")
    assert f'href="{url}index.html"' in missing
    with closing(Site.open(small)) as site:
        drawn = ElementTree.fromstring(cards.drawn("", "", cards.rated(site.board().rows)))
        texts = [one.text for one in drawn.iter() if one.text]
        assert visible(site.table()[0].player)[:25] in [text[:25] for text in texts]
    again = cli.invoke(app, ["site", "build", str(out), "--dir", str(small)])
    assert again.exit_code == 0
    assert not (out / "404.html").exists()
    assert not (out / "index.png").exists()
    assert (
        cli.invoke(app, ["site", "build", str(out), "--dir", str(small), "--url", "nowhere"]).exit_code == 2
    )
