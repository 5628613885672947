"""A player as the engine reaches it: the tokens of a call, its cost at worst, the call, what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from peerage.engine.calls.call_costs import OVERHEAD_BYTES
from peerage.engine.calls.call_limit import CallLimit
from peerage.engine.calls.dispatch import Lane
from peerage.engine.calls.pending import PendingCall
from peerage.game.match import TOKEN_BYTES
from peerage.game.protocol import MORE_ROOM, ROOM, USED, Ask, Reply, Role, Speaker, size_of
from peerage.players.client import MAX_TEXT, Answer, Call, Client, PlayerError, duration
from peerage.players.media import held, tokens_in, tokens_of
from peerage.players.prices import Price, nano
from peerage.settings import PlayerSettings
from peerage.values.texts import storable


class Limit(NamedTuple):
    """The tokens of one call: to `answer`, and to think before on top. `more_room` is that of a second call,
    after a reply was cut; `final` says that a second one could have no more."""

    answer: int
    thinking: int
    more_room: bool
    final: bool

    @property
    def tokens(self) -> int:
        return self.answer + self.thinking


@dataclass(frozen=True)
class PlayerRuntime:
    """`call_limit` is shared by the players who draw on the same capacity; None where nothing limits that,
    or where the limit is kept elsewhere."""

    settings: PlayerSettings
    client: Client
    price: Price
    call_limit: CallLimit | None = None

    def lane(self) -> Lane[PendingCall]:
        """Return a queue for its calls, with its limits."""
        stated = self.settings
        return Lane(
            stated.concurrency,
            stated.requests_per_minute,
            stated.tokens_per_minute,
            shared=self.call_limit,
        )

    def limit(self, ask: Ask) -> Limit:
        """The tokens of a call: the game's limit under the player's own, and the player's room to think."""
        own, more = self.settings.max_tokens, ask.key.endswith(ROOM)
        thinking = self.price.thinking.tokens * (MORE_ROOM if more else 1)
        answer = ask.max_tokens if own is None else min(own, ask.max_tokens)
        final = more or bool(self.settings.acp) or (not thinking and answer == own)
        return Limit(answer, thinking, more, final)

    def cuts(self, ask: Ask) -> Limit:
        """The tokens at which a reply may be cut: work in a folder ends with its time instead."""
        return UNKNOWN if ask.folder else self.limit(ask)

    def tokens(self, ask: Ask, seed: str) -> int:
        """About how many tokens a call takes at most, where its rate is limited; else 0."""
        if self.settings.tokens_per_minute is None:
            return 0
        shown = ask.shown(seed)
        media = tokens_in(shown, self.price.model)
        return size_of(shown) // TOKEN_BYTES + media + self.limit(ask).tokens

    def worst_nano(self, ask: Ask, prompt: Sequence[tuple[Speaker, str]]) -> int | None:
        """Return what a call may cost at most, in 1e-9 dollars; None where its price is unknown."""
        if self.price.free:
            return 0
        limit = self.limit(ask)
        asked = size_of(prompt) + self.price.media_tokens(held(prompt)) + OVERHEAD_BYTES
        return self.price.worst_nano(asked, limit.answer, limit.more_room)

    def call(self, pending: PendingCall, ask: Ask) -> Call:
        """The call that a request is sent as."""
        limit = self.limit(ask)
        return Call(
            key=ask.key,
            role=ask.role,
            messages=with_own_system(pending.prompt, ask.role, self.settings.system_prompt),
            expects=ask.expects,
            max_tokens=limit.answer,
            temperature=None if self.settings.temperature is not None else ask.temperature,
            seed=pending.seed,
            oracle=ask.oracle,
            thinking_tokens=limit.thinking,
            more_room=limit.more_room,
            house=pending.house,
            seat=ask.to,
            folder=ask.folder,
            media=pending.media,
        )

    async def answer(self, call: Call, given_up: Callable[[], bool]) -> Answer | PlayerError:
        """Return what comes of a call, whatever its client does. Raises CancelledError when it is
        `given_up`."""
        player, seconds = self.settings.name, self.settings.timeout_s * 1.25
        try:
            async with asyncio.timeout(None if getattr(self.client, "queues", False) else seconds):
                return await self.client.answer(call)
        except asyncio.CancelledError:
            if given_up():
                raise
            return PlayerError(f"{player}: its client cancelled the call", maybe_paid=True)
        except TimeoutError:
            return PlayerError(f"no answer in {duration(seconds)}", maybe_paid=True, busy=True)
        except PlayerError as error:
            return error
        except Exception as error:
            return raised(player, error)


def with_own_system(
    messages: Sequence[tuple[Speaker, str]], role: Role, system_prompt: str
) -> Sequence[tuple[Speaker, str]]:
    """Return the messages of a request with the player's own system text, which a contestant alone is given:
    it comes first, a blank line between it and a system text of the game."""
    if role != "contestant" or not system_prompt:
        return messages
    if messages and messages[0][0] == "system":
        return (("system", f"{system_prompt}\n\n{messages[0][1]}"), *messages[1:])
    return (("system", system_prompt), *messages)


def raised(player: str, error: Exception) -> PlayerError:
    """A third party's client may raise or return anything; it costs its own player only."""
    return PlayerError(f"{player}: its client failed with {error!r}", kind="request", maybe_paid=True)


MAX_STORED_CHARS = 262_144
MAX_NANO = 10_000 * 10**9
"""The most that one reply may cost: a larger sum is no cost but a mistake, and enough of them would overflow
sums."""


UNKNOWN = Limit(0, 0, False, True)


def priced(
    runtime: PlayerRuntime, answer: Answer, limit: Limit = UNKNOWN, prompt: Sequence[tuple[Speaker, str]] = ()
) -> Reply:
    """An answer to a `prompt`, under a `limit`, as a raw reply, priced; what a client may have got wrong is
    unknown then. Sound that costs more than other input counts at its most.

    A price that is stated for the player binds: what the player itself reports to cost can only be more. A
    gateway's count is exact, call by call, where tiers of a price do not add up.
    """
    seconds = answer.latency_s if 0 < answer.latency_s < 1e9 else 0.0
    tokens_in, tokens_out = _counted(answer.input_tokens), _counted(answer.output_tokens)
    cached = _counted(answer.cached_tokens)
    shown = held(prompt)
    dearer = runtime.price.media_tokens(shown) - sum([tokens_of(each, runtime.price.model) for each in shown])
    charged = None if tokens_in is None else tokens_in + dearer
    cost = runtime.price.cost_nano(charged, tokens_out, round(seconds * 1000), cached or 0)
    cost = cost and cost * answer.times
    if runtime.price.request_nano is not None:
        cost = None if answer.cost_usd is None or answer.possibly_nano else _nano(answer.cost_usd)
    elif answer.cost_usd is not None:
        reported = _nano(answer.cost_usd)
        if not _stated(runtime.settings):
            cost = reported
        elif cost is not None and reported is not None:
            cost = max(cost, reported)
    if cost is not None and cost > MAX_NANO:
        cost = None
    stated = answer.used if isinstance(answer.used, Mapping) else {}
    used = {name: amount for name in USED if (amount := _amount(stated.get(name))) is not None}
    if pictures := sum(each.is_image for each in shown):
        used.setdefault("images", float(pictures))
    if len(shown) > pictures:
        used.setdefault("audio_seconds", sum([each.seconds for each in shown]))
    if (watts := runtime.settings.watts) is not None:
        used.setdefault("kwh", round(watts * seconds / 3.6e6, 12))
    # More than MAX_TEXT characters are cut by us, whatever the tokens.
    cut = limit.tokens if answer.truncated and len(answer.text) < MAX_TEXT else 0
    return Reply(
        status="refused" if answer.refused else "ok",
        text=storable(answer.text[:MAX_STORED_CHARS]),
        value=None,
        reason="declined" if answer.refused else storable(answer.note[:200]),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        latency_ms=round(seconds * 1000),
        cost_nano=cost,
        used=used,
        hidden=answer.hidden,
        cut=cut,
        final=bool(cut) and limit.final,
        reasoning_tokens=_counted(answer.reasoning_tokens),
        cached_tokens=cached or None,
        trace=answer.trace and answer.trace.bounded(),
    )


def most_nano(answer: Answer) -> int | None:
    """Return what an agent's request may have cost at most where its gateway does not know all of it, in 1e-9
    dollars; None of any other answer."""
    known = None if answer.cost_usd is None else _nano(answer.cost_usd)
    return answer.possibly_nano + known if answer.possibly_nano and known is not None else None


def _stated(settings: PlayerSettings) -> bool:
    """Return whether a price is stated for the player; on a host it costs its share of the host's hour."""
    return not settings.host and not (settings.price is None and settings.gpu_hour_price is None)


def _counted(tokens: int | None) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**40 else None


def _amount(stated: Any) -> float | None:
    return stated if type(stated) in (int, float) and 0 <= stated < 1e9 else None


def _nano(dollars: float) -> int | None:
    return nano(dollars) if 0 <= dollars < 1e9 else None
