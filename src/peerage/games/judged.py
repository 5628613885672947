"""Settings of judging, which every game whose judges compare two answers takes from the arena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from peerage.game import Asks, Fixture, GameRules, Prompt, RoleRequirement, SettingsSection
from peerage.judging.panels.panel import REASON_CHARS, VERDICT_TOKENS, Order, PanelRules
from peerage.judging.panels.prompts import Criterion as PanelCriterion
from peerage.judging.panels.prompts import check_places

NAMED = 3
"""Named judges that a match has where the settings do not say."""

CriterionName = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z][A-Za-z0-9 _-]{0,39}$")
]


class CriterionSetting(SettingsSection):
    """One criterion of judging; a name alone is its `name`."""

    SHORT: ClassVar = "a name"

    name: CriterionName = Field(description="Its name: up to 40 letters, digits, blanks, - and _.")
    weight: float = Field(
        1.0, gt=0, le=1_000, description="How much it counts in the verdict, against the others."
    )
    about: str = Field("", max_length=4_000, description="When an answer is the better one by it.")

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


def criteria_of(stated: Iterable[CriterionSetting]) -> tuple[PanelCriterion, ...]:
    """Return criteria as a panel takes them."""
    return tuple([PanelCriterion(criterion.name, criterion.weight, criterion.about) for criterion in stated])


class JudgingRules(SettingsSection):
    """The rules by which judges decide between two answers."""

    rubric: str = Field(
        "",
        max_length=100_000,
        description="Text that says which answer is better, in place of our words; or `{file: rubric.md}`.",
    )
    criteria: tuple[CriterionSetting, ...] = Field(
        (),
        max_length=20,
        description="Criteria that judges decide on one by one, each with `name`, `weight` and `about`; the "
        "verdict is their weighted sum.",
    )
    prompt: str = Field(
        "",
        max_length=100_000,
        description="The whole prompt of judges, in place of ours, with the places `{{prompt}}`, "
        "`{{answer_a}}`, `{{answer_b}}`, `{{format}}`, and where they are used `{{rubric}}`, `{{criteria}}`, "
        "`{{expected}}`; or `{file: judge.md}`.",
    )
    ties: bool | None = Field(
        None, description="`false`: judges must choose. Default: they may call a tie, or as the game has it."
    )
    order: Order | None = Field(
        None,
        description="`opposite`: judges see the two answers in opposite orders, two by two, and a judge who "
        "is alone sees both; `both`: each judge sees both orders; `one`: each sees one drawn at random. "
        "Default: opposite, or as the game has it.",
    )
    early_stop: bool | None = Field(
        None,
        description="`true`: a judge who could not change the verdict any more is not asked; `false`: all "
        "are asked, at once. Default: true, or as the game has it.",
    )

    @field_validator("criteria")
    @classmethod
    def _apart(cls, value: tuple[CriterionSetting, ...]) -> tuple[CriterionSetting, ...]:
        names = [criterion.name.casefold() for criterion in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the criterion {name!r} is listed twice; give one of them another name")
        if "reason" in names:
            raise ValueError("a criterion is named 'reason', under which judges give theirs; rename it")
        return value

    @model_validator(mode="after")
    def _placed(self) -> JudgingRules:
        if self.prompt:
            check_places(self.prompt, rubric=bool(self.rubric), criteria=bool(self.criteria))
        return self

    @property
    def stated(self) -> bool:
        """Return whether the owner says what makes the better answer."""
        return bool(self.rubric or self.criteria or self.prompt)

    def panel(self, usual: PanelRules) -> PanelRules:
        """Return the rules of a panel: the game's `usual` ones, with what is stated here in their place."""
        from msgspec.structs import replace

        stated: dict[str, Any] = {
            "rubric": self.rubric,
            "criteria": criteria_of(self.criteria),
            "prompt": self.prompt,
        }
        if self.ties is not None:
            stated["binary"] = not self.ties
        for name in ("order", "early_stop"):
            if (value := getattr(self, name)) is not None:
                stated[name] = value
        return replace(usual, **stated)


def judges_required(wanted: int, fewest: int, panel: PanelRules) -> RoleRequirement:
    """Return the judges that a panel of peers needs: some of the best, or the best where all are asked."""
    return RoleRequirement("judge", wanted, min(fewest, wanted), "drawn" if panel.early_stop else "top")


def verdicts_asked(
    fixture: Fixture,
    panel: PanelRules,
    prompt: Prompt,
    quoted: int,
    *,
    share: float = 1.0,
    usual_quoted: int | None = None,
) -> Iterator[Asks]:
    """Yield the requests to each judge of a match, whose panel is asked in a `share` of such matches."""
    seats = fixture.officials.get("judge", ())
    for seat, (most, usual) in zip(seats, panel.calls(len(seats)), strict=True):
        yield Asks(
            to=seat.label,
            prompts=prompt,
            expects=panel.expects(),
            calls=most,
            max_tokens=VERDICT_TOKENS,
            quoted=quoted,
            usual=share * usual,
            usual_quoted=usual_quoted,
            usual_output=REASON_CHARS // 10,
        )


class CheckedJudgingRules(JudgingRules):
    """The rules by which judges decide between two answers, where tasks may have checks."""

    checks: Literal["decide", "measure"] = Field(
        "decide",
        description="`decide`: where a task's check tells two answers apart, it decides. `measure`: judges "
        "decide every match, and checks measure accuracy and judges.",
    )
    controls: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="How many of the matches that a check decides each judge sees all the same. Its verdicts "
        "on them never count; `peerage stats --of judges` says how many were right.",
    )


class JudgingSettings(CheckedJudgingRules):
    """The rules by which judges decide in an arena; what is not stated is as the game has it."""

    judges: int | None = Field(
        None,
        ge=1,
        le=99,
        description=f"Judges of a match. Default: up to {NAMED} of those that `judges` names, in turn; of "
        "peers as many as the game has it.",
    )


class JudgedRules(GameRules):
    """The settings of a game whose judges compare two answers."""

    judging: JudgingRules = Field(
        JudgingRules(), description="How judges decide; set from the arena's `judging`."
    )
