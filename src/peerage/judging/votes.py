"""Votes of judges as columns: what agreement, corrections and judge-aware ratings are computed from."""

from __future__ import annotations

from typing import NamedTuple

from peerage.judging.marks import Marks
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints


class Votes(NamedTuple):
    """Votes on answers of two players, one an element. `history` numbers `players`; `judge` is who cast each,
    as a place in `judges`, which are names in order; `matches` say on what. `shown` is 1 where the first
    player's answer alone was shown first, -1 where the second's was, 0 where both orders were.

    Scores are votes too: orders of every two answers that a judge scored (`comparisons.in_orders`). Then
    `scores` holds the marks themselves, a match is one question, and `worth` says of how many independent
    votes each says as much; both are None for votes on duels, which are worth one each."""

    players: tuple[str, ...]
    history: Duels
    judges: tuple[str, ...]
    judge: Ints
    matches: Ints
    shown: Ints
    worth: Floats | None = None
    scores: Marks | None = None
