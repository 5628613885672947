"""The challenge exchange: everybody writes challenges, everybody solves some; points decide.

    A, B, C, D > {"description": "…", "reference_answer": 25, …}                        (write/A/1/draft, …)
    A, B, C, D > {"working": "…", "answer": 25}   or   {"answer": "pass"}               (solve/A/1/answer, …)

Challenges that were accepted here, and some of the pool that were drawn when the match was paired, are dealt
out at random; nobody learns who wrote what. Right answers, wrong ones, passes and failing at one's own
challenge each have their number of points. A challenge that the pool knows is not accepted again, nor one for
which two answers were given here. Accepted challenges and attempts leave as facts, from which the pool is
folded (`challenges.pool`); answers and programs in them are sealed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from peerage.challenges.drafting import VOTES
from peerage.challenges.pool import STREAM, ChallengePool
from peerage.challenges.wording import identity, likeness, mark
from peerage.game import (
    Asks,
    Choice,
    Demo,
    Fixture,
    GameMemory,
    GameRating,
    GameSpec,
    GameTable,
    Integer,
    Needs,
    Outcome,
    Reply,
    RoleRequirement,
    Seat,
    Secrecy,
    Steps,
    Together,
    by_rank,
    presets,
    texts,
)
from peerage.game.bounds import QUOTE
from peerage.game.programs.tools import turns
from peerage.games.challenge_exchange.creation import (
    PROPOSAL,
    Creation,
    DraftedChallenge,
    answering,
    creating,
    graded,
)
from peerage.games.challenge_exchange.house import house
from peerage.games.challenge_exchange.rules import (
    DESCRIPTION_CHARS,
    TOOL_RUNS,
    VOTE_TOKENS,
    WRITE_TOKENS,
    ChallengeExchangeRules,
    points,
    proving,
    solving,
    stakes,
)
from peerage.games.challenge_exchange.show import show
from peerage.values.sealing import SALT, salt, seal, unseal

FEWEST = 2
"""Contestants without whom there is nobody to be ahead of."""


class ChallengeAttempt(NamedTuple):
    """An attempt: the `detail` on record; its answer, sealed, as a `fact`, None without a usable one."""

    label: str
    detail: dict[str, Any]
    fact: dict[str, Any]


def play(table: GameTable) -> Steps[Outcome]:
    """One round between all seats of `table`."""
    rules: ChallengeExchangeRules = table.rules
    secret: str = table.drawn["secret"][SALT]
    drawn = [
        msgspec.convert({**each, "reference_answer": unseal(each["reference_answer"])}, DraftedChallenge)
        for each in table.drawn["challenges"]
    ]
    committee = table.officials.get("committee", ())
    created: Mapping[str, Creation] = yield Together(
        {
            f"write/{seat.label}/{number}": creating(seat, committee, rules)
            for seat in table.seats
            for number in range(1, rules.write + 1)
        }
    )
    players = {seat.label: seat.player for seat in table.seats}
    made, new = _accepted(created, players, table.drawn["known"], secret)
    detail: dict[str, Any] = {"challenges": _creations(made, new)}
    left = [seat for seat in table.seats if not _silent(seat, made)]
    if len(left) < FEWEST:
        return Outcome(void="no_answer", detail=detail)
    facts = [_challenge_fact(key, challenge, made[key], secret) for key, challenge in new.items()]
    there = [*new.values(), *drawn]
    if not there:
        return Outcome(void="no_challenge", detail=detail)
    dealt = {
        f"solve/{seat.label}/{place}": (seat, challenge)
        for seat in left
        for place, challenge in enumerate(_dealt(table, seat, there), 1)
    }
    replies: Mapping[str, Reply] = yield Together(
        {
            key: answering(
                seat.label, "answer", "contestant", challenge, stakes(rules, challenge.difficulty), rules
            )
            for key, (seat, challenge) in dealt.items()
        }
    )
    failed = {dealt[key][0].label for key, reply in replies.items() if reply.status == "void"}
    attempts = [
        _attempt(key, *dealt[key], reply, table) for key, reply in replies.items() if reply.status != "void"
    ]
    totals = {
        seat.label: sum([each.detail["points"] for each in attempts if each.label == seat.label], start=0.0)
        for seat in left
        if seat.label not in failed
    }
    if len(totals) < FEWEST:
        return Outcome(void="no_answer", detail=detail)
    return Outcome(
        scores=by_rank({label: round(total, 9) for label, total in totals.items()}),
        facts=(*facts, *[attempt.fact for attempt in attempts]),
        detail={
            "decided": "by points",
            "points": totals,
            **detail,
            "attempts": [attempt.detail for attempt in attempts],
        },
    )


def _silent(seat: Seat, made: Mapping[str, Creation]) -> bool:
    """Return whether a player was to write and its provider failed every draft."""
    own = [creation for creation in made.values() if creation.author == seat.label]
    return bool(own) and all(creation.status == "void" for creation in own)


def _accepted(
    created: Mapping[str, Creation], players: Mapping[str, str], known: str, secret: str
) -> tuple[dict[str, Creation], dict[str, DraftedChallenge]]:
    """Return every creation, and by the same keys the challenges that are new: no marks of them are `known`,
    and nobody else in this match gave another answer."""
    marks = {known[at : at + 6] for at in range(0, len(known), 6)}
    made, new, there = dict(created), dict[str, DraftedChallenge](), dict[str, str]()
    for key, creation in created.items():
        if creation.status != "accepted" or creation.challenge is None:
            continue
        text, answer = creation.challenge.description, creation.challenge.answer
        texts = likeness(text, answer)
        first = next((there[alike] for alike in texts if alike in there), None)
        if first is None and not any(mark(alike, secret) in marks for alike in texts):
            new[key] = DraftedChallenge(identity(text), players[creation.author], text, answer)
            there |= dict.fromkeys(texts, key)
            continue
        disputed = first is not None and new[first].answer != answer
        made[key] = replace(creation, status="disputed" if disputed else "duplicate")
        if first is not None and disputed:
            made[first] = replace(made[first], status="disputed")
    return made, {key: challenge for key, challenge in new.items() if made[key].status == "accepted"}


def _dealt(table: GameTable, seat: Seat, there: Sequence[DraftedChallenge]) -> list[DraftedChallenge]:
    """The challenges that one player gets, at random and in random order."""
    rules: ChallengeExchangeRules = table.rules
    open_to = [challenge for challenge in there if rules.own or challenge.author_llm != seat.player]
    return table.rng(f"assignment/{seat.label}").sample(open_to, min(rules.assigned, len(open_to)))


def _attempt(
    key: str, seat: Seat, challenge: DraftedChallenge, reply: Reply, table: GameTable
) -> ChallengeAttempt:
    result, own = graded(reply, challenge.reference_answer), challenge.author_llm == seat.player
    result_parts = {
        "challenge_id": challenge.challenge_id,
        "result": result,
        "own_challenge": own,
        "points": points(result, own, challenge.difficulty, table.rules),
    }
    answer = seal(salt(table.drawn["secret"][SALT], key), reply.value if reply.ok else None)
    fact = {"fact": "attempt", "llm_id": seat.player, "submitted_answer": answer, **result_parts}
    return ChallengeAttempt(seat.label, {"key": key, **result_parts}, fact)


def _creations(made: Mapping[str, Creation], new: Mapping[str, DraftedChallenge]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "challenge_id": new[key].challenge_id if key in new else None,
            "author": creation.author,
            "status": creation.status,
            "proof": creation.proof,
            "steps": list(creation.steps),
            "votes": dict(creation.votes),
            "approval": creation.approval,
        }
        for key, creation in made.items()
    ]


def _challenge_fact(key: str, challenge: DraftedChallenge, made: Creation, secret: str) -> dict[str, Any]:
    name = challenge.challenge_id
    fact: dict[str, Any] = {
        "fact": "challenge",
        "challenge_id": name,
        "author_llm": challenge.author_llm,
        "description": challenge.description,
        "reference_answer": seal(salt(secret, f"challenge/{name}"), challenge.reference_answer),
        "proof": made.proof,
    }
    program = made.challenge.solution if made.challenge is not None else ""
    if program.strip():
        fact["solution"] = seal(salt(secret, f"solution/{key}"), program)
    if made.votes:
        valid = [vote for vote in made.votes.values() if vote in ("approve", "object")]
        fact["votes"] = [valid.count("approve"), len(valid)]
    return fact


def draw(rules: ChallengeExchangeRules, seed: str, number: int) -> dict[str, Any]:
    """A match without a pool, as the first one of an arena is."""
    return {
        "secret": {SALT: sha256(f"{seed}/secret/{number}".encode()).hexdigest()[:32], "value": ""},
        "challenges": [],
        "known": "",
    }


def officials(rules: ChallengeExchangeRules) -> tuple[RoleRequirement, ...]:
    """The committee, where one is wanted."""
    return (RoleRequirement("committee", rules.committee, 1),) if rules.committee else ()


def asks(rules: ChallengeExchangeRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant writes, tries its own challenges blind and solves; each member votes on everything."""
    shown, written = DESCRIPTION_CHARS + QUOTE, rules.write * len(fixture.seats)
    rule_texts = len(solving(rules)) + len(proving(rules))
    own = texts(__package__, rules.texts)
    yield Asks("contestant", own["write"], PROPOSAL, rules.write, WRITE_TOKENS, rule_texts, usual_output=600)
    blind = rules.write * rules.attempts if rules.proof != "solution" else 0
    for count in (blind, min(rules.assigned, written + rules.pool)):
        answer = Asks(
            "contestant", own["solve"], Integer(), count, rules.max_tokens, shown + len(stakes(rules))
        )
        answer = answer._replace(usual_output=600)
        yield turns(answer, TOOL_RUNS) if rules.tools == "python" else answer
    vote = Choice("vote", VOTES)
    yield Asks("committee", own["vote"], vote, written, VOTE_TOKENS, shown, usual_output=150)


GAME: GameSpec[ChallengeExchangeRules] = GameSpec(
    name="challenge-exchange",
    version=12,
    texts=__package__,
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
    secrecy=Secrecy(hides=True, unshown=("known",)),
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
