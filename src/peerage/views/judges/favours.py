"""Pairs of judge and author: whom a judge prefers, or does down, beyond what quality explains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any

from peerage.judging.measures.favours.search import LEVEL, Favour
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import percent, points, signed, whole

_NAMED = 3  # pairs that a sentence names at most


def table(pairs: Iterable[Favour]) -> Rows:
    """Return a table of pairs."""
    columns = [
        *texts(judge="Judge", author="Author"),
        *numbers(signed, excess="Favour"),
        *numbers(whole, marks="Marks ~1"),
        *numbers("{:.4f}".format, q="q"),
    ]
    title = "Favours: who prefers whom more, or less, than quality explains"
    return Rows([*pairs], columns, title=title, name="favours")


def summary(pairs: Sequence[Favour], *, judges: bool, level: float = LEVEL) -> str:
    """Return what the test says of all pairs, where there are `judges`; `level` is the one it was made at."""
    if not judges:
        return "No judge has voted yet."
    if not pairs:
        return "Too few marks to tell whether a judge favours an author."
    beyond = sum(pair.found for pair in pairs)
    return (
        f"{len(pairs)} pairs of judge and author tested, {beyond} beyond chance and taste; the chance that "
        f"any is false is {percent(level)} at most, for tastes as in docs/judging-figures.md."
    )


def by_author(pairs: Sequence[Favour], order: Sequence[str]) -> Rows:
    """Return which judge prefers which author by how much, those first in `order` first."""
    at = {(pair.judge, pair.author): pair for pair in pairs}

    def sort(names: Iterable[str]) -> list[str]:
        return sorted({*names}, key=lambda name: (order.index(name) if name in order else len(order), name))

    def by(place: int, author: str) -> Column:
        def of(write: Callable[[Favour], Any]) -> Callable[[str], Any]:
            return lambda judge: write(at[judge, author]) if (judge, author) in at else None

        return Column(
            str(place),
            author,
            number=True,
            value=of(lambda pair: points(100 * pair.excess)),
            order=of(lambda pair: round(pair.excess, 5)),
            shade=of(lambda pair: float(pair.excess > 0) if pair.found else None),
            tip=of(lambda pair: f"{whole(pair.marks)} marks, p {pair.p:.3f}, q {pair.q:.3f}"),
        )

    first = Column("judge", "Judge", value=str, link=lambda judge: ("player", judge))
    columns = [first, *starmap(by, enumerate(sort([pair.author for pair in pairs])))]
    note = (
        "By how much more (+) or less (-) often than expected, in percent of the comparisons, a judge "
        "prefers an author's answers. Without a colour: no more than chance explains. With one: beyond "
        "it, tested over all pairs together; that may be taste too."
    )
    return Rows(sort([pair.judge for pair in pairs]), columns, notes=[note], name="favouritism")


def remarks(pairs: Sequence[Favour], unit: str) -> Iterator[str]:
    """Yield who favours whom, and who is out of step about whom."""
    for pair in pairs:
        if pair.found:
            what = "favours" if pair.excess > 0 else "does down"
            yield (
                f"{pair.judge} {what} {pair.author}: by {abs(pair.excess):.0%} of {pair.marks} marks more "
                f"than the other judges and the spread of tastes explain. Read its {unit}."
            )
    tastes = [f"{pair.judge} about {pair.author} ({pair.excess:+.0%})" for pair in pairs if pair.out_of_step]
    if tastes:
        more = f" and {len(tastes) - _NAMED:,} more" if len(tastes) > _NAMED else ""
        yield f"Out of step, as tastes may differ: {', '.join(tastes[:_NAMED])}{more}."
