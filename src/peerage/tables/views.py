"""What a transcript is made of."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from peerage.match import Totals
from peerage.protocol import Role


class SeatView(Struct, frozen=True):
    """A seat: models see `label` alone; the ratings are those the match was paired by."""

    label: str
    role: Role
    player: str
    raw: float
    cost: float


class ExchangeView(Struct, frozen=True):
    """One request and what came back.

    `request` is as the player saw it, (speaker, text) by message. `status` is ok, invalid, refused, void, or
    waiting when no reply is on record; `reason` says what went wrong. `reply` is as it came, control
    characters included: show it through `protocol.visible`. `choice` and `choice_reason` are what a vote or
    verdict was read as, a judge's "A" being the answer that it was shown first. `attempts` counts how often
    it was sent. Cost in dollars, None when unknown. `reasoning_tokens` are those of the output that were
    thought and not said. A reply that ended at its limit is `truncated`, `cut` after that many tokens.
    `digest` is its leaf in the match's Merkle tree, in hex, empty while waiting.

    A program run in the sandbox has the role "sandbox": `request` is the program and what it read, `status`
    how it ended (see `protocol.Ran`), `reply` what it printed, `reason` its stderr.
    """

    key: str
    label: str
    role: Role | Literal["sandbox"]
    player: str
    request: tuple[tuple[str, str], ...]
    max_tokens: int
    temperature: float | None
    status: str
    reply: str = ""
    reason: str = ""
    choice: str = ""
    choice_reason: str = ""
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    model: str = ""
    price: str = ""
    reasoning_tokens: int | None = None
    truncated: bool = False
    cut: int = 0
    digest: str = ""


class VoteView(Struct, frozen=True):
    """A committee member's vote on a draft: approve, object, or what the reply was instead."""

    label: str
    player: str
    vote: str
    reason: str


class DraftView(Struct, frozen=True):
    """One draft: `authors` and `texts` by stage; see `challenges.drafting.Draft`."""

    turn: int
    draft: int
    authors: dict[str, str]
    texts: dict[str, str]
    status: str
    votes: tuple[VoteView, ...]
    approval: float | None
    accepted: bool


class BallotView(Struct, frozen=True):
    """A judge's ballot: `verdicts` and `reasons` by the order shown; see `judging.panel.Ballot`."""

    label: str
    player: str
    vote: str
    verdicts: dict[str, str]
    reasons: dict[str, str]
    flipped: bool
    weight: float


class ProgramView(Struct, frozen=True):
    """A contestant's program: its length in bytes of UTF-8 (None when the reply was none), each hidden test's
    verdict in order (see `games.trial`), and what came of it in a word or two."""

    label: str
    player: str
    bytes: int | None
    tests: tuple[str, ...]
    result: str


class Digests(Struct, frozen=True):
    """All in hex: SHA-256 of the stored fixture and record, the Merkle root of the exchanges, and the chain
    value after the record before (`previous`) and after this one. Empty where there is none yet."""

    fixture: str
    root: str = ""
    record: str = ""
    previous: str = ""
    chain: str = ""


class Transcript(Struct, frozen=True):
    """A match. `status` is done, the reason why it is void, or "under way".

    `challenge` holds the texts that were answered, by stage (a user's own prompt under "prompt"); `scores`
    and `costs` (the arena's cost unit) are by contestant label; `share` is the first one's share of the
    judges' weight; `decided` tells how. `ratings` maps tracks to players to (before, after). `at_ms` is when
    the record was written, Unix milliseconds.
    """

    number: int
    round: int
    game: str
    version: int
    seed: str
    snapshot: int
    status: str
    topic: str
    drawn: dict[str, Any]
    seats: tuple[SeatView, ...]
    challenge: dict[str, str]
    drafts: tuple[DraftView, ...]
    exchanges: tuple[ExchangeView, ...]
    ballots: tuple[BallotView, ...]
    programs: tuple[ProgramView, ...]
    scores: dict[str, float]
    costs: dict[str, float | None]
    share: float | None
    decided: str
    ratings: dict[str, dict[str, tuple[float, float]]]
    totals: dict[str, Totals]
    digests: Digests
    at_ms: int | None

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return found

    def player(self, label: str) -> str:
        """Who sits at `label`."""
        return next(seat.player for seat in self.seats if seat.label == label)
