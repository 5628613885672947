"""One judge's ratings, moved so that they average 5: strict and generous judges then say the same.

    normalised([8, 9, 10])              # (4.0, 5.0, 6.0): a generous judge
    normalised([1, None, 3])            # (4.0, None, 6.0): a strict one, which left a rating out

Humanity's Last Arena asks for an average of 5 for each judge and does not say how it is reached.

The rule for what it leaves open:

- A missing rating (None: invalid, refused, void, or not asked for) stays missing. It is neither guessed nor
  counted; the judge's mean is that of the ratings it gave.
- A judge that gave everything the same rating told nothing apart, and all its ratings become 5. So do the
  zeros of a judge whose mean is 0, which no factor could raise.
- Nothing is clamped: a normalised rating may lie outside of 0 to 10.

Judges that skip their own work are centred over different items. With n players who rate all the others and
differ only in strictness, the additive form then shrinks the players' differences by 1 - 1/(n - 1)² and keeps
their order. With two players nothing is left of them: each judge sees one author alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["additive", "multiplicative", "none"]

MEAN = 5.0
"""What every judge gives on average, once normalised."""


def normalised(ratings: Sequence[float | None], mode: Mode = "additive") -> tuple[float | None, ...]:
    """The ratings that one judge gave, in the same order, averaging `MEAN`.

    `additive`: x + 5 - m, where m is the judge's own mean; differences keep their size. `multiplicative`:
    x · 5 / m; ratios keep theirs, and a judge that never gives much has its differences magnified. `none`: as
    they are. Raises ValueError for a rating that is not finite and, in the multiplicative mode, for one below
    0.
    """
    given = [rating for rating in ratings if rating is not None]
    if not all(map(math.isfinite, given)):
        raise ValueError(f"found the ratings {given}: expected finite numbers")
    if mode == "multiplicative" and any(rating < 0 for rating in given):
        raise ValueError(f"found the ratings {given}: a factor needs ratings from 0 upwards")
    if mode == "none" or not given:
        return tuple(ratings)
    if len(set(given)) == 1:
        return tuple([None if rating is None else MEAN for rating in ratings])
    own = math.fsum(given) / len(given)
    if mode == "additive":
        return tuple([None if rating is None else rating - own + MEAN for rating in ratings])
    return tuple([None if rating is None else rating / own * MEAN for rating in ratings])
