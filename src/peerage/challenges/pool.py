"""The pool: every challenge that was accepted, with its author, its sealed answer and its history. Pure.

It is a fold over the facts of finished matches and over amendments, in their order:

    {"fact": "challenge", "challenge_id", "author_llm", "description", "reference_answer", "solution",
     "proof", "votes"}
    {"fact": "attempt", "llm_id", "challenge_id", "submitted_answer", "result", "own_challenge", "points"}
    {"action": "flag" | "review" | "withdraw" | "retire" | "import", "challenge_id", "reason", …}

The first who wrote a challenge is its author; the same again (`wording.likeness`) adds nothing, also when the
first is flagged, retired or withdrawn, or says another answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from peerage.challenges.flags import found_flags
from peerage.challenges.wording import likeness, mark
from peerage.values.sealing import SALT, Sealed, salt, unseal

Action: TypeAlias = Literal["flag", "review", "withdraw", "retire", "import"]
Verdict: TypeAlias = Literal["approve", "object"]
Result: TypeAlias = Literal["correct", "incorrect", "pass", "invalid", "refused"]
LEAST_ATTEMPTS = 6
"""Attempts by others from which on a challenge can be flagged."""
STREAM = "challenges"
"""The stream of amendments that the pool reads."""


class _Salted(Struct, frozen=True, gc=False):
    salt: str = msgspec.field(default="", name=SALT)


class ChallengeEntry(Struct, frozen=True, gc=False):
    """The fields that every fact and amendment of the stream has, and the salts of what it `seals`."""

    challenge_id: str = ""
    action: str = ""
    reference_answer: _Salted | None = None
    submitted_answer: _Salted | None = None
    solution: _Salted | None = None

    @property
    def seals(self) -> set[str]:
        sealed = self.reference_answer, self.submitted_answer, self.solution
        return {value.salt for value in sealed if value}


class ChallengeStep(Struct, frozen=True, gc=False):
    """A challenge's making, or an attempt at it: the keys of its requests begin with `key`, of an attempt
    `solve/LABEL/NUMBER`. A challenge that came to nothing has no id."""

    key: str
    challenge_id: str | None = None
    points: float = 0.0

    @property
    def label(self) -> str:
        return self.key.split("/")[1]


class ChallengeDetail(Struct, frozen=True):
    """The part of an outcome's detail on challenges: points by label, those made, and the attempts."""

    points: dict[str, float] = {}
    challenges: tuple[ChallengeStep, ...] = ()
    attempts: tuple[ChallengeStep, ...] = ()


read_challenge_entry = msgspec.json.Decoder(ChallengeEntry).decode
read_challenge_facts = msgspec.json.Decoder(tuple[ChallengeEntry, ...]).decode
read_challenge_detail = msgspec.json.Decoder(ChallengeDetail).decode


class Attempt(Struct, frozen=True):
    """An attempt on record: `answer` is None for a pass, for what was no answer, and where it is sealed."""

    match: int
    llm_id: str
    answer: int | None
    result: Result
    own_challenge: bool
    points: float


class ChallengeReview(Struct, frozen=True):
    """Reviews of a challenge: its committee, or people later."""

    by: Literal["committee", "people"]
    verdict: Verdict
    reason: str


class PoolChallenge(Struct):
    """A challenge of the pool.

    `match` is where it was accepted, 0 for an imported one; `reference_answer` is sealed. `withdrawn` and
    `retired` hold the reason, which may be empty, or None while it is neither; `flags` are those that people
    set, each with its reason, `shown` those that its wording and its attempts show, which people overrule by
    approving it.
    """

    challenge_id: str
    author_llm: str
    description: str
    reference_answer: Mapping[str, str]
    proof: str
    match: int
    solution: Mapping[str, str] | None = None
    attempts: list[Attempt] = msgspec.field(default_factory=list)
    flags: dict[str, str] = msgspec.field(default_factory=dict)
    shown: tuple[str, ...] = ()
    reviews: list[ChallengeReview] = msgspec.field(default_factory=list)
    withdrawn: str | None = None
    retired: str | None = None

    @property
    def answer(self) -> int | None:
        """The reference answer; None where the ledger is redacted."""
        return _opened(self.reference_answer)

    @property
    def review(self) -> Verdict | None:
        """Return what people said of it last."""
        return next((review.verdict for review in reversed(self.reviews) if review.by == "people"), None)

    @property
    def state(self) -> Literal["in use", "flagged", "objected", "retired", "withdrawn"]:
        """Return where it is; withdrawn and retired are final."""
        if self.withdrawn is not None:
            return "withdrawn"
        if self.retired is not None:
            return "retired"
        if self.review == "object":
            return "objected"
        if self.flags or (self.shown and self.review is None):
            return "flagged"
        return "in use"

    @property
    def in_use(self) -> bool:
        """Return whether it may come into a match; where the ledger is redacted nothing may."""
        return self.state == "in use" and self.answer is not None

    @property
    def by_others(self) -> list[Attempt]:
        """The attempts that count for difficulty and flags."""
        return [attempt for attempt in self.attempts if not attempt.own_challenge]

    @property
    def failing(self) -> float | None:
        """The share of players who fail it: (failures + 1) / (attempts by others + 2); None without any."""
        others = self.by_others
        failed = sum(attempt.result != "correct" for attempt in others)
        return (failed + 1) / (len(others) + 2) if others else None


class ChallengePool:
    """The fold. `count` is how many challenges a match is given."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.entries: dict[str, PoolChallenge] = {}
        self._same: dict[str, str] = {}  # each text of `likeness` → the challenge that has it
        self._amended: dict[str, list[Mapping[str, Any]]] = {}
        self._tally: dict[str, list[int]] = {}  # player → solved, attempted, of what counts
        self._players: set[str] = set()

    def learn(self, match: int, facts: Iterable[Mapping[str, Any]]) -> None:
        """Take in what a finished match taught."""
        tried: dict[str, PoolChallenge] = {}
        for fact in facts:
            if fact["fact"] == "challenge":
                self._players.add(fact["author_llm"])
                self._enter(fact, match)
                continue
            entry = self.entries.get(fact["challenge_id"])
            if entry is None:
                continue
            self._players.add(fact["llm_id"])
            tried[entry.challenge_id] = entry
            answer, result, own = _opened(fact["submitted_answer"]), fact["result"], fact["own_challenge"]
            entry.attempts.append(Attempt(match, fact["llm_id"], answer, result, own, fact["points"]))
            if not own and entry.withdrawn is None:
                self._count(entry.attempts[-1], 1)
        shares = {player: solved / met for player, (solved, met) in self._tally.items() if met}
        for entry in tried.values():
            others = len(self._players - {entry.author_llm})
            seen = entry.description, entry.answer, entry.by_others
            entry.shown = found_flags(*seen, shares, LEAST_ATTEMPTS, others)

    def amend(self, stated: Mapping[str, Any]) -> None:
        """Take in an amendment; it may be about a challenge that is learnt of later.

        Raises msgspec.ValidationError for an action that nobody knows.
        """
        name = stated["challenge_id"]
        if msgspec.convert(stated["action"], Action) == "import":
            self._enter(stated, 0)
            return
        self._amended.setdefault(name, []).append(stated)
        if name in self.entries:
            self._apply(stated, self.entries[name])

    def same(self, description: str, answer: int | None) -> PoolChallenge | None:
        """The challenge of the pool that this one is again; None for one that is new."""
        names = [self._same[text] for text in likeness(description, answer) if text in self._same]
        return self.entries[names[0]] if names else None

    def _enter(self, fact: Mapping[str, Any], match: int) -> None:
        description, sealed = fact["description"], fact["reference_answer"]
        answer, solution = _opened(sealed), fact.get("solution")
        name, author, proof = fact["challenge_id"], fact["author_llm"], fact["proof"]
        if name in self.entries or self.same(description, answer) is not None:
            return
        entry = PoolChallenge(name, author, description, sealed, proof, match, solution)
        if votes := fact.get("votes"):
            entry.reviews.append(ChallengeReview("committee", "approve", f"{votes[0]} of {votes[1]} approve"))
        entry.shown = found_flags(description, answer, (), {}, LEAST_ATTEMPTS)
        self.entries[name] = entry
        for text in likeness(description, answer):
            self._same.setdefault(text, name)
        for stated in self._amended.get(name, ()):
            self._apply(stated, entry)

    def _apply(self, stated: Mapping[str, Any], entry: PoolChallenge) -> None:
        if stated["action"] == "flag":
            entry.flags[stated["flag"]] = stated["reason"]
        elif stated["action"] == "review":
            verdict = msgspec.convert(stated["verdict"], Verdict)
            entry.reviews.append(ChallengeReview("people", verdict, stated["reason"]))
            if verdict == "approve":
                entry.flags.clear()
        elif stated["action"] == "retire":
            entry.retired = stated["reason"]
        elif stated["action"] == "withdraw":
            self._withdraw(entry, stated["reason"])

    def _withdraw(self, entry: PoolChallenge, reason: str) -> None:
        if entry.withdrawn is None:
            for attempt in entry.by_others:
                self._count(attempt, -1)
        entry.withdrawn = reason

    def _count(self, attempt: Attempt, by: int) -> None:
        tally = self._tally.setdefault(attempt.llm_id, [0, 0])
        tally[0] += by * (attempt.result == "correct")
        tally[1] += by

    def estimates(self) -> dict[str, ItemEstimate]:
        """Return how hard and how telling each attempted challenge is, as its attempts by others say;
        withdrawn ones are left out."""
        answers: dict[str, dict[str, list[bool]]] = {}
        for name, entry in self.entries.items():
            if entry.withdrawn is not None:
                continue
            for attempt in entry.by_others:
                solved = answers.setdefault(name, {}).setdefault(attempt.llm_id, [])
                solved.append(attempt.result == "correct")
        return estimates(answers)

    def draw(self, secret: str, number: int, sealing: str) -> dict[str, Any]:
        """Return what match `number` is given: a secret of its own, and `count` challenges in use at random.

        `secret` is the arena's, `sealing` the key that salts follow from.
        """
        key = salt(sealing, f"match/{number}")
        entries = self.entries
        there = sorted(name for name, entry in entries.items() if entry.in_use)
        chosen = Random(f"{secret}/pool/{number}").sample(there, min(self.count, len(there)))
        return {
            "secret": {SALT: key, "value": ""},
            "challenges": [
                {
                    "challenge_id": name,
                    "author_llm": entries[name].author_llm,
                    "description": entries[name].description,
                    "reference_answer": dict(entries[name].reference_answer),
                    "difficulty": entries[name].failing,
                }
                for name in chosen
            ],
            "known": "".join(sorted([mark(text, key) for text in self._same])),
        }


def _opened(sealed: Mapping[str, str]) -> int | None:
    try:
        value: int | None = unseal(sealed)
    except Sealed:
        return None
    return value


class ItemEstimate(NamedTuple):
    """`difficulty` and `discrimination` are b and a of `ratings.fits.irt`, with their standard errors."""

    difficulty: float
    difficulty_error: float
    discrimination: float
    discrimination_error: float


def estimates(answers: Mapping[str, Mapping[str, Sequence[bool]]]) -> dict[str, ItemEstimate]:
    """Estimate from challenge → player → whether it solved it, attempt by attempt."""
    if not answers:
        return {}
    # A command that reads no pool must not wait for NumPy.
    import numpy as np

    from peerage.ratings.fits.irt import fit

    players = {name: at for at, name in enumerate(sorted({name for met in answers.values() for name in met}))}
    matrix = np.full((len(players), len(answers)), np.nan)
    for column, met in enumerate(answers.values()):
        for name, solved in met.items():
            matrix[players[name], column] = sum(solved) / len(solved)
    fitted = fit(matrix)
    columns = zip(
        fitted.difficulty,
        fitted.difficulty_error,
        fitted.discrimination,
        fitted.discrimination_error,
        strict=True,
    )
    return {name: ItemEstimate(*map(float, column)) for name, column in zip(answers, columns, strict=True)}
