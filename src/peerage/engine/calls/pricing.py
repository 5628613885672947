"""From a client's answer to the reply that goes on record: cut to size, made storable, priced. Pure."""

from __future__ import annotations

from peerage.engine.calls.player_runtime import Limit, PlayerRuntime
from peerage.game.protocol import Reply
from peerage.players.client import MAX_TEXT, Answer
from peerage.players.prices import nano
from peerage.settings import PlayerSettings
from peerage.values.texts import storable

MAX_STORED_CHARS = 262_144
MAX_NANO = 10_000 * 10**9
"""The most that one reply may cost: a larger sum is no cost but a mistake, and enough of them would overflow
sums."""


UNKNOWN = Limit(0, 0, False, True)


def priced(runtime: PlayerRuntime, answer: Answer, limit: Limit = UNKNOWN) -> Reply:
    """An answer under a `limit` as a raw reply, priced; what a client may have got wrong is unknown then.

    A price that is stated for the player binds: what the player itself reports to cost can only be more.
    """
    seconds = answer.latency_s if 0 < answer.latency_s < 1e9 else 0.0
    tokens_in, tokens_out = _counted(answer.input_tokens), _counted(answer.output_tokens)
    cached = _counted(answer.cached_tokens)
    cost = runtime.price.cost_nano(tokens_in, tokens_out, round(seconds * 1000), cached or 0)
    cost = cost and cost * answer.times
    if answer.cost_usd is not None:
        reported = _nano(answer.cost_usd)
        if not _stated(runtime.settings):
            cost = reported
        elif cost is not None and reported is not None:
            cost = max(cost, reported)
    if cost is not None and cost > MAX_NANO:
        cost = None
    watts = runtime.settings.watts
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
        energy_mwh=None if watts is None else round(watts * seconds / 3.6),
        hidden=answer.hidden,
        cut=cut,
        final=bool(cut) and limit.final,
        reasoning_tokens=_counted(answer.reasoning_tokens),
        cached_tokens=cached or None,
    )


def _stated(settings: PlayerSettings) -> bool:
    """Return whether a price is stated for the player; on a host it costs its share of the host's hour."""
    return not settings.host and not (settings.price is None and settings.gpu_hour_price is None)


def _counted(tokens: int | None) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**40 else None


def _nano(dollars: float) -> int | None:
    return nano(dollars) if 0 <= dollars < 1e9 else None
