"""The shortest program that passes all tests is first."""

from peerage.games.code_golf.play import GAME as GAME
