"""The seam between a run and what drives its matches: this process (`under_way`), or workers
(`cluster.crew`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from peerage.engine.calls.budget import Budget
from peerage.engine.calls.troubles import Trouble
from peerage.engine.match.plans import Plans
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import MatchTally
from peerage.game.match import Fixture, Outcome
from peerage.ledger import Exchange

Reason: TypeAlias = tuple[str, str, int | None]
"""The player for whom a request waits, why, and until when (Unix milliseconds; None: not known)."""


class CallsNow(NamedTuple):
    """Calls in flight now; so far answered, and tried again."""

    in_flight: int = 0
    answered: int = 0
    retried: int = 0


class Stuck(NamedTuple):
    """A match that can do nothing but wait for players."""

    fixture: Fixture
    digest: str
    reasons: Sequence[Reason]


class MatchRun(Protocol):
    """The run that plays the matches: what comes next is for it to say."""

    def ended(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> None:
        """A match has come to its outcome, and nothing of it is in flight."""

    def replied(self, player: str, void: bool) -> None:
        """A reply is there, or it is certain that there will be none."""

    def look_soon(self) -> None:
        """A match may have to wait, and another may begin in its place."""

    def tripped(self, player: str, match: int) -> None:
        """A call of a match got a player benched, which `Driving.benched` says."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""


class Driving(Protocol):
    """A driver of matches from fixtures to outcomes, which it hands to the run.

    `unfinished` says of the matches that the arena's limit has stopped what they lack; `benched` who is asked
    no more, and why.
    """

    unfinished: dict[int, str]

    def __len__(self) -> int:
        """Matches under way."""

    @property
    def benched(self) -> Mapping[str, str]: ...

    @property
    def has_room(self) -> bool:
        """Return whether another match may start."""

    @property
    def seated(self) -> set[str]:
        """Everybody who has a role in a match under way."""

    def start(self, fixture: Fixture, digest: str, recorded: Sequence[Exchange]) -> None:
        """Begin a match, or go on with it; its `recorded` requests are not asked again."""

    def close(self, number: int, outcome: Outcome) -> None:
        """End a match that asks nothing any more."""

    def decide(self) -> None:
        """Let those calls go that need not wait for money any more."""

    def stuck(self) -> Sequence[Stuck]:
        """The matches that can do nothing but wait for players."""

    def leave(self, number: int) -> None:
        """Stop a match that is stuck; it goes on later."""

    def bench(self, player: str, why: str) -> None:
        """Ask a player no more."""

    def now(self) -> CallsNow: ...

    def troubles(self) -> tuple[Trouble, ...]:
        """Return the troubles of players now: calls waited for and why, replies that are cut, failures."""

    def abandon(self) -> None:
        """Give up on calls in flight; each stays open in the ledger as possibly paid."""

    async def stop(self, grace_s: float) -> None:
        """Send nothing more; wait so long for calls in flight, then give them up."""


Drive: TypeAlias = Callable[[MatchRun, Journal, Budget, Plans], Driving]
"""Makes the driving of a run, given its journal, its budget and the plans of its matches."""
