"""What corrections of judges' votes or scores would change: the ratings as they are, and corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.corrections import CORRECTIONS, STYLE, Correction, corrected, style_of
from peerage.judging.measures.favours.search import Favour, favours
from peerage.ratings.arrays import Floats
from peerage.reading.reading import Reading
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope, ScopeError
from peerage.reading.verdicts.scores import contest_of, scored
from peerage.render.blocks import Column, Rows, bounded, numbers
from peerage.settings import suggest
from peerage.values.figures import interval, listed, points, whole
from peerage.views.shown import Shown

if TYPE_CHECKING:
    from peerage.reading.match import Match


class CorrectedRow(Shown, frozen=True):
    """A player's `rating` and `rank` by the votes as they are; `corrected` with its 95% bounds and
    the rank that it gives; the `difference` of the two ratings, in points. Bounds are None where
    too little is known. `corrections` were asked for; `notes`, the same in all rows, say what they found."""

    corrected_rank: int
    player: str
    rating: float
    corrected: float
    difference: float
    lower: float | None
    upper: float | None
    rank: int
    corrections: tuple[Correction, ...]
    notes: tuple[str, ...]


def table(rows: Sequence[CorrectedRow], title: str = "") -> Rows:
    """Return the table of what corrections would change."""
    columns = [
        *numbers(str, corrected_rank="Rank"),
        Column("player", "Player", link=lambda row: ("player", row.player)),
        *numbers(whole, rating="Rating"),
        *bounded(whole, ends="", corrected="Corrected"),
        Column("interval", "95%", number=True, page=False, value=_interval),
        *numbers(points, difference="Difference ~2"),
        *numbers(str, rank="Rank before ~1"),
    ]
    return Rows(rows, columns, title=title, notes=rows[0].notes if rows else (), name="corrected")


def _interval(row: CorrectedRow) -> str | None:
    return interval(row.lower, row.upper, whole)


def asked(words: str) -> tuple[Correction, ...]:
    """The corrections that comma-separated words name, in the usual order; `all` is all of them. Raises
    ScopeError."""
    given = [word.strip() for word in words.split(",") if word.strip()]
    unknown = next((word for word in given if word not in (*CORRECTIONS, "all")), None)
    if unknown is not None or not given:
        there = (*CORRECTIONS, "all")
        raise ScopeError(f"there is no correction {unknown or ''!r}{suggest(unknown or '', there)}")
    return tuple([one for one in CORRECTIONS if one in given or "all" in given])


def what_would_change(reading: Reading, scope: Scope, wanted: Sequence[Correction]) -> list[CorrectedRow]:
    """The players by the votes on the matches of a scope, or else by the scores given in them, best corrected
    first. Answers are read for style alone. Raises ScopeError where there are neither, or too few to tell all
    that is wanted apart; LedgerError."""
    cast = _cast(reading.within(scope))
    if not len(cast.judge):
        raise ScopeError("no judge voted on these matches, or scored them: there is nothing to correct")
    styles = _styles(reading.matches(scope=scope), cast) if "style" in wanted else None
    try:
        found = corrected(cast, wanted, styles, reading.families)
    except ValueError as error:
        many = f"{len(cast.judge)} votes" if cast.scores is None else f"{len(cast.scores)} scores"
        raise ScopeError(
            f"{many} are too few for the corrections {', '.join(wanted)} together: {error}"
        ) from None
    notes = (_VOTES if cast.scores is None else _SCORES, *found.notes)
    rows = [
        CorrectedRow(
            corrected_rank=new.rank,
            player=name,
            rating=old.rating,
            corrected=new.rating,
            difference=new.rating - old.rating,
            lower=new.lower if new.lower == new.lower else None,
            upper=new.upper if new.upper == new.upper else None,
            rank=old.rank,
            corrections=tuple(wanted),
            notes=notes,
        )
        for name, old, new in zip(cast.players, found.before.rows, found.after.rows, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.corrected, row.player))


def _cast(played: PlayedMatches) -> Votes:
    """The votes on these matches, or else the scores given in them as votes."""
    cast = played.votes()
    return cast if cast.judges else scored(played.ledger, played.decided).votes


def judges_matter(played: PlayedMatches, pick: str) -> str:
    """Return which judges favour each other in these matches, and the order of the players without that; or
    that they are two blocks which contradict each other. Empty where neither is so. Every vote is read.
    `pick` is the pick by the matches as they were judged."""
    cast = _cast(played)
    if not len(cast.judge):
        return ""
    examined = favours(cast)
    if examined.blocks:
        sides = " against ".join(listed(names) for names in examined.blocks)
        return (
            f"The judges are two blocks that contradict each other, {sides}: see `peerage stats --of judges`."
        )
    found = [pair for pair in examined.favours if pair.found]
    if not found:
        return ""
    try:
        rows = corrected(cast, ["favours"])
    except ValueError:
        return f"{_favour_in_words(found)}: see `peerage stats --of judges`."
    ratings = (rows.after.rating.tolist(), rows.before.rating.tolist())
    table = sorted(zip(*ratings, cast.players, strict=True))
    order = [name for _, _, name in reversed(table)]
    lifted, most = max((before - after, name) for after, before, name in table)[::-1]
    lift = f" lifts {lifted} by {most:,.0f} points" if most >= 1 else " moves nobody up"
    more = f" and {len(order) - _SHOWN:,} more" if len(order) > _SHOWN else ""
    counts = "" if pick == order[0] else " The pick counts the matches as they were judged."
    return (
        f"{_favour_in_words(found)}. That{lift}; without it the order by votes is "
        f"{', '.join(order[:_SHOWN])}{more}: see `peerage stats --of judges`.{counts}"
    )


def _favour_in_words(found: Sequence[Favour]) -> str:
    """Return who favours each other, then who favours another or does another down."""
    liked = {(pair.judge, pair.author) for pair in found if pair.excess > 0}
    rings: list[set[str]] = []
    for judge, author in sorted(pair for pair in liked if pair[::-1] in liked):
        joined = [ring for ring in rings if judge in ring or author in ring]
        rings = [ring for ring in rings if ring not in joined] + [{judge, author}.union(*joined)]
    alone = [
        f"{pair.judge} {'favours' if pair.excess > 0 else 'does down'} {pair.author}"
        for pair in found
        if pair.excess < 0 or not any({pair.judge, pair.author} <= ring for ring in rings)
    ]
    more = [f"{len(alone) - _SHOWN:,} more such pairs"] if len(alone) > _SHOWN else []
    return listed(
        [*[f"Judges {listed(sorted(ring))} favour each other" for ring in rings], *alone[:_SHOWN], *more]
    )


_SHOWN = 5
"""Players, or pairs, that a sentence names at most."""
_VOTES = "Bradley-Terry on the judges' votes, both times; those of a match count as one match together"
_SCORES = (
    "Bradley-Terry on the judges' scores, both times: which of two answers to a question each judge gave "
    "more, so that strict and generous ones say the same; those of a question count as one match together"
)


def _styles(matches: Iterable[Match], cast: Votes) -> Floats:
    """The styles of the answers in these matches that votes are on, as corrections want them."""
    known = np.unique(cast.matches).tolist()
    if cast.scores is None:
        contests, seats = {str(number): at for at, number in enumerate(known)}, {}
    else:
        contests = {cast.scores.contests[number]: at for at, number in enumerate(known)}
        seats = {name: at for at, name in enumerate(cast.players)}
    found = np.full((len(known), len(seats) or 2, len(STYLE)), np.nan)
    for match in matches:
        number = str(match.number)
        if seats:
            authors = match.fixture.authors
            for item, text in match.judged_texts.items():
                label = item.split("/")[1]
                at = contests.get(f"{number}/{contest_of(item, label)}")
                if at is not None:
                    found[at, seats[authors[label]]] = style_of(text)
        elif number in contests:
            texts = match.judged_texts
            for place, seat in enumerate(match.fixture.seats):
                if seat.label in texts:
                    found[contests[number], place] = style_of(texts[seat.label])
    return found
