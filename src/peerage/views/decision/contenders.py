"""The contenders of a decision: everybody's record, price, accuracy, and what it is worst at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from peerage.reading.verdicts.credits import Credits, TaskMatch
from peerage.render.blocks import Column, Rows, Small
from peerage.values import grouped
from peerage.values.figures import begun, dollars, percent
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.columns import accuracies, choice, to_player
from peerage.views.leaderboard.row import Row, Weakness
from peerage.views.leaderboard.tracks import METHODS

NOTE_CHARS = 160
"""Characters of a note, which quotes the answer, on one line."""


class CategoryPart(NamedTuple):
    """The results of one category: the credits of checks, or where it has none all matches."""

    credits: Credits
    shares: Mapping[str, tuple[float, int]]
    """By player its share of the points, a tie being half a win, and of how many matches."""
    checked: bool


def by_category(credits: Credits) -> dict[str, CategoryPart]:
    """Return the results by category; under an empty name where tasks have none."""
    parts = credits.by_category or {"": credits}
    return {
        category: CategoryPart(part, _shares(part.matches), bool(part.by_player))
        for category, part in parts.items()
    }


def _shares(matches: Sequence[TaskMatch]) -> dict[str, tuple[float, int]]:
    sums = grouped(
        pair for match in matches for pair in zip(match.players.values(), match.scores, strict=False)
    )
    return {player: (sum(scores) / len(scores), len(scores)) for player, scores in sums.items()}


def contenders(board: Leaderboard, parts: Mapping[str, CategoryPart]) -> list[Row]:
    """Return the rows of everybody that the verdict sorts, the pick first; with what each is worst at by the
    parts of the owner's tasks."""
    verdict, rows = board.verdict, {row.player: row for row in board.rows}
    names = (*filter(None, [verdict.pick]), *verdict.may_be_as_good, *verdict.unlikely, *verdict.out)
    found = [replace(rows[name], worst=_weakness(name, parts)) for name in names]
    if not board.in_dollars:
        found = [replace(row, cost_per_match=None) for row in found]
    if not METHODS[board.track].chances:
        chances = board.chances
        at = [chances.of(name) for name in names]
        marks = [{"bin": chances.bins[place], "best": float(chances.best[place])} for place in at]
        found = [replace(row, **mark) for row, mark in zip(found, marks, strict=True)]
    return found


def _weakness(player: str, by_category: Mapping[str, CategoryPart]) -> Weakness | None:
    """Return the category in which a player is least accurate, or where nothing is checked has the smallest
    share of the points, with the task there that it did worst; None where nothing went wrong."""
    any_checked = any(part.checked for part in by_category.values())
    found = []
    for category, part in by_category.items():
        if any_checked:
            accuracy = part.credits.accuracies.get(player)
            if accuracy is not None:
                found.append((accuracy.accuracy, -accuracy.answers, category))
        elif player in part.shares:
            share, count = part.shares[player]
            found.append((share, -count, category))
    if not found or min(found)[0] == 1.0:
        return None
    share, count, category = min(found)
    failed = _failed(player, by_category[category].credits.matches, checked=any_checked)
    return Weakness(
        category=category,
        share=share,
        of="accuracy" if any_checked else "points",
        answers=-count,
        task=failed.task if failed else "",
        match=failed.number if failed else None,
        note=begun(failed.note(player), NOTE_CHARS) if failed else "",
    )


def _failed(player: str, matches: Sequence[TaskMatch], *, checked: bool) -> TaskMatch | None:
    """Return the match in which a player did worst: the least credit, or a defeat; of several the newest."""
    if checked:
        tried = [(credit, -one.number, one) for one in matches if (credit := one.credit(player)) is not None]
        worst = min([one for one in tried if one[0] < 1.0], key=lambda one: one[:2], default=None)
        return worst[2] if worst else None
    lost = [one for one in matches if player in one.players.values() and one.winner not in ("", player)]
    return lost[-1] if lost else None


def table(rows: Sequence[Row], level: Collection[str]) -> Rows:
    """Return the contenders' table; nobody leads those that are `level`."""
    checked = any(row.accuracy is not None for row in rows)
    columns = [
        Column("player", "Player", link=to_player),
        Column("bin", "Choice", value=partial(choice, level)),
        *(accuracies() if checked else ()),
        Column("wins", "Wins", percent, number=True, value=lambda row: _share(row, row.wins)),
        Column("ties", "Ties", percent, number=True, spare=1, value=lambda row: _share(row, row.draws)),
    ]
    if any(row.cost_per_match for row in rows):
        hint = "dollars for 1,000 tasks of its own play, without judging"
        write = partial(dollars, times=1000)
        columns.append(Column("cost_per_match", "Per 1,000", write, number=True, hint=hint))
    share = "its accuracy" if checked else "its share of the points"
    category = f"the category with {share} there, and " * any(
        row.worst and row.worst.category for row in rows
    )
    worst = Column(
        "worst", "Worst at", weakness, spare=1, hint=f"{category}a task that it failed", small=_because
    )
    return Rows(
        rows,
        [*columns, worst],
        name="contenders",
        sorts=False,
        cards=True,
        faint=lambda row: bool(row.bin == "out"),
    )


def weakness(found: Weakness) -> str:
    """Return a player's weakest category in a few words: `dates 78%: due-17 (match 41)`."""
    where = f"{found.category} {percent(found.share)}" if found.category else ""
    failed = f"{found.task} (match {found.match})" if found.task else ""
    return ": ".join(filter(None, (where, failed)))


def _because(row: Row) -> Iterator[Small]:
    if row.worst and row.worst.note:
        yield Small(row.worst.note)


def _share(row: Row, part: int) -> float | None:
    return part / row.matches if row.matches else None
