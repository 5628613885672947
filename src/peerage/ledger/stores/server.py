"""Shared by all stores: a note says who holds the ledger. On a server a password is known by
the address it came with, a server that is away is waited for, and a commit is looked up where nobody knows
whether it came through."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Any, TypeVar
from urllib.parse import quote

from msgspec import Struct

from peerage.ledger.forms.rows import LedgerAway, LedgerBusy, LedgerError
from peerage.ledger.stores.contract import Row, Select

AWAY_S = 600.0
"""How long a runner waits for a server that it lost, and `READER_AWAY_S` anybody else."""
READER_AWAY_S = 5.0
FIRST_TRY_S, LONGEST_TRY_S = 0.02, 2.0

MONGODB_PASSWORD = "PEERAGE_MONGODB_PASSWORD"
"""The variable by which a child process of ours is given the password of MongoDB."""
BLOCK, NARROW_BLOCK = 1_000, 10_000
"""Rows that are read at once, with bodies and without."""
_PASSWORDS: dict[str, str] = {}
"""The password of each address opened here; addresses in messages, files and arguments have none."""

_log = logging.getLogger("peerage")
Found = TypeVar("Found")


class Patience:
    """Waits for one server, `place`. `lost` says of an error whether it is the connection that failed. `runs`
    is true while a run holds the ledger there, which waits longer. When `stopping` is set, what waits to read
    fails; when `stopped` is, so does what waits to write."""

    def __init__(self, place: str, lost: Callable[[Exception], bool]) -> None:
        self.runs = False
        self.stopping, self.stopped = Event(), Event()
        self._place = place
        self._lost = lost

    def begin(self) -> None:
        """Wait for the server again, as a run that begins does."""
        self.stopping.clear()
        self.stopped.clear()

    def stop(self, *, writes: bool) -> None:
        """Wait no more to read, nor to write where `writes` says so. Callable from any thread."""
        self.stopping.set()
        if writes:
            self.stopped.set()

    def wait(self, act: Callable[[], Found], *, writes: bool = False) -> Found:
        """Return what `act` gives; where the server is away it is tried again."""
        stopped = self.stopped if writes else self.stopping
        began, pause, broken = time.monotonic(), FIRST_TRY_S, False
        while True:
            try:
                return act()
            except Exception as error:
                away = time.monotonic() - began
                if not self._lost(error) or away > (AWAY_S if self.runs else READER_AWAY_S):
                    raise
                if stopped.wait(pause) and (writes or broken):
                    raise
                broken = True  # the line may be an old one: once more, on a new one
            pause = min(2 * pause, LONGEST_TRY_S)

    def commit(self, attempt: Callable[[], None], durable: Callable[[], bool], *, again: bool) -> None:
        """Make an `attempt` at a transaction. Where the connection is lost, see whether it became `durable`
        once the server is back, and make another if not; none where nothing may be done `again`."""
        while True:
            try:
                attempt()
                return
            except Exception as error:
                if not (again and self._lost(error)):
                    raise
                _log.warning("%s is away; waiting for it. Nothing recorded is lost", self._place)
            if self.wait(durable, writes=True):
                return


def access(address: str) -> dict[str, str]:
    """Return the variables with which a child process of ours opens an address that was opened here."""
    password = _PASSWORDS.get(address)
    return {MONGODB_PASSWORD if address.startswith("mongodb") else "PGPASSWORD": password} if password else {}


class Tenure(Struct):
    """The run that holds the ledger: its fence, and how many transactions there were, its own included."""

    fence: int
    written: int


class ServerStore(ABC):
    """The part of a `contract.Store` that deals with a server being away, and with its errors."""

    errors: tuple[type[Exception], ...]
    """The errors of its driver."""

    def __init__(self, address: str, password: str) -> None:
        """`address` is without the password, which was stated, or is known since it was opened before."""
        self.address = self.place = address
        if password:
            _PASSWORDS[address] = password
        self._password = _PASSWORDS.get(address, "")
        self._patience = Patience(address, self._lost)
        self._run: Tenure | None = None

    @abstractmethod
    def _lost(self, error: Exception) -> bool:
        """Return whether it is the connection that failed, or whatever will be there again in a while."""

    @abstractmethod
    def _words(self, error: Any) -> str:
        """Return what went wrong, where, and how to fix it."""

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise LedgerError, in words for people and without the password."""
        try:
            yield
        except self.errors as error:
            why = self._words(error)
            if self._password:
                why = why.replace(self._password, "***").replace(quote(self._password), "***")
            raise (LedgerAway if self._lost(error) else LedgerError)(why) from None

    def _patiently(self, act: Callable[[], Found]) -> Found:
        with self.explained():
            return self._patience.wait(act)

    def rows(self, wanted: Select) -> Iterator[Sequence[Row]]:
        """Read block by block, each from behind the last row of the one before: no transaction stays open."""
        if not wanted.order or wanted.limit:
            yield self._patiently(partial(self._block, wanted))
            return
        places = [wanted.names.index(column) for column in wanted.order]
        part = wanted._replace(limit=BLOCK if "body" in wanted.names else NARROW_BLOCK)
        while rows := self._patiently(partial(self._block, part)):
            yield rows
            if len(rows) < part.limit:
                return
            part = part._replace(behind=tuple([rows[-1][place] for place in places]))

    @abstractmethod
    def _block(self, wanted: Select) -> Sequence[Row]:
        """Return rows, all at once."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        self._patience.stop(writes=writes)


def note(**more: str) -> str:
    """This process, as the note of a run says who holds the ledger; with whatever `more` there is to say."""
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), **more})


def process_named(held: Mapping[str, Any]) -> str:
    """The process that a note names; empty for an empty note."""
    return f"process {held.get('pid')} on {held.get('host')}" if held else ""


def is_alive(pid: int) -> bool:
    """Return whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def busy(place: str, held: Mapping[str, Any], more: str = "") -> LedgerBusy:
    """The error that another runner holds the ledger."""
    by = f" ({process_named(held)})" if held else ""
    return LedgerBusy(
        f"another runner holds {place}{by}; wait for it or stop it{more}. Reading commands work meanwhile"
    )


def superseded(place: str) -> LedgerError:
    """The error that another runner took over."""
    return LedgerError(
        f"another runner took {place} over while this one could not be reached; this one wrote nothing "
        "since. Let that one run, or stop it and run again"
    )
