"""The players that draft, vote and judge in a match: never a contestant, the best by raw Elo first.

Panels shrink to who is eligible, down to each role's minimum. The same player may sit on the committee and
on the jury, but a committee never holds an author of its match, who would vote on its own draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, gcd
from random import Random
from typing import NamedTuple, TypeVar

from peerage.game.spec import RoleRequirement
from peerage.scheduling.standing import Standing

Named = TypeVar("Named")
AMONG = 5
"""The best by raw Elo from among whom so many judges are drawn as are wanted."""


class Shortage(NamedTuple):
    """A match cannot be staffed: `role` needs at least `wanted` players, `eligible` players may serve."""

    role: str
    wanted: int
    eligible: int
    contestants: tuple[str, ...]
    kin_barred: bool
    authors_barred: bool = False

    def __str__(self) -> str:
        families = " and their families" if self.kin_barred else ""
        authors = " and the authors" if self.authors_barred else ""
        return (
            f"a match of {' and '.join(self.contestants)} needs at least {self.wanted} "
            f"as {self.role}, and without the contestants{families}{authors} {self.eligible} may serve"
        )


def by_merit(standings: Sequence[Standing], rng: Random) -> tuple[Standing, ...]:
    """Players by raw Elo, best first; equals in an order drawn by `rng`, so that no name is favoured."""
    lots = {standing.player: rng.random() for standing in sorted(standings)}
    return tuple(sorted(standings, key=lambda standing: (-standing.raw, lots[standing.player])))


def choose(
    required: Sequence[RoleRequirement], contestants: Sequence[str], merit: Sequence[Standing], seed: str
) -> Mapping[str, tuple[str, ...]] | Shortage:
    """The roles of one match and who has them, or what is missing.

    `contestants` are names, higher seeded first; `merit` is everybody as `by_merit` sorts them; `seed` draws
    who is drawn. Spare authors
    beyond their role's minimum give way where the committee would otherwise fall short of its full number.
    """
    families = {standing.family for standing in merit if standing.player in contestants}
    chosen: dict[str, tuple[str, ...]] = {}
    for needs in sorted(required, key=lambda needs: needs.role != "author"):
        eligible = tuple(_eligible(needs, contestants, merit, families))
        if needs.role == "committee" and "author" in chosen:
            authors = chosen["author"]
            spare = len(authors) - next(other.minimum for other in required if other.role == "author")
            outside = [player for player in eligible if player not in authors]
            giving_way = min(spare, needs.wanted - len(outside))
            if giving_way > 0 and not set(authors) <= set(contestants):
                chosen["author"] = authors = authors[:-giving_way]
            eligible = tuple(player for player in eligible if player not in authors)
        if len(eligible) < needs.minimum:
            barred = needs.role == "committee" and not set(chosen.get("author", ())) <= set(contestants)
            return Shortage(
                needs.role, needs.minimum, len(eligible), tuple(contestants), not needs.same_family, barred
            )
        if needs.order in ("top_quarter", "drawn"):
            few = max(needs.minimum, ceil(len(eligible) / 4))
            best = eligible[: few if needs.order == "top_quarter" else max(AMONG, needs.wanted)]
            chosen[needs.role] = tuple(Random(seed).sample(best, min(needs.wanted, len(best))))
        else:
            chosen[needs.role] = eligible[: needs.wanted]
    return chosen


def first_shortage(required: Sequence[RoleRequirement], standings: Sequence[Standing]) -> Shortage | None:
    """The first pair of players whose match could not be staffed; None when every pair's can.

    Who is eligible depends on names and families alone, so what holds before the first match holds always.
    """
    tried: set[frozenset[str]] = set()
    families_matter = not all(needs.same_family for needs in required)
    for a, b in combinations(standings, 2):
        barred = frozenset((a.family, b.family) if families_matter else ())
        if barred in tried:
            continue
        tried.add(barred)
        choice = choose(required, (a.player, b.player), standings, "")
        if isinstance(choice, Shortage):
            return choice
    return None


def _eligible(
    needs: RoleRequirement, contestants: Sequence[str], merit: Sequence[Standing], families: set[str]
) -> Iterator[str]:
    if needs.order == "contestants":
        yield from contestants
        return
    for standing in merit:
        if standing.player not in contestants and (needs.same_family or standing.family not in families):
            yield standing.player


def peers_required(
    required: Sequence[RoleRequirement], named: int, wanted: int | None = None
) -> tuple[RoleRequirement, ...]:
    """The roles that players take: where judges are `named`, all but theirs; else with so many judges as are
    `wanted`, None as the game has it."""
    kept = [needs for needs in required if not (named and needs.role == "judge")]
    if wanted is None:
        return tuple(kept)
    return tuple(
        needs._replace(wanted=wanted, minimum=min(needs.minimum, wanted)) if needs.role == "judge" else needs
        for needs in kept
    )


def rotated(judges: Sequence[Named], wanted: int, number: int, secret: str) -> tuple[Named, ...]:
    """The judges of match `number`: so many of those named, or all where they are fewer.

    In each block of as many matches as there are judges every judge comes equally often, and equally often in
    each place: who is in reserve goes by turns. `secret` draws a new order for each block, so that nobody
    always judges the same tasks.
    """
    count = len(judges)
    wanted = min(wanted, count)
    block, place = divmod(number - 1, count)
    order = Random(f"{secret}/judges/{block}").sample(range(count), count)
    start = place * wanted + place // (count // gcd(count, wanted))
    return tuple([judges[order[(start + at) % count]] for at in range(wanted)])
