"""Whose texts come nearest to references, by a metric of the field, is first."""

from peerage.games.text_metrics.play import GAME as GAME
