"""`peerage status`: who runs an arena, and what it is doing now."""

from __future__ import annotations

from peerage.blocks import numbers, texts
from peerage.cli.options import HERE, Folder, Format, Shape, ledger_in, prose
from peerage.cli.output import show, show_json
from peerage.figures import counted, dollars, moment, tenths, whole


def status(folder: Folder = HERE, shape: Shape = Format.table) -> None:
    """Show who runs the arena now, and how far its matches are.

    It only reads, from any machine that reaches the ledger, and holds up nobody. CSV holds the matches under
    way.
    """
    from peerage.tables.status import status as found_now

    with ledger_in(folder) as ledger:
        found = found_now(ledger, folder)
    if shape is Format.json:
        show_json(found.as_dict())
        return
    if shape.for_people:
        runs = f"{found.runner} runs this arena" if found.runner else "nobody runs this arena now"
        more = [(found.waiting, "waiting"), (found.issued, "issued and not begun")]
        parts = [counted(found.recorded, "match") + " on record"]
        parts += [f"{whole(count)} {what}" for count, what in more if count]
        prose(f"{runs}: {', '.join(parts)}")
        if found.open_calls:
            calls = f"{counted(found.open_calls, 'call')} for at most {dollars(found.open_usd)}"
            state = (
                "in flight" if found.runner else "left open by a crash; the next run counts them as billed"
            )
            prose(f"{calls} {state}")
        calls = f"{counted(found.unpriced, 'call')} of unknown cost"
        sums = [f"{dollars(found.spent_usd)} spent at most"] if found.spent_usd or not found.unpriced else []
        prose(", and ".join([*sums, *[calls] * bool(found.unpriced)]))
        for worker in found.workers:
            on = counted(len(worker.matches), "match")
            prose(f"worker {worker.number}, {worker.process}: {on}")
    if found.under_way or not shape.for_people:
        columns = [
            *numbers(str, match="Match", round="Round ~2"),
            *texts(game="Game ~2"),
            *texts(" and ".join, players="Between"),
            *numbers(whole, replies="Replies"),
            *texts(moment, last_ms="Last reply ~1"),
            *texts(", ".join, asks="Asks now"),
            *(numbers(whole, worker="Worker") if found.workers or not shape.for_people else ()),
        ]
        title = counted(len(found.under_way), "match under way", "matches under way")
        show([one.as_dict() for one in found.under_way], columns, shape, title=title)
    if found.hosts and shape.for_people:
        show([one.as_dict() for one in found.hosts], _HOSTS, shape, title="Hosts paid by the hour")
    if found.open_calls and not found.runner and shape.for_people:
        prose("`peerage run` goes on with what is under way")


_HOSTS = [
    *texts(host="Host"),
    *texts(moment, up_since_ms="Up since"),
    *numbers(whole, waiting="Waiting", starts="Starts ~2"),
    *numbers("{:.2f}".format, hours="Hours held"),
    *numbers(dollars, cost_usd="Cost"),
    *numbers(whole, matches="Matches ~1"),
    *numbers(tenths, matches_per_hour="Matches/h"),
    *texts(ended="Ended ~2"),
]
