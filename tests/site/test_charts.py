"""Charts, as they are drawn."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from peerage.site.charts import chart, frontier, spending, trajectories
from peerage.site.drawings import Axis

CROWDED = (
    *((6.8, 1658), (9.3, 1610), (9.6, 1647), (9.7, 1490), (10.2, 1662), (10.3, 1652), (10.8, 1602)),
    *((10.85, 1620), (10.9, 1700), (14.0, 1810), (15.4, 1605)),
)


@pytest.mark.parametrize("less", [0.0, 6.0, 6.79])
def test_no_name_on_the_plane_of_costs_lies_over_a_point_or_another_name(less: float) -> None:
    best = float("-inf")
    offers: list[dict[str, Any]] = []
    for place, (cost, rating) in enumerate(CROWDED):
        offers.append(
            {
                "player": f"a-model-{place}",
                "cost": cost - less,
                "rating": rating,
                "low": rating - 60,
                "high": rating + 60,
                "best": rating > best,
            }
        )
        best = max(best, rating)
    drawn = chart("Costs", "", "costs", offers, frontier(offers, "rating", "$")).svg
    number = r"(-?[\d.]+)"
    points = [(float(x), float(y)) for x, y in re.findall(rf'<circle cx="{number}" cy="{number}"', drawn)]
    names = [
        (float(x) - (7.0 * len(name) if end else 0.0), float(y), 7.0 * len(name))
        for x, y, end, name in re.findall(
            rf'<text x="{number}" y="{number}"[^>]*?( text-anchor="end")?>(a-model-\d)<', drawn
        )
    ]
    assert len(points) >= len(CROWDED)
    assert len(names) >= sum(offer["best"] for offer in offers)
    for left, middle, long in names:
        assert not [(x, y) for x, y in points if left < x < left + long and abs(y - middle) < 8]
        others = [one for one in names if one != (left, middle, long)]
        assert not [
            x for x, y, more in others if left < x + more and x < left + long and abs(y - middle) < 10
        ]


@pytest.mark.parametrize("seed", range(5))
def test_among_sixty_players_no_line_strikes_a_name(seed: int) -> None:
    rng = Random(seed)
    offers: list[dict[str, Any]] = []
    best = float("-inf")
    for place, cost in enumerate(sorted(rng.uniform(-4, 1) for _ in range(60))):
        rating = 1500 + 120 * cost + rng.gauss(0, 150)
        ends = {"low": rating - 150, "high": rating + 150}
        offers.append(
            {"player": f"maker/model-{place}", "cost": 10**cost, "rating": rating, "best": rating > best}
            | ends
        )
        best = max(best, rating)
    drawn = chart("Costs", "", "costs", offers, frontier(offers, "rating", "$")).svg
    number = r"(-?[\d.]+)"
    (joined,) = re.findall(rf'd="M{number} {number}((?:H-?[\d.]+V-?[\d.]+)+)"', drawn)
    x, y = float(joined[0]), float(joined[1])
    steps = []
    for across, down in re.findall(rf"H{number}V{number}", joined[2]):
        to_x, to_y = float(across), float(down)
        steps += [(x, to_x, y, y), (to_x, to_x, min(y, to_y), max(y, to_y))]
        x, y = to_x, to_y
    assert len(steps) > 4
    written = re.findall(rf'<text x="{number}" y="{number}"[^>]*?( text-anchor="end")?>(maker/[^<]*)<', drawn)
    assert written, "some have room"
    for at, middle, end, name in written:
        long = 6.5 * len(name)
        left, level = float(at) - (long if end else 0.0), float(middle)
        assert not [
            one
            for one in steps
            if left < one[1] and one[0] < left + long and level - 5 < one[3] and one[2] < level + 5
        ], name


def test_a_course_without_intervals_is_drawn() -> None:
    """Few matches have none."""
    points = [
        {"player": name, "match": match, "rating": 1500.0 + match, "low": None, "high": None}
        for name in ("a", "b")
        for match in (1, 2, 3)
    ]
    drawn = chart("Ratings", "", "course", points, trajectories(points, ["a", "b"], "Elo")).svg
    assert ">a<" in drawn
    assert ">b<" in drawn


def test_a_name_becomes_no_markup_and_hides_nothing() -> None:
    points = [
        {"player": "<b>&\u202e", "match": match, "rating": 1500.0, "low": 1400.0, "high": 1600.0}
        for match in (1, 2)
    ]
    drawn = chart("<i>", "", "course", points, trajectories(points, ["<b>&\u202e"], "Elo")).svg
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
    drawn = chart("Spend", "", "spending", days, spending(days)).svg
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>2026-05-', drawn)]
    assert 2 <= len(places) < 30
    assert all(then - before >= 10 * 7 for before, then in pairwise(places))
    assert len(re.findall("<title>2026-05-", drawn)) == 30
