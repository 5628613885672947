"""Two players answer one question; a panel of their peers decides whose answer is better."""

from peerage.games.duel.play import GAME as GAME
