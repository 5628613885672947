"""The settings of the challenge exchange, and the rules as its players read them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from peerage.challenges.pool import Result
from peerage.game import GameRules, MaxTokens, Seats
from peerage.game.texts import expanded
from peerage.judging.panels.panel import QUORUM
from peerage.sandbox.program import environment

DESCRIPTION_CHARS, SOLUTION_CHARS = 2_000, 6_000
"""Characters of a description and of a solution, at most."""
WRITE_TOKENS, VOTE_TOKENS = 6_000, 600
"""Tokens of a challenge and of a committee member's vote, at most, not counting thinking."""
FOUND_AGAIN = 0.66
"""Share of its author's blind attempts that must be right."""
TOOL_RUNS = 3
"""Programs that a player with tools may run for one answer."""


class ChallengeExchangeRules(GameRules):
    """Settings of the writing, solving and paying of challenges."""

    preset: Literal["default", "original"] = Field(
        "default",
        description="Fills in the keys that are not given. `original`: the core game of the Valyrian Games "
        "as designed.",
    )
    seats: Seats = 4
    write: int = Field(1, ge=0, le=5, description="Challenges that each player writes in a match.")
    proof: Literal["both", "blind", "solution"] = Field(
        "both",
        description="How a challenge is shown to be solvable: `blind`, its author finds the answer again "
        "from the wording alone; `both`, that, and its program, if it writes one, prints it; `solution`, a "
        "program alone, which shows that it prints a number and not that the wording asks for it.",
    )
    attempts: int = Field(3, ge=1, le=20, description="Times that an author tries its own challenge blind.")
    committee: int = Field(0, ge=0, le=20, description="Other players who review the clarity of a challenge.")
    approval: float = Field(0.6, ge=0, le=1, description="Share of their valid votes that must approve.")
    pool: int = Field(4, ge=0, le=100, description="Challenges of earlier matches that come into a match.")
    assigned: int = Field(4, ge=1, le=50, description="Challenges that each player is given to solve.")
    own: bool = Field(True, description="Players may be given challenges of their own.")
    tools: Literal["none", "python"] = Field(
        "none", description="`python`: players may run programs in the sandbox before they answer."
    )
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
    max_tokens: MaxTokens = 4_000

    @model_validator(mode="before")
    @classmethod
    def _by_preset(cls, value: Any) -> Any:
        return expanded(__package__, value, "default")

    @model_validator(mode="after")
    def _something_to_solve(self) -> ChallengeExchangeRules:
        if not self.write and not self.pool:
            raise ValueError(
                "write and pool are both 0, so there would be nothing to solve; raise one of them"
            )
        return self


def points(result: Result, own: bool, difficulty: float | None, rules: ChallengeExchangeRules) -> float:
    """Return what an attempt is worth; `difficulty` is the share of players who fail, None unknown."""
    share = 0.5 if rules.scoring == "fixed" or difficulty is None else difficulty
    if result == "correct":
        return rules.correct * 2 * share
    paid = rules.incorrect * 2 * (1 - share) if result == "incorrect" else rules.passed
    return paid + (rules.own_failed if own else 0.0)


def stakes(rules: ChallengeExchangeRules, difficulty: float | None = None) -> str:
    """Return what a solver may win and lose by a challenge."""
    right, wrong, passed = (
        _signed(points(result, False, difficulty, rules)) for result in ("correct", "incorrect", "pass")
    )
    text = (
        f"Points: {right} for the right number, {wrong} for a wrong one, {passed} for a pass or a reply "
        "without a usable number."
    )
    if rules.own:
        text += (
            " Some challenges may be your own; anything but the right number for one of those counts "
            f"{_signed(rules.own_failed)} more."
        )
    return text


def solving(rules: ChallengeExchangeRules) -> str:
    """Return what its author must know of how a challenge is solved and paid."""
    text = (
        "Writing a challenge earns nothing by itself: players are dealt challenges at random, and solve "
        f"them. {stakes(rules)}"
    )
    if rules.scoring == "difficulty":
        text += (
            " When a challenge comes back in later matches, a right answer earns the more, and a wrong one "
            "costs the less, the more players have failed it."
        )
    if rules.tools == "python":
        text += f" Solvers may first run {TOOL_RUNS} Python programs."
    else:
        text += " Solvers have no tools."
    return text + " The best challenge is one that you solve every time and that others find hard."


def proving(rules: ChallengeExchangeRules) -> str:
    """Return when a challenge is accepted, to its author."""
    program = (
        f"`solution`, a Python 3.12 program of at most {SOLUTION_CHARS:,} characters that prints the answer "
        "and nothing else when its standard input is empty, and for the `input` of each of `tests` (smaller "
        "cases, if you state any) the `output` stated there"
    )
    blind = (
        f"you will be shown your description again {rules.attempts} times, just as a solver is and without "
        f"your answer, and must find that answer at least {FOUND_AGAIN:.0%} of the times"
    )
    text = (
        f"The description has at most {DESCRIPTION_CHARS:,} characters. To be accepted it must be solvable: "
    )
    text += {
        "blind": f"{blind}. Leave `solution` and `tests` empty.",
        "both": f"{blind}. You may also write {program}; if you write it, it must do that.",
        "solution": f"write {program}.",
    }[rules.proof]
    text += " A challenge that was written before, also in other words, is not accepted."
    if rules.proof != "blind":
        text += f" {environment()}"
    if rules.committee:
        text += (
            f" Then {rules.committee} other players review how clear it is: {rules.approval:.0%} of their "
            f"votes must approve, and {QUORUM:.0%} of them must be valid."
        )
    return text


def _signed(number: float) -> str:
    return f"{number:+g}" if number else "0"
