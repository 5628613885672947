"""Rounds of a battle of Color Obfuscation, and its winner."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

READINGS = ("attacker", "ignore")
"""Readings of a broken encoding; each battle states its result under both."""


class Guess(Struct, frozen=True):
    """An attempt: instructions shown, the reply's status, the color it named, and whether it was right."""

    shown: int
    status: str
    color: str
    right: bool


class Round(Struct, frozen=True):
    """One round, by seat label. `status` is that of the obfuscator's reply, `count` its number of
    instructions. `recovered` is the attempt that was right, 0 when none was. `broken`: the ally could not
    decode, or there was nothing to decode."""

    obfuscator: str
    attacker: str
    color: str
    status: str
    count: int = 0
    ally: Guess | None = None
    attempts: tuple[Guess, ...] = ()
    recovered: int = 0
    broken: bool = False

    def needed(self, reading: str) -> int:
        """Attempts after which the round counted for the attacker, 0 when it did not. Under the reading
        `attacker` a broken encoding counts as recovered at once."""
        return 1 if self.broken and reading == "attacker" else self.recovered


def reading_of(ally_failure: str) -> str:
    """The reading that decides under this rule."""
    return "attacker" if ally_failure == "attacker" else "ignore"


def scores(rounds: Sequence[Round], reading: str, order: str) -> dict[str, float]:
    """Each side's score: 1, ½ or 0."""
    (a, own), (b, theirs) = sorted(_ranks(rounds, reading, order).items())
    score = 0.5 if own == theirs else float(own > theirs)
    return {a: score, b: 1 - score}


def decided(rounds: Sequence[Round], reading: str, order: str) -> str:
    """Return what decided between the two, in words."""
    own, theirs = _ranks(rounds, reading, order).values()
    if own[0] != theirs[0]:
        return "by the round that only one of them won"
    equal = "each won the round it attacked" if own[0] else "neither won the round it attacked"
    if own != theirs:
        return f"by fewer attempts: {equal}"
    return f"a tie: {equal}" + (", after as many attempts" if own[0] and order == "attempts" else "")


def _ranks(rounds: Sequence[Round], reading: str, order: str) -> dict[str, tuple[bool, int]]:
    """Return how well each side attacked, more is better: the color, then by `order` fewer attempts."""
    needed = {played.attacker: played.needed(reading) for played in rounds}
    return {
        label: (bool(attempts), -attempts if order == "attempts" else 0) for label, attempts in needed.items()
    }
