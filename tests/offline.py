"""Play a match offline: the real driver, replies from a function. And what must hold after any play."""

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

import msgspec

from peerage.engine.driver import REPAIR, ROOM, Driver
from peerage.formats import Json, Questions, Score, Scores, recorded, stored
from peerage.games.challenge_exchange.creation import Proposed
from peerage.games.game import CallBound, GameSpec
from peerage.games.house import House, usual
from peerage.ledger.codec import by_hex, read_request, request_body
from peerage.match import Fixture, Outcome, Seat
from peerage.players.client import Call, PlayerError
from peerage.players.house import HouseClient
from peerage.protocol import (
    MORE_ROOM,
    Ask,
    Choice,
    Code,
    Color,
    Encoding,
    Integer,
    Quote,
    Ran,
    Reply,
    Run,
    Text,
    WithTool,
    fence,
    render,
)
from peerage.settings import PlayerSettings

Answering = Callable[[Ask, str], Reply]
"""The raw reply to a request, given the player's name."""


class Step(NamedTuple):
    ask: Ask
    player: str
    reply: Reply


class Played(NamedTuple):
    """`steps` are the questions to players, `runs` the programs."""

    fixture: Fixture
    outcome: Outcome
    steps: list[Step]
    runs: list[tuple[Run, Reply]]

    def step(self, key: str) -> Step:
        return next(step for step in self.steps if step.ask.key == key)

    @property
    def keys(self) -> list[str]:
        return [step.ask.key for step in self.steps]


def fixture(
    spec: GameSpec[Any],
    players: Sequence[str],
    rules: Mapping[str, Any] = {},
    *,
    number: int = 1,
    seed: str = "seed",
    raw: Mapping[str, float] = {},
) -> Fixture:
    """The first players of the list sit as contestants, the others serve in the order of the list."""
    parsed = spec.rules.model_validate(dict(rules))
    count = spec.seats(parsed)

    def seated(role: str, names: Iterable[str]) -> tuple[Seat, ...]:
        return tuple(Seat(f"{role}/{at}", name, raw.get(name, 1500.0)) for at, name in enumerate(names, 1))

    others = list(players[count:])
    officials: dict[str, tuple[Seat, ...]] = {}
    for bench in spec.officials(parsed):
        names = list(players[:count]) if bench.order == "contestants" else others
        if bench.role == "committee" and "author" in officials:
            authors = {seat.player for seat in officials["author"]}
            names = [name for name in names if name not in authors]
        officials[bench.role] = seated(bench.role, names[: bench.wanted])
        assert len(officials[bench.role]) >= bench.minimum, "the test gives too few players"
    return Fixture(
        number=number,
        round=1,
        game=spec.name,
        version=spec.version,
        seed=seed,
        seats=tuple(
            Seat(label, name, raw.get(name, 1500.0))
            for label, name in zip("ABCDEFGH", players[:count], strict=False)
        ),
        officials=officials,
        settings=parsed.model_dump(mode="json"),
        drawn=spec.draw(parsed, "arena", number),
    )


def play(spec: GameSpec[Any], made: Fixture, answering: Answering, order: Random | None = None) -> Played:
    """Play to the end; `order` shuffles the order in which open requests are answered."""
    if isinstance(answering, HousePlayers):
        answering = answering.of(spec)
    rules = spec.rules.model_validate(made.settings)
    driver = Driver(spec, made, rules)
    who = {seat.label: seat.player for seat in made.all_seats()}
    waiting = driver.start()
    steps: list[Step] = []
    runs: list[tuple[Run, Reply]] = []
    while waiting:
        ask = waiting.pop(order.randrange(len(waiting)) if order else 0)
        if isinstance(ask, Run):
            runs.append((ask, performed(ask.source, ask.stdin)))
            waiting += driver.feed(ask.key, runs[-1][1])
            continue
        reply = answering(ask, who[ask.to])
        steps.append(Step(ask, who[ask.to], reply))
        assert len(steps) < 10_000, "the game does not end"
        waiting += driver.feed(ask.key, reply)
    assert driver.outcome is not None
    return Played(made, driver.outcome, steps, runs)


@cache
def performed(source: str, stdin: str) -> Reply:
    """What a program of our own prints. Not a sandbox: no program that a model wrote may come here."""
    out = io.StringIO()
    status = "ok"
    with redirect_stdout(out), _reading(stdin):
        try:
            exec(compile(source, "program.py", "exec", dont_inherit=True), {"__name__": "__main__"})
        except (Exception, SystemExit):
            status = "error"
    text = msgspec.json.encode(Ran(status, out.getvalue(), "", 1)).decode()  # type: ignore[arg-type]
    return Reply("ok", text, cost_nano=0)


@contextmanager
def _reading(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def house(models: Mapping[str, str | PlayerSettings], seed: str = "seed") -> "HousePlayers":
    """House players by name: `house:SKILL` or whole settings."""
    clients = {
        name: HouseClient(PlayerSettings(model=model, name=name) if isinstance(model, str) else model)
        for name, model in models.items()
    }
    return HousePlayers(clients, seed)


class HousePlayers(NamedTuple):
    """Replies of house players; `play` tells them which game it is."""

    clients: Mapping[str, HouseClient]
    seed: str
    house: House = usual

    def of(self, spec: GameSpec[Any]) -> "HousePlayers":
        return self._replace(house=spec.house)

    def __call__(self, ask: Ask, player: str) -> Reply:
        asked = msgspec.structs.replace(call(ask, self.seed), house=self.house)
        try:
            answer = self.clients[player].answer_now(asked)
        except PlayerError as error:
            return Reply("void", reason=str(error))
        return Reply(
            "refused" if answer.refused else "ok",
            answer.text,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            latency_ms=round(answer.latency_s * 1000),
            cost_nano=(answer.output_tokens or 0) * 400,
            hidden=answer.hidden,
        )


def call(ask: Ask, seed: str = "seed") -> Call:
    mark = fence(seed, ask.key)
    messages = tuple((message.speaker, render(message, mark)) for message in ask.messages)
    return Call(ask.key, ask.role, messages, ask.expects, ask.max_tokens, ask.temperature, seed, ask.oracle)


def check(spec: GameSpec[Any], played: Played, secrets: Iterable[str] = ()) -> None:
    """What holds after every play of every game, whatever was replied."""
    made, outcome = played.fixture, played.outcome
    labels = [seat.label for seat in made.seats]
    unranked = outcome.detail.get("unranked", [])
    assert outcome.void or sorted([*outcome.scores, *unranked]) == sorted(labels)
    assert {step.ask.to for step in played.steps if step.reply.status == "void"} >= set(unranked)
    assert all(0 <= score <= 1 for score in outcome.scores.values())
    assert set(outcome.costs) <= set(labels)
    assert msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome) == outcome
    assert len(set(played.keys)) == len(played.keys)
    _check_bounds(spec, played)
    _check_quotes(played)
    for step in played.steps:
        for _, text in call(step.ask, made.seed).messages:
            for secret in secrets:
                assert secret not in text, f"{secret!r} leaks into {step.ask.key}"


def _check_bounds(spec: GameSpec[Any], played: Played) -> None:
    rules = spec.rules.model_validate(played.fixture.settings)
    bounds: dict[str, list[CallBound]] = {}
    for bound in spec.bounds(rules, played.fixture):
        bounds.setdefault(bound.seat, []).append(bound)
    calls = Counter(step.ask.to for step in played.steps)
    for label, count in calls.items():
        assert count <= sum(bound.worst for bound in bounds[label]), f"{label} was asked {count} times"
    input_bytes: Counter[str] = Counter()
    max_tokens: Counter[str] = Counter()
    for step in played.steps:
        size = sum(len(text.encode()) for _, text in call(step.ask, played.fixture.seed).messages)
        input_bytes[step.ask.to] += size
        max_tokens[step.ask.to] += step.ask.max_tokens
        assert any(
            size <= bound.input_bytes
            and step.ask.max_tokens <= bound.max_tokens * (MORE_ROOM if step.ask.key.endswith(ROOM) else 1)
            for bound in bounds[step.ask.to]
        ), f"{step.ask.key}: {size} bytes"
    for label, mine in bounds.items():
        assert input_bytes[label] <= sum(bound.worst * bound.input_bytes for bound in mine)
        assert max_tokens[label] <= sum(
            (bound.worst // 2 + (bound.worst + 1) // 2 * MORE_ROOM) * bound.max_tokens for bound in mine
        )


def _check_quotes(played: Played) -> None:
    """Quotes refer to replies already given, and a stored request reads back as it was asked."""
    said = {run.key: reply.text for run, reply in played.runs}
    for run, _ in played.runs:
        body, texts = request_body(run)
        assert read_request(run.key, body, by_hex(dict(texts)), said.__getitem__) == run
    for step in played.steps:
        for message in step.ask.messages:
            for value in message.fill.values():
                if isinstance(value, Quote) and value.key:
                    assert said[value.key].startswith(value.text)
        body, texts = request_body(step.ask)
        read = read_request(step.ask.key, body, by_hex(dict(texts)), said.__getitem__)
        kept = recorded(stored(step.ask.expects))
        assert msgspec.structs.replace(step.ask, expects=kept, oracle=None, exact=False) == read
        said[step.ask.key] = step.reply.text


def unfenced(ask: Ask, seed: str) -> str:
    """What a model reads outside the fences of this request, its own words given back to it left out."""
    mark = fence(seed, ask.key)
    text = "\n".join(said for speaker, said in call(ask, seed).messages if speaker != "assistant")
    return re.sub(rf"<<<([^\n]*?) {mark}>>>\n.*?\n<<<end \1 {mark}>>>", "", text, flags=re.DOTALL)


def scripted(script: Callable[[Ask, str], str | Reply]) -> Answering:
    """Replies from a script that may give plain text."""

    def answering(ask: Ask, player: str) -> Reply:
        reply = script(ask, player)
        return Reply("ok", reply, cost_nano=1_000_000, latency_ms=500) if isinstance(reply, str) else reply

    return answering


def choose(ask: Ask, option: str, reason: str = "because") -> str:
    assert isinstance(ask.expects, Choice)
    return f'{{"reason": "{reason}", "{ask.expects.field}": "{option}"}}'


def points(ask: Ask, given: float, reason: str = "because") -> str:
    """So many points for everything; or as many questions as are wanted, each with words of its own."""
    if isinstance(ask.expects, Questions):
        named = [f"{sha256(f'{ask.key}/{at}'.encode()).hexdigest()}?" for at in range(ask.expects.count)]
        return json.dumps({"questions": named})
    assert isinstance(ask.expects, Score | Scores)
    one = {"reason": reason, **dict.fromkeys(ask.expects.criteria, given)}
    if isinstance(ask.expects, Score):
        return json.dumps(one)
    return json.dumps({"scores": [{"item": at, **one} for at in range(1, ask.expects.count + 1)]})


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
    "Played",
    "agreeable",
    "call",
    "check",
    "choose",
    "fixture",
    "house",
    "play",
    "points",
    "scripted",
    "unfenced",
]
