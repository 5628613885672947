"""One match as it is shown: who sat where, the blocks that tell it, every exchange, what came of it.

Terminals, pages, JSON and reports are made from this. It holds what players and spectators may see: never a
house answer's hidden quality, never a key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from peerage.game.blocks import (
    Block,
    Heading,
    Private,
    Quoted,
    Sentence,
    SourceCode,
    TaskText,
    Tone,
    seen_by,
    sent_to_all,
)
from peerage.game.match import Totals
from peerage.game.protocol import REPAIR, ROOM, SANDBOX, Chosen, Role, Run, fence, render
from peerage.games import hides
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.merkle import digest, leaf
from peerage.ledger.topics.series import matches_of, shown
from peerage.reading.matches import UNDER_WAY, Match, Matches, Step
from peerage.reading.observations import spoken_in, texts_judged
from peerage.render.blocks import Column, Fold, Link, Links, Meeting, Met, Reply, Rows, Transcript, numbers
from peerage.render.html.writer import notebook
from peerage.render.rows import meeting
from peerage.values.figures import counted, dollars, moment, seconds, whole
from peerage.values.texts import visible
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.shown import Shown


class SeatView(Struct, frozen=True):
    """A seat: models see `label` alone; the ratings are those the match was paired by."""

    label: str
    role: Role
    player: str
    raw: float
    cost: float


class ExchangeView(Struct, frozen=True, gc=False):
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

    `blocks` tell the match, each with its `type`: see `game.blocks`. `drawn` is what was drawn for it,
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
        """Return who sits at `label`; the label itself where nobody does."""
        return next((seat.player for seat in self.seats if seat.label == label), label)

    @property
    def title(self) -> str:
        """Return which match it is, on what."""
        return f"Match {self.number}{', on ' * bool(self.topic)}{self.topic}"

    def __repr__(self) -> str:
        met = meeting(_meeting(self))
        return visible(f"<{self.title}: {met}{': ' * bool(met)}{self.verdict}>")

    def _repr_html_(self) -> str:
        return notebook([transcript(self)])


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
                for author, words in spoken_in(match, texts_judged(match))
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
                SeatView(seat.label, role, seat.player, seat.raw, seat.cost)
                for role, seats in roles.items()
                for seat in seats
            ]
        ),
        blocks=blocks,
        exchanges=tuple([_exchange(match, step, requests=requests) for step in match.asked.values()]),
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
    label = next((seat.label for seat in view.seats if who in (seat.label, seat.player)), None)
    if label is None:
        there = ", ".join([f"{seat.label} ({seat.player})" for seat in view.seats])
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


def _exchange(match: Match, step: Step, *, requests: bool) -> ExchangeView:
    run, max_tokens, temperature = step.role == SANDBOX, 0, None
    request: tuple[tuple[str, str], ...] = ()
    if requests:
        asked = match.request(step)
        if isinstance(asked, Run):
            request = ("program", asked.source), ("stdin", asked.stdin)
        else:
            mark = fence(match.fixture.seed, step.key)
            request = tuple([(message.speaker, render(message, mark)) for message in asked.messages])
            max_tokens, temperature = asked.max_tokens, asked.temperature
    said, row = step.said, step.row
    answered = said is not None and row.reply is not None
    told = said if answered and not run else None
    chosen = step.value if isinstance(step.value, Chosen) and told else None
    proof = ""
    if requests and row.reply is not None and answered:
        proof = leaf(step.key, step.player, row.request, row.reply).hex()
    return ExchangeView(
        key=step.key,
        label=step.label,
        role=step.role,
        player=step.player,
        request=request,
        max_tokens=max_tokens,
        temperature=temperature,
        status=step.status,
        reply=told.words if told else step.reply if answered else "",
        reason=step.reason if answered else "",
        choice=chosen.choice if chosen else "",
        choice_reason=chosen.reason if chosen else "",
        attempts=match.attempts[step.key],
        input_tokens=told.input_tokens if told else None,
        output_tokens=told.output_tokens if told else None,
        latency_s=(row.latency_ms or 0) / 1e3 if told else None,
        cost_usd=0.0 if run else None if told is None or told.cost_nano is None else told.cost_nano / 1e9,
        model=told.model if told else "",
        price=told.price if told else "",
        reasoning_tokens=told.reasoning_tokens if told else None,
        truncated=told.truncated if told else False,
        cut=told.cut if told else 0,
        digest=proof,
    )


def tasks(blocks: Iterable[Block]) -> dict[str, str]:
    """Return what contestants were given to do, by name."""
    return {block.name or "task": block.text for block in blocks if isinstance(block, TaskText)}


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


NUMBERS = "What it cost and what it moved"
REST = 300
"""Requests that are listed beside those which the game shows: a tournament has thousands."""
CUT = 2_000
"""Characters of a text that are shown where what is long is cut."""
_NO_STEPS: Mapping[str, Step] = {}
_NAMES: Mapping[Any, str] = {track: method.name for track, method in METHODS.items()}


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
    places = {one.key: place for place, one in enumerate(match.exchanges, 1)}
    best = max(match.scores.values(), default=None)
    seen: dict[Sequence[Any], tuple[tuple[str, int], ...]] = {}  # a panel sees the same few things

    def reply(key: str) -> Reply | None:
        if (place := places.get(key)) is None:
            return None
        one, step = match.exchanges[place - 1], asked.get(key)
        won = best is not None and match.scores.get(one.label) == best
        if one.role == SANDBOX or step is None:
            return Reply(place, one.role, "" if one.role == SANDBOX else took(one), won)
        if (seeing := seen.get(step.parts)) is None:
            parts = [(part.label, places.get(part.reply, 0)) for part in step.parts if part.label is not None]
            seeing = seen[step.parts] = tuple(parts)
        return Reply(place, one.role, took(one), won, step.form[:12], seeing)

    told = [_cut(block) for block in match.blocks] if cut else match.blocks
    failed = [one for one in match.exchanges if one.status == "void" and one.role != "contestant"]
    blocks = [
        *told,
        *([Heading("Failed calls")] if failed else ()),
        *[Sentence(f"{one.key}, {one.player}: {one.reason}", "bad") for one in failed],
        *_rest(match),
        Heading(NUMBERS),
        _numbers(match, unit),
        Fold("Proof", [*_digests(match, proof)]),
        *([*_digests(match, proof), *_requests(match)] if requests else ()),
    ]
    names = {seat.label: seat.player for seat in match.seats}
    return Transcript(match.number, [*_head(match)], blocks, names, reply)


def _meeting(match: MatchView) -> Meeting:
    met = [
        Met(seat.label, seat.player, seat.player, match.scores.get(seat.label))
        for seat in match.seats
        if seat.role == "contestant"
    ]
    unranked = float("-inf")
    return Meeting(sorted(met, key=lambda one: unranked if one.score is None else one.score, reverse=True))


def _head(match: MatchView) -> Iterator[Any]:
    yield Heading(match.title, to=("match", str(match.number)))
    if match.seats:
        yield _meeting(match)
    about = [
        match.verdict,
        match.status if match.status == UNDER_WAY else "",
        f"{match.game} version {match.version}",
        f"round {match.round}",
        f"in the series of matches {match.series[0]} to {match.series[-1]}" if len(match.series) > 1 else "",
        moment(match.at_ms) if match.at_ms else "",
    ]
    yield Sentence(" · ".join(filter(None, about)), "quiet")
    if match.note:
        yield Sentence(match.note, "quiet")


def _cut(block: Block) -> Block:
    """A block of which no more than the beginning is shown."""
    if isinstance(block, TaskText | Quoted) and len(block.text) > CUT:
        return msgspec.structs.replace(block, text=block.text[:CUT], more=len(block.text) - CUT)
    if isinstance(block, SourceCode) and len(block.source) > CUT:
        return msgspec.structs.replace(block, source=block.source[:CUT], more=len(block.source) - CUT)
    return block


def took(one: ExchangeView) -> str:
    """Return what a reply took and cost."""
    parts = [
        "" if one.output_tokens is None else f"{one.output_tokens:,} tokens",
        f"{one.reasoning_tokens:,} of them to think" if one.reasoning_tokens else "",
        "" if one.latency_s is None else seconds(one.latency_s),
        "cost unknown" if one.cost_usd is None else dollars(one.cost_usd),
        f"{one.attempts} attempts" if one.attempts > 1 else "",
        f"cut at its limit of {one.cut:,} tokens" if one.cut else "cut at its limit" * one.truncated,
        "asked again with more room" * one.key.endswith(ROOM),
        "repaired" * one.key.endswith(REPAIR),
        one.model,
    ]
    return " · ".join(filter(None, parts))


def _said(one: ExchangeView, note: str) -> Block:
    """A reply as it came, or of a choice its reason."""
    tone: Tone = "" if one.status == "ok" else "bad"
    verdict = one.choice if one.status == "ok" else one.status
    note = "; ".join(filter(None, (note, one.reason if one.role != SANDBOX or one.status != "ok" else "")))
    if one.role == SANDBOX:
        return SourceCode(one.reply, one.label, one.key, verdict, tone, note)
    return Quoted(one.label, one.choice_reason if one.choice else one.reply, one.key, verdict, tone, note)


def _rest(match: MatchView) -> Iterator[Fold]:
    """The requests that no block shows: of officials, of programs, replies that were asked for again."""
    shown = {block.key for block in match.blocks if isinstance(block, TaskText | Quoted | SourceCode)}
    others = [one for one in match.exchanges if one.key not in shown]
    if others:
        said: list[Block] = [_said(one, one.key) for one in others[:REST]]
        if len(others) > REST:
            command = f"`peerage match {match.number} --full` and the ledger have them all."
            said.append(Sentence(f"… and {len(others) - REST:,} more: {command}", "quiet"))
        yield Fold(f"{counted(len(others), 'more request')} and replies", said)


def _requests(match: MatchView) -> Iterator[Block]:
    for one in match.exchanges:
        yield Heading(f"{one.key}: {one.player} as {one.label}")
        yield from (TaskText(text, speaker) for speaker, text in one.request)
        yield msgspec.structs.replace(_said(one, ""), **({} if one.role == SANDBOX else {"text": one.reply}))


class Part(NamedTuple):
    """A player's part in a match: its seats, what it cost in all and in play, its ratings by track."""

    player: str
    seats: str
    raw: float | None
    calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    play: float | None
    moved: Mapping[str, tuple[float, float]]


def _part(match: MatchView, player: str, seats: Sequence[SeatView]) -> Part:
    total = match.totals.get(player)
    play = [match.costs[seat.label] for seat in seats if seat.label in match.costs]
    known = [cost for cost in play if cost is not None]
    return Part(
        player=player,
        seats=", ".join([seat.label for seat in seats]),
        raw=seats[0].raw if seats else None,
        calls=total.calls if total else None,
        input_tokens=total.input_tokens if total else None,
        output_tokens=total.output_tokens if total else None,
        cost=None if total is None or total.unknown_costs else total.cost_nano / 1e9,
        play=sum(known) if known and len(known) == len(play) else None,
        moved={track: moved[player] for track, moved in match.ratings.items() if player in moved},
    )


def _numbers(match: MatchView, unit: str) -> Rows:
    """Return what a match cost each player, and what it moved."""
    seats: dict[str, list[SeatView]] = {}
    for seat in match.seats:
        seats.setdefault(seat.player, []).append(seat)
    rows = [_part(match, player, seats.get(player, ())) for player in dict.fromkeys((*seats, *match.totals))]
    notes = [*_sums(match, {row.player for row in rows})]
    return Rows(rows, _columns(tuple(match.ratings), unit), notes=notes, name="costs", sorts=False)


@lru_cache
def _columns(tracks: tuple[str, ...], unit: str) -> tuple[Column, ...]:
    """Every match of an arena has the same few."""

    def after(track: str) -> Column:
        digits = 1 if track == "trueskill" else 0

        def write(moved: tuple[float, float]) -> str:
            return f"{moved[1]:,.{digits}f} {moved[1] - moved[0]:+.1f}"

        title = _NAMES.get(track, track)
        return Column(track, title, write, number=True, value=lambda row: row.moved.get(track))

    own = unit != "dollars"
    return (
        Column("player", "Player", link=lambda row: ("player", row.player)),
        Column("seats", "As", spare=1, page=False),
        Column("raw", "Paired at", "{:,.0f}".format, number=True, spare=3, page=False),
        *numbers(whole, calls="Calls ~2", input_tokens="Tokens in ~2", output_tokens="out ~2"),
        Column("cost", "Cost", dollars, number=True),
        Column(
            "play",
            f"Cost of play{f', in {unit}' if own else ''}",
            "{:.6g}".format if own else dollars,
            number=True,
            spare=2,
            page=own,
        ),
        *map(after, tracks),
    )


def _sums(match: MatchView, players: Collection[str]) -> Iterator[str]:
    """Return what all of it cost, and whom a result moved beside those who met."""
    if not match.totals:
        return
    spent = sum(total.cost_nano for total in match.totals.values()) / 1e9
    unknown = sum(total.unknown_costs for total in match.totals.values())
    sums = [f"{dollars(spent)} in all"] if spent or not unknown else []
    sums += [f"{counted(unknown, 'call')} of unknown cost"] * bool(unknown)
    yield f"{counted(sum(total.calls for total in match.totals.values()), 'call')}, {', and '.join(sums)}"
    for track, moved in match.ratings.items():
        if others := len(moved.keys() - players):
            yield f"{_NAMES.get(track, track)} spread to {counted(others, 'neighbour')}"


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
