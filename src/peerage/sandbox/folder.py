"""Folders that are worked in, and what changed in them, as plain values. Pure.

A `WorkFolder` names files: those of a task by their content, those of a repository by its commit. A patch is
what somebody's work changed in one: from path to the file as it is now, or None where it was removed. Paths
are relative, with `/` between their parts, and lead nowhere else.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TypeAlias

import msgspec
from msgspec import Struct

MOST_PATH, MOST_NAME = 400, 255
"""Characters of the longest path, and bytes of the longest name in it."""


class File(Struct, frozen=True, omit_defaults=True, gc=False):
    """The content of a file: `text` in UTF-8, or other bytes as `base64`."""

    text: str = ""
    base64: str = ""
    executable: bool = False

    @classmethod
    def of(cls, content: bytes, executable: bool = False) -> File:
        """Return the file that holds these bytes."""
        try:
            return cls(content.decode(), executable=executable)
        except UnicodeDecodeError:
            return cls(base64=b64encode(content).decode(), executable=executable)

    @property
    def content(self) -> bytes:
        """Its bytes. Raises ValueError where `base64` is none."""
        try:
            return b64decode(self.base64, validate=True) if self.base64 else self.text.encode()
        except (NoBase64, UnicodeEncodeError) as error:
            raise ValueError(str(error)) from None


Patch: TypeAlias = Mapping[str, File | None]
"""Files as they are after some work, by path; None: removed."""


class WorkFolder(Struct, frozen=True, omit_defaults=True):
    """A folder as a task has it: its `files` by path, or those of a git repository at a `commit`.

    `repo` is the repository's path, below the arena's folder or absolute; of it `only` these paths (of all
    where none is named). `digest` is that of the listing, by which a copy is known to be the one that is
    meant (`digest_of`).
    """

    digest: str
    files: Mapping[str, File] = {}
    repo: str = ""
    commit: str = ""
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, files: Mapping[str, str | File]) -> WorkFolder:
        """Return a folder of files by path, each a text or a `File`. Raises ValueError as `checked_path`."""
        whole = {
            checked_path(path): File(held) if isinstance(held, str) else held for path, held in files.items()
        }
        return cls(digest_of(listing_of(whole)), files=whole)


def listing_of(files: Mapping[str, File]) -> Iterator[tuple[str, bool, str]]:
    """Yield the path of each file, whether it may be executed, and the SHA-256 (hex) of its bytes."""
    for path, file in files.items():
        yield path, file.executable, sha256(file.content).hexdigest()


def digest_of(listing: Iterable[tuple[str, bool, str]]) -> str:
    """Return the SHA-256 (hex) of a listing: of a line of JSON for each file, in the order of their paths,
    with its path, whether it may be executed, and a digest of its bytes: that of `listing_of`, or in a
    repository the name that git has for them."""
    whole = sha256()
    for line in sorted(listing):
        whole.update(msgspec.json.encode(line) + b"\n")
    return whole.hexdigest()


def checked_path(path: str) -> str:
    """Return a path that leads to a file of the folder. Raises ValueError for any other."""
    parts = path.split("/")
    if len(path) > MOST_PATH or "\\" in path or not path.isprintable():
        raise ValueError(f"{path[:80]!r} cannot be the path of a file: use letters, digits, `-`, `_` and `/`")
    if any(len(part.encode()) > MOST_NAME for part in parts):
        raise ValueError(f"{path[:80]!r}… has a name of more than {MOST_NAME} bytes; choose a shorter one")
    if any(part in ("", ".", "..", ".git") for part in parts):
        raise ValueError(f"{path!r} leads out of the folder; write a path below it, such as `src/app.py`")
    return path


_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder(dict[str, File | None]).decode


def patch_text(patch: Patch) -> str:
    """Return a patch as JSON, the same for equal ones."""
    return _encode(patch).decode()


def read_patch(text: str) -> Patch:
    """Return a patch from its JSON. Raises ValueError for any other text, or a path that leads elsewhere."""
    try:
        patch = _decode(text)
        for path, file in patch.items():
            checked_path(path)
            if file is not None:
                _ = file.content
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return patch


def patched(files: Mapping[str, File], patch: Patch) -> dict[str, File]:
    """Return files as a patch leaves them."""
    return {path: file for path, file in {**files, **patch}.items() if file is not None}
