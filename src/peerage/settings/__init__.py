"""`arena.yaml` → frozen, validated settings.

    settings = load("my-arena")          # reads my-arena/arena.yaml
    enough_players(settings)             # can every match be staffed?
    rules = rules_of(settings)           # the game's own settings, as the game's own type

Whatever is wrong is a `SettingsError` that names the file, the line, the key, what was found and the fix.
"""

from peerage.game.section import CostUnit
from peerage.settings.lineup import (
    enough_players,
    extra_installed,
    judged,
    lacks_extra,
    own_keys,
    rules_of,
    too_few,
)
from peerage.settings.mistakes import with_option
from peerage.settings.pairing import Pairing, Rating
from peerage.settings.players.families import family_of
from peerage.settings.players.host import HostSettings
from peerage.settings.players.model_names import without_credentials
from peerage.settings.players.player import Faults, PlayerSettings, PriceSettings
from peerage.settings.reading import FILE_NAME, ArenaError, load, loads
from peerage.settings.shape import EVERY, ArenaSettings, BudgetSettings, Engine, GameSettings
from peerage.settings.source import SettingsError
from peerage.values.figures import suggest

__all__ = [
    "EVERY", "FILE_NAME", "ArenaError", "ArenaSettings", "BudgetSettings", "CostUnit", "Engine", "Faults",
    "GameSettings", "HostSettings", "Pairing", "PlayerSettings", "PriceSettings", "Rating", "SettingsError",
    "enough_players", "extra_installed", "family_of", "judged", "lacks_extra", "load", "loads",
    "own_keys", "rules_of", "suggest", "too_few", "with_option", "without_credentials",
]  # fmt: skip
