"""Puzzles with one answer each, proven by a solver; who solves most is first."""

from peerage.games.logic.play import GAME as GAME
