"""What players were asked: games and their rules, the pool of challenges, those of the newest matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from peerage.challenges.pool import STREAM, Entry, Pool
from peerage.engine.memory import learnt
from peerage.games import GAMES
from peerage.settings import rules_of
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.site.story import Story
from peerage.standings import DONE
from peerage.tables.challenges import LEAST_ATTEMPTS, ChallengeRow, rows

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


class Tried(NamedTuple):
    """A player's attempts at a challenge, and how many of them were right."""

    player: str
    solved: int
    attempts: int


class Pooled(NamedTuple):
    """A challenge of the pool, and who tried it beside its author: who solved it most often comes first."""

    row: ChallengeRow
    tried: tuple[Tried, ...]

    @property
    def answer(self) -> str:
        """The reference answer in words, whether it may be seen or not."""
        return "sealed" if self.row.reference_answer is None else str(self.row.reference_answer)

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON data for one line of a table."""
        return {
            **self.row.as_dict(),
            "flags": ", ".join(self.row.flags),
            "solved_by": [one.player for one in self.tried if one.solved],
            "failed_by": [one.player for one in self.tried if not one.solved],
        }


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
        return View("games.html", "Games", "games.html", {"games": list(games(site))})
    if path == "challenges.html":
        newest = [
            posed(story) for story in site.reader.stories(max(1, site.number - NEWEST + 1), site.number)
        ]
        return View(
            "challenges.html",
            "Challenges",
            "challenges.html",
            {
                "pool": pool(site)[: -POOLED - 1 : -1],
                "pooled": len(pool(site)),
                "newest": [one for one in reversed(newest) if one is not None],
                "authors": sorted(site.stats.authors, key=lambda one: -one.drafts),
                "topics": site.board().topics,
            },
        )
    return None


def has_pool(site: Site) -> bool:
    """Whether challenges come back in later matches of this arena."""
    return STREAM in site.moment.streams() or any(
        _pools(game) for game in {row.game for row in site.summaries}
    )


def _pools(game: str) -> bool:
    return game in GAMES and GAMES[game].stream == STREAM


@lru_cache(maxsize=1)
def pool(site: Site) -> list[Pooled]:
    """The pool in the order of acceptance; answers only where their challenge is retired."""
    if not has_pool(site):
        return []
    own = _pools(site.settings.game)
    found = Pool(rules_of(site.settings).least_attempts if own else LEAST_ATTEMPTS)
    # From what is not redacted: some flags rest on answers, and a flag decides whether a challenge is drawn.
    for _, number, facts in learnt(site.ledger, found, STREAM):
        if number <= site.number and _pools(site.summaries[number - 1].game):
            found.learn(number, facts)
    entries = found.entries
    return [Pooled(row, _tried(entries[row.challenge_id])) for row in rows(found)]


def _tried(entry: Entry) -> tuple[Tried, ...]:
    counts: dict[str, list[int]] = {}
    for attempt in entry.by_others:
        count = counts.setdefault(attempt.llm_id, [0, 0])
        count[0] += attempt.result == "correct"
        count[1] += 1
    found = [Tried(player, *count) for player, count in counts.items()]
    return tuple(sorted(found, key=lambda one: (-one.solved / one.attempts, one.player)))


def games(site: Site) -> Iterator[Played]:
    """Every game that was played, or that the arena is set to."""
    statuses: dict[str, Counter[str]] = {site.settings.game: Counter()}
    for row in site.summaries:
        statuses.setdefault(row.game, Counter())[row.status] += 1
    for name, counts in statuses.items():
        spec = GAMES.get(name)
        yield Played(
            name,
            spec.about if spec else "This game is not installed here.",
            spec.tracks if spec else (),
            counts.total(),
            counts[DONE],
            {status: count for status, count in sorted(counts.items()) if status != DONE},
            site.settings.rules if name == site.settings.game else {},
        )


def posed(story: Story) -> Posed | None:
    """The challenge of a match; None when none stood."""
    said = {step.key: step.reply for _, steps in story.groups for step in steps}
    players, outcome = story.players, story.record.outcome
    accepted = next((draft for draft in story.drafts if draft.accepted), None)
    if accepted is not None:
        texts = {stage: said.get(key, "") for stage, key in accepted.keys.items()}
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
        story.record.number,
        story.summary.topic,
        texts,
        authors,
        accepted.approval if accepted else None,
        len(story.drafts),
        tuple(results),
    )


def _result(story: Story, label: str) -> str:
    score = story.record.outcome.scores.get(label)
    if score is None:
        return story.summary.status
    shared = list(story.record.outcome.scores.values()).count(story.best) > 1
    return ("tied" if shared else "won") if score == story.best else "lost"
