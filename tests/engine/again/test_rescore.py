"""Answers of recorded tournaments scored again, through the whole engine, and how the two scores compare."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import correlation, fmean

import pytest
from tests.cli.play.test_play import peerage
from tests.engine.arenas import ledger_of, play, write_arena

from peerage.engine.again.rejudge import recorded_answers
from peerage.games.rejudge import RejudgeRules
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record
from peerage.reading.tournaments import played
from peerage.views.rejudge import rejudge_report

RULES = {"preset": "development", "seats": 4, "questions": 3}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skills = [0.95, 0.8, 0.65, 0.5, 0.35, 0.2]
    players = [{"model": f"house:{skill}", "name": f"p{at}"} for at, skill in enumerate(skills)]
    folder = write_arena(
        tmp_path_factory.mktemp("rescore") / "first", players, game="last-arena", rules=RULES
    )
    play(folder, 3)
    return folder


def test_every_scored_answer_is_an_item_once_under_its_question(source: Path) -> None:
    ledger = ledger_of(source)
    items = list(recorded_answers(ledger, RejudgeRules(by="scores")))
    found = {(one.record, answer): mean for one in items for answer, mean in one.first.items()}
    scored = {
        (match.record, answer): given[0]
        for match in played(ledger)
        for answer, given in match.detail["answers"].items()
    }
    ledger.close()
    assert found == {key: scored[key] for key in found}
    assert len(found) > 0.9 * len(scored)
    assert all({answer.split("/")[0] for answer in one.answers} == {one.id} for one in items)


def test_peers_score_again_and_both_scores_stand_side_by_side(source: Path) -> None:
    before = peerage("tournament", "show", "--dir", str(source), "--format", "json")
    said = peerage("rejudge", "--dir", str(source), "--max-matches", "8")
    assert "8 of 8 questions scored again" in said
    said = peerage("rejudge", "--dir", str(source), "--format", "json")
    found = json.loads(said[said.index("{") :])
    assert found["issued"] == found["judged"] == found["decided"] > 8
    assert found["tau"] > 0.6
    assert found["agreement"] > 0.6
    rows = found["players"]
    assert {row["player"] for row in rows} == {f"p{at}" for at in range(6)}
    assert [row["rank_after"] for row in rows] == sorted(row["rank_after"] for row in rows)
    for side in ("before", "after"):
        total = sum(row[side] * row["compared"] for row in rows) / sum(row["compared"] for row in rows)
        assert total == pytest.approx(5, abs=0.3)  # players' means over questions, answers centered on 5
    assert peerage("tournament", "show", "--dir", str(source), "--format", "json") == before
    at = ["--dir", str(source / "rejudged")]
    assert "whole" in peerage("verify", *at)
    assert "all follows" in peerage("replay", *at)
    told = peerage("match", "1", *at)
    assert "At first" in told
    assert "Again, as given" in told
    assert "p0" in peerage("stats", "--of", "judges", *at)


def test_nobody_scores_an_answer_of_its_own_by_name_or_by_model(source: Path, tmp_path: Path) -> None:
    target = ["--dir", str(source), "--to", str(tmp_path / "new"), "--judges", "p2", "--judges", "house:0.5"]
    peerage("rejudge", *target)
    ledger = ledger_of(tmp_path / "new")
    texts = by_hex(ledger.texts())
    seen = 0
    for row, record in zip(ledger.fixtures(), ledger.records(), strict=True):
        fixture = read_fixture(row.body, texts)
        judges = {seat.label: seat.player for seat in fixture.officials["judge"]}
        for fact in read_record(record.body).outcome.facts:
            author = fixture.drawn["authors"][fact["author"]]
            assert (judges[fact["judge"]], author) not in {("p2", "p2"), ("house:0.5", "p3")}
            seen += author in ("p2", "p3")
    assert seen


def test_the_comparison_is_what_the_facts_say(source: Path) -> None:
    peerage("rejudge", "--dir", str(source))
    ledger = ledger_of(source / "rejudged")
    texts = by_hex(ledger.texts())
    given: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    first: dict[tuple[str, str], float] = {}
    for row, record in zip(ledger.fixtures(), ledger.records(), strict=True):
        fixture = read_fixture(row.body, texts)
        judges = {seat.label: seat.player for seat in fixture.officials["judge"]}
        drawn = fixture.drawn
        for fact in read_record(record.body).outcome.facts:
            for answer, raw in fact["raw"].items():
                mine = given.setdefault(drawn["record"], {}).setdefault(judges[fact["judge"]], {})
                mine[drawn["record"], answer] = raw
                first[drawn["record"], answer] = drawn["first"][answer]
    means: dict[tuple[str, str], list[float]] = {}
    for by_judge in given.values():
        for scores in by_judge.values():
            for answer, raw in scores.items():
                means.setdefault(answer, []).append(raw + 5 - fmean(scores.values()))
    report = rejudge_report(ledger)
    ledger.close()
    again = {answer: fmean(some) for answer, some in means.items()}
    assert report.compared == len(again)
    assert report.agreement == pytest.approx(correlation([first[one] for one in again], list(again.values())))
