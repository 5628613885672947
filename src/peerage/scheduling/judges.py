"""Judges that the arena names: who of them judges which match. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from random import Random

from peerage.games.game import RoleRequirement


def peers_required(
    required: Sequence[RoleRequirement], named: int, wanted: int | None = None
) -> tuple[RoleRequirement, ...]:
    """The roles that players take: where judges are `named`, all but theirs; else with so many judges as are
    `wanted`, None as the game has it."""
    kept = [needs for needs in required if not (named and needs.role == "judge")]
    if wanted is None:
        return tuple(kept)
    return tuple(
        [
            needs._replace(wanted=wanted, minimum=min(needs.minimum, wanted))
            if needs.role == "judge"
            else needs
            for needs in kept
        ]
    )


def rotated(judges: Sequence[str], wanted: int, number: int, secret: str) -> tuple[str, ...]:
    """The judges of match `number`: so many of those named, or all where they are fewer.

    In each block of matches every judge comes equally often; `secret` draws their order anew for each block,
    so that nobody always judges the same tasks.
    """
    count = len(judges)
    if wanted >= count:
        return tuple(judges)
    block, place = divmod(number - 1, count // gcd(count, wanted))
    order = Random(f"{secret}/judges/{block}").sample(range(count), count)
    return tuple([judges[order[(place * wanted + at) % count]] for at in range(wanted)])
