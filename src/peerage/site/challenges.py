"""What players were asked: games and their rules, the pool of challenges, those of the newest matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from peerage.blocks import ScoreLine, Task
from peerage.games import installed
from peerage.site.leaderboards import NAMES
from peerage.site.method import stated_rules
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.standings import DONE
from peerage.tables.match_view import tasks
from peerage.tables.matches import Match

NEWEST = 60
POOLED = 500
"""Challenges of the pool on the page, the newest first; all of them are in the file to download."""


class Posed(NamedTuple):
    """A challenge as it was posed in match `number`.

    `texts` are by stage; `authors` wrote them, empty for what was drawn or given; `approval` is the share of
    the committee that approved, `drafts` how many were written. `results` tell what became of each
    contestant.
    """

    number: int
    topic: str
    texts: dict[str, str]
    authors: tuple[str, ...]
    approval: float | None
    drafts: int
    results: tuple[tuple[str, str], ...]


class Played(NamedTuple):
    """A game as this arena plays it; `voids` count void matches by reason."""

    name: str
    about: str
    tracks: tuple[str, ...]
    matches: int
    decided: int
    voids: dict[str, int]
    rules: dict[str, Any]


def paths(site: Site) -> Iterator[str]:
    yield from ("games.html", "challenges.html")


def view(site: Site, path: str) -> View | None:
    if path == "games.html":
        return View("games.html", "Games", "games.html", {"games": list(games(site)), "names": NAMES})
    if path == "challenges.html":
        newest = [
            posed(match) for match in site.reader.matches(max(1, site.number - NEWEST + 1), site.number)
        ]
        return View(
            "challenges.html",
            "Challenges",
            "challenges.html",
            {
                "pool": site.pool[: -POOLED - 1 : -1],
                "pooled": len(site.pool),
                "newest": [one for one in reversed(newest) if one is not None],
                "authors": sorted(site.stats.authors, key=lambda one: -one.drafts),
                "topics": site.board().topics,
            },
        )
    return None


def games(site: Site) -> Iterator[Played]:
    """Every game that was played, or that the arena is set to."""
    unplayed: dict[str, dict[str, int]] = {site.settings.game: {}}
    for name, counts in (unplayed | site.tally.games).items():
        spec = installed(name)
        yield Played(
            name,
            spec.about if spec else "This game is not installed here.",
            spec.tracks if spec else (),
            sum(counts.values()),
            counts.get(DONE, 0),
            {status: count for status, count in sorted(counts.items()) if status != DONE},
            stated_rules(site.settings) if name == site.settings.game else {},
        )


def posed(match: Match) -> Posed | None:
    """The challenge of a match; None when none stood."""
    texts = tasks(match.blocks)
    if not texts:
        return None
    written = [block for block in match.blocks if isinstance(block, Task)]
    accepted = next((draft for draft in match.drafts if draft.accepted), None)
    lines = {block.label: block.why for block in match.blocks if isinstance(block, ScoreLine)}
    return Posed(
        match.number,
        match.fixture.topic,
        texts,
        tuple(dict.fromkeys(match.players[label] for block in written for label in block.by)),
        accepted.approval if accepted else None,
        len(match.drafts),
        tuple(
            [
                (seat.player, ": ".join(filter(None, (_result(match, seat.label), lines.get(seat.label)))))
                for seat in match.contestants
            ]
        ),
    )


def _result(match: Match, label: str) -> str:
    scores = match.outcome.scores
    score = scores.get(label)
    if score is None:
        return match.status
    shared = list(scores.values()).count(match.best) > 1
    return ("tied" if shared else "won") if score == match.best else "lost"
