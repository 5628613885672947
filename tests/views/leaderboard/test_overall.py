"""The overall table of several games and the profiles of players: in tables, in the terminal, on pages."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import house, ledger_of, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope, ScopeError
from peerage.site.addresses import player_page
from peerage.site.export.build import build_folder
from peerage.site.pages.leaderboards import address, filters
from peerage.site.pages.router import body
from peerage.site.reading import Site
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.notes import OF_MANY
from peerage.views.leaderboard.overall import Profile, grid, profiles

cli = CliRunner()
GAMES = {
    "color-obfuscation": 3,
    "last-arena": {"rules": {"preset": "development", "seats": 4}},
    "allocation": 1,
}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("several"), house(6), rules={}, games=GAMES)
    play(folder, 60)
    return folder


def test_the_overall_share_is_the_weighted_mean_of_the_games(arena: Path) -> None:
    with open_arena(arena, create=False) as opened:
        whole = board(opened.reading)
        rows = {(one.player, one.game): one for one in profiles(PlayedMatches(opened.ledger, EVERYTHING))}
        alike = board(opened.reading, scope=Scope(games=dict.fromkeys(GAMES, 1.0)))
    assert whole.track == "overall"
    for row in whole.rows:
        share = {game: rows[row.player, game].share for game in GAMES}
        weighed = 3 * share["color-obfuscation"] + share["last-arena"] + share["allocation"]
        assert row.rating == pytest.approx(weighed / 5)
        assert row.lower is not None
        assert row.upper is not None
        assert 0 <= row.lower < row.rating < row.upper <= 100
    assert {row.player: row.rating for row in alike.rows} == {
        player: pytest.approx(one.share) for (player, game), one in rows.items() if not game
    }
    assert "(allocation 20%, color-obfuscation 60%, last-arena 20%)" in whole.notes[0]
    assert "(each counting alike)" in alike.notes[0]


def test_a_profile_counts_what_was_played_and_the_best_comes_first(arena: Path) -> None:
    with open_arena(arena, create=False) as opened:
        played = PlayedMatches(opened.ledger, EVERYTHING)
        rows = profiles(played)
        decided = list(played.decided)
    overall = [row.share for row in rows if not row.game]
    assert overall == sorted(overall, reverse=True)
    for row in rows:
        assert 0 <= row.lower <= row.share <= row.upper <= 100
        assert row.lower < row.upper
        ends = Counter[str]()
        for one in decided:
            if row.player in one.players and row.game in ("", one.game):
                mine, first = one.scores[one.players.index(row.player)], max(one.scores)
                ends["lost" if mine < first else "drawn" if one.scores.count(first) > 1 else "won"] += 1
        assert (row.wins, row.draws, row.losses) == (ends["won"], ends["drawn"], ends["lost"])
        assert row.matches == ends.total()
        assert (row.rank is None) is (row.matches == 0)


def test_who_has_not_played_has_no_rank(tmp_path: Path) -> None:
    games = {"color-obfuscation": 1, "allocation": {"rules": {"seats": 3}}}
    folder = write_arena(tmp_path, house(6), rules={}, games=games)
    play(folder, 4)
    with open_arena(folder, create=False) as opened:
        rows = [row for row in profiles(PlayedMatches(opened.ledger, EVERYTHING)) if row.game]
    assert {row.rank is None for row in rows} == {False, True}
    assert all((row.rank is None) is (row.matches == 0) for row in rows)


def test_where_more_than_two_meet_it_says_what_won_drawn_and_lost_mean(arena: Path) -> None:
    """As the sums are made: the best score alone, the best score shared, any other."""
    with open_arena(arena, create=False) as opened:
        noted = {game for game in ("", *GAMES) if OF_MANY in board(opened.reading, scope=Scope(game)).notes}
        assert noted == {"", "last-arena", "allocation"}
        one = board(opened.reading, scope=Scope("last-arena"))
        matches = list(PlayedMatches(opened.ledger, Scope("last-arena")).decided)
    for row in one.rows:
        places = [
            (
                match.scores[match.players.index(row.player)] == max(match.scores),
                match.scores.count(max(match.scores)),
            )
            for match in matches
            if row.player in match.players
        ]
        assert row.wins == places.count((True, 1))
        assert row.draws == sum(best and shared > 1 for best, shared in places)
        assert row.losses == sum(not best for best, _ in places)


def test_each_game_has_its_own_table_and_track(arena: Path) -> None:
    with open_arena(arena, create=False) as opened:
        found = {game: board(opened.reading, scope=Scope(game)) for game in GAMES}
        assert [one.track for one in found.values()] == ["strength", "trueskill", "trueskill"]
        matches = Counter(one.game for one in PlayedMatches(opened.ledger, EVERYTHING).decided)
        for game, one in found.items():
            assert sum(row.wins + row.draws + row.losses for row in one.rows) >= 2 * matches[game]
        with pytest.raises(ScopeError, match="no match is of the game 'duel'"):
            board(opened.reading, "overall", Scope(weights={"duel": 2}))


def test_the_terminal_shows_tables_by_game_and_a_profile(arena: Path) -> None:
    where = ["--dir", str(arena)]
    shown = cli.invoke(app, ["leaderboard", *where]).stdout
    assert shown.index("color-obfuscation") < shown.index("share of wins over all games")
    by_game = cli.invoke(app, ["leaderboard", "--by", "game", *where], env={"COLUMNS": "140"}).stdout
    for game in GAMES:
        assert game in by_game
    profile = cli.invoke(app, ["players", "p5", *where], env={"COLUMNS": "140"}).stdout
    lines = [line for line in profile.splitlines() if "●" in line]
    assert [line.split()[0] for line in lines] == ["mean", *sorted(GAMES)]
    assert all("━" in line for line in lines)
    rows = json.loads(cli.invoke(app, ["players", "p5", "--format", "json", *where]).stdout)
    assert [row["game"] for row in rows] == ["", *sorted(GAMES)]
    assert rows[0]["weight"] == 1
    assert rows[2]["weight"] == pytest.approx(0.6)
    unknown = cli.invoke(app, ["players", "p55", *where])
    assert unknown.exit_code == 2
    assert "did you mean 'p5'" in unknown.stderr


def test_weights_are_given_by_a_word_or_by_numbers(arena: Path) -> None:
    def top(*words: str) -> list[tuple[str, float]]:
        said = ["leaderboard", "--format", "json", "--dir", str(arena), *words]
        return [(row["player"], row["rating"]) for row in json.loads(cli.invoke(app, said).stdout)]

    assert top("--weight", "alike") == top(*[f"--weight={game}=1" for game in GAMES])
    with closing(ledger_of(arena)) as ledger:
        counted = PlayedMatches(ledger, EVERYTHING).games
    assert top("--weight", "matches") == top(*[f"--weight={game}={n}" for game, n in counted.items()])
    assert top("--weight", "alike") != top("--weight", "matches") != top()
    both = cli.invoke(app, ["leaderboard", "--weight=alike", "--weight=matches", "--dir", str(arena)])
    assert "contradict each other" in both.stderr


def test_the_site_shows_the_overall_table_each_games_and_profiles(arena: Path, tmp_path: Path) -> None:
    build_folder(arena, tmp_path)
    index = (tmp_path / "index.html").read_text("utf-8")
    grid = index.partition("Strengths by game")[2].partition("</table>")[0]
    heads = re.findall(r'scope="col">(?:<span title="[^"]*">)?([^<]*)<', grid)
    assert heads == ["Player", "mean of games", *sorted(GAMES)]
    assert grid.count('<th scope="row"') == 6
    with closing(Site.open(arena)) as site:
        assert site.track == "overall"
        best = player_page(site.table()[0].player)
        own = {one.game: (one.track, address(site, one)) for one in filters(site) if one.game}
    assert {game: track for game, (track, _) in own.items()} == {
        "color-obfuscation": "strength",
        "last-arena": "trueskill",
        "allocation": "trueskill",
    }
    for _, page in own.values():
        assert page in index
        assert page in (tmp_path / "games.html").read_text("utf-8")
        assert (tmp_path / page).exists()
    player = (tmp_path / best).read_text("utf-8")
    assert "Strength in each game" in player
    assert player.count("mean of games</th>") == 1


def test_of_players_and_games_what_there_is_less_of_stands_side_by_side() -> None:
    def row(player: str, game: str) -> Profile:
        rank = None if (player, game) == ("bo", "go") else 1
        return Profile(player, game, 0.5, rank, 50.0, 40.0, 60.0, 9, 3, 3, 3)

    few = grid([row(player, game) for player in ("al", "bo", "cy") for game in ("", "go")])
    assert (few.games_down, few.down, few.across) == (False, ("al", "bo", "cy"), ("", "go"))
    many = grid([row(player, game) for player in ("al", "bo") for game in ("", "go", "chess")])
    assert (many.games_down, many.down, many.across) == (True, ("", "go", "chess"), ("al", "bo"))
    wide = grid([row(player, game) for player in ("al", "bo", "cy") for game in ("", "draughts")], len)
    assert (wide.games_down, wide.across) == (True, ("al", "bo", "cy")), "eight letters side by side are more"
    assert many.cells["chess", "bo"].player == "bo"
    assert ("go", "bo") not in many.cells


def test_an_arena_of_one_game_has_no_overall_table(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, house(4), rules={}, game="color-obfuscation")
    play(folder, 8)
    with closing(Site.open(folder)) as site:
        assert site.track == "strength"
        assert site.profiles == []
        assert "overall" not in site.tracks


def test_strengths_by_topic_say_where_there_are_too_few_matches(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, house(4), rules={"committee": 2, "judges": 2, "topics": ["bees", "tides"]})
    play(folder, 38)
    with open_arena(folder, create=False) as opened:
        rows = profiles(PlayedMatches(opened.ledger, EVERYTHING), "topic")
        counts = {(one.player, one.topic): one.matches for one in rows}
        seen = Counter(
            (player, topic)
            for summary in opened.ledger.summaries()
            if summary.status == "done"
            for player in summary.players
            for topic in ("", summary.topic)
        )
    assert counts == {at: seen[at] for at in counts}
    assert {topic for _, topic in counts} == {"", "bees", "tides"}
    assert {one.few for one in rows if one.topic} == {True, False}
    shown = cli.invoke(app, ["leaderboard", "--by", "topic", "--dir", str(folder)]).stdout
    for one in rows:
        if one.topic and one.rank:
            assert (f"({one.share:.1f})" in shown) >= one.few
    with closing(Site.open(folder)) as site:
        page = (body(site, "index.html") or b"").decode()
    assert "topic by topic" in page
    enough = sorted(one.upper - one.lower for one in rows if one.topic and one.rank and not one.few)
    middle = (enough[(len(enough) - 1) // 2] + enough[len(enough) // 2]) / 4
    assert f"hold within about {middle:.0f} percentage points" in shown
    assert f"hold within about {middle:.0f} percentage points" in page
    assert len(re.findall(r', \d+ matches">', page)) == sum(one.rank is not None for one in rows)
