"""Prices of players' replies, in whole billionths of a dollar, rounded up. Unknown is None, never 0.

Where a price comes from, in this order: dollars per GPU hour stated for the player; a price per token
stated for it; nothing, for house players and people; the table of the `genai-prices` package, offline, as it
stood at a date. Of prices that depend on the hour the highest counts, so that no budget is exceeded at any
hour. A pure room of its own: no clock, no network.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cached_property
from math import exp, log
from typing import Any, NamedTuple

from peerage.game.media import Media
from peerage.game.protocol import MORE_ROOM
from peerage.players.media import tokens_of
from peerage.players.models.thinking import NO_ROOM, ThinkingRoom, room
from peerage.settings import ArenaSettings, PlayerSettings

NANO = 10**9
FEMTO_PER_NANO = 10**6
PLAY_PRICE = "play price"
"""The source of the demo's prices of house players, which nobody pays."""
OVERHEAD_TOKENS = 1_000
"""Input tokens added to a call's bytes in its worst case: role markers, chat template, reply schema."""

HALVED = ("openai", "google")
"""Providers whose flex tier is taken to cost half of the usual price, unless a player states its own; so are
the batches of all that sell them."""

_PRICE_IDS = {"xai": "x-ai"}


class Rate(NamedTuple):
    """A price per token in 1e-15 dollars, which every price per million tokens in use hits exactly.

    A call with more than `above` input tokens pays this rate for all its tokens.
    """

    above: int
    femto: int


@dataclass(frozen=True)
class Price:
    """The price of one player's replies. `source` says where that comes from and of which date it is.

    `input` and `output` are rates by ascending `above`, the first with 0; both empty: price unknown.
    `cached` are those of input that the provider read from a cache, empty where it costs as other input does.
    `model` is by whose count pictures and sounds are tokens (see `media.tokens_of`), and sound costs
    `audio_times` as much as other input. `call_nano` is charged for each call. `hour_nano`, when not None, is
    the price of an hour of hardware; replies then cost their seconds and tokens are free. `limit` caps every
    reply's tokens, `timeout_ms` its time; `prompt_bytes` go before every request. `thinking` is what may be
    thought on top of any limit. `request_nano` bounds a request to an agent, all calls to its model together,
    whose own costs its gateway counts.
    """

    source: str = ""
    input: tuple[Rate, ...] = ()
    output: tuple[Rate, ...] = ()
    cached: tuple[Rate, ...] = ()
    call_nano: int = 0
    hour_nano: int | None = None
    limit: int | None = None
    timeout_ms: int = 0
    prompt_bytes: int = 0
    thinking: ThinkingRoom = NO_ROOM
    request_nano: int | None = None
    model: str = ""
    audio_times: int = 1

    def media_tokens(self, shown: Iterable[Media]) -> int:
        """Return as how many input tokens pictures and sounds are charged at most."""
        return sum(
            [tokens_of(each, self.model) * (1 if each.is_image else self.audio_times) for each in shown]
        )

    @property
    def known(self) -> bool:
        return self.hour_nano is not None or bool(self.input and self.output)

    @cached_property
    def free(self) -> bool:
        """Nothing is charged, whatever the usage."""
        return (
            self.known and self.hour_nano is None and not self.call_nano and _free(self.input + self.output)
        )

    def cost_nano(
        self, input_tokens: int | None, output_tokens: int | None, latency_ms: int, cached_tokens: int = 0
    ) -> int | None:
        """The cost of one reply in 1e-9 dollars, rounded up; None when price or usage is unknown.

        `cached_tokens` of the input were read from a cache.
        """
        if self.free:
            return 0
        if self.hour_nano is not None:
            return _ceil(max(0, latency_ms) * self.hour_nano, 3_600_000)
        if not self.known:
            return None
        if _free(self.input) and _free(self.output):
            return self.call_nano
        if input_tokens is None or output_tokens is None:
            return None
        cached = min(cached_tokens, input_tokens)
        femto = (input_tokens - cached) * _rate(self.input, input_tokens)
        femto += cached * _rate(self.cached or self.input, input_tokens)
        femto += output_tokens * _rate(self.output, input_tokens)
        return self.call_nano + _ceil(femto, FEMTO_PER_NANO)

    def worst_nano(self, input_bytes: int, max_tokens: int, more_room: bool = False) -> int | None:
        """The most one reply can cost: (bytes + overhead) × input + (max_tokens + thinking) × output, at the
        most expensive tier. With `more_room` it may think as much more as its limit is larger.

        A token is at least one byte of UTF-8, so `input_bytes` of rendered prompt bound its tokens. With a
        price per GPU hour: the player's timeout. None when the price is unknown.
        """
        if self.free:
            return 0
        if self.request_nano is not None and self.known:
            return self.request_nano
        if self.hour_nano is not None:
            return _ceil(self.timeout_ms * self.hour_nano, 3_600_000)
        if not self.known:
            return None
        tokens = max_tokens if self.limit is None else min(max_tokens, self.limit)
        tokens += self.thinking.tokens * (MORE_ROOM if more_room else 1)
        asked = 0 if _free(self.input) else input_bytes + self.prompt_bytes + OVERHEAD_TOKENS
        femto = asked * max(rate.femto for rate in self.input) + tokens * max(
            rate.femto for rate in self.output
        )
        return self.call_nano + _ceil(femto, FEMTO_PER_NANO)


def price_of(settings: PlayerSettings, at: date, seen: bool = False) -> Price:
    """The price of a player, from its settings or from the installed table as of `at`; `seen` to think.

    `source` is the stated `pricing_source`, or the table's package, version and date; empty when the
    price is unknown.
    """
    limits: dict[str, Any] = {
        "limit": settings.max_tokens,
        "timeout_ms": round(settings.timeout_s * 1000),
        "model": f":{settings.model}" if settings.base_url else settings.model,
        "prompt_bytes": len(settings.system_prompt.encode("utf-8", "replace")),
        "thinking": room(settings, seen),
        "request_nano": int(settings.request_budget * NANO)
        if settings.acp and settings.provider != "acp"
        else None,
    }
    if settings.gpu_hour_price is not None:
        hour = _ceil_decimal(Decimal(str(settings.gpu_hour_price)) * NANO)
        return Price(settings.pricing_source or "stated per GPU hour", hour_nano=hour, **limits)
    if settings.price is not None:
        return Price(
            settings.pricing_source or "stated",
            _rates(Decimal(str(settings.price.input))),
            _rates(Decimal(str(settings.price.output))),
            () if settings.price.cached is None else _rates(Decimal(str(settings.price.cached))),
            **limits,
        )
    if settings.provider == "house" or settings.is_person:
        source = "people are not paid" if settings.is_person else "house players are free"
        return Price(source, _rates(Decimal(0)), _rates(Decimal(0)), **limits)
    return _from_table(settings, at, limits)


def nano(dollars: float) -> int:
    """Dollars that a player reported, in 1e-9 dollars, rounded up."""
    return _ceil_decimal(Decimal(str(dollars)) * NANO)


def known_models(settings: PlayerSettings) -> tuple[str, ...]:
    """The names under which the price table knows models of this player's provider; empty when it knows none
    of them, or the player has a server of its own."""
    if settings.base_url:
        return ()
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return ()
    provider, _ = _in_table(settings)
    known = [each.models for each in get_snapshot().providers if each.id == provider]
    return tuple([model.id for models in known for model in models])


def in_price_table(settings: PlayerSettings) -> bool:
    """Return whether the price table knows this player's model."""
    return _model_in_table(settings) is not None


def _in_table(settings: PlayerSettings) -> tuple[str, str]:
    """Provider and model as the table names them."""
    provider, _, name = settings.model.partition(":")
    if provider == "huggingface" and ":" in name:
        name, _, host = name.rpartition(":")
        provider = f"huggingface_{host}"
    return _PRICE_IDS.get(provider, provider), name


def _model_in_table(settings: PlayerSettings) -> Any:
    """The table's entry for a player's model; None when it has none, or is not installed."""
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    provider, name = _in_table(settings)
    by_url = settings.base_url or None
    try:
        return get_snapshot().find_provider_model(name, None, None if by_url else provider, by_url)[1]
    except LookupError:
        return None


def _from_table(settings: PlayerSettings, at: date, limits: dict[str, Any]) -> Price:
    if settings.provider in ("gguf", "command", "acp", "python", "http", "https"):
        return Price(**limits)
    model = _model_in_table(settings)
    if model is None:
        return Price(**limits)
    from importlib.metadata import version

    hours = [model.get_prices(datetime.combine(at, time(hour), UTC)) for hour in range(24)]
    if any(rates.input_mtok is None or rates.output_mtok is None for rates in hours):
        return Price(**limits)
    highest = max(hours, key=lambda rates: (_rates(rates.output_mtok), _rates(rates.input_mtok)))
    per_call = highest.requests_kcount
    source = f"genai-prices {version('genai-prices')}, {at.isoformat()}"
    if any(rates != highest for rates in hours):
        source += ", at its most expensive hour"
    if settings.service_tier:
        if settings.base_url or settings.provider not in HALVED:
            return Price(**limits)
        source += "; half of it, for the flex tier"
    share = Decimal("0.5" if settings.service_tier else 1)
    heard, read = (
        max(rate.femto for rate in _rates(price))
        for price in (highest.input_audio_mtok or highest.input_mtok, highest.input_mtok)
    )
    return Price(
        source,
        _rates(highest.input_mtok, share),
        _rates(highest.output_mtok, share),
        () if highest.cache_read_mtok is None else _rates(highest.cache_read_mtok, share),
        call_nano=_ceil_decimal(per_call * NANO / 1000) if isinstance(per_call, Decimal) else 0,
        audio_times=max(1, _ceil(heard, read)) if read else 1,
        **limits,
    )


def _rates(price: Any, share: Decimal = Decimal(1)) -> tuple[Rate, ...]:
    """The rates of a share of a price in the table: a number, or a base with tiers."""
    if isinstance(price, Decimal):
        return (Rate(0, _femto(share * price)),)
    tiers = [Rate(tier.start, _femto(share * tier.price)) for tier in price.tiers]
    return (Rate(0, _femto(share * price.base)), *tiers)


def _femto(dollars_per_million: Decimal) -> int:
    return _ceil_decimal(dollars_per_million * NANO)


def _rate(rates: tuple[Rate, ...], input_tokens: int) -> int:
    reached = rates[0].femto
    for rate in rates[1:]:
        if input_tokens > rate.above:
            reached = rate.femto
    return reached


def _free(rates: Iterable[Rate]) -> bool:
    return all(rate.femto == 0 for rate in rates)


def _ceil(amount: int, divisor: int) -> int:
    return -(-amount // divisor)


def _ceil_decimal(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding="ROUND_CEILING"))


# ----------------------------------------------------------------------------------------------- play prices


OUTPUT = {0.2: 0.1, 0.35: 0.25, 0.45: 0.6, 0.55: 2.0, 0.65: 1.5, 0.75: 10.0, 0.85: 8.0, 0.95: 25.0}
"""Dollars for a million tokens put out, by skill: as wide as real ones, and not quite in its order."""
READ = 5
"""Tokens that are read for the price of one that is written."""


def play_price(skill: float) -> dict[str, float]:
    """Return what a house player of that skill charges for a million tokens: between two skills of the demo
    the geometric mean of theirs by how near it is to each, to two digits; beyond them the price of the
    last."""
    skills = sorted(OUTPUT)
    at = bisect_left(skills, skill)
    if at in (0, len(skills)) or skill in OUTPUT:
        output = OUTPUT[skills[min(at, len(skills) - 1)]]
    else:
        low, high = skills[at - 1], skills[at]
        share = (skill - low) / (high - low)
        output = float(f"{exp((1 - share) * log(OUTPUT[low]) + share * log(OUTPUT[high])):.2g}")
    return {"input": float(f"{output / READ:g}"), "output": output}


def at_play_price(model: str) -> PlayerSettings:
    """A house player at the play price of its skill. Raises ValidationError."""
    skill = float(model.partition(":")[2])
    stated = {"model": model, "price": play_price(skill), "pricing_source": PLAY_PRICE}
    return PlayerSettings.model_validate(stated)


def newcomer(model: str, settings: ArenaSettings) -> PlayerSettings:
    """A player as no settings state it: a house player at its play price where the arena's own have theirs.
    Raises ValidationError."""
    player = PlayerSettings(model=model)
    playing = any(
        player.provider == "house" and player.pricing_source == PLAY_PRICE for player in settings.players
    )
    return at_play_price(model) if playing and player.provider == "house" else player


def line(player: PlayerSettings) -> str:
    """A player that is no more than a model and its price, as `arena.yaml` has it."""
    if player.price is None:
        return player.model
    price = f"{{input: {player.price.input:g}, output: {player.price.output:g}}}"
    return f"{{model: {player.model}, price: {price}, pricing_source: {player.pricing_source}}}"
