"""Recorded answers as a fixture holds them, and the rules by which they are judged again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import Field

from peerage.game import Asks, Fixture, GameTable, Prompt, Quote, Score, Scores, SettingsSection
from peerage.games.judged import CriterionSetting, criteria_of
from peerage.judging.panels.panel import Order, PanelRules
from peerage.judging.scores.scoring import REASON_CHARS, SCORE_TOKENS, ScoringRules

FIRST, SECOND = "A", "B"
"""The ids of the two answers that a panel compares."""


class RecordedText(Struct, frozen=True):
    """The text of a place of the judges' prompt; one with a `label` is quoted, as text of a player."""

    text: str
    label: str | None = None

    def filled(self) -> str | Quote:
        return self.text if self.label is None else Quote(self.label, self.text)


class RecordedAnswers(Struct, frozen=True, kw_only=True):
    """Answers to one question, with everything that their first judges were shown.

    `source` is the match that the answers come from (0: files) and `record` the SHA-256 (hex) of its record
    (of files: of the question). `id` tells apart what comes from one record: a question of a tournament, two
    answers of a file. `title` names the question of a file. `asked` are the first judges' system and user
    templates, by scores for one answer and then for several; `given` fills their places, but for those of the
    answers and of the format. `authors` are players by label, `topic` is the match's.

    By the answers' ids, `answers` are the texts as judges saw them, `hidden` the true quality of house
    players' answers, which only house judges see, and `first` the result of the first judges: 1, ½ or 0 by a
    panel, the mean of scores after each judge was brought to an average of 5; empty where there is none. A
    panel's ids are the labels `A` and `B`, those of scores `QUESTION/LABEL`, with a token limit where there
    were several. `own` are, by judge's label, the labels of authors whom that judge does not score, being the
    same player or model.
    """

    source: int
    record: str
    id: str = ""
    title: str = ""
    topic: str = ""
    asked: tuple[str, ...]
    given: Mapping[str, RecordedText]
    authors: Mapping[str, str]
    answers: Mapping[str, str]
    hidden: Mapping[str, Any] = {}
    first: Mapping[str, float] = {}
    own: Mapping[str, tuple[str, ...]] = {}


read_recorded = msgspec.json.Decoder(RecordedAnswers).decode


def recorded_in(match: Fixture | GameTable) -> RecordedAnswers:
    """Return the answers that a match of this game is about."""
    return msgspec.convert(match.drawn, RecordedAnswers)


def author_of(answer: str) -> str:
    """Return the label of an answer's author, from the answer's id."""
    _, of_question, label = answer.partition("/")
    return label.split("/")[0] if of_question else answer


class RejudgeRules(SettingsSection):
    """Rules of judging recorded answers again; `peerage rejudge` takes them from the arena they come from."""

    by: Literal["panel", "scores"] = Field(
        "panel", description="A panel compares two answers, or each judge scores all answers to a question."
    )
    order: Order = Field(
        "opposite",
        description="A panel's judges see the answers in opposite orders, two by two, and a judge who is "
        "alone sees both; or each in `both`; or each in `one` drawn at random.",
    )
    early_stop: bool = Field(
        False, description="Judges of a panel who could not change its verdict any more are not asked."
    )
    binary: bool = Field(False, description="Forbid a panel's judges to call a tie.")
    epsilon: float = Field(
        0.05, ge=0, lt=0.5, description="A share of a panel's votes within ε of one half is a tie."
    )
    criteria: tuple[CriterionSetting, ...] = Field(
        (), description="Criteria that a panel decides on one by one; its votes are their weighted sum."
    )
    per_call: int = Field(10, ge=1, le=200, description="Answers scored in one reply; 1: one at a time.")
    explain: bool = Field(False, description="A score of 0 or 10 needs a reason.")

    def panel(self, chars: int) -> PanelRules:
        """Return the rules of a panel whose votes weigh the same; it sees `chars` characters of an answer."""
        return PanelRules(
            order=self.order,
            early_stop=self.early_stop,
            binary=self.binary,
            epsilon=self.epsilon,
            weights="equal",
            answer_chars=chars,
            criteria=criteria_of(self.criteria),
        )

    @classmethod
    def like(cls, panel: PanelRules) -> RejudgeRules:
        """Return the rules by which others judge again as a panel did, every vote equal."""
        return cls(
            order=panel.order,
            early_stop=panel.early_stop,
            binary=panel.binary,
            epsilon=panel.epsilon,
            criteria=tuple(
                [
                    CriterionSetting(name=criterion.name, weight=criterion.weight, about=criterion.about)
                    for criterion in panel.criteria
                ]
            ),
        )

    def scoring(self, asked: tuple[str, ...]) -> ScoringRules:
        """Return the rules of scoring with the templates `asked`: for one answer, then for several."""
        return ScoringRules(
            phase="score",
            per_call=self.per_call,
            prompt=Prompt(*asked[:2]),
            many=Prompt(*asked[2:]),
            explain=self.explain,
        )


def scored_asks(to: str, rules: ScoringRules, items: int, quoted: int, tokens: int | None = None) -> Asks:
    """Return the bounds of scoring so many items, of which one takes so many characters and usual tokens: at
    worst every list is unusable, and its items are asked about one by one."""
    lists, together = -(-items // rules.per_call), min(items, rules.per_call)
    return Asks(
        to=to,
        prompts=(rules.prompt, rules.many),
        expects=Scores(together, rules.explain, REASON_CHARS)
        if together > 1
        else Score(rules.explain, REASON_CHARS),
        calls=lists + (items if rules.per_call > 1 else 0),
        max_tokens=rules.max_tokens,
        quoted=together * quoted,
        usual=lists,
        usual_quoted=None if tokens is None else together * tokens,
        usual_output=together * SCORE_TOKENS,
    )
