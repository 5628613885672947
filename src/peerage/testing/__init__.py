"""For authors of games: play a match offline, and hold a game against what every game must hold.

from peerage.testing import findings, fixture, house, play
"""

from peerage.testing.conformance import CHECKS, ConformanceFinding, findings
from peerage.testing.memory import PlayerMemory
from peerage.testing.offline import Played, Unfair, check, fixture, house, play, scripted

__all__ = [
    "CHECKS",
    "ConformanceFinding",
    "Played",
    "PlayerMemory",
    "Unfair",
    "check",
    "findings",
    "fixture",
    "house",
    "play",
    "scripted",
]  # fmt: skip
