"""House players who hide, recover and attack colors: real encodings with true instructions, by skill.

The better the player, the more steps its encoding has and the surer it makes them. A fool's slip in the
encoding hides another color than it was given, so that nobody who follows the instructions can recover it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

from peerage.game import Encoded, Encoding, HouseCall, HouseReply
from peerage.game.house import SPREAD, worth

_HEX = "0123456789ABCDEF"
_SURE, _SLIP = 0.1, 0.12
"""Below a quality of `_SURE` an encoding is broken; `_SLIP` is the standard deviation of a decoder's day."""


class _Step(NamedTuple):
    """One reversible step: how it hides, and how the instructions undo it (`@` is its key)."""

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
_START, _END = "Read the string as six hexadecimal digits.", "The six digits are the color, red first."


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """Return an encoding, or the color that an ally finds, or an attacker by as much as it sees."""
    known: Mapping[str, Any] = call.oracle or {"color": "808080"}
    color, made = known["color"], known.get("encoding") or {}
    if isinstance(call.expects, Encoding):
        quality = rng.gauss(skill, SPREAD)
        encoded, broken = hide(color, quality, rng)
        return HouseReply(encoded, worth(quality) | {"broken": broken})
    broken, luck = made.get("broken", False), rng.gauss(0, 1)
    if "share" in known:
        # An encoding by somebody else than a house player is of quality one half.
        hard = 0.12 + made.get("quality", 0.5) * 0.75 + (1 - known["share"]) * 0.5
        right = skill + _SLIP * luck > hard
    else:
        right = luck > -2.6 + (1 - skill)  # the encoder's own ways are easy for it
    return color if right and not broken else near(color, rng)


def hide(color: str, quality: float, rng: Random) -> tuple[Encoded, bool]:
    """An encoding of `color`, and whether it is broken."""
    broken = quality < _SURE
    hidden = near(color, rng) if broken else color
    undo: list[str] = []
    for place in range(1 + round(4 * min(max(quality, 0.0), 1.0))):
        step, key = rng.choice(_STEPS if place else _STEPS[:4]), rng.randint(1, 15)
        hidden = step.hide(hidden, key)
        undo.insert(0, step.undo.replace("@", _HEX[key]).replace("#", str(key % 5 + 1)))
    return Encoded(hidden, (_START, *undo, _END)), broken


def near(color: str, rng: Random) -> str:
    """Another color: one digit of it is wrong."""
    place = rng.randrange(6)
    return color[:place] + rng.choice(_HEX.replace(color[place], "")) + color[place + 1 :]
