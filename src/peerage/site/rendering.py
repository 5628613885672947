"""Templates, and how values are written on a page.

Whatever a template writes passes through `protocol.visible` and is escaped: no name, no reply and no reason
becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from peerage.protocol import visible
from peerage.site.addresses import match_page, player_page, slug

DASH = "–"


class View(NamedTuple):
    """A template and what fills it; `title` is the page's own, `here` the entry of the menu that it belongs
    to, where that is not the template's own."""

    template: str
    title: str
    values: Mapping[str, Any]
    here: str = ""


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """A page from a template of this room."""
    parts = environment().get_template(template).generate(values)
    # One character beyond Latin-1 would make the whole page twice as wide before it is written.
    return b"".join([part.encode("utf-8", "replace") for part in parts])


def inline(text: str) -> str:
    """How a page's Content-Security-Policy names the one style or script that may stand in it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def environment() -> Environment:
    """Escapes by default; a name that is not there is an error."""
    made = Environment(
        loader=PackageLoader("peerage.site"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "match_page": match_page,
        "player_page": player_page,
        "slug": slug,
        "percent": percent,
        "sign": sign,
    }
    made.filters |= {
        "money": money,
        "whole": whole,
        "tenths": tenths,
        "percent": percent,
        "seconds": seconds,
        "time": moment,
        "ranks": ranks,
        "score": score,
        "sign": sign,
        "wbr": breakable,
    }
    return made


def _shown(value: object) -> object:
    return visible(value) if type(value) is str else value


def escaped(text: str) -> Markup:
    """Text as a template writes it."""
    return escape(visible(text))


def money(dollars: float | None) -> str:
    """Dollars, with as many digits as tell small sums apart."""
    if dollars is None:
        return DASH
    if dollars >= 1 or dollars == 0:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.001 else f"${dollars:.6f}"


def whole(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def tenths(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"


def percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.0f}%"


def seconds(value: float | None) -> str:
    if value is None:
        return DASH
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def moment(at_ms: int) -> str:
    """A minute in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def score(value: float) -> str:
    """A score, a half as ½."""
    if value % 1 == 0.5 and value >= 0:
        return f"{value:.0f}½" if value > 1 else "½"
    return f"{value:.3g}"


def sign(value: float | None) -> str:
    """A difference, with its sign."""
    return DASH if value is None else f"{value:+.2f}".replace("-", "−")


def ranks(span: tuple[int, int] | None) -> str:
    """The ranks left open."""
    if span is None:
        return DASH
    best, worst = span
    return f"{best}" if best == worst else f"{best}–{worst}"


def breakable(name: str) -> Markup:
    """A long name that may be broken after its punctuation."""
    shown = visible(name)
    return Markup("").join(
        [escape(part) + Markup("<wbr>") * (part in "/:-_.") for part in shown]
        if len(shown) > 12
        else [escape(shown)]
    )
