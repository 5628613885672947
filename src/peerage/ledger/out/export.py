"""A ledger written out for other programs: self-contained documents of finished matches, or the narrow table.

A match's document holds everything that was asked and answered as plain text, and next to it the stored
bytes, from which anybody can recompute its leaves, root and link (`docs/ledger.md`).
"""

from __future__ import annotations

import csv
import io
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Literal, TypeAlias

import msgspec

from peerage.formats import stored
from peerage.game.media import media_in
from peerage.game.protocol import Run
from peerage.game.work import ShellCommand
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.ledger.forms.codec_requests import read_request
from peerage.ledger.forms.merkle import GENESIS, leaf
from peerage.ledger.forms.rows import Exchange, FixtureRow, LedgerError, RecordRow
from peerage.ledger.ledger import Ledger
from peerage.ledger.matches import finished
from peerage.ledger.out.disclosure import disclosed, redacted
from peerage.render.data import cell

Format: TypeAlias = Literal["jsonl", "json", "csv"]

_ROWS = 1_000
"""Lines of CSV written at a time."""

COLUMNS = (
    "number",
    "round",
    "game",
    "topic",
    "status",
    "seat",
    "player",
    "score",
    "cost",
    "raw",
    "cost_elo",
    "spent_nano",
    "at_ms",
)
"""Of the CSV form, which has one line per match and contestant; unknown is empty."""

_TEXTS = [COLUMNS.index(name) for name in ("game", "topic", "status", "player")]


def export(ledger: Ledger, format: Format) -> Iterator[str]:
    """The ledger's finished matches in number order, in pieces of text. `jsonl` is one document a line,
    `json` an array of them, `csv` the narrow table, one line per match and contestant. Raises LedgerError
    when something a match refers to is damaged or missing."""
    if format == "csv":
        yield from table(ledger)
    elif format == "jsonl":
        yield from lines(ledger)
    else:
        before = "[\n"
        for line in lines(ledger):
            yield before + line.removesuffix("\n")
            before = ",\n"
        yield "[]\n" if before == "[\n" else "\n]\n"


def lines(ledger: Ledger) -> Iterator[str]:
    """The documents of all matches, one a line, each after the pictures and sounds that it is the first to
    show: `media` is the digest of one, `type` its type, `base64` its bytes, null where they are missing."""
    written = set[str]()
    for document in documents(ledger):
        line = msgspec.json.encode(document).decode()
        for digest, one in media_in([line]).items():
            if digest not in written:
                written.add(digest)
                body = ledger.media([digest]).get(digest)
                encoded = None if body is None else b64encode(body).decode()
                media = {"media": digest, "type": one.type, "base64": encoded}
                yield f"{msgspec.json.encode(media).decode()}\n"
        yield f"{line}\n"


def table(ledger: Ledger) -> Iterator[str]:
    """The narrow table as CSV, in pieces, after a header."""
    cells = cache(cell)
    yield written([COLUMNS])
    rows = contestants(ledger)
    while piece := list(islice(rows, _ROWS)):
        columns: list[Iterable[object]] = list(zip(*piece, strict=True))
        for place in _TEXTS:
            columns[place] = map(cells, columns[place])
        yield written(zip(*columns, strict=True))


def documents(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield finished matches as plain data, each complete in itself, with sealed values redacted."""
    texts = by_hex(ledger.texts())
    revealed = disclosed(ledger)
    chain = GENESIS
    for record, issued, exchanges in finished(ledger, 1, ledger.heads()[1]):
        try:
            if issued is None:
                raise KeyError("its fixture")
            yield _document(
                redacted(issued, revealed),
                redacted(record, revealed),
                [redacted(row, revealed) for row in exchanges],
                chain,
                texts,
            )
        except (KeyError, ValueError, msgspec.MsgspecError) as error:
            raise LedgerError(
                f"match {record.number} cannot be exported, something it refers to is missing or damaged "
                f"({error}); `peerage verify` says what"
            ) from error
        chain = record.chain


def _document(
    issued: FixtureRow,
    record: RecordRow,
    exchanges: list[Exchange],
    before: bytes,
    texts: Callable[[str], str],
) -> dict[str, Any]:
    fixture = read_fixture(issued.body, texts)
    reply_texts = {row.key: read_reply(row).text for row in exchanges if row.reply is not None}
    return {
        "match": record.number,
        "fixture": fixture,
        "record": msgspec.Raw(record.body),
        "at_ms": record.at_ms,
        "exchanges": [_exchange(row, fixture.seed, texts, reply_texts.__getitem__) for row in exchanges],
        "proof": {
            "fixture_body": issued.body.decode(),
            "record_body": record.body.decode(),
            "previous": before.hex(),
            "chain": record.chain.hex(),
        },
    }


_stored = lru_cache(maxsize=1024)(stored)  # thousands of requests share a format


def _exchange(
    row: Exchange, seed: str, texts: Callable[[str], str], reply_text: Callable[[str], str]
) -> dict[str, Any]:
    """One attempt: what was sent as the player saw it, what came back (None: nothing), and the proof."""
    ask = read_request(row.key, row.request, texts, reply_text)
    answered: dict[str, Any] = {"reply": None, "proof": None}
    if row.reply is not None:
        answered = {
            "reply": msgspec.Raw(row.reply),
            "proof": {
                "request_body": row.request.decode(),
                "reply_body": row.reply.decode(),
                "leaf": leaf(row.key, row.player, row.request, row.reply).hex(),
            },
        }
    if isinstance(ask, Run):
        asked: dict[str, Any] = {"run": ask}
    elif isinstance(ask, ShellCommand):
        asked = {"command": ask}
    else:
        asked = {
            "seat": ask.to,
            "role": ask.role,
            "max_tokens": ask.max_tokens,
            "temperature": ask.temperature,
            "expects": _stored(ask.expects),
            "messages": [{"speaker": speaker, "text": text} for speaker, text in ask.shown(seed)],
            **({"past": [turn.key for turn in ask.past]} if ask.past else {}),
            **({"folder": ask.folder.digest} if ask.folder else {}),
        }
    return {
        "key": row.key,
        "attempt": row.attempt,
        "player": row.player,
        **asked,
        "worst_nano": row.worst_nano,
        **answered,
    }


def contestants(ledger: Ledger) -> Iterator[tuple[Any, ...]]:
    """The narrow table as rows of `COLUMNS`, one per match and contestant; None: unknown."""
    for row in ledger.summaries():
        for place, player in enumerate(row.players):
            yield (
                row.number,
                row.round,
                row.game,
                row.topic,
                row.status,
                place + 1,
                player,
                # A void match has no scores.
                row.scores[place] if row.scores else None,
                row.costs[place] if row.costs else None,
                row.raw[place] if row.raw else None,
                row.cost_elo[place] if row.cost_elo else None,
                row.spent_nano,
                row.at_ms,
            )


def written(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, texts as they are."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
