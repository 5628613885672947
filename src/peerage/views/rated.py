"""Ratings of anybody's results, from files, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from peerage import ratings
from peerage.ratings.categories import ALL
from peerage.ratings.methods import MethodReport
from peerage.render.blocks import Column, Figure, Rows, ViewBlock, numbers, texts
from peerage.render.table import Table, drawing
from peerage.values.figures import chance, hundredths, percent, spans, whole

if TYPE_CHECKING:
    from peerage.render.charts import Chart


def challenges(report: MethodReport) -> Rows:
    """Return the challenges that players answered, the hardest first."""
    columns = [
        *texts(challenge="Challenge"),
        *numbers(hundredths, difficulty="Difficulty", difficulty_error="±", discrimination="Discrimination"),
        *numbers(hundredths, discrimination_error="±"),
        *numbers(percent, solved="Solved"),
        *numbers(whole, answers="Answers"),
    ]
    return Rows(report.challenges, columns, title="Challenges, the hardest first")


def pairs(report: MethodReport) -> Rows:
    """Return the differences of every two players."""
    columns = [
        *texts(first="Player", other="ahead of"),
        *numbers(_points, difference="By", lower="Lower", upper="Upper"),
        *texts(lambda apart: "yes" if apart else "", apart="Apart"),
        *numbers(whole, samples="Samples"),
    ]
    return Rows(report.pairs, columns, title="Differences, paired by sample, in points of 100")


def players(report: MethodReport, *, ranks: bool) -> Rows:
    """Return the players, the best first; with `ranks` whom each is proven above is said by their ranks."""
    place = {(row.get("category"), row["player"]): row["rank"] for row in report.rows}
    rows = [
        row | {"beats": spans([place[row.get("category"), name] for name in row["above"]])}
        if ranks and "above" in row
        else row
        for row in report.rows
    ]
    return Rows(rows, _columns(rows), title=report.title, notes=report.notes)


def tables(report: MethodReport) -> list[Rows]:
    """Return the players as tables for people, one for each category if any; all notes under the last."""
    whole = players(report, ranks=True)
    if "category" not in (whole.rows[0] if whole.rows else {}):
        return [whole]
    parts = [
        replace(whole, rows=[*rows], title=f"{report.title}: {name}", notes=())
        for name, rows in groupby(whole.rows, lambda row: row["category"])
    ]
    return [*parts[:-1], replace(parts[-1], notes=report.notes)]


@dataclass(frozen=True, eq=False)
class RatingTable(Table[Mapping[str, Any]]):
    """Ratings as a table: rows are mappings, the best player first, of all battles and then of each category.
    Its `report` has the `challenges` of item response theory, and the `pairs` of paired differences."""

    report: MethodReport = field(kw_only=True)

    def blocks(self) -> list[ViewBlock]:
        """Return the tables that people see."""
        return [*tables(self.report), *[pairs(self.report)] * bool(self.report.pairs)]

    def wide(self) -> Table[Mapping[str, Any]]:
        """Return a table with a row for each player and a column for each category: its rating, and half its
        95% interval. Raises ValueError where there are no categories."""
        if not self or "category" not in self[0]:
            raise ValueError("wide needs categories: rate with by=COLUMN")
        players: dict[str, dict[str, Any]] = {}
        for row in self:
            half = (row["upper"] - row["lower"]) / 2
            cells = players.setdefault(row["player"], {"player": row["player"]})
            cells |= {row["category"]: row["rating"], f"{row['category']} ±": half}
        names = dict.fromkeys(row["category"] for row in self)
        fields = [field for name in names for field in (name, f"{name} ±")]
        rows = [dict.fromkeys(["player", *fields]) | row for row in players.values()]
        columns = [Column(name, name, str, number=True, value=partial(_with_half, name)) for name in names]
        block = Rows(rows, [*texts(player="Player"), *columns], self.title, self.notes)
        return Table(block, self.notes)

    def plot(self, category: str = ALL) -> Chart:
        """Return a chart of the ratings with their intervals, of one `category` where there are some. Raises
        ImportError where the extra `site` is not installed."""
        rows = [row for row in self if row.get("category", category) == category]
        if not rows:
            names = ", ".join(dict.fromkeys(str(row.get("category")) for row in self))
            raise ValueError(f"no category is called {category!r}; there are {names or 'none'}")
        of = "score" if "score" in rows[0] else "mu" if "mu" in rows[0] else "rating"
        drawn = [
            {"player": row["player"], "low": row["lower"], "at": row[of], "high": row["upper"]}
            for row in rows
        ]
        with drawing():
            from peerage.render.charts import draw

            return draw(Figure("intervals", self.title, "", drawn, self.block.columns, options={"what": of}))


def rate(results: Any, **options: Any) -> RatingTable:
    """Rate a file or several, a folder, a data frame or rows, as `peerage.ratings.rate` does, into a table
    that shows in notebooks, with `to_pandas`, `to_latex`, `to_markdown`, `plot` and, by category, `wide`."""
    report = ratings.rate(results, **options)
    return RatingTable(players(report, ranks=True), report.notes, report=report)


def _with_half(name: str, row: Mapping[str, Any]) -> str | None:
    return None if row[name] is None else f"{row[name]:,.0f} ±{row[f'{name} ±']:.0f}"


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Ratings of 400 points a decade are whole numbers for people; skills have three digits."""
    first = rows[0] if rows else {}
    if "score" in first:
        return [
            *numbers(str, rank=""),
            *texts(player="Player"),
            *numbers(_points, score="Score", lower="Lower", upper="Upper"),
            *numbers(str, beats="Above"),
            *numbers(whole, samples="Samples"),
        ]
    number = _skill if "mu" in first and abs(first["rating"]) < 200 else whole
    own = _skill if "mu" in first and abs(first["mu"]) < 200 else whole
    rated = numbers(number, rating="Rating", lower="Lower", upper="Upper")
    scale = numbers(own, mu="mu", sigma="sigma") if "mu" in first else []
    if number is _skill:  # the interval next to what it is of
        rated = numbers(number, mu="mu", lower="Lower of mu", upper="Upper of mu", sigma="sigma")
        scale = numbers(number, rating="mu - k sigma")
    return [
        *numbers(str, rank=""),
        *texts(player="Player"),
        *rated,
        *(numbers(chance, best="Best") if "best" in first else []),
        *(numbers(str, beats="Proven above") if "beats" in first else []),
        *numbers(_games, games="Games"),
        *scale,
    ]


def _skill(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def _games(value: float) -> str:
    return f"{value:g}" if value < 1e5 else f"{value:.0f}"
