"""Challenges by topic and by drafter: what judges could tell apart on which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from peerage.judging.marks.marks import MarkColumns, Marks, Votes
from peerage.judging.measures.favours.search import FEWEST
from peerage.ratings.fits.judges import counted, reliabilities
from peerage.ratings.table import Z95
from peerage.render.blocks import Rows, bounded, numbers, texts
from peerage.values.figures import hundredths, percent, whole

_TELLS = 0.5  # of what challenges tell as a rule: surely less than that is worth a remark


class ChallengeSort(Struct, frozen=True):
    """Challenges of one `kind` (topic or drafter) and `name`, on `matches` that judges voted on: the share of
    votes that are `ties`, that of matches whose votes are `unanimous` and no tie, and how much they `tell`
    players apart: 1 for challenges as a rule, 0 where verdicts do not follow strength at all, with 95%
    bounds; None from fewer than five matches, or where there is but one."""

    kind: str
    name: str
    matches: int
    ties: float
    unanimous: float
    tell: float | None
    tell_lower: float | None
    tell_upper: float | None


def sorts(marks: Marks, cast: Votes, asked: MarkColumns) -> Iterator[ChallengeSort]:
    """Yield the topics, and the drafters, each by name: a sort of challenges discerns as a judge does."""
    numbers = {asked.names[name]: at for at, name in enumerate(asked.code(0).tolist())}
    matches, match = np.unique(cast.matches, return_inverse=True)
    row = np.array([numbers[marks.contests[at]] for at in matches.tolist()], np.int64)
    score = cast.history.score
    one_way = np.maximum(np.bincount(match, score == 1), np.bincount(match, score == 0)) == np.bincount(match)
    for kind, column in (("topic", 1), ("drafter", 2)):
        names, code = asked.named(column)
        of = code[row]
        nobody = np.zeros((len(names), cast.history.players), np.bool_)
        found, error = reliabilities(counted(cast.history, of[match], len(names)), nobody)
        size = np.bincount(of, minlength=len(names))
        for at, name in enumerate(names):
            if not name or not size[at]:
                continue
            tell = float(found[at]) if size[at] >= FEWEST and (size > 0).sum() > 1 else None
            wide = Z95 * float(error[at])
            yield ChallengeSort(
                kind=kind,
                name=name,
                matches=int(size[at]),
                ties=float((score[of[match] == at] == 0.5).mean()),
                unanimous=float(one_way[of == at].mean()),
                tell=tell,
                tell_lower=None if tell is None else tell - wide,
                tell_upper=None if tell is None else tell + wide,
            )


def table(rows: Sequence[ChallengeSort]) -> Rows:
    """Return the table of topics and drafters."""
    columns = [
        *texts(kind="By", name="Name"),
        *numbers(whole, matches="Matches"),
        *numbers(percent, ties="Ties", unanimous="Unanimous ~2"),
        *bounded(hundredths, 1, tell="Tell apart"),
    ]
    title = "Challenges: what judges could tell apart, 1 as a rule"
    return Rows(rows, columns, title=title, name="challenges")


def remarks(rows: Iterable[ChallengeSort]) -> Iterator[str]:
    """Yield the challenges that tell nobody apart."""
    for row in rows:
        if row.tell_upper is not None and row.tell_upper < _TELLS:
            ties = f"{row.ties:.0%} of their votes are ties"
            yield f"Challenges of {row.kind} {row.name} tell nobody apart: {ties}."
