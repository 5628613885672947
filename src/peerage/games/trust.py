"""Which files of games this user has run: commands that only read an arena run no other.

An arena may be somebody else's. To play, check or try a game is to run its file; from then on this user's
commands run that very file (by its digest) to read and show its arenas too.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def trust(digest: str) -> None:
    """Remember that the user ran the file of this SHA-256 (hex). Where nothing can be kept, nothing is."""
    with suppress(OSError):
        mark = _mark(digest)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def trusted(digest: str) -> bool:
    """Whether the user has run the file of this SHA-256 (hex) before."""
    try:
        return _mark(digest).exists()
    except OSError:
        return False


def _mark(digest: str) -> Path:
    from platformdirs import user_state_path

    return user_state_path("peerage") / "games" / digest
