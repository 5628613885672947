"""The plans closest to the proven optimum are first."""

from peerage.games.allocation.play import GAME as GAME
