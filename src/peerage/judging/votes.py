"""Votes of judges as columns: what agreement, corrections and judge-aware ratings are reckoned from."""

from __future__ import annotations

from typing import NamedTuple

from peerage.ratings.history import Duels
from peerage.ratings.kernels import Ints


class Votes(NamedTuple):
    """Votes on answers of two players, one an element. `history` numbers `players`; `judge` is who cast each,
    as a place in `judges`, which are names in order; `matches` say on what. `shown` is 1 where the first
    player's answer alone was shown first, -1 where the second's was, 0 where both orders were."""

    players: tuple[str, ...]
    history: Duels
    judges: tuple[str, ...]
    judge: Ints
    matches: Ints
    shown: Ints
