"""Pictures and sounds in HTML, in the place of their marks."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from peerage.game.media import Media, parts
from peerage.render.html.texts import shown

TALLEST = 512
"""Pixels of a picture in its place; its file shows it whole."""
Address = Callable[[str], str | None]
"""The address of a file of that name on a page; empty where it is missing, None where none are shown."""


def with_media(text: str, about: str, address: Address, write: Callable[[str, str], str]) -> str:
    """Return a text as it is written, its pictures and sounds in their places; `about` says what it is."""
    made, count = list[str](), {True: 0, False: 0}
    for part in parts(text):
        if isinstance(part, Media):
            count[part.is_image] += 1
            kind, _, more = part.words.partition(" ")
            made.append(_figure(part, f"{about}: {kind} {count[part.is_image]} ({more})", address(part.file)))
        elif part.strip() or part == text:
            made.append(write(part if part == text else part.strip(), about))
    return "".join(made)


def _figure(media: Media, words: str, at: str | None) -> str:
    """Return a picture, which leads to its file, or a sound; words where there is no address."""
    words = shown(words)
    if not at:
        return f'<p class="quiet">[{words}{"; its file is missing here" * (at == "")}]</p>\n'
    at = escape(at)
    if not media.is_image:
        sound = f'<audio controls preload="none" src="{at}" aria-label="{words}"></audio>'
        return f'<figure class="media">{sound}</figure>\n'
    scale = min(1.0, TALLEST / max(1, media.height))
    size = f'width="{max(1, round(media.width * scale))}" height="{round(media.height * scale)}"'
    image = f'<img src="{at}" alt="{words}" {size} loading="lazy" decoding="async">'
    # No browser opens a data URL as a page.
    image = image if at.startswith("data:") else f'<a href="{at}">{image}</a>'
    return f'<figure class="media">{image}</figure>\n'
