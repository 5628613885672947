"""The smallest edit that repairs a program is first."""

from peerage.games.bug_hunt.play import GAME as GAME
