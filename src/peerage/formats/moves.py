"""A format for moves of games: one of those that are legal, by name, or with an amount."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.plain import Choice, Chosen
from peerage.formats.reading.reader import stated
from peerage.formats.texts import DECORATION, Format, folded, object_schema

LONGEST = 80
"""Characters of a move, at most."""
FEWEST = 12
"""Amounts under one name from which on they are one move with an amount."""
_AMOUNT = re.compile(r"(.*?[^0-9]) ?([0-9]{1,9})")
_MARKS = str.maketrans("0", "O", "+#!?*×x=-() ")
"""Marks of a move that readers leave out, such as those of checks and captures; a castle's zeros."""
_NEGATIVE = re.compile(r"[-−]\d")


class Amount(Struct, frozen=True, gc=False):
    """A move such as "raise to N" with any whole number from `least` to `most`."""

    name: str
    least: int
    most: int


class LegalMove(Struct, frozen=True, tag="move"):
    """One of `options`, or one of `amounts` with its number, with a short reason, read as `reading` says.
    Moves are compared without case, unless they are `cased` as those of chess are, and without the marks
    around them; then, where that leaves one move alone, without marks of checks and captures, and parts such
    as 8/5 6/5 in any order. The value is a `Chosen`, an amount's as "raise to 40"."""

    field: str
    options: tuple[str, ...]
    amounts: tuple[Amount, ...] = ()
    cased: bool = False
    reason_chars: int = 200

    def instruction(self) -> str:
        numbers = [f'"{amount.name} N": N is {_numbers(amount)}' for amount in self.amounts]
        return self._named.instruction() + f" ({'; '.join(numbers)})" * bool(numbers)

    def schema(self) -> dict[str, Any] | None:
        if not self.amounts:
            return self._named.schema()
        move = {"type": "string", "minLength": 1, "maxLength": LONGEST, "description": self.offered}
        return object_schema({"reason": {"type": "string", "maxLength": self.reason_chars}, self.field: move})

    @property
    def _named(self) -> Choice:
        """The names of all moves to choose from, without numbers."""
        amounts = [f"{amount.name} N" for amount in self.amounts]
        return Choice(self.field, (*self.options, *amounts), self.reason_chars)

    @property
    def offered(self) -> str:
        """All moves, by name, with the bounds of their amounts."""
        amounts = [f"{amount.name} N (N: {_numbers(amount)})" for amount in self.amounts]
        return ", ".join([*self.options, *amounts])

    def parse(self, text: str) -> Chosen:
        reply = stated(
            text,
            (self.field,),
            self.option,
            f'a JSON object with "{self.field}" set to one of {self.offered} was expected, and nothing else',
        )
        return Chosen(reply.values[self.field], reply.reason[: self.reason_chars])

    def write(self, value: Chosen | str) -> str:
        return self._named.write(value)

    def sample(self, rng: Random) -> Chosen:
        amounts = [f"{amount.name} {rng.randint(amount.least, amount.most)}" for amount in self.amounts]
        return Chosen(rng.choice([*self.options, *amounts]))

    def option(self, written: Any) -> str | None:
        """Return the move that a piece of a reply names; None for none."""
        if isinstance(written, list) and len(written) == 1:
            written = written[0]
        if not isinstance(written, str) or len(written) > LONGEST:
            return None
        names = _names(self.options, self.cased)
        for spelled in _spellings(written, self.cased):
            if spelled in names:
                return names[spelled]
        plain = folded(written).strip(DECORATION).casefold().removesuffix(" chips")
        amount = _AMOUNT.fullmatch(plain.replace("$", ""))
        for each in self.amounts if amount else ():
            if amount and amount[1].strip(" :") == each.name.casefold():
                return f"{each.name} {int(amount[2])}" if each.least <= int(amount[2]) <= each.most else None
        return None


def move_format(field: str, names: Iterable[str], *, cased: bool = False, reason_chars: int = 200) -> Format:
    """Return the format of a move by one of these names, where names that differ in a number at their end
    alone, and have every number between the least and the most, are one with an amount."""
    names = tuple(names)
    numbers: dict[str, list[int]] = {}
    for name in names:
        if (amount := _AMOUNT.fullmatch(name)) and name[len(amount[1])] == " ":
            numbers.setdefault(amount[1], []).append(int(amount[2]))
    amounts = {
        name: Amount(name, min(each), max(each))
        for name, each in numbers.items()
        if len(each) >= FEWEST and len(each) == max(each) - min(each) + 1
    }
    options = [name for name in names if not any(name.startswith(f"{prefix} ") for prefix in amounts)]
    return LegalMove(field, tuple(options), tuple(amounts.values()), cased, reason_chars)


def _numbers(amount: Amount) -> str:
    return f"a whole number from {amount.least} to {amount.most}"


@lru_cache(maxsize=256)
def _names(options: tuple[str, ...], cased: bool) -> dict[str, str]:
    """The move that each spelling names; a spelling of two moves names neither."""
    meant: dict[str, set[str]] = {}
    for option in options:
        for spelled in _spellings(option, cased):
            meant.setdefault(spelled, set()).add(option)
    unique = {spelled: next(iter(each)) for spelled, each in meant.items() if spelled and len(each) == 1}
    return unique | {option: option for option in options}


def _spellings(name: str, cased: bool) -> tuple[str, ...]:
    """A move as it is written, without the marks around it, and, without a negative number, those in it."""
    plain = folded(name).strip(DECORATION)
    plain = plain if cased else plain.casefold()
    parts = plain.split()
    if parts and all("/" in part for part in parts):
        parts.sort()
    if any(_NEGATIVE.match(part) for part in parts):
        return name, plain
    return name, plain, " ".join([part.translate(_MARKS) for part in parts])
