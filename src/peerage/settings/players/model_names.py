"""Names of models: of a provider, a program, an address or a person."""

from __future__ import annotations

import os
import shlex
from importlib.metadata import entry_points
from urllib.parse import urlsplit, urlunsplit

PROVIDERS = (
    "openai",
    "anthropic",
    "google",
    "groq",
    "xai",
    "huggingface",
    "openrouter",
    "mistral",
    "ollama",
)
"""Model providers that are reached by name alone."""

PERSON = "human"
"""The provider of people."""

OTHERS = ("house", PERSON, "gguf", "command", "acp", "http", "https", "python")
"""Players that are no provider's model."""

FLEX = ("openai", "google", "openrouter")
"""Providers by whose names a player can be asked in the flex tier."""


def is_person(model: str) -> bool:
    """Return whether a person answers where this model is named."""
    return model.startswith(f"{PERSON}:")


def words_of(line: str, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """The words of a command line: quotes hold one together; on Windows a backslash is only a backslash.

    Raises ValueError where a quote is never closed.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if windows:
        lexer.escape = ""
    return tuple(lexer)


def known_scheme(scheme: str) -> bool:
    """Return whether `scheme:` is ours or an installed plugin's."""
    return scheme in PROVIDERS + OTHERS or scheme in installed()


def installed() -> tuple[str, ...]:
    """Return the providers that installed packages offer (entry point group `peerage.players`)."""
    return tuple(sorted({point.name for point in entry_points(group="peerage.players")}))


def without_credentials(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
