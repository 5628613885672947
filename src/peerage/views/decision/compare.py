"""Two players next to each other: who beats whom how often, on what, at what price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.blocks import Heading, Quoted, TaskText
from peerage.ledger import Summary
from peerage.ratings.accuracy import AccuracyDifference, difference
from peerage.reading.reading import Reading
from peerage.reading.results.tally import Record
from peerage.reading.scope import ScopeError
from peerage.reading.speed import NEWEST, Speed
from peerage.render.blocks import Beside, Column, Conclusion, Fold, Link, Links, Rows, ViewBlock, explained
from peerage.settings import suggest
from peerage.values.figures import begun, counted, likely, seconds, whole
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import table
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.verdict import in_words
from peerage.views.match.finder import MatchLine, line_of, notable
from peerage.views.match.finder import table as table_of
from peerage.views.match.match import answers
from peerage.views.player import dashed
from peerage.views.shown import Shown

SHARED = 10
"""Newest matches of both that are shown."""
_PROBABLY = 0.75
_BRIEF = 75


class Met(Struct, frozen=True):
    """Results of one player against the other, all, of one `game` and `topic`, or of one file (`source`) of
    outside results: in a match of many, whose score was better counts."""

    game: str
    topic: str
    source: str
    wins: int
    draws: int
    losses: int


class Comparison(Shown, frozen=True):
    """`one` against `other`, their lines of a leaderboard, and what it comes to in `lines`.

    `chance` is that of `one` to win a match, a tie being half a win, and `better` that to be the better one,
    0 to 1; `proven` names the better one where that is proven. `met` are their matches against each other,
    all in the first, then by game and topic or file, the most first. `seconds` is the median time of an
    answer of each, of so many `answers` (see `speed.speeds_of`), None where there is none. `accuracy` is by
    how much `one` is more accurate, on the tasks with a check that both answered; None without any.
    """

    lines: tuple[str, ...]
    one: Row
    other: Row
    chance: float
    better: float
    proven: str | None
    met: tuple[Met, ...]
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
            raise ScopeError(f"no result is on record of a player {name!r}{suggest(name, rows)}")
    if one == other:
        raise ScopeError(f"{one!r} is compared with itself; name two players")
    counts: dict[tuple[str, str, str], Record] = {}
    for match in matches:
        if one in match.players and other in match.players:
            ahead, behind = (match.scores[match.players.index(name)] for name in (one, other))
            for at in (("", "", ""), (match.game, match.topic, "")):
                counts.setdefault(at, Record()).add(ahead, behind)
    for file in found.files:
        if record := file.against(one).get(other):
            for at in (("", "", ""), ("", "", file.source.name)):
                counts[at] = counts.get(at, Record()) + record
    met = sorted(counts.items(), key=lambda pair: (-pair[1].matches, pair[0]))
    chances, credits, took = found.chances, found.credits.by_player, (speeds.get(one), speeds.get(other))
    here, there = (chances.of(name) for name in (one, other))
    made = Comparison(
        lines=(),
        one=rows[one],
        other=rows[other],
        chance=float(chances.wins[here, there]),
        better=float(chances.better[here, there]),
        proven=one if chances.above[here, there] else other if chances.above[there, here] else None,
        met=tuple([Met(*at, record.wins, record.draws, record.losses) for at, record in met]),
        seconds=(took[0] and took[0].seconds, took[1] and took[1].seconds),
        answers=(took[0].answers if took[0] else 0, took[1].answers if took[1] else 0),
        accuracy=difference(credits.get(one, {}), credits.get(other, {})),
    )
    return replace(made, lines=(*_in_sentences(made), *_accuracy(made)))


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


def _in_sentences(found: Comparison) -> Iterator[str]:
    one, other, better, chance = found.one.player, found.other.player, found.better, found.chance
    ahead, behind, wins = (one, other, chance) if better >= 0.5 else (other, one, 1 - chance)
    sure = likely(max(better, 1 - better))
    ties = ", a tie counted as half" if found.one.draws or found.other.draws else ""
    if found.proven:
        yield f"{ahead} is better than {behind}, which is proven."
    elif max(better, 1 - better) >= _PROBABLY:
        yield f"{ahead} is probably better than {behind} ({sure}, not proven)."
    else:
        yield f"{ahead} or {behind}: too close to call ({sure} for {ahead})."
    wins_often = f"{ahead} wins {in_words(wins)}{ties}"
    if found.met:
        met = found.met[0]
        yield (
            f"Against each other {one} won {met.wins:,}, {other} {met.losses:,}, tied {met.draws:,}; by all "
            f"that both did {wins_often}."
        )
    else:
        yield f"They never met: by what they did against others {wins_often}."


class SharedMatch(NamedTuple):
    """A match of both players: its `line`, and the answers of both, where each gave one."""

    line: MatchLine
    answers: tuple[str, str] | None


def shared(
    reading: Reading, board: Leaderboard, decided: Sequence[Summary], one: str, other: str
) -> Iterator[SharedMatch]:
    """Yield the newest of the `decided` matches in which both players sat."""
    met = [row for row in decided if one in row.players and other in row.players]
    for row in met[: -SHARED - 1 : -1]:
        match = reading.match(row.number)
        given = {match.fixture.authors[label]: text for label, text in answers(match).items()}
        both = (given[one], given[other]) if one in given and other in given else None
        yield SharedMatch(line_of(match, row, notable(row, board.chances)), both)


def compared(
    board: Leaderboard, found: Comparison, matches: Iterable[SharedMatch] = (), *, texts: bool = True
) -> Iterator[ViewBlock]:
    """Yield what a comparison comes to, both players' lines, and how they did against each other; of their
    `matches` the answers of both side by side, where `texts` are wanted, or else their lines."""
    names = (found.one.player, found.other.player)
    yield Conclusion(found.lines)
    yield Heading("Where they stand")
    yield _side_by_side(board, found)
    if not found.met:
        return
    columns = [
        Column("on", "Against each other", value=_topic),
        Column("record", f"{names[0]} – tied – {names[1]}", dashed, value=_results, draw="record"),
    ]
    yield Rows(found.met, columns, name="against each other")
    matches = [*matches]
    if read := [match for match in matches if texts and match.answers]:
        yield Heading("Prompts that both answered")
        yield from [_answers(match, names) for match in read]
    if rest := [match.line for match in matches if match not in read]:
        yield Heading("Matches of both")
        yield table_of(rest)


def _answers(match: SharedMatch, names: tuple[str, str]) -> Fold:
    """Return a match with the answers of both players side by side."""
    line, given = match.line, match.answers or ("", "")
    best = max(line.scores)
    won = [player for player, score in zip(line.players, line.scores, strict=True) if score == best]
    came = f"{won[0]} won" if len(won) == 1 else "tied"
    said = [[Quoted(name, text, prose=True)] for name, text in zip(names, given, strict=True)]
    blocks = [TaskText(line.prompt), Beside(said), Links([Link(f"Match {line.number:,}", line.to)])]
    prompt = begun(line.prompt, _BRIEF)
    return Fold(": ".join(filter(None, (came, f"“{prompt}”" if prompt else line.topic or line.game))), blocks)


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
                Column("median", "Answer", seconds, number=True, spare=1, value=lambda row: took[row.player]),
                Column(
                    "timed", "Answers", whole, number=True, spare=1, value=lambda row: of[row.player] or None
                ),
            ],
            median=f"the median time of its answers in its newest {NEWEST} matches",
            timed="how many these are",
        ),
    ]
    return replace(block, columns=columns, above=None, remarks=None, name="compared")


def _results(met: Met) -> tuple[int, int, int]:
    return met.wins, met.draws, met.losses


def _topic(met: Met) -> str:
    return met.source or met.topic or met.game or "everything"
