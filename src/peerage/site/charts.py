"""Charts: Vega-Lite specs, drawn to SVG when a page is made, so that they stand complete without a script.

Each carries its spec, which the browser draws anew with tooltips once the chart bundle has arrived, and its
table. Colours are names for what the style sheet makes of them, in light and in dark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from peerage.protocol import visible
from peerage.site.build_cache import kept

INK, QUIET, LINE = "#111111", "#666666", "#dddddd"
COLOURS = ("#0a56a5", "#b3541e", "#2b7a4b", "#7a3f8f", "#8a6d00", "#00717d")
"""Of the first so many series; the others are quiet."""

Values = Sequence[Mapping[str, Any]]
Spec: TypeAlias = partial[dict[str, Any]]
"""Makes a spec when it must be drawn: what it is made of can be told, and pickled for another process."""


class Chart(NamedTuple):
    """A drawn chart: `svg` and `spec` are markup to stand in a page, `rows` the first of its `length` rows of
    data, all of which stand in the file `name`."""

    title: str
    about: str
    name: str
    svg: Markup
    spec: Markup
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    length: int


class Drawn(NamedTuple):
    """A chart's markup, which may be kept."""

    svg: str
    spec: str


def frontier(offers: Values) -> dict[str, Any]:
    """Cost against rating; the offers that nobody beats at their price are joined. Rows hold player, cost,
    rating, low, high (None without an interval) and best."""
    return _with(_made("frontier", _frontier, _scale(offers)), offers)


def trajectories(points: Values, names: Sequence[str], what: str) -> dict[str, Any]:
    """Ratings, called `what`, over the matches. Rows hold player, match, rating, low and high (its band); the
    players in `names` are drawn in colour and named at the end of their lines."""
    series = {name: place for place, name in enumerate(names)}
    return _with(
        _made("course", _trajectories, what),
        [{**point, "series": series.get(point["player"], -1)} for point in points],
    )


def spending(days: Values) -> dict[str, Any]:
    """Dollars by day. Rows hold day (ISO 8601), game and dollars."""
    size = max(2, min(40, 500 // max(1, len({row["day"] for row in days}))))
    return _with(_made("spending", _spending, size), days)


def scaling(rows: Values) -> dict[str, Any]:
    """Scores under several token limits, with one standard error each way. Rows hold player, max_tokens,
    score (None: left out) and se (None: no error is known)."""
    known = [
        {
            "player": visible(row["player"]),
            "tokens": row["max_tokens"],
            "score": row["score"],
            "low": row["score"] - (row["se"] or 0.0),
            "high": row["score"] + (row["se"] or 0.0),
        }
        for row in rows
        if row["score"] is not None
    ]
    return _with(_scaling(tuple(dict.fromkeys([row["player"] for row in known]))), known)


@cache
def _made(name: str, make: Callable[..., dict[str, Any]], *of: object) -> dict[str, Any]:
    """A spec without data. It is kept: altair takes as long to start as most pages take to make."""
    name = "-".join([name, *[re.sub(r"\W+", "_", str(one)) for one in of]])
    version = f"{metadata.version('altair')} {of}"
    body = kept(Path(__file__), name, version, lambda: json.dumps(make(*of)).encode())
    found: dict[str, Any] = json.loads(body)
    return found


def _frontier(scale: Literal["log", "linear"]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "cost:Q",
            title="cost per match, the arena's cost unit",
            scale=alt.Scale(type=scale, nice=False, padding=24),
            axis=alt.Axis(labelOverlap="greedy", tickCount=5),
        ),
        tooltip=[
            alt.Tooltip("player:N"),
            alt.Tooltip("rating:Q", format=".0f"),
            alt.Tooltip("cost:Q", format=".3~g"),
        ],
    )
    rating = alt.Y("rating:Q", title="rating", scale=alt.Scale(zero=False))
    best = alt.FieldEqualPredicate(field="best", equal=True)
    layers = [
        base.mark_rule(color=LINE, strokeWidth=2).encode(
            alt.Y("low:Q", scale=alt.Scale(zero=False)), y2="high:Q"
        ),
        base.transform_filter(best).mark_line(color=COLOURS[0], interpolate="step-after").encode(rating),
        base.mark_circle(size=55, opacity=1).encode(
            rating, color=alt.condition(best, alt.value(COLOURS[0]), alt.value(QUIET))
        ),
        base.transform_filter(best)
        .mark_text(align="left", dx=7, dy=-7, color=INK, fontSize=11)
        .encode(rating, text="player:N"),
    ]
    return _spec(alt.layer(*layers), 640, 340)


def _scale(offers: Values) -> Literal["log", "linear"]:
    """Logarithmic where costs span more than a factor of eight and none is zero."""
    costs = [offer["cost"] for offer in offers]
    return "log" if costs and min(costs) > 0 and max(costs) > 8 * min(costs) else "linear"


def _trajectories(what: str) -> dict[str, Any]:
    import altair as alt

    places = list(range(len(COLOURS)))
    colour = alt.Color("series:N", legend=None, scale=alt.Scale(domain=places, range=list(COLOURS)))
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("match:Q", title="matches", scale=alt.Scale(nice=False)), detail="player:N"
    )
    shown = base.transform_filter("datum.series >= 0")
    rating = alt.Y("rating:Q", title=what, scale=alt.Scale(zero=False))
    tooltip = [alt.Tooltip("player:N"), alt.Tooltip("match:Q"), alt.Tooltip("rating:Q", format=".0f")]
    layers = [
        base.mark_line(color=LINE, strokeWidth=1).encode(rating, tooltip=tooltip),
        shown.mark_area(opacity=0.13).encode(
            alt.Y("low:Q", scale=alt.Scale(zero=False)), y2="high:Q", color=colour
        ),
        shown.mark_line(strokeWidth=2).encode(rating, color=colour, tooltip=tooltip),
        shown.transform_window(
            sort=[alt.SortField("match", order="descending")], place="row_number()", groupby=["player"]
        )
        .transform_filter("datum.place == 1")
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(rating, color=colour, text="player:N"),
    ]
    return _spec(alt.layer(*layers), 560, 340, right=130)


def _spending(size: int) -> dict[str, Any]:
    import altair as alt

    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar(size=size)
        .encode(
            x=alt.X("day:O", title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("dollars:Q", title="dollars"),
            color=alt.Color("game:N", legend=None, scale=alt.Scale(range=list(COLOURS))),
            tooltip=[
                alt.Tooltip("day:O"),
                alt.Tooltip("game:N"),
                alt.Tooltip("dollars:Q", format=".4~f"),
            ],
        )
    )
    return _spec(chart, 640, 220)


@cache
def _scaling(names: tuple[str, ...]) -> dict[str, Any]:
    import altair as alt

    colours = [*COLOURS, *[QUIET] * len(names)][: len(names)]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("tokens:Q", title="tokens at most", scale=alt.Scale(type="log", nice=False, padding=24)),
        color=alt.Color("player:N", title=None, scale=alt.Scale(domain=list(names), range=colours)),
    )
    score = alt.Y("score:Q", title="score", scale=alt.Scale(zero=False))
    layers = [
        base.mark_rule().encode(alt.Y("low:Q", scale=alt.Scale(zero=False)), y2="high:Q"),
        base.mark_line(strokeWidth=2, point=True).encode(score),
    ]
    return _spec(alt.layer(*layers), 560, 320)


def _with(spec: dict[str, Any], rows: Values) -> dict[str, Any]:
    """A spec with its data, whose texts are made visible."""
    shown = [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows
    ]
    return {**spec, "datasets": {"rows": shown}}


def drawn(spec: Spec, label: str) -> Drawn:
    """A spec as SVG that scales with the page, and as text to stand in it."""
    return draw(spec(), label)


def draw(spec: Mapping[str, Any], label: str) -> Drawn:
    """A spec as SVG that scales with the page, and as text to stand in it."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=_version(spec["$schema"]))
    # Sizes are the style sheet's; an SVG inside a page needs no declarations of its own.
    size = re.search(r'viewBox="([^"]*)"', svg)
    inside = svg[svg.index(">") + 1 :]
    box = size.group(1) if size else "0 0 640 320"
    head = Markup('<svg class="still" viewBox="{}" role="img" aria-label="{}">').format(box, visible(label))
    return Drawn(str(head) + inside, str(embedded(spec)))


def picture(spec: Mapping[str, Any]) -> str:
    """A spec as an SVG file of its own, with no page behind it to give it a colour."""
    import vl_convert

    opaque = {**spec, "background": "white"}
    return str(vl_convert.vegalite_to_svg(json.dumps(opaque), vl_version=_version(spec["$schema"])))


def library_version() -> str:
    """What `bundle` depends on."""
    return f"{metadata.version('altair')} {metadata.version('vl-convert-python')}"


def bundle() -> bytes:
    """The browser's drawing library as one script: Vega, Vega-Lite and Vega-Embed. It is kept: putting it
    together takes seconds."""

    def together() -> bytes:
        import altair as alt
        import vl_convert

        version = _version(alt.SCHEMA_URL)
        return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)).encode()

    return kept(Path(__file__), "vega.js", library_version(), together)


def _version(schema: str) -> str:
    """The version of Vega-Lite that a spec is written for, by the address of its schema, cut to its minor."""
    major, minor, *_ = schema.rpartition("/v")[2].removesuffix(".json").split(".")
    return f"v{major}.{minor}"


def embedded(data: Mapping[str, Any]) -> Markup:
    """JSON to stand in a page, which no text inside it can end or turn into markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _spec(chart: Any, width: int, height: int, right: int = 10) -> dict[str, Any]:
    made: dict[str, Any] = (
        chart.properties(
            width=width, height=height, padding={"left": 4, "top": 8, "bottom": 4, "right": right}
        )
        .configure(font="system-ui, sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            domainColor=LINE,
            tickColor=LINE,
            gridColor=LINE,
            labelColor=QUIET,
            titleColor=QUIET,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            labelFontWeight="normal",
            tickCount=6,
        )
        .to_dict()
    )
    return made
