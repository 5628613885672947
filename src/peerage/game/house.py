"""Replies of a player of known skill: the default of every game, and what games make their own of. Pure.

    def house(call, skill, rng):
        return Bid(amount=round(call.oracle * rng.gauss(0.9, 0.2 * (1 - skill))))

A game's `house` returns the value that the reply shall have; its format writes it. `HouseReply` adds what
it is truly worth. Skill goes from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple, Protocol, TypeAlias

from peerage.formats import Format, Text
from peerage.game.media import parts
from peerage.game.protocol import Role, Speaker
from peerage.game.texts import toml

CHARS_PER_TOKEN = 4
"""Length of a house player's token."""
SPREAD, DRAFT_SPREAD = 0.12, 0.25
"""Standard deviation of the quality of what a player writes around its skill, in answers and in drafts."""

WORDS = toml("peerage.game", "house")
"""Sentences that house players are made of."""


class HouseCall(Protocol):
    """Request to a house player: the request as a model would read it, and its oracle."""

    @property
    def key(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def messages(self) -> Sequence[tuple[Speaker, str]]: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def expects(self) -> Format: ...
    @property
    def oracle(self) -> Any: ...


class HouseReply(NamedTuple):
    """A reply, and what it is truly worth: `hidden` reaches house judges and oracles, never a model."""

    value: Any
    hidden: Any = None


House: TypeAlias = Callable[[HouseCall, float, Random], Any]


def usual(call: HouseCall, skill: float, rng: Random) -> Any:
    """The default: right with a chance of `skill`, where right is what `Ask.oracle` holds; else any value of
    the format. Without an oracle a text is an essay that sounds like its quality."""
    if call.oracle is None and isinstance(call.expects, Text):
        return essay(call, rng.gauss(skill, SPREAD), rng)
    right = call.oracle is not None and rng.random() < skill
    return call.oracle if right else call.expects.sample(rng)


def worth(quality: float) -> dict[str, Any]:
    """Return what house judges know of a house player's work: its quality, from 0 to 1 as a rule."""
    return {"quality": round(quality, 4)}


def essay(call: HouseCall, quality: float, rng: Random) -> HouseReply:
    """An answer that sounds like its quality, one voice each for fine, fair and poor, within its limit."""
    voice = WORDS["fine" if quality >= 0.62 else "fair" if quality >= 0.38 else "poor"]
    opening = rng.choice(voice["openings"])
    points = rng.sample(voice["points"], 3 + rng.randrange(3))
    closing = rng.choice(voice["closings"])
    while True:
        text = "\n\n".join([opening, *points, closing]).replace("@", subject(call))
        if not points or len(text) <= call.max_tokens * CHARS_PER_TOKEN:
            return HouseReply(text, worth(quality))
        points.pop()


def subject(call: HouseCall) -> str:
    """Return what a house question is about: it is in “quotation marks”; else the beginning of the
    prompt."""
    text = call.messages[-1][1] if len(call.messages) < 3 else call.messages[1][1]
    text = "".join([part for part in parts(text) if isinstance(part, str)])
    start = text.find("“") + 1
    end = text.find("”", start, start + 120) if start else -1
    if end > 0:
        return text[start:end]
    line = text.strip().partition("\n")[0]
    return f"“{line[:60].strip()}”" if line and not line.startswith("<<<") else "the question"
