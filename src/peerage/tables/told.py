"""What finished matches tell about players, judges and authors: all that `stats` and `judges` need of them.

Reading the exchanges takes nearly all of the time, and nothing here depends on settings. So a stretch of
matches can be read in any process, and kept; `together` puts stretches one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from peerage.challenges.drafting import Draft
from peerage.engine.driver import REPAIR
from peerage.games.rejudgement import REJUDGEMENT
from peerage.judging.ballots import BALLOTS, SEATED, add_panel, marks_of, panel_record
from peerage.judging.columns import Columns, Rows, joined
from peerage.judging.marks import MARKS, Mark, add_mark
from peerage.judging.scores import recorded
from peerage.ledger.codec import form_of, read_fixture, read_form, read_record, read_reply, withheld
from peerage.ledger.store import Exchange, Ledger, LedgerError
from peerage.match import Fixture, Outcome
from peerage.protocol import SANDBOX, AnyKind, Role, Unusable
from peerage.standings import DONE
from peerage.tables.played import EVERYTHING, Scope
from peerage.tables.readings import Read, read

Key = TypeVar("Key")

ANSWER = "answer/"
"""How the request keys of contestants' answers begin: `answer/LABEL`, or `answer/LABEL/QUESTION`."""


class Replies(Struct):
    """One player's replies: `calls` by role, `waits` counts them by latency in milliseconds; the rest as in
    `stats.PlayerStats`."""

    calls: dict[str, int] = {}
    waits: dict[int, int] = {}
    statuses: dict[str, int] = {}
    repaired: int = 0
    lost: int = 0


class Drafts(Struct):
    """One player's finished drafts, and the committees' approval of each that had a valid vote."""

    drafts: int = 0
    approved: int = 0
    approvals: list[float] = []
    turns_lost: int = 0


class Told(Struct):
    """What `matches` finished matches tell: void ones by reason, everybody's replies and drafts by name, the
    `ballots` of panels and who was `seated` before them, the `marks` that judges gave (of votes, or else of
    scores), and readings. What there is most of stands in columns: see `judging.ballots`, `judging.marks`."""

    matches: int = 0
    voids: dict[str, int] = {}
    replies: dict[str, Replies] = {}
    authors: dict[str, Drafts] = {}
    ballots: Columns = Rows(BALLOTS).columns()
    seated: Columns = Rows(SEATED).columns()
    marks: Columns = Rows(MARKS).columns()
    readings: list[Read] = []


class _Judged(NamedTuple):
    """What judges did, row by row."""

    ballots: Rows
    seated: Rows
    marks: Rows


def told(
    ledger: Ledger, texts: Callable[[str], str], first: int, last: int, scope: Scope = EVERYTHING
) -> Told:
    """What the matches first..last of a scope tell; `texts` gives a long text by its digest in hex.

    Raises LedgerError when rows are missing.
    """
    found, judged = Told(), _Judged(Rows(BALLOTS), Rows(SEATED), Rows(MARKS))
    forms: dict[str, tuple[Role, AnyKind]] = {}
    asked = groupby(ledger.exchanges(first, last), attrgetter("match"))
    number, exchanges = next(asked, (0, iter(())))
    rows = zip_longest(
        ledger.fixtures(first, last), ledger.records(first, last), ledger.summaries(first, last)
    )
    for issued, row, summary in rows:
        if not (issued and row and summary and issued.number == row.number == summary.number):
            raise LedgerError(f"{ledger.address} lacks rows; `peerage verify` says which")
        while number and number < row.number:
            number, exchanges = next(asked, (0, iter(())))
        if not scope.holds(summary):
            continue
        found.matches += 1
        if summary.status != DONE:
            found.voids[summary.status] = found.voids.get(summary.status, 0) + 1
        chars = _replies(found, exchanges, texts, forms) if number == row.number else {}
        _record(found, judged, read_fixture(issued.body, texts), read_record(row.body).outcome, chars)
    found.ballots, found.seated, found.marks = [rows.columns() for rows in judged]
    return found


def together(parts: Iterable[Told]) -> Told:
    """What the matches of all parts tell, which are in number order."""
    whole, parts = Told(), list(parts)
    whole.ballots = joined([part.ballots for part in parts], BALLOTS)
    whole.seated = joined([part.seated for part in parts], SEATED)
    whole.marks = joined([part.marks for part in parts], MARKS)
    for part in parts:
        whole.matches += part.matches
        _sum(whole.voids, part.voids)
        whole.readings += part.readings
        for player, said in part.replies.items():
            replies = whole.replies.setdefault(player, Replies())
            _sum(replies.calls, said.calls)
            _sum(replies.waits, said.waits)
            _sum(replies.statuses, said.statuses)
            replies.repaired += said.repaired
            replies.lost += said.lost
        for player, wrote in part.authors.items():
            drafts = whole.authors.setdefault(player, Drafts())
            drafts.drafts += wrote.drafts
            drafts.approved += wrote.approved
            drafts.approvals += wrote.approvals
            drafts.turns_lost += wrote.turns_lost
    return whole


def in_sum(read: Told) -> Told:
    """What matches tell without what it tells of each: columns and readings."""
    return msgspec.structs.replace(
        read, ballots=Told().ballots, seated=Told().seated, marks=Told().marks, readings=[]
    )


def _sum(counts: dict[Key, int], more: Mapping[Key, int]) -> None:
    for key, count in more.items():
        counts[key] = counts.get(key, 0) + count


def _record(
    found: Told, judged: _Judged, fixture: Fixture, outcome: Outcome, chars: Mapping[str, int]
) -> None:
    """Count what the record of one match tells; `chars` are the lengths of its answers."""
    if fixture.game == REJUDGEMENT.name:
        chars = {label: len(text) for label, text in fixture.drawn["answers"].items()}
    _drafts(found, fixture, outcome)
    panel = panel_record(fixture, outcome)
    if panel is not None:
        add_panel(judged.ballots, judged.seated, str(fixture.number), panel)
        for mark in marks_of(panel, str(fixture.number), chars):
            add_mark(judged.marks, mark)
    for mark in scores(fixture, outcome, chars):
        add_mark(judged.marks, mark)
    reading = read(fixture, outcome)
    if reading is not None:
        found.readings.append(reading)


def _drafts(found: Told, fixture: Fixture, outcome: Outcome) -> None:
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for draft in msgspec.convert(outcome.detail.get("drafts", ()), tuple[Draft, ...]):
        # A draft can be written and fall all the same: a program of its author that does not run.
        silent = [seats[label] for stage, label in draft.authors.items() if stage not in draft.keys]
        if silent:
            found.authors.setdefault(silent[0], Drafts()).turns_lost += 1
            continue
        for player in dict.fromkeys(seats[label] for label in draft.authors.values()):
            tally = found.authors.setdefault(player, Drafts())
            tally.drafts += 1
            tally.approved += draft.accepted
            if draft.approval is not None:
                tally.approvals.append(draft.approval)


def _replies(
    found: Told,
    exchanges: Iterable[Exchange],
    texts: Callable[[str], str],
    forms: dict[str, tuple[Role, AnyKind]],
) -> dict[str, int]:
    """Count the replies of one match; the characters of its answers, by what follows `answer/` in the key."""
    chars: dict[str, int] = {}
    for one in exchanges:
        if one.player == SANDBOX:
            continue
        tally = found.replies.get(one.player)
        if tally is None:
            tally = found.replies[one.player] = Replies()
        if one.reply is None:
            tally.lost += 1
            continue
        raw = read_reply(one.key, one.reply)
        if one.key.startswith(ANSWER):  # a repair comes after what it repairs
            chars[one.key.removeprefix(ANSWER).removesuffix(REPAIR)] = len(raw.text)
        form = form_of(one.request)
        if form not in forms:
            forms[form] = read_form(texts(form))
        role, kind = forms[form]
        tally.calls[role] = tally.calls.get(role, 0) + 1
        status: str = raw.status
        if status != "void":
            tally.waits[raw.latency_ms] = tally.waits.get(raw.latency_ms, 0) + 1
        repair = one.key.endswith(REPAIR)
        tally.repaired += repair
        if status == "ok" and not withheld(one.reply):
            try:
                kind.parse(raw.text)
            except Unusable:
                # A first unusable reply is followed by its repair, which decides.
                status = "invalid" if repair else "repairing"
        tally.statuses[status] = tally.statuses.get(status, 0) + 1
    return chars


def scores(fixture: Fixture, outcome: Outcome, chars: Mapping[str, int]) -> Iterator[Mark]:
    """The scores that judges gave; an item is named QUESTION/LABEL, with more after it where one author
    answered a question more than once."""
    players = {seat.label: seat.player for seat in fixture.all_seats()}
    for grade in recorded(outcome, "judge"):
        question, _, more = grade.item.partition(f"/{grade.author}")
        contest = f"{question}{more}"
        length = chars.get(f"{grade.author}/{contest}")
        yield Mark(
            players[grade.judge], players[grade.author], f"{fixture.number}/{contest}", grade.raw, length
        )
