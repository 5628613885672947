"""Values as people read them, alike in the terminal and on pages. What is unknown is a dash, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

DASH = "–"


def dollars(value: float | None) -> str:
    """A sum of money, with as many digits as tell small ones apart."""
    if value is None:
        return DASH
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    return f"${value:.4f}" if value >= 0.001 else f"${value:.6f}"


def per_hundred(cost: float | None) -> str:
    """A price per match as that of a hundred."""
    if cost is None:
        return DASH
    return f"${100 * cost:,.2f}" if 100 * cost >= 0.095 or not cost else f"${100 * cost:.2g}"


def whole(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def tenths(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"


def measured(value: float | None) -> str:
    """A count as it is, anything else to two decimals."""
    if value is None:
        return DASH
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.0f}%"


def seconds(value: float | None) -> str:
    if value is None:
        return DASH
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def moment(at_ms: int) -> str:
    """A time to the minute, UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def span(bounds: Sequence[int] | None) -> str:
    """Two whole numbers, or one where they are the same."""
    if bounds is None:
        return DASH
    first, last = bounds
    return f"{first}" if first == last else f"{first}–{last}"


def ranked(rank: int | None, bounds: Sequence[int] | None) -> str:
    """A rank, and in brackets those still possible where there are several."""
    if rank is None or bounds is None:
        return DASH
    return f"{rank}" if bounds[0] == bounds[1] else f"{rank} ({span(bounds)})"
