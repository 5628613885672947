"""A store made into a ledger, or recognised as one."""

from __future__ import annotations

import re

from peerage.ledger.forms.bodies import Bodies
from peerage.ledger.forms.rows import SCHEMA, LedgerError, LedgerMissing
from peerage.ledger.forms.schema import BESIDE, META, TABLES
from peerage.ledger.stores.contract import Insert, Store, damaged
from peerage.ledger.tables import StoredRows
from peerage.version import __version__


def prepare(store: Store, *, create: bool) -> None:
    """Check that this is a ledger we can use; make one (`create`) where there is none. Raises LedgerError
    when there is none, when it is something else, or newer than this program."""
    if not _is_ledger(store):
        if not create:
            empty = "{} is empty; `peerage run` makes a ledger of it"
            missing = "there is no ledger at {} yet; `peerage run` makes it"
            raise LedgerMissing((missing if store.names() is None else empty).format(store.place))
        store.make(TABLES, [Insert(META, [("schema", SCHEMA)])])


def _is_ledger(store: Store) -> bool:
    """Return whether there is a ledger that we can read; false where there is nothing at all. Raises
    LedgerError where there is something else."""
    names = [name for name in store.names() or () if name not in BESIDE]
    if not names:
        return False
    fact = StoredRows(store, Bodies(store.place)).facts().get("schema") if META.name in names else None
    if fact is None:
        raise LedgerError(
            f"{store.place} is a database, but not a ledger of Peerage: it holds "
            f"{', '.join(sorted(names)[:5])} and no schema version. Name another one in arena.yaml"
        )
    if fact != SCHEMA:
        stated, ours = _SCHEMA.fullmatch(fact), SCHEMA.split()[0]
        if stated is None or int(stated[1]) <= int(ours):
            raise damaged(
                store.place, f"the schema version in its table meta is {fact!r}, expected {SCHEMA!r}"
            )
        raise LedgerError(
            f"{store.place}: this ledger is of schema {stated[1]}, written by peerage {stated[2]} or a later "
            f"one; this is peerage {__version__}, which reads schema {ours}: "
            f"pip install --upgrade 'peerage>={stated[2]}'"
        )
    if lost := [table.name for table in TABLES if table.name not in names]:
        raise LedgerError(
            f"{store.place} lacks the table {', '.join(lost)}: it was made by a development version before "
            "the first release, or was altered. Name another ledger in arena.yaml, or restore a copy of this"
        )
    return True


_SCHEMA = re.compile(r"([1-9][0-9]{0,8}) ([0-9]+(?:\.[0-9]+)*(?:[a-z]+[0-9]+)?)", re.ASCII)
