"""Choice of a method and its constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from peerage.ratings.columns.history import Seats
from peerage.ratings.fits.tie_models import Ties

Method = Literal["auto", "bt", "bradley-terry", "elo", "trueskill", "glicko2", "judge-aware", "irt", "paired"]
METHODS: tuple[Method, ...] = get_args(Method)
_CHOICES = {"method": METHODS, "track": ("raw", "cost"), "ties": get_args(Ties), "seats": get_args(Seats)}


@dataclass(frozen=True, slots=True)
class Options:
    """Choice of method and constants; None leaves a constant at its method's default.

    `method` auto is Elo as published for `cob`, TrueSkill for games, IRT for answers, Bradley-Terry (`bt`)
    for battles. `k` is Elo's K, and the k of mu - k·sigma elsewhere. `cluster` and `controls` name columns
    that were read, and so does `by`: a table for each of its values. `both_bad` is the weight of a tie of
    two answers that were both called bad; 0 leaves it out. `anchor` is the player who stands at 1500 (methods
    of 400 points a decade). Raises ValueError for a choice that there is not.
    """

    method: Method = "auto"
    track: Literal["raw", "cost"] = "raw"
    k: float | None = None
    initial: float = 1500.0
    draw_probability: float | None = None
    ties: Ties = "half"
    cost_sensitivity: float = 0.2
    cluster: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    seats: Seats = "mean"
    anchor: str | None = None
    by: str = ""
    both_bad: float = 1.0

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} is {value!r}: expected one of {', '.join(known)}")
        if not 0 <= self.both_bad <= 1:
            raise ValueError(
                f"both_bad is {self.both_bad!r}: expected a weight from 0, left out, to 1, a tie"
            )
        for name in ("cluster", "controls"):  # one column may be named by itself
            value = getattr(self, name) or ()
            object.__setattr__(self, name, (value,) if isinstance(value, str) else (*value,))
        if self.method == "bradley-terry":
            object.__setattr__(self, "method", "bt")


def wanted(options: Options) -> dict[str, Any]:
    """Return the columns that `read` has to find for these options, as its arguments."""
    labels = dict.fromkeys([*options.cluster, *(["judge"] if options.method == "judge-aware" else [])])
    asks = options.method == "judge-aware" or (options.method in ("auto", "bt") and not options.cluster)
    return {
        "labels": tuple(labels),
        "controls": options.controls,
        "kept": ("question",) * asks,
        "by": options.by,
    }
