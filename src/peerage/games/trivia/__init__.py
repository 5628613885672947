"""Everybody answers the same questions; most right answers win."""

from peerage.games.trivia.play import GAME as GAME
