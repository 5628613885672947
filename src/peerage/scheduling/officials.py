"""Who drafts, votes and judges in a match: never a contestant, the best by raw Elo first.

Panels shrink to who is eligible, down to each bench's minimum. The same player may sit on the committee and
on the jury, but a committee never holds an author of its match, who would vote on its own draft, and neither
does a panel of judges that is shown what the author holds to be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from random import Random
from typing import NamedTuple

from peerage.games.game import Bench
from peerage.scheduling.standing import Standing


class Shortage(NamedTuple):
    """A match cannot be staffed: `role` needs at least `wanted` officials, `eligible` players may serve."""

    role: str
    wanted: int
    eligible: int
    contestants: tuple[str, ...]
    kin_barred: bool
    authors_barred: bool = False

    def __str__(self) -> str:
        kin = " and their families" if self.kin_barred else ""
        authors = " and the authors" if self.authors_barred else ""
        return (
            f"a match of {' and '.join(self.contestants)} needs at least {self.wanted} "
            f"as {self.role}, and without the contestants{kin}{authors} {self.eligible} may serve"
        )


def by_merit(standings: Sequence[Standing], rng: Random) -> tuple[Standing, ...]:
    """Players by raw Elo, best first; equals in an order drawn by `rng`, so that no name is favoured."""
    lots = {standing.player: rng.random() for standing in sorted(standings)}
    return tuple(sorted(standings, key=lambda standing: (-standing.raw, lots[standing.player])))


def choose(
    benches: Sequence[Bench], contestants: Sequence[str], merit: Sequence[Standing], seed: str
) -> Mapping[str, tuple[str, ...]] | Shortage:
    """The officials of one match, role by role, or what is missing.

    `contestants` are names, higher seeded first; `merit` is everybody as `by_merit` sorts them; `seed` draws
    who is drawn. Spare authors
    beyond their bench's minimum give way where the committee would otherwise fall short of its full number.
    """
    families = {standing.family for standing in merit if standing.player in contestants}
    chosen: dict[str, tuple[str, ...]] = {}
    for bench in sorted(benches, key=lambda bench: bench.role != "author"):
        eligible = tuple(_eligible(bench, contestants, merit, families))
        if bench.role == "committee" and "author" in chosen:
            authors = chosen["author"]
            spare = len(authors) - next(other.minimum for other in benches if other.role == "author")
            outside = [player for player in eligible if player not in authors]
            giving_way = min(spare, bench.wanted - len(outside))
            if giving_way > 0 and not set(authors) <= set(contestants):
                chosen["author"] = authors = authors[:-giving_way]
            eligible = tuple(player for player in eligible if player not in authors)
        if not bench.authors:
            eligible = tuple(player for player in eligible if player not in chosen.get("author", ()))
        if len(eligible) < bench.minimum:
            without = bench.role == "committee" or not bench.authors
            barred = without and not set(chosen.get("author", ())) <= set(contestants)
            return Shortage(
                bench.role, bench.minimum, len(eligible), tuple(contestants), not bench.kin, barred
            )
        if bench.order == "top_quarter":
            best = eligible[: max(bench.minimum, ceil(len(eligible) / 4))]
            chosen[bench.role] = tuple(Random(seed).sample(best, min(bench.wanted, len(best))))
        else:
            chosen[bench.role] = eligible[: bench.wanted]
    return chosen


def first_shortage(benches: Sequence[Bench], standings: Sequence[Standing]) -> Shortage | None:
    """The first pair of players whose match could not be staffed; None when every pair's can.

    Who is eligible depends on names and families alone, so what holds before the first match holds always.
    """
    tried: set[frozenset[str]] = set()
    kin_matters = not all(bench.kin for bench in benches)
    for a, b in combinations(standings, 2):
        barred = frozenset((a.family, b.family) if kin_matters else ())
        if barred in tried:
            continue
        tried.add(barred)
        found = choose(benches, (a.player, b.player), standings, "")
        if isinstance(found, Shortage):
            return found
    return None


def _eligible(
    bench: Bench, contestants: Sequence[str], merit: Sequence[Standing], families: set[str]
) -> Iterator[str]:
    if bench.order == "contestants":
        yield from contestants
        return
    for standing in merit:
        if standing.player not in contestants and (bench.kin or standing.family not in families):
            yield standing.player
