"""The settings of the peer duel."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, model_validator

from peerage.game import MaxTokens, Temperature, presets
from peerage.game.section import CHARS_PER_TOKEN, Line, Share
from peerage.game.texts import expanded
from peerage.games.judged import JudgedRules
from peerage.judging.panels.panel import Order, PanelRules

FEWEST = 2
"""Members of a committee or a panel without whom a match is not paired, where rules ask for as many."""


class DuelRules(JudgedRules):
    """Rules of duels."""

    preset: Literal["general", "clinical", "uner"] = Field(
        "general",
        description="Fills in the keys that are not given. `general`: questions on any topic. `clinical`: "
        "questions about clinical cases. `uner`: UNER's rules, ratings and pairing as published.",
    )
    challenge: Literal["question", "case"] = Field(
        "question",
        description="`question`: an author asks about a topic. `case`: one top model writes a clinical case, "
        "another the question about it.",
    )
    topics: tuple[Line, ...] = Field(
        (),
        description="Strata of the challenges; each comes up equally often. Default: a list for each kind of "
        "`challenge`.",
    )
    author: Literal["contestant", "top"] = Field(
        "contestant",
        description="Who drafts: the higher-seeded contestant and then the other, or two players at random "
        "from the top quarter outside the match (the only choice for a `case`).",
    )
    players_per_challenge: int = Field(
        2,
        ge=2,
        le=99,
        description="Players who answer a drafted challenge, each once; later matches "
        "compare others by it and draft nothing. `2`: every match has a challenge of its own.",
    )
    max_drafts: int = Field(3, ge=1, le=20, description="Drafts in one author's turn.")
    committee: int = Field(5, ge=1, le=99, description="Committee members: the top by raw Elo.")
    approval: Share = Field(0.8, description="Share of the committee's valid votes that a draft needs.")
    judges: int = Field(
        3,
        ge=1,
        le=99,
        description="Judges: drawn from the five best by raw Elo, or from as many as there are; with "
        "`early_stop: false` the top.",
    )
    exclude_family: bool = Field(False, description="Keep a contestant's family off its committee and panel.")
    order: Order = Field(
        "opposite",
        description="Judges see the answers in opposite orders, two by two; or each in `both`; or each in "
        "`one` drawn at random.",
    )
    early_stop: bool = Field(
        True,
        description="Judges and committee members who could not change the decision any more are not asked. "
        "`false`: all are asked, at once.",
    )
    binary: bool = Field(False, description="Forbid judges to call a tie.")
    epsilon: float = Field(
        0.05, ge=0, lt=0.5, description="A share of the weight within ε of one half is a tie."
    )
    weights: Literal["softmax", "proportional", "equal"] = Field(
        "equal", description="How a judge's raw Elo weighs its vote."
    )
    weight_temperature: float = Field(
        300.0, gt=0, le=1_000_000, description="τ of the softmax weights, in Elo points."
    )
    max_tokens: MaxTokens = 2_000
    temperature: Temperature = 0.7

    @model_validator(mode="before")
    @classmethod
    def _by_preset(cls, value: Any) -> Any:
        """Fill in the keys that are not given, by those that are and by the preset."""
        if not isinstance(value, dict):
            return value
        stated = {**value}
        case = stated.get("challenge", _challenge(stated)) == "case"
        if case:
            stated.setdefault("author", "top")
        if not stated.get("topics"):
            stated["topics"] = default_topics("clinical" if case else "general")
        return expanded(__package__, stated, "general")

    @model_validator(mode="after")
    def _consistent(self) -> DuelRules:
        if self.challenge == "case" and self.author == "contestant":
            raise ValueError(
                "author is 'contestant', but two top models write a clinical case and the question about it; "
                "leave `author` out"
            )
        if len(set(self.topics)) < len(self.topics):
            twice = next(topic for topic in self.topics if self.topics.count(topic) > 1)
            raise ValueError(
                f"the topic {twice!r} is listed twice; each comes up equally often, so list it once"
            )
        return self

    @property
    def max_chars(self) -> int:
        """Return how many characters of an answer count."""
        return self.max_tokens * CHARS_PER_TOKEN

    def panel(self) -> PanelRules:
        """Return the rules of the panel of judges."""
        usual = PanelRules(
            order=self.order,
            early_stop=self.early_stop,
            binary=self.binary,
            epsilon=self.epsilon,
            weights=self.weights,
            weight_temperature=self.weight_temperature,
            answer_chars=self.max_chars,
        )
        return self.judging.panel(usual)


def _challenge(stated: dict[str, Any]) -> object:
    """Return the kind of challenge of the preset that is named there; None where none or no known one is."""
    preset = presets(__package__).get(str(stated.get("preset")))
    return preset.rules.get("challenge") if preset else None


@lru_cache(maxsize=8)
def default_topics(name: str) -> tuple[str, ...]:
    """Return the strata of a list, `general` or `clinical`, one a line of its file."""
    return tuple(files("peerage.games.duel").joinpath(f"topics/{name}.txt").read_text("utf-8").splitlines())
