"""For authors of games: play a match offline, and hold a game against what every game must hold.

from peerage.testing import findings, fixture, house, play
"""

from peerage.testing.conformance import CHECKS, Finding, findings
from peerage.testing.golden import again, difference, transcript
from peerage.testing.memory import Memory
from peerage.testing.offline import (
    Played,
    Unfair,
    check,
    fixture,
    house,
    play,
    scripted,
)

__all__ = [
    "CHECKS",
    "Finding",
    "Memory",
    "Played",
    "Unfair",
    "again",
    "check",
    "difference",
    "findings",
    "fixture",
    "house",
    "play",
    "scripted",
    "transcript",
]
