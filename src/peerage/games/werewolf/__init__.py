"""Hidden werewolves among villagers: nights, talk by day, votes."""

from peerage.games.werewolf.play import GAME as GAME
