"""What is under way: a match with its players, a request, and when that is sent again."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from peerage.engine.driver import Driver
from peerage.engine.records import Tally
from peerage.ledger.store import Exchange
from peerage.match import Fixture
from peerage.protocol import SANDBOX, Answered, Reply, Speaker
from peerage.settings import Engine


class MatchUnderWay:
    """One match under way."""

    __slots__ = ("deadline", "digest", "driver", "fixture", "players", "recorded", "tally")

    def __init__(self, fixture: Fixture, digest: str, driver: Driver, deadline: asyncio.TimerHandle) -> None:
        self.fixture = fixture
        self.digest = digest
        self.driver = driver
        self.deadline = deadline
        self.players = {seat.label: seat.player for seat in fixture.all_seats()} | {SANDBOX: SANDBOX}
        self.recorded: dict[str, Exchange] = {}
        self.tally = Tally()


class Pending:
    """A request on its way. `tries` counts attempts of this process, `attempt` those of all."""

    __slots__ = ("ask", "attempt", "body", "match", "messages", "player", "seed", "tries", "worst")

    def __init__(self, match: int, seed: str, player: str, ask: Answered, body: bytes, attempt: int) -> None:
        self.match = match
        self.seed = seed
        self.player = player
        self.ask = ask
        self.body = body
        self.attempt = attempt
        self.tries = 0
        self.worst: int | None = None
        self.messages: list[tuple[Speaker, str]] = []


def most_nano(pending: Pending, raw: Reply) -> int | None:
    """What a reply cost, or may have cost at most when its cost is unknown; None without a price."""
    return pending.worst if raw.cost_nano is None else raw.cost_nano


def stated_wait(seconds: float | None) -> float:
    """A provider's retry-after, when it is one; nobody can mean more than a day."""
    return min(seconds, 86_400.0) if seconds is not None and seconds > 0 else 0.0


def backoff(engine: Engine, pending: Pending, retry_after_s: float) -> float:
    """Seconds to wait: exponential, half of it seeded jitter, never under the provider's retry-after."""
    whole = min(engine.backoff_max_s, engine.backoff_s * 2.0 ** (pending.tries - 1))
    digest = sha256(f"{pending.seed}/{pending.ask.key}/{pending.tries}".encode()).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    return max(whole * (0.5 + 0.5 * share), retry_after_s)
