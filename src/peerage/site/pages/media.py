"""Files of pictures and sounds, `media/SHA256.png`: those that finished matches show, each once.

Whoever names a file has seen a page or an answer that shows it: its name is the SHA-256 of its bytes, which
stands in texts alone. Of what is sealed, and of what a match under way hides, no text is shown, so nobody can
name its pictures but who has them already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain

from peerage.game.media import SUFFIXES, MediaType, media_in, type_of
from peerage.ledger import Ledger
from peerage.ledger.out.disclosure import texts_until
from peerage.site.reading import Site
from peerage.values.texts import MARK_BEGINS

FOLDER = "media/"
TYPES: dict[str, MediaType] = {suffix: kind for kind, suffix in SUFFIXES.items()}
"""By the end of a file's name."""
_FILE = re.compile(rf"([0-9a-f]{{64}})\.({'|'.join(TYPES)})")
_MARK = MARK_BEGINS.encode()


def paths(site: Site) -> Iterator[str]:
    """Yield the files of what the matches shown hold, as far as others may see it."""
    if not site.media:
        return
    moment, last = site.moment, site.number
    bodies = chain(
        (row.body for row in moment.fixtures(1, last)), (row.request for row in moment.exchanges(1, last))
    )
    texts = (body.decode(errors="replace") for body in bodies if _MARK in body)
    for one in media_in(chain(texts, texts_until(moment, last).values())).values():
        if one.sha256 in site.media:
            yield f"{FOLDER}{one.file}"


def view(site: Site, path: str) -> bytes | None:
    folder, _, file = path.rpartition("/")
    return body_of(site.ledger, file) if f"{folder}/" == FOLDER else None


def body_of(ledger: Ledger, file: str) -> bytes | None:
    """Return the bytes of a file; None where they are not here, or are not what the name says."""
    if (found := _FILE.fullmatch(file)) is None:
        return None
    body = ledger.media([found[1]]).get(found[1], b"")
    same = sha256(body).hexdigest() == found[1] and type_of(body) == TYPES[found[2]]
    return body if same else None
