"""Tasks of the arena's owner: checks decide where what is right is known, judges where it is not."""

from peerage.games.tasks.play import GAME as GAME
