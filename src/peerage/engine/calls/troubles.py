"""Troubles of players, such as waits, cut replies and failures: for anyone who watches a run, and for its
log."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import NamedTuple

from peerage.engine.calls.pending import PendingCall
from peerage.game.protocol import Reply
from peerage.players.client import duration
from peerage.values.texts import visible

SLOW_S = 10.0
"""Seconds after which a call in flight is reported as waited for."""
LONGEST = 60

_log = logging.getLogger("peerage")
_STATUS = re.compile(r"\((\d{3})\)")


class Trouble(NamedTuple):
    """Troubles of one player's calls at this moment; counts are of this run.

    `waiting` calls will be sent again, the first in `seconds` as try `attempt` of `attempts`, since the last
    one failed for `reason`. `queued` calls wait since the player pauses, for `paused_s` seconds more.
    `lowered` says at which limit of calls in flight others wait, and why. `in_flight` calls are out, the
    oldest for `silent_s` seconds. Of `answered` replies `cut` ended at their token limit, `early` are
    agents' whose time or money was up. `failed` calls were given up, the last for `failure`.
    """

    player: str
    waiting: int = 0
    reason: str = ""
    attempt: int = 0
    attempts: int = 0
    seconds: float = 0.0
    queued: int = 0
    paused_s: float = 0.0
    lowered: str = ""
    in_flight: int = 0
    silent_s: float = 0.0
    answered: int = 0
    cut: int = 0
    early: int = 0
    failed: int = 0
    failure: str = ""

    def __str__(self) -> str:
        """One line for people, such as "qwen: 503, try 4 of 6, 8 s"; empty when there is nothing to say."""
        parts: list[str] = []
        if self.waiting:
            more = f" ({self.waiting} calls)" if self.waiting > 1 else ""
            tries = f"try {self.attempt} of {self.attempts}"
            parts.append(f"{self.reason}, {tries}, {duration(self.seconds)}{more}")
        if self.queued and not self.waiting:
            calls = "call waits" if self.queued == 1 else "calls wait"
            parts.append(
                f"{self.reason or 'paused'}, asked again in {duration(self.paused_s)} ({self.queued} {calls})"
            )
        if self.lowered:
            parts.append(self.lowered)
        if self.silent_s >= SLOW_S:
            more = f" ({self.in_flight} calls)" if self.in_flight > 1 else ""
            parts.append(f"no reply for {duration(self.silent_s)}{more}")
        if self.cut:
            parts.append(f"{self.cut} of {self.answered} replies cut at their token limit")
        if self.early:
            parts.append(f"{self.early} of {self.answered} replies ended early, by time or money")
        if self.failed:
            calls = "call" if self.failed == 1 else "calls"
            parts.append(f"{self.failed} {calls} failed, the last: {self.failure}")
        return f"{self.player}: {'; '.join(parts)}" if parts else ""


def in_short(message: str, player: str) -> str:
    """A failure in a word or two: its HTTP status where it names one, else how it begins."""
    text = visible(message).removeprefix(f"{player}: ")
    if status := _STATUS.search(text):
        return status[1]
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class Troubles:
    """Troubles of a run, counted by player and logged: each first one as a warning,
    every call, retry and wait as information. For the event loop's thread alone."""

    def __init__(self, attempts: int) -> None:
        self._attempts = attempts
        self._since: dict[PendingCall, float] = {}
        self._answered: dict[str, int] = {}
        self._known: dict[str, Trouble] = {}
        self._telling = _log.isEnabledFor(logging.INFO)

    def sent(self, pending: PendingCall, now: float) -> None:
        self._since[pending] = now

    def returned(self, pending: PendingCall) -> None:
        self._since.pop(pending, None)

    def _count(self, player: str, reason: str = "", *, cut: int = 0, early: int = 0, failed: int = 0) -> bool:
        """Count a trouble of a player; return whether it is the first of its kind."""
        was = self._known.get(player) or Trouble(player, attempts=self._attempts)
        self._known[player] = was._replace(
            reason=reason or was.reason,
            cut=was.cut + cut,
            early=was.early + early,
            failed=was.failed + failed,
            failure=reason if failed else was.failure,
        )
        return bool((cut and not was.cut) or (early and not was.early) or (failed and not was.failed))

    def answered(self, pending: PendingCall, raw: Reply, truncated: bool) -> None:
        player = pending.player
        self._answered[player] = self._answered.get(player, 0) + 1
        ended = truncated and raw.trace is not None and raw.reason  # an agent's, by time or money
        how = f"ended early: {ended}" if ended else "was cut at its token limit"
        if truncated and self._count(player, early=bool(ended), cut=not ended):
            _log.warning("%s: a reply %s (%s); others may follow", player, how, _call(pending))
        if self._telling:
            cut = f", {how.removeprefix('was ')}" if truncated else ""
            tokens = "" if raw.output_tokens is None else f", {raw.output_tokens} tokens"
            seconds = raw.latency_ms / 1000
            _log.info("%s, %s: %s in %.1f s%s%s", _call(pending), player, raw.status, seconds, tokens, cut)

    def retried(self, pending: PendingCall, reason: str, wait: float) -> None:
        pending.reason = in_short(reason, pending.player)
        self._count(pending.player, pending.reason)
        if self._telling:
            words, attempt = _with_player(pending, reason), pending.tries + 1
            when = duration(wait) if wait >= 10 else f"{wait:.1f} s"
            _log.info("%s, %s; try %d of %d in %s", _call(pending), words, attempt, self._attempts, when)

    def failed(self, pending: PendingCall, reason: str) -> None:
        """A call was given up."""
        if self._count(pending.player, in_short(reason, pending.player), failed=1):
            _log.warning("%s; the call is given up (%s)", _with_player(pending, reason), _call(pending))
        elif self._telling:
            _log.info("%s, %s; given up", _call(pending), _with_player(pending, reason))

    def now(
        self,
        again: Mapping[PendingCall, float],
        paused: Mapping[str, tuple[float, int]],
        lowered: Mapping[str, str],
        now: float,
    ) -> tuple[Trouble, ...]:
        """The players with whom something is wrong, by name; `again`: when waiting calls are sent again;
        `paused`: for how many seconds players pause, and how many of their calls wait for that; `lowered`: to
        what their limits of calls in flight were lowered, and why."""
        waiting: dict[str, list[PendingCall]] = {}
        for pending in again:
            waiting.setdefault(pending.player, []).append(pending)
        out: dict[str, list[float]] = {}
        for pending, since in self._since.items():
            out.setdefault(pending.player, []).append(now - since)
        troubles: list[Trouble] = []
        for player in sorted({*waiting, *paused, *lowered, *out, *self._known}):
            trouble = self._known.get(player) or Trouble(player, attempts=self._attempts)
            if calls := waiting.get(player):
                first = min(calls, key=again.__getitem__)
                seconds = max(0.0, again[first] - now)
                trouble = trouble._replace(
                    waiting=len(calls), reason=first.reason, attempt=first.tries + 1, seconds=seconds
                )
            pause, queued = paused.get(player, (0.0, 0))
            flights = out.get(player, [])
            trouble = trouble._replace(
                queued=queued,
                paused_s=pause,
                lowered=lowered.get(player, ""),
                in_flight=len(flights),
                silent_s=max(flights, default=0.0),
                answered=self._answered.get(player, 0),
            )
            if str(trouble):
                troubles.append(trouble)
        return tuple(troubles)


def _call(pending: PendingCall) -> str:
    return f"match {pending.match} {pending.ask.key}"


def _with_player(pending: PendingCall, reason: str) -> str:
    """A failure with its player's name in front, printable."""
    words = " ".join(visible(reason).split())
    return words if words.startswith(f"{pending.player}: ") else f"{pending.player}: {words}"
