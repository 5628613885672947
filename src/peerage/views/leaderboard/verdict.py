"""The verdict of a table, in words: whom to pick, who may be as good, who is out, what is proven, and what
the pick costs. Terminal, pages, report and JSON say the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log
from typing import NamedTuple

from msgspec import Struct

from peerage.ratings.strength.posterior import Bin
from peerage.reading.results.outside import in_words as results_in_words
from peerage.values.figures import dollars, likely, listed, percent, tenths, whole
from peerage.views.leaderboard.chances import Chances
from peerage.views.leaderboard.overall import FEW
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS
from peerage.views.shown import Sentences

FAIR = 1 / 4
"""The chance against the pick from which on a cheaper player can be the best value."""
FLIPPING = 1 / 3
"""The share of verdicts changing with the order of answers from which on it is said."""
WEAKENS = "What weakens this"
LOST = 0.1
"""The share of matches without a result from which on it is said."""
_FRACTIONS = (*((1, 2), (3, 5), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8)), *((9, 10), (19, 20), (49, 50)))
_NEARLY_ALL = 0.99
_OTHERS: tuple[Bin, ...] = ("may be as good", "unlikely", "out")
LEVEL = 1.2
"""So many times the chance of another one is no lead."""
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


class Given(Struct, frozen=True):
    """A player's answer as far as it is shown: so many characters `more` are on record. `status` is ok, or
    why there is none of use; `credit` is the check's, from 0 to 1, None without one; `note` says what was
    wrong."""

    player: str
    text: str
    more: int
    status: str
    credit: float | None
    note: str


class Example(Struct, frozen=True):
    """A `match` that shows why: the task with its `prompt`, of which so many characters `prompt_more` are on
    record, the `answers` of the pick and of a rival, who won, and by what it was `decided`."""

    match: int
    task: str
    category: str
    prompt: str
    prompt_more: int
    answers: tuple[Given, ...]
    winner: str
    decided: str


class Verdict(Sentences, frozen=True):
    """The conclusion from the matches of a table, the same whatever track the table shows.

    `lines` say it in sentences, the answer first. `pick` has the highest `chance` to be the best, 0 to 1;
    `may_be_as_good` are better than the pick with at least 5%, `out` with less than 1% and best with less
    than 2% over the number of others, or proven to be worse; `unlikely` are those between. `proven` says what
    is proven of the pick, at every look and without any prior, on these tasks alone or on others like them
    too (from ten topics on, by topic); `proven_best` that it is better than all
    others. `gives_up` is what picking it gives up at most, with 95%: points, over several games percentage
    points. All are None or empty where no match counts.

    `level` are the pick and those whose chance is about as high, in which case nobody leads; else empty.
    `value` is the cheapest of the players that win at least 1 in 4 matches against the pick, `worth` says
    that in a sentence; None and empty where prices are unknown or all alike. `beats` holds the pick's chance
    against each other one, best first. `weakened_by` says what speaks against relying on it.

    `peerage verdict`, the end of a run, the first page and the report add the `contenders`, the pick first,
    as the leaderboard has them, and in arenas of the owner's tasks (`by_task`) what `would_change` the pick,
    in sentences, and `examples`.

    `matches` were decided here; `outside` counts the outside results among those it rests on, by kind: vote,
    game, answer.
    """

    lines: tuple[str, ...]
    pick: str | None
    may_be_as_good: tuple[str, ...]
    unlikely: tuple[str, ...]
    out: tuple[str, ...]
    players: int
    matches: int
    chance: float | None = None
    proven: str = ""
    proven_best: bool = False
    gives_up: float | None = None
    value: str | None = None
    beats: tuple[Chance, ...] = ()
    weakened_by: tuple[str, ...] = ()
    contenders: tuple[Row, ...] = ()
    would_change: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    by_task: bool = False
    level: tuple[str, ...] = ()
    worth: str = ""
    outside: Mapping[str, int] = {}


def verdict(
    rows: Sequence[Row],
    matches: int,
    chances: Chances,
    flips: Flips | None = None,
    *,
    priced: bool = True,
    play: bool = False,
    elsewhere: str = "",
    outside: Mapping[str, int] = {},
    judges: str = "",
    by_task: bool = False,
    coins: Sequence[str] = (),
    doubts: Sequence[str] = (),
) -> Verdict:
    """The verdict of the rows of one table, best first, over so many decided `matches` and their `chances`;
    `flips` are those of its judges; `priced` says that costs are in dollars alone, `play` that nobody pays
    them, `elsewhere` what there is that this table does not count, for one that counts nothing; `outside` are
    the outside results that count too, by kind. `judges` says
    what is wrong with its judges, `by_task` that each match is a task, `coins` names judges who are no better
    than a coin, a sentence each, and `doubts` are further ones."""
    by_name = {row.player: row for row in rows}
    ranked = [by_name[player] for player in chances.ranked]
    if not ranked:
        return Verdict(tuple(_nothing(rows, elsewhere)), None, (), (), (), len(rows), matches)
    after = results_in_words({**outside, "match": matches})
    pick, at = by_name[chances.pick], chances.of(chances.pick)
    bins = {name: chances.binned(name) for name in _OTHERS}
    worse = chances.below(chances.pick)
    best = len(worse) == len(ranked) - 1 > 0
    about = {chances.claims.about(at, chances.of(name)) for name in worse}
    tasks = "tasks like these" if about == {"tasks like these"} else "these tasks"
    proven = _proven(pick.player, worse, len(ranked), tasks) if len(ranked) > 1 else ""
    against = {row.player: float(chances.wins[at, chances.of(row.player)]) for row in ranked if row != pick}
    beats = tuple([Chance(pick.player, name, one, in_words(one)) for name, one in against.items()])
    value = _value(pick, ranked, against, bins["out"])
    chance, gives_up = float(chances.best[at]), chances.gives_up(at)
    doubts = (*doubts, *_doubts(pick, ranked, rows, flips, "results" if outside else "matches"))
    first = next(row for row in rows if row.rank is not None) if any(row.rank for row in rows) else pick
    top = tuple([row.player for row in ranked if LEVEL * chances.best[chances.of(row.player)] >= chance])
    level = top if len(top) > 1 and not best else ()
    worth = _worth(pick, value, against, _price(value, by_task=by_task) if priced else "")
    lines = [
        _level(level, after)
        if level
        else _answer(pick.player, len(ranked), after, chance, tasks if best else ""),
        *coins,
        *([] if len(level) == len(ranked) else _sorted_out(bins)),
        *([proven] if proven and not best else ()),
        *_given_up(pick.player if level else "it", bins["may be as good"], gives_up, chances.unit),
        *_beaten(pick.player if level else "it", beats, tied=any(row.draws for row in ranked)),
        *([worth] if worth else ()),
        *_counts(pick, first, ranked),
        *([judges] if judges else ()),
        *([f"{WEAKENS}: {'; '.join(doubts)}."] if doubts else ()),
        *(["Prices are play prices: nobody is paid."] if play and any(row.cost_usd for row in rows) else ()),
    ]
    return Verdict(
        lines=tuple(lines),
        pick=pick.player,
        may_be_as_good=bins["may be as good"],
        unlikely=bins["unlikely"],
        out=bins["out"],
        players=len(ranked),
        matches=matches,
        chance=chance,
        proven=proven,
        proven_best=best,
        gives_up=gives_up,
        value=value.player if value else None,
        beats=beats,
        weakened_by=doubts,
        level=level,
        worth=worth,
        outside=outside,
    )


def _nothing(rows: Sequence[Row], elsewhere: str) -> Iterator[str]:
    decided = any(row.wins or row.draws or row.losses for row in rows)
    nothing = "No match counts here" if decided or elsewhere else "No match has been decided yet"
    yield f"{nothing}, so there is nothing to say."
    yield from [f"{elsewhere}."] * bool(elsewhere)


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


def _answer(pick: str, players: int, results: str, chance: float, proven_on: str) -> str:
    if players == 1:
        return f"{pick} is the only player with a decided match."
    of = f"the best of {players:,} players"
    if proven_on:
        return f"Pick {pick}: proven best of {players:,} players on {proven_on} after {results}."
    if chance >= 0.5:
        return f"Pick {pick}: likely {of} ({likely(chance)}) after {results}."
    return f"Pick {pick} for now: {likely(chance)} to be the best of {players:,} after {results}."


def _level(names: Sequence[str], results: str) -> str:
    return f"No clear pick yet: {named(names)} are level after {results}."


def _sorted_out(bins: Mapping[Bin, tuple[str, ...]]) -> Iterator[str]:
    """Yield the sentences that say who is in which bin."""
    good, unlikely, out = (bins[name] for name in _OTHERS)
    if len(out) > 1 and not (good or unlikely):
        yield f"{'Both' if len(out) == 2 else f'All {len(out)}'} others are out."
        return
    parts = [
        *([f"{named(good)} may be as good"] if good else ()),
        *(
            [f"{named(unlikely)} {'is' if len(unlikely) == 1 else 'are'} unlikely to be as good"]
            if unlikely
            else ()
        ),
        *([f"{named(out)} {'is' if len(out) == 1 else 'are'} out"] if out else ()),
    ]
    if parts:
        yield f"{'; '.join(parts)}."


def _proven(pick: str, worse: Sequence[str], players: int, tasks: str) -> str:
    """Return the sentence on what is proven of the pick, and about which tasks."""
    if not worse:
        return f"Nothing is proven of {pick} yet."
    if len(worse) == players - 1:
        return f"Proven on {tasks}: {pick} is better than {'all others' if players > 2 else worse[0]}."
    return f"Proven on {tasks}: {pick} is better than {named(worse)}."


def _given_up(it: str, good: Sequence[str], points: float, unit: str) -> Iterator[str]:
    if good:
        most = f"{whole(points)} {unit}" if unit == "points" else f"{tenths(points)} {unit}"
        most = {"0 points": "less than 1 point", "1 points": "1 point"}.get(most, most)
        yield f"Picking {it} gives up {most} at most (95%)."


def _beaten(name: str, beats: Sequence[Chance], *, tied: bool) -> Iterator[str]:
    if beats:
        it = f"A tie counted as half, {name}" if tied else "It" if name == "it" else name
        last = f", and {beats[-1].words} against {beats[-1].against}, the last" if len(beats) > 1 else ""
        yield f"{it} wins {beats[0].words} against {beats[0].against}{', the next' * bool(last)}{last}."


def _value(pick: Row, ranked: Sequence[Row], against: dict[str, float], out: Collection[str]) -> Row | None:
    """Of those that win at least `FAIR` of their matches against the pick, and of the pick, who wins most for
    the money; where answers are checked, of those that are not out: most matches tie there."""
    costs = {row.cost_per_match for row in ranked}
    if None in costs or len(costs) < 2 or pick.matches < FEW:
        return None
    worthy = [
        row
        for row in ranked
        if row is pick
        or (
            (row.accuracy is None or row.player not in out)
            and row.matches >= FEW
            and 1 - against[row.player] >= FAIR
        )
    ]
    wins = {row.player: 1 - against.get(row.player, 0.5) for row in worthy}
    return min(worthy, key=lambda row: ((row.cost_per_match or 0.0) / wins[row.player], row is not pick))


def _worth(pick: Row, value: Row | None, against: dict[str, float], price: str) -> str:
    if value is None:
        return ""
    cost, dearer = value.cost_per_match or 0.0, pick.cost_per_match or 0.0
    if value is pick:
        return f"Best value for money: {pick.player}{price}; nobody cheaper wins enough against it."
    if cost:
        price += "" if dearer < 1.1 * cost else f", {percent(cost / dearer)} of the price"
    else:
        price = ", which costs nothing"
    how = f"wins {in_words(1 - against[value.player])} against {pick.player}"
    return f"Best value for money: {value.player}{price}; it {how}."


def _price(value: Row | None, *, by_task: bool) -> str:
    if value is None or not value.cost_per_match:
        return ", for free"
    times, what = (1000, "tasks") if by_task else (100, "matches")
    return f", at {dollars(value.cost_per_match, times)} per {times:,} {what}"


def _counts(pick: Row, first: Row, ranked: Sequence[Row]) -> Iterator[str]:
    """Yield the sentence on what counts where the table, or accuracy, does not put the pick first."""
    rated = first if first.track in ("strength", "overall") and first.rating > pick.rating else pick
    right = max(ranked, key=lambda row: -1.0 if row.accuracy is None else row.accuracy)
    if right.accuracy is not None and right.accuracy > (pick.accuracy or 0.0) + 1e-9:
        leads = f"{right.player} has the highest accuracy"
        if rated == right:
            leads += " and the highest rating"
        elif rated != pick:
            leads += f" and {rated.player} the highest rating"
        yield f"{leads}; {pick.player} has the highest chance to be the best, which counts."
        return
    if first.player == pick.player or first.rating == pick.rating:
        return
    if first.track in ("strength", "overall"):
        yield (
            f"{first.player} has the highest rating, {pick.player} the highest chance to be the best, which "
            "counts."
        )
    elif first.track == "judge-aware":
        yield f"The judges' votes put {first.player} first; the results of matches count."
    else:
        yield f"{METHODS[first.track].name} puts {first.player} first; the chances from all matches count."


def _doubts(
    pick: Row, ranked: Sequence[Row], rows: Sequence[Row], flips: Flips | None, results: str
) -> Iterator[str]:
    few = [row for row in ranked if row.matches < FEW]
    if few:
        many = f"all {len(few)}" if len(few) == len(ranked) else f"{len(few)} of {len(ranked)}"
        whose = f"{few[0].player} has" if len(few) == 1 else f"{many} players have"
        yield f"{whose} fewer than {FEW} {results}"
    if flips and flips.ballots and flips.flipped > FLIPPING * flips.ballots:
        share = percent(flips.flipped / flips.ballots)
        yield f"judges changed {share} of their verdicts when the answers changed places"
    lost = [row for row in rows if row.void > max(1.0, LOST * (row.matches + row.void))]
    if lost:
        worst = max(lost, key=lambda row: (row.void / (row.matches + row.void), row.player))
        more = f", and over a tenth for {len(lost) - 1} more" if len(lost) > 1 else ""
        of = worst.matches + worst.void
        yield f"{worst.void} of {of} matches of {worst.player} came to no result{more}"


def named(names: Sequence[str]) -> str:
    """Return names in a sentence, of many the first few."""
    if len(names) <= _NAMED:
        return listed(names)
    shown = names[: _NAMED - 1]
    return f"{', '.join(shown)} and {len(names) - len(shown)} others"
