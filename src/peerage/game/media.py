"""Pictures and sounds in texts: a mark in a text stands for one, and says all of it but its bytes. Pure.

Texts with marks go the way of all texts: they are stored, hashed and counted, and since a mark holds the
SHA-256 of the bytes, so are these. Code that shows or sends such a text divides it (`parts`) and fetches the
bytes by digest. No text from outside holds a mark: `values.texts.storable` takes away what is around it.
"""

from __future__ import annotations

import re
import wave
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from peerage.values.texts import MARK_BEGINS, MARK_ENDS

MediaType: TypeAlias = Literal["image/png", "image/jpeg", "audio/wav", "audio/mpeg"]
"""The types that there are: what comes in as another is encoded anew as one of these, or refused."""
SUFFIXES: Mapping[MediaType, str] = {
    "image/png": "png", "image/jpeg": "jpg", "audio/wav": "wav", "audio/mpeg": "mp3",
}  # fmt: skip
"""The end of a file's name, by type."""
Kind: TypeAlias = Literal["image", "audio"]


class Media(Struct, frozen=True, gc=False):
    """A picture or a sound: the SHA-256 (hex) of its bytes, and their number.

    `width` and `height` are in pixels, 0 of a sound; `seconds` is how long that lasts.
    """

    sha256: str
    type: MediaType
    size: int
    width: int = 0
    height: int = 0
    seconds: float = 0.0

    @property
    def is_image(self) -> bool:
        return self.type.startswith("image/")

    @property
    def kind(self) -> Kind:
        """Return what a player has to take to be shown it."""
        return "image" if self.is_image else "audio"

    @property
    def file(self) -> str:
        """Return the name of a file of it."""
        return f"{self.sha256}.{SUFFIXES[self.type]}"

    @property
    def place(self) -> str:
        """Return where it lies in an arena's folder, when it does."""
        return f"media/{self.file}"

    @property
    def mark(self) -> str:
        """Return the text that stands for it in a text."""
        measures = f"{self.width}x{self.height}" if self.is_image else f"{self.seconds:g}s"
        return f"{MARK_BEGINS}{self.type} {self.sha256} {self.size} {measures}{MARK_ENDS}"

    @property
    def words(self) -> str:
        """Return it in words where it cannot be shown, such as "picture 3f2a91c0, PNG, 640×480, 12 KB"."""
        kind, form = ("picture" if self.is_image else "sound"), SUFFIXES[self.type].upper()
        measures = f"{self.width}×{self.height}" if self.is_image else f"{self.seconds:.3g} s"
        return f"{kind} {self.sha256[:8]}, {form}, {measures}, {max(1, round(self.size / 1024)):,} KB"


_MARK = re.compile(
    f"{MARK_BEGINS}(image/(?:png|jpeg)|audio/(?:wav|mpeg)) ([0-9a-f]{{64}}) ([0-9]{{1,12}}) "
    f"(?:([0-9]{{1,10}})x([0-9]{{1,10}})|([0-9]{{1,9}}(?:\\.[0-9]{{1,9}})?(?:e[+-][0-9]{{2}})?)s){MARK_ENDS}"
)

_BEGINS = MARK_BEGINS.encode()
_DIGEST = re.compile(_BEGINS + rb"(?:image|audio)/[a-z]+ ([0-9a-f]{64}) ").findall


class MediaShelf(Protocol):
    """A place of bytes by digest; a dictionary is one."""

    def get(self, digest: str, /) -> bytes | None:
        """Return the bytes of a SHA-256 (hex), None where they are not here."""


def parts(text: str) -> Iterator[str | Media]:
    """Yield the text between marks and what these stand for, in order; empty texts are left out."""
    at = 0
    if MARK_BEGINS in text:
        for mark in _MARK.finditer(text):
            if mark.start() > at:
                yield text[at : mark.start()]
            yield _media(mark)
            at = mark.end()
    if at < len(text):
        yield text[at:]


def media_in(texts: Iterable[str]) -> dict[str, Media]:
    """Return what the marks in texts stand for, each once, by digest."""
    return {found.sha256: found for text in texts for found in parts(text) if isinstance(found, Media)}


def digests_in(body: bytes) -> list[str]:
    """Return the digests in the marks of stored bytes, in order; sealed values that are opened count."""
    return [digest.decode() for digest in _DIGEST(body)] if _BEGINS in body else []


_DATA_URL = re.compile(r"data:(image/png|image/jpeg|audio/wav);base64,([A-Za-z0-9+/]+={0,2})")


def with_marks(value: Any) -> tuple[Any, dict[str, bytes]]:
    """Return plain JSON data with a mark in place of each text that is a data URL, and the bytes of all by
    digest; the data itself where there is none. What is not base64 of a PNG, a JPEG or a WAV stays a text."""
    media: dict[str, bytes] = {}

    def marked(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: marked(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [marked(part) for part in value]
        url = _DATA_URL.fullmatch(value) if isinstance(value, str) else None
        with suppress(ValueError):
            if url:
                body = b64decode(url[2], validate=True)
                one = measured(body)
                if one.type == url[1]:
                    media[one.sha256] = body
                    return one.mark
        return value

    made = marked(value)
    return (made, media) if media else (value, {})


def type_of(body: bytes) -> MediaType | None:
    """Return what bytes are by how they begin; None for what is none of the types that there are."""
    if body.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if body.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if body.startswith(b"RIFF") and body[8:12] == b"WAVE":
        return "audio/wav"
    return "audio/mpeg" if body.startswith(b"ID3") or (body[:1] == b"\xff" and body[1:2] >= b"\xe0") else None


def measured(body: bytes) -> Media:
    """Return what bytes of a PNG, a JPEG or a WAV are, by their header. Raises ValueError where they are
    none."""
    kind, width, height, seconds = type_of(body), 0, 0, 0.0
    if kind == "image/png" and body[12:16] == b"IHDR":
        width, height = (int.from_bytes(body[at : at + 4]) for at in (16, 20))
    elif kind == "image/jpeg":
        at = 2
        while at + 9 <= len(body) and body[at] == 0xFF and body[at + 1] in _SEGMENTS and not width:
            if 0xC0 <= body[at + 1] <= 0xC3:
                height, width = (int.from_bytes(body[at + more : at + more + 2]) for more in (5, 7))
            at += 2 + int.from_bytes(body[at + 2 : at + 4])
    elif kind == "audio/wav":
        with suppress(wave.Error, EOFError, ArithmeticError, RuntimeError), wave.open(BytesIO(body)) as sound:
            seconds = sound.getnframes() / sound.getframerate()
    if kind is None or not (width * height or seconds):
        raise ValueError("no PNG, JPEG or WAV")
    return Media(sha256(body).hexdigest(), kind, len(body), width, height, seconds)


_SEGMENTS = {*range(0xC0, 0xD0), *range(0xDB, 0xFF)}
"""Markers of parts of a JPEG that state their length; no decoder reads where another would lead to."""


def fetched(texts: Iterable[str], shelf: MediaShelf) -> tuple[dict[str, bytes], str]:
    """Return the bytes of what the marks in texts stand for, by digest, and which of it is nowhere, as the
    reason why nobody is asked about it; empty: none."""
    shown = media_in(texts)
    there = {digest: body for digest in shown if (body := shelf.get(digest)) is not None}
    lost = [one.words for digest, one in shown.items() if digest not in there]
    return there, f"missing: {', '.join(lost)}" if lost else ""


def worded(text: str) -> str:
    """Return a text with words in brackets in place of marks."""
    return "".join([part if isinstance(part, str) else f"[{part.words}]" for part in parts(text)])


def head(text: str, most: int) -> str:
    """Return a text's beginning of at most so many characters; it ends before a mark that it would halve."""
    kept = text[:most]
    begins = kept.rfind(MARK_BEGINS)
    return kept[:begins] if begins > kept.rfind(MARK_ENDS) else kept


def _media(mark: re.Match[str]) -> Media:
    kind, digest, size, width, height, seconds = mark.groups()
    return Media(digest, kind, int(size), int(width or 0), int(height or 0), float(seconds or 0))  # type: ignore[arg-type]


Opener: TypeAlias = Callable[[str | bytes], Sequence[Media]]
"""Opens what tasks name: the path of a file or of a folder, a data URL, or bytes. Raises ValueError."""
MOST = 100
"""Files of a folder that is named, and of a column of a task."""
OPENER = "media_opener"
"""Key of an opener next to the rules that `GameSpec.files` is given, and in the context of validation."""


def opener_of(stated: object) -> Opener:
    """Return the opener that is stated there; without one nothing is opened, which a ValueError says."""
    found = stated.get(OPENER) if isinstance(stated, Mapping) else None
    return found if callable(found) else unopened


def unopened(written: str | bytes) -> Sequence[Media]:
    """Raise ValueError: an opener where there is none."""
    raise ValueError(f"{written!r:.60} is not opened here; name it in arena.yaml, or in a file that it names")
