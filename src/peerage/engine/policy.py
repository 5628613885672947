"""The policy by which an arena pairs players, by its settings."""

from __future__ import annotations

from peerage.scheduling.policies import Policy
from peerage.settings import ArenaSettings


def policy_of(settings: ArenaSettings) -> Policy:
    """Return how an arena pairs players."""
    pairing, goal = settings.pairing, settings.goal
    dear = pairing.per == "dollar"
    return Policy(pairing.policy, pairing.width, pairing.top or 1, goal, dear, pairing.across)
