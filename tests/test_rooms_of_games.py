"""A game's folder tells the whole game: outside it nobody imports it or reads what it keeps on record."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import SOURCE, imported

GAMES = SOURCE / "games"
FOLDERS = {f"peerage.games.{one.parent.name}" for one in GAMES.glob("*/__init__.py")}
# Whose work is one game, or two, and which.
ONE_GAME = {
    "cli/begin/choice.py": ({"tasks"}, "reads the file of one's own tasks before there is an arena"),
    "cli/data/imports.py": (
        {"color_obfuscation"},
        "enters a benchmark's own file, by the name of its layout",
    ),
    "interchange/exports.py": (
        {"challenge_exchange"},
        "writes a benchmark's own folder, by the name of its layout",
    ),
    "cli/judge/rejudge.py": ({"rejudge"}, "its command: nobody starts this game by name"),
    "engine/again/panel.py": ({"rejudge"}, "writes the settings of this game"),
    "interchange/answers.py": ({"rejudge"}, "pairs the answers that this game judges"),
    "players/picture_probe.py": ({"vision"}, "draws the digits of a probe as this game draws"),
    "settings/work_tasks.py": ({"workshop"}, "reads its tasks from folders and commits, by its rule"),
    "engine/again/rejudge.py": ({"rejudge"}, "makes the fixtures of this game"),
    "site/people/score_page.py": ({"last_arena"}, "the page of `peerage tournament page`"),
    "interchange/challenges.py": ({"challenge_exchange"}, "reads for a benchmark's own folder"),
    "views/rejudge.py": ({"rejudge"}, "compares what this game found"),
    "interchange/battles.py": ({"rejudge"}, "tells which pairs share a question"),
    "inspect.py": ({"rejudge"}, "has answers judged as this game does"),
    "reading/tournaments.py": ({"last_arena"}, "reads its matches for this command"),
    "views/tournament.py": ({"last_arena"}, "the tables of `peerage tournament`"),
}
# What no game owns: of an outcome's detail or what was drawn, the keys that all games share, and who reads
# them for all others. "" stands for the whole, shown or handed on as it is.
SHARED = {
    "engine/match/plans.py": ({""}, "pictures that are drawn, whatever the game"),
    "engine/record/shelf.py": ({""}, "pictures in what is drawn, whatever the game"),
    "game/blocks.py": ({""}, "the default shows whatever is there"),
    "game/work.py": ({""}, "an agent's step has a detail"),
    "views/match/ways.py": ({""}, "an agent's step has a detail"),
    "challenges/drafting.py": ({"drafts"}, "written and read by drafting, for every game that drafts"),
    "players/agents/acp.py": ({""}, "an agent's step has a detail"),
    "engine/match/driver.py": ({""}, "adds `unranked`"),
    "engine/record/memory.py": ({""}, "hands what was drawn to a game's memory, whole"),
    "inspect.py": ({"share"}, "a panel's share, of the one game that it plays"),
    "scheduling/fixtures.py": ({""}, "takes what a game's memory draws, whole"),
    "engine/run/folding.py": (
        {"by", "ballots"},
        "the engine's own mark on what it voided; a panel's ballots",
    ),
    "engine/again/recovery.py": ({"by"}, "the engine's own mark on what it voided"),
    "engine/again/replayed.py": ({"by"}, "the engine's own mark on what it voided"),
    "judging/marks/ballots.py": (
        {"ballots", "control_ballots"},
        "written and read by panels, for every game with a panel",
    ),
    "ledger/forms/codec.py": (
        {""},
        "what fixtures of any game may have among what was drawn: topic and authors",
    ),
    "ledger/out/disclosure.py": ({""}, "opens what belongs to a retired challenge, in any game with a pool"),
    "game/same_tasks.py": ({""}, "what every game of same tasks draws"),
    "game/spec.py": ({""}, "hands on what was drawn, whole"),
    "game/match.py": (
        {"", "secret", "authors"},
        "the fixture's own names for them",
    ),
    "site/server/server.py": ({""}, "the detail of an error of HTTP"),
    "reading/verdicts/credits.py": (
        {""},
        "credits of answers by task, and what is known of judges, in any game whose tasks have checks",
    ),
    "reading/observations.py": (
        {"task", "checks"},
        "credits of answers, where tasks have checks",
    ),
    "reading/verdicts/withdrawn.py": (
        {""},
        "leaves out attempts at withdrawn challenges, in any game with a pool",
    ),
    "views/decision/examples.py": ({"messages"}, "what was asked where an answer was given before"),
    "views/match/match.py": ({""}, "handed on as JSON, whole"),
    "views/match/why.py": (
        {"", "expected"},
        "votes of panels and credits of checks, in any game that has them",
    ),
    "reading/verdicts/scores.py": (
        {"answers"},
        "what no judge was asked about, in any game whose judges give scores",
    ),
    "reading/tournaments.py": ({""}, "hands a tournament's outcome to its game's folder, whole"),
    "views/tournament.py": ({""}, "hands a tournament's outcome to its game's folder, whole"),
    "interchange/battles.py": ({""}, "hands what was drawn to its game, whole"),
    "reading/verdicts/votes.py": ({""}, "the ballots of panels, read in part"),
    "testing/conformance.py": ({"unranked"}, "the engine's"),
    "testing/offline.py": ({"", "unranked"}, "holds what is on record to JSON, whole"),
    "testing/secrets.py": ({""}, "puts another draw in a seat's place, whatever it is"),
}


def outside() -> Iterator[tuple[str, Path]]:
    """Every module outside the games, by its path in the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.is_relative_to(GAMES):
            yield path.relative_to(SOURCE).as_posix(), path


def keys_read(tree: ast.AST) -> set[str]:
    """The keys that are read of a `.detail` or a `.drawn`; "" where it is used whole."""
    keyed: dict[int, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute() as of, slice=ast.Constant(value=str(key))):
                keyed[id(of)] = key
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute() as of, attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                keyed[id(of)] = key
            case ast.Compare(
                left=ast.Constant(value=str(key)),
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.Attribute() as of],
            ):
                keyed[id(of)] = key
    return {
        keyed.get(id(node), "")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("detail", "drawn")
        if isinstance(node.ctx, ast.Load)
    }


def test_a_game_is_imported_by_its_own_commands_alone() -> None:
    found = {
        name: games
        for name, path in outside()
        if (
            games := {
                folder.rpartition(".")[2]
                for _, module in imported(path)
                for folder in FOLDERS
                if f"{module}.".startswith(f"{folder}.")
            }
        )
    }
    assert found == {name: games for name, (games, _) in ONE_GAME.items()}


def test_what_a_game_keeps_on_record_is_read_in_its_folder_alone() -> None:
    found = {
        name: keys for name, path in outside() if (keys := keys_read(ast.parse(path.read_text("utf-8"))))
    }
    assert found == {name: keys for name, (keys, _) in SHARED.items()}


def test_every_way_to_read_a_key_is_found() -> None:
    said = "outcome.detail['a']; one.drawn.get('b', 0); 'c' in x.detail; dict(y.drawn); z.detail = 1"
    assert keys_read(ast.parse(said)) == {"a", "b", "c", ""}
    assert keys_read(ast.parse("drawn['a']; detail.get('b')")) == set()
