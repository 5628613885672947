"""Bytes that are slow to make, and follow from the program and its packages alone, kept between processes.

They lie where Python keeps compiled modules, beside what they are made from; where nothing can be written,
each process makes them. A file begins with the SHA-256 of the rest, and is not read when it is damaged.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path


def kept(source: Path, name: str, version: str, make: Callable[[], bytes]) -> bytes:
    """What `make` makes, of which `name` and `version` are all there is to say beside the file `source`."""
    file = place(source.with_name(f"{source.stem}-{name}{source.suffix}"))
    about = sha256(b"%b %b" % (version.encode(), source.read_bytes())).digest()
    found = read(file)
    if found is None or found[:32] != about:
        found = about + make()
        keep(file, found)
    return found[32:]


def place(source: Path) -> Path:
    """Where what is made from a file is kept."""
    return Path(cache_from_source(str(source)))


def read(file: Path) -> bytes | None:
    """What `keep` wrote there; None where that is not to be had."""
    with suppress(OSError):
        found = file.read_bytes()
        if sha256(found[32:]).digest() == found[:32]:
            return found[32:]
    return None


def keep(file: Path, body: bytes) -> None:
    """Write this down, where Python may write compiled modules."""
    if sys.dont_write_bytecode:
        return
    part = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(sha256(body).digest() + body)
            part.replace(file)
        except OSError:  # a full disk
            part.unlink()
