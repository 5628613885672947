"""What the rules of several games share: their base, and fields that mean the same in each."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Section(BaseModel):
    """Settings of a game, or a part of them: frozen, and nothing unknown, infinite or NaN in them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


Seats = Annotated[int, Field(ge=2, le=10, description="Players in a match, when there are enough.")]
Temperature = Annotated[
    float | None, Field(ge=0, description="Sampling temperature; null: as the player is set.")
]
MaxTokens = Annotated[
    int, Field(ge=1, description="Tokens an answer may take, not counting thinking before it.")
]
Fuel = Annotated[
    int,
    Field(
        ge=1_000_000,
        description="Instructions of one run; a usual core does three to six billion a second.",
    ),
]
Memory = Annotated[int, Field(ge=64 * 2**20, le=2**30, description="Bytes of memory of one run.")]
Seconds = Annotated[float, Field(gt=0, description="Seconds of one run, for slow machines; fuel decides.")]
Share = Annotated[float, Field(ge=0, le=1)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Limit(Section):
    """How long one role's replies may be, and how they are sampled."""

    max_tokens: int = Field(
        ge=1, le=10_000_000, description="Tokens an answer may take, not counting thinking before it."
    )
    max_chars: int = Field(ge=1, le=200_000, description="Characters of a reply that count; the rest is cut.")
    temperature: Temperature = None
