"""Matches driven again with the replies on record: what follows from these, apart from all ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from peerage.engine.match.driver import Driver, GameError
from peerage.engine.record.records import ENGINE, MatchTally, answered_first, recorded_tally
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import SANDBOX
from peerage.game.spec import GameSpec
from peerage.games import installed, plays
from peerage.ledger import Exchange, FixtureRow, Ledger, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_issued, read_record
from peerage.ledger.forms.codec_requests import request_body
from peerage.ledger.matches import finished
from peerage.settings import FILE_NAME, load
from peerage.values.sealing import Sealed

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, KeyError)
"""Errors of reading a body that is not in the stored form."""


@dataclass(frozen=True)
class Difference:
    """Something on record that does not follow: in `match`, what (`about`), both values as short texts."""

    match: int
    about: str
    recorded: str
    recomputed: str

    def __str__(self) -> str:
        return f"match {self.match}, {self.about}: recorded {self.recorded}, recomputed {self.recomputed}"


class Replayed(NamedTuple):
    """A match `number` played again. `how`: played `again`; taken as `stated`, for the engine voided it
    without asking the game; of a game that is `elsewhere`; `sealed` here; or nothing, of one without a
    fixture or where `unreadable` says why. The outcome is that on record where none could be derived."""

    number: int
    how: Literal["again", "stated", "elsewhere", "sealed", ""] = ""
    tally: MatchTally | None = None
    outcome: Outcome | None = None
    differences: tuple[Difference, ...] = ()
    unreadable: str = ""


def replayed(ledger: Ledger, first: int, last: int) -> Iterator[Replayed]:
    """The finished matches at places first..last, in their order. Raises LedgerError."""
    again = _MatchesAgain(by_hex(ledger.texts()))
    for row, issued, exchanges in finished(ledger, first, last):
        try:
            if issued is None:
                yield Replayed(row.number)
            else:
                yield again.match(issued, read_record(row.body).outcome, exchanges)
        except UNREADABLE as error:
            yield Replayed(row.number, unreadable=str(error))


def by_helper(address: str, folder: Path | None, first: int, last: int) -> list[Replayed]:
    """The same of the ledger at an address, whose arena, where it has a `folder`, may bring games in files.
    Raises LedgerError and SettingsError."""
    if folder is not None and (folder / FILE_NAME).exists():
        load(folder, reading=True)
    with closing(open_ledger(address, Path(), create=False)) as ledger:
        return list(replayed(ledger.as_stored(), first, last))


class _MatchesAgain:
    """Drives matches again."""

    def __init__(self, texts: Callable[[str], str]) -> None:
        self._texts = texts
        self._rules: dict[tuple[str, str], Any] = {}

    def match(self, issued: FixtureRow, stated: Outcome, exchanges: Iterable[Exchange]) -> Replayed:
        fixture, recorded = read_fixture(issued.body, self._texts), answered_first(exchanges)
        spec, tally, differences = _game_of(fixture), MatchTally(), list[Difference]()
        by_engine = bool(stated.void) and stated.detail.get("by") == ENGINE
        number, sealed = fixture.number, _sealed(fixture)
        differs = partial(Difference, number)
        if by_engine or spec is None or sealed:
            tally = recorded_tally(recorded.values())
            how: Literal["stated", "elsewhere", "sealed"] = (
                "stated" if by_engine else "elsewhere" if spec is None else "sealed"
            )
            return Replayed(number, how, tally, stated)
        driver = Driver(spec, fixture, self._rules_of(spec.rules, fixture, issued.body))
        players = {seat.label: seat.player for seat in fixture.all_seats()} | {SANDBOX: SANDBOX}
        try:
            todo = driver.start()
            while todo:
                ask = todo.pop()
                exchange = recorded.pop(ask.key, _UNANSWERED)
                if exchange.reply is None:
                    differences.append(differs(f"reply to {ask.key}", "none", "the game asks for it"))
                    continue
                asked, _ = request_body(ask, fixture.secret)
                if exchange.request != asked:
                    differences.append(differs(f"request {ask.key}", short(exchange.request), short(asked)))
                if exchange.player != players[ask.to]:
                    differences.append(differs(f"player of {ask.key}", exchange.player, players[ask.to]))
                todo.extend(driver.feed(ask.key, tally.add_recorded(exchange)))
        except GameError as error:
            differences.append(differs("play", "a finished match", str(error)))
        for key, exchange in recorded.items():
            if exchange.reply is not None:
                differences.append(differs(f"reply to {key}", short(exchange.reply), "it is never asked"))
                tally.add_recorded(exchange)
        outcome = driver.outcome if driver.outcome is not None else stated
        return Replayed(number, "again", tally, outcome, tuple(differences))

    def _rules_of(self, rules: Any, fixture: Fixture, body: bytes) -> Any:
        key = fixture.game, read_issued(body).settings
        if key not in self._rules:
            self._rules[key] = rules.model_validate(fixture.settings)
        return self._rules[key]


_UNANSWERED = Exchange(
    match=0, key="", attempt=0, player="", request=b"", reply=None, worst_nano=None, cost_nano=None
)


def _game_of(fixture: Fixture) -> GameSpec[Any] | None:
    """The game that a fixture was made for, when this program has it in that version."""
    spec = installed(fixture.game)
    known = spec is not None and plays(spec, fixture.game, fixture.version, fixture.release)
    return spec if known else None


def _sealed(fixture: Fixture) -> bool:
    try:
        _ = fixture.secret
    except Sealed:
        return True
    return False


def short(value: Any) -> str:
    """A value as a text that fits on a screen."""
    if not isinstance(value, str):
        body = value if isinstance(value, bytes) else msgspec.json.encode(value, order="sorted")
        value = body.decode(errors="replace")
    return value if len(value) <= 300 else f"{value[:300]}… ({len(value)} characters)"
