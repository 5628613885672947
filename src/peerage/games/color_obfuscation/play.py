"""Color Obfuscation: one side hides a color, its ally must find it again, the other side must not.

    A > {"obfuscated": "7-8-A-0-9-0", "instructions": ["Take the digits.", "Subtract 1.", …]}   (1/obfuscate)
    A > {"color": "68B288"}          its ally, from the string and all instructions             (1/recover)
    B > {"color": "78A090"}          the attacker, from the string alone: wrong                 (1/attack/1)
    B > {"color": "68B288"}          with a fifth of the instructions: right                    (1/attack/2)

Two rounds with roles swapped, side by side; who recovers more colors as attacker wins, among equals who
needed fewer attempts. After the Color Obfuscation Benchmark of 10decikelvin;
the README in this folder states every rule and what differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from random import Random
from typing import Any, cast

import msgspec
from msgspec import convert

from peerage.game import (
    Ask,
    Block,
    Cell,
    Encoded,
    Fixture,
    GameRating,
    GameSpec,
    GameTable,
    Heading,
    Outcome,
    Quote,
    Quoted,
    Replies,
    Reply,
    Seat,
    Seating,
    Secrecy,
    Sentence,
    State,
    Steps,
    Swatch,
    credit_mark,
    presets,
    quoted,
    result_grid,
    texts,
)
from peerage.game.spec import Original
from peerage.game.texts import toml
from peerage.games.color_obfuscation.data_json import write_battles
from peerage.games.color_obfuscation.house import house
from peerage.games.color_obfuscation.rules import (
    NAME,
    VERSION,
    ColorObfuscationRules,
    asks,
    failure,
    fills,
    forgets,
    officials,
)
from peerage.games.color_obfuscation.score import READINGS, Guess, Round, decided, reading_of, scores


def play(table: GameTable) -> Steps[Outcome]:
    """One battle between the two seats of `table`."""
    rules: ColorObfuscationRules = table.rules
    first, second = (seat.label for seat in table.seats)
    colors, own = table.drawn["colors"], texts(__package__, rules.texts)
    rounds = [(first, second, colors[0]), (second, first, colors[-1])]
    readers = table.officials.get("committee", ())
    decisive, common = failure(rules.ally, rules.ally_failure, readers), fills(rules, readers)
    hidden: list[Reply] = yield [
        own["obfuscate"].ask(
            obfuscator,
            f"{number}/obfuscate",
            rules.encoding(),
            {**common, "color": color, "broken": own["broken"][decisive]},
            rules.limits.max_tokens,
            oracle={"color": color},
        )
        for number, (obfuscator, _, color) in enumerate(rounds, 1)
    ]
    answers = list(hidden)
    both = [
        Round(*begun, reply.status, broken=reply.status not in ("ok", "void"))
        for begun, reply in zip(rounds, hidden, strict=True)
    ]
    if not _lost(answers):
        both = yield from _attempts(
            [
                _attacks(rules, done, reply, str(number), answers, readers)
                for number, (done, reply) in enumerate(zip(both, hidden, strict=True), 1)
            ],
            answers,
        )
    detail: dict[str, Any] = {"rounds": msgspec.json.decode(msgspec.json.encode(both))}
    if _lost(answers):
        return Outcome(void="no_answer", detail=detail)
    detail["readings"] = {reading: scores(both, reading, rules.order) for reading in READINGS}
    if decisive == "void" and any(half.broken for half in both):
        return Outcome(void="broken_encoding", detail=detail)
    reading = reading_of(decisive)
    detail["decided"] = decided(both, reading, rules.order)
    return Outcome(scores=detail["readings"][reading], detail=detail)


def _lost(answers: list[Reply]) -> bool:
    """Return whether a provider failed: there is nothing left to play for then."""
    return any(reply.status == "void" for reply in answers)


def _attempts(rounds: list[Steps[Round]], answers: list[Reply]) -> Steps[list[Round]]:
    """Play the rest of the rounds side by side, attempt by attempt, so that none goes on when a reply of
    another has shown the match to be lost; the replies are added to `answers`."""
    ended: dict[int, Round] = {}
    sent: dict[int, list[Reply] | None] = dict.fromkeys(range(len(rounds)))
    while len(ended) < len(rounds):
        asks: dict[int, list[Ask]] = {}
        for place, replies in sent.items():
            try:
                asks[place] = cast(list[Ask], rounds[place].send(replies))
            except StopIteration as stop:
                ended[place] = stop.value
        if asks:
            came: list[Reply] = yield [ask for own in asks.values() for ask in own]
            answers += came
            rest = iter(came)
            sent = {place: [next(rest) for _ in own] for place, own in asks.items()}
    return [ended[place] for place in range(len(rounds))]


def _attacks(
    rules: ColorObfuscationRules,
    done: Round,
    hidden: Reply,
    number: str,
    answers: list[Reply],
    readers: Sequence[Seat],
) -> Steps[Round]:
    """The rest of round `number`, which ends when `answers` show that a provider failed."""
    obfuscator, attacker, color = done.obfuscator, done.attacker, done.color
    most, own = rules.limits.max_tokens, texts(__package__, rules.texts)
    if not hidden.ok:
        return done
    made: Encoded = hidden.value
    done = msgspec.structs.replace(done, count=len(made.instructions))
    oracle = {"color": color, "encoding": hidden.hidden}
    seen = fills(rules, readers) | {"string": Quote("obfuscated string", made.text)}
    guesses: list[Guess] = []
    ally: Guess | None = None
    for attempt in range(1, len(rules.shares) + 1):
        shown = _shown(rules, made, attempt)
        about = {
            "instructions": _instructions(made, shown),
            "attempt": str(attempt),
            "attempts": str(len(rules.shares)),
            "shown": str(shown),
            "count": str(done.count),
            "wrong": _wrong(guesses),
        }
        know = oracle | {"share": shown / done.count}
        key = f"{number}/attack/{attempt}"
        requests = [own["attack"].ask(attacker, key, rules.answer(), seen | about, most, oracle=know)]
        if attempt == 1:
            everything = seen | {"instructions": _instructions(made, done.count)}
            key = f"{number}/recover"
            recover = own["recover"].ask(obfuscator, key, rules.answer(), everything, most, oracle=oracle)
            for seat in readers:
                recover = msgspec.structs.replace(recover, to=seat.label, role="committee")
            requests.append(recover)
        replies: list[Reply] = yield requests
        guesses.append(_guess(replies[0], shown, color))
        if attempt == 1:
            ally = _guess(replies[1], done.count, color)
        if guesses[-1].right or _lost(answers):
            break
    done = msgspec.structs.replace(
        done,
        ally=ally,
        attempts=tuple(guesses),
        recovered=len(guesses) if guesses and guesses[-1].right else 0,
        broken=ally is not None and not ally.right and ally.status != "void",
    )
    return done


def _shown(rules: ColorObfuscationRules, made: Encoded, attempt: int) -> int:
    """Instructions shown at an attempt: its share, rounded up, so that one long instruction hides nothing."""
    # a share such as 0.2 of 5 must not become 2 by a rounding error
    return ceil(round(rules.shares[attempt - 1] * len(made.instructions), 9))


def _instructions(made: Encoded, shown: int) -> str | Quote:
    if not shown:
        return "You see none of the instructions yet."
    listed = [f"{place}. {text}" for place, text in enumerate(made.instructions[:shown], 1)]
    return Quote("instructions", "\n".join(listed))


def _wrong(guesses: list[Guess]) -> str:
    colors = dict.fromkeys(guess.color for guess in guesses if guess.color)
    return f" It is not {', '.join(colors)}." if colors else ""


def _guess(reply: Reply, shown: int, color: str) -> Guess:
    guessed = reply.value if reply.ok else ""
    return Guess(shown, reply.status, guessed, guessed == color)


def draw(rules: ColorObfuscationRules, seed: str, number: int) -> dict[str, Any]:
    """The colors of match `number`: one for both rounds, or one for each."""
    random = Random(f"{seed}/color/{number}")
    return {"colors": [f"{random.randrange(16**6):06X}" for _ in range(1 if rules.color == "same" else 2)]}


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT: Mapping[str, str] = toml(__package__, "shown")["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The result, and both rounds: the riddle, then every attempt with the color it came to."""
    readers = fixture.officials.get("committee", ())
    ally, broken = fixture.settings.get("ally", "self"), fixture.settings["ally_failure"]
    reading = reading_of(failure(ally, broken, readers))
    rounds = convert(outcome.detail["rounds"], tuple[Round, ...])
    how = outcome.detail.get("decided", "")
    wins = f"Decided {how}." if how.startswith("by") else f"{how.capitalize()}." if how else ""
    most = max([len(round_.attempts) for round_ in rounds])
    rows: dict[str, tuple[Cell, ...]] = {
        round_.attacker: (
            _attack(round_, reading),
            *[credit_mark(guess.right if guess.color else None, guess.color) for guess in round_.attempts],
            *[""] * (most - len(round_.attempts)),
        )
        for round_ in rounds
    }
    columns = ("As attacker", *map(str, range(1, most + 1)))
    why = {round_.attacker: f"as attacker {_attack(round_, reading)}" for round_ in rounds}
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    for number, round_ in enumerate(rounds, 1):
        yield Heading(f"Round {number}: {round_.obfuscator} hides a color from {round_.attacker}")
        guesses = [(f"try {place}", guess) for place, guess in enumerate(round_.attempts, 1)]
        if round_.ally is not None:
            guesses.insert(0, ("its ally", round_.ally))
        yield Swatch(_colors(guesses), round_.color)
        reply = replies[f"{number}/obfuscate"]
        made = reply.value
        if isinstance(made, Encoded):
            listed = "\n".join(f"{place}. {text}" for place, text in enumerate(made.instructions, 1))
            yield Quoted(reply.label, made.text, reply.key, note="the string, which the attacker sees")
            yield Quoted(reply.label, listed, note="the instructions, which its ally sees")
        else:
            yield quoted(reply)
        yield State(Swatch((), round_.color))
        for at, (who, guess) in enumerate(guesses, 1):
            key = f"{number}/{'recover' if who == 'its ally' else who.replace('try ', 'attack/')}"
            if key not in replies:
                continue
            saw = f"{who}, with {guess.shown} of {round_.count} instructions"
            tried = quoted(replies[key], *(("right", "good") if guess.right else ("wrong", "bad")), saw)
            yield msgspec.structs.replace(tried, text=guess.color) if guess.color else tried
            yield State(Swatch(_colors(guesses[:at]), round_.color))
        yield from _ended(round_)


def _colors(guesses: list[tuple[str, Guess]]) -> tuple[tuple[str, str], ...]:
    return tuple([(who, guess.color) for who, guess in guesses if guess.color])


def _attack(round_: Round, reading: str) -> str:
    """Return what came of a round for its attacker."""
    if round_.recovered:
        return f"found the color at try {round_.recovered}"
    return "was given the round" if round_.needed(reading) else "did not find the color"


def _ended(round_: Round) -> Iterator[Block]:
    if round_.broken:
        yield Sentence("The ally could not find the color: this encoding is broken.", "bad")
    if round_.recovered:
        yield Sentence(f"{round_.attacker} found the color at try {round_.recovered}.")
    elif round_.attempts:
        yield Sentence(f"{round_.attacker} did not find the color.")


GAME: GameSpec[ColorObfuscationRules] = GameSpec(
    name=NAME,
    version=VERSION,
    texts=__package__,
    about="One hides a color, its ally must recover it and the opponent must not; then they change places.",
    contestants=(2, 2),
    rules=ColorObfuscationRules,
    presets=presets(__package__),
    play=play,
    draw=draw,
    asks=asks,
    officials=officials,
    survives=True,
    house=house,
    show=show,
    original=Original("cob", "data.json", "the Color Obfuscation Benchmark's own page", write_battles),
    secrecy=Secrecy(hides=True, forgets=forgets, remembered={"ally": "other"}),
    rating=GameRating(settings={"k_factor": 32.0, "initial": 1500.0, "propagation_width": None}),
    seating=Seating(same_family=lambda rules: rules.same_family),
)
