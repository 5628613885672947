"""What players were asked: games and their rules, the pool of challenges, those of the newest matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from peerage.games import GAMES
from peerage.site.leaderboards import NAMES
from peerage.site.method import stated_rules
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.site.story import Story
from peerage.standings import DONE

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
            posed(story) for story in site.reader.stories(max(1, site.number - NEWEST + 1), site.number)
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
        spec = GAMES.get(name)
        yield Played(
            name,
            spec.about if spec else "This game is not installed here.",
            spec.tracks if spec else (),
            sum(counts.values()),
            counts.get(DONE, 0),
            {status: count for status, count in sorted(counts.items()) if status != DONE},
            stated_rules(site.settings) if name == site.settings.game else {},
        )


def posed(story: Story) -> Posed | None:
    """The challenge of a match; None when none stood."""
    match, steps = story.match, story.steps
    players, outcome = match.players, match.record.outcome
    accepted = next((draft for draft in match.drafts if draft.accepted), None)
    if accepted is not None:
        texts = {stage: steps[key].reply if key in steps else "" for stage, key in accepted.keys.items()}
        authors = tuple(dict.fromkeys(players[label] for label in accepted.authors.values()))
    else:
        texts, authors = ({"task": story.task} if story.task else {}), ()
    if not texts:
        return None
    programs = outcome.detail.get("programs", {})
    results = [
        (
            seat.player,
            str(programs[seat.label]["result"]) if seat.label in programs else _result(story, seat.label),
        )
        for seat in story.contestants
    ]
    return Posed(
        story.number,
        match.summary.topic,
        texts,
        authors,
        accepted.approval if accepted else None,
        len(match.drafts),
        tuple(results),
    )


def _result(story: Story, label: str) -> str:
    scores = story.match.record.outcome.scores
    score = scores.get(label)
    if score is None:
        return story.match.summary.status
    shared = list(scores.values()).count(story.best) > 1
    return ("tied" if shared else "won") if score == story.best else "lost"
