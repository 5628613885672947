"""Ratings of matches in series: what hangs together, and the luck of a seat held equal."""

from __future__ import annotations

from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from bench.series import rotated
from tests.engine.arenas import house, write_arena
from tests.engine.test_series import arena

from peerage.arena import open_arena
from peerage.ledger.series import InSeries
from peerage.ledger.store import Summary
from peerage.ratings import judges
from peerage.ratings.history import duels
from peerage.ratings.rows import fit_clustered
from peerage.site.pages import body
from peerage.site.reading import Site
from peerage.tables.in_series import hanging
from peerage.tables.leaderboard import board
from peerage.tables.played import PlayedMatches, Scope, ScopeError
from peerage.tables.tracks import TRACKS


def match(number: int, series: int, *players: str) -> tuple[Summary, InSeries]:
    import msgspec

    seats = [{"label": label, "player": player} for label, player in zip("ABC", players, strict=False)]
    said = msgspec.convert({"number": number, "series": series, "seats": seats}, InSeries)
    nothing = (0.0,) * len(players)
    return Summary(number, 1, "hands", "", players, "done", nothing, nothing, 0, nothing, nothing, 0), said


def test_tables_that_played_one_task_are_compared_seat_by_seat() -> None:
    rows = [
        match(1, 1, "ann", "bob"),
        match(2, 1, "cy", "di"),
        match(4, 0, "ann", "di"),
        match(5, 5, "bob", "cy"),
    ]
    decided, known = [row for row, _ in rows], {said.number: said for _, said in rows if said.series}
    played = [(0, 1, 1.0, 0, 1), (2, 3, 0.5, 0, 1), (1, 2, 0.0, 1, 5)]
    for history in (
        duels(4, [0, 2, 0, 1], [1, 3, 3, 2], [1, 0.5, 1, 0]),
        duels(4, [1, 3, 3, 2], [0, 2, 0, 1], [0, 0.5, 0, 1]),  # the second seat first
    ):
        found = hanging(history, None, decided, known, True)
        assert found.cluster.tolist() == [1, 1, 4, 5]
        assert found.tables == played
    assert not hanging(history, None, decided, known, False).tables


def inversions(folder: Path, track: str = "bt") -> int:
    """Pairs of players that the table has in the wrong order."""
    with open_arena(folder) as opened:
        rating = {row.player: row.rating for row in board(opened.ledger, opened.settings, track).rows}
    names = sorted(rating)
    return sum(rating[worse] >= rating[better] for worse, better in combinations(names, 2))


def test_series_order_players_of_a_game_of_luck_sooner(tmp_path: Path) -> None:
    wrong: dict[str, int] = {}
    for series, track in ((None, "bt"), ("seats", "bt"), ("tasks", "bt"), ("tasks", "duplicate")):
        wrong[f"{series}/{track}"] = 0
        for seed in range(1, 4):
            folder = tmp_path / f"{series}/{seed}"
            if not folder.exists():
                arena(folder, series, seats=4, swing=1_500)
                text = (folder / "arena.yaml").read_text("utf-8").replace("seed: 1", f"seed: {seed}")
                (folder / "arena.yaml").write_text(text, "utf-8")
                with open_arena(folder) as opened:
                    opened.run(96)
            wrong[f"{series}/{track}"] += inversions(folder, track)
    assert wrong["seats/bt"] < wrong["None/bt"] / 2, wrong
    assert wrong["tasks/duplicate"] < wrong["tasks/bt"], wrong


def test_a_table_of_series_clusters_its_intervals_by_series(tmp_path: Path) -> None:
    with open_arena(arena(tmp_path, "seats")) as opened:
        opened.run(64)
        played = PlayedMatches(opened.ledger, Scope())
        assert played.hanging is not None
        assert len(set(played.hanging.cluster.tolist())) == 32
        rows = board(opened.ledger, opened.settings, "bt").rows
        table = fit_clustered(played.history, played.hanging.cluster)
        assert sorted([row.lower for row in rows]) == pytest.approx(sorted(table.lower.tolist()), abs=1e-6)
        assert "intervals allow for the matches of one series hanging together" in rows[0].notes[0]
        with pytest.raises(ScopeError, match="no task was played at several tables"):
            board(opened.ledger, opened.settings, "duplicate")
        early = played.until(10)
        assert early.hanging is not None
        assert len(early.hanging.cluster) == 10


def test_judge_aware_intervals_allow_for_the_duels_of_one_series_hanging_together(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path, house(6), pairing={"series": "seats"})) as opened:
        opened.run(40)
        played = PlayedMatches(opened.ledger, Scope())
        rows = board(opened.ledger, opened.settings, "judge-aware").rows
    cast = played.votes()
    series = (cast.matches + 1) // 2
    assert 10 < len(set(series.tolist())) < len(set(cast.matches.tolist()))
    together = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=series)
    apart = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=cast.matches)
    found = {row.player: row.upper for row in rows}
    assert found == pytest.approx(dict(zip(cast.players, together.bounds[1].tolist(), strict=True)))
    assert found != pytest.approx(dict(zip(cast.players, apart.bounds[1].tolist(), strict=True)), abs=1)


def test_tables_of_one_task_have_a_page_and_other_tracks_say_what_they_leave_out(tmp_path: Path) -> None:
    folder = arena(tmp_path, "tasks")
    with open_arena(folder) as opened:
        opened.run(48)
        notes = {track: " ".join(board(opened.ledger, opened.settings, track).notes) for track in TRACKS[:5]}
        own = board(opened.ledger, opened.settings, "duplicate")
    assert {track: "intervals take each for itself" in said for track, said in notes.items()} == {
        "bt": False,
        "trueskill": True,
        "raw": True,
        "cost": True,
        "glicko2": True,
    }
    with closing(Site.open(folder)) as site:
        assert "duplicate" in site.tracks
        assert site.table("duplicate") == own.rows
        page = body(site, "leaderboard/duplicate.html")
        assert page is not None
        assert b"Bradley-Terry across tables" in page
        assert site.earlier("duplicate", 1).rating
    with open_arena(arena(tmp_path / "seats", "seats")) as opened:
        opened.run(8)
    with closing(Site.open(tmp_path / "seats")) as site:
        assert "duplicate" not in site.tracks


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
