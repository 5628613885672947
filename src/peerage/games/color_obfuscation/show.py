"""A battle of Color Obfuscation as blocks: round by round the color, what hides it, who found it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import convert

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Swatch, Table, names, result, said
from peerage.formats import Encoded
from peerage.games.color_obfuscation.score import Guess, Round, reading_of
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome

_NO_RESULT: Mapping[str, str] = texts(__package__)["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Both rounds, and the result."""
    players = names(fixture)
    rounds = convert(outcome.detail["rounds"], tuple[Round, ...])
    for number, one in enumerate(rounds, 1):
        hider, attacker = (f"{players[label]} ({label})" for label in (one.obfuscator, one.attacker))
        yield Heading(f"Round {number}: {hider} hides a color from {attacker}")
        reply = replies[f"{number}/obfuscate"]
        made = reply.value
        if isinstance(made, Encoded):
            listed = "\n".join(f"{place}. {text}" for place, text in enumerate(made.instructions, 1))
            yield Quoted(reply.label, made.text, reply.key, note="the string, which the attacker sees")
            yield Quoted(reply.label, listed, note="the instructions, which its ally sees")
        else:
            yield said(reply)
        guesses = [(f"attempt {place}", guess) for place, guess in enumerate(one.attempts, 1)]
        if one.ally is not None:
            guesses.insert(0, ("its ally", one.ally))
        if guesses:
            yield Table(
                ("Who", "Answer", "", "Instructions seen"),
                tuple([(who, *_answer(guess), f"{guess.shown} of {one.count}") for who, guess in guesses]),
            )
        found = [(who, guess.color) for who, guess in guesses if guess.color]
        yield Swatch((("hidden", one.color), *found))
        yield from _ended(one, attacker)
    reading = reading_of(fixture.settings["ally_failure"])
    why = {
        one.attacker: f"as attacker found the color at attempt {one.recovered}"
        if one.recovered
        else "as attacker was given the round"
        if one.needed(reading)
        else "as attacker did not find the color"
        for one in rounds
    }
    how = outcome.detail.get("decided", "")
    wins = f"Decided {how}." if how.startswith("by") else f"{how.capitalize()}." if how else ""
    yield from result(fixture, outcome, wins, why, _NO_RESULT)


def _answer(guess: Guess) -> tuple[str, str]:
    return (guess.color, "right" if guess.right else "wrong") if guess.color else ("", guess.status)


def _ended(one: Round, attacker: str) -> Iterator[Block]:
    for leak in one.leaks:
        yield Sentence(f"The {leak.where} shows the color plainly ({leak.form}).", "bad")
    if one.broken:
        yield Sentence("The ally could not find the color: this encoding is broken.", "bad")
    if one.recovered:
        yield Sentence(f"{attacker} found the color at attempt {one.recovered}.")
    elif one.attempts:
        yield Sentence(f"{attacker} did not find the color.")
