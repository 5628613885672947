"""What a client returned, as the reply that goes on record: cut to size, made storable, priced. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from peerage.engine.driver import ROOM
from peerage.players.client import MAX_TEXT, Answer, Client, PlayerError
from peerage.players.prices import Price
from peerage.protocol import MORE_ROOM, Ask, Reply, storable
from peerage.settings import PlayerSettings

MAX_STORED_CHARS = 262_144
MAX_NANO = 10_000 * 10**9
"""What one reply may cost: a larger sum is no cost but a mistake, and enough of them would overflow sums."""


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


UNKNOWN = Limit(0, 0, False, True)


@dataclass(frozen=True)
class PlayerRuntime:
    """A player as the engine reaches it."""

    settings: PlayerSettings
    client: Client
    price: Price

    def limit(self, ask: Ask) -> Limit:
        """The tokens of a call: the game's limit under the player's own, and the player's room to think."""
        own, more = self.settings.max_tokens, ask.key.endswith(ROOM)
        thinking = self.price.thinking.tokens * (MORE_ROOM if more else 1)
        answer = ask.max_tokens if own is None else min(own, ask.max_tokens)
        return Limit(answer, thinking, more, more or (not thinking and answer == own))


def priced(line: PlayerRuntime, answer: Answer, limit: Limit = UNKNOWN) -> Reply:
    """An answer under a `limit` as a raw reply, priced; what a client may have got wrong is unknown then."""
    seconds = answer.latency_s if 0 < answer.latency_s < 1e9 else 0.0
    tokens_in, tokens_out = _counted(answer.input_tokens), _counted(answer.output_tokens)
    if answer.cost_usd is None:
        cost = line.price.cost_nano(tokens_in, tokens_out, round(seconds * 1000))
    else:
        cost = _nano(answer.cost_usd)
    if cost is not None and cost > MAX_NANO:
        cost = None
    watts = line.settings.watts
    # More than MAX_TEXT characters are cut by us, whatever the tokens.
    cut = limit.tokens if answer.truncated and len(answer.text) < MAX_TEXT else 0
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
        cut=cut,
        final=bool(cut) and limit.final,
        reasoning_tokens=_counted(answer.reasoning_tokens),
    )


def raised(player: str, error: Exception) -> PlayerError:
    """A third party's client may raise or return anything; it costs its own player only."""
    return PlayerError(f"{player}: its client failed with {error!r}", kind="request", maybe_paid=True)


def _counted(tokens: int | None) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**40 else None


def _nano(dollars: float) -> int | None:
    return math.ceil(dollars * 1e9) if 0 <= dollars < 1e9 else None
