"""Ratings of matches in series: what hangs together."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from bench.series import rotated
from tests.engine.arenas import house, write_arena
from tests.engine.run.test_series import arena

from peerage.arena import open_arena
from peerage.ratings.fits import judges
from peerage.ratings.fits.regression import fit_clustered
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.tracks import TRACKS


def inversions(folder: Path) -> int:
    """Pairs of players that the table has in the wrong order."""
    with open_arena(folder) as opened:
        rating = {row.player: row.rating for row in board(opened.reading, "bt").rows}
    names = sorted(rating)
    return sum(rating[worse] >= rating[better] for worse, better in combinations(names, 2))


@pytest.mark.slow
def test_series_order_players_of_a_game_of_luck_sooner(tmp_path: Path) -> None:
    wrong: dict[str | None, int] = {}
    for series in (None, "seats"):
        wrong[series] = 0
        for seed in range(1, 4):
            folder = tmp_path / f"{series}/{seed}"
            arena(folder, series, seats=4, swing=1_500)
            text = (folder / "arena.yaml").read_text("utf-8").replace("seed: 1", f"seed: {seed}")
            (folder / "arena.yaml").write_text(text, "utf-8")
            with open_arena(folder) as opened:
                opened.run(96)
            wrong[series] += inversions(folder)
    assert wrong["seats"] < wrong[None] / 2, wrong


def test_a_table_of_series_clusters_its_intervals_by_series(tmp_path: Path) -> None:
    with open_arena(arena(tmp_path, "seats")) as opened:
        opened.run(64)
        played = PlayedMatches(opened.ledger, Scope())
        assert played.hanging is not None
        assert len(set(played.hanging.tolist())) == 32
        rows = board(opened.reading, "bt").rows
        table = fit_clustered(played.history, played.hanging)
        assert sorted([row.lower for row in rows]) == pytest.approx(sorted(table.lower.tolist()), abs=1e-6)
        assert "intervals allow for the matches of one series or task hanging together" in rows[0].notes[0]
        early = played.until(10)
        assert early.hanging is not None
        assert len(early.hanging) == 10


def test_judge_aware_intervals_allow_for_the_duels_of_one_series_hanging_together(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path, house(6), pairing={"series": "seats"})) as opened:
        opened.run(40)
        played = PlayedMatches(opened.ledger, Scope())
        rows = board(opened.reading, "judge-aware").rows
    cast = played.votes()
    series = (cast.matches + 1) // 2
    assert 10 < len(set(series.tolist())) < len(set(cast.matches.tolist()))
    together = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=series)
    apart = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=cast.matches)
    found = {row.player: row.upper for row in rows}
    assert found == pytest.approx(dict(zip(cast.players, together.bounds[1].tolist(), strict=True)))
    assert found != pytest.approx(dict(zip(cast.players, apart.bounds[1].tolist(), strict=True)), abs=1)


def test_tracks_say_what_they_leave_out(tmp_path: Path) -> None:
    with open_arena(arena(tmp_path, "seats")) as opened:
        opened.run(48)
        notes = {track: " ".join(board(opened.reading, track).notes) for track in TRACKS[:6]}
    assert {track: "intervals take each for itself" in said for track, said in notes.items()} == {
        "strength": False,
        "bt": False,
        "trueskill": True,
        "raw": True,
        "cost": True,
        "glicko2": True,
    }


def test_intervals_clustered_by_series_hold_where_a_task_suits_somebody() -> None:
    held: dict[str, list[float]] = {"series": [], "match": []}
    for seed in range(60):
        history, code = rotated(np.random.default_rng(seed), 6, 80, taste=2.5)
        for way, clusters in (("series", code), ("match", np.arange(len(code)))):
            table = fit_clustered(history, clusters)
            held[way].append(float(((table.lower <= 1500) & (table.upper >= 1500)).mean()))
    by_series, by_match = np.mean(held["series"]), np.mean(held["match"])
    assert 0.94 <= by_series <= 0.99
    assert by_match < 0.92
