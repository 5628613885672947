"""Each player hides a color in a string that it can read and its opponent cannot."""

from peerage.games.color_obfuscation.play import GAME as GAME
