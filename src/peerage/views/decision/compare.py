"""Two players next to each other: who beats whom how often, on what, at what price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from peerage.ledger import Summary
from peerage.ratings.accuracy import AccuracyDifference, difference
from peerage.reading.results.played import ScopeError
from peerage.reading.speed import Speed
from peerage.settings import suggest
from peerage.values.figures import counted, likely, per_hundred
from peerage.views.leaderboard.board import Board
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.verdict import in_words
from peerage.views.shown import Shown

SAMPLES = 3
"""Newest matches that each won."""


class Met(Struct, frozen=True):
    """Decided matches of one player against the other, all or of one `game` and `topic`: in a match of many,
    whose score was better counts."""

    game: str
    topic: str
    wins: int
    draws: int
    losses: int


class Comparison(Shown, frozen=True):
    """`one` against `other`, their lines of a leaderboard, and what it comes to in `lines`.

    `chance` is that of `one` to win a match, a tie being half a win, and `better` that to be the better one,
    0 to 1; `proven` names the better one where that is proven. `met` are their matches
    against each other, all in the first, then by game and topic, the most first. `won` and `lost` are the
    newest matches that `one` won and lost against the other. `seconds` is the median time of an answer of
    each, of so many `answers` (see `speed.speeds_of`), None where there is none. `accuracy` is by how much
    `one` is more accurate, on the tasks with a check that both answered; None without any.
    """

    lines: tuple[str, ...]
    one: Row
    other: Row
    chance: float
    better: float
    proven: str | None
    met: tuple[Met, ...]
    won: tuple[int, ...]
    lost: tuple[int, ...]
    seconds: tuple[float | None, float | None] = (None, None)
    answers: tuple[int, int] = (0, 0)
    accuracy: AccuracyDifference | None = None


def compare(
    found: Board, matches: Iterable[Summary], one: str, other: str, speeds: Mapping[str, Speed] = {}
) -> Comparison:
    """Two players of a leaderboard, and of its decided `matches` those in which both sat; `speeds` are
    everybody's. Raises ScopeError for a player who has none, and where both are the
    same."""
    ranked = [row for row in found.rows if row.rank is not None]
    rows = {row.player: row for row in ranked}
    for name in (one, other):
        if name not in rows:
            raise ScopeError(f"no match is on record of a player {name!r}{suggest(name, rows)}")
    if one == other:
        raise ScopeError(f"{one!r} is compared with itself; name two players")
    counts: dict[tuple[str, str], list[int]] = {}
    numbers: tuple[list[int], list[int], list[int]] = ([], [], [])
    for match in matches:
        if one in match.players and other in match.players:
            mine, theirs = (match.scores[match.players.index(name)] for name in (one, other))
            result = 0 if mine > theirs else 1 if mine == theirs else 2
            numbers[result].append(match.number)
            for at in (("", ""), (match.game, match.topic)):
                counts.setdefault(at, [0, 0, 0])[result] += 1
    met = sorted(counts.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    first, second, took = rows[one], rows[other], (speeds.get(one), speeds.get(other))
    here, there = (found.chances.of(name) for name in (one, other))
    chance, better = float(found.chances.wins[here, there]), float(found.chances.better[here, there])
    above = found.chances.above
    credits = found.credits.by_player
    checked = difference(credits.get(one, {}), credits.get(other, {}))
    proven = one if above[here, there] else other if above[there, here] else None
    return Comparison(
        lines=(
            *_in_sentences(found, first, second, chance, better, proven, counts.get(("", ""))),
            *_accuracy(first, second, checked),
        ),
        one=first,
        other=second,
        chance=chance,
        better=better,
        proven=proven,
        met=tuple([Met(*at, *results) for at, results in met]),
        won=tuple(numbers[0][: -SAMPLES - 1 : -1]),
        lost=tuple(numbers[2][: -SAMPLES - 1 : -1]),
        seconds=(took[0] and took[0].seconds, took[1] and took[1].seconds),
        answers=(took[0].answers if took[0] else 0, took[1].answers if took[1] else 0),
        accuracy=checked,
    )


def _accuracy(one: Row, other: Row, checked: AccuracyDifference | None) -> Iterable[str]:
    """Yield the sentence on who is more accurate."""
    if checked is None:
        return
    ahead, behind, sign = (one, other, 1) if checked.difference >= 0 else (other, one, -1)
    bounds = sorted([100 * sign * checked.lower, 100 * sign * checked.upper])
    between = f"95%: {bounds[0]:+.1f} to {bounds[1]:+.1f}".replace("-", "−")
    on = f"on the {counted(checked.tasks, 'task')} that both answered"
    gap = abs(100 * checked.difference)
    if gap < 0.05:
        yield f"{one.player} and {other.player} are equally accurate {on} ({between} percentage points)."
        return
    sure = "" if bounds[0] > 0 else ", which may be chance"
    yield (
        f"{ahead.player} is more accurate than {behind.player} by {gap:.1f} percentage points {on} "
        f"({between}){sure}."
    )


def _in_sentences(
    found: Board,
    one: Row,
    other: Row,
    chance: float,
    better: float,
    proven: str | None,
    met: list[int] | None,
) -> Iterable[str]:
    ahead, behind, wins = (one, other, chance) if better >= 0.5 else (other, one, 1 - chance)
    known = "that is proven" if proven else "that is not proven"
    ties = ", a tie counted as half" if one.draws or other.draws else ""
    yield (
        f"{ahead.player} is better ({likely(max(better, 1 - better))}; {known}): it wins {in_words(wins)} "
        f"against {behind.player}{ties}."
    )
    if met:
        won, tied, lost = met
        yield (
            f"Against each other {one.player} won {won:,}, {other.player} {lost:,}, and {tied:,} "
            f"{'was' if tied == 1 else 'were'} tied; "
            "the chances count what they did against others too."
        )
    else:
        yield "They never met: the chances compare them by what they did against others."
    if found.in_dollars and (one.cost_per_match or other.cost_per_match):
        each = [f"{row.player} {per_hundred(row.cost_per_match)}" for row in (one, other)]
        yield f"100 matches of a player's own play cost, without judging: {', '.join(each)}."
