"""Pictures and sounds of an arena: on its pages, in its files, from its server, at people's seats."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import struct
import wave
import zlib
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page
from starlette.testclient import TestClient
from tests.engine.arenas import house, ledger_of, play, write_arena
from tests.site.browsers import PHONE, needed
from tests.site.people.test_seats import TOKEN, ask
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.formats import Text
from peerage.game.media import Media
from peerage.ledger import Batch, open_ledger
from peerage.site.export import report as report_module
from peerage.site.export.build import build
from peerage.site.people.seats import SeatLinks
from peerage.site.reading import Site
from peerage.site.server.server import ArenaServer
from peerage.values import texts

HERE = "http://localhost"
_FIGURE = re.compile(r'<(?:img|audio controls preload="none") src="([^"]*)"')


def png(width: int, height: int) -> tuple[Media, bytes]:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x7f" * width) * height)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    body = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return Media(sha256(body).hexdigest(), "image/png", len(body), width, height), body


def wav() -> tuple[Media, bytes]:
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setparams((1, 2, 8_000, 0, "NONE", ""))
        sound.writeframes(bytes(8_000))
    return Media(
        sha256(out.getvalue()).hexdigest(), "audio/wav", len(out.getvalue()), seconds=0.5
    ), out.getvalue()


(CHART, CHART_BODY), (HUGE, HUGE_BODY), (BEEP, BEEP_BODY) = png(60, 40), png(4000, 300), wav()
HELD = ((CHART, CHART_BODY), (HUGE, HUGE_BODY), (BEEP, BEEP_BODY))
(LOST, LOST_BODY), UNUSED = png(3, 5), png(7, 7)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena about a chart, a huge picture with a sound, and a picture whose bytes are nowhere."""
    folder = tmp_path_factory.mktemp("shown")
    prompts = [
        f"Which bar is the tallest? {CHART.mark}Say it.",
        f"Compare: {HUGE.mark}{BEEP.mark}",
        f"What was here? {LOST.mark}",
    ]
    lines = [json.dumps({"prompt": prompt}, ensure_ascii=False) for prompt in prompts]
    (folder / "tasks.jsonl").write_text("\n".join(lines), "utf-8")
    settings = {"seed": 1, "players": house(4), "tasks": "tasks.jsonl", "engine": {"probe": False}}
    (folder / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        # As if the marks had come in by the door of pictures, which needs Pillow.
        patch.setattr(texts, "_UNSTORABLE", re.compile("\0"))
        with closing(open_ledger("sqlite:///arena.db", folder, create=True)) as ledger, ledger.runner():
            media = [(bytes.fromhex(one.sha256), body) for one, body in (*HELD, (LOST, LOST_BODY), UNUSED)]
            ledger.write(Batch(media=media, log=()))
        play(folder, 8)
    with closing(sqlite3.connect(folder / "arena.db")) as stored, stored:
        stored.execute("DELETE FROM media WHERE digest = ?", [bytes.fromhex(LOST.sha256)])
    return folder


@pytest.fixture(scope="module")
def site(shown: Path) -> Iterator[Site]:
    with closing(Site.open(shown)) as site:
        yield site


@pytest.fixture(scope="module")
def out(site: Site, shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    build(site, shown, out)
    return out


@pytest.fixture(scope="module")
def client(shown: Path) -> Iterator[TestClient]:
    server = ArenaServer(shown, voting=True, token=None, experts=["ada"])
    with TestClient(server.app, HERE) as made:
        made.headers["x-annotate"] = server.experts["ada"]
        yield made


def about(folder: Path, media: Media) -> int:
    """The first match about a picture."""
    with closing(ledger_of(folder)) as ledger:
        mark = media.sha256.encode()
        texts = {digest.hex().encode() for digest, text in ledger.texts().items() if mark.decode() in text}
        return next(
            row.number
            for row in ledger.fixtures()
            if mark in row.body or any(text in row.body for text in texts)
        )


def test_files_are_those_that_pages_show_each_once(out: Path, site: Site, shown: Path) -> None:
    assert {file.name: file.read_bytes() for file in (out / "media").iterdir()} == {
        one.file: body for one, body in HELD
    }
    for page in out.rglob("*.html"):
        for address in _FIGURE.findall(page.read_text()):
            assert (page.parent / address).is_file(), (page, address)
    assert _FIGURE.findall((out / f"match/{about(shown, HUGE)}.html").read_text()) == [
        f"../media/{one.file}" for one in (HUGE, BEEP)
    ]
    lost = (out / f"match/{about(shown, LOST)}.html").read_text()
    assert f"({LOST.words.removeprefix('picture ')}); its file is missing here]" in lost
    assert build(site, shown, out).written == 0


def test_a_server_sends_a_file_as_what_it_is_and_for_good(client: TestClient) -> None:
    page = client.get("/media/" + CHART.file)
    assert (page.status_code, page.content) == (200, CHART_BODY)
    assert page.headers["content-type"] == "image/png"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in page.headers["cache-control"]
    assert "media-src 'self'" in page.headers["content-security-policy"]
    again = client.get("/media/" + CHART.file, headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        CHART.sha256,
        f"{CHART.sha256}.jpg",
        f"{CHART.sha256}.html",
        f"{CHART.sha256}.svg",
        f"{BEEP.sha256}.png",
        f"{CHART.sha256.upper()}.png",
        LOST.file,
    ],
)
def test_nothing_else_is_sent(client: TestClient, name: str) -> None:
    answer = client.get(f"/media/{name}")
    assert answer.status_code == 404
    assert "image" not in answer.headers["content-type"]


@pytest.mark.parametrize(
    ("asked", "status", "first", "last"),
    [
        ("bytes=0-1", 206, 0, 1),
        ("bytes=10-", 206, 10, None),
        ("bytes=5-9999999", 206, 5, None),
        ("bytes=9999999-", 416, 0, -1),
    ],
)
def test_a_part_of_a_sound(client: TestClient, asked: str, status: int, first: int, last: int | None) -> None:
    answer = client.get("/media/" + BEEP.file, headers={"range": asked})
    body = BEEP_BODY[first : None if last is None else last + 1]
    assert (answer.status_code, answer.content) == (status, body)
    ends = f"{first}-{first + len(body) - 1}" if body else "*"
    assert answer.headers["content-range"] == f"bytes {ends}/{len(BEEP_BODY)}"


def test_altered_bytes_are_not_sent(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.ledger.holding.Holding.media", lambda *_: None)
    with closing(Site.open(shown)) as site:
        monkeypatch.setattr(
            site.ledger, "media", lambda digests: dict.fromkeys(digests, CHART_BODY), raising=False
        )
        from peerage.site.pages.media import body_of

        assert body_of(site.ledger, CHART.file) == CHART_BODY
        assert body_of(site.ledger, HUGE.file) is None


def test_voters_and_experts_see_what_was_asked(client: TestClient) -> None:
    page = client.get("/vote.html")
    assert all(address.startswith("media/") for address in _FIGURE.findall(page.text))
    expert = "/" + client.headers["x-annotate"]
    for _ in range(9):
        text = client.get(expert).text
        for address in (found := _FIGURE.findall(text)):
            assert client.get(f"/annotate/{address}").status_code == 200
            other = CHART if HUGE.file in address or BEEP.file in address else HUGE
            assert client.get(f"{expert}/media/{other.file}").status_code == 404
        ticket = re.search('name="ticket" value="([^"]*)"', text)
        if found or ticket is None:
            break
        client.post(expert, data={"ticket": ticket[1], "verdict": "skipped"})
    assert found


def test_a_seat_shows_its_own_pictures_and_no_others_even_to_who_has_no_token(tmp_path: Path) -> None:
    write_arena(tmp_path, [*house(4), "human:me"], seed=None)
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger, ledger.runner():
        ledger.write(Batch(media=[(bytes.fromhex(one.sha256), body) for one, body in HELD], log=()))
    ask(tmp_path, Text(), f"What is <this>?\n{CHART.mark}\nSay it.")
    server = ArenaServer(tmp_path, voting=False, token=TOKEN)
    mine = f"/{SeatLinks.of(tmp_path).path('me')}"
    with TestClient(server.app, HERE) as client:
        page = client.get(mine).text
        (address,) = _FIGURE.findall(page)
        assert "What is &lt;this&gt;?</div>" in page
        assert client.get(f"/seat/{address}").content == CHART_BODY
        assert client.get(f"{mine}/media/{BEEP.file}").status_code == 404
        assert client.get(f"/seat/nobody/media/{CHART.file}").status_code == 404
        assert client.get(f"/media/{CHART.file}").status_code == 401


def test_the_report_holds_what_is_small(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    small = report_module.report(site).decode()
    assert "; img-src data:; media-src data:" in small
    embedded = _FIGURE.findall(small)
    assert embedded
    assert all(
        address.startswith(("data:image/png;base64,", "data:audio/wav;base64,")) for address in embedded
    )
    monkeypatch.setattr(report_module, "LARGEST", 10)
    large = report_module.report(site).decode()
    assert "data:" not in large
    assert "picture 1 (" in large


def test_terminal_and_json_say_what_is_there(shown: Path) -> None:
    number = str(about(shown, HUGE))
    for more in ((), ("--full",)):
        told = CliRunner().invoke(app, ["match", number, "--dir", str(shown), *more]).output
        assert f"Compare: [{HUGE.words}][{BEEP.words}]" in told
        assert told.count("`peerage serve` shows them") == 1
    found = json.loads(
        CliRunner().invoke(app, ["match", number, "--dir", str(shown), "--format", "json"]).output
    )
    assert [one["sha256"] for one in found["media"]] == [HUGE.sha256, BEEP.sha256]
    assert texts.MARK_BEGINS not in json.dumps(found, ensure_ascii=False)
    assert found["blocks"][1]["text"] == f"Compare: [{HUGE.words}][{BEEP.words}]"


@needed
def test_a_huge_picture_fits_a_phone_and_leads_to_its_file(out: Path, shown: Path, tab: Page) -> None:
    tab.set_viewport_size(PHONE)
    tab.goto(f"file://{out}/match/{about(shown, HUGE)}.html")
    image = tab.locator(".media img")
    image.scroll_into_view_if_needed()
    tab.wait_for_function("document.querySelector('.media img').naturalWidth == 4000")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = image.bounding_box()
    assert box is not None
    assert 300 < box["width"] <= 390
    image.click()
    tab.wait_for_url(f"file://{out}/media/{HUGE.file}")
