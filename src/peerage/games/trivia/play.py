"""Trivia: everybody gets the same questions and answers them on one sheet; most right answers win.

    arena      > 1. What is the capital of Kenya?  2. Which weekday is 3 May 1987?  A. Friday  B. Sunday …
    A, B, C, D > {"answers": ["Nairobi", "B", …]}                                       (answer/A, …)

Questions are put together from packaged facts (`peerage.facts`), or come from the owner's own quiz, which
stays sealed. An unusable or refused sheet has nothing right. Whose provider fails is unranked, while two are
left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from string import ascii_uppercase
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from pydantic import Field, model_validator

from peerage.facts import DOMAINS, Domains, Fact, missing, plain
from peerage.facts import drawn as facts_of
from peerage.game import (
    Achieved,
    Ask,
    Block,
    Came,
    Demo,
    Fixture,
    Heading,
    HouseCall,
    Json,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Replies,
    Seats,
    Sentence,
    TaskText,
    answers_grid,
    same_tasks,
    solves,
    tasks_grid,
    tasks_of,
    texts,
    unusable,
)
from peerage.game.same_tasks import TASKS
from peerage.games.trivia.quiz import ANSWER_CHARS, QuizQuestion, read_quiz
from peerage.values.sealing import SALT, Sealed, by_turns, salt, seal, sealing_key

_AROUND = " .,:;()[]*_`\"'"
_LETTERED = re.compile(r"\W*(?:([A-Za-z])[).:\]]|([A-Z])\s)\s*(.+)", re.DOTALL)


class TriviaQuestion(Struct, frozen=True):
    """A question as it is asked and on record. `right` are all answers that count, the one to be shown first;
    `options` are empty where players answer in their own words, and `wrong` are then answers that a player
    might give. `level` is 0 in a quiz of the owner's."""

    domain: str
    question: str
    right: tuple[str, ...]
    options: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    level: int = 0

    def numbered(self, number: int) -> str:
        """Return what players read."""
        return "\n".join([f"{number}. {self.question}", *map("{}. {}".format, ascii_uppercase, self.options)])

    def accepts(self, answer: str) -> bool:
        """Return whether an answer is right: a letter or an option's words of multiple choice, else any that
        is plainly equal to one of `right`."""
        if not self.options:
            return plain(answer) in set(map(plain, self.right)) - {""}
        return self.chosen(answer) == self.right[0]

    def chosen(self, answer: str) -> str:
        """The option that an answer names: by its letter, else by its words alone; empty where by neither."""
        given, words = plain(answer), answer.strip()
        letters = dict(zip(ascii_uppercase, self.options, strict=False))
        alone = words.strip(_AROUND).upper()
        if alone in letters:
            return letters[alone]
        if words in self.options:
            return words
        if lettered := _LETTERED.fullmatch(answer):
            option = letters.get((lettered[1] or lettered[2]).upper(), "")
            return option if plain(lettered[3]) == plain(option) else ""
        meant = [option for option in self.options if given and given == plain(option)]
        return meant[0] if len(meant) == 1 else ""

    def known(self) -> tuple[str, Sequence[str]]:
        """The right answer and some wrong ones, as a player writes them; an empty one where none is known."""
        if not self.options:
            return self.right[0], self.wrong or ("",)
        letters = dict(zip(self.options, ascii_uppercase, strict=False))
        right = letters.pop(self.right[0])
        return right, tuple(letters.values())


class Sheet(Struct):
    """A player's answers."""

    answers: Annotated[
        list[Annotated[str, Meta(max_length=ANSWER_CHARS, description="A letter, or a short answer.")]],
        Meta(description="one for each question, in their order"),
    ]


class TriviaRules(LevelRules):
    """Settings of a quiz."""

    seats: Seats = 8
    questions: int = Field(10, ge=1, le=50, description="Questions in a match.")
    domains: Domains = Field(DOMAINS, description="What is asked about; each comes up equally often.")
    answers: Literal["mixed", "choice", "short"] = Field(
        "mixed",
        description="Multiple choice, short answers in the player's own words, or either at random; a "
        "question that makes sense with its options alone keeps them.",
    )
    quiz: tuple[QuizQuestion, ...] = Field(
        (), description="Your own questions, listed or in a file; then none is made from packaged facts."
    )
    max_tokens: MaxTokens = 3_000

    @property
    def adapts(self) -> bool:
        """Return whether levels follow the players: not those of a quiz of the owner's."""
        return super().adapts and not self.quiz

    @model_validator(mode="after")
    def _consistent(self) -> TriviaRules:
        asked = [plain(question.question) for question in self.quiz]
        for at, question in enumerate(self.quiz, 1):
            if asked.index(plain(question.question)) < at - 1:
                raise ValueError(f"question {at} of the quiz is listed before; list it once")
            if self.answers == "choice" and not question.wrong:
                raise ValueError(f"answers is 'choice', but question {at} of the quiz has no wrong answers")
        return self


def drawn(rules: TriviaRules, levels: Sequence[int], rng: Random) -> list[TriviaQuestion]:
    """Questions from packaged facts."""
    facts = facts_of(rng, rules.domains, levels)
    return [_question(rng, fact, rules, level) for fact, level in zip(facts, levels, strict=True)]


def asked(rules: TriviaRules, questions: Sequence[TriviaQuestion]) -> list[Ask]:
    """One sheet."""
    fill = {
        "count": str(len(questions)),
        "questions": "\n\n".join([question.numbered(at) for at, question in enumerate(questions, 1)]),
    }
    count = Meta(min_length=len(questions), max_length=len(questions))
    oracle = [(*question.known(), question.level) for question in questions]
    return [
        texts(__package__, rules.texts)["quiz"].ask(
            "", "answer", Json(Sheet, answers=count), fill, rules.max_tokens, oracle=oracle
        )
    ]


def scored(rules: TriviaRules, questions: Sequence[TriviaQuestion], came: Came) -> Achieved:
    """Return who got which questions right: none with a reply that cannot be used."""
    right = {
        label: [
            at for at, asked in enumerate(questions) if reply.ok and asked.accepts(reply.value.answers[at])
        ]
        for label, (reply,) in came.items()
    }
    detail = {"decided": "by right answers", "questions": len(questions), "right": right}
    credits = {label: [at in places for at in range(len(questions))] for label, places in right.items()}
    return Achieved({label: len(places) for label, places in right.items()}, detail, credits)


def draw(rules: TriviaRules, secret: str, number: int) -> Mapping[str, Any]:
    """The questions of match `number`; those of a quiz are sealed."""
    if not rules.quiz:
        return _FACTS.draw(rules, secret, number)
    rng = Random(f"{secret}/trivia/{number}")
    count = min(rules.questions, len(rules.quiz))
    own = [rules.quiz[at] for at in by_turns(f"{secret}/quiz", number, len(rules.quiz), count)]
    made = [_question(rng, _fact(question), rules, 0) for question in own]
    key = salt(sealing_key(secret), f"match/{number}")
    return {"secret": {SALT: key, "value": ""}, TASKS: seal(salt(key, TASKS), msgspec.to_builtins(made))}


def _fact(question: QuizQuestion) -> Fact:
    return Fact(question.question, "", question.answer, question.wrong, question.variants)


def _question(rng: Random, fact: Fact, rules: TriviaRules, level: int) -> TriviaQuestion:
    """A fact as it is asked."""
    right = tuple(dict.fromkeys([fact.answer, *fact.accepted]))
    choice = rules.answers == "choice" or (rules.answers == "mixed" and rng.random() < 0.5)
    if fact.wrong and (fact.closed or choice):
        options = rng.sample([fact.answer, *fact.wrong], 1 + len(fact.wrong))
        return TriviaQuestion(fact.domain, fact.question, right, tuple(options), level=level)
    return TriviaQuestion(fact.domain, fact.question, right, (), fact.wrong, level)


def house(call: HouseCall, skill: float, rng: Random) -> Sheet:
    """Each answer is right with the chance of its level, in a quiz of `skill`, else a plausible wrong one."""
    known = [rng.random() < (solves(skill, level) if level else skill) for *_, level in call.oracle]
    return Sheet(
        [
            right if knows else rng.choice(wrong)
            for knows, (right, wrong, _) in zip(known, call.oracle, strict=True)
        ]
    )


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who got which question right, then each question with its answers."""
    right: Mapping[str, Sequence[int]] = outcome.detail.get("right", {})
    try:
        questions = tasks_of(fixture.drawn, TriviaQuestion)
    except Sealed:
        questions = []
    count = outcome.detail.get("questions", len(questions))
    given = {reply.label: reply.value.answers for reply in replies.values() if reply.value is not None}
    credits = {label: [at in places for at in range(count)] for label, places in right.items()}
    wins = "The player with the most right answers wins; equally many tie."
    yield from tasks_grid(outcome, wins, "Right", credits, opens="q{}" if questions else "")
    if not questions:
        yield Sentence("The questions and answers of this quiz are sealed; the arena's owner can read them.")
    for at, question in enumerate(questions):
        got = sum(each[at] for each in credits.values())
        about = f", {question.domain}" if question.domain else ""
        yield Heading(
            f"Question {at + 1}{about}: {got} of {len(right)} right", anchor=f"q{at + 1}", closed=True
        )
        yield TaskText(question.numbered(at + 1).partition(". ")[2])
        yield Sentence(f"Right: {question.right[0]}", "good")
        answers = {label: str(sheet[at]) for label, sheet in given.items()}
        answers = {label: question.chosen(answer) or answer or "(none)" for label, answer in answers.items()}
        if answers:
            yield answers_grid(answers, {label: each[at] for label, each in credits.items()})
    yield from unusable(replies.values())


_FACTS = same_tasks(
    TriviaQuestion,
    TriviaRules,
    name="trivia",
    version=6,
    texts=__package__,
    about="Everybody answers the same questions, from packaged facts or your own quiz; most right wins.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    tasks=lambda rules: rules.questions,
    usual_output=lambda rules: 20 + 12 * rules.questions,
    house=house,
    show=show,
    needs=Needs(extra=lambda rules: "" if rules.quiz else missing()),
    files={"quiz": read_quiz},
    demo=Demo(60),
)
GAME = replace(_FACTS, draw=draw)
