"""Long texts, stored once by their digest. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256

Text = tuple[bytes, str]
"""A long text with its SHA-256 digest, to be stored once."""


def text_digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


class MissingText(KeyError):
    """A text that a record refers to is not in the ledger; its argument is the digest."""

    def __str__(self) -> str:
        return f"the text {self.args[0]}, to which a record refers, is missing; `peerage verify` says more"


class ChangedText(MissingText):
    """A stored text is not the one to which a fixture refers."""

    def __str__(self) -> str:
        return f"the text {self.args[0]}, to which a fixture refers, was changed; `peerage verify` says more"


def by_hex(texts: Mapping[bytes, str]) -> Callable[[str], str]:
    """Look a stored text up by its digest in hex; raises MissingText."""

    def text(digest: str) -> str:
        try:
            return texts[bytes.fromhex(digest)]
        except (KeyError, ValueError):
            raise MissingText(digest) from None

    return text
