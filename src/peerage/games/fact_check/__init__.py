"""Everybody judges the same statements, half of them subtly false; most right wins, or the best forecasts."""

from peerage.games.fact_check.play import GAME as GAME
