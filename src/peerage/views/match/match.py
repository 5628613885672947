"""One match: who sat where, the blocks that tell it, every exchange, what came of it.

Terminals, pages, JSON and reports are made from this. It holds what players and spectators may see: never a
house answer's hidden quality, never a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec

from peerage.game.blocks import (
    Block,
    Heading,
    Private,
    Quoted,
    Sentence,
    SourceCode,
    TaskText,
    keys_of,
    seen_by,
    sent_to_all,
)
from peerage.game.match import Totals
from peerage.game.media import Media, head, media_in
from peerage.game.protocol import SANDBOX, first_key
from peerage.games import hides
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics.series import matches_of, shown
from peerage.reading.match import UNDER_WAY, Match, Step
from peerage.reading.matches import Matches
from peerage.reading.observations import spoken_in
from peerage.render.blocks import Fold, Link, Links, Meeting, MetContestant, QuotedReply, Transcript
from peerage.render.html.writer import notebook
from peerage.render.rows import meeting
from peerage.values.figures import counted, listed, moment
from peerage.values.texts import visible
from peerage.views.match.exchanges import Digests, ExchangeView, SeatView, exchange_of, reply_block, took
from peerage.views.match.numbers import numbers_of
from peerage.views.match.ways import way, with_ways
from peerage.views.match.why import why
from peerage.views.shown import Shown


class MatchView(Shown, frozen=True):
    """A match. `status` is done, the reason why there is no result, or "under way"; `verdict` says it in
    words, `why` gives its reason in a phrase, `note` says why this program cannot recompute the match, if so.

    `media` are the pictures and sounds in its blocks and requests, for which words stand in their texts as
    JSON. `blocks` tell the match, each with its `type`: see `game.blocks`. `drawn` is what was drawn for it,
    `detail` what its game left on record, in that game's own terms. `scores` and `costs` (the arena's cost
    unit) are by contestant label. `ratings` maps tracks to players to (before, after). `at_ms` is when the
    record was written, Unix milliseconds. `series` are the matches of its series, if it is in one, `given`
    those in which contestants gave their answers before, by label. While a series goes on a match shows who
    plays and nothing more: its status is "under way". One under way of a game that hides things from its
    players shows besides what every contestant was sent: its owner may be one of them.
    """

    number: int
    round: int
    game: str
    version: int
    seed: str
    snapshot: int
    status: str
    verdict: str
    why: str
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
    media: tuple[Media, ...] = ()
    series: tuple[int, ...] = ()
    given: Mapping[str, int] = msgspec.field(default_factory=dict)

    def player(self, label: str) -> str:
        """Return who sits at `label`; the label itself where nobody does."""
        return next((seat.player for seat in self.seats if seat.label == label), label)

    @property
    def title(self) -> str:
        """Return which match it is, on what."""
        return f"Match {self.number}{', on ' * bool(self.topic)}{self.topic}"

    @property
    def headline(self) -> str:
        """Return who met, what it came to and why, in one sentence."""
        seats = {seat.label: seat.player for seat in self.seats if seat.role == "contestant"}
        first, *others = sorted(seats, key=lambda label: -self.scores.get(label, 0.0)) or [""]
        what = self.verdict
        if len(others) == 1 and self.scores.keys() == seats.keys():
            if self.scores[first] > self.scores[others[0]]:
                what = f"{seats[first]} beats {seats[others[0]]}"
        elif others and not self.scores:
            what = f"{listed([*seats.values()])}: {self.verdict}"
        return f"{what}: {self.why}" if self.why else what

    def __repr__(self) -> str:
        met = meeting(_meeting(self))
        return visible(f"<{self.title}: {met}{': ' * bool(met)}{self.verdict}>")

    def _repr_html_(self) -> str:
        return notebook([transcript(self)])


def match_view(ledger: Ledger, number: int) -> MatchView:
    """The match of that number, finished or under way. Raises LedgerError when there is no such match."""
    match = Matches(ledger, whole=False).match(number)
    series = tuple(matches_of(ledger, match.fixture.series)) if match.fixture.series else ()
    verdict, blocks = match.verdict, match.blocks
    closed = match.recorded is None and hides(match.fixture.game)
    hidden = bool(series) and (match.recorded is None or ledger.place(number) > shown(ledger))
    if hidden or closed:
        labels = [seat.label for seat in match.fixture.seats]
        sent = {} if hidden else sent_to_all(match.replies.values(), labels)
        verdict, blocks = (
            f"shown when {'its series' if hidden else 'it'} has ended",
            tuple(map(TaskText, sent)),
        )
        bare = msgspec.structs.replace(match.fixture, seed="", drawn={})
        match = replace(match, fixture=bare, recorded=None, steps=[])
    elif match.recorded is not None:
        blocks += tuple(
            [
                Sentence(f"An answer of {author} speaks to its judge: “{words}”", "bad")
                for author, words in spoken_in(match, match.judged_texts)
            ]
        )
    return view_of(match, verdict, blocks, series)


def view_of(
    match: Match,
    verdict: str,
    blocks: tuple[Block, ...],
    series: tuple[int, ...] = (),
    *,
    requests: bool = True,
) -> MatchView:
    """A match, its verdict and blocks as somebody may see them; without `requests` no exchange has one, nor a
    digest, which is quicker."""
    fixture, outcome, recorded = match.fixture, match.outcome, match.recorded
    digests = Digests(digest(match.issued.body))
    if recorded is not None:
        row, record = recorded.row, recorded.record
        digests = Digests(
            record.fixture, record.root, digest(row.body), recorded.before.hex(), row.chain.hex()
        )
    roles: dict[Any, Any] = {"contestant": fixture.seats, **fixture.officials}
    exchanges = tuple([exchange_of(match, step, requests=requests) for step in match.asked.values()])
    return MatchView(
        number=fixture.number,
        round=fixture.round,
        game=fixture.game,
        version=fixture.version,
        seed=fixture.seed,
        snapshot=fixture.snapshot,
        status=match.status,
        verdict=verdict,
        why=why(match) if blocks and match.recorded else "",
        note=match.note,
        topic=fixture.topic,
        seats=tuple(
            [
                SeatView(seat.label, role, seat.player, seat.raw, seat.cost)
                for role, seats in roles.items()
                for seat in seats
            ]
        ),
        blocks=blocks,
        exchanges=exchanges,
        media=_media(blocks, exchanges),
        scores=dict(outcome.scores),
        costs=dict(outcome.costs),
        ratings={track: dict(moved) for track, moved in recorded.record.ratings.items()} if recorded else {},
        totals=dict(recorded.record.totals) if recorded else {},
        drawn=dict(fixture.drawn),
        detail=dict(outcome.detail),
        digests=digests,
        at_ms=recorded.row.at_ms if recorded else None,
        series=series,
        given={label: answer.match for label, answer in fixture.given.items()},
    )


def as_seen(view: MatchView, who: str) -> MatchView:
    """The match as the seat `who`, a label or the player on it, could see it: the requests it was sent with
    its replies, and of the blocks those that are not hidden from it. A game that does not mark in its blocks
    who saw what has none of them here. Raises LedgerError when nobody sat there."""
    label = next((seat.label for seat in view.seats if who in (seat.label, seat.player)), None)
    if label is None:
        there = ", ".join([f"{seat.label} ({seat.player})" for seat in view.seats])
        raise LedgerError(
            f"nobody of match {view.number} is {visible(who)!r}; its seats are {visible(there)}"
        )
    told = any(isinstance(block, Private) for block in view.blocks)
    blocks = tuple(seen_by(view.blocks, label)) if told else ()
    exchanges = tuple([one for one in view.exchanges if one.label == label])
    return msgspec.structs.replace(
        view,
        blocks=blocks,
        exchanges=exchanges,
        media=_media(blocks, exchanges),
        drawn={},
        detail={},
    )


def _media(blocks: Iterable[Block], exchanges: Iterable[ExchangeView]) -> tuple[Media, ...]:
    given = [block.text for block in blocks if isinstance(block, TaskText)]
    return tuple(media_in([*given, *[text for one in exchanges for _, text in one.request]]).values())


def tasks(blocks: Iterable[Block]) -> dict[str, str]:
    """Return what contestants were given to do, by name."""
    return {block.name or "task": block.text for block in blocks if isinstance(block, TaskText)}


def answers(match: Match) -> dict[str, str]:
    """By label the one thing that each contestant said, or each author of recorded answers, as the match is
    shown; empty unless each said one thing that could be used."""
    found: dict[str, str] = {}
    labels, replies = list(match.fixture.authors), match.replies
    for block in match.blocks:
        if isinstance(block, Quoted) and block.label in labels:
            if block.label in found or (block.key and replies[first_key(block.key)].status != "ok"):
                return {}
            found[block.label] = block.text
    return found if found.keys() == set(labels) else {}


NUMBERS = "What it cost and what it moved"
REST = 300
"""Requests that are listed beside those which the game shows: a tournament has thousands."""
CUT = 2_000
"""Characters of a text that are shown where what is long is cut."""
_NO_STEPS: Mapping[str, Step] = {}


def transcript(
    match: MatchView,
    unit: str = "dollars",
    *,
    asked: Mapping[str, Step] = _NO_STEPS,
    proof: str = "",
    cut: bool = False,
    requests: bool = False,
) -> Transcript:
    """Return a match from beginning to end: who met, what tells it, what it cost and moved, the digests.

    `unit` is that of the arena's costs of play. Of the steps in `asked` it is told how they were asked for;
    `proof` is a file to check them with. What is long may be `cut`; with `requests` each follows word for
    word, as its player saw it.
    """
    rest = [*_rest(match)]
    places = _places(match, [*match.blocks, *[block for fold in rest for block in fold.blocks]])
    by_key = {one.key: one for one in match.exchanges}
    best = max(match.scores.values(), default=None)
    seen: dict[Sequence[Any], tuple[tuple[str, int], ...]] = {}  # a panel sees the same few things

    def reply(key: str) -> QuotedReply | None:
        if (one := by_key.get(key)) is None:
            return None
        place, step = places.get(key, 0), asked.get(key)
        won = best is not None and match.scores.get(one.label) == best
        if one.role == SANDBOX or step is None:
            return QuotedReply(place, one.role, "" if one.role == SANDBOX else took(one), won)
        if (seeing := seen.get(step.parts)) is None:
            parts = [(part.label, places.get(part.reply, 0)) for part in step.parts if part.label is not None]
            seeing = seen[step.parts] = tuple(parts)
        return QuotedReply(place, one.role, took(one), won, step.form[:12], seeing)

    told = [*with_ways([_cut(block) for block in match.blocks] if cut else match.blocks, by_key)]
    failed = [one for one in match.exchanges if one.status == "void" and one.role != "contestant"]
    blocks = [
        *told,
        *([Heading("Failed calls")] if failed else ()),
        *[Sentence(f"{one.key}, {one.player}: {one.reason}", "bad") for one in failed],
        *rest,
        Heading(NUMBERS),
        numbers_of(match.seats, match.costs, match.totals, match.ratings, unit),
        Fold("Proof", [*_digests(match, proof)]),
        *([*_digests(match, proof), *_requests(match)] if requests else ()),
    ]
    names = {seat.label: seat.player for seat in match.seats}
    return Transcript(match.number, [*_head(match)], blocks, names, reply)


def _places(match: MatchView, blocks: Iterable[Any]) -> dict[str, int]:
    """Return at which step of the match, as it is shown, each reply stands, counting from 1."""
    places: dict[str, int] = {}
    known, last = {one.key for one in match.exchanges}, 0
    for keys in chain.from_iterable(map(keys_of, blocks)):
        if there := [key for key in keys if key in known and key not in places]:
            last += 1
            places |= dict.fromkeys(there, last)
    return places


def _head(match: MatchView) -> Iterator[Any]:
    yield Heading(match.title, to=("match", str(match.number)))
    if match.seats:
        yield _meeting(match)
    about = [
        match.verdict if match.scores and not match.why else "",
        match.status if match.status == UNDER_WAY else "",
        f"{match.game} version {match.version}",
        f"round {match.round}",
        f"in the series of matches {match.series[0]} to {match.series[-1]}" if len(match.series) > 1 else "",
        moment(match.at_ms) if match.at_ms else "",
        *[f"{label} answered in match {earlier}" for label, earlier in match.given.items()],
    ]
    yield Sentence(" · ".join(filter(None, about)), "quiet")
    if match.note:
        yield Sentence(match.note, "quiet")
    if earlier := dict.fromkeys(match.given.values()):
        yield Links([Link(f"Match {number}", ("match", str(number))) for number in earlier])


def _cut(block: Block) -> Block:
    """A block of which no more than the beginning is shown."""
    if isinstance(block, TaskText | Quoted) and len(block.text) > CUT:
        return msgspec.structs.replace(
            block, text=(kept := head(block.text, CUT)), more=len(block.text) - len(kept)
        )
    if isinstance(block, SourceCode) and len(block.source) > CUT:
        return msgspec.structs.replace(block, source=block.source[:CUT], more=len(block.source) - CUT)
    return block


def _rest(match: MatchView) -> Iterator[Fold]:
    """The requests that no block shows: of officials, of programs, replies that were asked for again."""
    shown = {key for block in match.blocks for keys in keys_of(block) for key in keys}
    others = [one for one in match.exchanges if one.key not in shown]
    if others:
        said: list[Any] = [part for one in others[:REST] for part in (reply_block(one, one.key), *way(one))]
        if len(others) > REST:
            command = f"`peerage match {match.number} --full` and the ledger have them all."
            said.append(Sentence(f"… and {len(others) - REST:,} more: {command}", "quiet"))
        yield Fold(f"{counted(len(others), 'more request')} and replies", said)


def _requests(match: MatchView) -> Iterator[Block]:
    for one in match.exchanges:
        yield Heading(f"{one.key}: {one.player} as {one.label}")
        yield from (TaskText(text, speaker) for speaker, text in one.request)
        yield msgspec.structs.replace(
            reply_block(one, ""), **({} if one.role == SANDBOX else {"text": one.reply})
        )
        for fold in way(one):
            yield from (Heading(fold.title, 3), *fold.blocks)


def _digests(match: MatchView, proof: str) -> Iterator[Any]:
    """The digests that a match can be checked by."""
    found = match.digests
    told = {
        "Fixture": found.fixture,
        f"Root of the {counted(len(match.exchanges), 'exchange')}": found.root,
        "This record": found.record,
        "Chain before it": found.previous,
        "Chain after it, SHA-256 of 02, the chain before it and this record": found.chain,
    }
    yield from (Sentence(f"{name}: `{value}`", "quiet") for name, value in told.items() if value)
    if proof:
        about = "and those next to it: all that was asked and replied, and how that is in a signed checkpoint"
        yield Links([Link("Proof of this match", ("file", proof), note=about)])


def _meeting(match: MatchView) -> Meeting:
    met = [
        MetContestant(seat.label, seat.player, match.scores.get(seat.label))
        for seat in match.seats
        if seat.role == "contestant"
    ]
    unranked = float("-inf")
    best_first = sorted(met, key=lambda one: unranked if one.score is None else one.score, reverse=True)
    return Meeting(best_first, match.why or match.verdict * (not match.scores))
