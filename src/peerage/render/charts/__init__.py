"""Charts: drawn to SVG when a page is made, so that no script is needed to see them.

Each is drawn for the width of a phone, and where it gains by it once more for that of a page. Below each are
its table and its data to download.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from peerage.render.blocks import Figure
from peerage.render.charts.drawings import Plane
from peerage.render.charts.planes import (
    WHOLE,
    crowded,
    frontier,
    intervals,
    picture,
    sample,
    spending,
    styled,
    trajectories,
)
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.texts import visible


class Chart(NamedTuple):
    """A drawn chart: `svg` is markup to put into a page, `wide` the same drawn for a whole page, empty where
    there is none. `key` lists the names that numbers on the drawing stand for, from 1 on, each with its
    value; `legend` the series of several, with a sample of their lines."""

    title: str
    about: str
    svg: Markup
    wide: Markup = Markup("")
    key: Sequence[tuple[str, str]] = ()
    legend: Sequence[tuple[str, Markup]] = ()

    def __repr__(self) -> str:
        return f"<Chart {self.title}>"

    def _repr_html_(self) -> str:
        return Markup(
            '<figure style="max-width:60em;margin:0;padding:.5em;background:#fff;color:#111"><figcaption>'
            "<b>{}</b> {}</figcaption>{}{}</figure>"
        ).format(visible(self.title), visible(self.about), self.svg, self._list())

    def _list(self) -> Markup:
        """The key as markup."""
        lines = [Markup("<li>{} {}</li>").format(visible(name), value) for name, value in self.key]
        return Markup("<ol>{}</ol>").format(Markup("").join(lines)) if lines else Markup("")


def draw(figure: Figure, names: Names = AS_THEY_ARE) -> Chart:
    """Return the chart that a figure describes, its drawing with short names."""
    said = visible(names.in_text(f"{figure.title}. {figure.about}"))
    plane, wide = _planes(figure, names)
    players = figure.options.get("names", ())
    styles = styled(players, _makers(players, names))
    return Chart(
        title=figure.title,
        about=figure.about,
        svg=plane.svg(said),
        wide=wide.svg(said) if wide else Markup(""),
        key=figure.key,
        legend=[(name, sample(*style)) for name, style in styles.items()] if len(styles) > 1 else (),
    )


def pictured(figure: Figure, arena: str, names: Names = AS_THEY_ARE) -> str:
    """Return the chart that a figure describes as an SVG file, with its title and the arena's name."""
    plane, wide = _planes(figure, names)
    key = [f"{place}. {names.short(name)} {value}" for place, (name, value) in enumerate(figure.key, 1)]
    said = visible(names.in_text(f"{figure.title}. {figure.about}"))
    return picture(wide or plane, said, (figure.title, arena), key)


def _makers(players: Sequence[str], names: Names) -> list[str]:
    return [names.of(player).maker for player in players]


def _planes(figure: Figure, names: Names) -> tuple[Plane, Plane | None]:
    """Return what a figure is drawn on, and the same for a whole page where that is worth its room."""
    rows, options = figure.rows, dict(figure.options)
    if figure.kind != "spending":
        rows = [{**row, "player": names.short(row["player"])} for row in rows]
        if players := options.get("names"):
            options |= {"names": [*map(names.short, players)], "makers": _makers(players, names)}
    match figure.kind:
        case "frontier":
            wide = frontier(rows, **options, width=WHOLE) if crowded(rows) else None
            return frontier(rows, **options), wide
        case "course":
            whole = options.pop("whole", False)
            return trajectories(rows, **options), trajectories(
                rows, **options, width=WHOLE
            ) if whole else None
        case "intervals":
            return intervals(rows, **options), None
        case _:
            return spending(rows), None
