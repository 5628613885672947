"""Calls that wait for money: a call goes when its worst case is reserved, lower matches first. Pure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from peerage.engine.calls.budget import WAITS, Affordable, Budget
from peerage.engine.calls.pending import PendingCall


class MatchBudget(Protocol):
    """The budget, as those see it who drive matches: `budget.Budget`, or what stands for it elsewhere."""

    @property
    def bounded(self) -> bool: ...

    @property
    def left(self) -> int: ...

    def recall(self, number: int, player: str, nano: int) -> None: ...

    def stop(self, number: int) -> None: ...

    def leave(self, number: int) -> None: ...

    def close(self, number: int, *, decided: bool) -> None: ...


class Paying(Protocol):
    """The source of the money for a process's calls: `Reservations`, or what asks another process's."""

    @property
    def overrun(self) -> Mapping[str, int]: ...

    def wanted(self, player: str) -> bool:
        """Return whether a call to a player must be submitted before it goes."""

    def submit(self, pending: PendingCall) -> None: ...

    def recall(self, unwanted: Callable[[PendingCall], bool]) -> list[PendingCall]: ...

    def decided(self, queued: Callable[[str], bool]) -> Iterator[tuple[PendingCall, Affordable]]: ...

    def pay(self, pending: PendingCall, nano: int, *, known: bool, answered: bool) -> None: ...


class Money(NamedTuple):
    """The account of a run's matches, and where its calls get their money."""

    budget: MatchBudget
    paying: Paying


class Reservations:
    """The calls of a run that are short of money, by match and in the order they came."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._short: list[tuple[int, int, PendingCall]] = []
        self._submitted = 0
        self._deciding = False

    @property
    def overrun(self) -> Mapping[str, int]:
        return self._budget.overrun

    def wanted(self, player: str) -> bool:
        return self._budget.bounded

    def __len__(self) -> int:
        return len(self._short)

    def submit(self, pending: PendingCall) -> None:
        """Let a call wait for the money for its `worst`."""
        self._submitted += 1
        insort(self._short, (pending.match, self._submitted, pending))

    def recall(self, unwanted: Callable[[PendingCall], bool]) -> list[PendingCall]:
        """Take waiting calls back."""
        taken = [pending for _, _, pending in self._short if unwanted(pending)]
        self._short = [entry for entry in self._short if not unwanted(entry[2])]
        return taken

    def decided(self, queued: Callable[[str], bool]) -> Iterator[tuple[PendingCall, Affordable]]:
        """The calls that need not wait any more, each with why: YES when there is money for it now, else the
        limit that never will pay for it. None overtakes one that is short of the same.

        One call of each player is ahead of those in flight: money is not tied up in queues. `queued` says
        whether a call to a player is on its way already. Nothing comes while another round of this goes on.
        """
        if self._deciding:
            return
        self._deciding = True
        waiting, self._short = self._short, []
        matches: set[int] = set()
        players: set[str] = set()
        for at, entry in enumerate(waiting):
            pending = entry[2]
            if self._budget.has_stopped(pending.match):
                continue
            if pending.player not in players and queued(pending.player):
                players.add(pending.player)
            if pending.match in matches or pending.player in players:
                self._short.append(entry)
                continue
            verdict = self._budget.reserve(pending.match, pending.player, pending.worst or 0)
            if verdict is Affordable.YES:
                pending.reserved = pending.worst or 0
            if verdict not in WAITS:
                yield pending, verdict
            elif verdict is Affordable.WAIT_ARENA:
                self._short += waiting[at:]
                break
            else:
                self._short.append(entry)
                if verdict is Affordable.WAIT_MATCH:
                    matches.add(pending.match)
                else:
                    players.add(pending.player)
        self._deciding = False

    def pay(self, pending: PendingCall, nano: int, *, known: bool, answered: bool) -> None:
        """Count what an attempt has cost, or may have; what was reserved for it is free again."""
        reserved, pending.reserved = pending.reserved, 0
        self._budget.pay(pending.match, pending.player, nano, reserved, known=known, answered=answered)
