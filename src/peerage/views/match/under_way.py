"""A match under way, as far as everybody may know: a player may be watching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from peerage.engine.record.registration import registered
from peerage.game.blocks import Heading, Sentence, TaskText, sent_to_all
from peerage.game.media import Media, media_in
from peerage.game.protocol import Quote
from peerage.games import hides_turns
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import MissingText
from peerage.ledger.topics.series import shown
from peerage.ledger.topics.waits import waits
from peerage.reading.match import UNDER_WAY
from peerage.reading.matches import Matches
from peerage.render.blocks import Fold, Link, Links, ViewBlock
from peerage.settings.players.hours import closed_until, read_hours
from peerage.values.figures import moment


class UnderWay(Struct, frozen=True):
    """A match that is not settled.

    `sent` are the texts that every contestant has been sent, in order, and `tasks` what they quote: a
    question, a statement. `answered` and `waiting` count requests, of which the first
    had its reply at `began_ms`. One that left its round to go on later
    waits since `since_ms`, until `until_ms` where that is known (Unix milliseconds). Nothing else of it is
    shown before it is settled, not even who plays: players may be watching. Of a game in which who is
    asked when would tell who holds which role there are no counts and no times either. A match of a series is
    shown when the whole series has ended, nothing that was sent before: others will be given the same task.
    `series` is then the number of its first match. `media` are the pictures and sounds in its texts.
    """

    number: int
    round: int
    game: str
    tasks: tuple[TaskText, ...]
    sent: tuple[str, ...]
    answered: int | None
    waiting: int | None
    began_ms: int | None = None
    status: str = UNDER_WAY
    since_ms: int | None = None
    until_ms: int | None = None
    series: int = 0
    media: tuple[Media, ...] = ()


def under_way(ledger: Ledger, number: int) -> UnderWay | None:
    """Return what may be shown of a match under way; None for one that is settled, in a series with all
    others of it. Raises LedgerError for a match that was not issued."""
    if number > ledger.heads()[0]:
        raise LedgerError(f"there is no match {number} yet")
    try:
        match = Matches(ledger, whole=False).match(number)
        series = match.fixture.series
        if match.recorded is not None and ledger.place(number) <= shown(ledger):
            return None
        seats = [seat.label for seat in match.fixture.seats]
        sent = {} if series or match.recorded else sent_to_all(match.replies.values(), seats)
    except (MissingText, ValueError) as error:
        raise LedgerError(f"match {number} cannot be read ({error}); `peerage verify` says more") from error
    quoted = [
        TaskText(value.text, value.label)
        for text, message in sent.items()
        for value in message.fill.values()
        if isinstance(value, Quote)
    ]
    answered = sum(step.stored is not None for step in match.asked.values())
    times = [step.row.at_ms for step in match.asked.values() if step.row.at_ms]
    fixture, closed = match.fixture, hides_turns(match.fixture.game)
    wait = None if closed else waits(ledger).now.get(number)
    return UnderWay(
        number=fixture.number,
        round=fixture.round,
        game=fixture.game,
        tasks=tuple(dict.fromkeys(quoted)),
        sent=tuple(sent),
        answered=None if closed else answered,
        waiting=None if closed else len(match.asked) - answered,
        began_ms=None if closed else min(times, default=None),
        since_ms=wait.since_ms if wait else None,
        until_ms=wait.until_ms if wait else None,
        series=series,
        media=tuple(media_in(sent).values()),
    )


SHOWN = 12
"""Matches under way that are read and shown."""


def cards(ledger: Ledger, numbers: Iterable[int]) -> list[UnderWay]:
    """Return what may be shown of the first of these matches; those that were settled meanwhile are left
    out. Raises LedgerError."""
    found = (under_way(ledger, number) for number in islice(numbers, SHOWN))
    return [match for match in found if match is not None]


def blocks(number: int, match: UnderWay | None) -> Iterator[ViewBlock]:
    """Yield what may be shown of a match; without one it is settled."""
    yield Heading(f"Match {number}", 1)
    if match is None:
        yield Sentence("This match is settled: the whole of it, with votes, costs and its proof, has a page.")
        yield Links([Link(f"Match {number}", ("match", str(number)))])
        return
    yield Sentence(" ".join([f"{match.game}, round {match.round}: running.", *_progress(match)]))
    if match.series:
        yield Sentence(
            f"It belongs to the series that began with match {match.series}, whose matches share their luck: "
            "its players and tasks appear when the whole series has ended, since others may still be given "
            "the same task.",
            "quiet",
        )
        return
    hidden = (
        "In this game who is asked, and when, would tell what somebody holds; so that is not shown either. "
    )
    yield Sentence(
        "Players may be watching, so a running match shows only what every contestant has been sent. "
        f"{hidden * (match.answered is None)}Players, replies and votes appear when it is settled.",
        "quiet",
    )
    yield from match.tasks
    sent = [TaskText(text) for text in match.sent]
    if not sent:
        yield Sentence("Nothing was sent to every contestant yet.", "quiet")
    yield from [Fold("As every contestant was sent it", sent)] if match.tasks and sent else sent


def _progress(match: UnderWay) -> Iterator[str]:
    if match.answered is not None:
        yield f"{match.answered} replies are in, {match.waiting} requests wait for one."
    if match.since_ms:
        until = f", until {moment(match.until_ms)} at the latest" if match.until_ms else ""
        yield f"It has waited for a player since {moment(match.since_ms)}{until}; other matches go on."


def out_of_hours(ledger: Ledger, at_ms: int) -> list[tuple[str, int]]:
    """The registered players that may not be asked at this time by their hours, each with when it may be
    again, in Unix milliseconds. That follows from what they stated, and tells nothing of a match."""
    found: list[tuple[str, int]] = []
    for name, card in sorted(registered(ledger).items()):
        with suppress(KeyError, ValueError):
            if (until := closed_until(read_hours(card["available"]), at_ms)) is not None:
                found.append((name, until))
    return found
