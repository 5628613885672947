"""What the report on judges consists of: see `judges`."""

from __future__ import annotations

from msgspec import Struct

from peerage.views.judges.people import PeopleRow
from peerage.views.shown import Shown


class Measure(Struct, frozen=True):
    """One number about all judges together, with 95% bounds where there are honest ones; None from fewer
    than five units. Counts are whole. `units` are the matches (or answers) that it rests on, `about` says
    what it is."""

    measure: str
    value: float | int | None
    lower: float | None
    upper: float | None
    units: int
    about: str


class JudgeRow(Struct, frozen=True):
    """One judge. `marks` are the answers it marked: two by a valid vote on a duel. Each number with its 95%
    bounds; None where fewer than five matches (or questions) were there to count.

    - `mean`: of its marks, 0 to 1 for votes (always ½), 0 to 10 for scores: how generous it is.
    - `abstentions`, `agreement`, `flip_share`, `first_share`: see `ballots.JudgeStatistics`.
    - `self_preference`, `kin_preference`: by how much more than the others it gives its own work, and
      that of its family.
    - `length_lean`: by how much more than the others it gives an answer twice as long.
    - `reliability`: of its votes, 1 for a judge of average discernment, 0 for one who tosses a coin (see
      `ratings.fits.judges`).
    - `known`: its votes where a check tells the two answers apart, of which `known_right` preferred the right
      one and `known_tied` neither; `known_share` counts a tie as half (see `judging.measures.known`).
    """

    judge: str
    family: str
    marks: int
    mean: float | None
    abstentions: int | None
    agreement: float | None
    flip_share: float | None
    flip_share_lower: float | None
    flip_share_upper: float | None
    first_share: float | None
    first_share_lower: float | None
    first_share_upper: float | None
    self_preference: float | None
    self_preference_lower: float | None
    self_preference_upper: float | None
    kin_preference: float | None
    kin_preference_lower: float | None
    kin_preference_upper: float | None
    length_lean: float | None
    length_lean_lower: float | None
    length_lean_upper: float | None
    reliability: float | None
    reliability_lower: float | None
    reliability_upper: float | None
    known: int = 0
    known_right: int = 0
    known_tied: int = 0
    known_share: float | None = None
    known_share_lower: float | None = None
    known_share_upper: float | None = None


class FavourRow(Struct, frozen=True):
    """A judge and an author: `excess` is by how much more often than expected it prefers its answers to
    another's, below 0 where it does it down; `found` whether that is beyond chance and beyond taste,
    `out_of_step` whether it is beyond chance and may be taste. See `judging.measures.favours.Favour`."""

    judge: str
    author: str
    marks: int
    excess: float
    p: float
    q: float
    found: bool
    out_of_step: bool


class ChallengeSort(Struct, frozen=True):
    """Challenges of one `kind` (topic or drafter) and `name`, on `matches` that judges voted on: the share of
    votes that are `ties`, that of matches whose votes are `unanimous` and no tie, and how much they `tell`
    players apart: 1 for challenges as a rule, 0 where verdicts do not follow strength at all, with 95%
    bounds; None from fewer than five matches, or where there is but one."""

    kind: str
    name: str
    matches: int
    ties: float
    unanimous: float
    tell: float | None
    tell_lower: float | None
    tell_upper: float | None


class JudgesReport(Shown, frozen=True):
    """Everything about an arena's judges: `remarks` say in words what is wrong with whom; `favours` are all
    pairs tested, the most suspicious first; `challenges` say what judges could tell apart on which; `people`
    hold judges against people who judged the same duels, empty where nobody did."""

    remarks: tuple[str, ...]

    measures: tuple[Measure, ...]
    judges: tuple[JudgeRow, ...]
    favours: tuple[FavourRow, ...]
    challenges: tuple[ChallengeSort, ...]
    people: tuple[PeopleRow, ...] = ()
