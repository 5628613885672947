"""Matches by game, topic, what is notable about them, and the words of their prompts and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.blocks import Target
from peerage.game.match import DONE
from peerage.game.media import worded
from peerage.judging.panels.panel import ABSTAIN, TIE
from peerage.ledger import Summary
from peerage.reading.match import Match
from peerage.reading.reading import Reading
from peerage.render.blocks import Column, Rows, Small, explained, numbers
from peerage.values.figures import begun, counted, dollars, listed, moment, when, whole
from peerage.views.leaderboard.chances import Chances
from peerage.views.match.match import tasks
from peerage.views.player import met, placed_in
from peerage.views.shown import Shown

NOTABLE = {
    "upset": "the winner had less than one chance in three",
    "split": "judges preferred different answers",
    "flipped": "a verdict changed with the order of the answers",
    "tied": "nobody won",
    "undecided": "a provider failed, or no verdict came about",
}
"""The notable kinds of matches, and their meaning."""
READ_FOR = ("split", "flipped")
"""The kinds for which a match has to be read whole."""
MOST, LISTED = 50, 20
"""Matches on one page, and in one list of a terminal."""
MOST_TEXT = 200
"""Characters of a search; the rest of it is left out."""
SEARCH_S = 2.0
"""A search reads matches for no longer (seconds)."""
UPSET = 1 / 3
BLOCK = 50
"""Matches that a search reads at once."""
NAMED = 3
"""Players of a match of many that its line names."""
PROMPT_CHARS, SHORT = 160, 60
"""Characters of a prompt in a line, and of one in a terminal."""
_SPOKEN = ("contestant", "author")
"""Roles whose words are prompts or answers."""


class MatchFilter(Struct, frozen=True):
    """Matches of one `game` and `topic`, `only` those notable for something; of those the ones that hold all
    words of `text` in names, topic, prompts or answers, in any case, what stands in quotes together. `before`
    is a place in the order of matches: only earlier ones; 0 begins at the newest."""

    text: str = ""
    game: str = ""
    topic: str = ""
    only: str = ""
    before: int = 0

    @property
    def words(self) -> list[str]:
        """Return what a match has to hold."""
        found = re.findall(r'"([^"]+)"|([^\s"]+)', self.text[:MOST_TEXT].casefold())
        return [" ".join((phrase or word).split()) for phrase, word in found]


class MatchLine(Shown, frozen=True):
    """A finished match in one line.

    `result` says who met and who won, `prompt` is the beginning of what was asked. `votes` are those of
    judges: `first` for the answer of whom `result` names first, `other`, `tie` or `abstain`. `notable` are
    some of `NOTABLE`.
    """

    number: int
    game: str
    topic: str
    status: str
    players: tuple[str, ...]
    scores: tuple[float, ...]
    result: str
    cost_usd: float | None
    at_ms: int
    prompt: str
    votes: tuple[str, ...]
    notable: tuple[str, ...]

    @property
    def to(self) -> Target:
        """Return what a link to it leads to."""
        return "match", str(self.number)


class FoundMatches(Struct, frozen=True):
    """Matches that a filter lets pass, the newest first. `older` is the place before which more may be, 0
    where there are none; `searched` counts the matches that were looked at."""

    lines: Sequence[MatchLine]
    older: int
    searched: int


def find(
    reading: Reading,
    rows: Sequence[Summary],
    chances: Chances,
    wanted: MatchFilter,
    most: int = MOST,
    now: Callable[[], float] = monotonic,
) -> FoundMatches:
    """Return the newest matches among `rows`, all of a reading in their order, that a filter lets pass: at
    most so many, and those that `SEARCH_S` seconds of reading find."""
    lines: list[MatchLine] = []
    began, words = now(), wanted.words
    end = min(wanted.before - 1, len(rows)) if wanted.before else len(rows)
    for last in range(end, 0, -BLOCK):
        if now() - began > SEARCH_S:
            return FoundMatches(lines, last + 1, end - last)
        first = max(1, last - BLOCK + 1)
        plain = {
            place: notable(row, chances)
            for place, row in enumerate(rows[first - 1 : last], first)
            if wanted.game in ("", row.game) and wanted.topic in ("", row.topic)
        }
        picked = [
            place for place, names in plain.items() if not wanted.only or wanted.only in (*names, *READ_FOR)
        ]
        for place, match in _read(reading, rows, first, last, picked):
            line = line_of(match, rows[place - 1], plain[place])
            if (not wanted.only or wanted.only in line.notable) and holds(match, line, words):
                lines.append(line)
                if len(lines) == most:
                    return FoundMatches(lines, place if place > 1 else 0, end - place + 1)
    return FoundMatches(lines, 0, end)


def _read(
    reading: Reading, rows: Sequence[Summary], first: int, last: int, picked: Sequence[int]
) -> Iterator[tuple[int, Match]]:
    """Yield the matches at the places `picked` of first..last, the newest first; many are read at once."""
    if len(picked) * 5 <= max(5, last - first):
        yield from [(place, reading.match(rows[place - 1].number)) for place in reversed(picked)]
        return
    matches = dict(enumerate(reading.matches(first, last), first))
    yield from [(place, matches[place]) for place in reversed(picked)]


def line_of(match: Match, row: Summary, plain: Sequence[str]) -> MatchLine:
    """Return a match in one line; `plain` is what its row says is notable."""
    first = placed_in(row.players, row.scores)[0][1] if row.players else ""
    votes = [_vote(ballot.vote, match, first) for ballot in match.ballots]
    split = ["split"] * ({"first", "other"} <= {*votes})
    flipped = ["flipped"] * any(ballot.flipped for ballot in match.ballots)
    return replace(
        line_of_row(row, (*plain, *split, *flipped)),
        prompt=begun(worded(next(iter(tasks(match.blocks).values()), "")), PROMPT_CHARS),
        votes=tuple(votes),
    )


def line_of_row(row: Summary, names: Sequence[str]) -> MatchLine:
    """Return a match in one line without reading it; `names` are what is notable about it."""
    return MatchLine(
        number=row.number,
        game=row.game,
        topic=row.topic,
        status=row.status,
        players=row.players,
        scores=row.scores,
        result=met(row, NAMED),
        cost_usd=row.cost_usd,
        at_ms=row.at_ms,
        prompt="",
        votes=(),
        notable=tuple(names),
    )


def _vote(vote: str, match: Match, first: str) -> str:
    if vote in (TIE, ABSTAIN):
        return vote
    return "first" if (match.players | match.fixture.authors).get(vote) == first else "other"


def notable(row: Summary, chances: Chances) -> tuple[str, ...]:
    """Return what is notable about a match by its players and scores alone."""
    if row.status != DONE:
        return ("undecided",)
    best = max(row.scores, default=0.0)
    winners = [player for player, score in zip(row.players, row.scores, strict=True) if score == best]
    if len(winners) > 1:
        return ("tied",)
    return ("upset",) * bool(winners and expected(row, winners[0], chances) < UPSET)


def expected(row: Summary, winner: str, chances: Chances) -> float:
    """Return the least chance that the winner of a match had against any of the others; 1 where it is not
    known."""
    others = [name for name in row.players if name != winner and name in chances.players]
    if winner not in chances.players:
        return 1.0
    of = chances.wins[chances.of(winner)]
    return min([float(of[chances.of(name)]) for name in others], default=1.0)


def telling(rows: Iterable[Summary], chances: Chances) -> tuple[int, str]:
    """Return the match that tells most by its players and scores, and why: the newest upset, or that of the
    two best players, or the newest; 0 where none is decided."""
    best = {chances.players[place] for place in chances.best.argsort()[-2:].tolist()}
    found = {"": 0}
    for row in rows:
        if row.status == DONE:
            upset = "upset" in notable(row, chances)
            why = "an upset" if upset else "the two best meet" if best <= {*row.players} else "the newest"
            found[why] = row.number
    why = next((why for why in ("an upset", "the two best meet", "the newest") if why in found), "")
    return found[why], why


def holds(match: Match, line: MatchLine, words: Iterable[str]) -> bool:
    """Return whether a match holds all words in its names, topic, prompts or answers."""
    missing = [*words]
    for text in _texts(match, line):
        if not missing:
            return True
        there = " ".join(text.casefold().split())
        missing = [word for word in missing if word not in there]
    return not missing


def _texts(match: Match, line: MatchLine) -> Iterator[str]:
    yield f"{line.game} {line.topic} {' '.join(line.players)}"
    yield from (step.stored.words for step in match.steps if step.stored and step.role in _SPOKEN)
    yield from map(worded, tasks(match.blocks).values())


_MARKS = {"first": "●", "other": "○", "tie": "◐", "abstain": "·"}


def table(lines: Sequence[MatchLine], now_ms: int | None = None, kept: str = "") -> Rows:
    """Return matches as rows; with `now_ms` (Unix milliseconds) those of this day are said to be today's.
    Their addresses have a query that is `kept`."""
    several = len({line.game for line in lines}) > 1
    voted = any(line.votes for line in lines)
    columns = [
        *numbers(whole, number="# ~1"),
        *[Column(key, key, pick="value", shown=False) for key in ("game", "topic")],
        Column("only", "only", value=lambda row: " ".join(row.notable), pick="value", shown=False),
        Column("names", "names", value=lambda row: " ".join(row.players), pick="value", shown=False),
        Column("result", "Players and result", link=lambda row: (row.to[0], row.to[1] + kept), small=_prompt),
        Column("prompt", "Prompt", partial(begun, most=SHORT), spare=2, page=False, quoted=True),
        *[
            Column("panel", "Judges", value=_marks, tip=_votes, small=_notable),
            Column("notable", "Notable", ", ".join, page=False),
        ]
        * voted,
        *[Column("panel", "Notable", ", ".join, value=lambda row: row.notable)]
        * (not voted and any(line.notable for line in lines)),
        *[Column("part", "Game" if several else "Topic", spare=1, value=partial(_part, several))]
        * any(_part(several, line) for line in lines),
        *numbers(dollars, cost_usd="Cost ~3"),
        Column(
            "at_ms", "When", lambda at_ms: when(at_ms, now_ms), spare=1, tip=lambda row: moment(row.at_ms)
        ),
    ]
    hint = "● for the winner's answer, ○ for another, ◐ a tie or flipped with the order"
    hints = {"panel": hint} if voted else {}
    return Rows(lines, explained(columns, **hints), name="matches", sorts=False)


def _prompt(row: MatchLine) -> Iterator[Small]:
    if row.prompt:
        yield Small(row.prompt, quoted=True)


def _marks(row: MatchLine) -> str:
    return "".join([_MARKS[vote] for vote in row.votes])


def _notable(row: MatchLine) -> Iterator[Small]:
    yield from [Small(", ".join(row.notable))] * bool(row.notable)


def _part(several: bool, row: MatchLine) -> str:
    return ": ".join(filter(None, (row.game * several, row.topic)))


def _votes(row: MatchLine) -> str:
    words = {"first": "for the winner", "other": "for another", "tie": "tied", "abstain": "no vote"}
    return listed([f"{row.votes.count(vote)} {said}" for vote, said in words.items() if vote in row.votes])


def headline(rows: Sequence[Summary], chances: Chances) -> str:
    """Return how many matches there are, and how many of them are notable."""
    if not rows:
        return "No match has been played yet."
    found = [name for row in rows for name in notable(row, chances)]
    many = [
        counted(found.count(name), one, several)
        for name, one, several in (
            ("upset", "upset", ""),
            ("tied", "tie", ""),
            ("undecided", "undecided", "undecided"),
        )
        if name in found
    ]
    return f"{counted(len(rows), 'match')}{': ' * bool(many)}{listed(many)}"


def outcome(found: FoundMatches, wanted: MatchFilter) -> str:
    """Return what a search came to, and what to do where it found nothing; empty where nothing was asked."""
    if not (wanted.text or wanted.game or wanted.topic or wanted.only):
        return ""
    if found.lines:
        among = f" among the newest {found.searched:,}" if found.older else ""
        return f"{counted(len(found.lines), 'match fits', 'matches fit')}{among}."
    if found.older:
        return f"None of {found.searched:,} matches fits so far. Search older ones, or try fewer words."
    return "No match fits. Try fewer words or another topic, or clear a filter."
