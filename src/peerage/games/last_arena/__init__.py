"""Humanity's Last Arena: everybody asks, answers, and scores all answers."""

from peerage.games.last_arena.play import GAME as GAME
