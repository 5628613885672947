"""Reads the matches of a site, for its pages and statistics, and the forms of their requests."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from typing import NamedTuple

import msgspec

from peerage.ledger.codec import read_form, read_templates
from peerage.ledger.store import Ledger
from peerage.protocol import Role
from peerage.tables.matches import Match, Matches

FORM = '{"role":'
"""How a stored form begins."""


class Form(NamedTuple):
    """What many requests share: the digest that they name it by (hex), and its messages with their places."""

    digest: str
    role: Role
    messages: tuple[tuple[str, str], ...]


class Reader:
    """Reads matches from a ledger whose texts it holds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._matches = Matches(ledger)
        self._first = 1
        self._held: list[Match] = []

    def hold(self, first: int, last: int) -> None:
        """Read these matches now and keep them, until others are held: whatever is told of them comes from
        there."""
        self._held = []
        self._first, self._held = first, list(self._matches.read(first, last))

    def matches(self, first: int, last: int) -> Iterable[Match]:
        """The finished matches first..last. Raises LedgerError when rows are missing."""
        if self._first <= first and last < self._first + len(self._held):
            return self._held[first - self._first : last - self._first + 1]
        return self._matches.read(first, last)

    def forms(self) -> list[Form]:
        """Every form of request on record, by role."""
        found: list[Form] = []
        for digest, text in self._ledger.texts().items():
            if text.startswith(FORM):
                with suppress(msgspec.MsgspecError):  # something else that begins like one
                    found.append(Form(digest.hex(), read_form(text)[0], read_templates(text)))
        return sorted(found, key=attrgetter("role", "digest"))
