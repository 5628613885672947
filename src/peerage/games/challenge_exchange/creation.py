"""Challenges whose answer is one whole number: how one comes to be, and what an attempt is worth. Pure.

    author     > {"description": "How many primes …?", "reference_answer": 25, "solution": "…"}     (draft)
    sandbox    > 25                                                                                (run/1)
    committee  > {"vote": "approve", …}                                                  (vote/committee/1)

A solution must print the reference answer; without one the author must find it again blind, several times.
Where a committee sits, it votes on clarity. Every step is an exchange on record, and its result stands in the
`Creation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from peerage.challenges.drafting import approved_share
from peerage.challenges.pool import Result
from peerage.formats import Choice, Integer, Json, visible
from peerage.formats.integer import whole_number
from peerage.match import Seat
from peerage.protocol import Ask, Prompt, Quote, Ran, Reply, Role, Run, Steps, Works
from peerage.sandbox.program import environment

_TOLERANCE = 1e-9


class Challenge(Struct, frozen=True):
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

    @property
    def answer(self) -> int:
        return int(self.reference_answer)


class CreationRules(Struct, frozen=True):
    """When a challenge is accepted, and the limits of everything on the way; see the game's settings."""

    proof: Literal["any", "blind", "solution"]
    attempts: int
    threshold: float
    approval: float
    quorum: float
    expects: Json[Proposed]
    write: Prompt
    solve: Prompt
    vote: Prompt
    write_tokens: int
    solve_tokens: int
    vote_tokens: int
    temperature: float | None
    fuel: int
    memory: int
    seconds: float


class Creation(Struct, frozen=True):
    """How one challenge was made.

    `status` is accepted, or why it was not: invalid or refused (the draft), void (the author's provider
    failed), no solution, solution failed, not solved, objected, duplicate. `proof` is solution, blind, or
    empty when it did not come to that; `steps` are the results of the runs or blind attempts in order,
    `votes` those of the committee by label.
    """

    author: str
    status: str
    challenge: Proposed | None = None
    proof: str = ""
    steps: tuple[str, ...] = ()
    votes: Mapping[str, str] = {}
    approval: float | None = None
    replies: tuple[Reply, ...] = ()


def asked(
    to: str,
    key: str,
    role: Role,
    prompt: Prompt,
    challenge: Proposed | Challenge,
    tokens: int,
    temperature: float | None,
) -> Ask:
    """The question for a challenge's answer, which shows nothing of it but its description."""
    expects = Integer()
    fill: dict[str, str | Quote] = {
        "challenge": Quote("challenge", challenge.description),
        "format": expects.instruction(),
    }
    oracle = {"description": challenge.description, "answer": challenge.answer}
    return Ask(to, key, role, prompt.messages(fill), expects, tokens, temperature, oracle)


def graded(reply: Reply, reference_answer: int) -> Result:
    """What a reply that came to a challenge is."""
    if not reply.ok:
        return "refused" if reply.status == "refused" else "invalid"
    if reply.value is None:
        return "pass"
    return "correct" if reply.value == reference_answer else "incorrect"


def creating(author: Seat, committee: Sequence[Seat], rules: CreationRules) -> Steps[Creation]:
    """One challenge by `author`, from the draft to its acceptance. No author votes on its own."""
    expects = rules.expects
    fill: dict[str, str | Quote] = {"proof": _proof(rules), "format": expects.instruction()}
    messages = rules.write.messages(fill)
    draft: Reply = yield Ask(
        author.label, "draft", "author", messages, expects, rules.write_tokens, rules.temperature
    )
    if not draft.ok:
        return Creation(author.label, draft.status, replies=(draft,))
    challenge: Proposed = draft.value
    made = Creation(author.label, "accepted", challenge, replies=(draft,))
    if rules.proof == "solution" and not challenge.solution.strip():
        return replace(made, status="no solution")
    if challenge.solution.strip() and rules.proof != "blind":
        verdicts = yield from _run(challenge, rules)
        made = replace(made, proof="solution", steps=verdicts)
        if not all(verdict == "passed" for verdict in verdicts):
            return replace(made, status="solution failed")
    else:
        replies = yield from _solve_blind(author, challenge, rules)
        if any(reply.status == "void" for reply in replies):
            return replace(made, status="void", proof="blind", replies=(draft, *replies))
        results = tuple([graded(reply, challenge.answer) for reply in replies])
        made = replace(made, proof="blind", steps=results, replies=(draft, *replies))
        if results.count("correct") < rules.threshold * len(results) - _TOLERANCE:
            return replace(made, status="not solved")
    members = [member for member in committee if member.player != author.player]
    if not members:
        return made
    votes = yield from _vote(members, challenge, draft.hidden, rules)
    approval = approved_share(list(votes.values()), rules.quorum)
    said = {label: reply.value.choice if reply.ok else reply.status for label, reply in votes.items()}
    clear = approval is not None and approval >= rules.approval - _TOLERANCE
    return replace(made, votes=said, approval=approval, status="accepted" if clear else "objected")


def _proof(rules: CreationRules) -> str:
    blind = (
        f"you will be shown your challenge again {rules.attempts} times, without your answer, and must find "
        f"it at least {rules.threshold:.0%} of the times"
    )
    if rules.proof == "blind":
        return f"To be accepted it must be solvable: {blind}. Leave `solution` empty."
    program = (
        "`solution`, a Python 3.12 program that uses the standard library alone, prints the answer and "
        "nothing else; it reads no input unless there are tests"
    )
    sandbox = environment(rules.fuel, rules.memory)
    if rules.proof == "solution":
        return f"To be accepted it must be solvable: write {program}. {sandbox}"
    return f"To be accepted it must be solvable: write {program}. Without a solution {blind}. {sandbox}"


def _run(challenge: Proposed, rules: CreationRules) -> Steps[tuple[str, ...]]:
    """A verdict for the reference answer, then one for each test: passed, wrong, or how the run ended."""
    cases = [("", challenge.answer), *[(case.input, int(case.output)) for case in challenge.tests]]
    replies: list[Reply] = yield [
        Run(f"run/{at}", challenge.solution, given, rules.fuel, rules.memory, seconds=rules.seconds)
        for at, (given, _) in enumerate(cases, 1)
    ]
    return tuple([_verdict(reply.value, wanted) for reply, (_, wanted) in zip(replies, cases, strict=True)])


def _verdict(run: Ran, wanted: int) -> str:
    if run.status != "ok":
        return run.status
    return "passed" if whole_number(run.stdout.strip()) == wanted else "wrong"


def _solve_blind(author: Seat, challenge: Proposed, rules: CreationRules) -> Steps[list[Reply]]:
    replies: list[Reply] = yield [
        asked(
            author.label,
            f"blind/{at}",
            "author",
            rules.solve,
            challenge,
            rules.solve_tokens,
            rules.temperature,
        )
        for at in range(1, rules.attempts + 1)
    ]
    return replies


def _vote(
    members: Sequence[Seat], challenge: Proposed, hidden: object, rules: CreationRules
) -> Steps[dict[str, Reply]]:
    expects = Choice("vote", ("approve", "object"))
    fill: dict[str, str | Quote] = {
        "challenge": Quote("challenge", challenge.description),
        "format": expects.instruction(),
    }
    messages = rules.vote.messages(fill)
    replies: list[Reply] = yield [
        Ask(
            member.label,
            f"vote/{member.label}",
            "committee",
            messages,
            expects,
            rules.vote_tokens,
            rules.temperature,
            Works((hidden,)),
        )
        for member in members
    ]
    return dict(zip([member.label for member in members], replies, strict=True))
