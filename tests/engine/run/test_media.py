"""Pictures that a game draws: marks on record, bytes once in the ledger, with what first refers to them."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.engine.arenas import head, house, ledger_of, paced, play, play_stopping_at, write_arena
from tests.ledger.tampered import rows_harmed

from peerage.arena import open_arena
from peerage.engine.again.replay import replay
from peerage.engine.match.plans import first_fixtures
from peerage.engine.record.shelf import Shelf
from peerage.game.match import Fixture
from peerage.game.media import Media, digests_in, media_in
from peerage.game.protocol import Ask, Message, Text
from peerage.games import GAMES
from peerage.ledger import Batch, FixtureRow, IntentRow, Ledger, RecordRow, open_ledger
from peerage.ledger.forms.codec import by_hex, fixture_body, read_fixture
from peerage.ledger.forms.codec_requests import request_body, request_salt
from peerage.ledger.forms.merkle import GENESIS, link
from peerage.ledger.out.copying import copy
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.out.export import export
from peerage.ledger.topics.votes import PeopleVotes
from peerage.players.client import Answer, Call
from peerage.players.house import HouseClient
from peerage.settings import ArenaError, PlayerSettings, loads, rules_of
from peerage.standings.fold import NOBODY
from peerage.standings.verify import verify
from peerage.values.sealing import salt, seal

GAME = (Path(__file__).parents[1] / "see.py").read_text("utf-8")


def png(seed: int, side: int) -> bytes:
    """A picture that nothing makes smaller."""
    rng = random.Random(seed)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)

    rows = b"".join(b"\0" + rng.randbytes(3 * side) for _ in range(side))
    header = side.to_bytes(4) + side.to_bytes(4) + bytes([8, 2, 0, 0, 0])
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows, 1)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def arena(
    folder: Path, *, beside: Path | None = None, pictures: int = 3, side: int = 8, **sections: Any
) -> dict[str, bytes]:
    """Write an arena; the pictures of its game, which are in a file `beside` it, by digest."""
    file = (beside or folder) / "pictures.json"
    bodies = [png(seed, side) for seed in range(pictures)]
    folder.mkdir(parents=True, exist_ok=True)
    urls = [f"data:image/png;base64,{b64encode(body).decode()}" for body in bodies]
    file.write_text(json.dumps(urls), "utf-8")
    game = GAME.replace('Path(__file__).with_name("pictures.json")', f"Path({str(file)!r})")
    (folder / "see.py").write_text(game, "utf-8")
    write_arena(folder, house(4), game="./see.py", rules={}, **sections)
    return {sha256(body).hexdigest(): body for body in bodies}


def looking(calls: list[Call]) -> Callable[[PlayerSettings], HouseClient]:
    """House players that note what they are shown."""

    class Looking(HouseClient):
        def answer_now(self, call: Call) -> Answer:
            calls.append(call)
            return super().answer_now(call)

    return Looking


def fixture_of(ledger: Ledger, number: int) -> Fixture:
    rows = ledger.match(number, exchanges=False)
    assert rows is not None
    return read_fixture(rows.fixture.body, by_hex(ledger.texts()))


def lacking(ledger: Ledger) -> set[str]:
    """The pictures that something on record shows and that are not there."""
    ledger = ledger.as_stored()
    shown = {digest for row in ledger.fixtures() for digest in digests_in(row.body)}
    shown |= {digest for row in ledger.exchanges(1) for digest in digests_in(row.request)}
    return shown - {*ledger.media_digests()}


def test_players_are_sent_the_bytes_and_the_ledger_holds_each_once(tmp_path: Path) -> None:
    pictures = arena(tmp_path, pictures=2, side=600)
    calls = list[Call]()
    report = play(tmp_path, 50, clients=looking(calls))
    assert (report.reason, report.decided) == ("limit", 50)
    assert len(calls) >= 100
    for call in calls:
        shown = media_in([text for _, text in call.messages])
        assert call.media == {digest: pictures[digest] for digest in shown}
        assert all((one.width, one.height) == (600, 600) for one in shown.values())
    size = sum(map(len, pictures.values()))
    assert size > 2_000_000
    assert (tmp_path / "arena.db").stat().st_size < size + 600_000
    with closing(ledger_of(tmp_path)) as ledger:
        assert ledger.media(pictures) == pictures
        found = verify(ledger)
        assert (found.problems, found.media.number, found.media.bytes) == ((), 2, size)
        assert b"base64" not in b"".join(row.body for row in ledger.fixtures())
        again = replay(ledger)
        assert (again.ok, again.recomputed) == (True, 50)


def test_a_data_url_that_an_owner_wrote_as_a_prompt_is_a_text() -> None:
    url = f"data:image/png;base64,{b64encode(png(1, 8)).decode()}"
    tasks = f"tasks: {{file: [{{prompt: '{url}'}}], samples: fresh}}"
    settings = loads(f"{tasks}\nplayers: [house:0.9, house:0.8, house:0.7, house:0.6]\n")
    [fixture] = first_fixtures(settings, NOBODY, 1)
    assert fixture.drawn["messages"] == [["user", url]]
    for bound in GAMES["tasks"].bounds(rules_of(settings), fixture):
        assert bound.input_bytes > len(url)
        assert not bound.media


def test_kills_leave_no_trace_and_bytes_are_there_before_what_shows_them(tmp_path: Path) -> None:
    arena(whole := tmp_path / "whole", beside=tmp_path, engine={"concurrency": 1})
    play(whole, 12)
    runs = 0
    for seed, seconds in enumerate((4.0, 2.0)):
        arena(folder := tmp_path / str(seed), beside=tmp_path, engine={"concurrency": 4})
        rng = random.Random(seed)
        while True:
            runs += 1
            report = play_stopping_at(folder, 12, rng.uniform(0, seconds), paced(100 * seed + runs))
            with closing(ledger_of(folder)) as ledger:
                assert lacking(ledger) == set()
            if report.reason == "limit":
                break
        assert head(folder) == head(whole)
    assert runs > 4


def test_a_plan_counts_marks_and_not_base64(tmp_path: Path) -> None:
    arena(tmp_path)
    with open_arena(tmp_path) as opened:
        (fixture,) = first_fixtures(opened.settings, NOBODY, 1)
    assert len(media_in(fixture.drawn["pictures"])) >= 1


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    arena(folder)
    play(folder, 6)
    return folder


def changed(played: Path, folder: Path, statement: str) -> Ledger:
    (folder / "arena.db").write_bytes((played / "arena.db").read_bytes())
    with closing(sqlite3.connect(folder / "arena.db")) as db:
        db.execute(statement)
        db.commit()
    return open_ledger("sqlite:///arena.db", folder, create=False)


def test_what_is_missing_or_changed_is_said(played: Path, tmp_path: Path) -> None:
    with closing(changed(played, tmp_path, "DELETE FROM media")) as ledger:
        found = verify(ledger)
        assert [str(problem) for problem in found.problems] == [
            "match 1: 3 pictures or sounds are missing, which it or a later match shows"
        ]
        assert (found.media.number, found.media.missing) == (0, 3)
        assert replay(ledger).ok
    with closing(changed(played, tmp_path, "UPDATE media SET body = x'00' WHERE rowid = 1")) as ledger:
        (problem,) = verify(ledger).problems
        assert "the picture or sound" in problem.what
        assert problem.what.endswith("changed")
    unused = f"INSERT INTO media VALUES (x'{sha256(b'cat').hexdigest()}', x'{b'cat'.hex()}')"
    with closing(changed(played, tmp_path, unused)) as ledger:
        assert verify(ledger).ok


def rows(file: Path) -> set[Any]:
    with closing(sqlite3.connect(file)) as db:
        return set(db.execute("SELECT digest, body FROM media"))


def test_whatever_is_done_to_a_picture_is_said(played: Path, tmp_path: Path) -> None:
    harms = [harm for harm in rows_harmed(played / "arena.db") if harm.name.startswith("media")]
    assert len(harms) > 20
    for number, harm in enumerate(harms):
        (file := tmp_path / f"{number}.db").write_bytes((played / "arena.db").read_bytes())
        if harm.do(file) and rows(file) != rows(played / "arena.db"):
            with closing(open_ledger(f"sqlite:///{file.name}", tmp_path, create=False)) as ledger:
                assert verify(ledger).problems, harm.name


def test_no_match_is_made_that_shows_what_is_nowhere(tmp_path: Path) -> None:
    arena(tmp_path)
    lost = "".join(["\\uf8f1image/png ", "ab" * 32, " 9 3x4\\uf8f2"])
    game = (
        (tmp_path / "see.py")
        .read_text("utf-8")
        .replace("rng.choice(URLS) for _ in range(2)", f'"{lost}" for _ in range(2)')
    )
    (tmp_path / "see.py").write_text(game, "utf-8")
    with pytest.raises(ArenaError, match=r"match 1 of see .*missing: picture abababab, PNG, 3×4, 1 KB"):
        play(tmp_path, 3)
    with closing(ledger_of(tmp_path)) as ledger:
        assert ledger.heads() == (0, 0)


def test_a_match_whose_picture_was_lost_asks_nobody(tmp_path: Path) -> None:
    arena(tmp_path, engine={"concurrency": 1})
    play_stopping_at(tmp_path, 6, 1.0, paced(1))
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db:
        db.execute("DELETE FROM media")
        db.commit()
    asked = list[Call]()
    assert play(tmp_path, 6, clients=looking(asked)).reason == "limit"
    with closing(ledger_of(tmp_path)) as ledger:
        lost = {row.number for row in ledger.summaries() if row.status.startswith("missing: picture ")}
        seeds = {row.number: fixture_of(ledger, row.number).seed for row in ledger.summaries()}
        assert 1 in lost
        assert {seeds[number] for number in lost}.isdisjoint([call.seed for call in asked])
        assert all(
            call.media.keys() == media_in([text for _, text in call.messages]).keys() for call in asked
        )


def test_copies_and_exports_carry_pictures(played: Path, tmp_path: Path) -> None:
    with closing(ledger_of(played)) as ledger:
        everything = ledger.media(ledger.media_digests())
        with closing(open_ledger("sqlite:///whole.db", tmp_path, create=True)) as target:
            votes = [
                PeopleVotes(one.address, folder) for one, folder in ((ledger, played), (target, tmp_path))
            ]
            copy(ledger, target, (votes[0], votes[1]))
            assert target.media(everything) == everything
            assert verify(target).ok
        write_redacted(ledger, tmp_path / "redacted.db")
        lines = [json.loads(line) for line in "".join(export(ledger, "jsonl")).splitlines()]
    with closing(open_ledger("sqlite:///redacted.db", tmp_path, create=False)) as redacted:
        shown = {digest for row in redacted.fixtures() for digest in digests_in(row.body)}
        assert redacted.media(shown) == {digest: everything[digest] for digest in shown}
        assert verify(redacted).ok
        held = redacted.media(redacted.media_digests())
    media = [line for line in lines if "media" in line]
    assert {line["media"]: b64decode(line["base64"]) for line in media} == held
    assert len(media) == len(shown)
    assert {line["type"] for line in media} == {"image/png"}
    places = {line["media"]: place for place, line in enumerate(lines) if "media" in line}
    for place, line in enumerate(lines):
        for digest in media_in([json.dumps(line, ensure_ascii=False)]):
            assert places[digest] < place


def test_what_is_sealed_is_in_no_copy_until_it_is_disclosed(tmp_path: Path) -> None:
    """One picture is in a sealed request, another in an open fixture."""
    bodies = {one: f"{one}".encode() * 200 for one in ("open", "sealed")}
    media = {
        one: Media(sha256(body).hexdigest(), "image/png", len(body), 20, 30) for one, body in bodies.items()
    }
    drawn = {"secret": seal(salt("s", "match"), True), "shown": media["open"].mark}
    fixture = Fixture(1, 1, "see", 1, "s", (), {}, {}, drawn)
    prompt = (Message("user", "{what}", {"what": f"Look: {media['sealed'].mark}"}),)
    asked, long = request_body(Ask("A", "look", "contestant", prompt, Text(9), 9), fixture.secret)
    issued, texts = fixture_body(fixture)
    assert digests_in(asked) == [media["sealed"].sha256]
    record, revealed = (
        b'{"number":1,"fixture":"","root":"","outcome":{}}',
        request_salt(fixture.secret, "look"),
    )
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        with ledger.runner():
            batch = Batch(texts=[*texts, *long], fixtures=[FixtureRow(1, 1, issued)])
            batch.intents.append(IntentRow(1, "look", 1, "ada", asked, 0))
            batch.records.append(RecordRow(1, record, link(GENESIS, record), 1))
            batch.media = [
                *Shelf({media[one].sha256: body for one, body in bodies.items()}, ledger).due(batch)
            ]
            assert len(batch.media) == 2
            ledger.write(batch)
        for salts, shown in (((), ["open"]), ([revealed], ["open", "sealed"])):
            file = tmp_path / f"{len(salts)}.db"
            with patch("peerage.ledger.out.disclosure.disclosed", return_value=salts):
                write_redacted(ledger.as_stored(), file)
            with closing(open_ledger(f"sqlite:///{file.name}", tmp_path, create=False)) as copied:
                assert copied.media(copied.media_digests()) == {
                    media[one].sha256: bodies[one] for one in shown
                }
                assert verify(copied).media.missing == 0
