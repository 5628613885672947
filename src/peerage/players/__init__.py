"""Who answers: models at providers, agents, models we host ourselves, house players, third-party players.

`open_client` makes the client of one player from its settings. Each kind is imported only when a player
of that kind is opened, so that a command without models loads none of their libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from peerage.players.client import Answer, Call, Client, InstantClient, Later, PlayerError
from peerage.players.keys import PROVIDERS
from peerage.settings import PlayerSettings, SettingsError

__all__ = ["Answer", "Call", "Client", "InstantClient", "Later", "PlayerError", "open_client"]

ENTRY_POINTS = "peerage.players"
"""Group of entry points through which a package adds players: the name is the model's prefix, the object
is called as `open_client` is."""


def open_client(
    settings: PlayerSettings, env: Mapping[str, str], folder: Path, hidden: Sequence[Path] = ()
) -> Client:
    """The client of one player, not yet started.

    `env` holds the keys (see `keys.environment`); a program cannot read the files `hidden`, where the system
    can keep it from them; `folder` is the arena's, against which relative paths in `gguf:`, a command and
    `python:` are read. Raises SettingsError for a model text that nobody serves and for a library that is not
    installed.
    """
    provider = settings.provider
    if provider == "house":
        from peerage.players.house import HouseClient

        return HouseClient(settings)
    if provider in PROVIDERS:
        return _open_provider(settings, env)
    match provider:
        case "gguf":
            try:
                from peerage.players.local import LocalClient
            except ImportError as error:
                raise missing(settings, "local", error) from None
            return LocalClient(settings, folder)
        case "command":
            from peerage.players.agents import CommandClient

            return CommandClient(settings, env, folder, hidden)
        case "http" | "https":
            try:
                from peerage.players.endpoint import EndpointClient
            except ImportError as error:
                raise missing(settings, "models", error) from None
            return EndpointClient(settings, env)
        case "python":
            from peerage.players.agents import FunctionClient

            return FunctionClient(settings, env, folder)
        case _:
            return _third_party(settings)(settings, env, folder)


def _open_provider(settings: PlayerSettings, env: Mapping[str, str]) -> Client:
    extra = PROVIDERS[settings.provider].extra
    try:
        from peerage.players.provider import ProviderClient

        ProviderClient.require(settings.provider)
    except ImportError as error:
        raise missing(settings, extra, error) from None
    return ProviderClient(settings, env)


def missing(settings: PlayerSettings, extra: str, error: ImportError) -> SettingsError:
    """The error for a player whose libraries are not installed, with the two ways to install them."""
    return SettingsError(
        f"{settings.name}: {settings.model!r} needs {error.name or 'a library'}, which is not installed; "
        f"run `pip install 'peerage[{extra}]'` or `peerage doctor --install`"
    )


def _third_party(settings: PlayerSettings) -> Callable[[PlayerSettings, Mapping[str, str], Path], Client]:
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    point = found.get(settings.provider)
    if point is None:
        known = [*PROVIDERS, "house", "gguf", "command", "http", "https", "python", *found]
        raise SettingsError(
            f"{settings.name}: nobody serves {settings.model!r}; the part before the colon is one of "
            f"{', '.join(known)} (for another OpenAI-compatible server write `openai:NAME` and `base_url`)"
        )
    opener: Callable[[PlayerSettings, Mapping[str, str], Path], Client] = point.load()
    return opener
