"""The settings of Color Obfuscation, the rules as players read them, and the most it can ask of players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from peerage.game import (
    Asks,
    Color,
    Encoding,
    Fixture,
    GameRules,
    RoleRequirement,
    Seat,
    SettingsSection,
    texts,
)
from peerage.game.bounds import QUOTE
from peerage.game.texts import expanded

NAME, VERSION = "color-obfuscation", 10
Share = Annotated[float, Field(ge=0, le=1)]


THOUGHT_CHARS = 6_000
"""Characters of thought in a reply, where a provider enforces the format."""


class ColorLimits(SettingsSection):
    """The longest replies that count."""

    max_tokens: int = Field(
        4_000, ge=1, le=10_000_000, description="Tokens an answer may take, not counting thinking before it."
    )
    max_chars: int = Field(1_000, ge=6, le=20_000, description="Characters of an obfuscated string.")
    max_instructions: int = Field(30, ge=1, le=200, description="Instructions in a list.")
    instruction_chars: int = Field(600, ge=1, le=5_000, description="Characters of one instruction.")


class ColorObfuscationRules(GameRules):
    """Rules of battles."""

    preset: Literal["default", "original"] = Field(
        "default",
        description="Fills in the keys that are not given. `original`: the rules of the Color Obfuscation "
        "Benchmark, its ratings, and pairs at random.",
    )
    shares: tuple[Share, ...] = Field(
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
        min_length=1,
        max_length=50,
        description="Share of the instructions that the attacker sees at each attempt; as many attempts as "
        "shares. `[1]` is one attempt with everything.",
    )
    ally_failure: Literal["attacker", "void", "ignore"] = Field(
        "attacker",
        description="An ally that cannot decode: `attacker` counts the round for the attacker, `void` voids "
        "the match, `ignore` makes nothing of it (the original).",
    )
    ally: Literal["self", "other"] = Field(
        "self",
        description="Who is the ally: the player itself, asked as if for the first time, or an `other` "
        "player of the arena, drawn for the match, who reads for both sides. `other` is the default where an "
        "agent or a person plays, who may remember the color that it hid.",
    )
    color: Literal["same", "fresh"] = Field(
        "fresh",
        description="Each round hides a color of its own, or both the `same`, which is for players without "
        "memory alone: agents are refused then.",
    )
    order: Literal["recoveries", "attempts"] = Field(
        "attempts",
        description="What decides: who recovered more colors, or with `attempts` among equals who needed "
        "fewer attempts.",
    )
    same_family: bool = Field(True, description="Whether players of one family may meet.")
    limits: ColorLimits = Field(ColorLimits(), description="Limits of replies.")

    @model_validator(mode="before")
    @classmethod
    def _by_preset(cls, value: Any) -> Any:
        return expanded(__package__, value, "default")

    @model_validator(mode="after")
    def _growing(self) -> ColorObfuscationRules:
        if list(self.shares) != sorted(self.shares):
            raise ValueError(f"shares are {list(self.shares)}; they grow, since what was shown stays shown")
        return self

    def encoding(self) -> Encoding:
        """The kind of reply that an obfuscator gives."""
        limits = self.limits
        return Encoding(limits.max_chars, limits.max_instructions, limits.instruction_chars, THOUGHT_CHARS)

    def answer(self) -> Color:
        """The kind of reply that allies and attackers give."""
        return Color(working_chars=THOUGHT_CHARS)


ALLIES = {
    "self": "the same model without any memory of this,",
    "other": "another player and the same for both sides,",
}
COLORS = {"fresh": "Each round has a color of its own.", "same": "Both rounds have the same color."}
"""The rules about allies and colors, in words."""


def officials(rules: ColorObfuscationRules) -> tuple[RoleRequirement, ...]:
    """Return the reader that is both sides' ally, where there is one: none is left where only two play."""
    return (RoleRequirement("committee", 1, 0, "drawn"),) if rules.ally == "other" else ()


def failure(ally: str, ally_failure: str, readers: Sequence[Seat]) -> str:
    """Return what a broken encoding does: nothing where another player is to read and none is left."""
    return "ignore" if ally == "other" and not readers else ally_failure


def fills(rules: ColorObfuscationRules, readers: Sequence[Seat]) -> dict[str, str]:
    """Return the fillings of every prompt's places: the rules of the battle, in words."""
    percent = [f"{share:.0%}" for share in rules.shares]
    reveal = f"{percent[0]} of the instructions for a single attempt"
    if len(percent) > 1:
        shown = f"{', '.join(percent[:-1])} and {percent[-1]}"
        reveal = f"up to {len(percent)} attempts with {shown} of the instructions"
    return {
        "reveal": reveal,
        "colors": COLORS[rules.color],
        "ally": ALLIES["other" if readers else "self"],
        "order": texts(__package__, rules.texts)["order"][rules.order],
    }


def forgets(rules: ColorObfuscationRules) -> str:
    """Return why players that remember their requests may not play; empty: they gain nothing by it."""
    if rules.color == "same":
        return (
            "`color: same` hides the same color in both rounds, so who hid it knows what to find. "
            "`color: fresh` gives each round a color of its own"
        )
    if rules.ally_failure != "ignore" and rules.ally == "self":
        return (
            "a player is its own ally, and one that remembers the color that it hid proves nothing by "
            "finding it again. Under `ally: other`, the default here, another player reads"
        )
    return ""


def asks(rules: ColorObfuscationRules, fixture: Fixture) -> tuple[Asks, ...]:
    """Each seat hides once, decodes its own once and attacks as often as there are shares."""
    limits, attempts, own = rules.limits, len(rules.shares), texts(__package__, rules.texts)
    listed = limits.max_instructions * (limits.instruction_chars + 6) + 5 * attempts
    reader = Asks(
        "committee", own["recover"], rules.answer(), 2, limits.max_tokens, limits.max_chars + listed
    )
    return (
        *[reader._replace(quoted=reader.quoted + 2 * QUOTE, usual_output=700)] * (rules.ally == "other"),
        Asks(
            to="contestant",
            prompts=(own["obfuscate"], own["recover"], own["attack"]),
            expects=rules.encoding(),
            calls=2 + attempts,
            max_tokens=limits.max_tokens,
            quoted=limits.max_chars + listed + 2 * QUOTE,
            usual=2 + (1 + attempts) / 2,
            usual_quoted=100,
            usual_output=700,
        ),
    )
