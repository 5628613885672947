"""Templates, and how values are written on a page.

Whatever a template writes passes through `protocol.visible` and is escaped: no name, no reply and no reason
becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from peerage.game.media import worded
from peerage.render.blocks import ViewBlock
from peerage.render.html.match import SWITCH
from peerage.site.cards import CardRow
from peerage.values.figures import elapsed, moment, score, whole
from peerage.values.texts import visible
from peerage.views.player import met


class PageView(NamedTuple):
    """A page: its `title`, the entry of the menu that it belongs to (`here`), and what it shows. With `heads`
    the first sentence of an answer among its `blocks` is its heading. `says` is its verdict, for those who
    are sent it: the first sentence in a picture, with the lines of `card`. A `template` other than the usual
    frame is filled with `values` too."""

    title: str
    here: str
    blocks: Iterable[ViewBlock] = ()
    heads: bool = False
    says: Sequence[str] = ()
    card: Sequence[CardRow] = ()
    template: str = "view.html"
    values: Mapping[str, Any] = {}


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """A page from a template of this room."""
    parts = environment().get_template(template).generate(values)
    # One character beyond Latin-1 would make the whole page twice as wide before it is written.
    return b"".join([part.encode("utf-8", "replace") for part in parts])


def inline(text: str) -> str:
    """Return how a page's Content-Security-Policy names the one style or script that may stand in it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def environment() -> Environment:
    """Escapes by default; a name that is not there is an error."""
    made = Environment(
        loader=PackageLoader("peerage.site"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"whole": whole, "elapsed": elapsed, "time": moment, "score": score, "met": met}
    made.filters |= {"answered": _answered, "worded": worded}
    made.globals["SWITCH"] = Markup(SWITCH)
    return made


@pass_context
def _answered(context: Context, text: str) -> Markup:
    """Return what somebody wrote, with its pictures where the page has them."""
    return Markup(context["html"].said(text))


def _shown(value: object) -> object:
    return visible(worded(value)) if type(value) is str else value
