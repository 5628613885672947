"""People's votes from files in LMArena's columns: matched by number or by the answers, all or none."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import ledger_of

from peerage.interchange.battles import battles
from peerage.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ratings.read.report import DataError
from peerage.reading.verdicts.people import finished, verdicts_of
from peerage.site.people.ballots import ballot
from peerage.site.people.vote_files import Taken, take_in, written


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    opened = ledger_of(folder)
    yield opened
    opened.close()


@pytest.fixture
def votes(ledger: Ledger, folder: Path) -> PeopleVotes:
    return PeopleVotes(ledger.address, folder)


@pytest.fixture
def judged(ledger: Ledger) -> list[dict[str, Any]]:
    """A row for each duel that judges voted on, as a person fills it in."""
    rows = {row["question_id"]: row for row in map(json.loads, battles(ledger))}
    return [{**row, "judge": "ada", "winner": "model_a"} for row in rows.values()]


def taken(ledger: Ledger, votes: PeopleVotes, rows: list[dict[str, Any]]) -> Taken:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    return take_in(ledger, votes, io.BytesIO(text.encode()), "people.jsonl", at_ms=5)


def test_by_number_and_players_whichever_comes_first(
    ledger: Ledger, votes: PeopleVotes, judged: list[dict[str, Any]]
) -> None:
    one, other, *_ = judged
    turned = {**other, "model_a": other["model_b"], "model_b": other["model_a"], "winner": "both_bad"}
    strange = [{**one, "question_id": number} for number in ("9999", "9" * 5000)]
    assert taken(ledger, votes, [one, turned, *strange]) == Taken(2, 0, 2, "people.jsonl, line 3")
    first, second = votes.votes()
    match = finished(ledger, int(one["question_id"]))
    assert match is not None
    assert match.players[first.verdict] == one["model_a"]
    assert (second.verdict, second.expert) == ("both bad", "ada")
    assert taken(ledger, votes, [one, turned]) == Taken(0, 2, 0, ""), "once each"


def lmarena(ledger: Ledger, number: int, *, parts: bool) -> dict[str, Any]:
    """A row of the 140k data (content in parts) or of the 100k data, about a duel of ours."""
    found = ballot(ledger, number)
    assert found is not None
    asked = "\n".join(found.challenge.values())

    def turns(answer: str) -> list[dict[str, Any]]:
        said = [("user", asked), ("assistant", answer)]
        return [
            {"role": role, "content": [{"type": "text", "text": text, "image": None}] if parts else text}
            for role, text in said
        ]

    metadata = {
        "sum_assistant_a_tokens": 3,
        "header_count_a": {"h1": 0, "h2": 1},
        "bold_count_a": {"**": 2, "__": 0},
    }
    return {
        "id": "0f3a",
        "model_a": "left",
        "model_b": "right",
        "winner": "model_b",
        "evaluation_session_id": "person 7",
        "conversation_a": turns(found.answers["B"]),
        "conversation_b": turns(found.answers["A"]),
        "conv_metadata": metadata,
        "timestamp": "2025-07-01 12:00:00",
    }


@pytest.mark.parametrize("parts", [True, False])
def test_by_the_answers_word_for_word(
    ledger: Ledger, votes: PeopleVotes, judged: list[dict[str, Any]], *, parts: bool
) -> None:
    number = int(judged[0]["question_id"])
    row = lmarena(ledger, number, parts=parts)
    assert taken(ledger, votes, [row]) == Taken(1, 0, 0, "")
    [vote] = votes.votes()
    assert (vote.match, vote.verdict, vote.expert) == (number, "A", "person 7")
    row["conversation_a"] = row["conversation_b"]
    assert taken(ledger, votes, [row]).strange == 1


def test_what_leaves_comes_back(
    ledger: Ledger, votes: PeopleVotes, judged: list[dict[str, Any]], tmp_path: Path
) -> None:
    winners = ("model_a", "tie", "tie (bothbad)", "model_b")
    taken(ledger, votes, [{**row, "winner": winners[at % 4]} for at, row in enumerate(judged)])
    text = "".join(written(ledger, votes.votes()))
    other = PeopleVotes("sqlite:///arena.db", tmp_path)
    assert take_in(ledger, other, io.BytesIO(text.encode()), "back", 6).written == len(judged)
    assert verdicts_of(ledger, other.votes()) == verdicts_of(ledger, votes.votes())
    assert [vote.verdict for vote in other.votes()] == [vote.verdict for vote in votes.votes()]


def test_a_judges_own_vote_is_no_persons(ledger: Ledger, votes: PeopleVotes) -> None:
    rows = [json.loads(line) for line in battles(ledger)]
    with pytest.raises(DataError, match=r"people.jsonl, line 1: '.*' is a judge of match \d+ itself"):
        taken(ledger, votes, rows)
    assert votes.count() == 0


def test_players_do_not_vote_as_people(
    ledger: Ledger, votes: PeopleVotes, judged: list[dict[str, Any]]
) -> None:
    row = judged[0]
    with pytest.raises(DataError, match=r"line 1: '.*' is a contestant of match \d+ itself"):
        taken(ledger, votes, [{**row, "judge": row["model_a"]}])
    cast = [json.loads(line) for line in battles(ledger)]
    there = {one["judge"] for one in cast if one["question_id"] == row["question_id"]}
    other = min({one["judge"] for one in cast} - there - {row["model_a"], row["model_b"]})
    with pytest.raises(DataError, match=r"line 1: '.*' is a model that plays here: expected the vote of a"):
        taken(ledger, votes, [{**row, "judge": other}])
    assert votes.count() == 0


def test_a_bad_row_takes_nothing_in(ledger: Ledger, votes: PeopleVotes, judged: list[dict[str, Any]]) -> None:
    good, bad, *_ = judged
    with pytest.raises(DataError, match=r"line 2, column winner: found 'perhaps', expected model_a"):
        taken(ledger, votes, [good, {**bad, "winner": "perhaps"}])
    with pytest.raises(DataError, match="line 1: there is no column model_a"):
        taken(ledger, votes, [{"winner": "tie"}])
    assert votes.count() == 0
