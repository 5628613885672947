"""An arena at this moment: who runs it, which matches are how far, which wait, what is in flight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from peerage.engine.again.recovery import spent
from peerage.engine.record.probed import probe_costs, probed_media
from peerage.game.blocks import Sentence
from peerage.game.media import Kind
from peerage.games import hides_turns
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_issued
from peerage.ledger.topics.uptimes import hosts_up, uptimes
from peerage.ledger.topics.waits import Waiting, waits
from peerage.players.media import KINDS
from peerage.reading.results.outside import imported, in_words, total
from peerage.render.blocks import Rows, ViewBlock, explained, numbers, texts
from peerage.standings.accounts import unpriced
from peerage.values.figures import counted, dollars, hundredths, listed, moment, tenths, whole
from peerage.views.shown import Shown


class MatchNow(Shown, frozen=True):
    """A match that has begun, did not leave its round, and is not on record yet: one that has ended asks
    nobody and waits for those with lower numbers. Its contestants, how many `replies` it has, when the last
    one came (Unix milliseconds), and whom it `asks` now. These three are null or empty in games where they
    would tell who holds which role. `worker` is the number of the worker that drives it, null where none
    does."""

    match: int
    round: int
    game: str
    players: tuple[str, ...]
    replies: int | None
    last_ms: int | None
    asks: tuple[str, ...]
    worker: int | None = None


class WaitingMatch(Shown, frozen=True):
    """A match that waits: its contestants, and for which `player` and `why`. Times in Unix milliseconds;
    `until_ms` is null where the player did not say when."""

    match: int
    round: int
    players: tuple[str, ...]
    player: str
    why: str
    since_ms: int
    until_ms: int | None


class WorkerNow(Shown, frozen=True):
    """A worker of a run on many machines: its number, its process and host, and the matches it has."""

    number: int
    process: str
    matches: tuple[int, ...]


class HostRow(Shown, frozen=True):
    """One host that was started: since when it is up (Unix milliseconds, null where it is not), how many
    matches are `waiting` for its players; of its past uptimes how many `starts` there were, the hours held,
    what they cost (null where the price is unknown), the matches with calls in them and how many an hour, and
    why the last one ended: done, longest, stopped, crashed, or failed with the reason."""

    host: str
    up_since_ms: int | None
    waiting: int
    starts: int
    hours: float
    cost_usd: float | None
    matches: int
    matches_per_hour: float | None
    ended: str


class Status(Shown, frozen=True):
    """One moment of an arena. `runner` is who runs it, null when nobody does: its calls in flight were then
    left open, by a run that was cut off, and count as possibly billed. Matches: `recorded`, `waiting` for
    players, by number, `issued` and not begun; imported results are `outside`, by noun. Of the calls in
    flight `open_usd` is what they may cost at most, a part of `spent_usd`; `unpriced` calls have no known
    price and are not in it. `workers` are those of a run under `engine: ray`, `hosts` those that were
    started; `untaken` are the media that players do not take by their probes."""

    runner: str | None
    recorded: int
    waiting: tuple[WaitingMatch, ...]
    issued: int
    open_calls: int
    open_usd: float
    spent_usd: float
    unpriced: int
    under_way: tuple[MatchNow, ...]
    workers: tuple[WorkerNow, ...] = ()
    hosts: tuple[HostRow, ...] = ()
    outside: Mapping[str, int] = {}
    untaken: Mapping[str, Sequence[Kind]] = {}


def host_rows(ledger: Ledger, folder: Path, waiting: Mapping[str, int]) -> tuple[HostRow, ...]:
    """A row for each host that was ever started, by name; `waiting` are matches that wait, by player. Raises
    LedgerError."""
    up = {one.host: one for one in hosts_up(folder).values()}
    past, players = list(uptimes(ledger)), dict[str, set[str]]()
    for one in past:
        players.setdefault(one.host, set()).update(one.used)
    for host, running in up.items():
        players.setdefault(host, set()).update(running.players)
    rows = []
    for host, served in sorted(players.items()):
        ended = [one for one in past if one.host == host]
        hours, matches = sum(one.hours for one in ended), sum(one.matches for one in ended)
        known = any(one.nano_per_hour is not None for one in ended)
        rows.append(
            HostRow(
                host=host,
                up_since_ms=up[host].started_ms if host in up else None,
                waiting=sum(waiting.get(player, 0) for player in served),
                starts=len(ended),
                hours=hours,
                cost_usd=sum(one.held_nano for one in ended) / 1e9 if known else None,
                matches=matches,
                matches_per_hour=matches / hours if hours else None,
                ended=ended[-1].why if ended else "",
            )
        )
    return tuple(rows)


def status(ledger: Ledger, folder: Path) -> Status:
    """Return what `peerage status` shows of the arena in `folder`. Raises LedgerError."""
    runner = ledger.holder()
    workers = _workers(ledger.address) if runner else ()
    drives = {number: one.number for one in workers for number in one.matches}
    issued, recorded = ledger.heads()
    away = waits(ledger).now
    under_way, calls, worst = list[MatchNow](), 0, 0
    for number, rows in groupby(ledger.exchanges(recorded + 1), attrgetter("match")):
        attempts = list(rows)
        asked = [one for one in attempts if one.reply is None and one.failure is None]
        calls += len(asked)
        worst += sum(one.worst_nano or 0 for one in asked)
        match = ledger.match(number, exchanges=False)
        if number in away or match is None or match.record is not None:
            continue
        fixture = read_issued(match.fixture.body)
        closed = hides_turns(fixture.game)
        times = [one.at_ms for one in attempts if one.at_ms is not None]
        now = MatchNow(
            match=number,
            round=match.fixture.round,
            game=fixture.game,
            players=tuple([seat.player for seat in fixture.seats]),
            replies=None if closed else len(times),
            last_ms=None if closed else max(times, default=None),
            asks=() if closed else tuple(sorted({one.player for one in asked})),
            worker=drives.get(number),
        )
        under_way.append(now)
    left = issued - recorded - len(under_way) - len(away)
    return Status(
        runner=runner or None,
        recorded=recorded,
        waiting=tuple(_waiting(ledger, away)),
        issued=max(0, left),
        open_calls=calls,
        open_usd=worst / 1e9,
        spent_usd=spent(ledger) / 1e9,
        unpriced=unpriced(ledger) + sum([cost.unknown for cost in probe_costs(ledger).values()]),
        untaken={
            player: [kind for kind, taken in media.items() if not taken]
            for player, media in probed_media(ledger).items()
            if not all(media.values())
        },
        under_way=tuple(under_way),
        workers=workers,
        outside=total(imported(ledger)),
        hosts=host_rows(ledger, folder, Counter([one.player for one in away.values()])),
    )


def _workers(address: str) -> tuple[WorkerNow, ...]:
    if not address.startswith("postgresql://"):
        return ()
    from peerage.cluster.leases import working

    return tuple([WorkerNow(number, who, tuple(has)) for number, (who, has) in working(address).items()])


def _waiting(ledger: Ledger, away: Mapping[int, Waiting]) -> Iterator[WaitingMatch]:
    for number, wait in sorted(away.items()):
        if rows := ledger.match(number, exchanges=False):
            players = tuple([seat.player for seat in read_issued(rows.fixture.body).seats])
            yield WaitingMatch(
                number, rows.fixture.round, players, wait.player, wait.why, wait.since_ms, wait.until_ms
            )


def blocks(found: Status) -> list[ViewBlock]:
    """Return what goes on, in sentences and tables."""
    return [*map(Sentence, _sentences(found)), *[table for table in tables(found) if table.rows]]


def _sentences(found: Status) -> Iterator[str]:
    runs = f"{found.runner} runs this arena" if found.runner else "Nobody runs this arena now"
    more = [(len(found.waiting), "waiting"), (found.issued, "issued and not begun")]
    parts = [in_words({**found.outside, "match": found.recorded}) + " on record"]
    parts += [f"{whole(count)} {what}" for count, what in more if count]
    yield f"{runs}: {', '.join(parts)}."
    if found.open_calls:
        most = f" for at most {dollars(found.open_usd)}" * bool(found.open_usd)
        calls = f"{counted(found.open_calls, 'call')}{most}"
        billed = f"counts {'it' if found.open_calls == 1 else 'them'} as billed and " * bool(found.open_usd)
        left_open = f"left open by a run that was cut off; the next `peerage run` {billed}goes on from there"
        yield f"{calls} {'in flight' if found.runner else left_open}."
    unpriced = [f"{counted(found.unpriced, 'call')} of unknown cost"] if found.unpriced else []
    spent = [f"{dollars(found.spent_usd)} spent at most"] if found.spent_usd else []
    yield f"{', and '.join([*spent, *unpriced]) or 'Nothing is spent'}."
    for player, kinds in found.untaken.items():
        yield f"{player} does not take {listed([KINDS[kind] for kind in kinds])}, by its probe."
    for worker in found.workers:
        yield f"Worker {worker.number}, {worker.process}: {counted(len(worker.matches), 'match')}."


def tables(found: Status) -> list[Rows]:
    """Return the matches under way, those that wait, and hosts."""
    under_way = [
        *numbers(str, match="Match", round="Round ~2"),
        *texts(game="Game ~2"),
        *texts(" and ".join, players="Between"),
        *numbers(whole, replies="Replies"),
        *texts(moment, last_ms="Last reply ~1"),
        *texts(", ".join, asks="Asks now"),
        *numbers(whole, worker="Worker ~1"),
    ]
    if any(match.replies is None for match in found.under_way):
        hidden = "not shown in games where they would tell who holds which role."
        under_way = explained(under_way, replies=hidden)
    waiting = [
        *numbers(str, match="Match"),
        *texts(" and ".join, players="Between"),
        *texts(player="Waits for", why="Why ~1"),
        *texts(moment, since_ms="Since", until_ms="Until ~2"),
    ]
    hosts = [
        *texts(host="Host"),
        *texts(moment, up_since_ms="Up since"),
        *numbers(whole, waiting="Waiting", starts="Starts ~2"),
        *numbers(hundredths, hours="Hours held"),
        *numbers(dollars, cost_usd="Cost"),
        *numbers(whole, matches="Matches ~1"),
        *numbers(tenths, matches_per_hour="Matches/h"),
        *texts(ended="Ended ~2"),
    ]
    title = counted(len(found.under_way), "match under way", "matches under way")
    waits = counted(len(found.waiting), "match waits", "matches wait")
    return [
        Rows(found.under_way, under_way, title=title, name="under_way"),
        Rows(found.waiting, waiting, title=waits, name="waiting"),
        Rows(found.hosts, hosts, title="Hosts paid by the hour", name="hosts"),
    ]
