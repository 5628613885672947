"""Every seat is asked the same: requests in their keys, and the replies of those that nobody lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from peerage.match import Seat
from peerage.protocol import Ask, Reply, Steps

FEWEST = 2
"""Contestants without whom there is nobody to be ahead of."""


def asked_alike(seats: Sequence[Seat], asks: Sequence[Ask]) -> Steps[Mapping[str, tuple[Reply, ...]]]:
    """Ask every seat each of `asks`, addressed to nobody: a seat gets them under their keys and its label,
    KEY/LABEL. Its replies by label, in the order of `asks`; a seat whose provider failed in one of them is
    left out, and of fewer than two nothing is left.
    """
    sent = [replace(ask, to=seat.label, key=f"{ask.key}/{seat.label}") for seat in seats for ask in asks]
    answers: list[Reply] = yield sent
    count = len(asks)
    each = {seat.label: tuple(answers[at * count : (at + 1) * count]) for at, seat in enumerate(seats)}
    left = {label: mine for label, mine in each.items() if all(reply.status != "void" for reply in mine)}
    return left if len(left) >= FEWEST else {}
