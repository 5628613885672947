"""Recorded answers to one question of a tournament, scored again: by peers or by other judges.

    judge/2  > {"scores": [{"item": 1, "score": 7}, {"item": 2, "score": 4.5}, …]}   (score/judge/2/batch-1)

Nobody plays: the question, its answers, who wrote them and the prompts that the first judges got are in
`Fixture.drawn` (see `RescoredQuestion`), and the judges are the only ones asked, each about the answers that
are not its own. A rescoring has judges and no seats, its outcome has no scores, and no rating of any arena
moves by it. Its facts are the scores as given, as in a tournament.

Fixtures are made from a ledger (`engine.rejudge`), never paired. Too few scores void the match
(`inconclusive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import Field

from peerage.blocks import Block, Heading, Quoted, Replies, Sentence, Task, names
from peerage.formats import Score, Scores
from peerage.games.game import QUOTE, Asks, GameSpec
from peerage.games.section import Section
from peerage.judging.normalisation import Mode
from peerage.judging.scores import Grade, ScoringRules, facts, recorded, scoring
from peerage.judging.scores import Item as Work
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Prompt, Quote, Steps

SCORE_TOKENS = 12


class RescoredQuestion(Struct, frozen=True):
    """A question of a tournament with its answers, and all that its first judges were shown.

    `source` is the tournament's match, `record` the SHA-256 (hex) of its record, `id` the question's. `asked`
    are the system and user templates for one answer and for several. `authors` are players by label;
    `answers`, `hidden` (the true quality of house players' answers, which only house judges see) and `first`
    (the mean that the first judges gave, each brought to an average of 5) are by the answers' ids,
    `QUESTION/LABEL` and a token limit where there were several. `own` are the labels of the authors whom a
    judge does not score, being the same player or model, by the judge's label.
    """

    source: int
    record: str
    id: str
    asked: tuple[str, str, str, str]
    question: str
    trick: bool
    authors: Mapping[str, str]
    answers: Mapping[str, str]
    hidden: Mapping[str, Any]
    first: Mapping[str, float]
    own: Mapping[str, tuple[str, ...]] = {}


class RescoringRules(Section):
    """How recorded answers are scored again; `peerage rejudge` takes them from the arena they come from."""

    per_call: int = Field(10, ge=1, le=200, description="Answers scored in one reply; 1: one at a time.")
    normalisation: Mode = Field("additive", description="How each judge is brought to an average of 5.")
    explain: bool = Field(False, description="A 0 or a 10 needs a reason.")
    quorum: float = Field(0.5, ge=0, le=1, description="Share of the scores that must be there.")
    max_tokens: int = Field(600, ge=1, le=10_000_000, description="Tokens that a reply with scores may take.")
    reason_chars: int = Field(400, ge=1, le=200_000, description="Characters of a reason that count.")
    temperature: float | None = Field(
        0.0, ge=0, le=100, description="Sampling temperature of scores; null: as the judge is set."
    )

    def scoring(self, asked: tuple[str, str, str, str]) -> ScoringRules:
        return ScoringRules(
            "score",
            self.per_call,
            Prompt(*asked[:2]),
            Prompt(*asked[2:]),
            ("score",),
            self.explain,
            self.reason_chars,
            self.max_tokens,
            self.temperature,
        )


def item_of(drawn: Fixture | Table) -> RescoredQuestion:
    """What is scored again in a match."""
    return msgspec.convert(drawn.drawn, RescoredQuestion)


def author_of(answer: str) -> str:
    """The label of who wrote an answer, from its id."""
    return answer.split("/")[1]


def play(table: Table) -> Steps[Outcome]:
    """Ask every judge about every answer that is not its own."""
    rules: RescoringRules = table.rules
    item, judges = item_of(table), table.officials["judge"]
    question = Quote("trick question" if item.trick else "question", item.question)
    works = [
        Work(answer, author_of(answer), question, Quote("answer", text), item.hidden.get(answer))
        for answer, text in item.answers.items()
    ]
    scored = yield from scoring(
        judges,
        works,
        rules.scoring(item.asked),
        {judge.label: table.rng(f"score/{judge.label}") for judge in judges},
        barred=item.own,
    )
    wanted = sum(
        author_of(one) not in item.own.get(judge.label, ()) for judge in judges for one in item.answers
    )
    detail = {"batching": msgspec.to_builtins(scored.batching)}
    if len(scored.grades) < max(1, rules.quorum * wanted):
        return Outcome(void="inconclusive", detail=detail)
    return Outcome(facts=tuple(facts("judge", scored.grades)), detail=detail)


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The question, and each answer with what the first judges and these ones gave it."""
    item, judges = item_of(fixture), names(fixture)
    yield Heading("What is scored again")
    yield Sentence(f"Question {item.id} of match {item.source} of the arena that the answers come from.")
    yield Sentence(f"Its record: {item.record}", "quiet")
    yield Task(item.question, "trick question" if item.trick else "question")
    yield Heading("The answers")
    given: dict[str, list[Grade]] = {}
    for grade in recorded(outcome, "judge"):
        given.setdefault(grade.item, []).append(grade)
    for answer, text in item.answers.items():
        label = author_of(answer)
        yield Quoted(label, text, note=f"by {item.authors[label]}")
        again = ", ".join([f"{one.raw:g} from {judges[one.judge]}" for one in given.get(answer, ())])
        yield Sentence(
            f"At first {item.first[answer]:.1f} on average. Again, as given: {again or 'nothing'}."
        )
    if outcome.void:
        yield Sentence("Too few scores came, so there is no result.")


def asks(rules: RescoringRules, fixture: Fixture) -> tuple[Asks, ...]:
    """The answers in the fixture; at worst every list of scores is unusable and asked again one by one."""
    item = item_of(fixture)
    prompts = rules.scoring(item.asked)
    parcels, together = -(-len(item.answers) // rules.per_call), min(len(item.answers), rules.per_call)
    form = Scores(together, ("score",), rules.explain, rules.reason_chars)
    single = len(item.answers) if rules.per_call > 1 else 0
    return (
        Asks(
            "judge",
            (prompts.prompt, prompts.many),
            form if together > 1 else Score(("score",), rules.explain, rules.reason_chars),
            parcels + single,
            rules.max_tokens,
            2 * QUOTE * together,
            parcels,
            usual_output=together * SCORE_TOKENS,
        ),
    )


GAME: GameSpec[RescoringRules] = GameSpec(
    name="rescoring",
    version=2,
    about="Recorded answers of a tournament are scored again; `peerage rejudge` sets it up.",
    contestants=(0, 0),
    rules=RescoringRules,
    play=play,
    asks=asks,
    listed=False,
    show=show,
    judged=lambda fixture, said: item_of(fixture).answers,
    tracks=("bt",),
)
