"""Ratings of anybody's results, from files, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from peerage.ratings.methods import MethodReport
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import chance, hundredths, percent, spans, whole


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


def players(report: MethodReport, *, ranks: bool) -> Rows:
    """Return the players, the best first; with `ranks` whom each is proven above is said by their ranks."""
    place = {row["player"]: row["rank"] for row in report.rows}
    rows = [
        row | {"beats": spans([place[name] for name in row["above"]])} if ranks and "above" in row else row
        for row in report.rows
    ]
    return Rows(rows, _columns(rows), title=report.title, notes=report.notes)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Ratings of 400 points a decade are whole numbers for people; skills have three digits."""
    first = rows[0] if rows else {}
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


def _games(value: float) -> str:
    return f"{value:g}" if value < 1e5 else f"{value:.0f}"
