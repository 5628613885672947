"""Data to be transformed step by step; who gives the exact output most often is first."""

from peerage.games.transform.play import GAME as GAME
