"""`peerage leaderboard --correct`: what corrections would change in an arena that was played."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.tastes import Pool, drawn
from tests.engine.arenas import SMALL, house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.judging.marks.ballots import UNUSABLE
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import Votes
from peerage.judging.measures.corrections import CORRECTIONS, style_of
from peerage.reading.matches import Matches
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING
from peerage.views.leaderboard.corrected import _styles, judges_matter

MATCHES = 60
FAULTS = {"position_bias": 0.5, "self_preference": 0.9}


def shown(folder: Path, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["leaderboard", "--dir", str(folder), *words])
    assert done.exit_code == code, done.output
    return done.output


def rows(folder: Path, correct: str, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shown(folder, "--correct", correct, "--format", "json", *words))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judges see one order, often take what stands first, and prefer their family, which has three."""
    players = house(7, faults=FAULTS)
    for player in players[:3]:
        player["family"] = "clan"
    rules: Mapping[str, Any] = {**SMALL, "order": "one", "exclude_family": False}
    made = write_arena(tmp_path_factory.mktemp("swayed"), players, name="swayed", rules=rules)
    play(made, MATCHES)
    return made


def test_every_correction_says_what_it_found(folder: Path) -> None:
    found = rows(folder, "all")
    assert [row["corrections"] for row in found] == [[*CORRECTIONS]] * 7
    notes = found[0]["notes"]
    for about in (
        "position: +",
        "style length: ",
        "own: nothing",
        "family clan: ",
        "favours: ",
        "reliability: from",
    ):
        assert any(note.startswith(about) for note in notes), (about, notes)
    assert sorted((row["corrected"] for row in found), reverse=True) == [row["corrected"] for row in found]
    for row in found:
        assert row["difference"] == pytest.approx(row["corrected"] - row["rating"])
        assert row["lower"] < row["corrected"] < row["upper"]


def test_each_is_switched_on_by_itself(folder: Path) -> None:
    alone = rows(folder, "position")
    assert {tuple(row["corrections"]) for row in alone} == {("position",)}
    assert len(alone[0]["notes"]) == 2
    assert any(abs(row["difference"]) > 1 for row in alone)
    both = rows(folder, "family, position")
    assert both[0]["corrections"] == ["position", "family"]
    before = {row["player"]: row["rating"] for row in alone}
    assert {row["player"]: row["rating"] for row in both} == pytest.approx(before)


def test_tables_and_csv_have_them_too(folder: Path) -> None:
    text = shown(folder, "--correct", "position", "--format", "markdown")
    assert "swayed: what would change, corrected for position" in text
    for row in rows(folder, "position"):
        line = next(line for line in text.splitlines() if row["player"] in line)
        for cell in (f"{row['rating']:,.0f}", f"{row['corrected']:,.0f}", f"{row['difference']:+,.0f}"):
            assert cell in line
    cells = list(csv.DictReader(io.StringIO(shown(folder, "--correct", "position", "--format", "csv"))))
    assert [float(cell["corrected"]) for cell in cells] == [
        row["corrected"] for row in rows(folder, "position")
    ]


def test_the_order_shown_and_the_styles_are_those_on_record(folder: Path) -> None:
    with open_arena(folder, create=False) as arena:
        played = PlayedMatches(arena.ledger, EVERYTHING)
        votes = played.votes()
        styles, numbers = _styles(arena.reading.matches(), votes), np.unique(votes.matches).tolist()
        seen: list[int] = []
        for number in dict.fromkeys(votes.matches.tolist()):
            match = Matches(arena.ledger).match(number)
            said = {
                key.removesuffix("~repair"): step.stored.words
                for key, step in match.asked.items()
                if step.stored
            }
            both = [list(style_of(said[f"answer/{label}"])) for label in "AB"]
            assert styles[numbers.index(number)].tolist() == both
            for ballot in match.ballots:
                if ballot.vote != "abstain":
                    orders = [order for order, said in ballot.verdicts.items() if said not in UNUSABLE]
                    seen.append({"A-B": 1, "B-A": -1}[orders[0]])
        assert votes.shown.tolist() == seen
        assert {1, -1} == set(seen)


def test_what_cannot_be_corrected_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "did you mean 'position'?" in shown(folder, "--correct", "positon", code=2)
    assert "there is no correction" in shown(folder, "--correct", ",", code=2)
    one_by_one = shown(folder, "--correct", "own", "--correct", "position", "--format", "csv")
    assert one_by_one == shown(folder, "--correct", "position,own", "--format", "csv")
    assert one_by_one != shown(folder, "--correct", "own", "--format", "csv")
    for more in (["--track", "raw"], ["--source", "outside"], ["--weights", "equal"]):
        refused = shown(folder, "--correct", "all", *more, code=2)
        assert "leave --track, --source and every what-if out" in " ".join(refused.split())
    colors = write_arena(tmp_path, game="color-obfuscation", rules={})
    play(colors, 2)
    assert "no judge voted" in shown(colors, "--correct", "all", code=2)


def test_a_ring_is_in_the_verdict_over_the_leaderboard_and_at_the_end_of_a_run(tmp_path: Path) -> None:
    players: list[dict[str, Any]] = [
        {"name": f"p{at}", "model": f"house:{0.35 + 0.06 * at:.2f}", "family": f"f{at}"} for at in range(8)
    ]
    for player in players[:2]:
        player |= {"family": "ring", "faults": {"self_preference": 1.0}}
    whole = {"judges": 5, "order": "both", "early_stop": False, "weights": "softmax"}
    made = write_arena(tmp_path / "arena", players, rules={**SMALL, **whole, "exclude_family": False})
    play(made, 400)
    with open_arena(made, create=False) as arena:
        (line,) = [line for line in arena.verdict().lines if "peerage stats --of judges" in line]
        order = [row.player for row in arena.leaderboard(track="judge-aware")]
    assert line.startswith("Judges p0 and p1 favour each other. That lifts p")
    assert line.endswith(
        f"the order by votes is {', '.join(order[:5])} and 3 more: see `peerage stats --of judges`."
    )
    for command in (["verdict"], ["leaderboard"], ["run", "--yes", "--max-matches", "401"]):
        done = CliRunner().invoke(app, [*command, "--dir", str(made)])
        assert done.exit_code == 0, done.output
        assert "Judges p0 and p1 favour each other" in " ".join(done.output.split()), command


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        (Pool(8, 8, 2000), ""),
        (Pool(8, 8, 2000, liars=5, lie="reversed"), "p00, p01, p02, p03 and p04 against p05, p06 and p07:"),
        (
            Pool(12, 12, 9000, members=3, favour=3.0),
            "Judges p00, p01 and p02 favour each other. That lifts p0",
        ),
    ],
)
def test_what_is_wrong_with_judges_is_one_line(pool: Pool, told: str) -> None:
    class Cast(PlayedMatches):
        def __init__(self) -> None:
            pass

        def votes(self) -> Votes:
            return in_orders(drawn(pool, np.random.default_rng(3)).marks)._replace(scores=None, worth=None)

    line = judges_matter(Cast(), "p11")
    assert told in line
    assert bool(line) == bool(told)
