"""Judges held against what is known: where a check tells two answers apart, which one did a judge prefer?

A judge's `share` is the mean of 1 for the right answer, ½ for a tie and 0 for the wrong one, by task as an
accuracy is (`ratings.accuracy`), with its 95% interval. One whose interval reaches down to a coin's ½ and
not up to `GOOD` is no better than a coin: a judge that is right in three of four cases is taken for one in
at most 2.5% of all arenas, and one who tosses a coin is found in most of those with 30 such matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote

import msgspec
from msgspec import Struct

from peerage.judging.marks.marks import Layout, MarkColumns
from peerage.judging.panels.panel import ABSTAIN, TIE, Ballot
from peerage.ratings.accuracy import OnTask, accuracies


class TaskDetail(Struct, frozen=True):
    """The part of an outcome's detail on its task, in any game whose tasks have checks: `answers` are
    statuses and `checks` credits by label, `stated` is the digest of what the task asked, `given` has the
    matches of answers that were given before."""

    task: str = ""
    category: str = ""
    weight: float = 1.0
    stated: str = ""
    answers: dict[str, str] = {}
    checks: dict[str, float] = {}
    check_notes: dict[str, str] = {}
    decided: str = ""
    given: dict[str, int] = {}


read_task_detail = msgspec.json.Decoder(TaskDetail).decode


KNOWN = Layout(codes=2, counts=1, numbers=0)
"""Votes on answers that a check tells apart, as columns: judge and task by name; twice what the vote is
worth: 2 for the right answer, 1 for a tie, 0 for the wrong one."""

COIN, GOOD = 0.5, 0.75
"""Share of a judge who tosses a coin, and of one who is worth asking."""


class KnownVotes(Struct, frozen=True):
    """One judge's valid votes where a check tells the answers apart: `right`, `tied` and wrong ones of
    `votes` in all, and its `share` with the 95% interval from `lower` to `upper`."""

    judge: str
    votes: int
    right: int
    tied: int
    share: float
    lower: float
    upper: float

    @property
    def coin(self) -> bool:
        """Return whether the judge is no better than a coin."""
        return self.lower <= COIN and self.upper < GOOD

    @property
    def in_words(self) -> str:
        """Return how often it preferred the right answer: `preferred the right answer in 14 of 31`."""
        tied = f" and called {self.tied:,} a tie" if self.tied else ""
        return f"preferred the right answer in {self.right:,} of {self.votes:,}{tied}"


def known_votes(
    credits: Mapping[str, float], ballots: Iterable[Ballot], players: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """Yield the judge and twice the worth of each valid vote on two answers, whose `credits` are by label;
    nothing where the check does not tell them apart, nor of judges who were asked since others had split.
    `players` are the judges' by label."""
    if len(set(credits.values())) != 2 or len(credits) != 2:
        return
    right = max(credits, key=credits.__getitem__)
    for ballot in ballots:
        if ballot.vote != ABSTAIN and not ballot.late and ballot.judge in players:
            yield players[ballot.judge], 1 if ballot.vote == TIE else 2 * (ballot.vote == right)


def held(votes: Iterable[tuple[str, str, int]]) -> list[KnownVotes]:
    """Return what votes come to, given as judge, task and twice the worth, by judge in order of names."""
    tasks: dict[str, dict[str, OnTask]] = {}
    counts: dict[str, list[int]] = {}
    for judge, task, points in votes:
        on = tasks.setdefault(judge, {}).setdefault(task, OnTask())
        on.total += points / 2
        on.answers += 1
        counts.setdefault(judge, [0, 0, 0])[points] += 1
    judges = sorted(tasks)
    judged = zip(judges, accuracies([tasks[judge].values() for judge in judges]), strict=True)
    return [
        KnownVotes(judge, of.answers, counts[judge][2], counts[judge][1], of.accuracy, of.lower, of.upper)
        for judge, of in judged
        if of is not None
    ]


def held_in(columns: MarkColumns) -> list[KnownVotes]:
    """Return what votes in columns of the layout `KNOWN` come to."""
    (judges, judge), (tasks, task) = columns.named(0), columns.named(1)
    rows = zip(judge.tolist(), task.tolist(), columns.count(0).tolist(), strict=True)
    return held([(judges[by], tasks[on], points) for by, on, points in rows])


def accused(known: Iterable[KnownVotes]) -> Iterator[str]:
    """Yield a sentence for each judge that is no better than a coin."""
    for judge in known:
        if judge.coin:
            yield (
                f"{judge.judge} judges no better than a coin: it {judge.in_words} where a check tells the "
                "answers apart. See the table without it: `peerage leaderboard --without-judge "
                f"{quote(judge.judge)}`."
            )
