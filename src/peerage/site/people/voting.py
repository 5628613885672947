"""Voting in the browser: who may vote on what, how often, and that nobody votes in another's name.

    voting = VotingService(ledger, votes)
    pending = voting.draw(voter)                  # a blind pair, in an order drawn for this voter
    voting.read(pending.match)                    # its texts
    voting.cast(voter, pending.ticket, "first")   # once; the ticket is spent afterwards

A voter is an anonymous session: a random cookie, of which votes carry a digest alone. A ticket stands for one
pair shown to one session. Nobody else can know it, so a foreign page cannot make a browser vote. Tickets and
limits live in memory: after a restart a voter is simply shown another pair, and what was voted on stays so.

The cookie is a random name and its HMAC-SHA256 under a key of the arena's own, `arena.votes.key` beside
`arena.votes.db`, which its owner alone may read. It is a file and not a secret in memory, so that one vote
per session and match holds over a restart and over two servers of one arena. Without it all voters are new.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from peerage.game.match import DONE
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.topics.series import shown
from peerage.ledger.topics.votes import PeopleVotes, Vote, VotedAlready
from peerage.site.people.ballots import BlindPair, Verdict, ballot, chosen
from peerage.site.people.private_key import private_key

RECENT = 1_000
"""Pairs are drawn from so many of the newest matches."""
TICKETS = 20_000
"""Pairs shown and not yet judged; the oldest are forgotten."""
READ = 64
"""Pairs whose texts are kept at hand."""
TRIES = 25
"""Matches looked at for one that can be judged."""


class TicketUnknown(Exception):
    """No such pair was shown to this session, or it was judged already."""


class PairShown(NamedTuple):
    """A pair as it is shown to one voter: `shown` are the labels, the first one's answer on the left. The
    texts are not here, since they may be long and thousands of pairs pending."""

    ticket: str
    voter: str
    match: int
    record: str
    shown: tuple[str, str]


class RateLimit:
    """So many in any 60 seconds, for each of many callers."""

    KEPT = 20_000

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._passed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, caller: str, now: float) -> float:
        """0 when `caller` may go on, and this counts; else the seconds until it may. `now` is monotonic."""
        passed = self._passed.pop(caller, None) or deque()
        while passed and passed[0] <= now - 60:
            passed.popleft()
        allowed = len(passed) < self._most
        if allowed:
            passed.append(now)
        self._passed[caller] = passed
        if len(self._passed) > self.KEPT:
            self._passed.popitem(last=False)
        return 0.0 if allowed else passed[0] + 60 - now


def voter_of(session: str) -> str:
    """Return what a vote says of its session: enough to tell voters apart, and no way back to the cookie."""
    return sha256(f"peerage voter {session}".encode()).hexdigest()[:32]


class VotingService:
    """Hands out pairs and takes votes. Reads and writes files: call it from threads, which may share it."""

    def __init__(self, ledger: Ledger, votes: PeopleVotes, random: Random | None = None) -> None:
        self._ledger = ledger
        self._votes = votes
        self._random = random or secrets.SystemRandom()
        self._read = lru_cache(maxsize=READ)(partial(ballot, ledger))
        # Of finished matches this never changes.
        self._incomparable: set[int] = set()
        self._lock = threading.Lock()
        self._tickets: OrderedDict[str, PairShown] = OrderedDict()
        self._now_judging: dict[str, str] = {}
        self._skipped: OrderedDict[str, set[int]] = OrderedDict()

    def draw(self, voter: str) -> PairShown | None:
        """The pair this voter has to judge: still the same while it is not judged; None when none is left."""
        with self._lock:
            ticket = self._now_judging.get(voter)
            if ticket is not None:
                return self._tickets[ticket]
            skipped = frozenset(self._skipped.get(voter, ()))
        found = self._find(self._votes.judged_by(voter) | skipped)
        if found is None:
            return None
        first, second = self._random.sample(sorted(found.answers), 2)
        pending = PairShown(secrets.token_urlsafe(18), voter, found.match, found.record, (first, second))
        with self._lock:
            self._tickets[pending.ticket] = pending
            self._now_judging[voter] = pending.ticket
            if len(self._tickets) > TICKETS:
                self._forget(next(iter(self._tickets)))
        return pending

    def _find(self, known: Iterable[int]) -> BlindPair | None:
        newest = shown(self._ledger)
        there = {
            row.number
            for row in self._ledger.summaries(max(1, newest - RECENT + 1), newest)
            if row.status == DONE and len(set(row.players)) == 2
        }
        left = sorted(there.difference(known, self._incomparable))
        for number in self._random.sample(left, min(TRIES, len(left))):
            found = self._read(number)
            if found is not None:
                return found
            self._incomparable.add(number)
        return None

    def read(self, match: int) -> BlindPair:
        """The texts of a pair. Raises LedgerError when the ledger no longer holds them."""
        found = self._read(match)
        if found is None:
            raise LedgerError(f"match {match} is no longer what it was; `peerage verify` says more")
        return found

    def skip(self, voter: str, ticket: str) -> None:
        """Show this voter another pair instead, in this session. Raises TicketUnknown."""
        with self._lock:
            self._skipped.setdefault(voter, set()).add(self._of(voter, ticket).match)
            if len(self._skipped) > TICKETS:
                self._skipped.popitem(last=False)
            self._forget(ticket)

    def cast(self, voter: str, ticket: str, verdict: Verdict, at_ms: int) -> PairShown:
        """Record a vote; what was judged. Raises TicketUnknown, VotedAlready, LedgerError."""
        with self._lock:
            pending = self._of(voter, ticket)
            choice = chosen(verdict, pending.shown)
            vote = Vote(pending.match, pending.record, pending.shown, choice, voter)
            try:
                self._votes.cast(vote, at_ms)
            except VotedAlready:
                self._forget(ticket)
                raise
            self._forget(ticket)
        return pending

    def _of(self, voter: str, ticket: str) -> PairShown:
        pending = self._tickets.get(ticket)
        if pending is None or pending.voter != voter:
            raise TicketUnknown("this pair is no longer open to you; the voting page shows another")
        return pending

    def _forget(self, ticket: str) -> None:
        self._now_judging.pop(self._tickets.pop(ticket).voter, None)


_whole = re.compile(r"([A-Za-z0-9_-]{32})\.([0-9a-f]{64})").fullmatch


class Sessions:
    """Makes and recognizes the sessions of one arena."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        # Browsers send cookies to every port of a machine: each arena has a name of its own there.
        self.cookie = f"peerage-voter-{sha256(b'peerage session ' + key).hexdigest()[:12]}"

    @classmethod
    def beside(cls, votes: Path) -> Sessions:
        """Those of the arena whose votes are kept at `votes`; the first call draws the key. Raises
        LedgerError when the key cannot be kept, or others may read it."""
        return cls(
            private_key(
                votes.with_suffix(".key"), "the key of the voters' sessions", "every voter is then a new one"
            )
        )

    def new(self) -> str:
        """The cookie of a new session."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self._sign(name)}"

    def genuine(self, cookie: str) -> bool:
        """Return whether a server of this arena made this cookie."""
        found = _whole(cookie)
        return found is not None and hmac.compare_digest(found[2], self._sign(found[1]))

    def _sign(self, name: str) -> str:
        return hmac.new(self._key, b"peerage voter " + name.encode(), sha256).hexdigest()
