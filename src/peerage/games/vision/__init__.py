"""Tasks that are seen: charts, clocks, tables, boards, shapes, mazes; who solves most is first."""

from peerage.games.vision.play import GAME as GAME
