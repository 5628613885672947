"""Recorded answers judged again, by another panel: a match whose items are embedded in its fixture.

    judge/1  > {"reason": "Only the first names the cause.", "verdict": "A"}   (judge/1/A-B)
    judge/1  > {"reason": "The second is vague.", "verdict": "A"}              (judge/1/B-A)

Nobody plays: the answers, who wrote them, and the prompt that the first panel got stand in `Fixture.drawn`
(see `RejudgedPair`), and the judges are the only ones asked. So a rejudgement has judges and no seats, its
outcome has no scores, and no rating of any arena moves by it. What the panel found is its fact: `{"rejudged":
NUMBER, "record": DIGEST, "score": 1, ½ or 0 for answer A}`.

Fixtures are made from a ledger (`engine.rejudge`), never paired. Too few valid votes void the match
(`inconclusive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct
from pydantic import Field

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Task, names
from peerage.games.game import Asks, GameSpec
from peerage.games.section import Section
from peerage.judging.ballots import ballots_of
from peerage.judging.panel import PanelRules, panel
from peerage.judging.shown import panel_shown
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Choice, Prompt, Quote, Reply, Steps

FIRST, SECOND = "A", "B"
"""The names of the answers, as in the match they come from."""


class Given(Struct, frozen=True):
    """What fills a place of the judges' prompt; with a `label` it is quoted, as what a player wrote."""

    text: str
    label: str | None = None


class RejudgedPair(Struct, frozen=True):
    """Two recorded answers, and all that their first judges were shown.

    `source` is the match they come from, `record` the SHA-256 (hex) of its record (of answers in files 0 and
    that of the question; see `engine.recorded_answers`). `asked` is the system and
    the user template, `given` what fills its places but the answers, `ties` and `format`. `authors` and
    `answers` are by label, the answers as judges saw them; `hidden` is the true quality of house players'
    answers, which only house judges see. `score` is what the first panel found for answer A, None when it was
    inconclusive. `topic` is the match's.
    """

    source: int
    record: str
    asked: tuple[str, str]
    given: Mapping[str, Given]
    authors: Mapping[str, str]
    answers: Mapping[str, str]
    hidden: Mapping[str, Any]
    score: float | None
    topic: str = ""


class RejudgementRules(Section):
    """How recorded answers are judged again; `peerage rejudge` takes them from the arena they come from."""

    order: Literal["both", "one"] = Field(
        "both", description="Judges see the answers in both orders, or in one drawn at random."
    )
    binary: bool = Field(False, description="Forbid judges to call a tie.")
    epsilon: float = Field(
        0.05, ge=0, lt=0.5, description="A share of the votes within ε of one half is a tie."
    )
    quorum: float = Field(
        0.5, ge=0, le=1, description="Share of a panel's members whose votes must be valid."
    )
    max_tokens: int = Field(600, ge=1, le=10_000_000, description="Tokens a verdict may take.")
    reason_chars: int = Field(400, ge=1, le=200_000, description="Characters of a reason that count.")
    temperature: float | None = Field(
        0.0, ge=0, le=100, description="Sampling temperature of a verdict; null: as the judge is set."
    )

    def panel(self, chars: int) -> PanelRules:
        """What the panel needs; answers of up to `chars` characters are shown whole."""
        return PanelRules(
            order=self.order,
            binary=self.binary,
            epsilon=self.epsilon,
            weights="equal",
            quorum=self.quorum,
            answer_chars=chars,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            reason_chars=self.reason_chars,
        )


def item_of(drawn: Fixture | Table) -> RejudgedPair:
    """What is judged again in a match."""
    return msgspec.convert(drawn.drawn, RejudgedPair)


def play(table: Table) -> Steps[Outcome]:
    """Ask the panel about the item in the fixture. Every vote weighs the same."""
    rules: RejudgementRules = table.rules
    item = item_of(table)
    verdict = yield from panel(
        table.officials["judge"],
        {name: Reply("ok", item.answers[name], hidden=item.hidden.get(name)) for name in (FIRST, SECOND)},
        {
            place: given.text if given.label is None else Quote(given.label, given.text)
            for place, given in item.given.items()
        },
        rules.panel(max(len(text) for text in item.answers.values())),
        Prompt(*item.asked),
        table.rng("order") if rules.order == "one" else None,
    )
    detail = {
        "decided": "by judges",
        "ballots": [msgspec.to_builtins(ballot) for ballot in verdict.ballots],
        "share": verdict.share,
    }
    if verdict.score is None:
        return Outcome(void="inconclusive", detail=detail)
    fact = {"rejudged": item.source, "record": item.record, "score": verdict.score}
    return Outcome(facts=(fact,), detail=detail)


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """What is judged again, what the first panel found, and what this one finds."""
    item = item_of(fixture)
    found = (
        "came to no verdict"
        if item.score is None
        else "found a tie"
        if item.score == 0.5
        else f"preferred {FIRST if item.score > 0.5 else SECOND}"
    )
    sample = fixture.drawn.get("sample")
    if sample is None:
        yield Heading("What is judged again")
        yield Sentence(f"Match {item.source} of the arena that the answers come from; its panel {found}.")
        yield Sentence(f"Its record: {item.record}", "quiet")
    else:
        yield Heading("What is judged")
        yield Sentence(f"Two recorded answers to {sample}.")
        if item.score is not None:
            yield Sentence(f"The score recorded with them {found}.")
    for given in item.given.values():
        if given.label is not None:
            yield Task(given.text, given.label)
    yield Heading("The answers")
    for label, text in item.answers.items():
        yield Quoted(label, text, note=f"by {item.authors[label]}")
    players = {**names(fixture), **item.authors}
    yield from panel_shown(ballots_of(outcome), replies, players, outcome.detail.get("share"))
    if outcome.void:
        yield Sentence("Too few judges gave a valid vote, so there is no result.")


def asks(rules: RejudgementRules, fixture: Fixture) -> tuple[Asks, ...]:
    """The item in the fixture, once or in both orders."""
    asked = Prompt(*item_of(fixture).asked)
    verdict, calls = Choice("verdict", ("A", "B")), 2 if rules.order == "both" else 1
    return (Asks("judge", asked, verdict, calls, rules.max_tokens, usual_output=40),)


GAME: GameSpec[RejudgementRules] = GameSpec(
    name="rejudgement",
    version=2,
    about="Recorded answers are judged again by another panel; `peerage rejudge` sets it up.",
    contestants=(0, 0),
    rules=RejudgementRules,
    play=play,
    asks=asks,
    listed=False,
    show=show,
    judged=lambda fixture, said: item_of(fixture).answers,
    tracks=("bt",),
)
