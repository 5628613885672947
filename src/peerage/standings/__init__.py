"""Folds of finished matches: ratings (`fold`), and sums of what players did and cost (`accounts`).

`verify` checks a whole ledger, and holds what is stored of both against the records.
"""

from __future__ import annotations

from peerage.standings.fold import (
    NOBODY,
    UNRATED,
    Skill,
    Standings,
    TwoRatings,
    after_all,
    after_match,
    elo_settings,
    moves_elo,
    pinned_elo,
    pinned_rating,
    unrated,
)

__all__ = [
    "NOBODY",
    "UNRATED",
    "Skill",
    "Standings",
    "TwoRatings",
    "after_all",
    "after_match",
    "elo_settings",
    "moves_elo",
    "pinned_elo",
    "pinned_rating",
    "unrated",
]  # fmt: skip
