"""Scores of a tournament read as votes, and what corrections of them would change."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.games.last_arena import GAME as LAST_ARENA
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import marks_in
from peerage.judging.measures.corrections import style_of
from peerage.judging.scores.scoring import recorded
from peerage.judging.scores.standing import standings
from peerage.ratings.fits.judges import leaders_without
from peerage.reading.match import Match
from peerage.reading.matches import Matches
from peerage.reading.observations import observe
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING
from peerage.reading.verdicts.scores import scored
from peerage.views.judges.remarks import first_without
from peerage.views.judges.report import judges
from peerage.views.leaderboard.corrected import _styles
from peerage.views.leaderboard.what_if import WhatIf, read_again

RULES = {"preset": "development", "questions": 3, "quality": "none", "seats": 5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tournaments of five, one of whom refuses a fifth of all requests."""
    players = house(5)
    players[4]["faults"] = {"refusing": 0.2}
    for player in players[:2]:
        player["family"] = "clan"
    made = write_arena(
        tmp_path_factory.mktemp("scored"), players, name="scored", game="last-arena", rules=RULES
    )
    play(made, 2)
    return made


def shown(folder: Path, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*words, "--dir", str(folder)])
    assert done.exit_code == code, done.output
    return done.output


def rows(folder: Path, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shown(folder, *words, "--format", "json"))
    return found


def test_the_orders_are_those_of_the_scores_on_record(folder: Path) -> None:
    """By hand from the facts: every two answers to a question by one judge; refused ones count as 0."""
    expected: list[tuple[str, str, str, float]] = []
    refused = 0
    with open_arena(folder, create=False) as arena:
        for number in (1, 2):
            match = Matches(arena.ledger).match(number)
            given: dict[tuple[str, str], dict[str, float]] = {}
            asked = set()
            for grade in recorded(match.outcome, "judge"):
                asked.add(grade.item)
                given.setdefault((grade.judge, grade.item.split("/")[0]), {})[grade.author] = grade.raw
            judges = {judge for judge, _ in given}
            for item in set(match.outcome.detail["answers"]) - asked:
                question, author = item.split("/")
                refused += 1
                for judge in judges - {author}:
                    given.setdefault((judge, question), {})[author] = 0.0
            for (judge, _), sheet in given.items():
                for one, two in combinations(sorted(sheet, key=match.players.__getitem__), 2):
                    points = (np.sign(sheet[one] - sheet[two]) + 1) / 2
                    who = match.players
                    expected.append((who[judge], who[one], who[two], points))
        votes = scored(arena.ledger, PlayedMatches(arena.ledger, EVERYTHING).decided).votes
    assert refused > 2
    names, history = np.array(votes.players), votes.history
    found = zip(
        np.array(votes.judges)[votes.judge].tolist(),
        names[history.first].tolist(),
        names[history.second].tolist(),
        history.score.tolist(),
        strict=True,
    )
    assert sorted(found) == sorted(expected)
    assert votes.worth is not None
    assert 0 < (votes.worth == 0).sum() < len(votes.worth)


def test_corrections_say_what_they_found_in_scores(folder: Path) -> None:
    found = rows(folder, "leaderboard", "--correct", "all")
    notes = found[0]["notes"]
    assert notes[0].startswith("Bradley-Terry on the judges' scores, both times")
    for about in (
        "position: nothing to correct, each judge scored the answers in an order drawn for it alone",
        "own: nothing to correct, nobody scored its own work",
        "style length: ",
        "family clan: ",
        "harshness: ties are from ",
        "favours: none",
        "reliability: from ",
    ):
        assert any(note.startswith(about) for note in notes), (about, notes)
    for row in found:
        assert row["lower"] < row["corrected"] < row["upper"]
    alone = rows(folder, "leaderboard", "--correct", "harshness")
    assert len(alone[0]["notes"]) == 2


def test_it_is_said_whether_a_single_judge_of_scores_changes_first_place(folder: Path) -> None:
    with open_arena(folder, create=False) as arena:
        report, pick = judges(arena.reading), arena.verdict().pick
        marks = marks_in(observe(Matches(arena.ledger).read(1, 2)).marks)
    cast = in_orders(marks)
    firsts = leaders_without(cast.history, cast.judge, len(cast.judges))
    said = list(first_without(cast.judges, cast.players, *firsts, pick))
    assert pick != cast.players[firsts[0] or 0]
    assert f"by which {pick} is the pick" in said[-1]
    assert said
    assert list(report.remarks[-len(said) :]) == said
    assert all(row.reliability is not None for row in report.judges)


def test_a_tournament_without_a_judge_is_ranked_by_the_others(folder: Path) -> None:
    """Held against a table by hand: each judge's mean taken away, a refused answer worth a 0 from each."""
    changed = 0
    with open_arena(folder, create=False) as arena:
        played = PlayedMatches(arena.ledger, EVERYTHING)
        for name in ("p1", "p2", "p3", "p4"):
            again = read_again(played, WhatIf(without=(name,)), "trueskill")
            changed += again.decided != played.decided
            for before, after in zip(played.decided, again.decided, strict=True):
                match = Matches(arena.ledger).match(after.number)
                assert LAST_ARENA.judging.recounted is not None
                same = LAST_ARENA.judging.recounted(match.fixture, match.outcome, ())
                assert tuple(same.values()) == before.scores
                assert after.scores == by_hand(match, name)
    assert changed


def by_hand(match: Match, without: str) -> tuple[float, ...]:
    given: dict[str, dict[str, float]] = {}
    for grade in recorded(match.outcome, "judge"):
        if match.players[grade.judge] != without:
            given.setdefault(grade.judge, {})[grade.item] = grade.raw
    asked = {grade.item for grade in recorded(match.outcome, "judge")}
    by_label: dict[str, dict[str, float]] = {}
    for item in match.outcome.detail["answers"]:
        question, label = item.split("/")
        values = [
            row.get(item, 0.0) - np.mean(list(row.values())) + 5
            for judge, row in given.items()
            if item in row or (item not in asked and judge != label)
        ]
        by_label.setdefault(label, {})[question] = float(np.mean(values))
    labels = [seat.label for seat in match.fixture.seats]
    ranked = standings({label: by_label[label] for label in labels})
    return tuple([ranked[label].result for label in labels])


def test_what_ifs_of_scores_are_told_and_refused(folder: Path) -> None:
    found = rows(folder, "leaderboard", "--without-judge", "p4")
    assert {row["what_if"] for row in found} == {"without judge p4"}
    everybody = [word for name in ("p0", "p1", "p2", "p3", "p4") for word in ("--without-judge", name)]
    assert {row["void"] for row in rows(folder, "leaderboard", *everybody)} == {2}
    refused = shown(folder, "leaderboard", "--weights", "equal", code=2)
    assert "all that judges say weighs the same" in " ".join(refused.replace("│", " ").split())
    assert "by a judge 'p9'" in shown(folder, "leaderboard", "--without-judge", "p9", code=2)


def test_the_styles_are_those_of_the_recorded_answers(folder: Path) -> None:
    with open_arena(folder, create=False) as arena:
        played = PlayedMatches(arena.ledger, EVERYTHING)
        votes = scored(arena.ledger, played.decided).votes
        styles = _styles(arena.reading.matches(), votes)
        assert votes.scores is not None
        contests = [votes.scores.contests[at] for at in np.unique(votes.matches).tolist()]
        match = Matches(arena.ledger).match(2)
        seen = 0
        for key, reply in match.replies.items():
            if key.startswith("answer/") and reply.status == "ok":
                _, label, question = key.split("/")
                at = contests.index(f"2/{question}"), votes.players.index(match.players[label])
                assert styles[at].tolist() == list(style_of(reply.text))
                seen += 1
        assert seen > 50
