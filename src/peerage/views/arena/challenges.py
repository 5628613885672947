"""Challenges: who wrote what, the pool, and what was asked in the newest matches."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from peerage.game.blocks import Heading, ScoreLine, Sentence, TaskText
from peerage.reading.match import Match
from peerage.render.blocks import (
    Fold,
    Link,
    Links,
    ViewBlock,
)
from peerage.values.figures import percent
from peerage.views.arena.tables import ArenaTables
from peerage.views.challenges import ChallengeRow, table
from peerage.views.match.match import tasks
from peerage.views.stats.officials import authors

NEWEST = 60
"""Challenges of so many of the newest matches are shown."""

POOLED = 500
"""Challenges of the pool on the page, the newest first; all of them are in the file to download."""

POOL = (
    "The pool holds the challenges that were accepted; later matches ask them again. Difficulty is on the "
    "scale of the players' skill (two-parameter logistic model, 0 in the middle), with its standard error; "
    "discrimination says how sharply a challenge separates the skilled from the unskilled. Attempts by the "
    "author are not counted. Answers stay sealed until a challenge is retired."
)


def challenges(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield authors, the pool, and what was asked in the newest matches."""
    yield Heading("Challenges", 1)
    if arena.stats.authors:
        yield authors(arena.stats.authors)
    if pool := arena.pool[: -POOLED - 1 : -1]:
        yield Heading("The pool")
        of = f" The newest {len(pool):,} of {len(arena.pool):,}." if len(arena.pool) > len(pool) else ""
        yield Sentence(f"{POOL}{of}", "quiet")
        yield Links([Link("All as CSV", ("file", "data/challenges.csv"))])
        yield table(pool)
        yield from map(_pooled, pool)
    newest = arena.matches(max(1, arena.number - NEWEST + 1), arena.number)
    shown = [_told(match, asked) for match in newest if (asked := posed(match))][::-1]
    if shown or not pool:
        yield Heading("Of the newest matches")
    for one in shown:
        yield from one
    if not (shown or pool):
        yield Sentence("None yet.")


def _pooled(row: ChallengeRow) -> Fold:
    """Return what is known of a challenge beside its line of the pool."""
    about = [f"proof: {row.proof}"]
    if row.discrimination is not None:
        about.append(f"discrimination {row.discrimination:.2f} ± {row.discrimination_error:.2f}")
    if row.own_solved is not None:
        about.append(f"its author solved {percent(row.own_solved)}")
    about += [f"{one.by}: {', '.join(filter(None, (one.verdict, one.reason)))}" for one in row.reviews]
    for title, some in (
        ("solved", [one for one in row.tried if one.solved]),
        ("not solved", [one for one in row.tried if not one.solved]),
    ):
        names = [one.player + f" {one.solved} of {one.attempts} times" * (one.attempts > 1) for one in some]
        about += [f"{title} by {', '.join(names)}"] * bool(names)
    where = Heading(f"Accepted in match {row.match:,}", 3, ("match", str(row.match)))
    blocks: list[ViewBlock] = [
        where if row.match else Heading("Imported", 3),
        TaskText(row.description, prose=True),
    ]
    blocks.append(Sentence(" · ".join(about), "quiet"))
    return Fold(f"`{row.challenge_id[:8]}` by {row.author_llm}", blocks)


class AskedChallenge(Struct, frozen=True):
    """What was asked in one match: `texts` by stage, the `authors` who wrote them (none of a prompt of your
    own), the committee's `approval`, and how the match came out, `scores` by player."""

    match: int
    game: str
    topic: str
    texts: dict[str, str]
    authors: dict[str, str]
    approval: float | None
    status: str
    scores: dict[str, float]


def posed(match: Match) -> AskedChallenge | None:
    """Return what was asked in a match; None when no challenge stood."""
    texts = tasks(match.blocks)
    if not texts:
        return None
    draft = next((draft for draft in match.drafts if draft.accepted), None)
    return AskedChallenge(
        match=match.number,
        game=match.fixture.game,
        topic=match.fixture.topic,
        texts=texts,
        authors={
            block.name or "task": ", ".join([match.players[label] for label in block.by])
            for block in match.blocks
            if isinstance(block, TaskText) and block.by
        },
        approval=draft.approval if draft else None,
        status=match.status,
        scores={match.players[label]: score for label, score in match.outcome.scores.items()},
    )


def _told(match: Match, asked: AskedChallenge) -> list[ViewBlock]:
    """Return a challenge, who wrote it, and what became of contestants."""
    lines = {block.label: block.why for block in match.blocks if isinstance(block, ScoreLine)}
    by = f"by {' and '.join(dict.fromkeys(asked.authors.values()))}" if asked.authors else ""
    if by and asked.approval is not None:
        by += f", approved by {percent(asked.approval)} of the committee"
    if by and len(match.drafts) > 1:
        by += f", after {len(match.drafts)} drafts"
    results = [
        f"{seat.player}: {', '.join(filter(None, (_result(match, seat.label), lines.get(seat.label))))}"
        for seat in match.contestants
    ]
    topic = f", {asked.topic}" if asked.topic else ""
    return [
        Heading(f"Match {asked.match}{topic}", 3, ("match", str(asked.match))),
        *map(TaskText, asked.texts.values()),
        Sentence(" · ".join(filter(None, (by, *results))), "quiet"),
    ]


def _result(match: Match, label: str) -> str:
    scores = match.outcome.scores
    score = scores.get(label)
    if score is None:
        return match.status
    shared = list(scores.values()).count(match.best) > 1
    return ("tied" if shared else "won") if score == match.best else "lost"
