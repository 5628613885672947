"""Replay: recompute every outcome and rating of a ledger offline, and compare with what is on record.

`verify` checks that a ledger is as it was written. Replay checks that what was written follows from the
replies: each game is driven again with the recorded replies, each request it makes is compared byte for
byte, and outcome, root, totals, ratings and the row of the narrow table are derived again. So is what
the matches prove at each look on record. Answers given before are compared with the replies of then.

Not recomputed: matches that the engine voided without asking the game (budget, withdrawn player), which are
accepted as stated and counted; pairing and the draw of topics, which are on record as issued; games or
versions that this program does not have, which are counted by the release that has them; and matches that
are sealed in this copy. The roots, totals and ratings of all these are checked all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from peerage.engine.again.replayed import UNREADABLE, Difference, Replayed, by_helper, replayed, short
from peerage.engine.record.model_watch import Change, Watch, changes
from peerage.engine.record.records import settle
from peerage.game.match import ANSWERS, Fixture, MatchRecord
from peerage.ledger import MENDED, Batch, FixtureRow, Ledger, LedgerError, RecordRow, Summary
from peerage.ledger.forms.codec import by_hex, read_fixture, read_issued, read_record, read_reply
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.narrow import is_time
from peerage.ledger.matches import BLOCK
from peerage.ledger.topics.places import places
from peerage.ledger.topics.waits import waits
from peerage.ratings.sequential.elo import EloSettings
from peerage.settings import Rating
from peerage.standings.accounts import Account, Position, count, read_snapshot, snapshot_body
from peerage.standings.fold import NOBODY, Standings, pinned_elo
from peerage.standings.looks import Again
from peerage.values.figures import counted
from peerage.values.parallel import Helpers, Lost, in_order

PARALLEL_FROM = 2_000
"""Matches from which on helpers are worth it, and the most that one of them plays again at a time."""

TOLERANCE = 1e-6
"""By how much a recomputed rating, weight or share may differ: another machine's last bits, nothing more."""


@dataclass(frozen=True)
class Elsewhere:
    """So many `matches`, from `first` to `last`, of a version of a game that this program does not have.
    `release` has it, as pip names it: `peerage==0.2.0`, and the package of a game that is none of ours."""

    game: str
    version: int
    release: str
    matches: int
    first: int
    last: int


@dataclass(frozen=True)
class ReplayReport:
    """Result of a replay. `matches` are on record; of them `recomputed` were played again from their replies,
    `as_stated` were voided by the engine, `sealed` cannot be read in this copy, and `elsewhere` are those
    that another release recomputes."""

    matches: int
    recomputed: int
    as_stated: int
    sealed: int
    elsewhere: tuple[Elsewhere, ...]
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        return not self.differences

    @property
    def complete(self) -> bool:
        """Return whether nothing was left out that some release, or a whole copy, could recompute."""
        return not self.elsewhere and not self.sealed


def replay(
    ledger: Ledger,
    progress: Callable[[int, int], None] | None = None,
    helpers: Helpers | None = None,
    folder: Path | None = None,
) -> ReplayReport:
    """Recompute the finished matches of a ledger; a running arena may go on writing. `progress(done, all)` is
    called now and then. Where it is worth it `helpers` play the matches again; the games of files that they
    need are in the arena's `folder`. Raises LedgerError when the ledger cannot be read."""
    ledger = ledger.as_stored()
    return _Replay(ledger, ledger.summaries).run(progress, helpers, folder)


def repair(
    ledger: Ledger,
    progress: Callable[[int, int], None] | None = None,
    helpers: Helpers | None = None,
    folder: Path | None = None,
) -> ReplayReport:
    """Write again what follows from the records, where these follow from the replies: the narrow table and
    the newest snapshot, which are not compared. Nothing is written when there are differences. Raises
    LedgerBusy while a run goes on, and LedgerError."""
    with ledger.runner():
        recomputed = _Replay(ledger.as_stored(), None)
        report = recomputed.run(progress, helpers, folder)
        if report.ok:
            ledger.replace_summaries(recomputed.summaries)
            times = int(ledger.meta().get(MENDED, "0")) + 1
            snapshots = [(report.matches, recomputed.snapshot())]
            ledger.write(Batch(snapshots=snapshots, meta={MENDED: str(times)}))
    return report


class _Unreadable(Exception):
    """A part that a helper process could not read."""


_STATED = ("key", "status", "reason", "cost", "request")
"""Fields of an answer that a fact has too."""


class _Replay:
    """One pass over a ledger. The next match builds on what was recomputed, never on what is on record.
    `stored` gives the rows of the narrow table, which are compared as the newest snapshot is; without it
    neither is, and `summaries` are the rows as they must be."""

    def __init__(self, ledger: Ledger, stored: Callable[[int, int | None], Iterator[Summary]] | None) -> None:
        # First, as a run may go on: what is read next knows of all these matches.
        _, self._last = ledger.heads()
        meta = ledger.meta()
        self._stored = stored
        self.summaries: list[Summary] = []
        self._looks = Again(ledger)
        self._ledger = ledger
        self._elo: EloSettings = pinned_elo(meta, Rating())
        self._texts = by_hex(ledger.texts())
        self._places = places(ledger)
        self._standings = NOBODY
        self._past: dict[int, Standings] = {0: NOBODY}  # as far back as fixtures still refer to
        self._oldest = 0
        self._left = frozenset(waits(ledger).left)
        self._awaited = frozenset(  # those that matches which waited were paired by
            [
                read_issued(row.body).snapshot
                for at in map(ledger.place, self._left)
                for row in ledger.fixtures(at, at)
            ]
        )
        self._accounts: dict[str, Account] = {}
        self._recomputed = 0
        self._as_stated = 0
        self._watch = Watch()
        self._models: list[Change] = []
        self._sealed = 0
        self._elsewhere: dict[tuple[str, int, str], Elsewhere] = {}
        self._differences: list[Difference] = []

    def run(
        self, progress: Callable[[int, int], None] | None, helpers: Helpers | None, folder: Path | None
    ) -> ReplayReport:
        last, stored = self._last, None
        for number, body, fits in self._ledger.snapshots() if self._stored else ():
            if fits and number <= last:
                stored = number, body
        again = self._again(last, helpers, folder)
        for first in range(1, last + 1, BLOCK):
            span = first, min(first + BLOCK - 1, last)
            fixtures = {row.number: row for row in self._ledger.fixtures(*span)}
            summaries = {row.number: row for row in self._stored(*span)} if self._stored else {}
            for at, row in enumerate(self._ledger.records(*span), first):
                try:
                    self._match(row, fixtures.get(row.number), next(again), summaries.get(row.number))
                except (*UNREADABLE, _Unreadable) as error:
                    self._differ(row.number, "stored form", "something else", f"cannot be read: {error}")
                    self._past[at] = self._standings
                if stored is not None and stored[0] == at:
                    self._compare_snapshot(row.number, stored[1])
            if progress is not None:
                progress(span[1], last)
        self._compare_models(last)
        for look, (better, worse) in self._looks.false():
            about = f"claims after {counted(look.matches, 'match', 'matches')}"
            self._differ(look.matches, about, f"{better} above {worse}", "not proven")
        if progress is not None and not last:
            progress(0, 0)
        return ReplayReport(
            last,
            self._recomputed,
            self._as_stated,
            self._sealed,
            tuple(self._elsewhere.values()),
            tuple(self._differences),
        )

    def _match(
        self, row: RecordRow, issued: FixtureRow | None, again: Replayed, summary: Summary | None
    ) -> None:
        record = read_record(row.body)
        if not is_time(row.at_ms):
            self._differ(row.number, "when it ended", str(row.at_ms), "a time in milliseconds")
        if issued is None:
            self._differ(row.number, "fixture", record.fixture, "there is none")
            return
        fixture = read_fixture(issued.body, self._texts)
        self._seats(fixture)
        self._answers(fixture)
        self._differences += again.differences
        tally, outcome = again.tally, again.outcome
        if tally is None or outcome is None:
            raise _Unreadable(again.unreadable)
        self._count(fixture, again.how)
        digest = digest_of(issued.body)
        settled = settle(fixture, digest, tally, outcome, self._standings, self._elo, row.at_ms)
        if settled.body != row.body:
            self._compare(row.number, _record_fields(record), _record_fields(settled.record))
        self._looks.see(settled.summary)
        if self._stored is None:
            self.summaries.append(settled.summary)
        elif summary is None:
            self._differ(row.number, "row of the narrow table", "none", "one")
        elif settled.summary != summary:
            self._compare(row.number, *[_fields("narrow table", line) for line in (summary, settled.summary)])
        if tally.models and fixture.release:
            self._models += self._watch.see(settled.standings.number, row.number, tally.models)
        self._standings = settled.standings
        self._past[settled.standings.number] = settled.standings
        count(self._accounts, settled.summary, settled.record.totals)

    def snapshot(self) -> bytes:
        """The snapshot as it must be."""
        return snapshot_body(self._standings, self._accounts)

    def _again(self, last: int, helpers: Helpers | None, folder: Path | None) -> Iterator[Replayed]:
        """Yield what follows of each finished match by itself."""
        if helpers is None or last < PARALLEL_FROM:
            yield from replayed(self._ledger, 1, last)
            return
        each = min(PARALLEL_FROM, max(BLOCK, last // (4 * helpers.count)))
        of = self._ledger.address, folder and folder.resolve()
        parts = [(*of, first, min(first + each - 1, last)) for first in range(1, last + 1, each)]
        try:
            yield from chain.from_iterable(in_order(helpers, by_helper, parts))
        except Lost as lost:
            raise LedgerError(f"{lost}; replay again") from None

    def _count(self, fixture: Fixture, how: str) -> None:
        self._recomputed += how == "again"
        self._as_stated += how == "stated"
        self._sealed += how == "sealed"
        if how == "elsewhere":
            which = fixture.game, fixture.version, fixture.release
            known = self._elsewhere.get(which, Elsewhere(*which, 0, fixture.number, fixture.number))
            first, last = min(known.first, fixture.number), max(known.last, fixture.number)
            self._elsewhere[which] = Elsewhere(*which, known.matches + 1, first, last)

    def _seats(self, fixture: Fixture) -> None:
        """Seats carry the ratings that the match was paired, and its judges weighted, by."""
        # One that waited may end before others of an earlier round.
        oldest = 0 if fixture.number in self._left else min(fixture.snapshot, self._standings.number)
        while self._oldest < oldest:
            if self._oldest not in self._awaited:
                self._past.pop(self._oldest, None)
            self._oldest += 1
        standings = self._past.get(fixture.snapshot)
        if standings is None:
            self._differ(fixture.number, "snapshot", str(fixture.snapshot), "not a match before, in order")
            return
        due = self._places.paired_from(fixture.snapshot, fixture.round) if self._places else 0
        if fixture.paired_from and self._places and fixture.paired_from != due:
            self._differ(fixture.number, "paired_from", str(fixture.paired_from), str(due))
        stated, due_ratings = {}, {}
        for seat in fixture.all_seats():
            about = f"ratings of {seat.player} as {seat.label}"
            stated[about] = seat.raw, seat.cost
            due_ratings[about] = standings.of(seat.player, self._elo.initial)
        self._compare(fixture.number, stated, due_ratings)

    def _answers(self, fixture: Fixture) -> None:
        """Compare answers that were given before with their replies, and with what came of these."""
        for label, answer in fixture.given.items():
            rows = self._ledger.match(answer.match) if answer.match < fixture.number else None
            reply = {row.key: row for row in rows.exchanges if row.reply is not None} if rows else {}
            own = next(seat.player for seat in fixture.seats if seat.label == label)
            stated = own, answer.text, answer.hidden, *[getattr(answer, name) for name in _STATED]
            due: tuple[Any, ...] = ("none",)
            if rows and rows.record and (row := reply.get(answer.key)) is not None:
                facts = read_record(rows.record.body).outcome.facts
                new: Mapping[str, Any] = next(
                    (fact[ANSWERS][own] for fact in facts if own in fact.get(ANSWERS, {})), {}
                )
                there = read_reply(row)
                due = row.player, there.text, there.hidden, *map(new.get, _STATED)
            if stated != due:
                about = f"answer of {label} from match {answer.match}"
                self._differ(fixture.number, about, short(stated), short(due))

    # ---------------------------------------------------------------------------------------- comparing

    def _compare(self, number: int, recorded: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
        for about in {**recorded, **derived}:
            before, after = recorded.get(about), derived.get(about)
            if before != after and not _alike(_plain(before), _plain(after)):
                self._differ(number, about, short(before), short(after))

    def _compare_models(self, last: int) -> None:
        """Compare the recorded models that providers named; a running arena may have gone on."""
        after = set(self._ledger.numbers(last + 1, self._ledger.heads()[1]))
        on_record = chain.from_iterable(changes(self._ledger).values())
        recorded = [change for change in on_record if change.match not in after]
        for change in sorted({*recorded} ^ {*self._models}, key=lambda entry: (entry.match, entry.player)):
            there, due = change in recorded, change in self._models
            words = (change.in_words if held else "no entry" for held in (there, due))
            self._differ(change.match, f"models of {change.player}", *words)

    def _compare_snapshot(self, number: int, body: bytes) -> None:
        """Compare the newest snapshot, which tables read."""
        due = Position(self._standings, self._accounts)
        self._compare(number, *[_snapshot_fields(position) for position in (read_snapshot(body), due)])

    def _differ(self, match: int, about: str, recorded: str, recomputed: str) -> None:
        self._differences.append(Difference(match, about, recorded, recomputed))


def _fields(about: str, struct: msgspec.Struct) -> dict[str, Any]:
    return {f"{about}, {name}": value for name, value in msgspec.structs.asdict(struct).items()}


def _record_fields(record: MatchRecord) -> dict[str, Any]:
    """All that a record says, by what it is about."""
    stated: dict[str, Any] = {about: getattr(record, about) for about in ("number", "fixture", "root")}
    stated |= _fields("outcome", record.outcome)
    stated |= {f"totals of {player}": totals for player, totals in record.totals.items()}
    for track, moved in record.ratings.items():
        stated |= {f"{track} rating of {player}": both for player, both in moved.items()}
    return stated


def _snapshot_fields(position: Position) -> dict[str, Any]:
    """All that a snapshot says, by what it is about."""
    standings = position.standings
    fields: dict[str, Any] = {"snapshot, players": standings.players}
    for track, ratings in (("raw", standings.raw), ("cost", standings.cost)):
        rated = zip(standings.players, ratings, strict=True)
        fields |= {f"snapshot, {track} rating of {player}": rating for player, rating in rated}
    return fields | {f"snapshot, sums of {player}": sums for player, sums in position.accounts.items()}


def _alike(a: Any, b: Any) -> bool:
    """Return whether JSON data is the same but for the last bits of numbers, such as judges' weights."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=0.0, abs_tol=TOLERANCE)
    return bool(a == b)


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
