"""A prompt, format or rule that changed under its version is found, and `make golden` does not hide it."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copy
from typing import Any

import msgspec
import pytest
from tests.golden import transcripts
from tests.golden.transcripts import FORMATS, HERE, MATCHES, OF_LIBRARIES, main, on_file, spec_of, unraised

import peerage.challenges
import peerage.games
import peerage.judging
from peerage.formats import Choice
from peerage.game.match import by_rank
from peerage.game.protocol import template_parts
from peerage.game.texts import texts as of_game
from peerage.games import GAMES

UNRAISED = "Take the change back, or write version="
NO_PROMPTS = ("_NO_RESULT", "MARKETS", "WINS", "WORDS", "KINDS", "_PARTS", "_WORDS", "FAMILY")
"""Texts next to a game's prompts: how finished matches are shown, what house players say, and the parts that
programs and transformations are drawn from, each of which the tests of reading them meet."""


def test_every_match_is_played_as_its_version_always_played_it() -> None:
    assert not unraised(), "\n".join(unraised())


def test_what_is_on_file_is_of_the_versions_there_are() -> None:
    for name in MATCHES:
        found = on_file(name)
        assert found, f"{name} is not on file: run `make golden`"
        assert found["version"] == spec_of(found["game"]).version, f"{name} is of old: run `make golden`"
    assert {game for game, _, _ in MATCHES.values()} - {*OF_LIBRARIES} == {*GAMES, "rejudge"}
    assert {file.stem for file in HERE.glob("*.json")} == {*MATCHES, *OF_LIBRARIES, FORMATS}


def test_the_matches_hold_every_case_that_an_engine_must_tell_apart() -> None:
    steps = [step for name in MATCHES for step in on_file(name)["steps"]]
    assert {step["reply"]["status"] for step in steps} == {"ok", "refused", "void"}
    games = {
        on_file(name)["game"]
        for name in MATCHES
        if any("~repair" in s["key"] for s in on_file(name)["steps"])
    }
    assert games - {*OF_LIBRARIES} == {*GAMES, "rejudge"}, "in each game somebody is asked to repair a reply"


def test_every_text_that_a_prompt_may_hold_is_in_some_match() -> None:
    asked = "\n".join(
        "\n".join(message[1:])
        for name in {*MATCHES, *OF_LIBRARIES}
        for step in on_file(name)["steps"]
        for message in step.get("messages", ())
    )
    settings = repr([on_file(name)["fixture"]["settings"] for name in MATCHES])
    constants = [(module.__name__, vars(module)) for module in modules()]
    constants += [(spec.name, of_game(spec.texts)) for spec in GAMES.values() if spec.texts]
    for where, held in constants:
        for name, value in held.items():
            for text in [] if name.startswith("__") or name in NO_PROMPTS else texts(value):
                parts = [part.strip() for is_place, part in parts_of(text) if not is_place]
                missing = [part for part in parts if part not in asked and repr(part)[1:-1] not in settings]
                assert not missing, f"no golden match shows {missing[0][:80]!r} of {where}.{name}"


def modules() -> Iterator[Any]:
    """Everything that a prompt may come from: not how house players reply, matches are shown, or files are
    written."""
    for package in (peerage.games, peerage.judging, peerage.challenges):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith(
                (".house", ".show", ".addressing", ".report", ".corrections", ".valyrian")
            ):
                yield importlib.import_module(found.name)


def texts(value: object, depth: int = 0) -> Iterator[str]:
    """The sentences in a constant."""
    if isinstance(value, str) and len(value) > 24 and " " in value:
        yield value
    elif isinstance(value, tuple | list | dict) and depth < 5:
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one, depth + 1)
    elif isinstance(value, msgspec.Struct) and depth < 5:
        for name in value.__struct_fields__:
            yield from texts(getattr(value, name), depth + 1)


def parts_of(text: str) -> tuple[tuple[bool, str], ...]:
    try:
        return template_parts(text)
    except ValueError:
        return ((False, text),)


# ------------------------------------------------------------------------------------- what it must find


def put(patch: pytest.MonkeyPatch, old: object, new: object) -> None:
    """Put something in the place of a constant or function, wherever it was imported to."""
    for name, module in list(sys.modules.items()):
        if name.startswith("peerage"):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    patch.setattr(module, attribute, new)


def one_word(patch: pytest.MonkeyPatch) -> None:
    hunt = of_game("peerage.games.bug_hunt")["hunt"]
    other = {"hunt": msgspec.structs.replace(hunt, user=hunt.user.replace("the", "each", 1))}
    patch.setattr("peerage.games.bug_hunt.play.texts", lambda package, replaced: other)


def instruction(patch: pytest.MonkeyPatch) -> None:
    told = Choice.instruction
    patch.setattr(Choice, "instruction", lambda self: told(self).replace("nothing else", "no more"))


def reading(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("peerage.formats.reading.reader._named_lines", lambda text, names, read: iter(()))


def repair(patch: pytest.MonkeyPatch) -> None:
    from peerage.engine.match import driver

    patch.setattr(driver, "_REPAIR_TEMPLATE", driver._REPAIR_TEMPLATE.replace("used", "read"))


def scoring(patch: pytest.MonkeyPatch) -> None:
    put(patch, by_rank, lambda *args: {label: 1 - score for label, score in by_rank(*args).items()})


@pytest.mark.parametrize(
    ("change", "games", "what"),
    [
        (one_word, {"bug-hunt"}, "messages: "),
        (instruction, {"duel", "rejudge"}, "instruction: "),
        (reading, {"duel", "rejudge"}, "unusable: "),
        (repair, {*GAMES, "rejudge"}, "~repair, messages: "),
        (scoring, {"bug-hunt", "code-golf"}, "outcome: "),
    ],
)
def test_a_change_under_the_same_version_is_found_and_not_recorded(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Any,
    games: set[str],
    what: str,
) -> None:
    change(monkeypatch)
    before = {file: file.read_bytes() for file in HERE.glob("*.json")}
    found = unraised()
    assert games <= {line.partition(" ")[0] for line in found}
    assert all(UNRAISED in line for line in found)
    assert any(what in line for line in found)
    assert main() == 1
    assert UNRAISED in capsys.readouterr().err
    assert {file: file.read_bytes() for file in HERE.glob("*.json")} == before


def test_with_a_new_version_the_change_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in HERE.glob("*.json"):
        copy(file, tmp_path)
    monkeypatch.setattr(transcripts, "HERE", tmp_path)
    one_word(monkeypatch)
    version = spec_of("bug-hunt").version
    monkeypatch.setattr(
        transcripts,
        "spec_of",
        lambda game: replace(GAMES[game], version=version + 1) if game == "bug-hunt" else GAMES[game],
    )
    assert main() == 0
    assert not transcripts.unraised()
    for name, (game, _, _) in MATCHES.items():
        same = (tmp_path / f"{name}.json").read_bytes() == (HERE / f"{name}.json").read_bytes()
        assert same == (game != "bug-hunt"), name
