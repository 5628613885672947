"""The log of a command on standard error: printable, and no key in it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from peerage.players.keys import PROVIDERS, find_key
from peerage.players.redaction import hidden
from peerage.settings import PlayerSettings
from peerage.values.environment import DATABASES
from peerage.values.texts import visible


class _Plain(logging.Formatter):
    """Formats a message and its traceback without keys and control characters."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return visible(hidden(super().format(record), self._secrets))


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what standard error is at that moment: a live view stands in for it while it draws."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def log_to_stderr(level: str, players: Iterable[PlayerSettings], env: Mapping[str, str]) -> None:
    """Log from `level` on; neither the players' keys nor any provider's key in `env` is ever written."""
    keys = {find_key(player, env) for player in players}
    keys |= {env.get(name, "").strip() for about in PROVIDERS.values() for name in about.key_env}
    keys |= {env.get(name, "").strip() for name in DATABASES}
    handler = _Stderr()
    handler.setFormatter(_Plain(keys - {""}))
    logging.basicConfig(level=level, handlers=[handler])
