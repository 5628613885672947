"""Keys of providers, and where they come from: the environment and the arena's `.env`.

Keys are looked up here and handed to the one client that sends them. They are never logged, stored,
shown, or passed to a child process that is not meant to have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from peerage.players.client import PlayerError
from peerage.settings import PlayerSettings
from peerage.settings.players.model_names import OTHERS


class Provider(NamedTuple):
    """A provider of models.

    `key_env` are the variables that may hold its key, best known first; empty when it needs none.
    `base_url` is its OpenAI-compatible address; empty when it is reached through its own SDK.
    `extra` is the extra of this package that installs what it needs. `vendor` is the maker's name
    under which the model library knows the models it serves, where the model's own name has none.
    """

    key_env: tuple[str, ...]
    base_url: str
    extra: str
    vendor: str = ""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(("OPENAI_API_KEY",), "https://api.openai.com/v1", "models"),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), "", "anthropic"),
    "google": Provider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "", "google"),
    "groq": Provider(("GROQ_API_KEY",), "https://api.groq.com/openai/v1", "models"),
    "xai": Provider(("XAI_API_KEY",), "https://api.x.ai/v1", "models", "xai"),
    "huggingface": Provider(
        ("HF_TOKEN", "HUGGINGFACE_API_KEY"), "https://router.huggingface.co/v1", "models"
    ),
    "openrouter": Provider(("OPENROUTER_API_KEY",), "https://openrouter.ai/api/v1", "models"),
    "mistral": Provider(("MISTRAL_API_KEY",), "https://api.mistral.ai/v1", "models", "mistralai"),
    "ollama": Provider((), "http://localhost:11434/v1", "models"),
}


def extra_of(settings: PlayerSettings) -> str:
    """The extra of this package that installs what a player needs; empty when it needs none."""
    if settings.provider in PROVIDERS:
        return PROVIDERS[settings.provider].extra
    return {"gguf": "local", "http": "models", "https": "models"}.get(settings.provider, "")


def key_names(settings: PlayerSettings) -> tuple[str, ...]:
    """The variables in which this player's key is looked for; empty when it needs none.

    A player with a `base_url` of its own names its variable itself: a provider's key is never sent to
    another server.
    """
    if settings.key_env:
        return (settings.key_env,)
    provider = PROVIDERS.get(settings.provider)
    return () if provider is None or settings.base_url else provider.key_env


def find_key(settings: PlayerSettings, env: Mapping[str, str]) -> str:
    """This player's key, or an empty string when none is needed or none is there."""
    return env.get(key_place(settings, env), "").strip()


def require_key(settings: PlayerSettings, key: str) -> None:
    """Raise PlayerError where this player needs a key and this one is empty."""
    if not key and (names := key_names(settings)):
        raise PlayerError(
            f"no key; set {' or '.join(names)} in the environment or in the arena's .env file",
            kind="permanent",
        )


def key_place(settings: PlayerSettings, env: Mapping[str, str]) -> str:
    """The variable that holds this player's key, or an empty string when none does."""
    return next((name for name in key_names(settings) if env.get(name, "").strip()), "")


def found_keys(env: Mapping[str, str]) -> dict[str, str]:
    """From each provider whose key is in `env` to the variable that holds it, in the house's order."""
    return {
        provider: name
        for provider, about in PROVIDERS.items()
        for name in reversed(about.key_env)  # the best known last, so that it stays
        if env.get(name, "").strip()
    }


def is_local(address: str) -> bool:
    """Return whether an address is of this machine or of a private network."""
    host = ""
    with suppress(ValueError):
        host = (urlsplit(address).hostname or "").rstrip(".")
        return ip_address(host).is_private
    return host == "localhost" or host.endswith((".localhost", ".local", ".lan", ".internal"))


def capacity(settings: PlayerSettings, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the name of what bounds the calls in flight to a player; those of one name share the bound.

    Providers count calls by key and model, and by tier and upstream: two prompts on one model share, two
    models with one key do not. A local server shares its slots out among all of its models. Empty for
    players of this process, programs, agents over ACP and people, whose calls no server turns away.
    """
    if settings.acp or (settings.provider in OTHERS and not settings.provider.startswith("http")):
        return ()
    if local := local_address(settings, env):
        return (local,)
    key, upstreams = key_place(settings, env), settings.upstreams
    return settings.model, settings.base_url, key, settings.service_tier or "", str(upstreams or "")


def local_address(settings: PlayerSettings, env: Mapping[str, str]) -> str:
    """Return the address of a player's local server; empty where it has none."""
    base = settings.base_url or (default_url("ollama", env) if settings.provider == "ollama" else "")
    return base if is_local(base) else ""


def default_url(provider: str, env: Mapping[str, str]) -> str:
    """Return a provider's address where the settings state none; empty where it has none of that kind."""
    if provider == "ollama" and env.get("OLLAMA_BASE_URL"):
        return env["OLLAMA_BASE_URL"]
    return PROVIDERS[provider].base_url
