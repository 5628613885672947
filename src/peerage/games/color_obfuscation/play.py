"""Color Obfuscation: one side hides a colour, its ally must find it again, the other side must not.

    A > {"obfuscated": "7-8-A-0-9-0", "instructions": ["Take the digits.", "Subtract 1.", …]}   (1/obfuscate)
    A > {"color": "68B288"}          its ally, from the string and all instructions             (1/recover)
    B > {"color": "78A090"}          the attacker, from the string alone: wrong                 (1/attack/1)
    B > {"color": "68B288"}          with a fifth of the instructions: right                    (1/attack/2)

Two rounds with roles swapped, side by side; who recovers more colours as attacker wins. After the Color
Obfuscation Benchmark of 10decikelvin; `docs/games/color-obfuscation.md` states every rule and what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from random import Random
from typing import Any, NamedTuple

import msgspec

from peerage.formats import Color, Encoded, Encoding
from peerage.games.color_obfuscation.house import house
from peerage.games.color_obfuscation.rules import (
    ATTACK,
    BROKEN,
    LEAK,
    OBFUSCATE,
    RECOVER,
    ColorObfuscationRules,
    asks,
    reveal,
)
from peerage.games.color_obfuscation.score import READINGS, Guess, Round, leaks_in, scores
from peerage.games.color_obfuscation.show import show
from peerage.games.game import GameSpec
from peerage.match import Outcome, Table
from peerage.protocol import Ask, Prompt, Quote, Reply, Steps, Together


def play(table: Table) -> Steps[Outcome]:
    """One battle between the two seats of `table`."""
    rules: ColorObfuscationRules = table.rules
    first, second = (seat.label for seat in table.seats)
    colors = table.drawn["colors"]
    rounds = [_Begun(first, second, colors[0]), _Begun(second, first, colors[-1])]
    hidden: list[Reply] = yield [
        _obfuscate(rules, one, f"{number}/obfuscate") for number, one in enumerate(rounds, 1)
    ]
    said = [(one.obfuscator, reply) for one, reply in zip(rounds, hidden, strict=True)]
    both = [
        Round(*one, reply.status, broken=reply.status not in ("ok", "void"))
        for one, reply in zip(rounds, hidden, strict=True)
    ]
    if not any(reply.status == "void" for reply in hidden):  # else there is nothing left to play for
        played: Mapping[str, tuple[Round, list[tuple[str, Reply]]]] = yield Together(
            {
                str(number): _attacks(rules, done, reply)
                for number, (done, reply) in enumerate(zip(both, hidden, strict=True), 1)
            }
        )
        both = [one for one, _ in played.values()]
        said += [of for _, replies in played.values() for of in replies]
    detail: dict[str, Any] = {"rounds": msgspec.json.decode(msgspec.json.encode(both))}
    if any(reply.status == "void" for _, reply in said):
        return Outcome(void="no_answer", detail=detail)
    detail["readings"] = {reading: scores(both, reading, rules.order) for reading in READINGS}
    if rules.ally_failure == "void" and any(one.broken for one in both):
        return Outcome(void="broken_encoding", detail=detail)
    reading = "attacker" if rules.ally_failure == "attacker" else "ignore"
    return Outcome(scores=detail["readings"][reading], detail=detail)


class _Begun(NamedTuple):
    """A round about to be played."""

    obfuscator: str
    attacker: str
    color: str


def _obfuscate(rules: ColorObfuscationRules, begun: _Begun, key: str) -> Ask:
    """The request that opens a round."""
    fill = {
        "reveal": reveal(rules.shares),
        "color": begun.color,
        "broken": BROKEN[rules.ally_failure],
        "leak": LEAK[rules.leaks],
    }
    oracle = {"color": begun.color}
    return _ask(rules, begun.obfuscator, key, OBFUSCATE, rules.encoding(), fill, oracle)


def _attacks(
    rules: ColorObfuscationRules, done: Round, hidden: Reply
) -> Steps[tuple[Round, list[tuple[str, Reply]]]]:
    """The rest of a round, and who said what in it."""
    obfuscator, attacker, color = done.obfuscator, done.attacker, done.color
    told = {"reveal": reveal(rules.shares)}
    said: list[tuple[str, Reply]] = []
    if not hidden.ok:
        return done, said
    made: Encoded = hidden.value
    done = msgspec.structs.replace(done, count=len(made.instructions))
    oracle = {"color": color, "encoding": hidden.hidden}
    seen = told | {"string": Quote("obfuscated string", made.text)}
    guesses: list[Guess] = []
    ally: Guess | None = None
    for attempt in range(1, len(rules.shares) + 1):
        shown = _shown(rules, made, attempt)
        found = leaks_in(color, made, shown)
        if found and rules.leaks == "forfeit":
            break
        about = {
            "instructions": _instructions(made, shown),
            "attempt": str(attempt),
            "attempts": str(len(rules.shares)),
            "shown": str(shown),
            "count": str(done.count),
            "wrong": _wrong(guesses),
        }
        know = oracle | {"share": shown / done.count}
        requests = [_ask(rules, attacker, f"attack/{attempt}", ATTACK, rules.answer(), seen | about, know)]
        if attempt == 1:
            everything = seen | {"instructions": _instructions(made, done.count)}
            requests.append(_ask(rules, obfuscator, "recover", RECOVER, rules.answer(), everything, oracle))
        replies: list[Reply] = yield requests
        said += zip((attacker, obfuscator), replies, strict=False)
        guesses.append(_guess(replies[0], shown, color))
        if attempt == 1:
            ally = _guess(replies[1], done.count, color)
        if guesses[-1].right or any(reply.status == "void" for reply in replies):
            break
    done = msgspec.structs.replace(
        done,
        ally=ally,
        attempts=tuple(guesses),
        recovered=len(guesses) if guesses and guesses[-1].right else 0,
        broken=ally is not None and not ally.right and ally.status != "void",
        leaks=found,
        forfeit=bool(found) and rules.leaks == "forfeit",
    )
    return done, said


def _ask(
    rules: ColorObfuscationRules,
    seat: str,
    key: str,
    prompt: Prompt,
    expects: Color | Encoding,
    fill: Mapping[str, str | Quote],
    oracle: Mapping[str, Any],
) -> Ask:
    limits = rules.limits
    messages = prompt.messages({**fill, "format": expects.instruction()})
    return Ask(
        seat, key, "contestant", messages, expects, limits.max_tokens, limits.temperature, oracle=oracle
    )


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
    """The colours of match `number`: one for both rounds, or one for each."""
    random = Random(f"{seed}/color/{number}")
    return {"colors": [f"{random.randrange(16**6):06X}" for _ in range(1 if rules.color == "same" else 2)]}


GAME: GameSpec[ColorObfuscationRules] = GameSpec(
    name="color-obfuscation",
    version=2,
    about="One hides a colour, its ally must recover it and the opponent must not; then they change places.",
    contestants=(2, 2),
    rules=ColorObfuscationRules,
    play=play,
    draw=draw,
    asks=asks,
    survives=True,
    house=house,
    show=show,
    hides=True,
    kin=lambda rules: rules.same_family,
    rating={"k_factor": 32.0, "initial": 1500.0, "propagation_width": None},
)
