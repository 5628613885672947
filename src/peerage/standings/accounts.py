"""Sums of what every player has done and cost so far: a fold of finished matches, kept next to the ratings.

The sums go into each rating snapshot, so that a table reads one snapshot and the few matches after it,
never all records. They are derived: where no snapshot holds them they are folded from the first record.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from peerage.game.match import DONE, Totals
from peerage.game.protocol import SANDBOX
from peerage.ledger import Ledger, LedgerError, Summary
from peerage.ledger.check.audit import audit
from peerage.ratings.sequential.elo import EloSettings
from peerage.standings.fold import NOBODY, Standings, after_all


class Account(Struct, frozen=True, gc=False):
    """One player's sums over finished matches.

    `matches` were decided, of which `wins` with the best score alone, `draws` with the best score shared;
    `void` came to nothing. These count it as a contestant. `calls`, tokens and `cost_nano` (1e-9 dollars)
    count everything it was asked, as an official too; `unknown_costs` are the calls without a known cost.
    `answer_cost` sums, in the arena's cost unit, what its own play cost in the `answers_priced` decided
    matches where that is known. `failed` counts the matches in which it gave no reply as a contestant, of
    `seated` in which it was one: all decided and void ones, and those that ended without ranking it.
    """

    matches: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    void: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_nano: int = 0
    unknown_costs: int = 0
    answer_cost: float = 0.0
    answers_priced: int = 0
    seated: int = 0
    failed: int = 0

    @property
    def cost_usd(self) -> float | None:
        """Everything it is known to have been billed, in dollars; None while the cost of no call is known."""
        return None if self.calls and self.unknown_costs == self.calls else self.cost_nano / 1e9

    @property
    def cost_per_match(self) -> float | None:
        """Mean cost of its own play in a decided match, in the arena's cost unit; None when unknown."""
        return self.answer_cost / self.answers_priced if self.answers_priced else None


NOTHING = Account()


class Sums:
    """Sums of what players did and cost, while they are added up over many matches."""

    def __init__(self, accounts: Mapping[str, Account] = {}) -> None:
        self._sums: dict[str, list[Any]] = {player: [*astuple(was)] for player, was in accounts.items()}

    def accounts(self) -> dict[str, Account]:
        """The sums so far."""
        return {player: Account(*sums) for player, sums in self._sums.items()}

    def add(self, summary: Summary, totals: Mapping[str, Totals]) -> None:
        """Count one more finished match, the next in order."""
        for player, spent in totals.items():
            if player == SANDBOX:
                continue
            sums = self._of(player)
            sums[_CALLS] += spent.calls
            sums[_INPUT] += spent.input_tokens
            sums[_OUTPUT] += spent.output_tokens
            sums[_COST] += spent.cost_nano
            sums[_UNKNOWN] += spent.unknown_costs
            if spent.failed is True:
                sums[_FAILED] += 1
                sums[_SEATED] += player not in summary.players
        done = summary.status == DONE
        best = max(summary.scores, default=0.0)
        alone = summary.scores.count(best) == 1
        for place, player in enumerate(summary.players):
            sums = self._of(player)
            sums[_SEATED] += 1
            if not done:
                sums[_VOID] += 1
                continue
            sums[_MATCHES] += 1
            won = summary.scores[place] == best
            sums[_LOSSES if not won else _WINS if alone else _DRAWS] += 1
            cost = summary.costs[place]
            if cost is not None and player in totals:  # else its answer was given before, and counted then
                sums[_ANSWER_COST] += cost
                sums[_PRICED] += 1

    def _of(self, player: str) -> list[Any]:
        sums = self._sums.get(player)
        if sums is None:
            sums = self._sums[player] = [*_NOTHING]
        return sums


_NOTHING = astuple(NOTHING)
_MATCHES, _WINS, _DRAWS, _LOSSES, _VOID, _CALLS, _INPUT, _OUTPUT, _COST, _UNKNOWN = range(10)
_ANSWER_COST, _PRICED, _SEATED, _FAILED = range(10, len(_NOTHING))


def count(accounts: dict[str, Account], summary: Summary, totals: Mapping[str, Totals]) -> None:
    """Count one more finished match, the next in order, into `accounts`."""
    named = {*totals, *summary.players}
    sums = Sums({player: accounts[player] for player in named if player in accounts})
    sums.add(summary, totals)
    accounts.update(sums.accounts())


class Position(NamedTuple):
    """State of an arena after match `standings.number`: ratings and sums."""

    standings: Standings
    accounts: dict[str, Account]


def possibly_billed(ledger: Ledger, known: Mapping[str, Account]) -> dict[str, int]:
    """Return what players may have been billed for finished matches beyond what is `known`, in 1e-9 dollars:
    failed calls and calls left open by a crash at their worst, replies of unknown cost. Others are not named.
    Raises LedgerError."""
    unsure = _unsure(known)
    more = {
        player: nano - (known[player].cost_nano if player in unsure else 0)
        for player, nano in ledger.spent_by(ledger.heads()[1], unsure).items()
    }
    return {player: nano for player, nano in more.items() if nano > 0}


def spent_by(ledger: Ledger) -> dict[str, int]:
    """Return what each player cost by now, in 1e-9 dollars, matches under way included: the sums of
    `Ledger.spent_by`, most of them by the records. Raises LedgerError."""
    standings, known, since = _summed(ledger)
    return spent_beyond(ledger, known, standings.number + len(since))


def spent_beyond(ledger: Ledger, known: Mapping[str, Account], recorded: int) -> dict[str, int]:
    """Return the same where the sums after match `recorded`, the last on record, are `known`."""
    unsure = _unsure(known)
    spent = Counter(ledger.spent_by(None, unsure))
    for player, account in known.items():
        if player not in unsure:
            spent[player] += account.cost_nano
    for exchange in ledger.exchanges(recorded + 1):
        if exchange.reply is not None and exchange.player not in unsure:
            spent[exchange.player] += exchange.cost_nano or 0
    return dict(spent)


def unpriced_calls(known: Mapping[str, Account], spent: Mapping[str, int]) -> int:
    """Calls of finished matches without a known price, whose cost is unbounded; `spent` as of `Ledger`."""
    return sum(
        [
            account.unknown_costs
            for player, account in known.items()
            if account.unknown_costs and spent.get(player, 0) <= account.cost_nano
        ]
    )


def unpriced(ledger: Ledger) -> int:
    """`unpriced_calls` of a ledger. Raises LedgerError."""
    _, known, _ = _summed(ledger)
    return unpriced_calls(known, ledger.spent_by(None, _unsure(known)))


def _unsure(known: Mapping[str, Account]) -> set[str]:
    """The players who cost something else than their records say; reading all replies would be slow."""
    return {player for player, account in known.items() if account.unknown_costs}


class _Snapshot(Standings, frozen=True, kw_only=True):
    """A stored snapshot."""

    accounts: dict[str, Account]


_read_snapshot = msgspec.json.Decoder(_Snapshot).decode


def snapshot_body(standings: Standings, accounts: dict[str, Account]) -> bytes:
    """The stored bytes of a snapshot."""
    return msgspec.json.encode(_Snapshot(*astuple(standings), accounts=accounts))


def read_snapshot(body: bytes) -> Position:
    """A stored snapshot."""
    stored = _read_snapshot(body)
    standings = Standings(stored.number, stored.players, stored.raw, stored.cost, stored.skills)
    return Position(standings, stored.accounts)


def position(ledger: Ledger, elo: EloSettings) -> Position:
    """Return the state of an arena after its last record. Raises LedgerError when the ledger lacks rows."""
    standings, accounts, since = _summed(ledger)
    return Position(after_all(standings, since, elo), accounts)


def _summed(ledger: Ledger) -> tuple[Standings, dict[str, Account], list[Summary]]:
    """The ratings of the newest snapshot, the sums after the last record, and the matches in between."""
    stored = ledger.snapshot()
    standings, accounts = read_snapshot(stored[1]) if stored else Position(NOBODY, {})
    _, last = ledger.heads()
    # What follows the snapshot is in no digest that was logged with it, and it is little.
    since = audit(ledger.as_stored(), standings.number + 1, last, replies=False)
    for number, what in since.problems:
        raise LedgerError(f"{ledger.address}: match {number}: {what}; `peerage verify` says more")
    deque(ledger.records(last, last), maxlen=0)  # the end of the chain as it was logged
    sums = Sums(accounts)
    for summary, totals in since.matches:
        sums.add(summary, totals)
    return standings, sums.accounts(), [summary for summary, _ in since.matches]
