"""Charts, as they are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from itertools import combinations, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from peerage.render.blocks import Figure
from peerage.render.charts import draw
from peerage.render.charts.drawings import WIDTH, Axis, Plane
from peerage.render.charts.planes import COLOURS, WHOLE, frontier, styled
from peerage.render.names import Names
from peerage.values.figures import axis_dollars

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
    _, _, names = str(plane.svg("")).partition('<g class="names"')
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


@pytest.mark.parametrize("seed", [9, 14, 16, 18])
def test_names_that_find_no_room_are_tried_before_the_others(seed: int) -> None:
    rng = Random(seed)
    points = [(rng.uniform(1, 3), rng.gauss(1500, 40)) for _ in range(rng.randint(9, 12))]
    offers = offered(sorted(points), "a-model-", 60)
    assert {*written(frontier(offers, "rating", "$", "{:g}".format))} == {one["player"] for one in offers}


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
        (0.04, 29.0, {"log": True, "nice": False, "form": axis_dollars}, "$0.10 $1.00 $10"),
        (
            0.00002,
            12.0,
            {"log": True, "nice": False, "form": axis_dollars},
            "$0.0001 $0.001 $0.01 $0.10 $1.00 $10",
        ),
    ],
)
def test_an_axis_names_round_numbers_that_stand_where_they_belong(
    low: float, high: float, more: dict[str, Any], shown: str
) -> None:
    axis = Axis.over("", [low, None, high], **more)
    scale = axis.scale(0.0, 300.0)
    ticks = axis.ticks(scale)
    assert " ".join(text for _, text in ticks) == shown
    values = [float(text.replace(",", "").strip("$%")) for _, text in ticks]
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


SEEN_BY = {
    "all cones": np.eye(3),
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
"""Machado, Oliveira and Fernandes 2009: linear RGB as the colour-blind see it."""


def lab(color: str, seen: Any) -> np.ndarray[Any, Any]:
    """CIELAB (D65) of a colour as it is seen."""
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = np.clip(np.array(seen) @ light, 0, 1)
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
    xyz = np.array(to_xyz) @ light / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN_BY)
def test_colours_of_charts_are_apart_for_the_colour_blind_too(seen: str) -> None:
    css = files("peerage.site").joinpath("assets/site.css").read_text()
    names = ("one", "two", "three", "four", "five", "six")
    light, dark = zip(*[re.findall(rf"--{name}: (#[0-9a-f]{{6}});", css)[:2] for name in names], strict=True)
    assert light == COLOURS
    for theme in (light, dark):
        for one, other in combinations(theme, 2):
            apart = float(np.linalg.norm(lab(one, SEEN_BY[seen]) - lab(other, SEEN_BY[seen])))
            assert apart > 20, f"{one} and {other}"
            assert f'.drawing [stroke="{one}"]' in css or theme is dark


def test_models_of_a_maker_share_a_colour_and_differ_in_dashes() -> None:
    styles = styled(["a", "b", "c", "d"], ["x", "y", "x", ""])
    assert styles["a"][0] == styles["c"][0] != styles["b"][0]
    assert len({*styles.values()}) == 4
    assert len({color for color, _ in styled(["a", "b"], ["x", "x"]).values()}) == 2, (
        "one maker alone says nothing"
    )


def test_the_drawing_of_short_names_has_one_colour_a_maker() -> None:
    players = ["m/a-1", "n/b-1", "m/a-2"]
    points = [
        {"player": name, "match": match, "rating": 1500.0, "low": 1400.0, "high": 1600.0}
        for name in players
        for match in (1, 2)
    ]
    figure = Figure("course", "", "", points, (), options={"names": players, "what": "Elo"})
    drawn = draw(figure, Names(players))
    assert [name for name, _ in drawn.legend] == players
    colors = [re.findall('stroke="(#.{6})"', line)[0] for _, line in drawn.legend]
    assert colors == [COLOURS[0], COLOURS[1], COLOURS[0]]
    assert re.findall('class="band"[^>]*opacity="([^"]*)"', drawn.svg) == [".16", ".16", "0"]


def test_a_band_lies_between_the_bounds_of_a_rating() -> None:
    points = [
        {"player": "a", "match": match, "rating": 1500.0 + match, "low": 1400.0 + match, "high": 1700.0}
        for match in (10, 60, 90)
    ]
    drawn = course("", points, ["a"])
    ends = re.findall(r'class="band" d="M([^Z]*)Z', drawn)[0].split("L")
    around = [tuple(map(float, end.split())) for end in ends]
    dots = [(float(x), float(y)) for x, y in re.findall(rf'<circle cx="{NUMBER}" cy="{NUMBER}"', drawn)]
    assert [x for x, _ in around] == [x for x, _ in (*dots, *dots[::-1])]
    lows, highs = around[:3], around[:2:-1]
    for (_, middle), (_, low), (_, high), point in zip(dots, lows, highs, points, strict=True):
        share = (point["rating"] - point["low"]) / (point["high"] - point["low"])
        assert (low - middle) / (low - high) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_no_name_lies_across_the_line_that_joins_the_best(seed: int) -> None:
    rng = Random(seed)
    points = sorted([(rng.uniform(1, 9), rng.gauss(1500, 200)) for _ in range(9)])
    offers = offered(points, "a-rather-long-name-", 100)
    plane = frontier(offers, "rating", "$", "{:g}".format)
    best = [(plane.x(one["cost"]), plane.y(one["rating"])) for one in offers if one["best"]]
    for name, (left, right, middle) in written(plane).items():
        for (x, y), (then_x, then_y) in pairwise(best):
            assert not (left < then_x and x < right and abs(middle - y) < 6), name
            assert not (left < then_x < right and min(y, then_y) < middle < max(y, then_y)), name
