"""Players as judges and as authors."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from peerage.judging.marks.ballots import JudgeStatistics
from peerage.reading.observations import Drafts
from peerage.render.blocks import Rows, explained, numbers
from peerage.values.figures import percent, whole
from peerage.views.shown import Shown
from peerage.views.stats.players import PLAYER


class AuthorStats(Shown, frozen=True):
    """One player as an author: finished `drafts`, how many were `approved`, the mean share of the committee
    that approved (None where no vote was valid), and `turns_lost` by an unusable, refused or void text."""

    player: str
    drafts: int
    approved: int
    approval: float | None
    turns_lost: int


def author_stats(name: str, tally: Drafts) -> AuthorStats:
    """Return what an author did, by its drafts."""
    mean = sum(tally.approvals) / len(tally.approvals) if tally.approvals else None
    return AuthorStats(name, tally.drafts, tally.approved, mean, tally.turns_lost)


def judges(rows: Sequence[JudgeStatistics]) -> Rows:
    """Return the table of judges."""
    columns = [
        replace(PLAYER, title="Judge"),
        *numbers(whole, votes="Votes", ties="Ties", abstentions="Abstained"),
        *numbers(whole, unusable="Unusable ~2", flips="Flipped ~5"),
        *numbers(percent, flip_share="Flips", agreement="Agreement", first_share="Prefers the first ~3"),
    ]
    hints = explained(
        columns,
        unusable="verdicts that could not be read",
        flips="votes that changed with the order of the answers",
        flip_share="their share of the votes that saw both orders",
        agreement="how often it votes as another judge of the same match does",
        first_share="how often it picks the answer shown first; a judge without bias has 50%",
    )
    return Rows(rows, hints, title="Judges", name="judges")


def authors(rows: Sequence[AuthorStats]) -> Rows:
    """Return the table of authors."""
    columns = [
        replace(PLAYER, title="Author"),
        *numbers(whole, drafts="Drafts", approved="Approved"),
        *numbers(percent, approval="Mean approval"),
        *numbers(whole, turns_lost="Invalid turns"),
    ]
    return Rows(rows, columns, title="Authors", name="authors")
