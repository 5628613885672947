"""Ranking of players by how near their texts come to references, by a metric of the field."""

from peerage.games.text_metrics.play import GAME as GAME
