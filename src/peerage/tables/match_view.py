"""One match as it is shown: who sat where, the blocks that tell it, every exchange, what came of it.

Terminals, pages, JSON and reports are made from this, or from the `Match` that it is made from. It holds what
players and spectators may see: never a house answer's hidden quality, never a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import msgspec
from msgspec import Struct

from peerage.blocks import Block, Heading, Private, Quoted, Sentence, Task, seen_by, sent_to_all
from peerage.games import hides
from peerage.ledger.merkle import digest, leaf
from peerage.ledger.series import matches_of, shown
from peerage.ledger.store import Ledger, LedgerError
from peerage.match import Totals
from peerage.protocol import Chosen, Role, Run, fence, render, visible
from peerage.reading.matches import Match, Matches, Step
from peerage.reading.observations import spoken_in, texts_judged
from peerage.render.html import notebook
from peerage.tables import Shown


class SeatView(Struct, frozen=True):
    """A seat: models see `label` alone; the ratings are those the match was paired by. `slot` counts the
    seats of a player that holds several, from 1; else it is 0."""

    label: str
    role: Role
    player: str
    raw: float
    cost: float
    slot: int = 0

    @property
    def name(self) -> str:
        """Who sits there, several seats of one player told apart."""
        return f"{self.player} #{self.slot}" if self.slot else self.player


class ExchangeView(Struct, frozen=True):
    """One request and what came back.

    `request` is as the player saw it, (speaker, text) by message. `status` is ok, invalid, refused, void, or
    waiting when no reply is on record; `reason` says what went wrong. `reply` is as it came, control
    characters included: show it through `protocol.visible`. `choice` and `choice_reason` are what a vote or
    verdict was read as, a judge's "A" being the answer that it was shown first. `attempts` counts how often
    it was sent. Cost in dollars, None when unknown. `reasoning_tokens` are those of the output that were
    thought and not said. A reply that ended at its limit is `truncated`, `cut` after that many tokens.
    `digest` is its leaf, in hex, empty while waiting.

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


class Digests(Struct, frozen=True):
    """All in hex: SHA-256 of the stored fixture and record, the root of the exchanges, and the chain
    value after the record before (`previous`) and after this one. Empty where there is none yet."""

    fixture: str
    root: str = ""
    record: str = ""
    previous: str = ""
    chain: str = ""


class MatchView(Shown, frozen=True):
    """A match. `status` is done, the reason why there is no result, or "under way"; `verdict` says it in
    words, `note` why this program cannot recompute the match, if so.

    `blocks` tell the match, each with its `type`: see `peerage.blocks`. `drawn` is what was drawn for it,
    `detail` what its game left on record, in that game's own terms. `scores` and `costs` (the arena's cost
    unit) are by contestant label. `ratings` maps tracks to players to (before, after). `at_ms` is when the
    record was written, Unix milliseconds. `series` are the matches of its series, if it is in one. While that
    goes on a match shows who plays and nothing more: its status is "under way". One under way of a game that
    hides things from its players shows besides what every contestant was sent: its owner may be one of them.
    """

    number: int
    round: int
    game: str
    version: int
    seed: str
    snapshot: int
    status: str
    verdict: str
    note: str
    topic: str
    seats: tuple[SeatView, ...]
    blocks: tuple[Block, ...]
    exchanges: tuple[ExchangeView, ...]
    scores: dict[str, float]
    costs: dict[str, float | None]
    ratings: dict[str, dict[str, tuple[float, float]]]
    totals: dict[str, Totals]
    drawn: dict[str, Any]
    detail: dict[str, Any]
    digests: Digests
    at_ms: int | None
    series: tuple[int, ...] = ()

    def player(self, label: str) -> str:
        """Who sits at `label`; the label itself where nobody does."""
        return next((seat.name for seat in self.seats if seat.label == label), label)

    def who(self, label: str) -> str:
        """Who sits at `label`, and the label; the label itself where nobody does."""
        player = self.player(label)
        return label if player == label else f"{player} ({label})"

    @property
    def title(self) -> str:
        """Which match, who met, on what."""
        met = " against ".join([self.who(seat.label) for seat in self.seats if seat.role == "contestant"])
        return f"Match {self.number}: {met}{', on ' * bool(self.topic)}{self.topic}"

    def __repr__(self) -> str:
        return visible(f"<{self.title}: {self.verdict}>")

    def _repr_html_(self) -> str:
        about = f"{self.game} · round {self.round} · {self.verdict}"
        return notebook([Heading(self.title, 3), Sentence(about, "quiet"), *self.blocks], self.who)


def match_view(ledger: Ledger, number: int) -> MatchView:
    """The match of that number, finished or under way. Raises LedgerError when there is no such match."""
    match = Matches(ledger, whole=False).one(number)
    series = tuple(matches_of(ledger, match.fixture.series)) if match.fixture.series else ()
    verdict, blocks = match.verdict, match.blocks
    closed = match.recorded is None and hides(match.fixture.game)
    hidden = bool(series) and (match.recorded is None or ledger.place(number) > shown(ledger))
    if hidden or closed:
        labels = [seat.label for seat in match.fixture.seats]
        sent = {} if hidden else sent_to_all(match.replies.values(), labels)
        verdict, blocks = f"shown when {'its series' if hidden else 'it'} has ended", tuple(map(Task, sent))
        bare = msgspec.structs.replace(match.fixture, seed="", drawn={})
        match = replace(match, fixture=bare, recorded=None, steps=[])
    elif match.recorded is not None:
        blocks += tuple(
            [
                Sentence(f"An answer of {author} speaks to its judge: “{words}”", "bad")
                for author, words in spoken_in(match, texts_judged(match))
            ]
        )
    fixture, outcome, recorded = match.fixture, match.outcome, match.recorded
    digests = Digests(digest(match.issued.body))
    if recorded is not None:
        row, record = recorded.row, recorded.record
        digests = Digests(
            record.fixture, record.root, digest(row.body), recorded.before.hex(), row.chain.hex()
        )
    slots = fixture.slot_numbers
    roles: dict[Any, Any] = {"contestant": fixture.seats, **fixture.officials}
    return MatchView(
        number=fixture.number,
        round=fixture.round,
        game=fixture.game,
        version=fixture.version,
        seed=fixture.seed,
        snapshot=fixture.snapshot,
        status=match.status,
        verdict=verdict,
        note=match.note,
        topic=fixture.topic,
        seats=tuple(
            [
                SeatView(seat.label, role, seat.player, seat.raw, seat.cost, slots.get(seat.label, 0))
                for role, seats in roles.items()
                for seat in seats
            ]
        ),
        blocks=blocks,
        exchanges=tuple([_exchange(match, step) for step in match.asked.values()]),
        scores=dict(outcome.scores),
        costs=dict(outcome.costs),
        ratings={track: dict(moved) for track, moved in recorded.record.ratings.items()} if recorded else {},
        totals=dict(recorded.record.totals) if recorded else {},
        drawn=dict(fixture.drawn),
        detail=dict(outcome.detail),
        digests=digests,
        at_ms=recorded.row.at_ms if recorded else None,
        series=series,
    )


def as_seen(view: MatchView, who: str) -> MatchView:
    """The match as the seat `who`, a label or the player on it, could see it: the requests it was sent with
    its replies, and of the blocks those that are not hidden from it. A game that does not mark in its blocks
    who saw what has none of them here. Raises LedgerError when nobody sat there."""
    label = next((seat.label for seat in view.seats if who in (seat.label, seat.player, seat.name)), None)
    if label is None:
        there = ", ".join([f"{seat.label} ({seat.name})" for seat in view.seats])
        raise LedgerError(
            f"nobody of match {view.number} is {visible(who)!r}; its seats are {visible(there)}"
        )
    told = any(isinstance(block, Private) for block in view.blocks)
    return msgspec.structs.replace(
        view,
        blocks=tuple(seen_by(view.blocks, label)) if told else (),
        exchanges=tuple([one for one in view.exchanges if one.label == label]),
        drawn={},
        detail={},
    )


def _exchange(match: Match, step: Step) -> ExchangeView:
    asked, said = match.request(step), step.said
    mark = fence(match.fixture.seed, step.key)
    run = isinstance(asked, Run)
    if isinstance(asked, Run):
        request: tuple[tuple[str, str], ...] = (("program", asked.source), ("stdin", asked.stdin))
    else:
        request = tuple([(message.speaker, render(message, mark)) for message in asked.messages])
    view = ExchangeView(
        key=step.key,
        label=step.label,
        role=step.role,
        player=step.player,
        request=request,
        max_tokens=0 if isinstance(asked, Run) else asked.max_tokens,
        temperature=None if isinstance(asked, Run) else asked.temperature,
        status=step.status,
        attempts=match.attempts[step.key],
        cost_usd=0.0 if run else None,
    )
    if said is None or step.row.reply is None:
        return view
    chosen = step.value if isinstance(step.value, Chosen) else Chosen("")
    proof = leaf(step.key, step.player, step.row.request, step.row.reply).hex()
    if run:
        return msgspec.structs.replace(view, reply=step.reply, reason=step.reason, digest=proof)
    return msgspec.structs.replace(
        view,
        reply=said.words,
        reason=step.reason,
        choice=chosen.choice,
        choice_reason=chosen.reason,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        latency_s=(step.row.latency_ms or 0) / 1e3,
        cost_usd=None if said.cost_nano is None else said.cost_nano / 1e9,
        model=said.model,
        price=said.price,
        reasoning_tokens=said.reasoning_tokens,
        truncated=said.truncated,
        cut=said.cut,
        digest=proof,
    )


def tasks(blocks: Iterable[Block]) -> dict[str, str]:
    """What contestants were given to do, by name."""
    return {block.name or "task": block.text for block in blocks if isinstance(block, Task)}


def answers(match: Match) -> dict[str, str]:
    """By label the one thing that each contestant said, or each author of recorded answers, as the match is
    shown; empty unless each said one thing that could be used."""
    found: dict[str, str] = {}
    labels = list(match.fixture.authors)
    for block in match.blocks:
        if isinstance(block, Quoted) and block.label in labels:
            if block.label in found or (block.key and match.asked[block.key].status != "ok"):
                return {}
            found[block.label] = block.text
    return found if found.keys() == set(labels) else {}
