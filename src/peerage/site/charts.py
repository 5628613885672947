"""Charts: Vega-Lite specs, drawn to SVG when a page is made, so that no script is needed to see them.

Each is drawn for the width of a phone, where it gains by it once more for that of a page. Every mark has its
values as a tooltip, and below each chart are its table and its data to download. Colours are names for what
the style sheet makes of them, in light and in dark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from math import log
from threading import Thread
from typing import Any, NamedTuple, TypeAlias

from markupsafe import Markup

from peerage.protocol import visible
from peerage.site.drawings import DRAWINGS, drawn

INK, QUIET, LINE = "#111111", "#666666", "#dddddd"
COLOURS = ("#0a56a5", "#b3541e", "#2b7a4b", "#7a3f8f", "#8a6d00", "#00717d")
"""Of the first so many series; the others are quiet."""
WIDTH, HEIGHT = 352, 290
"""Of a chart in pixels: it fits a phone of 360, and two stand next to each other on a page."""
WHOLE = 1100
"""The width of a chart that has a whole page."""
SHOWN = 60
"""Rows of a chart's table that are in the page; all of them are in its file."""
LABEL_PX = 15
"""Between two labels that would overlap."""
EDGE = 24
"""Between the first and the last point and the ends of an axis."""
EDGE_Y = 12
CROWD = 12
"""Of more points than so many, a name stands right at its own or nowhere."""
LABEL_MOST = 150
"""Pixels of a name, which is cut beyond."""
LETTER_PX = 7.2
"""A letter's width in the widest of the usual fonts; the chart is drawn with another one."""

HIGH = {"field": "high"}
TIP: Mapping[str, Any] = {"description": {"field": "tip"}}

Values: TypeAlias = Sequence[Mapping[str, Any]]
Spec: TypeAlias = dict[str, Any]


class Chart(NamedTuple):
    """A drawn chart: `svg` is markup to put into a page, `rows` the first of its `length` rows of data. The
    file `name` holds all of them. `wide` is the same drawn for a whole page, empty where there is none."""

    title: str
    about: str
    name: str
    svg: Markup
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    length: int
    wide: Markup = Markup("")

    def __repr__(self) -> str:
        return f"<Chart {self.title}>"

    def _repr_html_(self) -> str:
        return Markup(
            '<figure style="max-width:60em;margin:0;padding:.5em;background:#fff;color:#111"><figcaption>'
            "<b>{}</b> {}</figcaption>{}</figure>"
        ).format(visible(self.title), visible(self.about), self.svg)


def chart(title: str, about: str, name: str, rows: Values, spec: Spec, wide: Spec | None = None) -> Chart:
    """The chart that `spec` draws of these rows, and `wide` for a whole page; `name` is that of its file of
    data."""
    said = visible(f"{title}. {about}")
    return Chart(
        title,
        about,
        name,
        _inside(spec, said),
        tuple(rows[0]) if rows else (),
        [tuple(row.values()) for row in rows[:SHOWN]],
        len(rows),
        _inside(wide, said) if wide else Markup(""),
    )


def _inside(spec: Spec, said: str) -> Markup:
    """A spec drawn to stand in a page, whose style sheet gives sizes; it needs no declarations of its own."""
    svg = DRAWINGS.svg(json.dumps(spec))
    size = re.search(r'viewBox="([^"]*)"', svg)
    head = Markup('<svg viewBox="{}" role="img" aria-label="{}">').format(
        size.group(1) if size else f"0 0 {WIDTH} {HEIGHT}", said
    )
    return head + Markup(svg[svg.index(">") + 1 :])


def frontier(offers: Values, rating: str, price: str, unit: str = "${:.3g}") -> Spec:
    """Cost against rating, whose axes are called `price` and `rating`; the offers that nobody beats at their
    price are joined. Rows hold player, cost, rating, low, high (None without an interval) and best; `unit`
    writes a cost."""
    costs = [offer["cost"] for offer in offers]
    # Logarithmic where costs span more than a factor of eight and none is zero.
    scale = "log" if costs and min(costs) > 0 and max(costs) > 8 * min(costs) else "linear"
    step = {"type": "line", "color": COLOURS[0], "interpolate": "step-after"}

    def exact(field: str, title: str = "") -> dict[str, Any]:  # names are placed by it, to the pixel
        return {**_quantity(field, title), "scale": {"zero": False, "nice": False, "padding": EDGE_Y}}

    color = {"condition": {"test": "datum.best", "value": COLOURS[0]}, "value": QUIET}
    layers = [
        _layer({"type": "rule", "color": LINE, "strokeWidth": 2, "aria": False}, y=exact("low"), y2=HIGH),
        _layer({**step, "aria": False}, "datum.best", y=exact("rating")),
        _layer({"type": "circle", "size": 55, "opacity": 1}, y=exact("rating", rating), color=color, **TIP),
        _labels(
            _placed(offers, scale),
            {"expr": "datum.align"},
            {"expr": "datum.dx"},
            {"expr": "datum.dy"},
            scale=exact("at")["scale"],
            color={"condition": {"test": "datum.best", "value": INK}, "value": QUIET},
        ),
    ]
    x = {
        **_quantity("cost", price),
        "scale": {"type": scale, "nice": False, "zero": False, "padding": EDGE},
        "axis": {"labelOverlap": "greedy", "tickCount": 4, "grid": False, "format": "~g"},
    }
    tips = [
        {**one, "tip": f"{one['player']}: {one['rating']:.0f}, {unit.format(one['cost'])}"} for one in offers
    ]
    return _spec({"x": x}, layers, tips)


def trajectories(
    points: Values,
    names: Sequence[str],
    what: str,
    marks: Sequence[tuple[int, str]] = (),
    width: int = WIDTH,
) -> Spec:
    """Ratings, called `what`, over the matches. Rows hold player, match, rating, low and high (its band); the
    players in `names` are drawn in colour and named at the end of their lines. At `marks` stand dashed lines:
    matches, each with what happened there."""
    series = {name: place for place, name in enumerate(names)}
    rows = [
        {
            **point,
            "series": series.get(point["player"], -1),
            "tip": f"{point['player']}: {point['rating']:.0f} after match {point['match']}",
        }
        for point in points
    ]
    last = {row["player"]: row for row in rows if row["series"] >= 0}
    shown = [row[end] for row in rows for end in ("rating", "low", "high")[: 3 if row["series"] >= 0 else 1]]
    ends = [end for end in shown if end is not None]
    named = sorted(last.values(), key=lambda row: float(row["rating"]))
    labels = [
        {**row, "at": at}
        for row, at in zip(named, _apart([row["rating"] for row in named], ends), strict=True)
    ]
    scale = {"domain": list(range(len(COLOURS))), "range": list(COLOURS)}
    colour = {"field": "series", "type": "nominal", "legend": None, "scale": scale}
    coloured = "datum.series >= 0"
    quiet = {"type": "line", "color": LINE, "strokeWidth": 1}
    layers = [
        _layer(quiet, "datum.series < 0", y=_y("rating", what), **TIP),
        _layer(
            {"type": "area", "opacity": 0.13, "aria": False}, coloured, y=_y("low"), y2=HIGH, color=colour
        ),
        _layer({"type": "line", "strokeWidth": 2, "aria": False}, coloured, y=_y("rating"), color=colour),
        _layer({"type": "circle", "size": 80, "opacity": 0}, coloured, y=_y("rating"), **TIP),
        _labels(labels, "left", 6, 0, limit=98 if width == WIDTH else 180, color=colour),
    ]
    if marks:
        dashed = _layer({"type": "rule", "color": QUIET, "strokeDash": [4, 3]}, **TIP)
        told = _shown([{"match": at, "tip": why} for at, why in marks])
        layers.append({"data": {"values": told}, **dashed})
    ticks, right = (3, 10) if width == WIDTH else (5, 40)
    x = {**_quantity("match", "matches"), "scale": {"nice": False}, "axis": {"tickCount": ticks}}
    return _spec({"x": x, "detail": {"field": "player"}}, layers, rows, right, width)


def reliability(bins: Values) -> Spec:
    """How often came true what was called how likely; on the dashed line it is as often as said. Rows hold
    player, said and came_true (means of a bin, from 0 to 1) and forecasts (its size)."""
    rows = [
        {
            **one,
            "tip": f"{one['player']}: of {one['forecasts']:,} called {one['said']:.0%} likely, "
            f"{one['came_true']:.0%} came true",
        }
        for one in bins
    ]
    names = list(dict.fromkeys([visible(row["player"]) for row in rows]))
    scale = {"domain": names, "range": [*COLOURS, *[QUIET] * len(names)][: len(names)]}
    colour: dict[str, Any] = {"field": "player", "type": "nominal", "title": None, "scale": scale}
    colour |= {} if len(names) > 1 else {"legend": None}
    unit = {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5}}
    size = {**_quantity("forecasts"), "legend": None, "scale": {"range": [20, 220]}}
    ends = [{"said": 0, "came_true": 0}, {"said": 1, "came_true": 1}]
    y = {**_quantity("came_true", "came true"), **unit}
    layers = [
        {
            "data": {"values": ends},
            **_layer({"type": "line", "color": QUIET, "strokeDash": [4, 3], "aria": False}, y=y),
        },
        _layer({"type": "line", "strokeWidth": 2, "aria": False}, y=y, color=colour),
        _layer({"type": "circle", "opacity": 1}, y=y, color=colour, size=size, **TIP),
    ]
    return _spec({"x": {**_quantity("said", "called likely"), **unit}}, layers, rows)


def strength(games: Values) -> Spec:
    """One player's share of wins in each game, on lines from 0% to 100%. Rows hold game, share, low and high,
    all in percent, the overall one first."""
    rows = [
        {**row, "tip": f"{row['game']}: {row['share']:.0f}%, {row['low']:.0f}% to {row['high']:.0f}%"}
        for row in games
    ]
    x = {**_quantity("share", "share of wins, %"), "scale": {"domain": [0, 100]}}
    color = {"condition": {"test": "datum.game == 'overall'", "value": COLOURS[1]}, "value": COLOURS[0]}
    layers = [
        {"mark": {"type": "rule", "color": LINE, "aria": False}, "encoding": {"x": {"datum": 50}, "y": None}},
        _layer(
            {"type": "rule", "strokeWidth": 3, "opacity": 0.5, "aria": False},
            x={**x, "field": "low"},
            x2=HIGH,
            color=color,
        ),
        _layer({"type": "circle", "size": 70, "opacity": 1}, x=x, color=color, **TIP),
    ]
    y = {"field": "game", "type": "nominal", "title": None, "sort": None, "axis": {"grid": False}}
    spec = _spec({"y": y}, layers, rows)
    return {**spec, "height": 70 + 24 * len(rows)}


def spending(days: Values) -> Spec:
    """Dollars by day. Rows hold day (ISO 8601), game and dollars."""
    size = max(2, min(40, 260 // max(1, len({row["day"] for row in days}))))
    rows = [{**row, "tip": f"{row['day']}, {row['game']}: ${row['dollars']:.4f}"} for row in days]
    colour = {"field": "game", "type": "nominal", "legend": None, "scale": {"range": list(COLOURS)}}
    y = {**_quantity("dollars", "dollars"), "scale": {"zero": True}}
    bars = _layer({"type": "bar", "size": size}, y=y, color=colour, **TIP)
    x = {"field": "day", "type": "ordinal", "title": None, "axis": {"labelAngle": 0, "labelOverlap": True}}
    return _spec({"x": x}, [bars], rows)


def scaling(rows: Values) -> Spec:
    """Scores under several token limits, with one standard error each way. Rows hold player, max_tokens,
    score (None: left out) and se (None: no error is known)."""
    known = [
        {
            "player": row["player"],
            "tokens": row["max_tokens"],
            "score": row["score"],
            "low": row["score"] - (row["se"] or 0.0),
            "high": row["score"] + (row["se"] or 0.0),
        }
        for row in rows
        if row["score"] is not None
    ]
    names = list(dict.fromkeys([row["player"] for row in known]))
    colours = [*COLOURS, *[QUIET] * len(names)][: len(names)]
    scale = {"domain": [visible(name) for name in names], "range": colours}
    colour = {"field": "player", "type": "nominal", "title": None, "scale": scale}
    x = {
        **_quantity("tokens", "tokens at most"),
        "scale": {"type": "log", "nice": False, "padding": EDGE},
    }
    layers = [
        _layer({"type": "rule"}, y=_y("low"), y2=HIGH),
        _layer({"type": "line", "strokeWidth": 2, "point": True}, y=_y("score", "score")),
    ]
    return _spec({"x": x, "color": colour}, layers, known)


def picture(spec: Spec) -> str:
    """A spec as an SVG file of its own, with no page behind it to give it a colour."""
    return DRAWINGS.svg(json.dumps({**spec, "width": 2 * WIDTH, "background": "white"}))


def begin() -> None:
    """Have the library start in a thread: its first chart takes half a second, others a tenth of that."""
    Thread(target=drawn, args=(json.dumps(frontier([], "", "")),), daemon=True).start()


def embedded(data: Mapping[str, Any]) -> Markup:
    """JSON to put into a page, which no text inside it can end or turn into markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _placed(offers: Values, scale: str) -> list[dict[str, Any]]:
    """Offers, each with the place of its name: where it lies over no point, no other name, and best no line.
    The best, from the highest rated on, have one unless it would cover another one, the others where there is
    room."""
    if not offers:
        return []
    costs: list[float] = [log(offer["cost"]) if scale == "log" else offer["cost"] for offer in offers]
    ends = [end for one in offers for end in (one["low"], one["rating"], one["high"]) if end is not None]
    wide, high = (max(costs) - min(costs)) or 1.0, (max(ends) - min(ends)) or 1.0
    # As Vega draws it, in pixels from the upper left corner: axes and their titles take the rest.
    width, height = WIDTH - 62, HEIGHT - 72
    points: list[tuple[float, float]] = [
        (
            EDGE + (cost - min(costs)) / wide * (width - 2 * EDGE),
            EDGE_Y + (max(ends) - one["rating"]) / high * (height - 2 * EDGE_Y),
        )
        for cost, one in zip(costs, offers, strict=True)
    ]
    stairs = [point for point, one in zip(points, offers, strict=True) if one["best"]]
    taken: list[tuple[float, float, float]] = []

    def crowded(left: float, middle: float, long: float) -> int:
        """How badly a name would lie there; from 4 on over something that it may not cover."""
        right, over = left + long, 0
        over += 4 * sum([left - 6 < x < right + 6 and abs(middle - y) < 12 for x, y in points])
        over += 8 * sum(
            [left < x + more + 4 and x < right + 4 and abs(middle - y) < 15 for x, y, more in taken]
        )
        over += 20 * (left < 0 or right > width or not 0 < middle < height)
        for (x, y), (then_x, then_y) in pairwise(stairs):
            over += (left < then_x and x < right and abs(middle - y) < 7) or (
                left - 3 < then_x < right + 3 and then_y - 7 < middle < y + 7
            )
        return over

    found = []
    near = (-10, 11, -25, 26) if len(offers) > CROWD else (-10, 11, -25, 26, -40, 41, -55, 56)
    for best in (True, False):
        for offer, (x, y) in reversed([*zip(offers, points, strict=True)]):
            if offer["best"] is not best:
                continue
            long = LETTER_PX * len(_fitted(offer["player"], LABEL_MOST))
            choices = [
                (crowded(x + dx - long * (dx < 0), y + dy, long), place, dx, dy)
                for place, (dy, dx) in enumerate(product(near, (-7, 7)))
            ]
            bad, _, dx, dy = min(choices)
            if bad < (8 if best else 4):
                taken.append((x + dx - long * (dx < 0), y + dy, long))
                side = "left" if dx > 0 else "right"
                found.append({**offer, "at": offer["rating"], "dx": dx, "dy": dy, "align": side})
    return found


def _apart(wanted: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Heights for labels near `wanted` ones, in ascending order, that do not overlap; `ends` span them."""
    # The axis goes on to round numbers beyond both ends.
    gap = 1.2 * (max(ends, default=1.0) - min(ends, default=0.0)) * LABEL_PX / (HEIGHT - 60)
    found: list[float] = []
    for height in wanted:
        found.append(max(height, found[-1] + gap) if found else height)
    # Half of what the labels were pushed up goes down again, so that they stay near their lines.
    return [height - max(0.0, found[-1] - wanted[-1]) / 2 for height in found]


def _labels(
    rows: Values,
    align: Any,
    dx: Any,
    dy: Any,
    *,
    limit: int = LABEL_MOST,
    scale: Mapping[str, Any] | None = None,
    **encoding: Any,
) -> dict[str, Any]:
    """The names of players, `limit` pixels long at most, at their heights `at`, so many pixels beside their
    points."""
    mark = {"type": "text", "color": INK, "fontSize": 12, "aria": False, "align": align, "dx": dx, "dy": dy}
    y = {**_y("at"), "scale": scale} if scale else _y("at")
    layer = _layer(mark, y=y, text={"field": "player"}, **encoding)
    named = [{**row, "player": _fitted(visible(row["player"]), limit)} for row in rows]
    return {"data": {"values": _shown(named)}, **layer}


def _fitted(name: str, limit: float) -> str:
    """A name that is `limit` pixels long at most."""
    most = int(limit / LETTER_PX)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _quantity(field: str, title: str = "") -> dict[str, Any]:
    return {"field": field, "type": "quantitative", **({"title": title} if title else {})}


def _y(field: str, title: str = "") -> dict[str, Any]:
    return {**_quantity(field, title), "scale": {"zero": False}}


def _layer(mark: Mapping[str, Any], only: str = "", **encoding: Any) -> dict[str, Any]:
    return {"mark": mark, "encoding": encoding, **({"transform": [{"filter": only}]} if only else {})}


def _shown(rows: Values) -> list[dict[str, Any]]:
    """Rows whose texts are made visible."""
    return [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows
    ]


def _spec(
    encoding: Mapping[str, Any],
    layers: Sequence[Mapping[str, Any]],
    rows: Values,
    right: int = 10,
    width: int = WIDTH,
) -> Spec:
    quiet = {
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": LINE,
        "labelColor": QUIET,
        "titleColor": QUIET,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 12,
        "labelFontWeight": "normal",
        "tickCount": 5,
    }
    return {
        "width": width,
        "height": HEIGHT,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 4, "top": 10, "bottom": 4, "right": right},
        "background": "transparent",
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": None}, "axis": quiet},
        "data": {"values": _shown(rows)},
        "encoding": encoding,
        "layer": layers,
    }
