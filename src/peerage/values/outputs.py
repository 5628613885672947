"""Writing of files by all commands: whole or not at all, and over nothing but what Peerage wrote itself.

A file that is there is replaced when it is an earlier output of the same kind, recognized by a mark in its
first bytes; anything else only with `--force`. An arena's own files (`ProtectedFiles`), databases and links
are never replaced. Where a command fills a folder, no write leaves it: a link on the way is an error.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from peerage.values.inputs import InputRefused, read_bytes, real

MARKED = 4_096
"""Bytes at the beginning of a file in which the mark of its kind stands."""

_SQLITE = b"SQLite format 3\0"
_SIDES = ("-wal", "-shm", "-journal", ".lock", ".runner")
"""Endings of a ledger's name for the files that belong to it."""
_OWN = {"arena.yaml": "the settings of an arena", ".env": "the keys of an arena"}
"""Names that in any folder belong to an arena."""


class OutputRefused(Exception):
    """A file that is not replaced, or a place that is not written to; the message says why and what to do."""


class Kind(NamedTuple):
    """A kind of output. `mark` stands in the first `MARKED` bytes of each, and in nothing else; without one,
    no file is taken for an earlier output. `name` is one of its own (`arena.yaml`), which others never
    take."""

    about: str
    mark: bytes = b""
    name: str = ""


REPORT = Kind("report", b'<meta name="generator" content="Peerage report">')
SCORING_PAGE = Kind("scoring page", b'<meta name="generator" content="Peerage scoring page">')
PLOT = Kind("plot", b'<svg data-generator="Peerage plot" ')
SETTINGS = Kind("settings file", name="arena.yaml")
WORKFLOW = Kind("workflow", b"# Builds the pages from the results in this repository and deploys them")
JUNIT = Kind("JUnit file", b'<testsuites name="peerage"')
SITE = Kind("site", b'<meta name="generator" content="Peerage">')
REDACTED = Kind("redacted ledger")
GAME_FILE = Kind("game's file")
CHECKPOINT = Kind("checkpoint", b"peerage/")


class ProtectedFiles:
    """Files that no output replaces, under whatever name and through whatever link they are reached."""

    def __init__(self, files: Iterable[tuple[Path, str]] = ()) -> None:
        """`files` with what each of them is; one that is not there must not come to be there either."""
        self._same: dict[tuple[int, int], str] = {}
        self._places: dict[tuple[int, int, str], str] = {}
        for path, what in files:
            with suppress(OSError):
                status = path.stat()
                self._same[status.st_dev, status.st_ino] = what
            for place in (path, real(path)):
                with suppress(OSError):
                    folder = place.parent.stat()
                    self._places[folder.st_dev, folder.st_ino, place.name.casefold()] = what

    def what(self, file: Path) -> str:
        """Return what a file is that must be left alone; empty for any other."""
        with suppress(OSError):
            status = file.stat()
            if (status.st_dev, status.st_ino) in self._same:
                return self._same[status.st_dev, status.st_ino]
        with suppress(OSError):
            folder = file.parent.stat()
            return self._places.get((folder.st_dev, folder.st_ino, file.name.casefold()), "")
        return ""


NOTHING = ProtectedFiles()


def arena_files(folder: Path, ledger: str) -> ProtectedFiles:
    """Return what belongs to an arena, see `files_of`, which nothing is written over."""
    return ProtectedFiles(files_of(folder, ledger))


def files_of(folder: Path, ledger: str) -> list[tuple[Path, str]]:
    """Return what belongs to the arena in `folder`, whose ledger is at the address `ledger`, with what each
    is: its settings and keys, the ledger and the audience's votes with their side files, and every file
    that its settings name."""
    return [
        (folder / "arena.yaml", _OWN["arena.yaml"]),
        *secret_files(folder, ledger),
        *[(file, "a file that arena.yaml names") for file in _named(folder)],
    ]


def secret_files(folder: Path, ledger: str) -> list[tuple[Path, str]]:
    """Return what no player may read of the arena in `folder`, whose ledger is at the address `ledger`, with
    what each is: the keys, the ledger and the audience's votes with their side files."""
    base = folder / (ledger.removeprefix("sqlite:///") if ledger.startswith("sqlite:///") else "arena.db")
    votes = base.with_name(f"{base.name.removesuffix('.db')}.votes.db")
    people = folder / "people.db"
    stores = {base: "the ledger", votes: "the audience's votes", people: "what people are asked"}
    return [
        (folder / ".env", _OWN[".env"]),
        *stores.items(),
        (votes.with_suffix(".key"), "the key of the voters' sessions"),
        (people.with_suffix(".key"), "the key of people's links"),
        (checkpoint_key(), "the key that signs checkpoints"),
        *[
            (path.with_name(path.name + side), f"a file of {what}")
            for named, what in stores.items()
            for path in (named, real(named))
            for side in _SIDES
        ],
    ]


def checkpoint_key() -> Path:
    """The file of the key that signs checkpoints: PEERAGE_CHECKPOINT_KEY, or one in this user's settings."""
    if stated := os.environ.get("PEERAGE_CHECKPOINT_KEY"):
        return Path(stated)
    settings = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(settings or os.path.expanduser("~/.config")) / "peerage" / "checkpoint.key"


def hidden_files(folder: Path, ledger: str) -> list[Path]:
    """Return the files that no player may read: `secret_files`, and databases in the arena's folder or below,
    which may be copies of its ledger."""
    copies = [path for path in (*folder.glob("*.db*"), *folder.glob("*/*.db*")) if path.is_file()]
    return [path for path, _ in secret_files(folder, ledger)] + copies


def _named(folder: Path) -> Iterator[Path]:
    """The files that some value of `arena.yaml` names: prompts, agents."""
    import yaml

    try:
        # That of C, where it is there, takes a tenth of the time.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        todo = [yaml.load(read_bytes(folder / "arena.yaml").decode(), loader)]
    except (OSError, InputRefused, ValueError, RecursionError, yaml.YAMLError):
        return
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, str):
            words = {value, *value.split(), *[f"{part}.py" for part in value.split(":")]}
            with suppress(ValueError):  # an open quotation mark
                words.update(shlex.split(value))
            for word in words:
                with suppress(OSError, ValueError):
                    if word and (folder / word).is_file():
                        yield folder / word


def write(
    file: Path, body: bytes | str, kind: Kind, kept: ProtectedFiles = NOTHING, *, force: bool = False
) -> None:
    """Write a file, text as UTF-8; see `writing`."""
    with writing(file, kind, kept, force=force) as part:
        part.write_bytes(body.encode("utf-8", "replace") if isinstance(body, str) else body)


def append(file: Path, text: str) -> None:
    """Add text as UTF-8 to a file of somebody else's, such as the summary of a workflow. Raises OSError."""
    with file.open("a", encoding="utf-8", errors="replace") as end:
        end.write(text)


@contextmanager
def writing(file: Path, kind: Kind, kept: ProtectedFiles = NOTHING, *, force: bool = False) -> Iterator[Path]:
    """Give the place to write a file to; what stands there at the end takes the place of `file`, at once.
    `force` replaces a file that is no earlier output too. Raises OutputRefused before anything is written,
    and OSError."""
    refuse(file, kind, kept, force=force)
    with replacing(file) as part:
        yield part


def refuse(file: Path, kind: Kind, kept: ProtectedFiles = NOTHING, *, force: bool = False) -> None:
    """Raise OutputRefused when `file` must not be written, or not without `force`."""
    name = file.name.casefold()
    if name in _OWN and name != kind.name:
        raise OutputRefused(
            f"{file} would be {_OWN[name]}, which no {kind.about} replaces; name another file"
        )
    what = kept.what(file)
    if what and name != kind.name:
        raise OutputRefused(f"{file} is {what} and is never replaced; name another file")
    for side in _SIDES:
        if name.endswith(side) and _is_database(file.with_name(file.name[: -len(side)])):
            raise OutputRefused(f"{file} belongs to a database and is never replaced; name another file")
    try:
        status = file.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise OutputRefused(f"{file} is a link; name the file itself")
    if stat.S_ISDIR(status.st_mode):
        raise OutputRefused(f"{file} is a folder; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise OutputRefused(f"{file} is a device or a pipe; name a file")
    head = _head(file)
    if head.startswith(_SQLITE):
        raise OutputRefused(
            f"{file} is a database, perhaps a ledger, and is never replaced; name another file, or remove it "
            "first"
        )
    if not force and not (kind.mark and kind.mark in head):
        raise OutputRefused(
            f"{file} exists and is no {kind.about} that Peerage wrote; name another file, or replace it with "
            "--force"
        )


class Folder:
    """A folder that a command fills with files of its own. No write and no removal leaves it."""

    def __init__(self, root: Path, kept: ProtectedFiles = NOTHING) -> None:
        self.root = root
        self._kept = kept

    def place(self, name: str) -> Path:
        """Return where a file of that name is to stand. Raises OutputRefused where a link is on the way, and
        for what must be left alone."""
        parts = name.split("/")
        if not all(parts) or {".", ".."} & set(parts) or Path(name).is_absolute() or "\\" in name:
            raise OutputRefused(f"{name!r} would lie outside {self.root}")
        file = self.root
        for part in parts:
            file = file / part
            try:
                mode = file.lstat().st_mode
            except FileNotFoundError:
                break
            if stat.S_ISLNK(mode):
                raise OutputRefused(
                    f"{file} is a link, which is not followed out of {self.root}; remove it and try again"
                )
            wanted = stat.S_ISREG if file == self.root / name else stat.S_ISDIR
            if not wanted(mode):
                raise OutputRefused(f"{file} is in the way of {name}; remove it and try again")
        file = self.root / name
        what = self._kept.what(file)
        if what:
            raise OutputRefused(f"{file} is {what} and is never replaced; name another folder")
        return file

    def write(self, name: str, body: bytes, *, durable: bool = True) -> bool:
        """Write a file where it differs from what is there; whether it did. `durable` also where the machine
        loses its power. Raises OutputRefused, OSError."""
        file = self.place(name)
        with suppress(FileNotFoundError):
            if file.stat().st_size == len(body) and file.read_bytes() == body:
                return False
        file.parent.mkdir(parents=True, exist_ok=True)
        if durable:
            with replacing(file) as part:
                part.write_bytes(body)
        else:
            draft = _draft(file)
            draft.write_bytes(body)
            _replace(draft, file)
        return True

    def remove(self, name: str) -> bool:
        """Remove a file; whether there was one. Raises OutputRefused as `place` does."""
        file = self.place(name)
        if not file.exists():
            return False
        file.unlink()
        return True

    def tidy(self) -> None:
        """Remove the drafts that an interrupted command left; the caller knows that no other is at work."""
        for folder, names, files in os.walk(self.root):
            for name in [entry for entry in names if _DRAFT.fullmatch(entry)]:
                names.remove(name)
                shutil.rmtree(Path(folder, name), ignore_errors=True)
            for name in filter(_DRAFT.fullmatch, files):
                Path(folder, name).unlink(missing_ok=True)


class ExportFolder:
    """A folder of files that other programs read, and in which nothing marks ours: a list of their digests
    beside them, as `sha256sum` writes it, tells them from others."""

    LIST = ".peerage-export"

    def __init__(self, folder: Folder, force: bool) -> None:
        self._folder = folder
        self._force = force
        self._before: dict[str, str] = {}
        self.digests: dict[str, str] = {}
        with suppress(OSError, ValueError):
            lines = folder.place(self.LIST).read_text("utf-8").splitlines()
            self._before = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}

    @classmethod
    @contextmanager
    def into(cls, root: Path, kept: ProtectedFiles, *, force: bool) -> Iterator[ExportFolder]:
        """Write files into `root`; the list is written however it ends."""
        export = cls(Folder(root, kept), force)
        try:
            yield export
        finally:
            if export.digests:
                digests = {**export._before, **export.digests}
                body = "".join([f"{digest}  {name}\n" for name, digest in digests.items()])
                export._folder.write(cls.LIST, body.encode())

    def write(self, name: str, body: bytes) -> None:
        """Write a file where it differs. Raises OutputRefused where another is in the way, and OSError."""
        file = self._folder.place(name)
        if not self._force and file.exists():
            digest = sha256(file.read_bytes()).hexdigest()
            if digest not in (self._before.get(name), sha256(body).hexdigest()):
                raise OutputRefused(
                    f"{file} exists and is not as an export left it; name another folder, or replace it with "
                    "--force"
                )
        self._folder.write(name, body)
        self.digests[name] = sha256(body).hexdigest()


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Give the place to write a file to, whatever stands at `file`: for who has asked `refuse` or `place`.
    The place is in a new folder next to `file`; at the end, when nothing was raised, what was written (if
    anything) takes the place of `file` at once, durably and with its permissions."""
    draft = _draft(file)
    try:
        draft.mkdir(mode=0o700)
    except OSError as error:  # of the draft nobody knows
        raise OSError(error.errno, error.strerror, str(file)) from None
    try:
        part = draft / file.name
        yield part
        if part.exists():
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            _replace(part, file)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


_DRAFT = re.compile(r"\.peerage-[0-9a-f]{12}\.part")


def _draft(file: Path) -> Path:
    return file.with_name(f".peerage-{secrets.token_hex(6)}.part")


def _replace(part: Path, file: Path) -> None:
    with suppress(FileNotFoundError):
        part.chmod(stat.S_IMODE(file.stat().st_mode))
    part.replace(file)


def marked(file: Path, kind: Kind) -> bool:
    """Return whether a file is an output of this kind."""
    try:
        return stat.S_ISREG(file.lstat().st_mode) and kind.mark in _head(file)
    except OSError:
        return False


def _is_database(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.stat().st_mode) and _head(file).startswith(_SQLITE)
    except OSError:
        return False


def _head(file: Path) -> bytes:
    with file.open("rb") as body:
        return body.read(MARKED)
