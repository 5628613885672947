"""Two versions of a player are two players wherever ratings are read; only its page joins them."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.arenas import house, ledger_of, play, write_arena
from tests.site.pages.test_pages import Read, body
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.site.addresses import player_page
from peerage.site.reading import Site

OLD, NEW = "p0", "p0 v2"
cli = CliRunner()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A weak player, and after twenty matches a strong one under its name."""
    folder = tmp_path_factory.mktemp("versions")
    play(write_arena(folder, 6), 20)
    players = house(6)
    players[0] |= {"model": "house:0.95", "version": 2}
    play(write_arena(folder, players), 60)
    return folder


def said(*words: str) -> str:
    done = cli.invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


def played(folder: Path) -> dict[str, list[int]]:
    """The matches of both as contestants."""
    with closing(ledger_of(folder)) as ledger:
        rows = list(ledger.summaries())
    return {name: [row.number for row in rows if name in row.players] for name in (OLD, NEW)}


def test_the_new_one_begins_as_a_newcomer_after_the_old_one(arena: Path) -> None:
    matches = played(arena)
    assert max(matches[OLD]) < 60
    with closing(ledger_of(arena)) as ledger:
        texts = by_hex(ledger.texts())
        first = read_fixture(next(iter(ledger.fixtures(matches[NEW][0], matches[NEW][0]))).body, texts)
    (seat,) = [seat for seat in first.seats if seat.player == NEW]
    assert (seat.raw, seat.cost) == (1500.0, 1500.0)


@pytest.mark.parametrize("track", ["bt", "raw", "cost", "trueskill", "glicko2"])
def test_every_leaderboard_rates_each_by_its_own_matches(arena: Path, track: str) -> None:
    matches = played(arena)
    with open_arena(arena) as found:
        rows = {row.player: row for row in found.leaderboard(track)}
    for name in (OLD, NEW):
        assert rows[name].matches + rows[name].void == len(matches[name])
    assert rows[NEW].rating > rows[OLD].rating
    assert (rows[OLD].model, rows[NEW].model) == ("house:0.20", "house:0.95")


def test_statistics_and_judges_keep_them_apart(arena: Path) -> None:
    with open_arena(arena) as found:
        stats = found.stats()
    models = {one.player: one.model for one in stats.players}
    assert (models[OLD], models[NEW]) == ("house:0.20", "house:0.95")
    judges = json.loads(said("stats", "--of", "judges", "--dir", str(arena), "--format", "json"))
    told = json.dumps(judges)
    assert f'"{OLD}"' in told
    assert f'"{NEW}"' in told


def test_exports_keep_them_apart(arena: Path) -> None:
    rows = list(csv.DictReader(said("export", "--format", "csv", "--dir", str(arena)).splitlines()))
    assert {OLD, NEW} <= {row["player"] for row in rows}
    lines = [json.loads(line) for line in said("export", "--dir", str(arena)).splitlines()]
    seated = {seat["player"] for line in lines for seat in line["fixture"]["seats"]}
    assert {OLD, NEW} <= seated


def test_each_page_leads_to_the_other(arena: Path) -> None:
    site = Site.open(arena)
    try:
        for one, other in ((OLD, NEW), (NEW, OLD)):
            page = body(site, player_page(one))
            text = Read(page).text
            said = text.index("Other versions of this player, each rated by its own matches:")
            assert other in text[said:]
            assert player_page(other).rpartition("/")[2].encode() in page
    finally:
        site.close()


def test_both_are_of_one_family(arena: Path) -> None:
    with open_arena(arena) as found:
        families = found.reading.families
        rows = {row.player: row.family for row in found.leaderboard("bt")}
    assert families[OLD] == families[NEW] == rows[OLD] == rows[NEW] == "house:0.20"
    assert families["p1"] != families[OLD]
