"""`peerage windows`: when hosts are held, what for, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping

from peerage.cli.options import HERE, Folder, Format, Shape, ledger_in, prose
from peerage.cli.output import Titled, numbers, show_parts, texts, titled
from peerage.figures import dollars, moment, percent, tenths, whole


def windows(folder: Folder = HERE, shape: Shape = Format.table) -> None:
    """Show the windows of hosts: planned and past.

    A host is started when as many matches wait for its players as arena.yaml says, or when a run has nothing
    else to do, and stopped after the last call. A window that a crash left open is closed by this and by any
    other command on the arena. JSON holds both tables as one object.
    """
    from peerage.ledger import LedgerMissing
    from peerage.settings import load
    from peerage.tables.windows import shown_windows

    settings = load(folder, reading=True)
    try:
        with ledger_in(folder) as ledger:
            found = shown_windows(ledger, settings, folder).as_dict()
    except LedgerMissing:
        found = shown_windows(None, settings, folder).as_dict()
    if shape is Format.table and not found["plan"] and not found["past"]:
        prose("no host is named in arena.yaml; see `hosts` in docs/local-models.md")
        return
    show_parts(found, _WINDOWS, None, shape, "past")


_WINDOWS: Mapping[str, Titled] = {
    "plan": titled(
        "Hosts: matches that wait for their players, and with how many they are started",
        *texts(host="Host"),
        *texts(", ".join, players="Players ~1"),
        *numbers(whole, waiting="Waiting", starts_at="Starts at"),
        *numbers(tenths, expected_hours="About hours", longest_hours="at most"),
        *numbers(dollars, most_usd="At most"),
    ),
    "past": titled(
        "Windows that have ended",
        *texts(host="Host"),
        *texts(moment, opened_ms="From", closed_ms="To ~2"),
        *numbers("{:.2f}".format, hours="Hours"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(percent, busy_share="Busy"),
        *numbers(whole, matches="Matches"),
        *numbers(tenths, matches_per_hour="an hour"),
        *texts(why="Ended ~1"),
    ),
}
