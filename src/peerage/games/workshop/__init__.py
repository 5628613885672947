"""Work in folders: whose patch passes the hidden tests, or reads better."""

from peerage.games.workshop.play import GAME as GAME
