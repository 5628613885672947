"""The pool: every challenge that was accepted, with its author, its sealed answer and its history. Pure.

It is a fold over the facts of finished matches and over amendments, in their order:

    {"fact": "challenge", "challenge_id", "author_llm", "description", "reference_answer", "proof"}
    {"fact": "attempt", "llm_id", "challenge_id", "submitted_answer", "result", "own_challenge", "points"}
    {"action": "flag" | "withdraw" | "retire" | "import", "challenge_id", "reason", …}

The first who wrote a challenge is its author; the same wording again adds nothing (`identity`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import sha256
from random import Random
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from peerage.challenges.difficulty import Estimate, estimates
from peerage.challenges.flags import found_flags
from peerage.sealing import SALT, Sealed, salt, unseal

Action: TypeAlias = Literal["flag", "withdraw", "retire", "import"]
Result: TypeAlias = Literal["correct", "incorrect", "pass", "invalid", "refused"]
STREAM = "challenges"
"""The stream of amendments that the pool reads."""


def identity(description: str) -> str:
    """The id of a challenge: 16 hex digits that follow from its wording alone.

    Case, white space, stops and quotation marks do not count, nor whether characters are composed (NFC), so
    the same challenge written twice has one id; other signs and digits count, since they change the answer.
    """
    text = unicodedata.normalize("NFC", description).casefold()
    words = re.findall(r"\w+(?:[.,]\w+)*|[^\w\s.,;:?…'\"“”‘’]", text)
    return sha256(" ".join(words).encode()).hexdigest()[:16]


class Attempt(Struct, frozen=True):
    """An attempt on record: `answer` is None for a pass, for what was no answer, and where it is sealed."""

    match: int
    llm_id: str
    answer: int | None
    result: Result
    own_challenge: bool
    points: float


class Entry(Struct):
    """A challenge of the pool.

    `match` is where it was accepted, 0 for an imported one; `reference_answer` is sealed. `withdrawn` and
    `retired` hold the reason, which may be empty, or None while it is neither; `flags` are those that people
    set, each with its reason, `shown` those that its wording and its attempts show.
    """

    challenge_id: str
    author_llm: str
    description: str
    reference_answer: Mapping[str, str]
    proof: str
    match: int
    attempts: list[Attempt] = msgspec.field(default_factory=list)
    flags: dict[str, str] = msgspec.field(default_factory=dict)
    shown: tuple[str, ...] = ()
    withdrawn: str | None = None
    retired: str | None = None

    @property
    def answer(self) -> int | None:
        """The reference answer; None where the ledger is redacted."""
        return _opened(self.reference_answer)

    @property
    def in_use(self) -> bool:
        """Whether it may come into a match: until it is flagged, withdrawn or retired."""
        over = self.withdrawn is not None or self.retired is not None
        return not (over or self.flags or self.shown) and self.answer is not None

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


class Pool:
    """The fold.

    `least` is the number of attempts by others from which on a challenge can be flagged, `count` how many
    challenges a match is given.
    """

    def __init__(self, least: int, count: int = 0) -> None:
        self.least = least
        self.count = count
        self.entries: dict[str, Entry] = {}
        self._amended: dict[str, list[Mapping[str, Any]]] = {}
        self._tally: dict[str, list[int]] = {}  # player → solved, attempted, of what counts

    def learn(self, match: int, facts: Iterable[Mapping[str, Any]]) -> None:
        """Take in what a finished match taught."""
        tried: dict[str, Entry] = {}
        for fact in facts:
            if fact["fact"] == "challenge":
                self._enter(fact, match)
                continue
            entry = self.entries.get(fact["challenge_id"])
            if entry is None:
                continue
            tried[entry.challenge_id] = entry
            answer, result, own = _opened(fact["submitted_answer"]), fact["result"], fact["own_challenge"]
            entry.attempts.append(Attempt(match, fact["llm_id"], answer, result, own, fact["points"]))
            if not own and entry.withdrawn is None:
                self._count(entry.attempts[-1], 1)
        shares = {player: solved / met for player, (solved, met) in self._tally.items() if met}
        for entry in tried.values():
            entry.shown = found_flags(entry.description, entry.answer, entry.by_others, shares, self.least)

    def amend(self, said: Mapping[str, Any]) -> None:
        """Take in an amendment; it may be about a challenge that is learnt of later.

        Raises msgspec.ValidationError for an action that nobody knows.
        """
        name = said["challenge_id"]
        if msgspec.convert(said["action"], Action) == "import":
            self._enter(said, 0)
            return
        self._amended.setdefault(name, []).append(said)
        if name in self.entries:
            self._apply(said, self.entries[name])

    def _enter(self, fact: Mapping[str, Any], match: int) -> None:
        name = fact["challenge_id"]
        if name in self.entries:
            return
        entry = Entry(
            name, fact["author_llm"], fact["description"], fact["reference_answer"], fact["proof"], match
        )
        entry.shown = found_flags(entry.description, entry.answer, (), {}, self.least)
        self.entries[name] = entry
        for said in self._amended.get(name, ()):
            self._apply(said, entry)

    def _apply(self, said: Mapping[str, Any], entry: Entry) -> None:
        if said["action"] == "flag":
            entry.flags[said["flag"]] = said["reason"]
        elif said["action"] == "retire":
            entry.retired = said["reason"]
        elif said["action"] == "withdraw":
            if entry.withdrawn is None:
                for attempt in entry.by_others:
                    self._count(attempt, -1)
            entry.withdrawn = said["reason"]

    def _count(self, attempt: Attempt, by: int) -> None:
        tally = self._tally.setdefault(attempt.llm_id, [0, 0])
        tally[0] += by * (attempt.result == "correct")
        tally[1] += by

    def estimates(self) -> dict[str, Estimate]:
        """How hard and how telling each attempted challenge is, as its attempts by others say; withdrawn ones
        are left out."""
        answers: dict[str, dict[str, list[bool]]] = {}
        for name, entry in self.entries.items():
            if entry.withdrawn is not None:
                continue
            for attempt in entry.by_others:
                solved = answers.setdefault(name, {}).setdefault(attempt.llm_id, [])
                solved.append(attempt.result == "correct")
        return estimates(answers)

    def draw(self, secret: str, number: int, sealing: str) -> dict[str, Any]:
        """What match `number` is given: a secret of its own, and `count` challenges in use at random.

        `secret` is the arena's, `sealing` the key that salts follow from.
        """
        there = sorted(name for name, entry in self.entries.items() if entry.in_use)
        chosen = Random(f"{secret}/pool/{number}").sample(there, min(self.count, len(there)))
        return {
            "secret": {SALT: salt(sealing, f"match/{number}"), "value": ""},
            "challenges": [
                {
                    "challenge_id": name,
                    "author_llm": self.entries[name].author_llm,
                    "description": self.entries[name].description,
                    "reference_answer": dict(self.entries[name].reference_answer),
                    "difficulty": self.entries[name].failing,
                }
                for name in chosen
            ],
        }


def _opened(found: Mapping[str, str]) -> int | None:
    try:
        value: int | None = unseal(found)
    except Sealed:
        return None
    return value
