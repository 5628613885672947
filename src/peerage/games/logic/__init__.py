"""Puzzles with one answer each, proven by a solver; whoever solves most is first."""

from peerage.games.logic.play import GAME as GAME
