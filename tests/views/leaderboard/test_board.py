"""The leaderboard against slow and obvious sums over everything on record."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.engine.arenas import house, play, write_arena
from tests.views.conftest import DECIDED, recorded

from peerage.arena import Arena, open_arena
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.strength.evidence import of_duels
from peerage.ratings.strength.posterior import sort_out, strengths
from peerage.reading.results.evidence import SEED
from peerage.standings.fold import NOBODY, after_match, elo_settings
from peerage.views.leaderboard.tracks import METHODS, TRACKS

UNLOGGED = "DELETE FROM log WHERE about LIKE 'narrow %'"
"""As if the log said nothing of the narrow table, which may then be altered."""


def copied(folder: Path, to: Path, *statements: str) -> Path:
    """A copy of an arena with its ledger changed."""
    shutil.copytree(folder, to, dirs_exist_ok=True)
    with closing(sqlite3.connect(to / "arena.db", isolation_level=None)) as ledger:
        for statement in statements:
            ledger.execute(statement)
    return to


@pytest.mark.parametrize("track", TRACKS)
def test_every_sum_is_what_the_records_add_up_to(arena: Arena, track: str) -> None:
    results: dict[str, Counter[str]] = {player.name: Counter() for player in arena.settings.players}
    answers: dict[str, list[float]] = {player.name: [] for player in arena.settings.players}
    for summary in arena.ledger.summaries():
        for player, score, cost in zip(summary.players, summary.scores, summary.costs, strict=False):
            results[player][{1.0: "wins", 0.5: "draws", 0.0: "losses"}[score]] += 1
            results[player]["matches"] += 1
            assert cost is not None
            answers[player].append(cost)
        if summary.status != "done":
            results.update({player: results[player] + Counter(void=1) for player in summary.players})
    for exchange in arena.ledger.exchanges(1, recorded(arena)):
        if exchange.reply is not None:
            said = msgspec.json.decode(exchange.reply)
            results[exchange.player].update(
                nano=said["cost_nano"],
                input_tokens=said.get("input_tokens") or 0,
                output_tokens=said.get("output_tokens") or 0,
            )
    rows = arena.leaderboard(track)
    assert len(rows) == 7
    for row in rows:
        summed = results[row.player]
        for key in ("matches", "wins", "draws", "losses", "void", "input_tokens", "output_tokens"):
            assert getattr(row, key) == summed[key], (row.player, key)
        assert row.cost_usd == pytest.approx(summed["nano"] / 1e9)
        assert row.cost_per_match == pytest.approx(sum(answers[row.player]) / row.matches)
    assert sum(row.void for row in rows) > 0


def test_elo_is_the_fold_of_all_matches(arena: Arena) -> None:
    settings = elo_settings(arena.settings.rating)
    standings = NOBODY
    for one in arena.ledger.summaries():
        standings = after_match(standings, one.game, one.players, one.scores, one.costs, settings)
    for track in ("raw", "cost"):
        for row in arena.leaderboard(track):
            expected = getattr(standings.of(row.player, 1500), track)
            assert row.rating == expected
            assert row.lower < expected < row.upper


def test_bradley_terry_is_the_fit_of_all_results(arena: Arena) -> None:
    names = sorted(player.name for player in arena.settings.players)
    results = [
        (names.index(one.players[0]), names.index(one.players[1]), one.scores[0])
        for one in arena.ledger.summaries()
        if one.scores
    ]
    table = fit_duels(duels(len(names), *zip(*results, strict=True)))
    for row in arena.leaderboard("bt"):
        line = table.rows[names.index(row.player)]
        assert row.rating == pytest.approx(line.rating)
        assert (row.lower, row.upper) == (pytest.approx(line.lower), pytest.approx(line.upper))
        assert row.rank == line.rank


def test_strengths_chances_and_proof_are_those_of_all_results(arena: Arena) -> None:
    names = sorted(player.name for player in arena.settings.players)
    results = [
        (names.index(one.players[0]), names.index(one.players[1]), one.scores[0])
        for one in arena.ledger.summaries()
        if one.scores
    ]
    evidence = of_duels(duels(len(names), *zip(*results, strict=True)))
    found, above = strengths(evidence, seed=SEED), proven(evidence)
    bins = sort_out(found.best, found.better)
    for row in arena.leaderboard():
        me = names.index(row.player)
        assert row.track == "strength"
        assert (row.rating, row.lower, row.upper) == pytest.approx(
            (found.rating[me], found.lower[me], found.upper[me])
        )
        assert row.best == pytest.approx(found.best[me])
        assert row.bin == bins[me] or (row.bin == "out" and above[bins.index("pick"), me])
        assert sorted(row.above) == [names[at] for at in np.flatnonzero(above[me])]


def test_tracks_show_the_same_chances_or_none(arena: Arena) -> None:
    shown = {row.player: (row.best, row.bin, row.above, row.tier) for row in arena.leaderboard()}
    for track in TRACKS:
        for row in arena.leaderboard(track):
            found = (row.best, row.bin, row.above, row.tier)
            if track == "overall":  # of shares of wins, drawn from the same posterior
                assert row.best == pytest.approx(shown[row.player][0], abs=0.05)
            elif METHODS[track].chances:
                assert found == shown[row.player]
            else:
                assert found == (None, "", (), "")


@pytest.mark.parametrize("track", TRACKS)
def test_the_best_stands_first(arena: Arena, track: str) -> None:
    rows = arena.leaderboard(track)
    ratings = [row.rating for row in rows]
    assert ratings == sorted(ratings, reverse=True)
    assert [row.rank for row in rows] == [1 + sum(other > one for other in ratings) for one in ratings]
    assert {row.track for row in rows} == {track}
    assert rows[0].model in ("house:0.90", "house:0.78")


def test_rows_are_stable_json(arena: Arena) -> None:
    (row, *_) = arena.leaderboard().to_dicts()
    assert json.loads(json.dumps(row)) == row
    assert list(row) == [
        "rank",
        "player",
        "model",
        "family",
        "track",
        "rating",
        "lower",
        "upper",
        "matches",
        "wins",
        "draws",
        "losses",
        "void",
        "cost_usd",
        "cost_per_match",
        "input_tokens",
        "output_tokens",
        "notes",
        "mu",
        "sigma",
        "best",
        "bin",
        "above",
        "tier",
        "game",
        "topic",
        "possibly_usd",
        "status",
        "what_if",
        "side",
        "withdrawn_after",
        "rating_then",
        "accuracy",
        "accuracy_lower",
        "accuracy_upper",
        "accuracy_tasks",
        "worst",
    ]


@pytest.mark.parametrize("track", TRACKS)
def test_snapshots_are_only_a_short_cut(arena: Arena, folder: Path, tmp_path: Path, track: str) -> None:
    assert arena.ledger.snapshot() is not None
    without = copied(folder, tmp_path / "without", "DELETE FROM snapshots")
    early = copied(folder, tmp_path / "early", "DELETE FROM snapshots WHERE number > 40")
    with open_arena(without) as slow, open_arena(early) as between:
        tables = [[*opened.leaderboard(track)] for opened in (slow, arena, between)]
        assert tables[0] == tables[1] == tables[2]


def test_resuming_without_snapshots_goes_on_with_the_same_sums(
    folder: Path, arena: Arena, tmp_path: Path
) -> None:
    late = copied(folder, tmp_path, "DELETE FROM snapshots")
    play(late, DECIDED + 5)
    with open_arena(late) as played:
        stored = played.ledger.snapshot()
        assert stored is not None
        assert stored[0] == played.ledger.heads()[1] >= recorded(arena) + 5
        assert played.replay().ok


START = dict.fromkeys(TRACKS, 1500) | {"trueskill": 0, "points": 0, "overall": 50}


def changed(folder: Path, to: Path, **players: Any) -> Path:
    """A copy of an arena whose players are other ones."""
    copied(folder, to)
    return write_arena(to, **players)


def test_a_player_without_matches_comes_last_and_one_who_left_stays(folder: Path, tmp_path: Path) -> None:
    named = [*house(7)[:6], {"name": "a newcomer", "model": "house:1"}]
    with open_arena(changed(folder, tmp_path, players=named)) as arena:
        for track in TRACKS:
            rows = arena.leaderboard(track)
            assert len(rows) == 8
            last = rows[-1]
            assert (last.player, last.rank, last.rating) == ("a newcomer", None, START[track])
            assert (last.lower, last.matches, last.cost_usd) == (None, 0, 0)
            assert "no result yet" in last.notes
            gone = next(row for row in rows if row.player == "p6")
            assert gone.model == "house:0.90"
            assert gone.rank is not None
            decided = [row for row in arena.ledger.summaries() if row.status == "done"]
            last = max(row.number for row in decided if "p6" in row.players)
            assert gone.withdrawn_after == last
            then = f"withdrawn after match {last}, then rated {gone.rating_then:,.1f}"
            assert f"no longer in arena.yaml: {then}" in gone.notes


def test_an_arena_not_yet_played_lists_everybody(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)) as arena:
        for track in TRACKS:
            rows = arena.leaderboard(track)
            assert [row.player for row in rows] == [f"p{place}" for place in range(7)]
            assert {row.rating for row in rows} == {START[track]}


def test_elo_tables_say_how_they_were_made(arena: Arena) -> None:
    raw, cost = arena.leaderboard("raw")[0].notes, arena.leaderboard("cost")[0].notes
    assert "propagation on: width 50 Elo, share 0.5" in raw
    assert not any("τ_c" in note for note in raw)
    assert "a contestant scores S - τ_c · C / (C_A + C_B), τ_c = 0.2" in cost
    assert any("mean sinks by 1.6" in note for note in cost)


def test_other_settings_say_so_too(tmp_path: Path) -> None:
    rating = {"propagation_width": None, "cost_sensitivity": 0.0}
    with open_arena(write_arena(tmp_path, rating=rating)) as arena:
        notes = arena.leaderboard("cost")[0].notes
    assert "a contestant scores S - τ_c · C / (C_A + C_B), τ_c = 0" in notes
    assert "propagation off" in notes
    assert not any("propagation on" in note or "sinks" in note for note in notes)


def test_few_matches_need_a_prior_and_say_so(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 3)
    with open_arena(tmp_path) as arena:
        rows = arena.leaderboard("bt")
    assert any("not everybody can be compared yet" in note for note in rows[0].notes)
    assert rows[0].lower < rows[0].rating < rows[0].upper


def test_an_unknown_price_is_no_price_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from peerage.players import prices

    def unknown(*_: Any) -> prices.Price:
        return prices.Price()

    monkeypatch.setattr("peerage.engine.record.registration.price_of", unknown)
    play(write_arena(tmp_path), 6)
    with open_arena(tmp_path) as arena:
        rows = arena.leaderboard("cost")
    for row in rows:
        if row.matches:
            assert row.cost_usd is None
            assert row.cost_per_match is None
            assert f"{row.matches} of its matches have no known cost" in row.notes


def test_a_track_that_there_is_not(arena: Arena) -> None:
    with pytest.raises(ValueError, match=r"no track is called 'elo'.*bt, trueskill, raw, cost"):
        arena.leaderboard("elo")
