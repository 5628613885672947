"""The policy by which an arena pairs players, by its settings."""

from __future__ import annotations

from peerage.scheduling.policies import Policy
from peerage.settings import ArenaSettings


def policy_of(settings: ArenaSettings) -> Policy:
    """Return how an arena pairs players."""
    pairing = settings.pairing
    return Policy(
        name=pairing.policy,
        width=pairing.width,
        goal=settings.paired_for,
        per_dollar=pairing.per == "dollar",
        across=pairing.across,
    )
