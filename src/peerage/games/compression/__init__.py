"""The shortest summary from which others answer every question is first."""

from peerage.games.compression.play import GAME as GAME
