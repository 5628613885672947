"""An arena recovered from its ledger: everything a runner needs to go on. Reads only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from peerage.engine.calls.budget import MATCH_BUDGET, PLAYER_BUDGET, dollars
from peerage.engine.record.benches import TOPIC, Benches
from peerage.engine.record.model_watch import Watch
from peerage.engine.record.probed import ProbeCost, probe_costs
from peerage.engine.record.records import ENGINE
from peerage.game.match import DEVELOPMENT, DONE, Fixture
from peerage.ledger import Exchange, FixtureRow, Ledger, LedgerError
from peerage.ledger.forms.codec import by_hex, read_fixture, read_issued, read_record, read_reply
from peerage.ledger.forms.merkle import GENESIS
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.topics.series import clusters_of, given_of
from peerage.ledger.topics.uptimes import unused
from peerage.ledger.topics.waits import TOPIC as WAITS
from peerage.ledger.topics.waits import Stage, Waits
from peerage.ratings.sequential.elo import EloSettings
from peerage.scheduling.standing import EndedMatch, History
from peerage.standings.accounts import (
    Account,
    position,
    read_snapshot,
    spent_beyond,
    spent_by,
    unpriced_calls,
)
from peerage.standings.fold import NOBODY, Standings, after_all
from peerage.standings.looks import ended

_BLOCK = 64
"""Records that are read at a time, from the last one back."""


@dataclass
class Recovered:
    """The state of an arena.

    `histories` are of issued fixtures, by game. `standings` and `accounts` are after the last record;
    `after_round` the standings at the end of recent rounds, as pairing may need them; `round_ends` the
    moments when rounds ended, and `open` how many matches of each other round are still to be folded in it.
    `paired_after` is the round after which the newest one was paired, 0 where that was the first.
    `next_to_fold` is the next match in number order. `pending` are issued fixtures without a record, with
    their digests, `waits` says which of them wait, and `exchanges` what is on record for the others.
    `billed_nano` sums what is known to have been billed, for probes too, `possibly_nano` what may have been
    in addition: failed calls and those left open by a crash at their worst, replies of unknown cost.
    `spent_by` is both by player, `begun` both by pending match. `left_open` are the calls that the last run
    left open.

    `without_result` counts the recorded matches without a result, `fruitless` the last of them in a row that
    the engine did not end itself. `benches` are the players benched, `models` those that providers named.
    `retired` maps players whose budget voided a match to its round. `unaffordable` counts the last matches
    void for a budget, up to one that was not (see `read_budget_voids`).
    """

    histories: dict[str, History] = field(default_factory=dict)
    standings: Standings = NOBODY
    accounts: dict[str, Account] = field(default_factory=dict)
    chain: bytes = GENESIS
    after_round: dict[int, Standings] = field(default_factory=dict)
    round_ends: list[Stage] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)
    paired_after: int = 0
    next_to_fold: int = 1
    waits: Waits = field(default_factory=Waits)
    next_number: int = 1
    next_round: int = 1
    pending: list[tuple[Fixture, str]] = field(default_factory=list)
    exchanges: dict[int, list[Exchange]] = field(default_factory=dict)
    billed_nano: int = 0
    possibly_nano: int = 0
    unpriced: int = 0
    spent_by: Mapping[str, int] = field(default_factory=dict)
    begun: dict[int, int] = field(default_factory=dict)
    left_open: list[Exchange] = field(default_factory=list)
    without_result: int = 0
    benches: Benches = field(default_factory=Benches)
    models: Watch = field(default_factory=Watch)
    fruitless: int = 0
    retired: dict[str, int] = field(default_factory=dict)
    unaffordable: int = 0

    @property
    def spent_nano(self) -> int:
        """Return what counts against the budget."""
        return self.billed_nano + self.possibly_nano

    def round_of(self, place: int) -> int:
        """The round that was going on when the match at this place was folded."""
        return bisect_left(self.round_ends, place, key=itemgetter(0)) + 1

    def charge(self, costs: Mapping[str, ProbeCost]) -> None:
        """Count what probes cost."""
        self.billed_nano += sum([cost.billed_nano for cost in costs.values()])
        self.possibly_nano += sum([cost.possibly_nano for cost in costs.values()])
        self.unpriced += sum([cost.unknown for cost in costs.values()])
        self.spent_by = dict(Counter(self.spent_by) + Counter({p: c.most_nano for p, c in costs.items()}))


def histories(ledger: Ledger) -> dict[str, History]:
    """All issued fixtures, by game."""
    by_game: dict[str, History] = {}
    for row in ledger.fixtures():
        _remember(by_game, row)
    return by_game


def _remember(histories: dict[str, History], row: FixtureRow) -> int:
    """Take in a fixture; after how many matches were the ratings that it was paired from?"""
    issued = read_issued(row.body)
    histories.setdefault(issued.game, History()).remember(
        [seat.player for seat in issued.seats], issued.topic
    )
    return issued.snapshot


def recover(ledger: Ledger, lag: int, elo: EloSettings) -> Recovered:
    """Read where the arena stands; `lag` in rounds."""
    issued, recorded = ledger.heads()
    recovered = Recovered(waits=Waits.of(ledger.amendments(WAITS)))
    ends: dict[int, Stage] = {}
    waiting: list[FixtureRow] = []
    snapshot = 0
    for place, row in enumerate(ledger.fixtures(), 1):
        snapshot = _remember(recovered.histories, row)
        left = recovered.waits.left.get(row.number)
        if place > recorded:
            waiting.append(row)
        elif left is not None:
            recovered.waits.folded(row.number, place)
        recovered.open[row.round] = recovered.open.get(row.round, 0) + (place > recorded and left is None)
        ends[row.round] = max(ends.get(row.round, (0, 0)), left or recovered.waits.at(place))
    in_order = [row.number for row in waiting if row.number not in recovered.waits.left]
    recovered.next_to_fold = min(in_order, default=issued + 1)
    recovered.next_number = issued + 1
    recovered.next_round = max(ends, default=0) + 1
    for round in range(1, recovered.next_round):
        if recovered.open.get(round):
            break
        recovered.open.pop(round, None)
        recovered.round_ends.append(max([ends.get(round, (0, 0)), *recovered.round_ends[-1:]]))
    recovered.paired_after = recovered.round_of(snapshot) if snapshot else 0
    _refold(recovered, ledger, recorded, lag, elo)
    recovered.accounts = position(ledger, elo).accounts
    if recorded:
        recovered.chain = next(iter(ledger.records(recorded, recorded))).chain
    if waiting:
        _take_up(recovered, ledger, waiting, recorded)
    recovered.without_result = recorded - decided(ledger)
    recovered.fruitless = _fruitless(ledger, recorded) if recovered.without_result else 0
    recovered.benches = Benches.of(ledger.amendments(TOPIC))
    recovered.models = Watch.of(ledger)
    recovered.spent_by = spent_beyond(ledger, recovered.accounts, recorded)
    for player, account in recovered.accounts.items():
        if recovered.spent_by.get(player, 0) < account.cost_nano:
            stated, there = dollars(account.cost_nano), dollars(recovered.spent_by.get(player, 0))
            raise LedgerError(
                f"{ledger.address}: {player} cost {stated} by the records of its matches, and {there} by its "
                "replies: somebody changed what these cost, and a budget would not hold. Nothing was "
                "written; restore the ledger from a copy"
            )
    recovered.billed_nano += sum([account.cost_nano for account in recovered.accounts.values()])
    recovered.possibly_nano = sum(recovered.spent_by.values()) - recovered.billed_nano
    recovered.unpriced = unpriced_calls(recovered.accounts, recovered.spent_by)
    recovered.charge(probe_costs(ledger))
    held = unused(ledger)
    recovered.billed_nano += sum(held.values())
    recovered.spent_by = dict(Counter(recovered.spent_by) + Counter(held))
    return recovered


def _take_up(recovered: Recovered, ledger: Ledger, waiting: Iterable[FixtureRow], recorded: int) -> None:
    """Read the matches without a record, and what was asked in them."""
    texts = by_hex(ledger.texts())
    recovered.pending = [(read_fixture(row.body, texts), digest_of(row.body)) for row in waiting]
    for exchange in ledger.exchanges(recorded + 1):
        if exchange.match not in recovered.waits.now:
            recovered.exchanges.setdefault(exchange.match, []).append(exchange)
        if exchange.reply is not None:
            _add(recovered.begun, exchange.match, exchange.cost_nano)
            recovered.billed_nano += read_reply(exchange).cost_nano or 0
        else:
            _add(recovered.begun, exchange.match, exchange.lost_nano)
            if exchange.failure is None:
                recovered.left_open.append(exchange)


def all_ended(recovered: Recovered, ledger: Ledger) -> Iterator[tuple[int, EndedMatch]]:
    """Every match on record, with the round that went on when it was folded."""
    series, given = clusters_of(ledger), given_of(ledger)
    for place, summary in enumerate(ledger.summaries(), 1):
        over = ended(summary, series.get(summary.number, 0), given.get(summary.number, ()))
        yield recovered.round_of(place), over


def spent(ledger: Ledger) -> int:
    """Return what counts against the budget by now, in 1e-9 dollars; calls left open at their worst."""
    probed = sum([cost.most_nano for cost in probe_costs(ledger).values()])
    return sum(spent_by(ledger).values()) + probed + sum(unused(ledger).values())


def decided(ledger: Ledger) -> int:
    """Matches on record that came to what they were played for: a result, or a trial's report."""
    return sum(summary.status in (DONE, DEVELOPMENT) for summary in ledger.summaries())


def _fruitless(ledger: Ledger, recorded: int) -> int:
    """Return how many of the last matches came to no result, without those that the engine ended itself."""
    count, last = 0, recorded
    while last > 0:
        first = max(1, last - _BLOCK + 1)
        rows = zip(ledger.summaries(first, last), ledger.records(first, last), strict=True)
        for summary, record in reversed(list(rows)):
            if summary.status in (DONE, DEVELOPMENT):
                return count
            count += read_record(record.body).outcome.detail.get("by") != ENGINE
        last = first - 1
    return count


def read_budget_voids(into: Recovered, ledger: Ledger, since: int) -> None:
    """Find the players `retired` and the matches `unaffordable`, counting from match `since` + 1."""
    for place, summary in enumerate(ledger.summaries(since + 1), since + 1):
        if summary.status.startswith(PLAYER_BUDGET):
            into.retired.setdefault(summary.status.removeprefix(PLAYER_BUDGET), into.round_of(place))
        if summary.status.startswith((MATCH_BUDGET, PLAYER_BUDGET)):
            into.unaffordable += 1
        else:
            into.unaffordable = 0


def _add(sums: dict[int, int], match: int, nano: int | None) -> None:
    sums[match] = sums.get(match, 0) + (nano or 0)


def _refold(recovered: Recovered, ledger: Ledger, recorded: int, lag: int, elo: EloSettings) -> None:
    """Standings now, and at the end of each round that pairing may still ask for."""
    ends = [records for records, _ in recovered.round_ends]
    recent = list(enumerate(ends, 1))[max(0, recovered.next_round - lag - 1) :]
    start = recent[0][1] if recent else recorded
    snapshot = ledger.snapshot(start) if start else None
    standings = NOBODY if snapshot is None else read_snapshot(snapshot[1]).standings
    known = {0: NOBODY}
    for number in sorted({recorded, *[end for _, end in recent]}):
        if number > standings.number:
            standings = after_all(standings, ledger.summaries(standings.number + 1, number), elo)
        known[number] = standings
    recovered.standings = known[recorded]
    recovered.after_round = {round: known[end] for round, end in recent}
