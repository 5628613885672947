"""Texts in HTML: escaped, and made visible."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from peerage.game.media import worded
from peerage.values.texts import visible

_BETWEEN = " · "
_PLAIN = bytes({*range(32, 127), 9, 10} - {*b"&<>\"'"})


def shown(text: str) -> str:
    """Return text that no browser takes for anything else."""
    # Most texts need nothing, which one pass over their bytes finds out.
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    return escape(visible(worded(text)))


shown_name = lru_cache(maxsize=4096)(shown)


def coded(text: str) -> str:
    """Return a sentence in which what stands between backticks is code."""
    if "`" not in text:
        return shown(text)
    parts = [shown(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return shown(text)
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=4096)
def breakable(name: str) -> str:
    """Return a long name that may break after punctuation, not at a decimal point; several, between them."""
    whole = visible(name)
    if _BETWEEN in whole:
        return f"{_BETWEEN}<wbr>".join([f"<span>{breakable(part)}</span>" for part in whole.split(_BETWEEN)])
    if len(whole) <= 12:
        return escape(whole)
    return "<wbr>".join(map(escape, re.split(r"(?<=[/:_-])|(?<=\.)(?!\d)", whole)))


def folded(title: str, inside: str, anchor: str = "", kind: str = "narrower") -> str:
    """Return markup that opens on demand."""
    anchor = f' id="{escape(anchor)}"' if anchor else ""
    return f'<details class="{kind}"{anchor}><summary>{coded(title)}</summary>\n{inside}</details>\n'
