"""The limit of calls in flight that a provider or a local server bears, found out by its replies. Pure; time
is passed in.

Nobody states this limit: it is 1 for a free key or Ollama, hundreds for a paid key or vLLM. Too many calls
are turned away (429), or wait in a queue of the server, beyond their time limit perhaps. So the limit moves,
at the end of each round in which all of it was in use; a round is over when as many replies have come to its
calls as may be in flight.

    STARTING         twice as many each round
       │ a sign
       ▼
    BELOW A CEILING  a quarter of the way to it each round, then REST rounds just below it ◀─┐ a sign; about
       │ rested                                                                              │ where the last
       ▼                                                                                     │ came, twice
    AT THE CEILING   one round ──────────────────────────────────────────────────────────────┤ the rest
       │ no sign                                                                             │
       ▼                                                                                     │
    ABOVE IT         a quarter more each round ──────────────────────────────────────────────┘

    CHECKING         from any of these when replies are slower, at half as many; where as many replies come a
                     second, at half of that again; where fewer come, back to the last number that was enough

A sign of too many calls is one of these:

    overload   A call sent since the last halving was turned away, or several were late. The limit is half of
               what was in flight, which is the ceiling. When no round was over since the last halving, it is
               the provider that fails, whatever is in flight: the ceiling stays, for a quick recovery.
    slower     Replies take clearly longer than those of the reference, which are of a lower limit or an
               earlier time, and a check found half as many calls to be enough. Where it did not, replies have
               become longer whatever is in flight: that is no sign, and they are the new reference.

Halving for slower replies needs the check, as the time that a model takes varies with what it is asked. Both
comparisons are of mean logarithms, with their standard errors. Halving at a sign of congestion is that of TCP
(Chiu & Jain 1989), the approach to the level of the last sign that of BIC (Xu, Harfoush & Rhee 2004).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import NamedTuple

FIRST = 4
"""Calls in flight to a provider at first."""
FIRST_LOCAL = 1
"""The same to a local server that states no slots: calls that it lets wait may be asked again while it still
works on them."""
BATCH = 4
"""Replies of a round at least."""
REST = 8
"""Rounds just below the ceiling before it is tried again, at first."""
LONGEST_REST = 32
LATE = 8
"""One late reply in so many calls in flight is an overload; fewer are calls that hang."""
SLOWER = log(1.5)
"""Growth of the mean logarithm of seconds from which on replies may be slower for the calls in flight."""
CLEARLY = 3.0
"""Standard errors of that growth by which it is no chance."""
REMEMBERED = 8
"""Rounds after which replies count for half."""
_SPREAD, _WEIGHT = 0.25, 4
"""The variance of logarithms of seconds before any reply, and how many replies it counts for."""


class Load(NamedTuple):
    """The load of a server, as a finished call shows it: it replied after `seconds`; or the server refused
    it, for the reason `overload` in a word or two, or got no reply in time, which is `late`."""

    seconds: float = 0.0
    overload: str = ""
    late: bool = False


@dataclass(slots=True)
class _Replies:
    """Replies at one limit: how many, and the sums of the logarithms of their seconds and their squares."""

    limit: int
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, seconds: float) -> None:
        value = log(max(seconds, 1e-3))
        self.count += 1
        self.total += value
        self.squares += value * value

    def forget(self, most: int) -> None:
        """Let replies count for half from `most` on, so that those of long ago count little."""
        if self.count > most:
            self.count, self.total, self.squares = self.count // 2, self.total / 2, self.squares / 2

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def deviations(self) -> float:
        return max(0.0, self.squares - self.total * self.mean)

    def longer_than(self, other: _Replies) -> tuple[float, float]:
        """Return by how much their mean is larger, and the standard error of that."""
        deviations = _SPREAD * _WEIGHT + self.deviations + other.deviations
        variance = deviations / (_WEIGHT + self.count + other.count)
        return self.mean - other.mean, sqrt(variance * (1 / self.count + 1 / other.count))


@dataclass(slots=True, eq=False)
class CallLimit:
    """Calls of one or several players that draw on the same capacity: `in_flight` of at most `limit`, which
    moves from 1 to `most`. `why` says why it is as low as it is, such as "halved after 429"; empty while
    nothing but replies has moved it. Times are in seconds of any one clock."""

    limit: int
    most: int
    in_flight: int = 0
    why: str = ""
    _ceiling: int = 0
    _rest: int = REST
    _rested: int = 0
    _settled: bool = True
    _halved_at: float = -inf
    _round_at: float = -inf
    _round: int = 0
    _in_use: bool = False
    _late: int = 0
    _replies: _Replies = field(init=False)
    _reference: _Replies | None = None
    _checked: _Replies | None = None
    _enough: bool = False

    def __post_init__(self) -> None:
        self._replies = _Replies(self.limit)

    @property
    def full(self) -> bool:
        """Return whether no further call may leave."""
        return self.in_flight >= self.limit

    def left(self) -> None:
        """A call leaves."""
        self.in_flight += 1
        self._in_use = self._in_use or self.full

    def returned(self, now: float, sent: float, load: Load | None) -> None:
        """A call sent at `sent` is back; None as what it tells: nothing, as of a bad request."""
        if load is not None and load.overload:
            self._overloaded(now, sent, load)
        elif load is not None and sent >= self._round_at:
            self._replies.add(load.seconds)
            self._round += 1
            if self._round >= max(BATCH, self.limit):
                self._end_round(now)
        self.in_flight -= 1

    def _overloaded(self, now: float, sent: float, load: Load) -> None:
        if sent < self._halved_at:
            return
        level = min(self.limit, self.in_flight)
        if load.late:
            self._late += 1
            if self._late * LATE < level:
                return
        if not self._ceiling or self._settled:
            self._below(max(2, level))
        self._checked, self._settled, self._halved_at = None, False, now  # also at 1, which stays
        self.why = f"halved after {load.overload}"
        self._move(max(1, level // 2), now)

    def _below(self, ceiling: int) -> None:
        """Stay below a ceiling, for longer where it is about that of the last sign."""
        again = ceiling < 2 * self._ceiling < 4 * ceiling
        self._rest = min(LONGEST_REST, 2 * self._rest) if again else REST
        self._ceiling, self._rested = ceiling, 0

    def _move(self, limit: int, now: float) -> None:
        if limit < self.limit:
            self._halved_at = now
        self.limit = limit
        self._replies = _Replies(limit)
        self._begin_round(now)

    def _begin_round(self, now: float) -> None:
        self._round_at, self._round, self._late, self._in_use = now, 0, 0, False

    def _end_round(self, now: float) -> None:
        self._settled = True
        if not self._in_use:  # they tell nothing of the limit
            self._move(self.limit, now)
        elif self._checked is not None:
            self._check(self._checked, now)
        elif self._slower():
            self._checked, self._enough = self._replies, False
            self._move(self.limit // 2, now)
        elif (limit := min(self.most, self._grown())) > self.limit:
            self._move(limit, now)
        else:
            self._begin_round(now)
        if self.limit == self.most:
            self.why = ""

    def _slower(self) -> bool:
        """Compare the replies with those of the reference, which they become where they are no slower."""
        reference, replies = self._reference, self._replies
        if reference is None:
            return self._refer()
        longer, error = replies.longer_than(reference)
        slower = longer > max(SLOWER, CLEARLY * error)
        if (slower and self.limit == 1) or (longer < SLOWER / 2 and replies.limit >= 2 * reference.limit):
            return self._refer()
        replies.forget(REMEMBERED * max(BATCH, self.limit))
        return slower

    def _refer(self) -> bool:
        self._reference, self._replies = self._replies, _Replies(self.limit)
        return False

    def _check(self, before: _Replies, now: float) -> None:
        """Decide whether about half as many calls in flight as `before` are enough: those of a queue take
        half as long then, those of no queue as long."""
        replies = self._replies
        enough = before.mean - replies.mean > log(before.limit / replies.limit) / 2
        self._enough = self._enough or enough
        if enough and self.limit > 1:
            self._checked = replies
            self._move(self.limit // 2, now)
            return
        self._checked, self._reference = None, before
        limit = self.limit if enough else before.limit
        if self._enough:
            limit += limit // 2  # enough was found by halving: up to twice as many keep the server at work
            self._below(limit + 1)
            self.why = "as more only slow its replies"
        self._move(limit, now)

    def _grown(self) -> int:
        """Return the limit after a round without a sign in which all of it was in use."""
        limit, ceiling = self.limit, self._ceiling
        if limit < ceiling - 1:
            return limit + max(1, (ceiling - limit) // 4)
        if limit < ceiling:
            self._rested += 1
            return ceiling if self._rested >= self._rest else limit
        self.why = ""
        return limit + max(1, limit // 4) if ceiling else 2 * limit
