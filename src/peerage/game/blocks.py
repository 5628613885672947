"""A few typed blocks that show a match, and the default that shows any game. Pure.

    def show(fixture, outcome, replies):
        yield Heading("The bids")
        for reply in replies.values():
            yield said(reply)

A game's `show(fixture, outcome, replies)` yields blocks; terminals, pages and JSON are made from them alone.
Texts in blocks may be what players wrote: every renderer escapes them and makes control characters visible.
Players are named by seat label; renderers add who sat there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import SANDBOX, Message, Role, render

Tone: TypeAlias = Literal["", "good", "bad", "quiet"]
Target: TypeAlias = tuple[
    Literal[
        "player", "pair", "match", "game", "topic", "track", "task", "view", "file", "picture", "media", "url"
    ],
    str,
]
"""The target of a link: a kind of thing, and which one, of a pair two names, a line each. Each medium finds
its own address for it, or none; an empty one where the file of a `media` is missing."""


class Heading(Struct, frozen=True, gc=False, tag="heading"):
    """The title of what follows, up to the next heading; of level 1 that of a whole view. `to` is where it
    leads, `anchor` what links and marks lead to it by; `notes` explain what follows, a sentence each, to who
    asks. What follows one that is `closed` opens on demand, where a medium can open anything."""

    text: str
    level: Literal[1, 2, 3] = 2
    to: Target | None = None
    anchor: str = ""
    notes: tuple[str, ...] = ()
    closed: bool = False


class Sentence(Struct, frozen=True, gc=False, tag="sentence"):
    """A statement of the game's own."""

    text: str
    tone: Tone = ""


class TaskText(Struct, frozen=True, gc=False, tag="task"):
    """The task of contestants: a question, a statement. `name` tells parts of it apart; `by` are
    the labels of those who wrote it, none where it was drawn or given; `key` is the reply that holds it.
    So many characters `more` are on record than in `text`. `prose` is Markdown."""

    text: str
    name: str = ""
    by: tuple[str, ...] = ()
    key: str = ""
    more: int = 0
    prose: bool = False


class Quoted(Struct, frozen=True, gc=False, tag="quoted"):
    """The words of a seat. `verdict` says in a word or two what it came to, `note` adds what
    the words leave out; `key` is the request that it answers. So many characters `more` are on record than in
    `text`. `prose` is Markdown, as models write to people."""

    label: str
    text: str
    key: str = ""
    verdict: str = ""
    tone: Tone = ""
    note: str = ""
    more: int = 0
    prose: bool = False


class SourceCode(Struct, frozen=True, gc=False, tag="program"):
    """Source code: of a seat, or, without a `label`, of the task; or as a unified `diff`, whose lines say by
    their first character whether they were added or removed."""

    source: str
    label: str = ""
    key: str = ""
    verdict: str = ""
    tone: Tone = ""
    note: str = ""
    more: int = 0
    diff: bool = False


class CellMark(Struct, frozen=True, gc=False, tag="mark"):
    """A cell that is read at a glance: ✓, ✗, a letter, a word. `about` says more; `opens` is the anchor of
    the heading that it leads to."""

    text: str
    tone: Tone = ""
    about: str = ""
    opens: str = ""


class SeatName(Struct, frozen=True, gc=False, tag="seat"):
    """A cell that names who sits at a label, struck out where `out` of the game."""

    label: str
    out: bool = False


class Bar(Struct, frozen=True, gc=False, tag="bar"):
    """A number from `least` to `most`, drawn as a bar that begins at 0; alone, or in a cell. Without `most`
    it is a share of 1, written in percent."""

    caption: str
    value: float
    most: float | None = None
    least: float = 0.0

    @property
    def full(self) -> float:
        """Return the number whose bar is full."""
        return 1.0 if self.most is None else self.most


Cell: TypeAlias = str | int | float | CellMark | SeatName | Bar | None


class Grid(Struct, frozen=True, gc=False, tag="grid"):
    """Rows of cells (None: not known); a column whose name begins with ">" holds numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""


class ScoreLine(Struct, frozen=True, gc=False, tag="score"):
    """Worth of a contestant's play (None: unranked), with the reason. Where it is `pictured` a picture shows
    it, and no line of its own does."""

    label: str
    score: float | None
    why: str = ""
    pictured: bool = False


class Swatch(Struct, frozen=True, gc=False, tag="swatch"):
    """Colors side by side, each a caption and six hex digits. Where one is `hidden` it comes first, and the
    digits of the others are marked that equal its digits in the same places."""

    colors: tuple[tuple[str, str], ...]
    hidden: str = ""


class Board(Struct, frozen=True, gc=False, tag="board"):
    """A position on a board: one text a row, every character as wide as the others. Where it is `squared`
    each character is a square: letters of chess are drawn as its pieces, a point or a blank is empty. Where
    it has `lines`, stones lie on their crossings, and columns are named as in Go, without I."""

    rows: tuple[str, ...]
    squared: bool = False
    lines: bool = False


class GivenVerdict(Struct, frozen=True, gc=False):
    """A verdict of one reply, and why: `choice` is the label of an answer, or a word such as tie or object;
    `text` is the reason in the seat's words, `note` adds what they leave out, `key` is the request."""

    choice: str
    text: str = ""
    key: str = ""
    tone: Tone = ""
    note: str = ""


class VoteLine(Struct, frozen=True, gc=False):
    """The votes of one seat: a verdict under each title of its strip (None where it gave none there), the
    verdict that they count as together, and the share of the weight."""

    label: str
    given: tuple[GivenVerdict | None, ...]
    counts: str = ""
    weight: float | None = None


class VoteStrip(Struct, frozen=True, gc=False, tag="votes"):
    """Votes of several seats, one line each, which opens to the reasons where a medium can."""

    titles: tuple[str, ...]
    votes: tuple[VoteLine, ...]
    name: str = "Judge"


class Private(Struct, frozen=True, gc=False, tag="private"):
    """A mark that only the seats `labels` could see what follows, up to the next heading or mark, while
    the match ran; without labels everybody, of `NO_SEAT` spectators alone. `marked` False: the blocks say
    themselves who saw them."""

    labels: tuple[str, ...] = ()
    marked: bool = True


NO_SEAT = ("",)
"""Labels of what no seat could see."""

Picture: TypeAlias = Grid | Swatch | Board


class State(Struct, frozen=True, gc=False, tag="state"):
    """The state of the game after the reply above, such as a board after a move: a page shows it while a
    match is replayed, in place of the state before. Only spectators see it."""

    picture: Picture


Block: TypeAlias = (
    Heading
    | Sentence
    | TaskText
    | Quoted
    | SourceCode
    | Grid
    | ScoreLine
    | Swatch
    | Board
    | Bar
    | VoteStrip
    | Private
    | State
)
"""The blocks that games show matches with."""


def keys_of(block: object) -> Iterator[tuple[str, ...]]:
    """Yield the requests whose replies a block shows, those of one step of the match together."""
    if isinstance(block, TaskText | Quoted | SourceCode):
        yield (block.key,)
    elif isinstance(block, VoteStrip):
        yield from (tuple([verdict.key for verdict in vote.given if verdict]) for vote in block.votes)


def seen_by(blocks: Iterable[Block], label: str) -> Iterator[Block]:
    """The blocks without what the seat `label` could not see."""
    hidden = False
    for block in blocks:
        if isinstance(block, Private | Heading):
            hidden = isinstance(block, Private) and bool(block.labels) and label not in block.labels
        if not hidden and not isinstance(block, State):
            yield block


class SeatReply(Struct, frozen=True):
    """The reply that counts to one request of a game; `key` is that under which it is on record (of the
    second request, where that one counts).

    `status` is ok, invalid, refused, void, waiting (none on record), or how a program's run ended. `value` is
    what the declared format made of `text` when ok (of a `Json` its fields, as attributes and by name), else
    None; a sealed reply that is redacted has none.
    `reason` says what went wrong. `asked` gives the messages of the request, none of a run. `latency_ms` and
    `cost_nano` (1e-9 dollars) are those of the request with its repair; None when unknown.
    """

    key: str
    label: str
    role: Role | Literal["sandbox"]
    status: str
    text: str
    value: Any
    reason: str
    asked: Callable[[], Sequence[Message]]
    latency_ms: int | None = None
    cost_nano: int | None = None


Replies: TypeAlias = Mapping[str, SeatReply]
"""The replies of a match by the key of the game's request, in the order asked."""
Show: TypeAlias = Callable[[Fixture, Outcome, Replies], Iterable[Block]]

MARK = "········"
"""Text in place of the markers around quotes, each of which one player alone was shown."""
MOST = 60
"""Replies that the default shows; a match may have thousands."""
MOST_TEXT = 400
"""Characters of a value on record that the default shows."""


def quoted(
    reply: SeatReply, verdict: str = "", tone: Tone = "", note: str = "", *, prose: bool = False
) -> Quoted:
    """A reply as a block; where it could not be used, with its status as the verdict and the reason."""
    if reply.status not in ("ok", "waiting"):
        verdict, tone, note = reply.status, "bad", "; ".join(filter(None, (note, reply.reason)))
    return Quoted(reply.label, reply.text, reply.key, verdict, tone, note, prose=prose)


def score_lines(fixture: Fixture, outcome: Outcome, why: Mapping[str, str] = {}) -> Iterator[ScoreLine]:
    """Yield what each contestant's play was worth, the best first; `why` by label."""
    if outcome.void:
        return
    unranked = float("-inf")
    for seat in sorted(fixture.seats, key=lambda seat: -outcome.scores.get(seat.label, unranked)):
        yield ScoreLine(seat.label, outcome.scores.get(seat.label), why.get(seat.label, ""))


NO_RESULT = {"no_answer": "Providers failed, and fewer than two players are left; there is no result."}


def ending(
    fixture: Fixture,
    outcome: Outcome,
    wins: str,
    why: Mapping[str, str] = {},
    no_result: Mapping[str, str] = NO_RESULT,
) -> Iterator[Block]:
    """Yield how a match ended: who `wins`, in words, or why there is no result; then the score lines."""
    yield Heading("What came of it")
    if sentence := no_result.get(outcome.void, outcome.void) or wins:
        yield Sentence(sentence)
    yield from score_lines(fixture, outcome, why)


def result_grid(
    outcome: Outcome,
    wins: str,
    columns: Iterable[str],
    rows: Mapping[str, Iterable[Cell]],
    why: Mapping[str, str] = {},
    no_result: Mapping[str, str] = NO_RESULT,
    out: Collection[str] = (),
) -> Iterator[Block]:
    """Yield how a match ended as one picture: who `wins`, in words, or why there is no result; then a row of
    cells for each seat, the best first, with those struck that are `out`. `why` is by label, for headlines.
    """
    yield Heading("The result")
    if sentence := no_result.get(outcome.void, outcome.void) or wins:
        yield Sentence(sentence)
    ranked = sorted(rows, key=lambda label: -outcome.scores.get(label, float("-inf")))
    if ranked:
        yield Grid(
            ("Player", *columns), tuple([(SeatName(label, label in out), *rows[label]) for label in ranked])
        )
    if not outcome.void:
        for label in ranked:
            yield ScoreLine(label, outcome.scores.get(label), why.get(label, ""), pictured=True)


def credit_mark(credit: float | None, about: str = "", opens: str = "") -> CellMark:
    """Return credit from 0, wrong, to 1, right, as a mark; None where nothing was given."""
    if credit is None:
        return CellMark("–", "quiet", about, opens)
    if credit >= 1 or credit <= 0:
        return CellMark(*(("✓", "good") if credit >= 1 else ("✗", "bad")), about, opens)
    return CellMark(f"{min(99, max(1, round(100 * credit)))}%", "", about, opens)


def unusable(replies: Iterable[SeatReply]) -> Iterator[Block]:
    """The replies among some that could not be used."""
    yield from (quoted(reply) for reply in replies if reply.status not in ("ok", "waiting"))


def grid_of(rows: Iterable[Struct], columns: Mapping[str, str]) -> Grid:
    """Some fields of rows, each under its heading."""
    return Grid(
        tuple(columns.values()), tuple([tuple([getattr(row, name) for name in columns]) for row in rows])
    )


def player_names(fixture: Fixture) -> dict[str, str]:
    """Return who sat at each label."""
    return {seat.label: seat.player for seat in fixture.all_seats()}


def sent_to_all(replies: Iterable[SeatReply], labels: Iterable[str]) -> dict[str, Message]:
    """The messages that every one of these seats has been sent, in order, by their text."""
    sent: dict[str, dict[str, Message]] = {label: {} for label in labels}
    for reply in replies:
        if reply.label in sent:
            sent[reply.label] |= {
                render(message, MARK): message for message in reply.asked() if message.speaker == "user"
            }
    first, *others = sent.values() or [{}]
    return {text: message for text, message in first.items() if all(text in other for other in others)}


def plain_blocks(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Any match: what all contestants were sent, who said what, what it was worth, and what the game recorded
    as the reason."""
    asked = [reply for reply in replies.values() if reply.role != SANDBOX]
    task = sent_to_all(asked[:MOST], [seat.label for seat in fixture.seats])
    if task:
        yield Heading("What every contestant was sent")
        yield from (TaskText(text) for text in task)
    if asked:
        yield Heading("What was said")
        yield from (
            quoted(reply, note="" if reply.role == "contestant" else reply.role) for reply in asked[:MOST]
        )
    if len(asked) > MOST:
        yield Sentence(f"… and {len(asked) - MOST:,} more replies", "quiet")
    runs = Counter(reply.status for reply in replies.values() if reply.role == SANDBOX)
    if runs:
        ended = ", ".join(f"{count:,} {status}" for status, count in runs.items())
        yield Sentence(f"Programs run: {runs.total():,} ({ended}).")
    yield from _recorded(fixture, outcome)


def _recorded(fixture: Fixture, outcome: Outcome) -> Iterator[Block]:
    """Scores, and what the game left on record: a table of what it says of each seat, one of the rest."""
    seats = player_names(fixture)
    by_seat: dict[str, Mapping[str, Any]] = {}
    rest: list[tuple[Cell, ...]] = []
    more: list[str] = []
    for name, value in outcome.detail.items():
        mapped = isinstance(value, Mapping) and value and value.keys() <= seats.keys()
        if mapped and all(_cell(cell) is not None for cell in value.values()):
            by_seat[name] = value
        elif _cell(value) is not None:
            rest.append((name, _cell(value)))
        elif value:
            more.append(name)
    if outcome.scores or by_seat or rest:
        yield Heading("What came of it")
    if outcome.scores:
        yield from score_lines(fixture, outcome)
    if by_seat:
        labels = [label for label in seats if any(label in value for value in by_seat.values())]
        rows = [(seats[label], *[_cell(value.get(label)) for value in by_seat.values()]) for label in labels]
        yield Grid(("Player", *by_seat), tuple(rows))
    if rest:
        yield Grid(("On record", ""), tuple(rest))
    if more:
        yield Sentence(f"Also on record, for programs to read: {', '.join(more)}.", "quiet")


def _cell(value: Any) -> Cell:
    """A value that fits into a table: a number, a text, a few of them; None for any other."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
        value = ", ".join(map(str, value))
    if isinstance(value, str):
        return value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]}…"
    return value if isinstance(value, int | float) else None
