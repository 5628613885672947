"""Settings of pairing and rating, and how many matches are under way at once."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from peerage.game.section import CostUnit, SettingsSection, Share
from peerage.scheduling.standing import PolicyName

WINDOW = 32
"""Matches under way at once, at most, where the settings do not say."""


class InFlight(NamedTuple):
    """Matches that pairing does not see yet: the last `lag` rounds. `window` matches may be under way at
    once."""

    lag: int
    window: int


def usual_window(concurrency: int, per_round: float) -> int:
    """Matches that pairing does not see yet, where the settings do not say, for so many matches in a round.

    Twice the concurrency, since a round waits for its slowest match; where four rounds are fewer, those, so
    that a small pool learns early; never fewer than the concurrency or two rounds, nor more than `WINDOW`.
    """
    few = min(2 * concurrency, math.ceil(4 * per_round))
    return min(WINDOW, max(concurrency, math.ceil(2 * per_round), few))


class Pairing(SettingsSection):
    """Who meets whom."""

    policy: PolicyName = Field(
        "swiss",
        description="Which matches come next. `swiss`: those close in cost Elo. `adaptive`: those that "
        "soonest prove what `until` asks for, or else who is best and then the order. `random`: anybody "
        "against anybody. `round-robin`: everybody against everybody else, again and again.",
    )
    per: Literal["match", "dollar"] = Field(
        "match",
        description="What `adaptive` makes the most of. `dollar`: it divides what a match would show by what "
        "its seats are expected to cost, so that cheap players play more often.",
    )
    series: Literal["seats", "none"] | None = Field(
        None,
        description="Matches that are compared with each other. `seats`: those who meet do so once for each "
        "seat, with the seats rotated, on one task where the game allows it and else on a fresh one each "
        "time. Nothing of a match is shown before its series has ended. `none`: every match by itself. "
        "Default: `seats` in hold'em and other games of cards and dice, where no player may remember a task "
        "from one match to the next; else `none`. Fixed when the arena is made.",
    )
    width: float = Field(50.0, gt=0, le=1_000_000, description="Width Δ of a stratum in cost Elo.")
    window: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Matches that may be under way at once: a round is paired from the ratings so many "
        "matches earlier. By default twice the concurrency or four rounds, whichever is less, but the "
        "concurrency and two rounds at least and 32 at most; in a game whose matches draw on earlier ones a "
        "round. A player for whom so many matches wait gets no new ones meanwhile. Fixed by the first run.",
    )

    @model_validator(mode="after")
    def _weighed(self) -> Pairing:
        if self.policy != "adaptive" and self.per != "match":
            raise ValueError(
                f"`per` means nothing under policy `{self.policy}`, which weighs no matches; write "
                "`policy: adaptive`, or remove `per`"
            )
        return self


class Rating(SettingsSection):
    """The sequential Elo tracks, raw and cost-adjusted."""

    initial: float = Field(1500.0, ge=-1_000_000, le=1_000_000, description="R0, on both tracks.")
    k_factor: float = Field(16.0, gt=0, le=1_000, description="K.")
    cost_sensitivity: float = Field(0.2, ge=0, le=1_000, description="τ_c.")
    propagation_width: float | None = Field(
        50.0,
        ge=0.001,
        le=1_000_000,
        description="Standard deviation, in Elo, of the Gaussian that spreads updates; null: off.",
    )
    propagation_share: Share = Field(
        0.5,
        description="Part of an update that is spread; the rest stays with who earned it. 1 is the published "
        "formula to the letter, by which players of equal rating could never part.",
    )
    cost_unit: CostUnit = Field(
        default_factory=CostUnit,
        description="What a contestant's cost is made of: dollars, or a weighted sum with others.",
    )
