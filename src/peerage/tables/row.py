"""One player's line of a leaderboard."""

from __future__ import annotations

from typing import Literal, TypeAlias

from peerage.tables import Shown
from peerage.tables.tracks import Track

Pairwise: TypeAlias = tuple[tuple[float | None, ...], ...]
"""A number for each two of the ranked rows, in their order; None where it is infinite."""


class Row(Shown, frozen=True):
    """One player's line.

    `rank` is 1 for the best, shared by equal ratings, and None for a player without a decided match, who
    stands at the track's starting point; `rank_range` are the ranks (best, worst) still possible at 95% for
    all players together, and `above` names those whom this player beats with the same confidence. Both hold
    at `every look`, however often you look (see `ratings.claims`), on tracks that forget (Elo, Glicko-2) at
    `one look`: `claims_hold_at` says which. `lower` and `upper` bound the rating at 95%, at one look: on the
    TrueSkill track the mean skill μ, while `rating` is μ - 3σ; on the sequential Elo tracks where it would
    stand, were the same matches played again. `mu` and `sigma` are the method's own scale (TrueSkill;
    Glicko-2's rating and deviation).

    `matches` were decided; `void` came to nothing. `cost_usd` is everything the player is known to have been
    billed in dollars, as author, committee member and judge too, None while the cost of no call is known;
    `possibly_usd` what it may have been billed in addition, in all games; `cost_per_match` the mean cost of
    its own play in a decided match, in the arena's cost unit (dollars by default), None when unknown. Tokens
    count everything it was asked. `notes` say what a reader of this rating must know. `game` and `topic` say
    what was counted, empty for all. `status` says whether it is paired: `benched` while nothing gets through
    to it, `left` when it is no longer in the settings.
    """

    rank: int | None
    rank_range: tuple[int, int] | None
    player: str
    model: str
    family: str
    track: Track
    rating: float
    lower: float | None
    upper: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    void: int
    cost_usd: float | None
    cost_per_match: float | None
    input_tokens: int
    output_tokens: int
    notes: tuple[str, ...]
    mu: float | None = None
    sigma: float | None = None
    above: tuple[str, ...] = ()
    game: str = ""
    topic: str = ""
    possibly_usd: float = 0.0
    status: Literal["active", "benched", "left"] = "active"
    what_if: str = ""
    side: str = ""
    withdrawn_after: int | None = None
    rating_then: float | None = None
    claims_hold_at: Literal["every look", "one look"] = "every look"
