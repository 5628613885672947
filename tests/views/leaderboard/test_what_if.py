"""What-ifs: the record counted in another way, held against counting by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import SMALL, play, write_arena
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.ledger.out.export import lines
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.judges import fit
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope, ScopeError
from peerage.views.leaderboard.board import Leaderboard, board
from peerage.views.leaderboard.what_if import WhatIf, read_again

FAULTS = {"refusing": 0.03, "malformed": 0.06, "failing": 0.02}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena in which the best rated judge decides nearly alone, and judges fail often."""
    weighed = {"weights": "softmax", "weight_temperature": 0.5, "epsilon": 0.0}
    rules = {**SMALL, "judges": 5, "order": "both", "early_stop": False, **weighed}
    more = {"faults": FAULTS, "price": {"input": 1.0, "output": 4.0}}
    players = [{"name": f"p{place}", "model": f"house:{0.3 + place / 50:.2f}", **more} for place in range(7)]
    made = write_arena(tmp_path_factory.mktemp("what-if"), players, rules=rules)
    play(made, 60)
    return made


@pytest.fixture
def arena(folder: Path) -> Iterator[Arena]:
    with open_arena(folder, create=False) as opened:
        yield opened


def asked(arena: Arena, what_if: WhatIf, track: str = "bt") -> Leaderboard:
    return board(arena.reading, track, what_if=what_if)


Weigh = Callable[[float], float]


def by_hand(arena: Arena, without: tuple[str, ...], weigh: Weigh) -> list[tuple[str, str, float | None]]:
    """Every finished match as its players and the first one's score, None for no result."""
    found = []
    for document in map(json.loads, lines(arena.ledger)):
        fixture, outcome = document["fixture"], document["record"]["outcome"]
        first, second = fixture["seats"]
        score = outcome["scores"].get(first["label"])
        if outcome["detail"].get("ballots"):
            seats = {seat["label"]: seat for seat in fixture["officials"]["judge"]}
            cast = [
                one for one in outcome["detail"]["ballots"] if seats[one["judge"]]["player"] not in without
            ]
            valid = [one for one in cast if one["vote"] != "abstain"]
            weights = [weigh(seats[one["judge"]]["raw"]) for one in valid]
            score = None
            if valid and len(valid) >= math.ceil(0.5 * len(cast) - 1e-9):
                worth = {first["label"]: 1.0, second["label"]: 0.0, "tie": 0.5}
                gained = sum(w * worth[one["vote"]] for w, one in zip(weights, valid, strict=True))
                share = gained / sum(weights)
                score = 0.5 if abs(share - 0.5) < 1e-9 else float(share > 0.5)
        found.append((first["player"], second["player"], score))
    return found


def softmax(rating: float) -> float:
    return math.exp((rating - 1500) / 0.5)


def sums(results: list[tuple[str, str, float | None]]) -> dict[str, tuple[int, int, int, int]]:
    found: dict[str, list[int]] = {}
    for first, second, score in results:
        for player, own in ((first, score), (second, None if score is None else 1 - score)):
            place = 3 if own is None else [1.0, 0.5, 0.0].index(own)
            found.setdefault(player, [0, 0, 0, 0])[place] += 1
    return {player: (won, drawn, lost, void) for player, (won, drawn, lost, void) in found.items()}


def ratings(results: list[tuple[str, str, float | None]]) -> dict[str, float]:
    decided = [one for one in results if one[2] is not None]
    names = list(dict.fromkeys(name for first, second, _ in decided for name in (first, second)))
    first, second, score = zip(*decided, strict=True)
    history = duels(len(names), list(map(names.index, first)), list(map(names.index, second)), score)
    return dict(zip(names, fit_duels(history).rating.tolist(), strict=True))


def test_counted_as_they_were_the_votes_give_every_result_on_record(arena: Arena) -> None:
    played = PlayedMatches(arena.ledger, EVERYTHING)
    again = read_again(played, WhatIf(), "bt")
    assert again.finished == played.finished
    assert (again.decided, again.players) == (played.decided, played.players)
    assert [score for _, _, score in by_hand(arena, (), softmax)] == [
        one.scores[0] if one.scores else None for one in played.finished
    ]


@pytest.mark.parametrize(
    ("what_if", "told", "weigh"),
    [
        (WhatIf(("p6",)), "without judge p6", softmax),
        (WhatIf(("p5", "p6")), "without judge p5, without judge p6", softmax),
        (WhatIf(equal=True), "every vote weighs the same", lambda _: 1.0),
        (WhatIf(("p3",), equal=True), "without judge p3, every vote weighs the same", lambda _: 1.0),
    ],
)
def test_a_table_is_that_of_the_votes_counted_by_hand(
    arena: Arena, what_if: WhatIf, told: str, weigh: Weigh
) -> None:
    results = by_hand(arena, what_if.without, weigh)
    assert results != by_hand(arena, (), softmax), "nothing comes out otherwise: this says nothing"
    found = asked(arena, what_if)
    assert {row.player: (row.wins, row.draws, row.losses, row.void) for row in found.rows} == sums(results)
    assert {row.player: row.rating for row in found.rows} == pytest.approx(ratings(results))
    assert found.what_if == told
    assert {row.what_if for row in found.rows} == {told}
    assert all(
        row.notes[0].startswith(f"what if: {told}. This is not the arena's own table") for row in found.rows
    )
    costs = {row.player: row.cost_usd for row in asked(arena, WhatIf()).rows}
    assert {row.player: row.cost_usd for row in found.rows} == costs


def test_without_all_judges_only_what_needed_none_has_a_result(arena: Arena) -> None:
    everybody = tuple(f"p{place}" for place in range(7))
    results = by_hand(arena, everybody, softmax)
    left = sum(score is not None for _, _, score in results)
    assert 0 < left < sum(score is not None for _, _, score in by_hand(arena, (), softmax))
    assert sum(row.matches for row in asked(arena, WhatIf(everybody)).rows) == 2 * left


def test_the_judge_aware_track_leaves_the_votes_out_too(arena: Arena) -> None:
    names: dict[str, int] = {}
    rows, judges, on = [], [], []
    results = by_hand(arena, ("p6",), softmax)
    for document, result in zip(map(json.loads, lines(arena.ledger)), results, strict=True):
        outcome, fixture = document["record"]["outcome"], document["fixture"]
        if result[2] is None or not outcome["detail"].get("ballots"):
            continue
        seats = {seat["label"]: seat["player"] for seat in fixture["officials"]["judge"]}
        cast = [(seats[one["judge"]], one["vote"]) for one in outcome["detail"]["ballots"]]
        valid = [(judge, vote) for judge, vote in cast if judge != "p6" and vote != "abstain"]
        pair = [names.setdefault(name, len(names)) for name in result[:2]]
        for judge, vote in valid:
            rows.append((*pair, {"A": 1.0, "B": 0.0, "tie": 0.5}[vote], 1 / len(valid)))
            judges.append(judge)
            on.append(document["match"])
    wanted = fit(duels(len(names), *zip(*rows, strict=True)), judges, cluster=on)
    found = asked(arena, WhatIf(("p6",)), "judge-aware")
    by_name = dict(zip(names, wanted.rating.tolist(), strict=True))
    assert {row.player: row.rating for row in found.rows} == pytest.approx(by_name)


@pytest.mark.parametrize(
    ("what_if", "track", "message"),
    [
        (WhatIf(("p66",)), "bt", "no votes or scores are by a judge 'p66'; did you mean 'p6'"),
        (WhatIf(equal=True), "judge-aware", "weighs votes by reliability"),
    ],
)
def test_what_there_is_not_is_refused(arena: Arena, what_if: WhatIf, track: str, message: str) -> None:
    with pytest.raises(ScopeError, match=message):
        asked(arena, what_if, track)


def test_outside_results_and_arenas_without_votes_are_refused(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(ScopeError, match=r"no outside results are of 'outside'"):
        board(arena.reading, "bt", Scope(source="outside"), what_if=WhatIf(equal=True))
    made = write_arena(tmp_path / "colors", 4, game="color-obfuscation", rules={})
    play(made, 4)
    with open_arena(made) as other, pytest.raises(ScopeError, match="no judges voted on these matches"):
        asked(other, WhatIf(equal=True))
    made = write_arena(tmp_path / "equal", rules={**SMALL, "weights": "equal"})
    play(made, 4)
    with open_arena(made) as other, pytest.raises(ScopeError, match="weighs the same in this arena already"):
        asked(other, WhatIf(equal=True))


def test_the_command_marks_every_output_and_writes_nothing(folder: Path) -> None:
    def run(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["leaderboard", "--dir", str(folder), *words])
        assert done.exit_code == code, done.output
        return done.output

    before = (folder / "arena.db").read_bytes()
    plain = run()
    assert "what if" not in plain.lower()
    assert {row["what_if"] for row in json.loads(run("--format", "json"))} == {""}
    words = ("--without-judge", "p6", "--without-judge", "p5", "--weights", "equal")
    told = "without judge p6, without judge p5, every vote weighs the same"
    for shape in ("table", "markdown"):
        text = " ".join(run(*words, "--format", shape).split())
        assert f"WHAT IF: {told}" in text
    assert {row["what_if"] for row in json.loads(run(*words, "--format", "json"))} == {told}
    assert f'"{told}"' in run(*words, "--format", "csv")
    assert "no votes or scores are by a judge 'nobody'" in run("--without-judge", "nobody", code=2)
    assert run() == plain
    assert (folder / "arena.db").read_bytes() == before
