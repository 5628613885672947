"""Shared parts of the rules of several games: their base, and fields that mean the same in each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from peerage.game.protocol import USED, Reply


class SettingsSection(BaseModel):
    """Settings of a game, or a part of them: frozen, and nothing unknown, infinite or NaN in them, nor a
    number that was written `true`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _read_as_number(cls, value: object, about: ValidationInfo) -> object:
        """Refuse, where a number belongs, `true`, which it would be 1 for, and `010`, which some read as 8.
        Raises PydanticCustomError."""
        annotation: Any = cls.model_fields[about.field_name or ""].annotation
        wanted = _leaves(annotation)
        if wanted & {int, float} and not wanted & {bool, str}:
            for part in _parts(value):
                if isinstance(part, bool):
                    raise PydanticCustomError("number_type", "Input should be a valid number")
                if isinstance(part, str) and _OCTAL.match(part):
                    raise PydanticCustomError(
                        "number_type", "Input should be a number without zeros before it"
                    )
        return value


_OCTAL = re.compile(r"\s*[-+]?0[0-9_]")


@cache
def _leaves(annotation: Any) -> frozenset[Any]:
    """Return the types that an annotation is made of, without those of keys."""
    origin = get_origin(annotation)
    keyed = isinstance(origin, type) and issubclass(origin, Mapping)
    parts = get_args(annotation)[keyed:]
    return frozenset().union(*map(_leaves, parts)) if parts else frozenset([annotation])


def _parts(value: object) -> Iterator[object]:
    """Yield a value, or those that it holds."""
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _parts(part)
    else:
        yield value


CHARS_PER_TOKEN = 4
"""Characters of an answer that count, for each token that it may take; the rest is cut."""

Seats = Annotated[int, Field(ge=2, le=10, description="Players in a match, when there are enough.")]
Temperature = Annotated[
    float | None, Field(ge=0, le=100, description="Sampling temperature; null: as the player is set.")
]
MaxTokens = Annotated[
    int,
    Field(ge=1, le=10_000_000, description="Tokens an answer may take, not counting thinking before it."),
]
Share = Annotated[float, Field(ge=0, le=1)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class CostUnit(SettingsSection):
    """Weights of what counts as cost. A reply that does not state a part that counts has an unknown cost."""

    dollars: float = Field(default=1.0, ge=0, le=1e9, description="Weight of a dollar.")
    seconds: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a second of latency.")
    kwh: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a kilowatt-hour.")
    requests: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a request, a second one too.")
    images: float = Field(default=0.0, ge=0, le=1e9, description="Weight of an image.")
    audio_seconds: float = Field(default=0.0, ge=0, le=1e9, description="Weight of a second of audio.")

    @property
    def name(self) -> str:
        """Return what a cost of 1 is one of: `dollars`, `seconds`, `0.01 × seconds + dollars`."""
        named = {"kwh": "kWh", "audio_seconds": "seconds of audio"}
        weights = {named.get(part, part): weight for part, weight in self.model_dump().items()}
        counted = sorted((weight, what) for what, weight in weights.items() if weight)
        return " + ".join([what if weight == 1 else f"{weight:g} × {what}" for weight, what in counted])


def cost(reply: Reply, unit: CostUnit) -> float | None:
    """The weighted sum for one reply (its repair included); None when a part that counts is unknown."""
    amounts: dict[str, float | None] = {
        "seconds": reply.latency_ms / 1e3,
        "dollars": None if reply.cost_nano is None else reply.cost_nano / 1e9,
        "requests": reply.requests,
        **reply.used,
    }
    total = 0.0
    for part in ("seconds", "dollars", "requests", *USED):
        if weight := getattr(unit, part):
            amount = amounts.get(part)
            if amount is None:
                return None
            total += weight * amount
    return total
