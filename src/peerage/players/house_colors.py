"""How house players hide, recover and attack colours: real encodings with true instructions, by skill.

The better the player, the more steps its encoding has and the surer it makes them. A fool's slip in the
encoding hides another colour than it was given, so that nobody who follows the instructions can recover it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import dumps
from typing import Any, NamedTuple

_HEX = "0123456789ABCDEF"
_SURE, _SLIP = 0.1, 0.12
"""Below a quality of `_SURE` an encoding is broken; `_SLIP` is the standard deviation of a decoder's day."""


class _Step(NamedTuple):
    """One reversible step: how it hides, and how the instructions tell to undo it (`@` is its key)."""

    hide: Callable[[str, int], str]
    undo: str


def _each(move: Callable[[int, int, int], int]) -> Callable[[str, int], str]:
    """A step that moves every digit: `move(value, key, place)` modulo 16."""
    return lambda text, key: "".join(
        _HEX[move(_HEX.index(digit), key, place) % 16] for place, digit in enumerate(text)
    )


_STEPS: tuple[_Step, ...] = (
    _Step(_each(lambda value, key, place: value + key), "Subtract @ from every digit; below 0 goes on at F."),
    _Step(_each(lambda value, key, place: value - key), "Add @ to every digit; above F goes on at 0."),
    _Step(_each(lambda value, key, place: value ^ key), "Combine every digit with @ by exclusive or."),
    _Step(
        _each(lambda value, key, place: value + key * (place + 1)),
        "Subtract @ times its place (1 to 6) from every digit, modulo 16.",
    ),
    _Step(
        lambda text, key: text[-(key % 5 + 1) :] + text[: -(key % 5 + 1)],
        "Move the first # digits to the end.",
    ),
    _Step(
        lambda text, key: text[::2] + text[1::2],
        "Deal the digits out: places 1, 4, 2, 5, 3, 6, in this order.",
    ),
)
_START, _END = "Read the string as six hexadecimal digits.", "The six digits are the colour, red first."


def hide(color: str, quality: float, draws: Sequence[int]) -> tuple[str, bool]:
    """The JSON text of an encoding of `color`, and whether it is broken."""
    broken = quality < _SURE
    hidden = near(color, draws[6]) if broken else color
    count = 1 + round(4 * min(max(quality, 0.0), 1.0))
    undo: list[str] = []
    for place in range(count):
        step = _STEPS[draws[8 + place] % len(_STEPS)] if place else _STEPS[draws[8] % 4]
        key = draws[8 + place] // 97 % 15 + 1
        hidden = step.hide(hidden, key)
        undo.insert(0, step.undo.replace("@", _HEX[key]).replace("#", str(key % 5 + 1)))
    steps = [_START, *undo, _END]
    return dumps(
        {"plan": "A few steps, undone in reverse.", "obfuscated": hidden, "instructions": steps}
    ), broken


def guess(color: str, skill: float, encoding: Any, share: float, luck: float, draw: int) -> str:
    """The colour that a player of `skill` gets from an encoding when it sees `share` of the instructions.

    `luck` is standard normal. An encoding by somebody else than a house player is of quality one half.
    """
    made = encoding if isinstance(encoding, dict) else {"quality": 0.5, "broken": False}
    hard = 0.12 + made["quality"] * 0.75 + (1 - share) * 0.5
    right = skill + _SLIP * luck > hard and not made["broken"]
    return color if right else near(color, draw)


def follow(color: str, skill: float, encoding: Any, luck: float, draw: int) -> str:
    """The colour that an ally gets: the encoder's own ways are easy for it."""
    made = encoding if isinstance(encoding, dict) else {"broken": False}
    right = not made["broken"] and luck > -2.6 + (1 - skill)
    return color if right else near(color, draw)


def near(color: str, draw: int) -> str:
    """Another colour: one digit of it is wrong."""
    place, move = draw % 6, draw // 6 % 15 + 1
    return color[:place] + _HEX[(_HEX.index(color[place]) + move) % 16] + color[place + 1 :]


def named(color: str, draw: int) -> str:
    """A colour in one of the formats that models use."""
    style = draw % 10
    if style < 6:
        return f'{{"working": "One instruction after another.", "color": "{color}"}}'
    if style < 8:
        return f'```json\n{{"working": "Step by step.", "color": "#{color.lower()}"}}\n```'
    return f"I followed the instructions.\n\n**Color:** `#{color}`"
