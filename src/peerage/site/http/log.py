"""A log that cannot be flooded: what repeats is written once a minute, with how often it came."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

EVERY_S = 60.0
MOST_KINDS = 1_000
LOGGERS = ("peerage", "uvicorn.error", "asyncio")


class OnceAMinute(logging.Filter):
    """Lets one record of a kind pass each minute; a kind is a place in a program and the error there."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        fault = record.exc_info[0] if record.exc_info else None
        kind = (record.pathname, record.lineno, str(record.msg).partition("\n")[0], fault)
        since, left_out = self._kinds.pop(kind, (float("-inf"), 0))
        if 0 <= record.created - since < EVERY_S:
            self._kinds[kind] = (since, left_out + 1)
            return False
        if left_out:
            record.msg, record.args = (
                f"{record.getMessage()} ({left_out:,} more like it since the last line)",
                (),
            )
        self._kinds[kind] = (record.created, 0)
        if len(self._kinds) > MOST_KINDS:
            del self._kinds[next(iter(self._kinds))]
        return True


@contextmanager
def bounded() -> Iterator[None]:
    """Bound what the server and the libraries below it write to the log of this process, while it serves."""
    once = OnceAMinute()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(once)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(once)
