"""Folds of finished matches: ratings (`fold`), and sums of what players did and cost (`accounts`).

`derived` holds what is stored of both against the records, and `verify` checks a whole ledger with it.
"""

from __future__ import annotations

from peerage.standings.fold import (
    NOBODY,
    UNRATED,
    Rated,
    Skill,
    Standings,
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
    "Rated",
    "Skill",
    "Standings",
    "after_all",
    "after_match",
    "elo_settings",
    "moves_elo",
    "pinned_elo",
    "pinned_rating",
    "unrated",
]
