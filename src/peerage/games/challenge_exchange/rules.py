"""The settings of the challenge exchange, and what its players are told."""

from __future__ import annotations

from typing import Literal

from msgspec import Meta
from pydantic import Field, model_validator

from peerage.formats import Json
from peerage.games.challenge_exchange.creation import CreationRules, Proposed
from peerage.games.game import GameRules
from peerage.games.section import Fuel, Memory, Seats, Seconds, Temperature
from peerage.games.tools import ToolRules
from peerage.judging.prompts import MATERIAL
from peerage.protocol import Prompt
from peerage.sandbox.program import FUEL, MEMORY, SECONDS

WRITE = Prompt(
    """\
You play the challenge exchange: language models write challenges for each other, and solve them.""",
    """\
Write a challenge whose answer is one whole number, the password. Whoever reads it gets your description and \
nothing else, so it must be complete, have exactly one reading and exactly one answer. It must not state the \
answer. The best challenge is one that you solve every time and that others find hard.
{proof}
{format}""",
)

SOLVE = Prompt(
    f"""\
You solve challenges whose answer is one whole number. A wrong answer costs points; a pass does not.
{MATERIAL} The challenge is such a text: solve what it asks for.""",
    """\
The challenge:
{challenge}

Find the number. If you are not sure enough of it, pass.
{format}""",
)

VOTE = Prompt(
    f"""\
You sit on a committee that reviews challenges before anybody plays them.
{MATERIAL}""",
    """\
A challenge whose answer is supposed to be one whole number:
{challenge}

Approve it when it is clear and complete: one reading, everything needed is there, exactly one whole number \
answers it, and the text does not give that number away. Whether you can solve it does not matter. Otherwise \
object, and say what is missing.
{format}""",
)


class ChallengeExchangeRules(GameRules):
    """How challenges are written, solved and paid."""

    seats: Seats = 4
    write: int = Field(1, ge=0, le=5, description="Challenges that each player writes in a match.")
    proof: Literal["any", "blind", "solution"] = Field(
        "any",
        description="How a challenge is shown to be solvable: `solution`, a program that prints the answer; "
        "`blind`, its author finds it again; `any`, the program where there is one, else blind.",
    )
    attempts: int = Field(3, ge=1, le=20, description="Times that an author tries its own challenge blind.")
    threshold: float = Field(0.66, ge=0, le=1, description="Share of these that must be right.")
    committee: int = Field(0, ge=0, le=20, description="Other players who review the clarity of a challenge.")
    approval: float = Field(0.6, ge=0, le=1, description="Share of their valid votes that must approve.")
    quorum: float = Field(0.5, ge=0, le=1, description="Share of their votes that must be valid.")
    pool: int = Field(4, ge=0, le=100, description="Challenges of earlier matches that come into a match.")
    assigned: int = Field(4, ge=1, le=50, description="Challenges that each player is given to solve.")
    own: bool = Field(True, description="Players may be given challenges of their own.")
    tools: Literal["none", "python"] = Field(
        "none", description="`python`: players may run programs in the sandbox before they answer."
    )
    tool: ToolRules = Field(ToolRules(), description="What they may run then.")
    scoring: Literal["fixed", "difficulty"] = Field(
        "fixed",
        description="`difficulty` pays 2 × d of `correct` and 2 × (1 - d) of `incorrect`, with d the "
        "estimated share of players who fail the challenge (½ while it is new).",
    )
    correct: float = Field(1.0, ge=-100, le=100, description="Points for a right answer.")
    incorrect: float = Field(-1.0, ge=-100, le=100, description="Points for a wrong answer.")
    passed: float = Field(
        0.0, ge=-100, le=100, description="Points for a pass, and for a reply that holds no usable answer."
    )
    own_failed: float = Field(
        -1.0, ge=-100, le=100, description="Points on top of that for not solving one's own challenge."
    )
    least_attempts: int = Field(
        6,
        ge=2,
        le=1_000,
        description="Attempts by others from which on a challenge of the pool can be flagged.",
    )
    max_chars: int = Field(2_000, ge=50, le=20_000, description="Characters of a description.")
    max_bytes: int = Field(6_000, ge=100, le=100_000, description="Characters of a solution.")
    write_tokens: int = Field(6_000, ge=1, description="Tokens of a challenge, beside what is thought.")
    solve_tokens: int = Field(4_000, ge=1, description="Tokens of an answer, beside what is thought.")
    vote_tokens: int = Field(600, ge=1, description="Tokens of a committee member's vote.")
    temperature: Temperature = None
    fuel: Fuel = FUEL
    memory: Memory = MEMORY
    seconds: Seconds = SECONDS

    @model_validator(mode="after")
    def _something_to_solve(self) -> ChallengeExchangeRules:
        if not self.write and not self.pool:
            raise ValueError(
                "write and pool are both 0, so there would be nothing to solve; raise one of them"
            )
        return self

    def creation(self) -> CreationRules:
        """What the making of a challenge needs."""
        return CreationRules(
            self.proof,
            self.attempts,
            self.threshold,
            self.approval,
            self.quorum,
            Json(
                Proposed,
                description=Meta(max_length=self.max_chars),
                solution=Meta(max_length=self.max_bytes),
            ),
            WRITE,
            SOLVE,
            VOTE,
            self.write_tokens,
            self.solve_tokens,
            self.vote_tokens,
            self.temperature,
            self.fuel,
            self.memory,
            self.seconds,
        )
