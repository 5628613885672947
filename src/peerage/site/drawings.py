"""Charts as they were drawn: a chart whose data stayed is drawn once, and kept from one build to the next."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version

import msgspec

MOST = 4_096
"""Drawings that are held, some 20 KB each."""
_LARGEST = 2**28
"""Bytes that are read back at most."""


class Drawings:
    """The charts that this process asked for, by a digest of their specs, and those that another one kept.
    Threads may share it: at worst two of them draw the same."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    def svg(self, spec: str) -> str:
        """What the Vega-Lite spec draws."""
        key = sha256(spec.encode("utf-8", "surrogatepass")).hexdigest()
        found = self._asked.pop(key, None) or self._kept.get(key) or drawn(spec)
        self._asked[key] = found  # the newest is the last
        if len(self._asked) > MOST:
            with suppress(KeyError, RuntimeError):  # another thread's
                del self._asked[next(iter(self._asked))]
        return found

    def pack(self) -> bytes:
        """All that were asked for, for another process to `unpack`."""
        return zlib.compress(msgspec.json.encode((_drawn_by(), self._asked)), 1)

    def unpack(self, packed: bytes) -> None:
        """Know what another process packed, if the same library drew it; anything else is as nothing."""
        with suppress(zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
            found = zlib.decompressobj().decompress(packed, _LARGEST)
            by, kept = msgspec.json.decode(found, type=tuple[str, dict[str, str]])
            self._kept = kept if by == _drawn_by() else {}


DRAWINGS = Drawings()
"""Of this process."""


def _drawn_by() -> str:
    return f"1 {version('vl-convert-python')}"


def drawn(spec: str) -> str:
    """A spec drawn; what Vega tells screen readers of a mark is its tooltip."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(spec))
    svg = re.sub(r' (?:role="graphics-\w+"|aria-roledescription="[^"]*")', "", svg)
    return re.sub(r'<(path|line) aria-label="([^"]*)"([^>]*)/>', r"<\1\3><title>\2</title></\1>", svg)
