"""Players: models at providers, agents, models we host ourselves, house players, third-party players.

`open_client` makes the client of one player from its settings. Each kind is imported only when a player
of that kind is opened, so that a command without models loads none of their libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from peerage.players.client import Answer, Call, Client, InstantClient, Later, PlayerError
from peerage.players.keys import PROVIDERS, extra_of
from peerage.players.prices import Price
from peerage.settings import PlayerSettings, SettingsError

__all__ = ["Answer", "Call", "Client", "InstantClient", "Later", "PlayerError", "open_client"]

ENTRY_POINTS = "peerage.players"
"""Group of entry points through which a package adds players: the name is the model's prefix, the object
is called as `open_client` is."""


def open_client(
    settings: PlayerSettings,
    env: Mapping[str, str],
    folder: Path,
    hidden: Sequence[Path] = (),
    price: Price | None = None,
) -> Client:
    """The client of one player, not yet started.

    `env` holds the keys (`values.environment`); a program cannot read the files `hidden`, where the system
    can keep it from them; an agent over ACP pays its model by `price`;
    `folder` is the arena's, against which relative paths in `gguf:`, a command and
    `python:` are read. Raises SettingsError for a model text that nobody serves and for a library that is not
    installed.
    """
    try:
        if settings.acp:
            from peerage.players.agents.acp import AcpClient

            return AcpClient(settings, env, folder, hidden, price)
        match settings.provider:
            case "house":
                from peerage.players.house import HouseClient

                return HouseClient(settings)
            case "human":
                from peerage.players.people.person import PersonClient

                return PersonClient(settings, folder)
            case "gguf":
                from peerage.players.hosted.gguf import LocalClient

                return LocalClient(settings, folder)
            case "command":
                from peerage.players.agents.programs import CommandClient

                return CommandClient(settings, env, folder, hidden)
            case "http" | "https":
                from peerage.players.agents.endpoint import EndpointClient

                return EndpointClient(settings, env)
            case "python":
                from peerage.players.agents.programs import FunctionClient

                return FunctionClient(settings, env, folder)
            case provider if provider in PROVIDERS:
                from peerage.players.models.library import require
                from peerage.players.models.provider import ProviderClient

                require(provider)
                return ProviderClient(settings, env)
    except ImportError as error:
        raise SettingsError(
            f"{settings.name}: {settings.model!r} needs {error.name or 'a library'}, which is not installed; "
            f"run `pip install 'peerage[{extra_of(settings)}]'` or `peerage doctor --install`"
        ) from None
    return _third_party(settings)(settings, env, folder)


def _third_party(settings: PlayerSettings) -> Callable[[PlayerSettings, Mapping[str, str], Path], Client]:
    points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    point = points.get(settings.provider)
    if point is None:
        known = [*PROVIDERS, "house", "human", "gguf", "command", "acp", "http", "https", "python", *points]
        raise SettingsError(
            f"{settings.name}: nobody serves {settings.model!r}; the part before the colon is one of "
            f"{', '.join(known)} (for another OpenAI-compatible server write `openai:NAME` and `base_url`)"
        )
    opener: Callable[[PlayerSettings, Mapping[str, str], Path], Client] = point.load()
    return opener
