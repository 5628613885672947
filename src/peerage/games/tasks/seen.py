"""Pictures and sounds of tasks as their owners write them: columns, and parts of turns. Pure.

image: cat.png           image: "cat.png; dog.png"        images: [scans/, "data:image/png;base64,…"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from peerage.game.media import MOST, Opener
from peerage.values.texts import MARK_ENDS, storable

MEDIA = ("image", "images", "audio")
"""Columns of a file of tasks that hold some."""
_NAMED = re.compile(r"(?:\s*data:[^,]*,)?[^;]*", re.IGNORECASE)
"""A path or a data URL of several in a cell; there are semicolons in a data URL, too."""


def marks(column: str, written: Any, opener: Opener) -> str:
    """Return what stands for the pictures or sounds of a column, in their order. Raises ValueError."""
    kind, other = ("sound", "image") if column == "audio" else ("picture", "audio")
    named = list(_several(written))
    media = [found for one in named for found in opener(one)] if len(named) <= MOST else []
    count = len(media if len(named) <= MOST else named)
    if not 1 <= count <= MOST:
        raise ValueError(f"found {count:,} files; expected 1 to {MOST}")
    if any(found.is_image == (kind == "sound") for found in media):
        raise ValueError(f"found {written!r:.60}, which is no {kind}; name it in the column {other!r}")
    return "".join([found.mark for found in media])


def said(content: Any, opener: Opener) -> str:
    """Return the text of a turn; of one in parts, as the APIs of OpenAI and Anthropic and Inspect write
    them, with marks among it. Raises ValueError."""
    if not isinstance(content, list):
        content = [{"type": "text", "text": content}]
    text = ""
    for part in content:
        kind = str(part.get("type")) if isinstance(part, Mapping) else ""
        if kind in ("text", "input_text") and isinstance(part.get("text"), str):
            text += "\n" * (text != "" and not text.endswith(MARK_ENDS)) + storable(part["text"])
        elif named := _of_part(kind, part):
            text += marks("audio" if "audio" in kind else "image", [named], opener)
        else:
            raise ValueError(f"says {part!r:.60}; expected some text, a picture or a sound")
    if not text.strip():
        raise ValueError(f"says {text!r:.40}; expected some text")
    return text


def _several(written: Any) -> Iterator[str | bytes]:
    """The paths and data URLs of a cell, or of a list; a picture of a data set in Parquet is bytes."""
    held = (written.get("bytes") or written.get("path")) if isinstance(written, Mapping) else None
    if isinstance(held, bytes | str):
        yield held
    elif isinstance(written, str) and written.lstrip().startswith("["):
        yield from _several(_json(written))
    elif isinstance(written, str):
        yield from filter(None, map(str.strip, _NAMED.findall(written)))
    elif isinstance(written, list) and not any(isinstance(part, list) for part in written):
        for part in written:
            yield from [part] if isinstance(part, str) else _several(part)
    else:
        raise ValueError(f"found {written!r:.60}; expected a path, a folder, a data URL, or a list of them")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON ({error}); write several with semicolons, or as a list") from None


def _of_part(kind: str, part: Any) -> str:
    """Return the path or data URL that a part of a turn names; empty for one that is no picture or sound."""
    held = part.get("image_url" if kind == "input_image" else kind) if kind else None
    if isinstance(source := kind and part.get("source"), Mapping):  # Anthropic's
        held = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif isinstance(held, Mapping):
        held = held.get("url") or f"data:audio/{held.get('format')};base64,{held.get('data')}"
    known = kind in ("image", "image_url", "input_image", "audio", "input_audio")
    return held if known and isinstance(held, str) else ""
