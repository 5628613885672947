"""What corrections of judges' votes would change: the ratings as the votes are, and corrected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from peerage.engine.registration import families_of
from peerage.judging.corrections import CORRECTIONS, Correction, corrected
from peerage.judging.style import STYLE, Style, style_of
from peerage.ledger.store import Ledger
from peerage.settings import ArenaSettings, suggest
from peerage.tables import Shown
from peerage.tables.matches import Matches
from peerage.tables.played import Played, ScopeError
from peerage.tables.told import texts_judged


class CorrectedRow(Shown, frozen=True):
    """A player's `rating` and `rank` by the votes as they are; `corrected` with its 95% bounds, the rank that
    it gives and those still possible; the `difference` of the two ratings, in points. Bounds are None where
    too little is known. `corrections` were asked for; `notes`, the same in all rows, say what they found."""

    corrected_rank: int
    player: str
    rating: float
    corrected: float
    difference: float
    lower: float | None
    upper: float | None
    rank_range: tuple[int, int]
    rank: int
    corrections: tuple[Correction, ...]
    notes: tuple[str, ...]


def asked(words: str) -> tuple[Correction, ...]:
    """The corrections that comma-separated words name, in the usual order; `all` is all of them. Raises
    ScopeError."""
    given = [word.strip() for word in words.split(",") if word.strip()]
    unknown = next((word for word in given if word not in (*CORRECTIONS, "all")), None)
    if unknown is not None or not given:
        there = (*CORRECTIONS, "all")
        raise ScopeError(f"there is no correction {unknown or ''!r}{suggest(unknown or '', there)}")
    return tuple([one for one in CORRECTIONS if one in given or "all" in given])


def what_would_change(
    ledger: Ledger, settings: ArenaSettings, played: Played, wanted: Sequence[Correction]
) -> list[CorrectedRow]:
    """The players by the votes on these matches, best corrected first. Answers are read for style alone.

    Raises ScopeError where there are no votes, or too few to tell all that is wanted apart; LedgerError.
    """
    cast = played.votes()
    if not cast.judges:
        raise ScopeError("no judge voted on these matches: there are no votes to correct")
    known, unknown = _styles(ledger, played) if "style" in wanted else {}, (np.nan,) * len(STYLE)
    of = [known.get(number, (None, None)) for number in np.unique(cast.matches).tolist()]
    styles = np.array([[style or unknown for style in both] for both in of], np.float64)
    families = families_of(ledger, settings.players)
    try:
        found = corrected(cast, wanted, styles, families)
    except ValueError as error:
        raise ScopeError(
            f"{len(cast.judge)} votes are too few for the corrections {', '.join(wanted)} together: {error}"
        ) from None
    notes = (
        "Bradley-Terry on the judges' votes, both times; those of a match count as one match together",
        *found.notes,
    )
    rows = [
        CorrectedRow(
            new.rank,
            name,
            old.rating,
            new.rating,
            new.rating - old.rating,
            new.lower if new.lower == new.lower else None,
            new.upper if new.upper == new.upper else None,
            new.rank_range,
            old.rank,
            tuple(wanted),
            notes,
        )
        for name, old, new in zip(cast.players, found.before.rows, found.after.rows, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.corrected, row.player))


def _styles(ledger: Ledger, played: Played) -> dict[int, tuple[Style | None, Style | None]]:
    """The styles of both answers of each duel."""
    found: dict[int, tuple[Style | None, Style | None]] = {}
    for match in Matches(ledger).read(1, ledger.heads()[1], played.scope):
        if len(match.fixture.seats) == 2:
            texts = texts_judged(match)
            one, other = (
                style_of(texts[seat.label]) if seat.label in texts else None for seat in match.fixture.seats
            )
            found[match.number] = one, other
    return found
