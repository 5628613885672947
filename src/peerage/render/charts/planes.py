"""The kinds of charts, each a plane with its marks.

Every mark has its values as a tooltip. Colours are names for what the style sheet makes of them, in light and
in dark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from markupsafe import Markup, escape

from peerage.render.charts.drawings import (
    HEIGHT,
    INK,
    LETTER_PX,
    LINE,
    PAPER,
    QUIET,
    WIDTH,
    Axis,
    Label,
    Plane,
    fitted,
)
from peerage.render.charts.labels import CROWD, Point, placed
from peerage.values import grouped
from peerage.values.figures import axis_dollars, dollars, shortened
from peerage.values.texts import visible

COLOURS = ("#0a56a5", "#b3541e", "#117766", "#331199", "#880022", "#660055")
"""Of the first so many series, apart for the colour-blind too; the others are quiet."""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "14 4", "4 2")
"""Of the models of one maker, which share a colour."""
SEEN = 2
"""Of the first so many series the band is seen unless a reader chooses others."""
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
    tick: Callable[[float], str] = "{:g}".format,
    width: int = WIDTH,
) -> Plane:
    """Cost against rating, whose axes are called `price` and `rating`; the offers that nobody beats at their
    price are joined, and named or numbered, the highest rated 1. Rows hold player, cost, rating, low, high
    (None without an interval) and best; `unit` writes a cost and `tick` it on the axis. Costs of 0
    stand apart, as `zero`, where the others are on a logarithmic axis."""
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
            form=tick,
            log=log,
            nice=False,
            pad=EDGE,
            zero=zero * (log and free),
        ),
        Axis.over(rating, ends, nice=False, pad=EDGE_Y),
        width=width,
        height=TALL if crowded(offers) else HEIGHT + 40,
    )
    for one in offers:
        if one["low"] is not None and one["high"] is not None:
            plane.line([(one["cost"], one["low"]), (one["cost"], one["high"])], LINE)
    plane.line([(one["cost"], one["rating"]) for one in offers if one["best"]], COLOURS[0], step=True)
    for one in offers:
        tip = f"{one['player']}: {one['rating']:,.0f}, {unit(one['cost'])}"
        plane.dot(one["cost"], one["rating"], COLOURS[0] if one["best"] else QUIET, tip=tip)
    players = [one["player"] for one in offers]
    for most in (LABEL_MOST, 110, 80) if width == WIDTH else (1.5 * LABEL_MOST,):
        names = fitted(players, most)
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
        labels = placed(points, plane)
        if crowded(offers) or len(labels) == len(points):
            break
    plane.names(labels)
    return plane


def crowded(offers: Values) -> bool:
    """Return whether points of a plane may lack a name, so that a wider drawing is worth its room."""
    return len(offers) > CROWD


def trajectories(
    points: Values,
    names: Sequence[str],
    what: str,
    marks: Sequence[tuple[int, str]] = (),
    makers: Sequence[str] = (),
    width: int = WIDTH,
) -> Plane:
    """Ratings, called `what`, over the matches. Rows hold player, match, rating, low and high (its band); the
    players in `names` are drawn in the colour of their `makers` and named at the end of their lines. At
    `marks` stand dashed lines: matches, each with what happened there."""
    courses: dict[str, list[Mapping[str, Any]]] = grouped((point["player"], point) for point in points)
    coloured = {name: style for name, style in styled(names, makers).items() if name in courses}
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
            plane.line(_course(courses[name]), LINE, size=1, tip=_told(courses[name][-1]))
    for at, why in marks:
        plane.line([(at, plane.y.low), (at, plane.y.high)], QUIET, size=1, dash="4 3", tip=why)
    named = sorted(coloured, key=lambda name: float(courses[name][-1]["rating"]), reverse=True)
    heights = _apart([plane.y(courses[name][-1]["rating"]) for name in named])
    at_end = dict(zip(named, heights, strict=True))
    for number, (name, (color, dash)) in enumerate(coloured.items(), 1):
        bounded = [row for row in courses[name] if row["low"] is not None and row["high"] is not None]
        with plane.run(number):
            plane.band(
                [(row["match"], row["low"], row["high"]) for row in bounded], color, seen=number <= SEEN
            )
            plane.line(_course(courses[name]), "", size=12)
            plane.line(_course(courses[name]), color, dash=dash)
            for row in courses[name]:
                plane.dot(row["match"], row["rating"], "", radius=5, tip=_told(row))
            plane.names([Label(plane.right + 6, at_end[name], ends[name], color, "start")])
    return plane


def styled(names: Sequence[str], makers: Sequence[str] = ()) -> dict[str, tuple[str, str]]:
    """Return the color and the dashes of each name's line: one color for a maker, unless all have the same,
    and other dashes for each of its models. A name without a maker is its own."""
    of = [maker or name for name, maker in zip(names, makers or names, strict=True)]
    of = of if len({*of}) > 1 else [*names]
    hues = dict(zip(dict.fromkeys(of), COLOURS, strict=False))
    return {
        name: (hues[maker], DASHES[of[:at].count(maker) % len(DASHES)])
        for at, (name, maker) in enumerate(zip(names, of, strict=True))
        if maker in hues
    }


def _course(rows: Values) -> list[tuple[float, float]]:
    return [(row["match"], row["rating"]) for row in rows]


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['player']}: {row['rating']:.0f} after match {row['match']}"


def sample(color: str, dash: str) -> Markup:
    """Return a piece of a line of this style, for a legend."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return Markup(
        f'<svg width="28" height="8" aria-hidden="true"><path d="M0 4H28" stroke="{color}" stroke-width="3"'
        f"{dashed}/></svg>"
    )


def spending(days: Values) -> Plane:
    """Dollars by day. Rows hold day (ISO 8601), game and dollars."""
    games = [name for name, _ in _series(days, "game")]
    colours = {game: COLOURS[at % len(COLOURS)] for at, game in enumerate(games)}
    dates = {day: list(rows) for day, rows in groupby(days, lambda row: str(row["day"]))}
    most = max([sum(row["dollars"] for row in rows) for rows in dates.values()], default=1.0)
    plane = Plane(Axis.of(list(dates)), Axis("", 0, most or 1.0, form=axis_dollars))
    size = max(2.0, min(40.0, 260 / max(1, len(dates))))
    for at, rows in enumerate(dates.values()):
        low = 0.0
        for row in rows:
            tip = f"{row['day']}, {row['game']}: {dollars(row['dollars'])}"
            plane.bar(at, low, low + row["dollars"], colours[row["game"]], size=size, tip=tip)
            low += row["dollars"]
    return plane


def intervals(rows: Values, what: str) -> Plane:
    """Numbers, called `what`, with their intervals, the first at the top. Rows hold player, at, low and high
    (None where no interval is known)."""
    names, ends = fitted([row["player"] for row in rows], LABEL_MOST), ("low", "at", "high")
    plane = Plane(
        Axis.over(what, [row[end] for row in rows for end in ends], nice=False, pad=EDGE_Y),
        Axis.of([names[row["player"]] for row in reversed(rows)]),
        width=2 * WIDTH,
        height=70 + 20 * len(rows),
    )
    for place, row in enumerate(reversed(rows)):
        tip = f"{row['player']}: {row['at']:,.4g}"
        if row["low"] is not None and row["high"] is not None:
            plane.line([(row["low"], place), (row["high"], place)], COLOURS[0], tip=tip)
        plane.dot(row["at"], place, COLOURS[0], tip=tip)
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


def picture(plane: Plane, said: str, lines: Sequence[str] = (), below: Sequence[str] = ()) -> str:
    """A drawing as an SVG file that brings its colours: `lines` above it, its title first, others `below`."""
    top, high = 20 * len(lines) + 12, 18 * len(below) + 12 * bool(below)
    texts = [(20.0 * at - top + 2, text, 15 if at == 1 else 12) for at, text in enumerate(lines, 1)]
    texts += [(plane.height + 18 * at, text, 12) for at, text in enumerate(below, 1)]
    head = [
        f'<text x="8" y="{y:g}" font-size="{size}" fill="{INK if size > 12 else QUIET}">'
        f"{escape(visible(shortened([text], int((plane.width - 16) * 12 / size / LETTER_PX))[text]))}</text>"
        for y, text, size in texts
    ]
    return str(
        plane.svg(
            said,
            ' xmlns="http://www.w3.org/2000/svg"',
            f'<rect y="{-top}" width="100%" height="100%" fill="{PAPER}"/>{"".join(head)}',
            above=top,
            below=high,
        )
    )


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
