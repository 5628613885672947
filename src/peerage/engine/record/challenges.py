"""The pool of challenges, and people's word on one of them: flags, reviews, withdrawals, retirements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peerage.challenges.flags import FLAGS
from peerage.challenges.pool import STREAM, ChallengePool, PoolChallenge, Verdict
from peerage.engine.record.memory import learnt
from peerage.games import installed
from peerage.ledger import Ledger, LedgerError, amend
from peerage.ledger.forms.merkle import digest
from peerage.settings import suggest


def pools(game: str) -> bool:
    """Return whether challenges of a game come back in later matches."""
    spec = installed(game)
    return spec is not None and spec.memory is not None and spec.memory.stream == STREAM


def pool(ledger: Ledger, last: int | None = None) -> ChallengePool:
    """The pool after the record at place `last`, by default the newest. Raises LedgerError."""
    challenges = ChallengePool()
    number = 0
    try:
        for _, number, facts in learnt(ledger, challenges, STREAM, pools, last):
            challenges.learn(number, facts)
    except (KeyError, TypeError) as error:
        raise LedgerError(
            f"the records of challenges cannot be read, after match {number} ({error!r}); "
            "`peerage verify` says what was changed"
        ) from error
    return challenges


def named(challenges: ChallengePool, name: str) -> PoolChallenge:
    """The challenge whose id begins with `name`. Raises LedgerError when there is none or more than one."""
    fitting = [entry for challenge_id, entry in challenges.entries.items() if challenge_id.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise LedgerError(f"{len(fitting)} challenges have an id that begins with {name!r}; write more of it")
    raise LedgerError(
        f"no challenge of the {len(challenges.entries)} has the id {name!r}; see `peerage challenges list`"
    )


def flag(ledger: Ledger, name: str, what: str, reason: str, at_ms: int) -> PoolChallenge:
    """Flag a challenge: it is not drawn any more, and what it decided stands. See `_say`."""
    if what not in FLAGS:
        raise LedgerError(f"no flag is called {what!r}{suggest(what, FLAGS)}")
    return _say(ledger, name, {"action": "flag", "flag": what, "reason": reason}, at_ms)


def review(ledger: Ledger, name: str, verdict: Verdict, reason: str, at_ms: int) -> PoolChallenge:
    """Put a person's verdict on record: with `approve` a challenge is in use, whatever flags it has; with
    `object` it is not drawn any more, and what it decided stands. The last verdict counts. See `_say`."""
    return _say(ledger, name, {"action": "review", "verdict": verdict, "reason": reason}, at_ms)


def withdraw(ledger: Ledger, name: str, reason: str, at_ms: int) -> PoolChallenge:
    """Withdraw a challenge: it is not drawn any more, and no attempt at it counts. See `_say`."""
    return _say(ledger, name, {"action": "withdraw", "reason": reason}, at_ms)


def retire(ledger: Ledger, name: str, reason: str, at_ms: int) -> PoolChallenge:
    """Retire a challenge: it is not drawn any more, and what is sealed of it is disclosed. See `_say`."""
    return _say(ledger, name, {"action": "retire", "reason": reason}, at_ms)


def _say(ledger: Ledger, name: str, fields: Mapping[str, Any], at_ms: int) -> PoolChallenge:
    """Write an amendment that cites the challenge and the record it was accepted in. Returns the challenge as
    it was before. Raises LedgerError for an id that is not one challenge's."""
    with ledger.runner():
        entry = named(pool(ledger), name)
        rows = ledger.match(entry.match, exchanges=False)
        cited = {"match": entry.match, "record": digest(rows.record.body)} if rows and rows.record else {}
        amend(ledger, STREAM, [{**fields, "challenge_id": entry.challenge_id, **cited}], at_ms)
    return entry
