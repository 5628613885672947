"""Auctions, bargaining, dilemmas and votes: who gains most is first."""

from peerage.games.market.play import GAME as GAME
