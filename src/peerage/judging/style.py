"""How an answer is written: what judges are swayed by that is not its content."""

from __future__ import annotations

import re
from typing import NamedTuple


class Style(NamedTuple):
    """Counts of an answer in Markdown: its characters, headings, list items and bold spans."""

    length: int
    headings: int
    lists: int
    bold: int


STYLE = Style._fields

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


def style_of(text: str) -> Style:
    """Count an answer's style as style control does (LMSYS 2024). Blocks of code count by length alone."""
    prose = "\n".join(text.split("```")[::2])
    found = [sum(1 for _ in pattern.finditer(prose)) for pattern in (_HEADING, _ITEM, _BOLD)]
    return Style(len(text), *found)
