"""Challenges whose answer is one whole number: how one comes to be, and what an attempt is worth. Pure.

    author     > {"description": "How many primes …?", "reference_answer": 25, "solution": "…"}     (draft)
    author     > 25, 25, 25                                                          (blind/1, blind/2, …)
    sandbox    > 25                                                                                (run/1)
    committee  > {"vote": "approve", …}                                                  (vote/committee/1)

Its author must find the reference answer again from the wording alone, several times, and a program that it
wrote must print it. Where a committee sits, it votes on clarity. Every step is an exchange on record, and its
result is in the `Creation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from peerage.challenges.drafting import VOTES, reviewed
from peerage.challenges.pool import Result
from peerage.formats.integer import DIGITS, whole_number
from peerage.game import Choice, Integer, Json, Quote, Reply, Role, Run, Seat, Steps, Together, Works, texts
from peerage.game.programs.tools import with_python
from peerage.game.protocol import Ran
from peerage.games.challenge_exchange.rules import (
    DESCRIPTION_CHARS,
    FOUND_AGAIN,
    SOLUTION_CHARS,
    TOOL_RUNS,
    VOTE_TOKENS,
    WRITE_TOKENS,
    ChallengeExchangeRules,
    proving,
    solving,
)
from peerage.values.texts import visible

_TOLERANCE = 1e-9
_MISSING = re.compile(r"^ModuleNotFoundError: .*\s*\Z", re.MULTILINE)


class DraftedChallenge(Struct, frozen=True):
    """A challenge as a match needs it. `difficulty` is the estimated share of ordinary players who fail it,
    from 0 to 1, None while nobody has tried."""

    challenge_id: str
    author_llm: str
    description: str
    reference_answer: int
    difficulty: float | None = None

    @property
    def answer(self) -> int:
        return self.reference_answer


Whole: TypeAlias = int | Annotated[str, Meta(pattern=r"^[+-]?[0-9]{1,60}$", examples=["42"])]
"""A whole number; as a text where it is long."""


class Case(Struct, frozen=True):
    input: Annotated[str, Meta(max_length=2_000, description="The standard input of a smaller case.")]
    output: Annotated[Whole, Meta(description="The number that the solution prints for it.")]


class Proposed(Struct, frozen=True):
    """A challenge as its author writes it."""

    description: Annotated[str, Meta(description="The challenge.")]
    reference_answer: Annotated[Whole, Meta(description="The answer.")]
    solution: Annotated[str, Meta(description="A Python program that prints the answer, or nothing.")] = ""
    tests: Annotated[tuple[Case, ...], Meta(max_length=5)] = ()

    def __post_init__(self) -> None:
        if not self.description.strip():
            raise ValueError('"description" is empty; the text of the challenge was expected')
        if visible(self.description) != self.description:
            raise ValueError("the description holds characters that cannot be seen, which reach no reader")
        if whole_number(self.reference_answer) is None:
            raise ValueError(f"the answer has more than {DIGITS} digits, which no player may state")

    @property
    def answer(self) -> int:
        return int(self.reference_answer)


PROPOSAL = Json(
    Proposed, description=Meta(max_length=DESCRIPTION_CHARS), solution=Meta(max_length=SOLUTION_CHARS)
)
"""The format of a draft."""


class Creation(Struct, frozen=True):
    """Making of one challenge.

    `status` is accepted, or why it was not: invalid or refused (the draft), void (the author's provider
    failed), no solution, solution failed, not solved, objected, duplicate, disputed (another author of this
    match gave another answer). `proof` is solution, blind, both, or empty when it did not come to that;
    `steps` are the results of the runs and blind attempts in order, `votes` those of the committee by label.
    """

    author: str
    status: str
    challenge: Proposed | None = None
    proof: str = ""
    steps: tuple[str, ...] = ()
    votes: Mapping[str, str] = {}
    approval: float | None = None


def answering(
    to: str,
    key: str,
    role: Role,
    challenge: Proposed | DraftedChallenge,
    stakes: str,
    rules: ChallengeExchangeRules,
) -> Steps[Reply]:
    """The final reply to the question for a challenge's answer, which shows its description alone."""
    fill: Mapping[str, str | Quote] = {
        "challenge": Quote("challenge", challenge.description),
        "stakes": stakes,
    }
    oracle = {"description": challenge.description, "answer": challenge.answer}
    solve = texts(__package__, rules.texts)["solve"]
    ask = solve.ask(to, key, Integer(), fill, rules.max_tokens, role=role, oracle=oracle)
    if rules.tools == "python":
        return (yield from with_python(ask, TOOL_RUNS))
    reply: Reply = yield ask
    return reply


def graded(reply: Reply, reference_answer: int) -> Result:
    """Return what a reply that came to a challenge is."""
    if not reply.ok:
        return "refused" if reply.status == "refused" else "invalid"
    if reply.value is None:
        return "pass"
    return "correct" if reply.value == reference_answer else "incorrect"


def creating(author: Seat, committee: Sequence[Seat], rules: ChallengeExchangeRules) -> Steps[Creation]:
    """One challenge by `author`, from the draft to its acceptance. No author votes on its own."""
    fill = {"solving": solving(rules), "proof": proving(rules)}
    own = texts(__package__, rules.texts)
    draft: Reply = yield own["write"].ask(author.label, "draft", PROPOSAL, fill, WRITE_TOKENS, role="author")
    if not draft.ok:
        return Creation(author.label, draft.status)
    challenge: Proposed = draft.value
    made = Creation(author.label, "accepted", challenge)
    program = rules.proof != "blind" and bool(challenge.solution.strip())
    if rules.proof == "solution" and not program:
        return replace(made, status="no solution")
    if program:
        made = replace(made, proof="solution", steps=(yield from _run(challenge, rules)))
        if set(made.steps) != {"passed"}:
            return replace(made, status="solution failed")
    if rules.proof != "solution":
        replies = yield from _solve_blind(author, challenge, rules)
        made = replace(made, proof="both" if program else "blind")
        if any(reply.status == "void" for reply in replies):
            return replace(made, status="void")
        results = [graded(reply, challenge.answer) for reply in replies]
        made = replace(made, steps=(*made.steps, *results))
        if results.count("correct") < FOUND_AGAIN * len(results) - _TOLERANCE:
            return replace(made, status="not solved")
    members = [member for member in committee if member.player != author.player]
    if not members:
        return made
    review = yield from reviewed(
        [
            own["vote"].ask(
                member.label,
                f"vote/{member.label}",
                Choice("vote", VOTES),
                {"challenge": Quote("challenge", challenge.description)},
                VOTE_TOKENS,
                role="committee",
                oracle=Works((draft.hidden,)),
            )
            for member in members
        ],
        rules.approval,
    )
    status = "accepted" if review.approved else "objected"
    return replace(made, votes=review.votes, approval=review.share, status=status)


def _run(challenge: Proposed, rules: ChallengeExchangeRules) -> Steps[tuple[str, ...]]:
    """A verdict for the reference answer, then for each test: passed, wrong, no number, or how it ended."""
    cases = [("", challenge.answer), *[(case.input, int(case.output)) for case in challenge.tests]]
    replies: list[Reply] = yield [
        Run(f"run/{at}", challenge.solution, given) for at, (given, _) in enumerate(cases, 1)
    ]
    return tuple([_verdict(reply.value, wanted) for reply, (_, wanted) in zip(replies, cases, strict=True)])


def _verdict(run: Ran, wanted: int) -> str:
    if run.status == "error" and _MISSING.search(run.stderr):
        return "missing package"
    if run.status != "ok":
        return run.status
    printed = whole_number(run.stdout.strip())
    return "no number" if printed is None else "passed" if printed == wanted else "wrong"


def _solve_blind(author: Seat, challenge: Proposed, rules: ChallengeExchangeRules) -> Steps[list[Reply]]:
    unscored = texts(__package__, rules.texts)["unscored"]
    replies: Mapping[str, Reply] = yield Together(
        {
            f"blind/{at}": answering(author.label, "answer", "author", challenge, unscored, rules)
            for at in range(1, rules.attempts + 1)
        }
    )
    return list(replies.values())
