"""Methods that need columns of their own: judges, answers to challenges.

Each takes data as they were read and gives what `methods.MethodReport` is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from peerage.figures import counted
from peerage.ratings import irt, judges
from peerage.ratings.read.histories import Answers, Battles
from peerage.ratings.table import Row


class SpecialTable(NamedTuple):
    """A table before it is written out, and a second one of `challenges`."""

    title: str
    rows: Sequence[Row]
    notes: list[str]
    challenges: Sequence[dict[str, Any]] = ()


def judge_aware(data: Battles) -> SpecialTable:
    """Bradley-Terry in which each judge has a reliability, from the label `judge`; votes on one `question`,
    where every row says which, hang together."""
    if "judge" not in data.labels:
        raise ValueError("judge-aware needs battles with a column judge")
    questions = data.labels.get("question", ())
    cluster = questions if questions and all(questions) else None
    fitted = judges.fit(data.duels, data.labels["judge"], cluster=cluster)
    notes = [
        f"judge {name}: reliability {reliability:.2f} ({low:.2f} to {high:.2f}), {count:g} "
        f"{'vote' if count == 1 else 'votes'}"
        for name, reliability, low, high, count in fitted.listed
    ]
    if cluster is not None:
        notes.append(f"intervals allow for {counted(len(set(questions)), 'cluster')} (question)")
    return SpecialTable("Bradley-Terry with judges' reliabilities", fitted.rows, notes)


def responses(data: Answers) -> SpecialTable:
    """Abilities of players, and difficulty and discrimination of challenges: 2PL item response theory."""
    fitted = irt.fit(data.solved)
    notes = [] if fitted.settled else [f"not settled after {fitted.rounds} rounds"]
    notes.append("mu and sigma are the ability and its error; 1500 is the average player")
    tried = ~np.isnan(data.solved)
    found = zip(
        data.challenges,
        fitted.difficulty.tolist(),
        fitted.difficulty_error.tolist(),
        fitted.discrimination.tolist(),
        fitted.discrimination_error.tolist(),
        np.nansum(data.solved, axis=0).tolist(),
        tried.sum(axis=0).tolist(),
        strict=True,
    )
    challenges = [
        {
            "challenge": name,
            "difficulty": b,
            "difficulty_error": b_error,
            "discrimination": a,
            "discrimination_error": a_error,
            "solved": solved / count,
            "answers": count,
        }
        for name, b, b_error, a, a_error, solved, count in found
    ]
    challenges.sort(key=lambda row: (-row["difficulty"], row["challenge"]))
    title = "Item response theory (2PL)"
    return SpecialTable(title, fitted.rows, [*data.notes, *notes], challenges)
