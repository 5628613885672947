"""The verdict of a table, in words: who is best or may be, the best value for money, how often who beats
whom, what weakens all that, and what it takes to be sure. Terminal, pages, report and JSON say the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from msgspec import Struct

from peerage.figures import per_hundred, percent
from peerage.tables import Sentences
from peerage.tables.chances import chances
from peerage.tables.overall import FEW
from peerage.tables.row import Row

FAIR = 1 / 4
"""The chance against the best player from which on a cheaper one can be the best value."""
FLIPPING = 1 / 3
"""The share of verdicts changing with the order of answers from which on it is said."""
LOST = 0.1
"""The share of matches without a result from which on it is said."""
_FRACTIONS = (*((1, 2), (3, 5), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8)), *((9, 10), (19, 20), (49, 50)))
_NEARLY_ALL = 0.99
_NAMED = 3
"""Players that a sentence names at most."""


class Chance(Struct, frozen=True):
    """The `chance` that `player` beats `against` in a match, 0 to 1, a tie being half a win; `words` say it:
    "about 3 in 4 matches"."""

    player: str
    against: str
    chance: float
    words: str


class Flips(NamedTuple):
    """Of so many `ballots` seen in both orders of the answers, how many `flipped` with the order."""

    ballots: int
    flipped: int


class Verdict(Sentences, frozen=True):
    """What a table comes to.

    `lines` say it in sentences, the answer first. `best` is the player that beats all others with 95%
    confidence, None where nobody does; `may_be_best` are all whom that confidence leaves the first rank.
    `value` is the cheapest of the players that win at least 1 in 4 matches against the first one;
    None where prices are unknown or all alike. `beats` holds the first player's chance against each other
    one, best first. `weakened_by` says what speaks against relying on it.
    """

    lines: tuple[str, ...]
    best: str | None
    may_be_best: tuple[str, ...]
    players: int
    matches: int
    value: str | None = None
    beats: tuple[Chance, ...] = ()
    weakened_by: tuple[str, ...] = ()


def verdict(
    rows: Sequence[Row],
    matches: int,
    flips: Flips | None = None,
    *,
    priced: bool = True,
    play: bool = False,
    elsewhere: Sequence[str] = (),
    judges: str = "",
) -> Verdict:
    """The verdict of the rows of one table, best first, over so many decided `matches`; `flips` are those of
    its judges; `priced` says that costs are in dollars alone, `play` that nobody pays them, `elsewhere`
    what there is that this table does not count, for one that counts nothing. `judges`
    says what is wrong with its judges.

    Where the first has too few matches, nothing is said of who beats whom or what is worth its price.
    """
    ranked = [row for row in rows if row.rank is not None]
    if not ranked:
        decided = any(row.wins or row.draws or row.losses for row in rows)
        nothing = "No match counts here" if decided else "No match has been decided yet"
        why = f"{nothing}, so there is nothing to say.", *[f"{one}." for one in elsewhere]
        return Verdict(why, None, (), len(rows), matches)
    first = [row for row in ranked if row.rank_range is not None and row.rank_range[0] == 1]
    told = ranked[0].lower is not None and ranked[0].matches >= FEW
    best = first[0] if told and len(first) == 1 else None
    against = chances(ranked, ranked[0].player)
    beats = tuple(
        [
            Chance(ranked[0].player, row.player, 1 - chance, in_words(1 - chance))
            for row, chance in zip(ranked[1:], against[1:], strict=bool(against))
        ]
    )
    value = _value(ranked, against) if told else None
    doubts = tuple(_doubts(ranked, rows, flips))
    lines = [
        _answer(ranked, first, best, matches, trusted=told),
        *(_beaten(ranked, best, beats) if told else ()),
        *_worth(ranked[0], value, first, beats, priced),
        *([judges] if judges else ()),
        *([f"What weakens this: {'; '.join(doubts)}."] if doubts else ()),
        *(["Prices are play prices: nobody is paid."] if play and any(row.cost_usd for row in rows) else ()),
    ]
    return Verdict(
        lines=tuple(lines),
        best=best.player if best else None,
        may_be_best=tuple([row.player for row in first]),
        players=len(ranked),
        matches=matches,
        value=value.player if value else None,
        beats=beats,
        weakened_by=doubts,
    )


def in_words(chance: float) -> str:
    """A chance as people say it: `about 3 in 4 matches`."""
    if chance > _NEARLY_ALL:
        return "nearly every match"
    if chance < 1 - _NEARLY_ALL:
        return "hardly any match"

    def apart(fraction: tuple[int, int]) -> float:
        part, of = fraction
        return abs(log(part / (of - part)) - abs(log(chance / (1 - chance))))

    part, of = min(_FRACTIONS, key=apart)
    if part * 2 == of:
        return "about half of the matches"
    return f"about {part if chance > 0.5 else of - part} in {of} matches"


def _answer(
    ranked: Sequence[Row], first: Sequence[Row], best: Row | None, matches: int, *, trusted: bool
) -> str:
    count = len(ranked)
    if count == 1:
        return f"{ranked[0].player} is the only player with a decided match."
    if best:
        return f"{best.player} is the best of {count} players, with 95% confidence."
    told = f"{matches:,} match{'es' * (matches != 1)}"
    if not trusted or len(first) < 2:
        return f"None of {count} players is clearly the best after {told}."
    leaders = [row for row in ranked if row.rank == ranked[0].rank]
    lead = f"{ranked[0].player} leads {count} players after {told}"
    if len(leaders) > 1:
        named = leaders if len(leaders) <= _NAMED else leaders[:1]
        rest = f" and {len(leaders) - 1} others" if named != leaders else ""
        lead = f"{_names(named, 'and')}{rest} share the lead of {count} players after {told}"
    if len(first) == count:
        return f"{lead}; none is out of the race yet."
    if len(first) > _NAMED:
        return f"{lead}; {len(first)} of them may be the best."
    return f"The best of {count} players is {_names(first, 'or')}: {told} cannot tell which."


def _beaten(ranked: Sequence[Row], best: Row | None, beats: Sequence[Chance]) -> Iterator[str]:
    if not beats:
        return
    last = f", and {beats[-1].words} against {beats[-1].against}, the last" if len(beats) > 1 else ""
    if best:
        yield f"It wins {beats[0].words} against {beats[0].against}, the next{last}."
    else:
        yield (
            f"By its rating {ranked[0].player} wins {beats[0].words} against {beats[0].against}{last}; who "
            "is ahead may still change."
        )


def _value(ranked: Sequence[Row], against: Sequence[float]) -> Row | None:
    """The cheapest of those that win at least `FAIR` of their matches against the first."""
    costs = {row.cost_per_match for row in ranked}
    if None in costs or len(costs) < 2 or not against:
        return None
    worthy = [
        row
        for row, chance in zip(ranked, against, strict=True)
        if row is ranked[0] or (row.matches >= FEW and chance >= FAIR)
    ]
    return min(worthy, key=lambda row: (row.cost_per_match or 0.0, -row.rating))


def _worth(
    leader: Row, value: Row | None, first: Sequence[Row], beats: Sequence[Chance], priced: bool
) -> Iterator[str]:
    if value is None:
        return
    cost, dearer = value.cost_per_match or 0.0, leader.cost_per_match or 0.0
    price = f", at {per_hundred(cost)} per 100 matches" if priced else ""
    if value is leader:
        yield (
            f"Best value for money: {leader.player}{price}; nobody cheaper wins even 1 in 4 matches "
            "against it."
        )
        return
    if cost:
        times = dearer / cost
        ratio = f" ({leader.player} costs {times:,.{times < 10:d}f} times as much)"
        price += "" if times < 1.1 else ratio
    else:
        price = ", which costs nothing"
    wins = next(1 - one.chance for one in beats if one.against == value.player)
    how = f"wins {in_words(wins)} against {leader.player}" + ", and may be as good" * (value in first)
    yield f"Best value for money: {value.player}{price}; it {how}."


def _doubts(ranked: Sequence[Row], rows: Sequence[Row], flips: Flips | None) -> Iterator[str]:
    few = [row for row in ranked if row.matches < FEW]
    if any(row.lower is None for row in ranked):
        yield "too few matches to know how far off the ratings are"
    elif few:
        many = f"all {len(few)}" if len(few) == len(ranked) else f"{len(few)} of {len(ranked)}"
        whose = f"{few[0].player} has" if len(few) == 1 else f"{many} players have"
        yield f"{whose} fewer than {FEW} matches"
    if flips and flips.ballots and flips.flipped > FLIPPING * flips.ballots:
        share = percent(flips.flipped / flips.ballots)
        yield f"judges changed {share} of their verdicts when the answers changed places"
    lost = [row for row in rows if row.void > max(1.0, LOST * (row.matches + row.void))]
    if lost:
        worst = max(lost, key=lambda row: (row.void / (row.matches + row.void), row.player))
        more = f", and over a tenth for {len(lost) - 1} more" if len(lost) > 1 else ""
        of = worst.matches + worst.void
        yield f"{worst.void} of {of} matches of {worst.player} came to no result{more}"


def _names(rows: Sequence[Row], joint: str) -> str:
    *others, last = [row.player for row in rows]
    return f"{', '.join(others)} {joint} {last}" if others else last
