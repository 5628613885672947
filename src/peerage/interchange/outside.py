"""Results of others on their way into an arena: files read as one source, and what is there already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import file_digest, sha256
from io import BytesIO
from pathlib import Path

from peerage.ledger import Ledger
from peerage.ledger.out.export import table
from peerage.ledger.topics.outside import LABELS, Source
from peerage.ledger.topics.outside import read as entered
from peerage.ratings.read.answers import Answers, as_games
from peerage.ratings.read.forms import AS_WRITTEN, GivenForm
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.repeats import repeated
from peerage.ratings.read.results import layout_of
from peerage.ratings.read.results import read as read_results
from peerage.values.inputs import opened
from peerage.values.texts import storable

Entry = tuple[Source, Battles | PlayedGames]


class ImportRefused(ValueError):
    """A file that cannot be entered, in words for people."""


@contextmanager
def refusing() -> Iterator[None]:
    """Raise what is wrong with a file's data as ImportRefused."""
    try:
        yield
    except ValueError as error:
        raise ImportRefused(str(error)) from None


def kind_of(path: Path, score: str, form: GivenForm = AS_WRITTEN) -> str:
    """Return the layout of a file's data. Raises ImportRefused."""
    with refusing(), opened(path) as stream:
        layout = layout_of(stream, str(path), score, form)
    if layout is None:
        raise ImportRefused(f"{path}: there are no rows")
    return layout


def read(paths: list[Path], kind: str, score: str, form: GivenForm = AS_WRITTEN) -> Entry:
    """Return the results of files as one source, of which the digest of their digests, sorted, is kept."""
    with refusing(), ExitStack() as stack:
        streams = [(str(path), stack.enter_context(opened(path))) for path in paths]
        digests = sorted([file_digest(stream, "sha256").hexdigest() for _, stream in streams])
        for _, stream in streams:
            stream.seek(0)
        results = read_results(streams, kind, kept=LABELS, score=score, given=form)  # type: ignore[arg-type]
    data = as_games(results) if isinstance(results, Answers) else results
    count = len(data.duels) if isinstance(data, Battles) else len(data.games)
    if not count:
        raise ImportRefused(
            f"{paths[0]}: no row is a result, or no challenge was answered by two players; name several "
            "models' files at once"
        )
    notes = (*data.notes, *((f"score {storable(score)} of each sample",) if score else ()))
    name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    digest = digests[0] if len(paths) == 1 else sha256("".join(digests).encode()).hexdigest()
    return Source(storable(name), digest, data.layout, data.names, count, notes), data


def entries(ledger: Ledger) -> list[Entry]:
    """Return the results that an arena has: those of others, and of its matches, as a source without name."""
    there = entered(ledger)
    if ledger.heads()[1]:
        own = read_results([("", BytesIO("".join(table(ledger)).encode()))], "games")
        assert isinstance(own, PlayedGames)
        there.append((Source("", "", own.layout, own.names, len(own.games)), own))
    return there


def refuse_repeated(entries: list[Entry], there: list[Entry]) -> None:
    """Raise ImportRefused where the results of a file are there already, or in a file before it."""
    for source, data in entries:
        others = [entry for entry in there if entry[0].sha256 != source.sha256]
        if count := repeated([data], [other for _, other in others]):
            where, _ = max(others, key=lambda entry: repeated([data], [entry[1]]))
            results = (
                "its results" if count == source.results else f"{count:,} of its {source.results:,} results"
            )
            raise ImportRefused(
                f"{source.name}: {results} are those of {where.name or 'matches of this arena'} (the same "
                "players and outcomes), and would count twice; `--again` enters them all the same"
            )
        there = [*there, (source, data)]
