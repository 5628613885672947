"""Charts, as they are drawn."""

from __future__ import annotations

import re

import pytest

from peerage.site import drawings
from peerage.site.charts import chart, frontier, trajectories
from peerage.site.drawings import Drawings

CROWDED = (
    *((6.8, 1658), (9.3, 1610), (9.6, 1647), (9.7, 1490), (10.2, 1662), (10.3, 1652), (10.8, 1602)),
    *((10.85, 1620), (10.9, 1700), (14.0, 1810), (15.4, 1605)),
)


@pytest.mark.parametrize("less", [0.0, 6.0, 6.79])
def test_no_name_on_the_plane_of_costs_lies_over_a_point_or_another_name(less: float) -> None:
    best = float("-inf")
    offers = []
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
    points = [
        (float(x), float(y))
        for x, y in re.findall(rf'<path transform="translate\({number},{number}\)"', drawn)
        if (x, y) != ("0", "0")
    ]
    names = [
        (float(x) - (7.0 * len(name) if side == "end" else 0.0), float(y) - 4.0, 7.0 * len(name))
        for side, x, y, name in re.findall(
            rf'<text text-anchor="(start|end)" transform="translate\({number},{number}\)"[^>]*>(a-model-\d)<',
            drawn,
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


def test_a_chart_that_another_process_packed_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Drawings(), Drawings()
    drawn = first.svg('{"mark": "point"}')
    second.unpack(first.pack())
    monkeypatch.setattr(drawings, "drawn", lambda spec: f"drawn again: {spec}")
    assert second.svg('{"mark": "point"}') == drawn
    assert second.svg("{}") == "drawn again: {}"
    second.unpack(b"damaged")
    assert Drawings().svg("{}") == "drawn again: {}"


def test_charts_of_another_version_of_the_library_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Drawings(), Drawings()
    first.svg('{"mark": "point"}')
    packed = first.pack()
    monkeypatch.setattr(drawings, "version", lambda name: "0.0")
    second.unpack(packed)
    monkeypatch.setattr(drawings, "drawn", lambda spec: "drawn again")
    assert second.svg('{"mark": "point"}') == "drawn again"
