"""The challenge exchange: everybody writes challenges, everybody solves some; points decide.

    A, B, C, D > {"description": "…", "reference_answer": 25, …}                        (write/A/1/draft, …)
    A, B, C, D > {"working": "…", "answer": 25}   or   {"answer": "pass"}               (solve/A/1/answer, …)

Challenges that were accepted here, and some of the pool that were drawn when the match was paired, are dealt
out at random; nobody learns who wrote what. Right answers, wrong ones, passes and failing at one's own
challenge each have their number of points. A challenge that the pool knows is not dealt again, nor one for
which two answers were claimed here; meanwhile a dispute of the pool, if there is one, is settled
(dispute/solve/A/answer, …). What was accepted, claimed, attempted and ruled leaves as facts, from which the
pool is folded (`challenges.pool`); answers and programs in them are sealed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from peerage.challenges.drafting import VOTES
from peerage.challenges.pool import STREAM, ChallengePool, Result
from peerage.challenges.wording import identity, likeness, mark
from peerage.formats import Choice, Integer
from peerage.games.challenge_exchange.creation import (
    PROPOSAL,
    Challenge,
    Creation,
    Dispute,
    Ruling,
    answering,
    creating,
    graded,
    settling,
)
from peerage.games.challenge_exchange.house import house
from peerage.games.challenge_exchange.rules import (
    DESCRIPTION_CHARS,
    SOLVE,
    TOOL_RUNS,
    VOTE,
    VOTE_TOKENS,
    WRITE,
    WRITE_TOKENS,
    ChallengeExchangeRules,
    points,
    proving,
    solving,
    stakes,
)
from peerage.games.challenge_exchange.show import show
from peerage.games.game import (
    QUOTE,
    Asks,
    Demo,
    GameMemory,
    GameRating,
    GameSpec,
    Needs,
    RoleRequirement,
    Secrecy,
)
from peerage.games.presets import presets
from peerage.games.ranking import by_rank
from peerage.games.tools import turns
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
    branches: dict[str, Steps[Any]] = {
        f"write/{seat.label}/{number}": creating(seat, committee, rules)
        for seat in table.seats
        for number in range(1, rules.write + 1)
    }
    dispute = msgspec.convert(table.drawn["dispute"], Dispute | None)
    if dispute is not None:
        branches["dispute"] = settling(dispute, [*table.seats, *committee], rules)
    results: dict[str, Any] = yield Together(branches)
    ruling: Ruling | None = results.pop("dispute", None)
    players = {seat.label: seat.player for seat in table.seats}
    made, new, claims = _accepted(results, players, drawn, table.drawn["known"], secret)
    detail: dict[str, Any] = {"challenges": _creations(made, new)}
    if dispute is not None and ruling is not None:
        detail["dispute"] = _ruled(dispute, ruling)
    left = [seat for seat in table.seats if not _silent(seat, made)]
    if len(left) < FEWEST:
        return Outcome(void="no_answer", detail=detail)
    facts = [
        *[_challenge_fact("challenge", key, one, made[key], secret) for key, one in new.items()],
        *[_challenge_fact("claim", key, one, made[key], secret) for key, one in claims.items()],
    ]
    if dispute is not None and ruling is not None:
        ruled = {key: detail["dispute"][key] for key in ("challenge_id", "upheld")}
        facts.append({"fact": "ruling", **ruled, "claims": len(dispute.claims) - 1})
    disputed = {likeness(one.description, None) for one in claims.values()}
    there = [one for one in (*new.values(), *drawn) if likeness(one.description, None) not in disputed]
    if not there:
        return Outcome(void="no_challenge", facts=tuple(facts), detail=detail)
    dealt = {
        f"solve/{seat.label}/{place}": (seat, challenge)
        for seat in left
        for place, challenge in enumerate(_dealt(table, seat, there), 1)
    }
    replies: Mapping[str, Reply] = yield Together(
        {
            key: answering(seat.label, "answer", "contestant", one, stakes(rules, one.difficulty), rules)
            for key, (seat, one) in dealt.items()
        }
    )
    failed = {dealt[key][0].label for key, reply in replies.items() if reply.status == "void"}
    attempts = [
        _attempt(key, *dealt[key], reply, rules) for key, reply in replies.items() if reply.status != "void"
    ]
    totals = {
        seat.label: sum([one.points for one in attempts if one.label == seat.label], start=0.0)
        for seat in left
        if seat.label not in failed
    }
    if len(totals) < FEWEST:
        return Outcome(void="no_answer", detail=detail)
    return Outcome(
        scores=by_rank({label: round(total, 9) for label, total in totals.items()}),
        facts=(*facts, *[_attempt_fact(attempt, secret) for attempt in attempts]),
        detail={
            "decided": "by points",
            "points": totals,
            **detail,
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
    """Return whether a player was to write and its provider failed every draft."""
    own = [one for one in made.values() if one.author == seat.label]
    return bool(own) and all(one.status == "void" for one in own)


def _drawn(embedded: Mapping[str, Any]) -> Challenge:
    return msgspec.convert({**embedded, "reference_answer": unseal(embedded["reference_answer"])}, Challenge)


def _accepted(
    made: Mapping[str, Creation],
    players: Mapping[str, str],
    drawn: Sequence[Challenge],
    known: str,
    secret: str,
) -> tuple[dict[str, Creation], dict[str, Challenge], dict[str, Challenge]]:
    """Every creation, and by the same keys the challenges that are new, and those that somebody wrote before,
    with another answer or with one that cannot be seen here: of these the pool learns."""
    marks = {known[at : at + 6] for at in range(0, len(known), 6)}
    there = {text: one for one in drawn for text in likeness(one.description, one.answer)}
    creations, new, claims = dict(made), dict[str, Challenge](), dict[str, Challenge]()
    for key, creation in made.items():
        if creation.status != "accepted" or creation.challenge is None:
            continue
        text, answer = creation.challenge.description, creation.challenge.answer
        challenge = Challenge(identity(text), players[creation.author], text, answer)
        texts = likeness(text, answer)
        first = next((there[one] for one in texts if one in there), None)
        if first is None and not any(mark(one, secret) in marks for one in texts):
            new[key] = challenge
            there |= dict.fromkeys(texts, challenge)
            continue
        same = first is not None and first.answer == answer
        contradicted = first is not None and not same
        creations[key] = replace(creation, status="disputed" if contradicted else "duplicate")
        if not same:
            claims[key] = challenge
        for other, one in new.items():
            if contradicted and one is first:
                creations[other] = replace(creations[other], status="disputed")
    return creations, new, claims


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
    return Attempt(
        label=seat.label,
        llm_id=seat.player,
        key=key,
        challenge=challenge,
        reply=reply,
        result=result,
        own_challenge=own,
        points=paid,
    )


def _ruled(dispute: Dispute, ruling: Ruling) -> dict[str, Any]:
    return {
        "key": "dispute",
        "challenge_id": dispute.challenge_id,
        "claimed_by": [claim.author_llm for claim in dispute.claims],
        "programs": list(ruling.programs),
        "upheld": ruling.answer is not None and ruling.answer == unseal(dispute.claims[0].reference_answer),
    }


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


def _challenge_fact(fact: str, key: str, challenge: Challenge, made: Creation, secret: str) -> dict[str, Any]:
    name = challenge.challenge_id
    of = f"challenge/{name}" if fact == "challenge" else f"claim/{key}"
    found: dict[str, Any] = {
        "fact": fact,
        "challenge_id": name,
        "author_llm": challenge.author_llm,
        "description": challenge.description,
        "reference_answer": seal(salt(secret, of), challenge.reference_answer),
        "proof": made.proof,
    }
    program = made.challenge.solution if made.challenge is not None else ""
    if program.strip():
        found["solution"] = seal(salt(secret, f"solution/{key}"), program)
    if made.votes:
        valid = [vote for vote in made.votes.values() if vote in ("approve", "object")]
        found["votes"] = [valid.count("approve"), len(valid)]
    return found


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
        "known": "",
        "dispute": None,
    }


def officials(rules: ChallengeExchangeRules) -> tuple[RoleRequirement, ...]:
    """The committee, where one is wanted."""
    return (RoleRequirement("committee", rules.committee, 1),) if rules.committee else ()


def asks(rules: ChallengeExchangeRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant writes, tries its own challenges blind and solves; each member votes on everything.
    In a dispute both may be asked for the answer."""
    shown, written = DESCRIPTION_CHARS + QUOTE, rules.write * len(fixture.seats)
    told = len(solving(rules)) + len(proving(rules))
    yield Asks("contestant", WRITE, PROPOSAL, rules.write, WRITE_TOKENS, told, usual_output=600)
    blind = rules.write * rules.attempts if rules.proof != "solution" else 0
    calls = {"contestant": (blind, min(rules.assigned, written + rules.pool)), "committee": ()}
    dispute = 0 if fixture.drawn["dispute"] is None else 1
    for to, counts in calls.items():
        for count in (*counts, dispute):
            answer = Asks(to, SOLVE, Integer(), count, rules.max_tokens, shown + len(stakes(rules)))
            answer = answer._replace(usual_output=600)
            yield turns(answer, TOOL_RUNS) if rules.tools == "python" else answer
    vote = Choice("vote", VOTES)
    yield Asks("committee", VOTE, vote, written, VOTE_TOKENS, shown, usual_output=150)


GAME: GameSpec[ChallengeExchangeRules] = GameSpec(
    name="challenge-exchange",
    version=10,
    about="Everybody writes challenges with one number as the answer and solves those of others.",
    contestants=(2, 10),
    rules=ChallengeExchangeRules,
    presets=presets(__package__),
    play=play,
    officials=officials,
    draw=draw,
    asks=asks,
    survives=True,
    house=house,
    show=show,
    secrecy=Secrecy(hides=True, unshown=("known", "dispute")),
    needs=Needs(
        sandbox=lambda rules: rules.tools == "python" or (rules.write > 0 and rules.proof != "blind")
    ),
    rating=GameRating(tracks=("trueskill", "points"), costs=("author", "contestant")),
    memory=GameMemory(
        make=lambda rules: ChallengePool(rules.pool),
        stream=STREAM,
        frozen=lambda rules: rules.model_copy(update={"write": 0, "pool": max(rules.pool, rules.assigned)}),
    ),
    demo=Demo(120),
)
