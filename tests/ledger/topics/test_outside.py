"""Outside results: written whole or not at all, read back as they were, and held by the chain."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from peerage.ledger import Amendment, Batch, Ledger, LedgerError, open_ledger
from peerage.ledger.topics.outside import LABELS, TOPIC, Source, enter, read, sources, texts
from peerage.ratings.read import results as reading
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")

BATTLES = (
    b"model_a,model_b,winner,weight,judge,question,timestamp\n"
    b"x,y,model_a,1,ann,q1,30\ny,x,tie,2,bob,q1,20\nz,y,model_b,1,ann,q2,10\nz,x,both_bad,1,ann,q2,15\n"
)
GAMES = b'[{"players": ["x", ["y", "z"]], "scores": [1, 2], "weight": 3}]'


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    yield made
    made.close()


def parsed(body: bytes, name: str) -> Battles | PlayedGames:
    found = reading.read([(name, io.BytesIO(body))], kept=LABELS)
    assert isinstance(found, Battles | PlayedGames)
    return found


def put(ledger: Ledger, body: bytes, name: str, sha256: str) -> bool:
    data = parsed(body, name)
    count = len(data.duels) if isinstance(data, Battles) else len(data.games)
    with ledger.runner():
        return enter(ledger, Source(name, sha256, data.layout, data.names, count), data, 0)


def met(data: Battles) -> list[tuple[str, str, float]]:
    duels = data.duels
    each = zip(duels.first.tolist(), duels.second.tolist(), duels.score.tolist(), strict=True)
    return [(data.names[a], data.names[b], score) for a, b, score in each]


def test_what_was_written_is_read(ledger: Ledger) -> None:
    assert put(ledger, BATTLES, "b.csv", "aa")
    assert put(ledger, GAMES, "g.json", "bb")
    assert not put(ledger, BATTLES, "another name.csv", "aa")
    (first, battles), (second, games) = read(ledger)
    assert [source.name for source in sources(ledger)] == [first.name, second.name] == ["b.csv", "g.json"]
    given = parsed(BATTLES, "b.csv")
    assert isinstance(battles, Battles)
    assert isinstance(given, Battles)
    assert met(battles) == met(given)
    assert battles.duels.weight.tolist() == given.duels.weight.tolist()
    assert {*battles.names} == {*given.names} == {*first.players}
    assert battles.labels == given.labels
    assert battles.times is not None
    assert battles.times.tolist() == [10, 15, 20, 30]
    assert battles.both_bad is not None
    assert battles.both_bad.tolist() == [False, True, False, False]
    assert isinstance(games, PlayedGames)
    assert games.games == parsed(GAMES, "g.json").games  # type: ignore[union-attr]


def test_a_long_file_is_read_part_by_part(ledger: Ledger) -> None:
    rng = np.random.default_rng(1)
    rows = [f"m{a},m{b},model_a" for a, b in (rng.permutation(9)[:2] for _ in range(12_345))]
    body = ("model_a,model_b,winner\n" + "\n".join(rows)).encode()
    assert put(ledger, body, "long.csv", "cc")
    assert len(list(ledger.amendments(TOPIC))) == 14
    ((_, found),) = read(ledger)
    given = parsed(body, "long.csv")
    assert isinstance(found, Battles)
    assert isinstance(given, Battles)
    assert met(found) == met(given)
    assert verify(ledger).ok


def test_rows_name_their_source_and_are_read_again(ledger: Ledger) -> None:
    put(ledger, BATTLES, "b.csv", "aa")
    ((_, lines),) = texts(ledger)
    written = [*map(json.loads, lines)]
    assert {row["source"] for row in written} == {"b.csv"}
    assert {row["sha256"] for row in written} == {"aa"}
    again = parsed("\n".join(map(json.dumps, written)).encode(), "x.jsonl")
    given = parsed(BATTLES, "b.csv")
    assert isinstance(again, Battles)
    assert isinstance(given, Battles)
    assert again.duels.score.tolist() == given.duels.score.tolist()
    assert again.labels == given.labels
    assert [row["winner"] for row in written] == ["model_b", "tie (bothbad)", "tie", "model_a"]
    assert again.both_bad is not None
    assert again.notes == given.notes == ("1 of 2 ties are of answers said to be both bad",)
    put(ledger, GAMES, "g.json", "bb")
    assert json.loads([*texts(ledger)][1][1][-1])["players"] == ["x", ["y", "z"]]


def test_a_changed_byte_and_a_missing_end_are_found(ledger: Ledger, tmp_path: Path) -> None:
    put(ledger, BATTLES, "b.csv", "aa")
    assert verify(ledger).ok
    with sqlite3.connect(tmp_path / "arena.db") as connection:
        body = connection.execute("SELECT body FROM entries WHERE position = 3").fetchone()[0]
        changed = body.replace(b'"winner":"model_b"', b'"winner":"model_a"')
        assert changed != body
        connection.execute("UPDATE entries SET body = ? WHERE position = 3", (changed,))
    report = verify(ledger)
    assert [problem.what for problem in report.problems] == [
        "entry 3 of the log, about outside, is not as it was logged",
        "outside results of b.csv: 1 entry of the log, from 3 on, changed since the import",
    ]
    assert report.outside == {"b.csv": 4}
    with sqlite3.connect(tmp_path / "arena.db") as connection:
        connection.execute("DELETE FROM entries WHERE position = 3")
    assert "outside results of b.csv: 0 are there, 4 were imported" in [
        problem.what for problem in verify(ledger).problems
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (b'{"players":["x","z"],"ranks":[1,2]}', "they are no results of its 2 players"),
        (b'{"player":"x","challenge":"c","solved":1}', "they are no results of its 2 players"),
        (b'{"players":["x"],"ranks":[1]}', r"line 1, column players: found \['x'\], expected a list of two"),
        (b"[1]", "row 1: found 1, expected an object"),
        (b"", "there are no rows"),
    ],
)
def test_forged_results_are_told(ledger: Ledger, row: bytes, told: str) -> None:
    body = b'{"source":{"name":"f","sha256":"f","layout":"games","players":["x","y"],"results":1}}'
    with ledger.runner():
        forged = [Amendment(TOPIC, text, 0) for text in (body, b'{"rows":[' + row + b"]}")]
        ledger.write(Batch(amendments=forged))
    with pytest.raises(LedgerError, match="outside results of f: .*" + told):
        read(ledger)
