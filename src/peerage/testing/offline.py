"""Play a match offline: the real driver, replies from a function. And what must hold after any play."""

from __future__ import annotations

import inspect
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, NamedTuple, TypeAlias

import msgspec

from peerage.engine.match.driver import Driver
from peerage.formats import FormatError, object_in, recorded, stored
from peerage.game.bounds import CallBound
from peerage.game.house import House, usual
from peerage.game.match import Fixture, Outcome, Seat
from peerage.game.media import with_marks
from peerage.game.protocol import MORE_ROOM, ROOM, Ask, Job, Quote, Ran, Reply, Run, fence, first_key
from peerage.game.spec import GameSpec
from peerage.ledger.forms.codec import by_hex
from peerage.ledger.forms.codec_requests import read_request, request_body
from peerage.players.client import Call, PlayerError
from peerage.players.house import HouseClient
from peerage.sandbox.folder import WorkFolder
from peerage.settings import PlayerSettings
from peerage.settings.players.sessions import SESSION_TOKENS
from peerage.testing.commands import commanded

Answering: TypeAlias = Callable[[Ask, str], Reply]
"""The raw reply to a request, given the player's name."""


class Unfair(AssertionError):
    """A game does what none may; the message says what, and where."""


def require(holds: object, what: str) -> None:
    """Raise Unfair when it does not hold."""
    if not holds:
        raise Unfair(what)


class OfflineStep(NamedTuple):
    ask: Ask
    player: str
    reply: Reply


class Played(NamedTuple):
    """`steps` are the questions to players, `runs` the programs and commands."""

    fixture: Fixture
    outcome: Outcome
    steps: list[OfflineStep]
    runs: list[tuple[Job, Reply]]

    def step(self, key: str) -> OfflineStep:
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
    drawn: Mapping[str, Any] | None = None,
) -> Fixture:
    """The first players of the list sit as contestants, the others serve in the order of the list. What an
    arena that remembers has `drawn` takes the place of what the game draws by itself."""
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
        require(len(officials[bench.role]) >= bench.minimum, f"too few players for the role {bench.role}")
    drawn = with_marks(spec.draw(parsed, "arena", number))[0] if drawn is None else drawn
    require_json(drawn, "what `draw` returns", (), spec.draw, tuples=True)
    return Fixture(
        number=number,
        round=1,
        game=spec.name,
        version=spec.version,
        seed=seed,
        seats=tuple(
            Seat(label, name, raw.get(name, 1500.0))
            for label, name in zip("ABCDEFGHIJ", players[:count], strict=False)
        ),
        officials=officials,
        settings=parsed.model_dump(mode="json"),
        drawn=drawn,
        sessions=dict.fromkeys("ABCDEFGHIJ"[:count], SESSION_TOKENS) if spec.converses(parsed) else {},
    )


def play(
    spec: GameSpec[Any], made: Fixture, answering: Answering | HousePlayers, order: Random | None = None
) -> Played:
    """Play to the end; `order` shuffles the order in which open requests are answered."""
    reply_to = answering.of(spec) if isinstance(answering, HousePlayers) else answering
    rules = spec.rules.model_validate(made.settings)
    driver = Driver(spec, made, rules)
    who = {seat.label: seat.player for seat in made.all_seats()}
    waiting = driver.start()
    steps: list[OfflineStep] = []
    runs: list[tuple[Job, Reply]] = []
    while waiting:
        ask = waiting.pop(order.randrange(len(waiting)) if order else 0)
        if not isinstance(ask, Ask):
            runs.append((ask, ended(ask)))
            waiting += driver.feed(ask.key, runs[-1][1])
            continue
        reply = reply_to(ask, who[ask.to])
        steps.append(OfflineStep(ask, who[ask.to], reply))
        require(len(steps) < 10_000, "the game does not end: it asked 10,000 requests")
        waiting += driver.feed(ask.key, reply)
    outcome = driver.outcome
    require(outcome is not None, "the game waits for nothing and has not ended")
    assert outcome is not None
    return Played(made, outcome, steps, runs)


def ended(job: Job) -> Reply:
    """Return the end of a program or a command of our own, in no sandbox."""
    return performed(job.source, job.stdin) if isinstance(job, Run) else commanded(job)


@cache
def performed(source: str, stdin: str) -> Reply:
    """Return what a program of our own prints. Not a sandbox: no program that a model wrote may come here."""
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


def house(models: Mapping[str, str | PlayerSettings], seed: str = "seed") -> HousePlayers:
    """House players by name: `house:SKILL` or whole settings."""
    clients = {
        name: HouseClient(PlayerSettings(model=model, name=name) if isinstance(model, str) else model)
        for name, model in models.items()
    }
    return HousePlayers(clients, seed)


@dataclass(frozen=True)
class HousePlayers:
    """Replies of house players; `play` names the game to them."""

    clients: Mapping[str, HouseClient]
    seed: str
    house: House = usual

    def of(self, spec: GameSpec[Any]) -> HousePlayers:
        return replace(self, house=spec.house)

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
    return Call(
        key=ask.key,
        role=ask.role,
        messages=ask.shown(seed),
        expects=ask.expects,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
        seed=seed,
        oracle=ask.oracle,
        seat=ask.to,
        folder=ask.folder,
    )


def check(spec: GameSpec[Any], played: Played, secrets: Iterable[str] = ()) -> None:
    """Check what holds after every play of every game, whatever was replied."""
    made, outcome = played.fixture, played.outcome
    labels = [seat.label for seat in made.seats]
    unranked = outcome.detail.get("unranked", [])
    require(
        outcome.void or sorted([*outcome.scores, *unranked]) == sorted(labels),
        f"the outcome scores {sorted(outcome.scores)} of the contestants {sorted(labels)}, without a void",
    )
    lost = {step.ask.to for step in played.steps if step.reply.status == "void"}
    require(lost >= set(unranked), "a contestant is left unranked whose provider did not fail")
    require(
        all(0 <= score <= 1 for score in outcome.scores.values()),
        f"scores lie between 0 and 1, and here they are {dict(outcome.scores)}",
    )
    require(set(outcome.costs) <= set(labels), "costs are of contestants alone")
    parts = {
        "detail": outcome.detail,
        "facts": [*outcome.facts],
        "scores": outcome.scores,
        "costs": outcome.costs,
    }
    for name, part in parts.items():
        require_json(part, f"Outcome.{name}", (name,), spec.play)
    _check_bounds(spec, played)
    _check_quotes(played)
    for step in played.steps:
        for _, text in call(step.ask, made.seed).messages:
            for secret in secrets:
                require(secret not in text, f"{secret!r} is told to {step.ask.to} ({step.ask.key})")


def require_json(
    value: Any,
    place: str,
    names: tuple[str, ...],
    made_by: Callable[..., Any],
    *,
    tuples: bool = False,
) -> None:
    """Raise Unfair for what no record can hold as it is, with its place and the line that writes it.

    `names` are those on the way to it, `made_by` is the function that made it; `tuples` may be lists.
    """
    plain = (
        value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))
    )
    if isinstance(value, list) or (tuples and isinstance(value, tuple)):
        for at, part in enumerate(value):
            require_json(part, f"{place}[{at}]", names, made_by, tuples=tuples)
    elif isinstance(value, dict) and all(isinstance(name, str) for name in value):
        for name, part in value.items():
            require_json(part, f"{place}[{name!r}]", (*names, name), made_by, tuples=tuples)
    elif not plain:
        written = [rf"""["']{re.escape(name)}["']|\b{re.escape(name)}\s*=(?!=)""" for name in reversed(names)]
        where = line_of(made_by, written)
        raise Unfair(
            f"{place} is {value!r:.60}, a {type(value).__name__}{where}: what is on record is JSON: texts, "
            "finite numbers, True, False, None, lists, and dicts whose keys are texts"
        )


def line_of(made_by: Callable[..., Any], patterns: Iterable[str]) -> str:
    """Return where the file of a function last writes the first of these patterns that it does, in words."""
    with suppress(OSError, TypeError):
        file, (lines, _) = inspect.getfile(made_by), inspect.findsource(made_by)
        for pattern in patterns:
            if places := [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]:
                return f" ({file}, line {places[-1]})"
    return ""


def _check_bounds(spec: GameSpec[Any], played: Played) -> None:
    rules = spec.rules.model_validate(played.fixture.settings)
    bounds: dict[str, list[CallBound]] = {}
    for bound in spec.bounds(rules, played.fixture):
        bounds.setdefault(bound.seat, []).append(bound)
    calls = Counter(step.ask.to for step in played.steps)
    for label, count in calls.items():
        most = sum(bound.worst for bound in bounds.get(label, ()))
        require(count <= most, f"{label} was asked {count} times, and `asks` declares {most} with repairs")
    input_bytes: Counter[str] = Counter()
    max_tokens: Counter[str] = Counter()
    for step in played.steps:
        size = sum(len(text.encode()) for _, text in call(step.ask, played.fixture.seed).messages)
        input_bytes[step.ask.to] += size
        max_tokens[step.ask.to] += step.ask.max_tokens
        room = MORE_ROOM if step.ask.key.endswith(ROOM) else 1
        require(
            any(
                size <= bound.input_bytes and step.ask.max_tokens <= bound.max_tokens * room
                for bound in bounds[step.ask.to]
            ),
            f"the request {step.ask.key} has {size} bytes and {step.ask.max_tokens} tokens for its reply, "
            "more than `asks` declares (`quoted` counts the characters of players' texts)",
        )
    for label, own in bounds.items():
        calls_at_most = [(bound.worst // 2 + (bound.worst + 1) // 2 * MORE_ROOM, bound) for bound in own]
        most_tokens = sum(count * bound.max_tokens for count, bound in calls_at_most)
        fits = input_bytes[label] <= sum(bound.worst * bound.input_bytes for bound in own)
        fits = fits and max_tokens[label] <= most_tokens
        require(fits, f"{label} is asked more in all than `asks` declares")


def _check_quotes(played: Played) -> None:
    """Quotes refer to replies already given, and a stored request reads back as it was asked."""
    texts_of_runs = {run.key: reply.text for run, reply in played.runs}
    for run, _ in played.runs:
        body, texts = request_body(run)
        back = read_request(run.key, body, by_hex(dict(texts)), texts_of_runs.__getitem__)
        require(back == run, f"the request {run.key} does not read back from the ledger as it was run")
    for step in played.steps:
        for message in step.ask.messages:
            for value in message.fill.values():
                if isinstance(value, Quote) and value.key:
                    begins = texts_of_runs.get(value.key, "").startswith(value.text)
                    require(begins, f"a quote in {step.ask.key} is not how the reply {value.key} begins")
        body, texts = request_body(step.ask)
        read = read_request(step.ask.key, body, by_hex(dict(texts)), texts_of_runs.__getitem__)
        kept = recorded(stored(step.ask.expects))
        past = tuple([msgspec.structs.replace(turn, shown=()) for turn in step.ask.past])
        folder = step.ask.folder and WorkFolder(step.ask.folder.digest)
        asked = msgspec.structs.replace(
            step.ask, expects=kept, oracle=None, exact=False, verbatim=False, past=past, folder=folder
        )
        same = asked == read
        require(same, f"the request {step.ask.key} does not read back from the ledger as it was asked")
        texts_of_runs[step.ask.key] = step.reply.text


def unfenced(ask: Ask, seed: str) -> str:
    """Return what a model reads outside the fences of this request, its own words given back to it left
    out."""
    keys = (ask.key, *[first_key(turn.key) for turn in ask.past])
    mark = "|".join([fence(seed, key) for key in keys])
    text = "\n".join(text for speaker, text in call(ask, seed).messages if speaker != "assistant")
    return re.sub(rf"<<<([^\n]*?) ({mark})>>>\n.*?\n<<<end \1 \2>>>", "", text, flags=re.DOTALL)


def scripted(script: Callable[[Ask, str], str | Reply]) -> Answering:
    """Replies from a script that may give plain text."""

    def answering(ask: Ask, player: str) -> Reply:
        reply = script(ask, player)
        return Reply("ok", reply, cost_nano=1_000_000, latency_ms=500) if isinstance(reply, str) else reply

    return answering


def marked(ask: Ask, text: str, mark: str, only: int) -> str:
    """A reply as `text` with `mark` in its free texts: in all (`only` 0), or in one of them; as it is where
    the format leaves none."""
    schema = ask.expects.schema()
    fields = None if schema is None else object_in(text, schema["properties"])
    if schema is None or fields is None:
        for made in (f"{text}\n# {mark}", text.replace("\n", f"  # {mark.split()[0]}\n", 1), mark):
            if schema is None and read(ask, made) is not None and mark[:8] in str(read(ask, made)):
                return made
        return text
    places = list(_free(schema, ()))
    chosen = places if only % (len(places) + 1) == 0 else [places[only % (len(places) + 1) - 1]]
    for path, most in chosen:
        _put(fields, path, mark if most is None else mark[:most])
    written = json.dumps(fields, ensure_ascii=False)
    return written if read(ask, written) is not None else text


def read(ask: Ask, text: str) -> Any:
    """Return the value of a reply; None where it is none."""
    try:
        return ask.expects.parse(text)
    except FormatError:
        return None


def _free(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """The places of texts that a player is free to choose, and their greatest lengths."""
    if schema.get("type") == "object":
        for name, part in schema.get("properties", {}).items():
            yield from _free(part, (*path, name))
    elif schema.get("type") == "array":
        yield from _free(schema.get("items", {}), (*path, "*"))
    elif schema.get("type") == "string" and not {"enum", "pattern", "const"} & schema.keys():
        yield path, schema.get("maxLength")


def _put(value: Any, path: tuple[str, ...], text: str) -> None:
    name, *rest = path
    keys: Any = range(len(value)) if isinstance(value, list) else [name] if name in value else []
    for key in keys:
        if rest:
            _put(value[key], tuple(rest), text)
        else:
            value[key] = text
