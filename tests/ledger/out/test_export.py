"""Exports are complete in themselves: a reader needs neither the ledger nor Peerage to check them."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.sample import sample

from peerage.game.protocol import fence
from peerage.ledger import Batch, FixtureRow, IntentRow, Ledger, LedgerError, Summary, open_ledger
from peerage.ledger.forms.merkle import digest, leaf, link, match_root
from peerage.ledger.out.export import COLUMNS, cell, export, table


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    yield opened
    opened.close()


@pytest.fixture
def played(ledger: Ledger) -> Ledger:
    """Five finished matches, one with an attempt that was lost, and one in play."""
    with ledger.runner():
        for batch in sample(5, reply_chars=80):
            ledger.write(batch)
        request = next(row.request for row in ledger.exchanges(2, 2) if row.key == "answer/A")
        ledger.write(
            Batch(
                fixtures=[FixtureRow(6, 6, b"{}")],
                intents=[
                    IntentRow(2, "answer/A", 2, "player-01", request, 10),
                    IntentRow(6, "answer/A", 1, "player-01", request, 10),
                ],
            )
        )
    return ledger


def lines(ledger: Ledger) -> list[dict[str, Any]]:
    return [json.loads(line) for line in "".join(export(ledger, "jsonl")).splitlines()]


def test_json_and_jsonl_hold_the_same(played: Ledger) -> None:
    assert json.loads("".join(export(played, "json"))) == lines(played)
    assert [document["match"] for document in lines(played)] == [1, 2, 3, 4, 5]


def test_nothing_to_export(ledger: Ledger) -> None:
    assert json.loads("".join(export(ledger, "json"))) == []
    assert list(export(ledger, "jsonl")) == []
    assert "".join(export(ledger, "csv")) == ",".join(COLUMNS) + "\n"


def test_a_document_proves_itself(played: Ledger) -> None:
    chain = bytes(32)
    for document in lines(played):
        proof, leaves = document["proof"], {}
        for exchange in document["exchanges"]:
            if exchange["reply"] is not None:
                stored = exchange["proof"]
                found = leaf(
                    exchange["key"],
                    exchange["player"],
                    stored["request_body"].encode(),
                    stored["reply_body"].encode(),
                )
                assert found.hex() == stored["leaf"]
                assert json.loads(stored["reply_body"]) == exchange["reply"]
                leaves[exchange["key"]] = found
        assert len(leaves) == 18
        record = json.loads(proof["record_body"])
        assert record == document["record"]
        assert record["root"] == match_root(leaves)
        assert record["fixture"] == digest(proof["fixture_body"].encode())
        assert proof["previous"] == chain.hex()
        chain = link(chain, proof["record_body"].encode())
        assert proof["chain"] == chain.hex()


def test_a_document_says_in_full_what_was_asked(played: Ledger) -> None:
    document = lines(played)[1]
    assert document["fixture"]["settings"]["topics"] == ["algebra", "history"]
    exchanges = {(row["key"], row["attempt"]): row for row in document["exchanges"]}
    question = exchanges["question/1/1", 1]["reply"]["text"]
    asked = exchanges["answer/A", 1]
    mark = fence(document["fixture"]["seed"], "answer/A")
    assert asked["messages"] == [
        {
            "speaker": "user",
            "text": f"Answer it.\n<<<question {mark}>>>\n{question[:80]}\n<<<end question {mark}>>>",
        }
    ]
    assert (asked["seat"], asked["role"], asked["max_tokens"]) == ("A", "contestant", 1200)
    assert asked["player"] == document["fixture"]["seats"][0]["player"]
    verdict = exchanges["judge/3/B-A", 1]
    assert exchanges["answer/B", 1]["reply"]["text"][:80] in verdict["messages"][0]["text"]
    assert verdict["expects"]["options"] == ["A", "B", "tie"]
    lost = exchanges["answer/A", 2]
    assert (lost["reply"], lost["proof"]) == (None, None)
    assert lost["messages"][0]["text"] == asked["messages"][0]["text"]


def test_csv_is_one_line_per_match_and_contestant(played: Ledger) -> None:
    void = Summary(
        6, 6, "duel", 'a "topic", 2', ("x,y", "z"), "no_challenge", (), (None, 0.5), 1, (1.5, 2.0), (), 9
    )
    with played.runner():
        played.write(Batch(summaries=[void]))
    rows = list(csv.DictReader(io.StringIO("".join(export(played.as_stored(), "csv")))))
    assert len(rows) == 12
    assert tuple(rows[0]) == COLUMNS
    summaries = list(played.as_stored().summaries())
    for place, row in enumerate(rows[:10]):
        summary = summaries[place // 2]
        assert row["player"] == summary.players[place % 2]
        assert int(row["seat"]) == place % 2 + 1
        assert float(row["score"]) == summary.scores[place % 2]
        assert float(row["raw"]) == summary.raw[place % 2]
    assert rows[10] == {
        "number": "6",
        "round": "6",
        "game": "duel",
        "topic": 'a "topic", 2',
        "status": "no_challenge",
        "seat": "1",
        "player": "x,y",
        "score": "",
        "cost": "",
        "raw": "1.5",
        "cost_elo": "",
        "spent_nano": "1",
        "at_ms": "9",
    }


def test_no_text_is_a_formula_and_numbers_stay_numbers(ledger: Ledger) -> None:
    row = Summary(1, 1, "=duel", "@x", ("+a", "'=b"), "\tdone", (-1.0, 1.0), (None, 0.5), 1, (), (), 9)
    with ledger.runner():
        ledger.write(Batch(summaries=[row]))
    assert [cell(text) for text in ("\uff1d1", "\n=1")] == ["'\uff1d1", "'\n=1"]
    assert [cell(text) for text in ("'t", "a=b", "")] == ["'t", "a=b", ""]
    assert "".join(table(ledger.as_stored())).splitlines()[1:] == [
        "1,1,'=duel,'@x,'\tdone,1,'+a,-1.0,,,,1,9",
        "1,1,'=duel,'@x,'\tdone,2,''=b,1.0,0.5,,,1,9",
    ]


def test_what_is_missing_is_named(played: Ledger, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "arena.db") as file:
        file.execute(
            "DELETE FROM replies WHERE intent = "
            "(SELECT id FROM intents WHERE match = 4 AND key = 'question/1/1')"
        )
    file.close()
    with pytest.raises(LedgerError, match=r"match 4: attempts, costs.*peerage verify"):
        list(export(played, "jsonl"))
