"""Two players next to each other: who beats whom how often, on what, at what price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from peerage.ledger import Summary
from peerage.ratings.accuracy import AccuracyDifference, difference
from peerage.reading.scope import ScopeError
from peerage.reading.speed import NEWEST, Speed
from peerage.render.blocks import Column, Conclusion, Rows, ViewBlock, explained
from peerage.settings import suggest
from peerage.values.figures import counted, likely, per_hundred, seconds, shortened, whole
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import table
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
    found: Leaderboard, matches: Iterable[Summary], one: str, other: str, speeds: Mapping[str, Speed] = {}
) -> Comparison:
    """Two players of a leaderboard, and of its decided `matches` those in which both sat; `speeds` are
    everybody's. Raises ScopeError for a player who has none, and where both are the same."""
    rows = {row.player: row for row in found.rows if row.rank is not None}
    for name in (one, other):
        if name not in rows:
            raise ScopeError(f"no match is on record of a player {name!r}{suggest(name, rows)}")
    if one == other:
        raise ScopeError(f"{one!r} is compared with itself; name two players")
    counts: dict[tuple[str, str], list[int]] = {}
    numbers: tuple[list[int], list[int], list[int]] = ([], [], [])
    for match in matches:
        if one in match.players and other in match.players:
            ahead, behind = (match.scores[match.players.index(name)] for name in (one, other))
            result = 0 if ahead > behind else 1 if ahead == behind else 2
            numbers[result].append(match.number)
            for at in (("", ""), (match.game, match.topic)):
                counts.setdefault(at, [0, 0, 0])[result] += 1
    met = sorted(counts.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    chances, credits, took = found.chances, found.credits.by_player, (speeds.get(one), speeds.get(other))
    here, there = (chances.of(name) for name in (one, other))
    made = Comparison(
        lines=(),
        one=rows[one],
        other=rows[other],
        chance=float(chances.wins[here, there]),
        better=float(chances.better[here, there]),
        proven=one if chances.above[here, there] else other if chances.above[there, here] else None,
        met=tuple([Met(*at, *results) for at, results in met]),
        won=tuple(numbers[0][: -SAMPLES - 1 : -1]),
        lost=tuple(numbers[2][: -SAMPLES - 1 : -1]),
        seconds=(took[0] and took[0].seconds, took[1] and took[1].seconds),
        answers=(took[0].answers if took[0] else 0, took[1].answers if took[1] else 0),
        accuracy=difference(credits.get(one, {}), credits.get(other, {})),
    )
    return replace(made, lines=(*_in_sentences(made, found), *_accuracy(made)))


def _accuracy(found: Comparison) -> Iterator[str]:
    """Yield the sentence on who is more accurate."""
    checked, names = found.accuracy, (found.one.player, found.other.player)
    if checked is None:
        return
    (ahead, behind), sign = (names, 1) if checked.difference >= 0 else (names[::-1], -1)
    bounds = sorted([100 * sign * checked.lower, 100 * sign * checked.upper])
    between = f"95%: {bounds[0]:+.1f} to {bounds[1]:+.1f}".replace("-", "−")
    on = f"on the {counted(checked.tasks, 'task')} that both answered"
    gap = abs(100 * checked.difference)
    if gap < 0.05:
        yield f"{names[0]} and {names[1]} are equally accurate {on} ({between} percentage points)."
        return
    sure = "" if bounds[0] > 0 else ", which may be chance"
    yield f"{ahead} is more accurate than {behind} by {gap:.1f} percentage points {on} ({between}){sure}."


def _in_sentences(found: Comparison, board: Leaderboard) -> Iterator[str]:
    one, other, better, chance = found.one.player, found.other.player, found.better, found.chance
    ahead, behind, wins = (one, other, chance) if better >= 0.5 else (other, one, 1 - chance)
    known = "that is proven" if found.proven else "that is not proven"
    ties = ", a tie counted as half" if found.one.draws or found.other.draws else ""
    yield (
        f"{ahead} is better ({likely(max(better, 1 - better))}; {known}): it wins {in_words(wins)} "
        f"against {behind}{ties}."
    )
    if found.met:
        met = found.met[0]
        yield (
            f"Against each other {one} won {met.wins:,}, {other} {met.losses:,}, and {met.draws:,} "
            f"{'was' if met.draws == 1 else 'were'} tied; "
            "the chances count what they did against others too."
        )
    else:
        yield "They never met: the chances compare them by what they did against others."
    if board.in_dollars and (found.one.cost_per_match or found.other.cost_per_match):
        each = [f"{row.player} {per_hundred(row.cost_per_match)}" for row in (found.one, found.other)]
        yield f"100 matches of a player's own play cost, without judging: {', '.join(each)}."


def compared(board: Leaderboard, found: Comparison) -> Iterator[ViewBlock]:
    """Yield what a comparison comes to, both players' lines, and how they did against each other."""
    names = (found.one.player, found.other.player)
    yield Conclusion(found.lines)
    yield _side_by_side(board, found)
    if not found.met:
        return
    short = shortened(names, 18)
    columns = [
        Column("on", "Against each other", value=_topic),
        Column("wins", short[names[0]], whole, number=True),
        Column("draws", "Tied", whole, number=True),
        Column("losses", short[names[1]], whole, number=True),
    ]
    yield Rows(found.met, columns, name="against each other")
    won = [(number, name) for name, of in zip(names, (found.won, found.lost), strict=True) for number in of]
    columns = [
        Column(
            "match", "Match", value=lambda row: f"match {row[0]:,}", link=lambda row: ("match", str(row[0]))
        ),
        Column("winner", "Won by", value=lambda row: row[1]),
    ]
    yield Rows(won, columns, title="The last that each of them won", name="won")


def _side_by_side(board: Leaderboard, found: Comparison) -> Rows:
    both, names = (found.one, found.other), (found.one.player, found.other.player)
    block = table(replace(board, rows=both))
    took = dict(zip(names, found.seconds, strict=True))
    of = dict(zip(names, found.answers, strict=True))
    left_out = ("bin", "tier", "above", "weights", "void", "cost_usd", "possibly_usd")
    columns = [
        *[column for column in block.columns if column.key not in left_out],
        *explained(
            [
                Column("took", "Answer", seconds, number=True, spare=1, value=lambda row: took[row.player]),
                Column("answers", "Answers", whole, number=True, spare=1, value=lambda row: of[row.player]),
            ],
            took=f"the median time of its answers in its newest {NEWEST} matches",
            answers="how many these are",
        ),
    ]
    return replace(block, columns=columns, above=None, remarks=None, name="compared")


def _topic(met: Met) -> str:
    return met.topic or met.game or "everything"
