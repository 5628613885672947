"""What is shown as it is: a value as plain data, and sentences, the answer first."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from peerage.render.data import plain


class Shown(Struct, frozen=True):
    """A value that is shown as it is, and as plain JSON data."""

    def as_dict(self) -> dict[str, Any]:
        """The fields in order, as JSON has them."""
        found: dict[str, Any] = plain(self)
        return found


class Sentences(Shown, frozen=True):
    """What was found, in sentences, the answer first: printed line by line, in a notebook as paragraphs."""

    if TYPE_CHECKING:  # each says among its own fields where it stands
        lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        first, *more = map(escape, self.lines)
        return f"<p><strong>{first}</strong></p>" + "".join(f"<p>{line}</p>" for line in more)
