"""Challenges: who wrote what, the pool, and what was asked in the newest matches."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from peerage.game.blocks import Heading, Sentence, TaskText
from peerage.game.media import Media, media_in, worded
from peerage.reading.match import Match, in_words
from peerage.render.blocks import ChoiceForm, Column, Fold, Link, Links, Rows, Section, Small, ViewBlock
from peerage.values.figures import begun, counted, listed, percent
from peerage.views.arena.tables import ArenaTables
from peerage.views.challenges import ChallengeRow, table
from peerage.views.match.match import tasks
from peerage.views.stats.officials import authors

NEWEST, LOOKED = 20, 60
"""Challenges in a table, of so many of the newest matches."""

SHOWN = 110
"""Characters of a challenge in a table."""

POOLED = 500
"""Challenges of the pool on the page, the newest first; all of them are in the file to download."""

POOL = (
    "The pool holds the challenges that were accepted; later matches ask them again. Difficulty is on the "
    "scale of the players' skill (two-parameter logistic model, 0 in the middle), with its standard error; "
    "discrimination says how sharply a challenge separates the skilled from the unskilled. Attempts by the "
    "author are not counted. Answers stay sealed until a challenge is retired."
)


def challenges(arena: ArenaTables) -> Iterator[ViewBlock]:
    """Yield which challenges tell most, the pool, what was asked in the newest matches, and who wrote it."""
    pool = arena.pool[: -POOLED - 1 : -1]
    newest = arena.matches(max(1, arena.number - LOOKED + 1), arena.number)
    asked = [challenge for match in newest if (challenge := posed(match))][: -NEWEST - 1 : -1]
    yield Heading(_headline(arena), 1)
    if not (asked or pool):
        yield Sentence("None yet.")
        return
    yield ChoiceForm(
        ("view", "matches.html"), [("q", "Search what was asked and answered", (), "")], "Search"
    )
    if pool:
        of = f"The newest {len(pool):,} of {len(arena.pool):,}." if len(arena.pool) > len(pool) else ""
        yield Heading("The pool", notes=(POOL, *[of] * bool(of)))
        yield table(pool[:NEWEST])
        yield Fold(
            f"All {len(pool):,} with their texts, and who solved them",
            [*[table(pool)] * (len(pool) > NEWEST), *map(_pooled, pool)],
        )
        yield Links([Link("All as CSV", ("file", "data/challenges.csv"))])
    if asked:
        yield Heading("Asked in the newest matches")
        yield Section("matches", [Rows(asked, ASKED, name="asked", sorts=False)])
    if arena.stats.authors:
        yield Fold("Who wrote challenges", [authors(arena.stats.authors)])


def _headline(arena: ArenaTables) -> str:
    """Return which challenges tell most and least, in numbers where there are some."""
    solved = [row.solved for row in arena.pool if row.solved is not None]
    if solved:
        ends = f"the hardest solved by {percent(min(solved))}, the easiest by {percent(max(solved))}"
        return f"{counted(len(arena.pool), 'challenge')}: {ends}"
    known = [row for row in arena.judges.challenges if row.kind == "topic" and row.tell is not None]
    if len(known) < 2:
        return f"What was asked in {counted(arena.number, 'match')}"
    known.sort(key=lambda row: row.tell or 0.0)
    best, worst = known[-1], known[0]
    if (best.tell_lower or 0.0) <= (worst.tell_upper or 0.0):
        return f"Challenges on all {len(known)} topics tell players apart alike"
    told = f"{best.name} tell players apart best ({best.tell:.2f})"
    return f"Challenges on {told}, on {worst.name} worst ({worst.tell:.2f})"


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
    own), the committee's `approval`, and how the match came out, `scores` by player. `media` are the
    pictures and sounds in the texts."""

    match: int
    game: str
    topic: str
    texts: dict[str, str]
    authors: dict[str, str]
    approval: float | None
    status: str
    scores: dict[str, float]
    media: tuple[Media, ...] = ()


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
        media=tuple(media_in(texts.values()).values()),
    )


def _result(asked: AskedChallenge) -> str:
    """Return who won, in a word where nobody did."""
    if not asked.scores:
        return in_words(asked.status)
    best = max(asked.scores.values())
    won = [player for player, score in asked.scores.items() if score == best]
    return f"{won[0]} won" if len(won) == 1 else "tied" if len(won) == len(asked.scores) else "shared"


def _text(asked: AskedChallenge) -> str:
    return begun(worded(" ".join(asked.texts.values())), SHOWN)


def _author(asked: AskedChallenge) -> Iterator[Small]:
    by = f"by {listed([*dict.fromkeys(asked.authors.values())])}" if asked.authors else ""
    if by and asked.approval is not None:
        by += f", approved by {percent(asked.approval)} of the committee"
    yield from [Small(by)] * bool(by)


ASKED = (
    Column(
        "text",
        "Challenge",
        value=_text,
        link=lambda row: ("match", str(row.match)),
        small=_author,
        quoted=True,
    ),
    Column("part", "Topic", value=lambda row: row.topic or row.game, spare=1),
    Column("winner", "Result", value=_result),
)
