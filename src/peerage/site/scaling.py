"""What more tokens are worth, as a picture: each player's score under several token limits."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from peerage.protocol import visible
from peerage.site.charts import COLOURS, LINE, QUIET


def svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """An SVG file; rows hold player, max_tokens, score (None: left out), and se or None."""
    import altair as alt

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
    names = list(dict.fromkeys([row["player"] for row in known]))
    colours = [*COLOURS, *[QUIET] * len(names)][: len(names)]
    base = alt.Chart(alt.InlineData(values=known)).encode(
        x=alt.X("tokens:Q", title="tokens at most", scale=alt.Scale(type="log", nice=False)),
        color=alt.Color("player:N", title=None, scale=alt.Scale(domain=names, range=colours)),
    )
    scale = alt.Scale(zero=False)
    lines = base.mark_line(strokeWidth=2, point=True).encode(alt.Y("score:Q", title="score", scale=scale))
    errors = base.mark_rule().encode(alt.Y("low:Q", scale=scale), y2="high:Q")
    chart = (
        alt.layer(lines, errors)
        .properties(width=560, height=320)
        .configure(font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(gridColor=LINE, domainColor=LINE, tickColor=LINE, labelColor=QUIET, titleColor=QUIET)
    )
    file = io.StringIO()
    chart.save(file, format="svg")
    return file.getvalue()
