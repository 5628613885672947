"""What a client returned, as the reply that goes on record: cut to size, made storable, priced. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from peerage.players.client import Answer, Client, PlayerError
from peerage.players.prices import Price
from peerage.protocol import Reply, storable
from peerage.settings import PlayerSettings

MAX_STORED_CHARS = 262_144
MAX_NANO = 10_000 * 10**9
"""What one reply may cost: a larger sum is no cost but a mistake, and enough of them would overflow sums."""


@dataclass(frozen=True)
class Line:
    """A player as the engine reaches it."""

    settings: PlayerSettings
    client: Client
    price: Price


def priced(line: Line, answer: Answer) -> Reply:
    """An answer as a raw reply, priced; what a client may have got wrong is unknown then."""
    seconds = answer.latency_s if 0 < answer.latency_s < 1e9 else 0.0
    tokens_in, tokens_out = _counted(answer.input_tokens), _counted(answer.output_tokens)
    if answer.cost_usd is None:
        cost = line.price.cost_nano(tokens_in, tokens_out, round(seconds * 1000))
    else:
        cost = _nano(answer.cost_usd)
    if cost is not None and cost > MAX_NANO:
        cost = None
    watts = line.settings.watts
    return Reply(
        "refused" if answer.refused else "ok",
        storable(answer.text[:MAX_STORED_CHARS]),
        None,
        "declined" if answer.refused else "",
        tokens_in,
        tokens_out,
        round(seconds * 1000),
        cost,
        None if watts is None else round(watts * seconds / 3.6),
        answer.hidden,
    )


def raised(player: str, error: Exception) -> PlayerError:
    """A third party's client may raise or return anything; it costs its own player only."""
    return PlayerError(f"{player}: its client failed with {error!r}", kind="request", maybe_paid=True)


def _counted(tokens: int | None) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**40 else None


def _nano(dollars: float) -> int | None:
    return math.ceil(dollars * 1e9) if 0 <= dollars < 1e9 else None
