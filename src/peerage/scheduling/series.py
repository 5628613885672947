"""Series: matches that share what luck there is, so that they can be compared. Pure.

    >>> for planned in in_series("seats", [("Ada", "Bo")], 7, True):
    ...     print(*planned)
    ('Ada', 'Bo') 7 7
    ('Bo', 'Ada') 7 7

In a series of `seats` those who meet do so once for each seat: the seats are rotated, so that each of n
players sits in each of n seats once. All play one task where the game says that nobody gains by having met it
in another seat; else each match has a task of its own. The matches of a series have consecutive numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

Series: TypeAlias = Literal["seats"]


class Planned(NamedTuple):
    """A match to be made: its contestants seat by seat, the number of the first match of its series (0: it is
    in none), and the number that its task is drawn by."""

    contestants: tuple[str, ...]
    series: int
    task: int


def in_series(
    series: Series | None, tables: Sequence[tuple[str, ...]], number: int, rotates: bool
) -> Iterator[Planned]:
    """The matches of a round, the first of them numbered `number`; `rotates` says that a task may be met
    again in other seats."""
    for contestants in tables:
        if series is None:
            yield Planned(contestants, 0, number)
            number += 1
            continue
        first = number
        turned = [contestants[at:] + contestants[:at] for at in range(len(contestants))]
        for seats in dict.fromkeys(turned):  # players in several seats may come to sit as they sat before
            yield Planned(seats, first, first if rotates else number)
            number += 1
