"""Auctions, bargaining, common goods and votes: who gains most is first."""

from peerage.games.market.play import GAME as GAME
