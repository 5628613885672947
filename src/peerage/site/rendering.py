"""Templates, and how values are written on a page.

Whatever a template writes passes through `protocol.visible` and is escaped: no name, no reply and no reason
becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from peerage.figures import (
    DASH,
    chance,
    dollars,
    measured,
    moment,
    per_hundred,
    percent,
    places_of,
    rounded,
    score,
    seconds,
    sentence,
    span,
    tenths,
    whole,
)
from peerage.judging.corrections import CORRECTIONS
from peerage.protocol import visible
from peerage.reading.matches import in_words
from peerage.render import html
from peerage.site.addresses import match_page, player_page, slug
from peerage.tables.decision import RULE
from peerage.tables.notes import OF_MANY
from peerage.tables.overall import COUNTED, FEW, WHOLE
from peerage.views.leaderboard import ACCURACY
from peerage.views.player import placed_in, stated


class View(NamedTuple):
    """A template and what fills it; `title` is the page's own, `here` the entry of the menu that it belongs
    to, where that is not the template's own. The template `view.html` shows the `blocks` among its values."""

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
        "CORRECTIONS": CORRECTIONS,
        "WHOLE": WHOLE,
        "COUNTED": COUNTED,
        "FEW": FEW,
        "OF_MANY": OF_MANY,
        "ACCURACY": f"Accuracy: {ACCURACY}",
        "RULE": RULE,
    }
    made.filters |= {
        "money": dollars,
        "whole": whole,
        "measured": measured,
        "rounded": rounded,
        "sentence": sentence,
        "places": places,
        "tenths": tenths,
        "percent": percent,
        "seconds": seconds,
        "time": moment,
        "ranks": span,
        "rank": lambda row: row.rank or DASH,
        "chance": chance,
        "points": points,
        "listed": listed,
        "per_hundred": per_hundred,
        "score": score,
        "standing": placed_in,
        "sign": sign,
        "wbr": lambda name: Markup(html.breakable(name)),
        "coded": lambda text: Markup(html.coded(text)),
        "as_words": stated,
        "void": in_words,
        "linked": linked,
        "slugs": lambda names: "".join([f"{slug(name)} " for name in names]),
    }
    return made


def _shown(value: object) -> object:
    return visible(value) if type(value) is str else value


def escaped(text: str) -> Markup:
    """Text as a template writes it."""
    return escape(visible(text))


def embedded(data: Mapping[str, Any]) -> Markup:
    """JSON to put into a page, which no text inside it can end or turn into markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def places(values: Iterable[float | None], times: float = 1) -> int:
    """How many decimals a column of dollars has whose values are shown so many times as large."""
    return places_of([None if value is None else times * value for value in values])


def sign(value: float | None) -> str:
    """A difference, with its sign."""
    return DASH if value is None else f"{value:+.2f}".replace("-", "−")


def points(value: float) -> str:
    """A difference in whole points, with its sign; one that rounds to nothing has none."""
    return f"{value:+.0f}".replace("-", "−") if round(value) else "0"


def listed(names: Iterable[str]) -> str:
    """Names as a sentence has them: one, another and a third."""
    *others, last = names or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def linked(players: Iterable[str], root: str) -> Markup:
    """Players by name, each with a link to its page; `root` leads to the first page."""
    return Markup(", ".join([f'<a href="{root}{player_page(one)}">{escaped(one)}</a>' for one in players]))
