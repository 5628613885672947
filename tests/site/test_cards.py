"""The pictures of links: whom they show of many, who is marked, and where intervals stand."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from msgspec.structs import replace

from peerage.site.cards import CardRow, drawn, rated
from peerage.views.leaderboard.row import Row

BLANK = Row(0, "", "", "", "strength", 0.0, None, None, 0, 0, 0, 0, 0, 1.0, None, 0, 0, ())


def ranked(count: int, **more: Any) -> list[Row]:
    return [
        replace(BLANK, rank=at, player=f"p{at}", rating=1600.0 - 10 * at, **more)
        for at in range(1, count + 1)
    ]


def test_of_many_the_first_are_shown_and_the_marked_one_last() -> None:
    assert [row.name for row in rated(ranked(9))] == ["p1", "p2", "p3", "p4", "p5", "p6"]
    for marked, last in (("p8", "p8"), ("p7", "p7"), ("p6", "p6"), ("p2", "p6"), ("nobody", "p6")):
        shown = rated([replace(BLANK, rank=None, player="new"), *ranked(9)], marked)
        assert [row.name for row in shown] == ["p1", "p2", "p3", "p4", "p5", last]
        assert [row.name for row in shown if row.marked] == [marked] * (marked != "nobody")
        assert shown[-1].place == last[1:]


def test_an_interval_is_about_what_the_table_rates() -> None:
    [row] = rated(ranked(1, lower=1500.0, upper=1650.0))
    assert row.interval == (1500.0, 1590.0, 1650.0)
    [alone] = rated(ranked(1))
    assert alone.interval == (1590.0, 1590.0, 1590.0)
    [skill] = rated(ranked(1, lower=20.0, upper=30.0, mu=25.5, track="trueskill"))
    assert skill.interval == (20.0, 25.5, 30.0)


def test_intervals_share_an_axis_and_the_marked_line_is_bold() -> None:
    rows = [
        CardRow("ada", "1,600", "1", (1500.0, 1600.0, 1700.0)),
        CardRow("bob", "1,400", "2", (1300.0, 1400.0, 1700.0), marked=True),
        CardRow("cid", "1,350", "3", (1350.0, 1350.0, 1350.0)),
    ]
    found = list(ElementTree.fromstring(drawn("", "", rows)).iter())
    points = [float(each.get("cx", 0)) for each in found if each.tag.endswith("circle")]
    assert points == [740 + 300.0, 740 + 100.0, 740 + 50.0]
    lines = [each.get("d", "") for each in found if each.get("stroke-width") == "6"]
    ends = [tuple(float(part) for part in (line[1:].split()[0], line.partition("H")[2])) for line in lines]
    assert ends == [(740 + 200.0, 740 + 400.0), (740.0, 740 + 400.0)]
    names = {each.text: each.get("font-weight") for each in found if each.text in ("ada", "bob", "cid")}
    assert names == {"ada": "400", "bob": "700", "cid": "400"}
