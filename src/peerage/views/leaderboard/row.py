"""One player's line of a leaderboard."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from peerage.ratings.strength.posterior import Bin
from peerage.values.figures import share_or_none
from peerage.views.leaderboard.tracks import Track
from peerage.views.shown import Shown


class Weakness(Struct, frozen=True):
    """The category (empty where tasks have none) in which a player does worst: its `share` there, from 0 to
    1, `of` accuracy or, where nothing is checked, of the points, a tie being half a win, over so many
    `answers`. `task` is one that it failed, in `match`, and `note` says what was wrong; empty and None where
    it failed none."""

    category: str
    share: float
    of: Literal["accuracy", "points"]
    answers: int
    task: str = ""
    match: int | None = None
    note: str = ""


class Row(Shown, frozen=True):
    """One player's line.

    `rank` is 1 for the best, shared by equal ratings, and None for a player without a decided match, who
    stands at the track's starting point. `lower` and `upper` bound the rating at 95%: on the TrueSkill track
    the mean skill μ, while `rating` is μ - 3σ; on the sequential Elo tracks where it would stand, were the
    same matches played again. `mu` and `sigma` are the method's own scale (TrueSkill; Glicko-2's rating and
    deviation).

    `best` is the chance to be the best, 0 to 1, and `bin` what follows for a choice (see `Verdict`): "pick",
    "may be as good", "unlikely" or "out". `above` names those whom this player is proven to be better than,
    however often anybody looked. Nobody is proven below a player of a lower `tier`, A being the highest. All
    four follow from the matches alone, the same on the tracks `strength`, `bt`, `trueskill` and `overall`;
    other tracks leave them None or empty.

    `matches` were decided; `void` came to nothing. `cost_usd` is everything the player is known to have been
    billed here in dollars, as author, committee member and judge too, None while the cost of no call is known
    (in tables of outside results alone, what their files state); `possibly_usd` what it may have been billed
    in addition, in all games; `cost_per_match` the mean cost of its own play in a decided match, in the
    arena's cost unit (dollars by default), None when unknown. Tokens count everything it was asked. `notes`
    say what a reader of this rating must know. `game` and `topic` say what was counted, empty for all.
    `status` says whether it is paired: `benched` while nothing gets through to it, `left` when it is no
    longer in the settings, `outside` when it is in outside results alone.

    `accuracy`, from 0 to 1, is the mean credit of its answers to the `accuracy_tasks` with a check, with its
    95% interval (see `ratings.accuracy`); None without such a task. `worst` is what a contender of a verdict
    on the owner's tasks is worst at; None where nothing went wrong, and on leaderboards.
    """

    rank: int | None
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
    best: float | None = None
    bin: Bin | Literal[""] = ""
    above: tuple[str, ...] = ()
    tier: str = ""
    game: str = ""
    topic: str = ""
    possibly_usd: float = 0.0
    status: Literal["active", "benched", "left", "outside"] = "active"
    what_if: str = ""
    side: str = ""
    withdrawn_after: int | None = None
    rating_then: float | None = None
    accuracy: float | None = None
    accuracy_lower: float | None = None
    accuracy_upper: float | None = None
    accuracy_tasks: int = 0
    worst: Weakness | None = None

    @property
    def middle(self) -> float | None:
        """Return the middle of the interval: the rating, on the TrueSkill track the mean skill."""
        return self.mu if self.track == "trueskill" else self.rating

    @property
    def accuracy_in_words(self) -> str | None:
        """The accuracy with its interval, as every table shows it."""
        return share_or_none(self.accuracy, self.accuracy_lower, self.accuracy_upper)
