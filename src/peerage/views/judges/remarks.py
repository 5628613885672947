"""What the report on judges says of all of them: two blocks, and who keeps whom first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.favours.two_minds import Blocks
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.values.figures import listed


def speaking(spoken: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Players whose answers speak to their judges, those who do it most often first."""
    for player, matches in sorted(spoken.items(), key=lambda item: (-len(item[1]), item[0])):
        count = f"{len(matches):,} matches, first" if len(matches) > 1 else "a match,"
        yield f"Answers of {player} speak to their judges in {count} {matches[0]}: read it."


def divided(blocks: Blocks, cast: Votes) -> str:
    """Two blocks of judges that contradict each other, and whom each puts first."""
    sides = []
    for names in blocks:
        rows = np.isin(np.asarray(cast.judges, np.str_)[cast.judge], names)
        table = fit_duels(cast.history.only(rows))
        first = cast.players[int(np.argmax(np.where(table.games > 0, table.rating, -np.inf)))]
        sides.append((listed(names), first))
    (larger, by_larger), (smaller, by_smaller) = sides
    firsts = (
        f"Both put {by_larger} first"
        if by_larger == by_smaller
        else f"By the first block {by_larger} leads, by the second {by_smaller}"
    )
    return (
        f"The judges are two blocks that contradict each other: {larger} against {smaller}. {firsts}. No "
        "vote can tell which block is right, so nobody is accused: read some matches, or let people judge "
        "(peerage annotate)."
    )


def without_whom(
    judges: Sequence[str], players: Sequence[str], leader: int | None, others: Sequence[int | None]
) -> list[tuple[str, str]]:
    """Return the judges without whom another player is first, and that player."""
    if leader is None:
        return []
    return [
        (judge, players[other])
        for judge, other in zip(judges, others, strict=True)
        if other not in (leader, None)
    ]


def first_without(
    judges: Sequence[str],
    players: Sequence[str],
    leader: int | None,
    others: Sequence[int | None],
    pick: str | None = None,
) -> Iterator[str]:
    """Without which judge somebody else is first. `leader` is by all, `others` without each of the `judges`,
    None where what is left does not compare everybody; `pick` is the verdict's."""
    if leader is None or all(other is None for other in others):
        return
    changing = without_whom(judges, players, leader, others)
    for judge, other in changing:
        yield (
            f"Without the judge {judge} {other} is ahead of {players[leader]}, who is "
            f"first by all {len(judges)}."
        )
    if not changing:
        yield f"No single judge changes first place: without any one of them {players[leader]} is first."
    if pick not in (None, players[leader]):
        first = players[leader]
        yield f"By the judges {first} is first; what counts are results, by which {pick} is the pick."
