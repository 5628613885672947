"""The golden matches as a terminal shows them: `python -m tests.golden.shown` writes what has changed.

Nobody's ledger depends on how a match is shown, so what changes here needs no new version of a game; it is on
file so that a change is seen.
"""

import io
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from tests.golden.transcripts import HERE, on_file, spec_of

from peerage.engine.match.driver import Driver
from peerage.game.match import Fixture, MatchRecord, Outcome
from peerage.game.protocol import Reply
from peerage.ledger import Exchange, FixtureRow, MatchRows, RecordRow
from peerage.ledger.forms.codec import fixture_body, record_body, reply_body
from peerage.ledger.forms.codec_requests import request_body
from peerage.render.terminal import on
from peerage.views.match.match import NUMBERS, MatchView, match_view, transcript

SHOWN = (
    "duel-general",
    "color-obfuscation",
    "compression",
    "tasks",
    "tasks-judged",
    "text-metrics",
    "code-golf",
    "bug-hunt",
    "challenge-exchange",
    "last-arena",
    "logic",
    "allocation",
    "market-second-price",
    "market-negotiation",
    "market-voting",
    "werewolf",
    "trivia",
    "transform",
    "vision",
    "workshop",
    "workshop-judged",
    "fact-check",
    "fact-check-confidence",
    "rejudge",
    "rejudge-scores",
)
"""One match of each game, and a few more that are shown in another way."""
WIDTH = 110


class OneMatch:
    """As much of a ledger as a view of its only match reads."""

    address = "golden"

    def __init__(self, fixture: Fixture, outcome: Outcome, exchanges: Sequence[Exchange], texts: Any) -> None:
        body, more = fixture_body(fixture)
        record = MatchRecord(fixture.number, "", "", outcome, {}, {})
        self._issued = FixtureRow(fixture.number, fixture.round, body)
        self._record = RecordRow(fixture.number, record_body(record), b"", 0)
        self._exchanges = exchanges
        self._texts = dict([*texts, *more])

    def match(self, number: int, *, exchanges: bool = True) -> MatchRows | None:
        return (
            MatchRows(self._issued, self._record, self._exchanges) if number == self._record.number else None
        )

    def place(self, number: int) -> int:
        return number

    def records(self, first: int, last: int) -> Iterator[RecordRow]:
        return iter(())

    def texts(self, wanted: Any = None) -> dict[bytes, str]:
        return self._texts


def view(name: str) -> MatchView:
    """A golden match as users are given it, its replies fed to its game once more."""
    data = on_file(name)
    fixture = msgspec.convert(data["fixture"], Fixture)
    replies = {step["key"]: msgspec.convert(step["reply"], Reply) for step in data["steps"]}
    players = {seat.label: seat.player for seat in fixture.all_seats()}
    spec = spec_of(data["game"])
    driver = Driver(spec, fixture, spec.rules.model_validate(fixture.settings))
    waiting, exchanges, texts = deque(driver.start()), [], []
    while waiting:
        ask = waiting.popleft()
        body, long = request_body(ask, fixture.secret)
        texts += long
        player = players.get(ask.to, ask.to)
        reply = replies[ask.key]
        row = Exchange(
            match=fixture.number,
            key=ask.key,
            attempt=1,
            player=player,
            request=body,
            reply=reply_body(reply),
            worst_nano=None,
            cost_nano=None,
            latency_ms=reply.latency_ms,
        )
        exchanges.append(row)
        waiting += driver.feed(ask.key, replies[ask.key])
    outcome = msgspec.convert(data["outcome"], Outcome)
    return match_view(OneMatch(fixture, outcome, exchanges, texts), fixture.number)  # type: ignore[arg-type]


def shown(name: str) -> str:
    """A golden match as text."""
    console = Console(
        file=io.StringIO(), width=WIDTH, force_terminal=True, color_system=None, highlight=False
    )
    told = on(console, [transcript(view(name), cut=True)])
    return told.partition(f"\n\n{NUMBERS}\n")[0] + "\n"


def path(name: str) -> Path:
    return HERE / f"{name}.txt"


if __name__ == "__main__":
    for one in SHOWN:
        path(one).write_text(shown(one), "utf-8")
