"""How many more matches an arena takes: whose, paired how, at what price, and how it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.reading.scope import ScopeError
from peerage.scheduling.further import Further
from peerage.views.plan.outlook import Pair

cli = CliRunner()


def test_a_pair_is_said_with_its_chances() -> None:
    some = Further(120, 60, None, 2.4)
    assert str(Pair("ada", "bob", 0.83, 0.6, some)) == (
        "To prove that ada is better than bob: about 120 more matches, $2.40 (likely 60 or more); it is "
        "better with 83% and wins 60% of their matches."
    )
    now = Further(0, 0, 0, None)
    assert str(Pair("ada", "bob", 0.9999, 0.7, now)) == (
        "It is proven that ada is better than bob; it is better with over 99% and wins 70% of their matches."
    )


def test_it_says_who_is_best_and_what_a_run_is_to_prove(folder: Path, arena: Arena) -> None:
    best = arena.outlook()
    assert best.goal == "best known"
    assert best.lines[0].startswith(("To prove who is best: ", "It is proven who is best."))
    assert best.pair is None
    found = arena.outlook(until="first 2 to 60")
    assert found.goal == "first 2 known to 60"
    assert (
        found.lines[0]
        .removeprefix("To prove ")
        .removeprefix("It is proven ")
        .startswith("who the first 2 are")
    )
    assert "order of all players" in arena.outlook(until="order").lines[0]
    assert "where p2 is among the others, to 50 Elo" in arena.outlook(until="p2 placed").lines[0]
    with pytest.raises(ScopeError, match="until: 'nobody placed': no player is called 'nobody'"):
        arena.outlook(until="nobody placed")


def test_the_terminal_and_json_have_it(folder: Path, arena: Arena) -> None:
    words = ["plan", "p5", "p3", "--dir", str(folder)]
    found = arena.outlook("p5", "p3")
    assert found.pair is not None
    assert {found.pair.one, found.pair.other} == {"p5", "p3"}
    assert found.pair.better >= 0.5
    assert cli.invoke(app, words).stdout == "\n".join(found.lines) + "\n"
    assert json.loads(cli.invoke(app, [*words, "--format", "json"]).stdout) == json.loads(
        json.dumps(found.as_dict())
    )
    assert found._repr_html_().count("<p>") == len(found.lines)
    rows = cli.invoke(app, [*words, "--format", "csv"]).stdout.splitlines()
    assert rows[0] == "until,matches,at_least,at_most,usd"
    assert rows[-1].startswith(f"proven: {found.pair.one} is better than {found.pair.other},")
    cost = json.loads(cli.invoke(app, [*words[:1], *words[3:], "--matches", "7", "--format", "json"]).stdout)
    assert (cost["matches"], {row["name"] for row in cost["players"]}) == (7, {f"p{at}" for at in range(7)})
    both = (["p5", "p3", "--matches", "7"], ["--until", "best", "--matches", "7"])
    for wrong in (["p5", "nobody"], ["p5"], ["p5", "p5"], *both):
        assert cli.invoke(app, ["plan", *wrong, "--dir", str(folder)]).exit_code == 2


def test_it_is_about_the_players_of_the_settings(tmp_path: Path) -> None:
    write_arena(tmp_path, 4)
    play(tmp_path, 40)
    write_arena(tmp_path, [*house(4)[:3], {"name": "new", "model": "house:0.5"}])
    with open_arena(tmp_path, create=False) as arena:
        found = arena.outlook()
        assert found.proven.matches != 0, "nobody is proven better than one who never played"
        assert found.lines[-1] == "new has no result yet."
        pair = arena.outlook("p3", "p0").pair
        assert pair is not None, "one that left can still be asked for"
        with pytest.raises(ScopeError, match="new has no result yet"):
            arena.outlook("new", "p0")
        with pytest.raises(ScopeError, match="no player is called 'p3'"):
            arena.outlook(until="p3 placed")
        assert arena.outlook(until="new placed").proven.matches != 0


def test_before_a_match_there_is_nothing_to_say(tmp_path: Path) -> None:
    write_arena(tmp_path, 4)
    play(tmp_path, 0)
    with open_arena(tmp_path, create=False) as arena, pytest.raises(ScopeError, match="play some first"):
        arena.outlook()
    for more in ([], ["--matches", "100"]):
        assert "arena: 100 matches" in cli.invoke(app, ["plan", *more, "--dir", str(tmp_path)]).stdout


def test_prices_are_the_mean_so_far_and_unknown_where_one_is(tmp_path: Path) -> None:
    for name, price in (("priced", {"input": 1.0, "output": 5.0}), ("free", {"input": 0.0, "output": 0.0})):
        folder = write_arena(tmp_path / name, [one | {"price": price} for one in house(4)])
        play(folder, 12)
        with open_arena(folder, create=False) as arena:
            found = arena.outlook().proven
            spent = sum(row.cost_usd or 0.0 for row in arena.leaderboard())
        if name == "priced" and found.matches:
            assert found.usd == pytest.approx(found.matches * spent / 12, rel=0.05)
        else:
            assert not found.usd


def test_adaptive_pairing_is_expected_to_take_fewer_than_random(tmp_path: Path) -> None:
    least = []
    folder = write_arena(tmp_path, 6)
    play(folder, 60)
    for pairing in ({"policy": "random"}, {"policy": "adaptive"}):
        write_arena(folder, 6, pairing=pairing)
        with open_arena(folder, create=False) as arena:
            least.append(arena.outlook().proven.at_least)
    assert least[1] <= least[0]
