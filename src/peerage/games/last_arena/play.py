"""Humanity's Last Arena: everybody writes questions, rates them, answers them all, and judges all answers.

    A > {"questions": [{"category": "logic", "question": "Three lamps …"}, …]}     (question/A/1)
    B > {"scores": [{"item": 1, "score": 8}, {"item": 2, "score": 3}, …]}          (rate/B/batch-1)
    C > The second lamp is on, since …                                             (answer/C/A-1)
    B > {"scores": [{"item": 1, "score": 9}, …]}   blind, never its own            (judge/B/batch-1)

A tournament is one match. Each judge's scores are brought to an average of 5; a player's score is the mean
over its answers, and a lead within its error is a tie. It goes on without a player whose provider fails while
three are left. The README in this folder states every rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from peerage.game import (
    Ask,
    Asks,
    Demo,
    Fixture,
    GameSpec,
    GameTable,
    HouseCall,
    HouseReply,
    Judging,
    Outcome,
    Questions,
    Quote,
    Reply,
    Seat,
    Steps,
    Text,
    Written,
    presets,
    usual,
)
from peerage.game.bounds import QUOTE
from peerage.game.house import DRAFT_SPREAD, WORDS, worth
from peerage.game.texts import toml
from peerage.games.last_arena.questions import Author, Question, calls, collect
from peerage.games.last_arena.report import AGAIN, ReportedAnswer, Tournament, by_author, recounted, report
from peerage.games.last_arena.rules import MOST_LOST, QUESTION_CHARS, SPARE_CALLS, TEMPERATURE, LastArenaRules
from peerage.games.last_arena.show import show
from peerage.games.last_arena.tables import answers_of
from peerage.games.rejudge import scored_asks
from peerage.judging.scores.scoring import Item, Scoring, scoring
from peerage.judging.scores.standing import MEAN, normalised_grades, received

RANKED = 3
"""Players without whom there are no ranks: with two, each judge sees one author alone."""
QUESTION_TOKENS, ANSWER_TOKENS = 60, 250
"""As they usually are."""


def play(table: GameTable) -> Steps[Outcome]:
    """One tournament between all seats of `table`."""
    rules: LastArenaRules = table.rules
    authors: dict[str, Author] = yield from collect(table.seats, rules, table.rng("questions"))
    written = [each for author in authors.values() for each in author.questions]
    questions = [question for question, _ in written]
    if not questions:
        return Outcome(void="no_questions", detail={"authors": by_author(authors)})
    too_few = Outcome(void="no_answer", detail={"authors": by_author(authors)})
    left = [seat for seat in table.seats if not authors[seat.label].lost]
    if _too_few(left, table):
        return too_few
    to_rate = [
        Item(question.id, question.author, Quote("question", question.text), None, hidden)
        for question, hidden in written
    ]
    rated: Scoring = yield from scoring(left, to_rate, rules.rating(), _orders(table, "rate"))
    left = [seat for seat in left if seat.label not in rated.silent]
    if _too_few(left, table):
        return too_few
    worth = {item: given.mean for item, given in received(normalised_grades(rated.grades)).items()}
    weights = _weights(questions, worth, rules, table.rng("quality"))
    asked = [question for question in questions if question.id in weights]
    answers: list[ReportedAnswer] = yield from _answers(left, asked, rules)
    left = [seat for seat in left if _lost(answers, seat.label) <= MOST_LOST]
    if _too_few(left, table):
        return too_few
    there = {seat.label for seat in left}
    answers = [answer for answer in answers if answer.label in there]
    judged: Scoring = yield from scoring(
        left,
        _to_judge(answers, rules.max_chars),
        rules.judging(),
        _orders(table, "judge"),
        singly=[label for label, how in rated.batching.items() if how.lost],
    )
    tournament = Tournament(authors, questions, rated, worth, weights, answers, judged)
    lost = [seat.label for seat in table.seats if seat.label not in there]
    return report(rules, left, tournament, lost)


def _too_few(left: Sequence[Seat], table: GameTable) -> bool:
    """Return whether too few are left: three for ranks, or both of a tournament of two, which gives none."""
    return len(left) < min(RANKED, len(table.seats))


def _orders(table: GameTable, phase: str) -> dict[str, Random]:
    return {seat.label: table.rng(f"{phase}/{seat.label}") for seat in table.seats}


def _weights(
    questions: Sequence[Question], worth: Mapping[str, float], rules: LastArenaRules, rng: Random
) -> dict[str, float]:
    """The questions that are asked, and how much each weighs. A question that nobody rated counts as average.
    `filter` drops the share `drop` of each sort, rounded down, the worst first and a drawn one among equals;
    `weight` weighs by the rating, one below 0 as 0."""
    quality = {question.id: worth.get(question.id, MEAN) for question in questions}
    if rules.quality == "weight":
        return {question: max(0.0, mean) for question, mean in quality.items()}
    dropped: set[str] = set()
    for sort in dict.fromkeys(question.sort for question in questions):
        own = [question.id for question in questions if question.sort == sort]
        lots = {question: rng.random() for question in own}
        own.sort(key=lambda question: (round(quality[question], 9), lots[question]))
        dropped.update(own[: rules.dropped(len(own))])
    return dict.fromkeys([question.id for question in questions if question.id not in dropped], 1.0)


def _answers(
    seats: Sequence[Seat], questions: Sequence[Question], rules: LastArenaRules
) -> Steps[list[ReportedAnswer]]:
    """Everybody answers everything, once under each token limit."""
    prompt, expects = rules.prompts["answer"], Text(rules.max_chars)
    todo = [
        (seat.label, question, budget)
        for question in questions
        for seat in seats
        for budget in rules.answer_budgets or (0,)
    ]

    def asks() -> Iterator[Ask]:
        for label, question, budget in todo:
            ask = prompt.ask(
                label,
                f"answer/{label}/{question.id}" + (f"/{budget}" if budget else ""),
                expects,
                {"question": Quote("question", question.text), "limit": str(rules.max_chars)},
                budget or rules.max_tokens,
                temperature=TEMPERATURE,
            )
            yield replace(ask, exact=True) if budget else ask

    replies: list[Reply] = yield asks()
    return [ReportedAnswer(*about, reply) for about, reply in zip(todo, replies, strict=True)]


def _to_judge(answers: Sequence[ReportedAnswer], chars: int) -> list[Item]:
    """Return what can be judged. Judges see which questions were meant as tricks; who answered did not."""
    return [
        Item(
            answer.id,
            answer.label,
            Quote("trick question" if answer.question.sort == "trick" else "question", answer.question.text),
            Quote.of("answer", answer.reply, chars),
            answer.reply.hidden,
        )
        for answer in answers
        if answer.reply.ok
    ]


def _lost(answers: Sequence[ReportedAnswer], label: str) -> float:
    """The share of a player's answers that its provider failed to give; 0 where it has none to give."""
    own = [answer.reply.status == "void" for answer in answers if answer.label == label]
    return sum(own) / len(own) if own else 0.0


def asks(rules: LastArenaRules, fixture: Fixture) -> Iterator[Asks]:
    """Phase by phase. At worst every question is written, and every list of scores asked again by item."""
    players, wanted, prompts = len(fixture.seats), rules.wanted(), rules.prompts
    written = sum([part.number for part in wanted])
    kept = sum([players * part.number - rules.dropped(players * part.number) for part in wanted])
    limits = rules.answer_budgets or (rules.max_tokens,)
    question = QUESTION_CHARS + QUOTE
    write, per_call = calls(rules), min(written, rules.questions_per_call)
    yield Asks(
        to="contestant",
        prompts=[prompts["write"], prompts["meta"], prompts["trick"]],
        expects=Questions(per_call, categories=rules.categories),
        calls=write,
        max_tokens=rules.question_tokens,
        quoted=(written + (SPARE_CALLS + 1) * rules.questions_per_call) * question + len(prompts["again"]),
        usual=write - SPARE_CALLS,
        usual_quoted=written * QUESTION_TOKENS // 2,
        usual_output=per_call * QUESTION_TOKENS,
    )
    yield scored_asks("contestant", rules.rating(), (players - 1) * written, question, QUESTION_TOKENS)
    yield Asks(
        "contestant",
        prompts["answer"],
        Text(),
        kept * len(limits),
        max(limits),
        question,
        usual_quoted=QUESTION_TOKENS,
        usual_output=sum([min(ANSWER_TOKENS, limit) for limit in limits]) // len(limits),
    )
    yield scored_asks(
        "contestant",
        rules.judging(),
        (players - 1) * kept * len(limits),
        question + rules.max_chars + QUOTE,
        QUESTION_TOKENS // 2 + ANSWER_TOKENS,
    )


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    if not isinstance(call.expects, Questions):
        return usual(call, skill, rng)
    asked, texts = call.oracle or {}, toml(__package__, "house")
    forms = texts[asked.get("sort", "plain")]
    subjects = [subject for some in WORDS["subjects"].values() for subject in some]
    written = [
        Written(
            f"{rng.choice(forms)} {rng.choice(texts['then'])}".replace("@", f"“{rng.choice(subjects)}”"),
            category,
        )
        for category in asked.get("categories") or ("",)
    ]
    return HouseReply(written, [worth(rng.gauss(skill, DRAFT_SPREAD)) for _ in written])


GAME: GameSpec[LastArenaRules] = GameSpec(
    name="last-arena",
    version=8,
    texts=__package__,
    about="A tournament: everybody writes questions, rates them, answers them all and judges all answers.",
    contestants=(2, 20),
    rules=LastArenaRules,
    presets=presets(__package__),
    play=play,
    asks=asks,
    survives=True,
    house=house,
    demo=Demo(rules={"preset": "development", "seats": 4}),
    show=show,
    judging=Judging(judged=answers_of, again=AGAIN, recounted=recounted),
)
