"""Replies for tests that play offline, by format; all else is `peerage.testing.offline`."""

import builtins
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from io import StringIO
from types import ModuleType
from typing import Any

import msgspec

from peerage.engine.match.driver import Driver
from peerage.formats import Json, Questions, Score, Scores
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import REPAIR, Ask, Choice, Code, Color, Encoding, Integer, Reply, Text, WithTool
from peerage.game.spec import GameSpec
from peerage.game.work import CommandResult, ShellCommand
from peerage.games.challenge_exchange.creation import Proposed
from peerage.games.last_arena.rules import LastArenaRules
from peerage.games.rejudge import RecordedAnswers, RecordedText
from peerage.games.workshop.tasks import HIDDEN
from peerage.judging.panels.prompts import COMPARE
from peerage.sandbox.folder import File, patched, read_patch
from peerage.testing.commands import commanded
from peerage.testing.offline import (
    Answering,
    Played,
    call,
    check,
    fixture,
    house,
    performed,
    play,
    scripted,
    unfenced,
)

ITEM = RecordedAnswers(
    source=7,
    record="0" * 64,
    asked=(COMPARE.prompt(()).system, COMPARE.prompt(()).user),
    given={"question": RecordedText("Why is the sky blue?", "question")},
    authors={"A": "Zyxwv-1", "B": "Zyxwv-2"},
    answers={"A": "Because of scattering.", "B": "It is the sea's reflection."},
    hidden={"A": {"quality": 0.9, "family": "a"}, "B": {"quality": 0.2, "family": "b"}},
    first={"A": 1.0, "B": 0.0},
    topic="physics",
)
"""A recorded pair of answers, to be judged again."""

_PROMPTS = LastArenaRules.model_validate({}).prompts
SCORED = RecordedAnswers(
    source=7,
    record="0" * 64,
    id="A-1",
    asked=(
        _PROMPTS["judge"].system,
        _PROMPTS["judge"].user,
        _PROMPTS["judge_many"].system,
        _PROMPTS["judge_many"].user,
    ),
    given={"question": RecordedText("Why is the sky blue?", "question")},
    authors={"A": "Zyxwv-1", "B": "Zyxwv-2", "C": "Zyxwv-3"},
    answers={
        "A-1/A": "Because of scattering.",
        "A-1/B": "It is the sea's reflection.",
        "A-1/C": "Bees know.",
    },
    hidden={
        f"A-1/{label}": {"quality": quality, "family": label}
        for label, quality in zip("ABC", (0.9, 0.5, 0.1), strict=True)
    },
    first={"A-1/A": 7.0, "A-1/B": 5.0, "A-1/C": 3.0},
    own={"judge/3": ("C",)},
)
"""Recorded answers to a question of a tournament, to be scored again."""


def choose(ask: Ask, option: str, reason: str = "because") -> str:
    assert isinstance(ask.expects, Choice)
    return f'{{"reason": "{reason}", "{ask.expects.field}": "{option}"}}'


def points(ask: Ask, given: float, reason: str = "because") -> str:
    """So many points for everything; or as many questions as are wanted, each with words of its own."""
    if isinstance(ask.expects, Questions):
        named = [f"{sha256(f'{ask.key}/{at}'.encode()).hexdigest()}?" for at in range(ask.expects.count)]
        return json.dumps({"questions": named})
    assert isinstance(ask.expects, Score | Scores)
    one = {"reason": reason, "score": given}
    if isinstance(ask.expects, Score):
        return json.dumps(one)
    return json.dumps({"scores": [{"item": at, **one} for at in range(1, ask.expects.count + 1)]})


def in_turns(
    matches: Sequence[tuple[GameSpec[Any], Fixture]],
    models: Mapping[str, str],
    between: Callable[[], object] = lambda: None,
) -> list[Outcome | None]:
    """The outcomes of matches of house players of which one reply of each comes in turn."""
    drivers = [Driver(game, made, game.rules.model_validate(made.settings)) for game, made in matches]
    waiting = [driver.start() for driver in drivers]
    while any(waiting):
        for (game, made), driver, asks in zip(matches, drivers, waiting, strict=True):
            if asks:
                ask = asks.pop(0)
                assert isinstance(ask, Ask)
                players = {seat.label: seat.player for seat in made.seats}
                reply = house(models, made.seed).of(game)(ask, players[ask.to])
                between()
                asks += driver.feed(ask.key, reply)
    return [driver.outcome for driver in drivers]


def agreeable(ask: Ask, player: str) -> str:
    """Everybody writes what names its request, approves, judges the first answer better, gives 7 points, and
    sees black."""
    if isinstance(ask.expects, Text):
        return f"the text of {ask.key} by {ask.to}"
    if isinstance(ask.expects, Encoding):
        return json.dumps(
            {"obfuscated": f"string of {ask.to}", "instructions": [f"{ask.key} {n}" for n in "1234"]}
        )
    if isinstance(ask.expects, Code):
        return f"```python\nprint({ask.key!r})\n```"
    if isinstance(ask.expects, Json) and ask.expects.form is Proposed:
        return ask.expects.write(Proposed(f"challenge {ask.key} of {ask.to}", 7))
    if isinstance(ask.expects, WithTool):
        if ask.key.endswith("/turn/1"):
            return "```python\nprint(7)\n```"
        return agreeable(msgspec.structs.replace(ask, expects=ask.expects.answer), player)
    if isinstance(ask.expects, Json):
        double = {"generator": "print(int(input()) % 9973)", "solution": "print(2 * int(input()))"}
        return json.dumps({"statement": f"{ask.key} of {ask.to}: double it", **double})
    if isinstance(ask.expects, Integer):
        return '{"answer": 7}'
    if isinstance(ask.expects, Color):
        return '{"color": "000000"}'
    if isinstance(ask.expects, Questions | Score | Scores):
        return points(ask, 7)
    return choose(ask, ask.expects.options[0])


__all__ = [
    "REPAIR",
    "Answering",
    "Played",
    "agreeable",
    "call",
    "check",
    "choose",
    "fixture",
    "house",
    "performed",
    "play",
    "points",
    "scripted",
    "unfenced",
]


_compiled = cache(compile)


def tried_here(command: ShellCommand) -> Reply:
    """Return the end of a command, without a process where it tries a drawn task of a workshop.

    It ends as in processes of its own, but what a program printed before it raised is not said.
    """
    if command.overlay is None or f"{HIDDEN}inputs.json" not in command.overlay.files:
        return commanded(command)
    files = patched(command.folder.files, read_patch(command.patch or "{}"))
    inputs = json.loads(command.overlay.files[f"{HIDDEN}inputs.json"].text)
    said = "".join([f"{json.dumps(_printed(files, given))}\n" for given in inputs])
    result = msgspec.json.encode(CommandResult("ok", 0, said)).decode()
    return Reply("ok", result, input_tokens=0, output_tokens=0, cost_nano=0)


def _printed(files: Mapping[str, File], given: str) -> tuple[int, str]:
    """Return 0 and what `main.py` of these files prints for an input, or 1 where it raises."""
    lines, out, modules = iter(given.split("\n")), StringIO(), dict[str, ModuleType]()

    def load(name: str, *rest: Any) -> ModuleType:
        if (path := name.replace(".", "/") + ".py") not in files:
            return __import__(name, *rest)
        if name not in modules:
            modules[name] = made = ModuleType(name)
            made.__dict__["__builtins__"] = own
            exec(_compiled(files[path].text, path, "exec", dont_inherit=True), made.__dict__)
        return modules[name]

    own = vars(builtins) | {"__import__": load, "input": lines.__next__, "print": partial(print, file=out)}
    try:
        load("main")
    except Exception:
        return 1, ""
    return 0, out.getvalue()
