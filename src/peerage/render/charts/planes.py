"""The kinds of charts, each a plane with its marks.

Every mark has its values as a tooltip. Colours are names for what the style sheet makes of them, in light and
in dark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from peerage.render.charts.drawings import HEIGHT, LETTER_PX, LINE, QUIET, WIDTH, Axis, Label, Plane, fitted
from peerage.render.charts.labels import CROWD, Point, placed

COLOURS = ("#0a56a5", "#b3541e", "#2b7a4b", "#7a3f8f", "#8a6d00", "#00717d")
"""Of the first so many series; the others are quiet."""
WHOLE, TALL = 1100, 420
"""The width of a chart that has a whole page, and the height of one of many points."""
LABEL_PX = 15
"""Between two labels that would overlap."""
EDGE = 24
"""Between the first and the last point and the ends of an axis."""
EDGE_Y = 12
LABEL_MOST = 150
"""Pixels of a name, which is shortened beyond."""

Values: TypeAlias = Sequence[Mapping[str, Any]]


def frontier(
    offers: Values,
    rating: str,
    price: str,
    unit: Callable[[float], str],
    *,
    zero: str = "free",
    width: int = WIDTH,
) -> Plane:
    """Cost against rating, whose axes are called `price` and `rating`; the offers that nobody beats at their
    price are joined, and named or numbered, the highest rated 1. Rows hold player, cost, rating, low, high
    (None without an interval) and best; `unit` writes a cost. Costs of 0 stand apart, as `zero`, where the
    others are on a logarithmic axis."""
    costs = [offer["cost"] for offer in offers if offer["cost"]]
    # Logarithmic where costs span more than a factor of eight.
    log = bool(costs) and max(costs) > 8 * min(costs)
    free = len(costs) < len(offers)
    ends = [offer[end] for offer in offers for end in ("low", "rating", "high")]
    plane = Plane(
        Axis.over(
            price,
            costs if log else [offer["cost"] for offer in offers],
            steps=4,
            form="{:g}".format,
            log=log,
            nice=False,
            pad=EDGE,
            zero=zero * (log and free),
        ),
        Axis.over(rating, ends, nice=False, pad=EDGE_Y),
        width=width,
        height=TALL if crowded(offers) else HEIGHT,
    )
    for one in offers:
        if one["low"] is not None and one["high"] is not None:
            plane.line([(one["cost"], one["low"]), (one["cost"], one["high"])], LINE)
    plane.line([(one["cost"], one["rating"]) for one in offers if one["best"]], COLOURS[0], step=True)
    for one in offers:
        tip = f"{one['player']}: {one['rating']:,.0f}, {unit(one['cost'])}"
        plane.dot(one["cost"], one["rating"], COLOURS[0] if one["best"] else QUIET, tip=tip)
    names = fitted([one["player"] for one in offers], LABEL_MOST if width == WIDTH else 1.5 * LABEL_MOST)
    points = [
        Point(
            plane.x(one["cost"]),
            plane.y(one["rating"]),
            names[one["player"]],
            None
            if one["low"] is None or one["high"] is None
            else (plane.y(one["high"]), plane.y(one["low"])),
            one["best"],
        )
        for one in offers
    ]
    plane.names(placed(points, plane))
    return plane


def crowded(offers: Values) -> bool:
    """Return whether some points of a plane may be without a name, so that a wider drawing is worth its
    room."""
    return len(offers) > CROWD


def trajectories(
    points: Values,
    names: Sequence[str],
    what: str,
    marks: Sequence[tuple[int, str]] = (),
    width: int = WIDTH,
) -> Plane:
    """Ratings, called `what`, over the matches. Rows hold player, match, rating, low and high (its band); the
    players in `names` are drawn in colour and named at the end of their lines. At `marks` stand dashed lines:
    matches, each with what happened there."""
    courses: dict[str, list[Mapping[str, Any]]] = {}
    for point in points:
        courses.setdefault(point["player"], []).append(point)
    coloured = dict(zip([name for name in names if name in courses], COLOURS, strict=False))
    shown = [row["rating"] for row in points]
    shown += [row[end] for name in coloured for row in courses[name] for end in ("low", "high")]
    matches = [*[row["match"] for row in points], *[at for at, _ in marks]]
    ends = fitted(coloured, 98 if width == WIDTH else 180)
    plane = Plane(
        Axis.over("matches", matches, steps=3 if width == WIDTH else 5, nice=False),
        Axis.over(what, shown),
        width=width,
        right=10 + LETTER_PX * max([len(end) for end in ends.values()], default=0),
    )
    for name in courses:
        if name not in coloured:
            last = courses[name][-1]
            plane.line(_course(courses[name]), LINE, size=1, tip=_told(last))
    for name, color in coloured.items():
        bounded = [row for row in courses[name] if row["low"] is not None and row["high"] is not None]
        plane.band([(row["match"], row["low"], row["high"]) for row in bounded], color)
    for name, color in coloured.items():
        plane.line(_course(courses[name]), color)
    for at, why in marks:
        plane.line([(at, plane.y.low), (at, plane.y.high)], QUIET, size=1, dash=True, tip=why)
    for name in coloured:
        for row in courses[name]:
            plane.dot(row["match"], row["rating"], "", radius=5, tip=_told(row))
    named = sorted(coloured, key=lambda name: float(courses[name][-1]["rating"]), reverse=True)
    heights = _apart([plane.y(courses[name][-1]["rating"]) for name in named])
    plane.names(
        Label(plane.right + 6, y, ends[name], coloured[name], "start")
        for name, y in zip(named, heights, strict=True)
    )
    return plane


def _course(rows: Values) -> list[tuple[float, float]]:
    return [(row["match"], row["rating"]) for row in rows]


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['player']}: {row['rating']:.0f} after match {row['match']}"


def spending(days: Values) -> Plane:
    """Dollars by day. Rows hold day (ISO 8601), game and dollars."""
    games = [name for name, _ in _series(days, "game")]
    colours = {game: COLOURS[at % len(COLOURS)] for at, game in enumerate(games)}
    dates = {day: list(rows) for day, rows in groupby(days, lambda row: str(row["day"]))}
    most = max([sum(row["dollars"] for row in rows) for rows in dates.values()], default=1.0)
    plane = Plane(Axis.of(list(dates)), Axis("dollars", 0, most or 1.0))
    size = max(2.0, min(40.0, 260 / max(1, len(dates))))
    for at, rows in enumerate(dates.values()):
        low = 0.0
        for row in rows:
            tip = f"{row['day']}, {row['game']}: ${row['dollars']:.4f}"
            plane.bar(at, low, low + row["dollars"], colours[row["game"]], size=size, tip=tip)
            low += row["dollars"]
    return plane


def scaling(rows: Values) -> Plane:
    """Scores under several token limits, with one standard error each way. Rows hold player, max_tokens,
    score (None: left out) and se (None: no error is known)."""
    known = [row for row in rows if row["score"] is not None]
    ends = [row["score"] + sign * (row["se"] or 0.0) for row in known for sign in (-1, 1)]
    tokens = [row["max_tokens"] for row in known]
    series = _series(known)
    plane = Plane(
        Axis.over("tokens at most", tokens, log=True, nice=False, pad=EDGE),
        Axis.over("score", ends),
        width=2 * WIDTH,
        series=series,
    )
    for name, color in series:
        mine = [row for row in known if row["player"] == name]
        for row in mine:
            at, error = row["max_tokens"], row["se"] or 0.0
            plane.line([(at, row["score"] - error), (at, row["score"] + error)], color, size=1)
            plane.dot(at, row["score"], color)
        plane.line([(row["max_tokens"], row["score"]) for row in mine], color)
    return plane


def picture(plane: Plane, said: str) -> str:
    """A drawing as an SVG file of its own, with no page behind it to give it a colour."""
    white = '<rect width="100%" height="100%" fill="white"/>'
    return str(plane.svg(said, ' xmlns="http://www.w3.org/2000/svg"', white))


def _series(rows: Values, key: str = "player") -> list[tuple[str, str]]:
    """Each name, with its colour."""
    names = list(dict.fromkeys([row[key] for row in rows]))
    return list(zip(names, [*COLOURS, *[QUIET] * len(names)], strict=False))


def _apart(wanted: Sequence[float]) -> list[float]:
    """Heights for labels near `wanted` ones, in pixels from above, that do not overlap."""
    found: list[float] = []
    for height in wanted:
        found.append(max(height, found[-1] + LABEL_PX) if found else height)
    # Half of what the labels were pushed down goes up again, so that they stay near their lines.
    return [height - max(0.0, found[-1] - wanted[-1]) / 2 for height in found]
