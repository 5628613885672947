"""Dispatch of calls: one queue behind a call cap, with each player's own concurrency and rate limits.

A call waits here without a task of its own. Calls of one player leave in the order they came; a player
that must wait (its limits, a provider's retry-after) never holds up another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from peerage.engine.calls.call_limit import CallLimit, Load

WINDOW_S = 60.0

Waiting = TypeVar("Waiting")


@dataclass(slots=True)
class Lane(Generic[Waiting]):
    """One player's waiting calls and limits; `shared` is that of all players who draw on the same capacity.
    Rates hold in every window of 60 seconds, exactly."""

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    waiting: deque[tuple[Waiting, int]] = field(default_factory=deque)
    in_flight: int = 0
    paused_until: float = 0.0
    singly: bool = False
    shared: CallLimit | None = None
    _calls: deque[float] = field(default_factory=deque)
    _tokens: deque[tuple[float, int]] = field(default_factory=deque)
    _spent: int = 0

    def opens_at(self, now: float) -> float | None:
        """Return when the next waiting call may leave: `now`, later, or None until a call in flight
        returns."""
        if self.concurrency is not None and self.in_flight >= self.concurrency:
            return None
        if self.singly and self.in_flight:
            return None
        if self.shared is not None and self.shared.full:
            return None
        at = max(now, self.paused_until)
        if self.requests_per_minute is not None:
            window = max(WINDOW_S, WINDOW_S / self.requests_per_minute)  # less than one a minute
            while self._calls and self._calls[0] <= now - window:
                self._calls.popleft()
            over = len(self._calls) + 1 - max(1, int(self.requests_per_minute))
            if over > 0:
                at = max(at, self._calls[over - 1] + window)
        if self.tokens_per_minute is not None:
            while self._tokens and self._tokens[0][0] <= now - WINDOW_S:
                self._spent -= self._tokens.popleft()[1]
            over = self._spent + self.waiting[0][1] - int(self.tokens_per_minute)
            for when, tokens in self._tokens:  # a call larger than the limit leaves when the window is empty
                if over <= 0:
                    break
                over -= tokens
                at = max(at, when + WINDOW_S)
        return at

    def leave(self, now: float) -> Waiting:
        """Take the next waiting call out, counting it against the limits."""
        call, tokens = self.waiting.popleft()
        self.in_flight += 1
        if self.shared is not None:
            self.shared.left()
        if self.requests_per_minute is not None:
            self._calls.append(now)
        if self.tokens_per_minute is not None:
            self._tokens.append((now, tokens))
            self._spent += tokens
        return call


class Dispatcher(Generic[Waiting]):
    """Lets calls leave through `send` as caps and limits allow. For the event loop's thread alone."""

    def __init__(self, cap: int, send: Callable[[Waiting], None]) -> None:
        self.cap = cap
        self.in_flight = 0
        self.stopped = False
        self._send = send
        self._lanes: dict[str, Lane[Waiting]] = {}
        self._turn: deque[str] = deque()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._pumping = False

    def add(self, player: str, lane: Lane[Waiting]) -> None:
        self._lanes[player] = lane

    def submit(self, player: str, call: Waiting, tokens: int) -> None:
        """Queue a call that may use up to `tokens` tokens."""
        lane = self._lanes[player]
        if not lane.waiting:
            self._turn.append(player)
        lane.waiting.append((call, tokens))
        self._soon()

    def queued(self, player: str) -> bool:
        """Return whether a call to a player waits here, so that another would wait behind it."""
        return bool(self._lanes[player].waiting)

    def returned(self, player: str, sent: float = 0.0, load: Load | None = None) -> None:
        """A call that left, and was sent at `sent`, has come back, or was given up."""
        lane = self._lanes[player]
        lane.in_flight -= 1
        if lane.shared is not None:
            lane.shared.returned(self._loop.time(), sent, load)
        self.in_flight -= 1
        self._soon()

    def withdraw(self, unwanted: Callable[[Waiting], bool]) -> list[Waiting]:
        """Take waiting calls back, in order; they leave no more."""
        taken: list[Waiting] = []
        for player, lane in self._lanes.items():
            gone = [call for call, _ in lane.waiting if unwanted(call)]
            if gone:
                taken += gone
                lane.waiting = deque([item for item in lane.waiting if not unwanted(item[0])])
                if not lane.waiting:
                    self._turn.remove(player)
        return taken

    def pause(self, player: str, seconds: float) -> None:
        """Let no call to a player leave for so long: its provider asked for that, or it keeps failing."""
        lane = self._lanes[player]
        lane.paused_until = max(lane.paused_until, self._loop.time() + seconds)

    def paused_s(self, player: str) -> float:
        """Return for how many seconds a player pauses still."""
        return max(0.0, self._lanes[player].paused_until - self._loop.time())

    def paused(self) -> dict[str, tuple[float, int]]:
        """For each player that pauses with calls waiting: for how many seconds, and how many calls."""
        now = self._loop.time()
        return {
            player: (lane.paused_until - now, len(lane.waiting))
            for player, lane in self._lanes.items()
            if lane.waiting and lane.paused_until > now
        }

    def lowered(self) -> dict[str, str]:
        """Map each player whose calls wait for a limit that was lowered to that limit, and why."""
        return {
            player: f"at most {lane.shared.limit} in flight, {lane.shared.why}"
            for player, lane in self._lanes.items()
            if lane.waiting and lane.shared is not None and lane.shared.why
        }

    def singly(self, player: str, singly: bool) -> None:
        """Let calls to a player leave one at a time, or as its limits allow."""
        lane = self._lanes[player]
        if lane.singly != singly:
            lane.singly = singly
            self._soon()

    def held_up(self) -> Iterator[Waiting]:
        """The waiting calls to players that pause or are asked one call at a time."""
        now = self._loop.time()
        for lane in self._lanes.values():
            if lane.waiting and (lane.paused_until > now or lane.singly):
                yield from (call for call, _ in lane.waiting)

    def stop(self) -> None:
        """Let nothing more leave."""
        self.stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _soon(self) -> None:
        if not self._pumping and not self.stopped:
            self._pumping = True
            self._loop.call_soon(self._pump)

    def _pump(self) -> None:
        self._pumping = False
        if self.stopped:
            return
        now = self._loop.time()
        blocked: list[str] = []
        earliest: float | None = None
        while self._turn and self.in_flight < self.cap:
            player = self._turn.popleft()
            lane = self._lanes[player]
            at = lane.opens_at(now)
            if at is None or at > now:
                blocked.append(player)
                if at is not None:
                    earliest = at if earliest is None else min(earliest, at)
                continue
            self.in_flight += 1
            call = lane.leave(now)
            if lane.waiting:
                self._turn.append(player)
            self._send(call)
        self._turn.extend(blocked)
        if earliest is not None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(earliest, self._soon)
