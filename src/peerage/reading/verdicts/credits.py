"""The word of checks: answers' credits, accuracies, and judges' agreement (`judging.measures.known`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from peerage.games import installed
from peerage.judging.marks.ballots import read_ballots
from peerage.judging.measures.known import KnownVotes, held, known_votes, read_task_detail
from peerage.ledger import Ledger, LedgerError, Summary
from peerage.ledger.forms.codec import read_header, read_issued
from peerage.ratings.accuracy import Accuracy, OnTask, accuracies
from peerage.reading.rows import records_of, rows_of
from peerage.values import grouped


class TaskMatch(Struct, frozen=True):
    """A finished match about one of the owner's tasks: by label who played, the status of each answer, and
    where the task has a check each one's credit, from 0 to 1, with a note on what is wrong. `decided` says by
    what it was decided, `scores` are those in the order of `players`, empty without a result. `given` are the
    matches in which answers were given before, by label. `outdated` is
    one whose task has other words or checks in a later match: its answers have no credits."""

    number: int
    task: str
    category: str
    weight: float
    players: Mapping[str, str]
    scores: Sequence[float]
    credits: Mapping[str, float]
    notes: Mapping[str, str]
    decided: str
    given: Mapping[str, int] = {}
    outdated: bool = False

    def answers(self) -> dict[str, tuple[str, int]]:
        """Return what tells answers apart, by label: the player, and the match that it was given in."""
        return {label: (name, self.given.get(label, self.number)) for label, name in self.players.items()}

    def credit(self, player: str) -> float | None:
        """Return the credit of a player's answer; None without a check, or where it did not answer."""
        label = next((label for label, name in self.players.items() if name == player), None)
        return None if label is None else self.credits.get(label)

    def note(self, player: str) -> str:
        """Return what is wrong with a player's answer; empty where nothing is known."""
        return next((self.notes.get(label, "") for label, name in self.players.items() if name == player), "")

    @property
    def winner(self) -> str:
        """The player that won; empty where nobody did."""
        best = max(self.scores, default=0.0)
        first = [
            name for name, score in zip(self.players.values(), self.scores, strict=False) if score == best
        ]
        return first[0] if len(first) == 1 else ""


class Credits(Struct, frozen=True, dict=True):
    """Finished matches about tasks, in order, and what their checks say of players. `asked` holds the digest
    of each task as it was asked last."""

    matches: Sequence[TaskMatch] = ()
    asked: Mapping[str, str] = {}

    @cached_property
    def by_player(self) -> dict[str, dict[str, OnTask]]:
        """Each player's credits by task; an answer counts once, however often it was compared."""
        players: dict[str, dict[str, OnTask]] = {}
        counted: set[tuple[str, int]] = set()
        for match in self.matches:
            answers = match.answers()
            for label, credit in match.credits.items():
                if answers[label] in counted:
                    continue
                counted.add(answers[label])
                tasks = players.setdefault(match.players[label], {})
                task = tasks.setdefault(match.task, OnTask(weight=match.weight))
                task.weight = match.weight
                task.total += credit
                task.answers += 1
        return players

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of these matches, in the order in which they came up."""
        return tuple(dict.fromkeys([match.task for match in self.matches]))

    @cached_property
    def outdated(self) -> tuple[str, ...]:
        """The tasks that were changed after some of these matches."""
        return tuple(dict.fromkeys([match.task for match in self.matches if match.outdated]))

    @cached_property
    def accuracies(self) -> Mapping[str, Accuracy]:
        """The accuracy of each player whose answers were checked."""
        return accuracies_of(self.by_player)

    @cached_property
    def by_category(self) -> dict[str, Credits]:
        """The same in each category, in order of names; tasks without one are in none."""
        parts = grouped((match.category, match) for match in self.matches if match.category)
        return {category: Credits(parts[category]) for category in sorted(parts)}


def accuracies_of(credits: Mapping[str, Mapping[str, OnTask]]) -> dict[str, Accuracy]:
    """Return the accuracy of each player by its credits on each task."""
    values = accuracies([tasks.values() for tasks in credits.values()])
    return {player: value for player, value in zip(credits, values, strict=True) if value is not None}


def about_tasks(game: str) -> bool:
    """Return whether the matches of a game are about tasks of the owner."""
    spec = installed(game)
    return spec is not None and spec.rating.by_task


def credits_of(ledger: Ledger, finished: Iterable[Summary], games: Iterable[str]) -> Credits:
    """Return what checks say in these finished matches of `games`, about tasks. Raises LedgerError."""
    names = frozenset(games)
    wanted = {match.number: match for match in finished if match.game in names}
    listed: list[TaskMatch] = []
    stated: list[str] = []
    for row in records_of(ledger, wanted):
        summary = wanted[row.number]
        try:
            detail = read_task_detail(read_header(row.body).outcome.detail)
        except msgspec.MsgspecError as error:
            raise LedgerError(
                f"the record of match {row.number} cannot be read ({error}); `peerage verify` says more"
            ) from error
        if not detail.task or len(detail.answers) != len(summary.players):
            continue
        stated.append(detail.stated)
        players = dict(zip(detail.answers, summary.players, strict=True))
        listed.append(
            TaskMatch(
                number=row.number,
                task=detail.task,
                category=detail.category,
                weight=detail.weight,
                players=players,
                scores=summary.scores,
                credits={label: credit for label, credit in detail.checks.items() if label in players},
                notes=detail.check_notes,
                decided=detail.decided,
                given=detail.given,
            )
        )
    known = list(zip(listed, stated, strict=True))
    newest = {match.task: (digest, match.category) for match, digest in known}
    return Credits(
        [_as_now(match, digest, *newest[match.task]) for match, digest in known],
        {task: digest for task, (digest, _) in newest.items()},
    )


def _as_now(match: TaskMatch, digest: str, newest: str, category: str) -> TaskMatch:
    """Return a match as its task is now: in the newest category, without credits by other checks."""
    if digest != newest:
        match = replace(match, credits={}, notes={}, outdated=True)
    return match if match.category == category else replace(match, category=category)


def known_of(ledger: Ledger, finished: Iterable[Summary], games: Iterable[str]) -> list[KnownVotes]:
    """Return what judges' votes come to in finished matches of `games`, on tasks. Raises LedgerError."""
    names = frozenset(games)
    votes: list[tuple[str, str, int]] = []
    for issued, row in rows_of(ledger, {match.number: match for match in finished if match.game in names}):
        detail = read_header(row.body).outcome.detail
        cast, task = read_ballots(detail), read_task_detail(detail)
        ballots = (*cast.ballots, *cast.control_ballots)
        if not ballots or not task.checks:
            continue
        seats = read_issued(issued.body).officials.get("judge", ())
        judges = {seat.label: seat.player for seat in seats}
        votes += [(judge, task.task, points) for judge, points in known_votes(task.checks, ballots, judges)]
    return held(votes)
