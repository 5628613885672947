"""Players pose problems that others fail and solve those of others."""

from peerage.games.challenge_exchange.play import GAME as GAME
