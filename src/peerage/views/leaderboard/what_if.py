"""What if: the recorded matches read in another way, without some judges or with equal votes.

What is on record is counted again: nobody is asked, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from peerage.game.match import DONE, Fixture
from peerage.games import installed
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.panel import Ballot, PanelRules, count
from peerage.judging.scores.scoring import recorded
from peerage.ledger import Summary
from peerage.reading.results.played import PlayedMatches
from peerage.reading.rows import whole_of
from peerage.reading.scope import ScopeError
from peerage.settings import suggest
from peerage.values.texts import visible


class WhatIf(Struct, frozen=True):
    """The changes to how records are read; empty: none. Votes and scores of the judges `without` do not
    count; with `equal`, all others weigh the same."""

    without: tuple[str, ...] = ()
    equal: bool = False

    @property
    def in_words(self) -> str:
        """In words, after "what if"; empty for nothing."""
        parts = [f"without judge {visible(name)}" for name in self.without]
        return ", ".join([*parts, "every vote weighs the same"] if self.equal else parts)


AS_PLAYED = WhatIf()


def read_again(played: PlayedMatches, asked: WhatIf, track: str) -> PlayedMatches:
    """The matches of a scope, their votes or scores counted as asked: a match may come out otherwise, or to
    no result.

    What a vote weighs follows from the ratings that its judge had when the match was made, as it did then.
    Scores
    weigh the same already. Raises ScopeError for a judge that said nothing there, and where none did;
    LedgerError.
    """
    if asked.equal and track == "judge-aware":
        raise ScopeError("track judge-aware weighs votes by reliability: equal weights change nothing there")
    again: dict[int, Summary] = {}
    judges: set[str] = set()
    schemes: set[str] = set()
    wanted = {one.number: one for one in played.finished if one.status in (DONE, _INCONCLUSIVE)}
    for fixture, outcome in whole_of(played.ledger, wanted, _JUDGED):
        summary, names = wanted[fixture.number], {seat.label: seat.player for seat in fixture.all_seats()}
        ballots = ballots_of(outcome)
        scoring = {grade.judge for grade in recorded(outcome, "judge")}
        if scoring and (spec := installed(fixture.game)) and spec.judging.recounted:
            judges.update(names[label] for label in scoring)
            schemes.add("equal")
            out = {label for label in scoring if names[label] in asked.without}
            if out:
                recounted = spec.judging.recounted(fixture, outcome, out)
                again[fixture.number] = _rescored(summary, fixture, recounted)
            continue
        if len(fixture.seats) != 2 or not ballots:
            continue
        judges.update(names[ballot.judge] for ballot in ballots)
        schemes.add(fixture.settings.get("weights", "softmax"))
        kept = [ballot for ballot in ballots if names[ballot.judge] not in asked.without]
        again[fixture.number] = _counted(summary, fixture, kept, equal=asked.equal)
    if not judges:
        raise ScopeError("no judges voted on these matches, or scored: nothing can be counted otherwise")
    for name in asked.without:
        if name not in judges:
            raise ScopeError(f"no votes or scores are by a judge {name!r}{suggest(name, sorted(judges))}")
    if asked.equal and not asked.without and schemes == {"equal"}:
        raise ScopeError("all that judges say weighs the same in this arena already")
    return played.instead(again, frozenset(asked.without))


_INCONCLUSIVE = "inconclusive"
_JUDGED = (b'"ballots":[', b'"scores":"judge"')


def _rescored(summary: Summary, fixture: Fixture, scores: Mapping[str, float]) -> Summary:
    """A match with these results by label."""
    if not scores:
        return msgspec.structs.replace(summary, status=_INCONCLUSIVE, scores=())
    there = tuple([scores[seat.label] for seat in fixture.seats if seat.label in scores])
    return msgspec.structs.replace(summary, scores=there)


def _counted(summary: Summary, fixture: Fixture, ballots: Sequence[Ballot], *, equal: bool) -> Summary:
    """A match with these ballots alone."""
    ratings = {seat.label: seat.raw for seat in fixture.all_seats()}
    rules = _rules(msgspec.json.encode({name: fixture.settings.get(name) for name in _COUNTING}))
    if equal:
        rules = msgspec.structs.replace(rules, weights="equal")
    score = count(ballots, ratings, fixture.seats[0].label, rules).score
    if score is None:
        return msgspec.structs.replace(summary, status=_INCONCLUSIVE, scores=())
    return msgspec.structs.replace(summary, status=DONE, scores=(score, 1 - score))


_COUNTING = ("epsilon", "weights", "weight_temperature")


@lru_cache(maxsize=8)
def _rules(stated: bytes) -> PanelRules:
    known = {name: value for name, value in msgspec.json.decode(stated).items() if value is not None}
    return msgspec.convert(known, PanelRules)
