"""The stored forms of fixtures, replies and records: JSON bytes, long texts by digest. Pure.

`codec_requests` has those of requests; `docs/ledger.md` describes the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from peerage.game.match import Fixture, GivenAnswer, MatchRecord, Seat, Totals
from peerage.game.protocol import Reply
from peerage.game.work import Trace
from peerage.ledger.forms.rows import Exchange
from peerage.values.sealing import Kept, salt, seal, unseal

_encode = msgspec.json.Encoder().encode

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


def fixture_body(fixture: Fixture) -> tuple[bytes, list[Text]]:
    """The stored bytes of a fixture, its key sealed, and its long texts: its settings, and the answers that
    were given before."""
    text = _settings_text(_Same(fixture.settings))
    answers = {label: (text_digest(given.text), given.text) for label, given in fixture.given.items()}
    data = msgspec.structs.asdict(fixture) | {
        "settings": text[0].hex(),
        "seed": seal(seed_salt(fixture.seed), fixture.seed),
    }
    data["given"] = {
        label: msgspec.structs.replace(fixture.given[label], text=digest.hex())
        for label, (digest, _) in answers.items()
    }
    for name in ("series", "given", "shares", "sessions", "hands"):  # which few fixtures have
        if not data[name]:
            del data[name]
    return _encode(data), [text, *answers.values()]


class _Same:
    """A value that equals itself alone, so that a cache need not look into it; kept alive by the cache."""

    __slots__ = ("value",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=4)  # much the same for thousands of matches
def _settings_text(settings: _Same) -> Text:
    text = msgspec.json.encode(settings.value, order="sorted").decode()
    return text_digest(text), text


def seed_salt(seed: str) -> str:
    """The salt that seals the key of a match: who knows the key knows it."""
    return salt(seed, "key")


_EMPTY = Raw(b"{}")


class StoredFixture(Struct, frozen=True, gc=False):
    """A fixture as stored; `settings` is the digest of their text, and so is the text of each answer `given`.
    What few readers need, key, officials and what was drawn, is parsed when it is asked for, so that a header
    costs 2 µs."""

    number: int
    round: int
    game: str
    version: int
    seats: tuple[Seat, ...]
    settings: str
    sealed_seed: Raw = field(name="seed")
    stored_officials: Raw = field(default=_EMPTY, name="officials")
    drawn: Raw = _EMPTY
    snapshot: int = 0
    paired_from: int = 0
    release: str = ""
    series: int = 0
    given: dict[str, GivenAnswer] = {}
    shares: int = 0
    sessions: dict[str, int] = {}
    hands: tuple[str, ...] = ()

    @property
    def seed(self) -> str:
        """The key of the match; empty where only its commitment is there."""
        sealed = _read_sealed(self.sealed_seed)
        return str(unseal(sealed)) if "value" in sealed else ""

    @property
    def officials(self) -> dict[str, tuple[Seat, ...]]:
        return _read_officials(self.stored_officials)

    @property
    def topic(self) -> str:
        """As `Fixture.topic`."""
        drawn = _read_drawn(self.drawn)
        return str(drawn.category if drawn.topic is msgspec.UNSET else drawn.topic)

    @property
    def authors(self) -> dict[str, str]:
        """As `Fixture.authors`."""
        return {seat.label: seat.player for seat in self.seats} or _read_drawn(self.drawn).authors


class _Drawn(Struct, frozen=True, gc=False):
    """The parts of what was drawn that fixtures of any game may have."""

    topic: Any = msgspec.UNSET
    category: Any = ""
    authors: dict[str, str] = {}


read_issued = msgspec.json.Decoder(StoredFixture).decode
"""A fixture without its settings. Raises msgspec.MsgspecError."""
_read_sealed = msgspec.json.Decoder(dict[str, str]).decode
_read_officials = msgspec.json.Decoder(dict[str, tuple[Seat, ...]]).decode
_read_drawn = msgspec.json.Decoder(_Drawn).decode


def read_fixture(body: bytes, texts: Callable[[str], str]) -> Fixture:
    """A stored fixture; its `seed` is empty where only the commitment is there. Raises MissingText where its
    settings or answers are not there as they were written."""
    issued = read_issued(body)
    return Fixture(
        number=issued.number,
        round=issued.round,
        game=issued.game,
        version=issued.version,
        seed=issued.seed,
        seats=issued.seats,
        officials=issued.officials,
        settings=_settings(issued.settings, texts(issued.settings)),
        drawn=msgspec.json.decode(issued.drawn, type=dict[str, Any]),
        snapshot=issued.snapshot,
        paired_from=issued.paired_from,
        release=issued.release,
        series=issued.series,
        given={
            label: msgspec.structs.replace(given, text=_answer(given.text, texts(given.text)))
            for label, given in issued.given.items()
        },
        shares=issued.shares,
        sessions=issued.sessions,
        hands=issued.hands,
    )


def _answer(digest: str, text: str) -> str:
    if text_digest(text).hex() != digest:
        raise ChangedText(digest)
    return text


def fixture_texts(body: bytes) -> set[bytes]:
    """The digests (hex) of the texts to which a stored fixture refers: its game's settings, and answers."""
    at = body.find(b'"settings":"') + 12
    given = read_issued(body).given.values() if b'"given":{' in body else ()
    return {body[at : at + 64], *[answer.text.encode() for answer in given]}


@lru_cache(maxsize=64)
def _settings(digest: str, text: str) -> Mapping[str, Any]:
    """Return what thousands of fixtures share; a game takes them as they are, so they must be what was
    written."""
    if text_digest(text).hex() != digest:
        raise ChangedText(digest)
    settings: Mapping[str, Any] = msgspec.json.decode(text)
    return settings


def record_body(record: MatchRecord) -> bytes:
    return _encode(record)


read_record = msgspec.json.Decoder(MatchRecord).decode
"""A whole record. Raises msgspec.MsgspecError."""


class OutcomeHeader(Struct, frozen=True, gc=False):
    """The little of an outcome that every game has; `facts` and `detail` are the game's to read."""

    void: str = ""
    scores: dict[str, float] = {}
    costs: dict[str, float | None] = {}
    facts: Raw = Raw(b"[]")
    detail: Raw = _EMPTY


class RecordHeader(Struct, frozen=True, gc=False):
    """A record as it is read by the thousand: what fills most of it is parsed when it is asked for."""

    number: int
    fixture: str
    root: str
    outcome: OutcomeHeader
    moved: Raw = field(default=_EMPTY, name="ratings")
    sums: Raw = field(default=_EMPTY, name="totals")

    @property
    def ratings(self) -> dict[str, dict[str, tuple[float, float]]]:
        return _read_ratings(self.moved)

    @property
    def totals(self) -> dict[str, Totals]:
        return _read_totals(self.sums)


read_header = msgspec.json.Decoder(RecordHeader).decode
"""A record's header. Raises msgspec.MsgspecError."""
_read_ratings = msgspec.json.Decoder(dict[str, dict[str, tuple[float, float]]]).decode
_read_totals = msgspec.json.Decoder(dict[str, Totals]).decode


class StoredReply(Struct, frozen=True, omit_defaults=True, gc=False):
    """A reply as stored; `status` invalid never stands here, since validity follows from the kind. How
    long it took is next to it (`store.ReplyRow`).

    `model` is the version as the provider named it, `price` that of its price; a `truncated` one was
    cut, at `cut` tokens where its player's limit did it, for good if `final`.
    """

    status: str
    text: str | Kept = ""
    reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_nano: int | None = None
    used: Mapping[str, float] = {}
    model: str = ""
    price: str = ""
    truncated: bool = False
    hidden: Any = None
    cut: int = 0
    final: bool = False
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    trace: Trace | None = None
    sealed_trace: Kept | None = None

    @property
    def withheld(self) -> bool:
        """Return whether the text is sealed and redacted, so that nobody can read it."""
        return not isinstance(self.text, str) and not self.text.salt

    @property
    def words(self) -> str:
        """The text, sealed or not; REDACTED where it is withheld."""
        return self.text if isinstance(self.text, str) else self.text.value

    @property
    def way(self) -> Trace | None:
        """The trace, sealed or not; None where it is withheld, or there is none."""
        kept = self.sealed_trace
        return self.trace if kept is None else _read_trace(kept.value) if kept.salt else None


_read_trace = msgspec.json.Decoder(Trace).decode
read_said = msgspec.json.Decoder(StoredReply).decode
"""A reply with all that is stored of it."""


def reply_body(
    reply: Reply, model: str = "", price: str = "", truncated: bool = False, salt: str = ""
) -> bytes:
    """The stored bytes of a raw reply: with the model snapshot the provider named and the price's version.

    With a `salt` (`reply_salt`) its text and its trace are sealed.
    """
    stored = StoredReply(
        status=reply.status,
        text=Kept(salt, reply.text) if salt else reply.text,
        reason=reply.reason,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_nano=reply.cost_nano,
        used=reply.used,
        model=model,
        price=price,
        truncated=truncated,
        hidden=reply.hidden,
        cut=reply.cut,
        final=reply.final,
        reasoning_tokens=reply.reasoning_tokens,
        cached_tokens=reply.cached_tokens,
        trace=None if salt else reply.trace,
        sealed_trace=Kept(salt, _encode(reply.trace).decode()) if salt and reply.trace else None,
    )
    return _encode(stored)


def reply_salt(secret: str, key: str) -> str:
    """The salt of the reply to a request, from its match's secret; empty for a match that has none."""
    return salt(secret, f"reply/{key}") if secret else ""


class _Named(Struct):
    model: str = ""


_decode_named = msgspec.json.Decoder(_Named).decode


def named_model(body: bytes) -> str:
    """The model that a stored reply's provider named; "" for none."""
    return _decode_named(body).model


def read_reply(row: Exchange) -> Reply:
    """The raw reply (its value not yet parsed) of an answered attempt."""
    return reply_of(row, read_said(row.reply or b""))


def reply_of(row: Exchange, stored: StoredReply) -> Reply:
    """Return the raw reply of an attempt from its stored form."""
    return Reply(
        status=stored.status,  # type: ignore[arg-type]  # a status that nobody wrote is told when it is used
        text=stored.words,
        reason=stored.reason,
        input_tokens=stored.input_tokens,
        output_tokens=stored.output_tokens,
        latency_ms=row.latency_ms or 0,
        cost_nano=stored.cost_nano,
        used=stored.used,
        hidden=stored.hidden,
        key=row.key,
        cut=stored.cut,
        final=stored.final,
        reasoning_tokens=stored.reasoning_tokens,
        cached_tokens=stored.cached_tokens,
        trace=stored.way,
    )
