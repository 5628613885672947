"""A chart of a site: drawn once for the same data, its table and its data to download beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from markupsafe import Markup

from peerage.site.charts import Chart, Spec, library_version
from peerage.site.reading import Site

SHOWN = 60
"""Rows of a chart's table that stand in the page; all of them are in its file."""


def chart(
    site: Site,
    title: str,
    about: str,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    spec: Spec,
) -> Chart:
    """The chart of these rows. `name` is its file's; `spec` makes its spec when it must be drawn."""
    label = f"{title}. {about}"
    made_of = [library_version(), label, spec.func.__name__, spec.args]
    drawn = site.drawing(sha256(msgspec.json.encode(made_of)).hexdigest(), spec, label)
    columns = tuple(rows[0]) if rows else ()
    return Chart(
        title,
        about,
        name,
        Markup(drawn.svg),
        Markup(drawn.spec),
        columns,
        [tuple(row.values()) for row in rows[:SHOWN]],
        len(rows),
    )
