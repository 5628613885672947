"""For authors of games: play a match offline, and hold a game against what every game must hold.

from peerage.testing import findings, fixture, house, play
"""

from peerage.testing.conformance import CHECKS, Finding, findings
from peerage.testing.memory import Memory
from peerage.testing.offline import Played, Unfair, check, fixture, house, play, scripted

__all__ = [
    "CHECKS", "Finding", "Memory", "Played", "Unfair", "check", "findings", "fixture", "house", "play",
    "scripted",
]  # fmt: skip
