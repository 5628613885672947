"""Players rated apart as wolves and as villagers: who counts, by what, in tables, on pages and in JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ratings.sequential.trueskill import Game, TrueSkillSettings, games, rate
from peerage.reading.matches import Matches
from peerage.reading.scope import Scope, ScopeError
from peerage.render.blocks import Rows, Section
from peerage.site.pages import leaderboards
from peerage.site.reading import Site
from peerage.views.leaderboard.board import board

MATCHES = 30


@pytest.fixture(scope="module")
def villages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("villages"), house(7), game="werewolf", rules={"seats": 5})
    play(folder, MATCHES)
    return folder


def test_a_player_is_rated_by_its_matches_on_a_side_against_whoever_was_on_the_other(villages: Path) -> None:
    """The same from the records alone: each player on each side is somebody, and all are rated together."""
    with open_arena(villages) as arena:
        found = {side: board(arena.reading, scope=Scope(side=side)) for side in ("wolves", "village")}
        played = list(Matches(arena.ledger).read(1, MATCHES))
        whole = board(arena.reading)
    names: dict[tuple[str, str], int] = {}
    matches, wins, calls = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    rated = []
    for match in played:
        roles, scores = match.outcome.detail["roles"], match.outcome.scores
        who = {
            label: (player, "wolves" if roles[label] == "werewolf" else "village")
            for label, player in match.players.items()
        }
        for one in who.values():
            matches[one] += 1
            names.setdefault(one, len(names))
        for label, score in scores.items():
            wins[who[label]] += score == match.best and [*scores.values()].count(score) == 1
        calls.update([who[step.label] for step in match.steps])
        rated.append(
            Game(tuple([(names[who[label]],) for label in scores]), tuple([-one for one in scores.values()]))
        )
    table = rate(games(len(names), rated), TrueSkillSettings())
    for side, rows in found.items():
        assert {row.player for row in rows.rows} == {row.player for row in whole.rows}
        for row in rows.rows:
            one = row.player, side
            assert row.side == side
            assert (row.matches, row.wins) == (matches[one], wins[one])
            if one in names:
                assert row.rating == pytest.approx(table.rating[names[one]])
            else:
                assert row.rank is None
            assert set(row.above) <= {other.player for other in rows.rows}
            assert row.cost_usd == 0
        ranks = [row.rank for row in rows.rows if row.rank is not None]
        assert ranks == sorted(ranks)
        assert max(ranks) <= len(ranks)
    assert sum(matches.values()) == MATCHES * 5
    assert whole.sides == ("wolves", "village")
    assert whole.notes[-1] == "rated by side too, with `--side`: wolves, village"


def test_a_match_says_which_side_won(villages: Path) -> None:
    with open_arena(villages) as arena:
        for match in Matches(arena.ledger).read(1, MATCHES):
            if match.status == "done":
                side = "wolves" if match.outcome.detail["won"] == "wolves" else "village"
                assert match.verdict.startswith(f"won by the {side}: ")


def test_what_it_cost_counts_on_the_side_where_it_was_spent(villages: Path) -> None:
    with open_arena(villages) as arena:
        rows = [
            {row.player: row for row in board(arena.reading, scope=Scope(side=side)).rows}
            for side in ("wolves", "village", "")
        ]
    for player, whole in rows[2].items():
        apart = [rows[at][player].output_tokens for at in (0, 1)]
        assert sum(apart) == whole.output_tokens
        assert all(apart)


def test_a_side_that_is_not_there_and_a_track_without_sides_are_told(villages: Path) -> None:
    with open_arena(villages) as arena:
        with pytest.raises(ScopeError, match="did you mean 'wolves'"):
            board(arena.reading, scope=Scope(side="wolfes"))
        with pytest.raises(ScopeError, match="rated by strength, bt, trueskill or glicko2"):
            board(arena.reading, "points", Scope(side="wolves"))
        assert len(board(arena.reading, "bt", Scope(side="wolves")).rows) == 7


def test_terminal_json_and_pages_show_the_same_table(villages: Path) -> None:
    cli = CliRunner()
    where = ["--dir", str(villages), "--side", "village"]
    shown = cli.invoke(app, ["leaderboard", *where])
    assert ", as village" in shown.output
    rows = json.loads(cli.invoke(app, ["leaderboard", *where, "--format", "json"]).stdout)
    with open_arena(villages) as arena:
        assert arena.leaderboard(side="village").to_dicts() == rows
    site = Site.open(villages)
    (address,) = [path for path in leaderboards.paths(site) if "village" in path]
    assert address.startswith("leaderboard/trueskill/side-village")
    view = leaderboards.view(site, address)
    assert view is not None
    (ranking,) = [block for block in view.blocks if isinstance(block, Section)]
    (table,) = [block for block in ranking.blocks[0].groups[0] if isinstance(block, Rows)]
    assert [row.as_dict() for row in table.rows] == rows
    site.close()
