"""The challenge exchange: everybody writes challenges, everybody solves some; points decide.

    A, B, C, D > {"description": "…", "reference_answer": 25, …}                        (write/A/1/draft, …)
    A, B, C, D > {"working": "…", "answer": 25}   or   {"answer": "pass"}               (solve/A/1/answer, …)

Challenges that were accepted here, and some of the pool that were drawn when the match was paired, are dealt
out at random; nobody learns who wrote what. Right answers, wrong ones, passes and failing at one's own
challenge each have their number of points. What was accepted and attempted leaves as facts, from which the
pool is folded (`challenges.pool`); answers in them are sealed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from peerage.challenges.pool import STREAM, Pool, Result, identity
from peerage.formats import Choice, Integer
from peerage.games.challenge_exchange.creation import (
    Challenge,
    Creation,
    asked,
    creating,
    graded,
)
from peerage.games.challenge_exchange.house import house
from peerage.games.challenge_exchange.rules import SOLVE, VOTE, WRITE, ChallengeExchangeRules
from peerage.games.challenge_exchange.show import show
from peerage.games.game import QUOTE, Asks, Bench, GameSpec
from peerage.games.ranking import by_rank
from peerage.games.tools import turns, with_python
from peerage.match import Fixture, Outcome, Seat, Table
from peerage.protocol import Reply, Steps, Together
from peerage.sealing import SALT, salt, seal, unseal

FEWEST = 2
"""Contestants without whom there is nobody to be ahead of."""


class Attempt(Struct, frozen=True):
    """One player's attempt at one challenge, as it is on record. `answer` is None without a usable one."""

    label: str
    llm_id: str
    key: str
    challenge: Challenge
    reply: Reply
    result: Result
    own_challenge: bool
    points: float

    @property
    def answer(self) -> int | None:
        return self.reply.value if self.reply.ok else None


def play(table: Table) -> Steps[Outcome]:
    """One round between all seats of `table`."""
    rules: ChallengeExchangeRules = table.rules
    secret: str = table.drawn["secret"][SALT]
    drawn = [_drawn(one) for one in table.drawn["challenges"]]
    committee = table.officials.get("committee", ())
    made: Mapping[str, Creation] = yield Together(
        {
            f"write/{seat.label}/{number}": creating(seat, committee, rules.creation())
            for seat in table.seats
            for number in range(1, rules.write + 1)
        }
    )
    players = {seat.label: seat.player for seat in table.seats}
    made, new = _accepted(made, players, {challenge.challenge_id for challenge in drawn})
    left = [seat for seat in table.seats if not _silent(seat, made)]
    if len(left) < FEWEST:
        return Outcome(void="no_answer", detail={"challenges": _creations(made, new)})
    if not new and not drawn:
        return Outcome(void="no_challenge", detail={"challenges": _creations(made, {})})
    dealt = {
        f"solve/{seat.label}/{place}": (seat, challenge)
        for seat in left
        for place, challenge in enumerate(_dealt(table, seat, [*new.values(), *drawn]), 1)
    }
    replies: Mapping[str, Reply] = yield Together(
        {key: _solving(seat, challenge, rules) for key, (seat, challenge) in dealt.items()}
    )
    failed = {dealt[key][0].label for key, reply in replies.items() if reply.status == "void"}
    attempts = [
        _attempt(key, *dealt[key], reply, rules) for key, reply in replies.items() if reply.status != "void"
    ]
    points = {
        seat.label: sum([one.points for one in attempts if one.label == seat.label], start=0.0)
        for seat in left
        if seat.label not in failed
    }
    if len(points) < FEWEST:
        return Outcome(void="no_answer", detail={"challenges": _creations(made, new)})
    return Outcome(
        scores=by_rank({label: round(total, 9) for label, total in points.items()}),
        facts=(
            *[_challenge_fact(challenge, made[key].proof, secret) for key, challenge in new.items()],
            *[_attempt_fact(attempt, secret) for attempt in attempts],
        ),
        detail={
            "decided": "by points",
            "points": points,
            "challenges": _creations(made, new),
            "attempts": [
                {
                    "key": one.key,
                    "challenge_id": one.challenge.challenge_id,
                    "result": one.result,
                    "own_challenge": one.own_challenge,
                    "points": one.points,
                }
                for one in attempts
            ],
        },
    )


def _silent(seat: Seat, made: Mapping[str, Creation]) -> bool:
    """Whether a player was to write and its provider failed every draft."""
    own = [one for one in made.values() if one.author == seat.label]
    return bool(own) and all(one.status == "void" for one in own)


def _solving(seat: Seat, challenge: Challenge, rules: ChallengeExchangeRules) -> Steps[Reply]:
    """The final reply of a player to a challenge it was dealt."""
    ask = asked(seat.label, "answer", "contestant", SOLVE, challenge, rules.solve_tokens, rules.temperature)
    if rules.tools == "python":
        return (yield from with_python(ask, rules.tool)).reply
    reply: Reply = yield ask
    return reply


def _drawn(embedded: Mapping[str, Any]) -> Challenge:
    return msgspec.convert({**embedded, "reference_answer": unseal(embedded["reference_answer"])}, Challenge)


def _accepted(
    made: Mapping[str, Creation], players: Mapping[str, str], known: set[str]
) -> tuple[dict[str, Creation], dict[str, Challenge]]:
    """Every creation, and by the same keys the challenges that stand; one that is there already does not."""
    creations: dict[str, Creation] = {}
    new: dict[str, Challenge] = {}
    for key, creation in made.items():
        creations[key] = creation
        if creation.status != "accepted" or creation.challenge is None:
            continue
        written = creation.challenge
        name = identity(written.description)
        if name in known:
            creations[key] = msgspec.structs.replace(creation, status="duplicate")
            continue
        known = known | {name}
        new[key] = Challenge(name, players[creation.author], written.description, written.answer)
    return creations, new


def _dealt(table: Table, seat: Seat, there: Sequence[Challenge]) -> list[Challenge]:
    """The challenges that one player gets, at random and in random order."""
    rules: ChallengeExchangeRules = table.rules
    open_to = [one for one in there if rules.own or one.author_llm != seat.player]
    return table.rng(f"assignment/{seat.label}").sample(open_to, min(rules.assigned, len(open_to)))


def _attempt(
    key: str, seat: Seat, challenge: Challenge, reply: Reply, rules: ChallengeExchangeRules
) -> Attempt:
    result = graded(reply, challenge.reference_answer)
    own = challenge.author_llm == seat.player
    paid = points(result, own, challenge.difficulty, rules)
    return Attempt(seat.label, seat.player, key, challenge, reply, result, own, paid)


def points(result: Result, own: bool, difficulty: float | None, rules: ChallengeExchangeRules) -> float:
    """What an attempt is worth; `difficulty` is the share of players who fail the challenge, None unknown."""
    share = 0.5 if rules.scoring == "fixed" or difficulty is None else difficulty
    if result == "correct":
        return rules.correct * 2 * share
    paid = rules.incorrect * 2 * (1 - share) if result == "incorrect" else rules.passed
    return paid + (rules.own_failed if own else 0.0)


def _creations(made: Mapping[str, Creation], new: Mapping[str, Challenge]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "challenge_id": new[key].challenge_id if key in new else None,
            "author": one.author,
            "status": one.status,
            "proof": one.proof,
            "steps": list(one.steps),
            "votes": dict(one.votes),
            "approval": one.approval,
        }
        for key, one in made.items()
    ]


def _challenge_fact(challenge: Challenge, proof: str, secret: str) -> dict[str, Any]:
    name = challenge.challenge_id
    return {
        "fact": "challenge",
        "challenge_id": name,
        "author_llm": challenge.author_llm,
        "description": challenge.description,
        "reference_answer": seal(salt(secret, f"challenge/{name}"), challenge.reference_answer),
        "proof": proof,
    }


def _attempt_fact(attempt: Attempt, secret: str) -> dict[str, Any]:
    return {
        "fact": "attempt",
        "llm_id": attempt.llm_id,
        "challenge_id": attempt.challenge.challenge_id,
        "submitted_answer": seal(salt(secret, attempt.key), attempt.answer),
        "result": attempt.result,
        "own_challenge": attempt.own_challenge,
        "points": attempt.points,
    }


def draw(rules: ChallengeExchangeRules, seed: str, number: int) -> dict[str, Any]:
    """A match without a pool, as the first one of an arena is."""
    return {
        "secret": {SALT: sha256(f"{seed}/secret/{number}".encode()).hexdigest()[:32], "value": ""},
        "challenges": [],
    }


def officials(rules: ChallengeExchangeRules) -> tuple[Bench, ...]:
    """The committee, where one is wanted."""
    return (Bench("committee", rules.committee, 1),) if rules.committee else ()


def asks(rules: ChallengeExchangeRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant writes, tries its own challenges blind and solves; each member votes on everything."""
    shown, written = rules.max_chars + QUOTE, rules.write * len(fixture.seats)
    blind = rules.write * rules.attempts if rules.proof != "solution" else 0
    expects = rules.creation().expects
    yield Asks("contestant", WRITE, expects, rules.write, rules.write_tokens, usual_output=600)
    solving = Asks(
        "contestant", SOLVE, Integer(), blind, rules.solve_tokens, shown, blind * (rules.proof == "blind")
    )._replace(usual_output=600)
    yield solving
    solving = solving._replace(calls=min(rules.assigned, written + rules.pool), usual=None)
    yield turns(solving, rules.tool) if rules.tools == "python" else solving
    vote = Choice("vote", ("approve", "object"))
    yield Asks("committee", VOTE, vote, written, rules.vote_tokens, shown, usual_output=150)


GAME: GameSpec[ChallengeExchangeRules] = GameSpec(
    name="challenge-exchange",
    version=4,
    about="Everybody writes challenges with one number as the answer and solves those of others.",
    contestants=(2, 10),
    rules=ChallengeExchangeRules,
    play=play,
    officials=officials,
    draw=draw,
    asks=asks,
    survives=True,
    costs=("author", "contestant"),
    house=house,
    show=show,
    sandbox=lambda rules: rules.tools == "python" or (rules.write > 0 and rules.proof != "blind"),
    hides=True,
    demo=120,
    tracks=("trueskill", "points"),
    memory=lambda rules: Pool(rules.least_attempts, rules.pool),
    stream=STREAM,
)
