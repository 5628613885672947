"""The settings of Humanity's Last Arena, and its presets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from peerage.game import GameRules, MaxTokens, Prompt, texts
from peerage.game.section import CHARS_PER_TOKEN, Line
from peerage.game.texts import expanded
from peerage.judging.scores.scoring import ScoringRules

SPARE_CALLS = 4
"""Further calls to each author, for what was unusable or there already."""
MOST_LOST = 0.05
"""Share of a player's answers that may be lost to its provider before it is unranked."""
QUESTION_CHARS, QUESTION_TOKENS, SPARE_TOKENS = 600, 100, 200
"""Limits of a question; and the tokens that a reply with questions may take on top."""
TEMPERATURE = 0.7
"""Sampling temperature of questions and answers; that of ratings and judgements is 0."""
QUESTIONS_PER_CALL, PUBLISHED_PER_CALL = 20, 100
"""Questions written in one reply, at most: asked for by our prompt and by the published one."""
SAME = 0.7
"""Questions that share this much of their character sequences are the same; as published, equal ones."""
CATEGORIES = ("math", "logic", "ethics", "science", "language", "history", "planning", "creativity")


class Wanted(NamedTuple):
    """So many questions of one sort (`plain`, `meta`, `trick`), and the prompt of their authors. The prompt's
    places: `count`, `categories`, `quota` (how many of each category), `limit`, `stakes` (the fate of
    questions), `format`."""

    sort: str
    number: int
    prompt: Prompt


class LastArenaRules(GameRules):
    """Settings of a tournament. Every player writes, rates, answers and judges."""

    preset: Literal["default", "original", "development", "budget"] = Field(
        "default",
        description="What is said about keys that are not given. `original`: the published prompts, one item "
        "a call; `development`: three short questions each; `budget`: twenty, many items a call.",
    )
    seats: int = Field(
        8,
        ge=2,
        le=20,
        description="Players in a tournament at most. Two are for development: nothing is rated then. From 5 "
        "upwards no number of players leaves a table of two.",
    )
    questions: int = Field(100, ge=1, le=1_000, description="Questions that each player writes.")
    meta: int = Field(
        0, ge=0, le=1_000, description="Questions about the tournament itself, in addition, from each player."
    )
    tricks: int = Field(
        0, ge=0, le=1_000, description="Trick questions, marked as such, in addition, from each player."
    )
    categories: tuple[Line, ...] = Field(
        CATEGORIES, min_length=1, max_length=50, description="What questions must be spread over."
    )
    per_call: int = Field(
        10, ge=1, le=200, description="Questions rated, or answers judged, in one reply; 1: one at a time."
    )
    explain: bool = Field(False, description="A 0 or a 10 needs a reason; reasons are summed up by judge.")
    quality: Literal["filter", "weight", "none"] = Field(
        "filter",
        description="What ratings of questions do: the worst are dropped, or all count by their rating, or "
        "nothing.",
    )
    drop: float = Field(
        1 / 3, ge=0, lt=1, description="Share of the questions of each sort that `filter` drops."
    )
    answer_budgets: tuple[Annotated[int, Field(ge=1, le=10_000_000)], ...] = Field(
        (),
        max_length=10,
        description="Token limits: each question is answered once under each of them, and a table says what "
        "more tokens are worth. Default: once, under `max_tokens`.",
    )
    diversity_bonus: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Points between a player whose questions have nothing in common and one whose questions "
        "are all alike.",
    )
    max_tokens: MaxTokens = 1_000

    @model_validator(mode="before")
    @classmethod
    def _by_preset(cls, value: Any) -> Any:
        return expanded(__package__, value, "default")

    @field_validator("answer_budgets")
    @classmethod
    def _growing(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if list(value) != sorted(set(value)):
            raise ValueError(f"answer_budgets are {list(value)}; list each limit once, the smallest first")
        return value

    @field_validator("categories")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        folded = [category.casefold() for category in value]
        twice = [category for category in value if folded.count(category.casefold()) > 1]
        if twice:
            raise ValueError(f"the category {twice[0]!r} is listed twice; list it once")
        return value

    @property
    def published(self) -> bool:
        """Return whether players are sent the prompts that Humanity's Last Arena published."""
        return self.preset == "original"

    @property
    def questions_per_call(self) -> int:
        """Return how many questions one reply holds at most."""
        most = PUBLISHED_PER_CALL if self.published else QUESTIONS_PER_CALL
        return min(most, max(self.questions, self.meta, self.tricks))

    @property
    def question_tokens(self) -> int:
        """Return how many tokens a reply with questions may take."""
        return SPARE_TOKENS + QUESTION_TOKENS * self.questions_per_call

    @property
    def overlap(self) -> float:
        """Return the share of common sequences from which on two questions are the same."""
        return 1.0 if self.published else SAME

    @property
    def max_chars(self) -> int:
        """Return how many characters of an answer count."""
        return answer_chars(self.max_tokens, self.answer_budgets)

    @property
    def prompts(self) -> Mapping[str, Any]:
        """Return the prompts of players, by phase; `again` follows where an author has written before."""
        told = texts(__package__, self.texts)
        return {**told["own"], **(told["published"] if self.published else {})}

    def dropped(self, questions: int) -> int:
        """Return the number of dropped questions of so many of one sort."""
        # a share such as 0.3 of 10 must not become 2 by a rounding error
        return int(questions * self.drop + 1e-9) if self.quality == "filter" else 0

    def wanted(self) -> tuple[Wanted, ...]:
        """Return the questions that each player is to write, by sort."""
        prompts = self.prompts
        wanted = (
            Wanted("plain", self.questions, prompts["write"]),
            Wanted("meta", self.meta, prompts["meta"]),
            Wanted("trick", self.tricks, prompts["trick"]),
        )
        return tuple([of_sort for of_sort in wanted if of_sort.number])

    def stakes(self) -> str:
        """Return the fate of questions in words, for their authors."""
        rated = "Players rate the questions of others for clarity and relevance"
        fate = {
            "filter": f"{rated}, and the worst {self.drop:.0%} are dropped.",
            "weight": f"{rated}, and answers count by their question's rating.",
            "none": "All questions count alike.",
        }[self.quality]
        if self.diversity_bonus:
            fate += (
                " Between a player whose questions have nothing in common and one whose questions are all "
                f"alike lie {self.diversity_bonus:g} points."
            )
        return fate

    def rating(self) -> ScoringRules:
        """Return the rules of rating questions."""
        return self._scoring("rate", self.prompts["rate"], self.prompts["rate_many"])

    def judging(self) -> ScoringRules:
        """Return the rules of judging answers."""
        return self._scoring("judge", self.prompts["judge"], self.prompts["judge_many"])

    def _scoring(self, phase: str, prompt: Prompt, many: Prompt) -> ScoringRules:
        return ScoringRules(
            phase=phase, per_call=self.per_call, prompt=prompt, many=many, explain=self.explain
        )


def answer_chars(max_tokens: int, budgets: Iterable[int]) -> int:
    """Return how many characters of an answer count, by the most tokens that it may take."""
    return CHARS_PER_TOKEN * max(max_tokens, *budgets, 0)
