"""Puts finished matches on record: settles ratings, benches players, keeps snapshots.

Matches are folded in number order, whatever order they end in; one that left its round is folded when it
ends.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from functools import partial

from peerage.engine.again.recovery import Recovered
from peerage.engine.calls import pauses
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import ENGINE, MatchTally, settle
from peerage.engine.run.rounds import Rounds
from peerage.game.match import DEVELOPMENT, Fixture, MatchRecord, Outcome
from peerage.ledger import RecordRow, Summary
from peerage.ledger.forms.merkle import link
from peerage.ledger.topics.places import Bench
from peerage.ledger.topics.series import gave_before
from peerage.ratings.sequential.elo import EloSettings
from peerage.standings.accounts import NOTHING, Account, count, snapshot_body
from peerage.standings.looks import ended
from peerage.values.texts import visible

SNAPSHOT_EVERY = 64

_log = logging.getLogger("peerage")

Ended = tuple[Fixture, str, MatchTally, Outcome]


class Folding:
    """The matches of a run that have ended, and what is on record.

    `standings`, `decided` and `without_result` are of the whole arena, `played` counts matches of this run.
    After `GIVE_UP_AFTER` matches in a row without a result, those of earlier runs counted, nothing is
    folded any more and `hopeless` says so; after `GIVE_UP_FIRST` where no match has had a result yet and no
    player failed in the last, or where those are the first of this run that judges were to decide.
    `benched(player, why)` is called when a player is benched on record, `observe` gives each match once it
    is durable, and `votes` the head of the audience's votes, which the log binds.
    """

    def __init__(
        self,
        journal: Journal,
        rounds: Rounds,
        recovered: Recovered,
        elo: EloSettings,
        clock: Callable[[], int],
        *,
        benched: Callable[[str, str], None],
        observe: Callable[[MatchRecord, Summary], None] | None,
        votes: Callable[[], tuple[int, bytes] | None],
    ) -> None:
        self.standings = recovered.standings
        self.without_result = recovered.without_result
        self.decided = recovered.standings.number - recovered.without_result
        self.played = 0
        self.hopeless = ""
        self._journal = journal
        self._rounds = rounds
        self._elo = elo
        self._clock = clock
        self._benched = benched
        self._observe = observe
        self._votes = votes
        self._bound: tuple[int, bytes] | None = None
        self._accounts = recovered.accounts
        self._chain = recovered.chain
        self._benches = recovered.benches
        self._models = recovered.models
        self._left = recovered.waits.left
        self._snapped = recovered.standings.number
        self._next = recovered.next_to_fold
        self._ended: dict[int, Ended] = {}
        self._late: deque[Ended] = deque()
        # What failed may be fixed by now: one match at least is played that no earlier run had begun.
        self._begun = len(recovered.exchanges)
        self._undecided: int | None = 0  # panels without a verdict so far; None once one had one
        self._fruitless = max(0, min(recovered.fruitless, pauses.GIVE_UP_AFTER - 1 - self._begun))

    @property
    def newest(self) -> int:
        """The highest number of a match that has ended and waits for lower ones; 0 for none."""
        return max(self._ended, default=0)

    def end(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> None:
        """Take in a match that has ended; `fold` puts it on record at its turn."""
        ended = fixture, digest, tally, outcome
        if fixture.number in self._left:
            self._late.append(ended)
        else:
            self._ended[fixture.number] = ended
        self.without_result += outcome.void not in ("", DEVELOPMENT)

    def fold(self) -> None:
        """Write the records of matches whose turn it is."""
        while not self.hopeless:
            while self._next in self._left:
                self._next += 1
            late = bool(self._late)
            if not late and self._next not in self._ended:
                return
            fixture, digest, tally, outcome = self._late.popleft() if late else self._ended.pop(self._next)
            self._next += not late
            summary = self._write(fixture, digest, tally, outcome)
            for player, why in tally.benched.items():
                self.bench(player, why)
            for player, why in tally.failed.items():
                least = max(1, pauses.BENCH_AFTER // 2)
                sums = self._accounts.get(player, NOTHING)
                if often := self._benches.too_often(sums, player, least):
                    self.bench(player, f"{often}; the last: {why}"[:500], sums)
            if tally.models and fixture.release:
                self._watch_models(fixture.number, tally)
            self._count(outcome, bool(tally.failed))
            over = ended(summary, fixture.series or fixture.shares, gave_before(fixture))
            self._rounds.folded(fixture, outcome, over, self.standings, tally.replies, late=late)
            if self.standings.number % SNAPSHOT_EVERY == 0:
                self.snapshot()
                self.bind_votes()

    def bench(self, player: str, why: str, sums: Account = NOTHING) -> None:
        """Put on record that a player fails for good since the last match, or too often by its `sums`, and
        from when on pairing leaves it out. Whether a match paired before has begun by now depends on speed.
        So one that fails too often still plays it: what comes of it is the same at any concurrency."""
        was = self._benches.out.get(player)
        if was is None or was.event == "paused":
            when = self._rounds.first_without, self.standings.number
            entry = Bench(player, "benched", *when, why, seated=sums.seated, failed=sums.failed)
            self._enter(entry)
            if entry.final:
                self._benched(player, why)

    @property
    def benched(self) -> dict[str, str]:
        """Return why each player that is benched on record is."""
        return {name: entry.why for name, entry in self._benches.out.items() if entry.event == "benched"}

    def bring_back(self, player: str) -> None:
        """Put on record that a player answers again, and from when on pairing has it."""
        sums, when = self._accounts.get(player, NOTHING), (self._rounds.first_without, self.standings.number)
        why = "it answers again"
        self._enter(Bench(player, "returned", *when, why, seated=sums.seated, failed=sums.failed))

    def _enter(self, entry: Bench) -> None:
        self._journal.rows.amend(self._benches.enter(entry, self._clock()))
        self._journal.touch()

    def _watch_models(self, number: int, tally: MatchTally) -> None:
        """Record and log that a provider names another model than before."""
        for change in self._models.see(self.standings.number, number, tally.models):
            self._journal.rows.amend(self._models.enter(change, self._clock()))
            self._journal.touch()
            if change.before:
                _log.warning(
                    "%s: %s; its rating counts all its matches", change.player, visible(change.in_words)
                )

    def _count(self, outcome: Outcome, failed: bool) -> None:
        fresh = not failed and self.played > self._begun
        if self._undecided is not None and fresh and "ballots" in outcome.detail:
            self._undecided = self._undecided + 1 if outcome.void else None
            if self._undecided == pauses.GIVE_UP_FIRST:
                self.hopeless = (
                    f"the first {self._undecided} matches that judges were to decide came to no result"
                )
        if outcome.void in ("", DEVELOPMENT):
            self.decided += 1
            self._fruitless = 0
        elif outcome.detail.get("by") != ENGINE:
            self._fruitless += 1
            if fresh and not self.decided and self._fruitless >= pauses.GIVE_UP_FIRST:
                self.hopeless = f"the first {self.standings.number} matches came to no result"
            elif self._fruitless >= pauses.GIVE_UP_AFTER:
                self.hopeless = f"the last {self._fruitless} matches came to no result"

    def _write(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> Summary:
        settled = settle(fixture, digest, tally, outcome, self.standings, self._elo, self._clock())
        self._chain = link(self._chain, settled.body)
        rows = self._journal.rows
        rows.records.append(RecordRow(fixture.number, settled.body, self._chain, settled.summary.at_ms))
        rows.summaries.append(settled.summary)
        self._journal.touch()
        self.standings = settled.standings
        count(self._accounts, settled.summary, settled.record.totals)
        self.played += 1
        if self._observe is not None:
            self._journal.then(partial(self._observe, settled.record, settled.summary))
        return settled.summary

    def bind_votes(self) -> None:
        """Take the head of the audience's votes into the log, where it is another than before."""
        head = self._votes()
        if head != self._bound:
            self._bound = self._journal.rows.votes = head
            self._journal.touch()

    def snapshot(self) -> None:
        """Keep ratings and sums as they are now, where they are not kept yet."""
        if self.standings.number != self._snapped:
            self._snapped = self.standings.number
            body = snapshot_body(self.standings, self._accounts)
            self._journal.rows.snapshots.append((self.standings.number, body))
            self._journal.touch()
