"""Charts, as they are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from peerage.render.blocks import Figure
from peerage.render.charts import draw
from peerage.render.charts.drawings import WIDTH, Axis, Plane
from peerage.render.charts.planes import WHOLE, frontier

CROWDED = (
    *((6.8, 1658), (9.3, 1610), (9.6, 1647), (9.7, 1490), (10.2, 1662), (10.3, 1652), (10.8, 1602)),
    *((10.85, 1620), (10.9, 1700), (14.0, 1810), (15.4, 1605)),
)


NUMBER = r"(-?[\d.]+)"


def offered(points: Iterable[tuple[float, float]], name: str, spread: float) -> list[dict[str, Any]]:
    """Offers at these costs and ratings, the cheapest first."""
    best = float("-inf")
    offers: list[dict[str, Any]] = []
    for place, (cost, rating) in enumerate(points):
        ends = {"low": rating - spread, "high": rating + spread, "best": rating > best}
        offers.append({"player": f"{name}{place}", "cost": cost, "rating": rating, **ends})
        best = max(best, rating)
    return offers


def course(title: str, points: list[dict[str, Any]], names: list[str]) -> str:
    """The drawing of ratings over the matches."""
    options = {"names": names, "what": "Elo"}
    return str(draw(Figure("course", title, "", points, (), options=options)).svg)


def written(plane: Plane) -> dict[str, tuple[float, float, float]]:
    """The names on a plane: their ends from the left, at 7 pixels a letter, and their middles from above."""
    found = {}
    _, _, names = str(plane.svg("")).partition('<g class="names">')
    for x, y, end, name in re.findall(
        rf'<text x="{NUMBER}" y="{NUMBER}"[^>]*?(?: text-anchor="(\w+)")?>([^<]*)<', names
    ):
        long = 7.0 * len(name)
        left = float(x) - {"": 0.0, "middle": long / 2, "end": long}[end]
        found[name] = (left, left + long, float(y))
    return found


def expected(offers: list[dict[str, Any]], names: Iterable[str]) -> tuple[set[str], set[str]]:
    """What the best of these offers are called on a plane with these names, all by name or all by number,
    and the names of the others."""
    best = [offer["player"] for offer in reversed(offers) if offer["best"]]
    numbers = [str(place) for place, _ in enumerate(best, 1)]
    return set(numbers if "1" in names else best), {one["player"] for one in offers} - {*best}


@pytest.mark.parametrize("less", [0.0, 6.0, 6.79, 6.8])
def test_every_one_of_few_points_is_named_and_no_name_hides_anything(less: float) -> None:
    offers = offered([(cost - less, rating) for cost, rating in CROWDED], "a-model-", 60)
    plane = frontier(offers, "rating", "$", "{:g}".format)
    points = [
        (float(x), float(y)) for x, y in re.findall(rf'<circle cx="{NUMBER}" cy="{NUMBER}"', plane.svg(""))
    ]
    names = written(plane)
    best, others = expected(offers, names)
    assert set(names) == best | others
    for name, (left, right, middle) in names.items():
        assert not [(x, y) for x, y in points if left < x < right and abs(y - middle) < 8], name
        for other, (low, high, level) in names.items():
            assert other == name or not (left < high and low < right and abs(level - middle) < 10)


@pytest.mark.parametrize("width", [WIDTH, WHOLE])
@pytest.mark.parametrize("seed", range(5))
def test_among_sixty_players_all_of_the_best_are_named_or_numbered(seed: int, width: int) -> None:
    rng = Random(seed)
    costs = sorted(rng.uniform(-4, 1) for _ in range(60))
    points = [(10**cost, 1500 + 120 * cost + rng.gauss(0, 150)) for cost in costs]
    offers = offered(points, "maker/model-", 150)
    names = written(frontier(offers, "rating", "$", "{:g}".format, width=width))
    best, others = expected(offers, names)
    assert best <= set(names) <= best | others
    boxes = list(names.values())
    for place, (left, right, middle) in enumerate(boxes):
        assert not [
            one for one in boxes[:place] if left < one[1] and one[0] < right and abs(one[2] - middle) < 10
        ]


def test_who_is_free_stands_apart_from_the_prices_on_a_logarithmic_axis() -> None:
    offers = offered([(0.0, 1200), (0.001, 1300), (0.01, 1400), (0.1, 1500), (1.0, 1600)], "m", 20)
    drawn = str(frontier(offers, "rating", "$", "{:g}".format).svg(""))
    xs = [float(x) for x in re.findall(rf'<circle cx="{NUMBER}"', drawn)]
    ticks = {
        text: float(x) for x, text in re.findall(rf'<text x="{NUMBER}"[^>]*"middle">(free|[\d.]+)<', drawn)
    }
    assert ticks["free"] == xs[0]
    assert (ticks["0.001"], ticks["1"]) == (xs[1], xs[4])
    steps = [then - before for before, then in pairwise(xs[1:])]
    assert max(steps) - min(steps) < 0.3, "equal steps are factors"
    assert xs[1] - xs[0] > 20


def test_a_course_without_intervals_is_drawn() -> None:
    """Few matches have none."""
    points = [
        {"player": name, "match": match, "rating": 1500.0 + match, "low": None, "high": None}
        for name in ("a", "b")
        for match in (1, 2, 3)
    ]
    drawn = course("Ratings", points, ["a", "b"])
    assert ">a<" in drawn
    assert ">b<" in drawn


def test_a_name_becomes_no_markup_and_hides_nothing() -> None:
    points = [
        {"player": "<b>&\u202e", "match": match, "rating": 1500.0, "low": 1400.0, "high": 1600.0}
        for match in (1, 2)
    ]
    drawn = course("<i>", points, ["<b>&\u202e"])
    assert "<b" not in drawn
    assert "<i" not in drawn
    assert "&lt;b&gt;&amp;" in drawn
    assert "\u202e" not in drawn


@pytest.mark.parametrize(
    ("low", "high", "more", "shown"),
    [
        (1412.0, 1588.0, {}, "1,400 1,450 1,500 1,550 1,600"),
        (0.0, 1.0, {"form": "{:.0%}".format}, "0% 20% 40% 60% 80% 100%"),
        (0.0612, 0.0797, {"steps": 4, "nice": False}, "0.065 0.07 0.075"),
        (0.012, 48.0, {"log": True, "nice": False}, "0.1 1 10"),
        (0.8, 9.0, {"log": True, "nice": False}, "1 2 5"),
        (11.0, 14.0, {"log": True, "nice": False}, "11 11.5 12 12.5 13 13.5 14"),
        (3.0, 3.0, {}, "2 2.5 3 3.5 4"),
    ],
)
def test_an_axis_names_round_numbers_that_stand_where_they_belong(
    low: float, high: float, more: dict[str, Any], shown: str
) -> None:
    axis = Axis.over("", [low, None, high], **more)
    scale = axis.scale(0.0, 300.0)
    ticks = axis.ticks(scale)
    assert " ".join(text for _, text in ticks) == shown
    values = [float(text.replace(",", "").rstrip("%")) for _, text in ticks]
    per = 100 if "%" in shown else 1
    assert [scale(value / per) for value in values] == pytest.approx([at for at, _ in ticks])


def test_points_keep_so_many_pixels_from_the_ends_of_their_axis() -> None:
    for log in (False, True):
        scale = Axis.over("", [1.0, 90.0], log=log, nice=False, pad=24).scale(40.0, 340.0)
        assert (scale(1.0), scale(90.0)) == pytest.approx((64.0, 316.0))


def test_texts_on_an_axis_that_would_overlap_are_left_out() -> None:
    days = [{"day": f"2026-05-{day:02}", "game": "duel", "dollars": 1.0} for day in range(1, 31)]
    drawn = draw(Figure("spending", "Spend", "", days, ())).svg
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>2026-05-', drawn)]
    assert 2 <= len(places) < 30
    assert all(then - before >= 10 * 7 for before, then in pairwise(places))
    assert len(re.findall("<title>2026-05-", drawn)) == 30
