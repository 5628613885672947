"""Outcome of a tournament: scores with errors, ranks, who favours whom, and what it was made of."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from peerage.formats.scores import MOST
from peerage.game import Fixture, Outcome, Rejudging, Reply, Seat
from peerage.game.match import DEVELOPMENT
from peerage.games.last_arena.diversity import spread
from peerage.games.last_arena.questions import Author, Question
from peerage.games.last_arena.rules import LastArenaRules
from peerage.games.last_arena.tables import answers_of
from peerage.games.rejudge import RecordedAnswers, RecordedText, RejudgeRules
from peerage.judging.panels.panel import QUORUM
from peerage.judging.scores.scoring import Grade, Scoring, facts, recorded
from peerage.judging.scores.standing import (
    Received,
    matrix,
    normalised_grades,
    of,
    plain,
    received,
    standings,
    zeros,
)
from peerage.values import grouped


class ReportedAnswer(NamedTuple):
    """A player's answer to a question, under a token limit of its own or, at 0, under the usual one."""

    label: str
    question: Question
    budget: int
    reply: Reply

    @property
    def id(self) -> str:
        """`QUESTION/LABEL`, with the token limit after it where there are several."""
        return f"{self.question.id}/{self.label}" + (f"/{self.budget}" if self.budget else "")


class Tournament(NamedTuple):
    """All that was said: questions, their ratings and normalised means, the weights of those that were
    asked, answers, judgements."""

    authors: Mapping[str, Author]
    questions: Sequence[Question]
    rated: Scoring
    worth: Mapping[str, float]
    weights: Mapping[str, float]
    answers: Sequence[ReportedAnswer]
    judged: Scoring


def report(
    rules: LastArenaRules, seats: Sequence[Seat], played: Tournament, lost: Sequence[str] = ()
) -> Outcome:
    """The outcome: ranked, or void for want of judgements, or, with two players, of development alone.
    `seats` are the players who were there to the end, `lost` those without whom it went on."""
    labels = [seat.label for seat in seats]
    gains = normalised_grades(played.judged.grades)
    unusable = [answer.id for answer in played.answers if answer.reply.status in ("invalid", "refused")]
    given = received(gains) | _unjudged(unusable, played.judged.grades, labels)
    detail: dict[str, Any] = {
        "authors": by_author(played.authors),
        "questions": [
            {
                **msgspec.to_builtins(question),
                "weight": played.weights.get(question.id, 0.0),
                "quality": played.worth.get(question.id),
            }
            for question in played.questions
        ],
        "answers": {answer.id: list(given[answer.id]) for answer in played.answers if answer.id in given},
        "statuses": {
            label: dict(Counter(answer.reply.status for answer in played.answers if answer.label == label))
            for label in labels
        },
        "batching": {
            "rate": msgspec.to_builtins(played.rated.batching),
            "judge": msgspec.to_builtins(played.judged.batching),
        },
        "raw": _raw_means(played.judged.grades),
        "matrix": msgspec.to_builtins(matrix(gains)),
    }
    if lost:
        detail["unranked"] = list(lost)
    if rules.explain:
        detail["reasons"] = reasons(played.rated.grades + played.judged.grades)
    recorded = (*facts("rate", played.rated.grades), *facts("judge", played.judged.grades))
    if len(labels) == 2:
        # each judge sees one author alone: normalised scores are 5 for both, whatever they wrote
        return Outcome(void=DEVELOPMENT, facts=recorded, detail=plain(detail))
    scores = {label: _by_question(label, given) for label in labels}
    judgeable = sum(answer.reply.ok for answer in played.answers) * (len(labels) - 1)
    if not all(scores.values()) or len(played.judged.grades) < QUORUM * judgeable:
        return Outcome(void="inconclusive", facts=recorded, detail=plain(detail))
    written = {label: [q.text for q in played.questions if q.author == label] for label in labels}
    detail["diversity"] = spread(written)
    ranked = standings(scores, played.weights, _bonus(detail["diversity"], rules))
    detail |= {
        "decided": "by the scores of all others, ties within error",
        "standings": msgspec.to_builtins(ranked),
        "sorts": {label: _by_sort(played.answers, label, given) for label in labels},
    }
    if rules.answer_budgets:
        detail["scaling"] = {label: _scaling(played.answers, label, given) for label in labels}
    results = {label: standing.result for label, standing in ranked.items()}
    return Outcome(scores=results, facts=recorded, detail=plain(detail))


def recounted(fixture: Fixture, outcome: Outcome, without: Collection[str]) -> dict[str, float]:
    """Everybody's result in a finished tournament without the scores by these labels; empty where it rates
    nobody, or so few scores are left that it would not."""
    if outcome.void:
        return {}
    rules, detail = LastArenaRules.model_validate(fixture.settings), outcome.detail
    labels, grades = list(detail["standings"]), list(recorded(outcome, "judge"))
    left = [grade for grade in grades if grade.judge not in without]
    asked = {grade.item for grade in grades}
    unusable = [item for item in detail["answers"] if item not in asked]
    given = received(normalised_grades(left)) | _unjudged(unusable, left, labels)
    scores = {label: _by_question(label, given) for label in labels}
    judges = [label for label in labels if label not in without]
    usable = {label: detail["statuses"][label].get("ok", 0) for label in labels}
    judgeable = sum([usable[label] * (len(judges) - (label in judges)) for label in labels])
    if not all(scores.values()) or not left or len(left) < QUORUM * judgeable:
        return {}
    weights = {question["id"]: question["weight"] for question in detail["questions"]}
    ranked = standings(scores, weights, _bonus(detail["diversity"], rules))
    return {label: standing.result for label, standing in ranked.items()}


def _bonus(diversity: Mapping[str, float | None], rules: LastArenaRules) -> dict[str, float]:
    """Points for the spread of a player's questions above or below the mean of all players, so that scores
    stay where they were; none for players that wrote fewer than two."""
    known = {label: value for label, value in diversity.items() if value is not None}
    mean = math.fsum(known.values()) / len(known) if known else 0.0
    return {label: rules.diversity_bonus * (value - mean) for label, value in known.items()}


def by_author(authors: Mapping[str, Author]) -> dict[str, Any]:
    """Return how each author's writing went."""
    return {
        label: {
            "questions": len(author.accepted),
            "calls": author.calls,
            "unusable": author.unusable,
            "duplicates": len(author.dropped),
        }
        for label, author in authors.items()
    }


def _unjudged(unusable: Iterable[str], grades: Iterable[Grade], labels: Sequence[str]) -> dict[str, Received]:
    """An unusable or refused answer: shown to nobody, a 0 from everybody, outside of the judges' averages."""
    worth = zeros(grades)
    unjudged: dict[str, Received] = {}
    for item in unusable:
        from_judges = [worth[judge] for judge in labels if judge != _who(item)[1] and judge in worth]
        if from_judges:
            unjudged[item] = of(from_judges)
    return unjudged


def _who(item: str) -> tuple[str, str]:
    """The question that an answer is to, and the label of its author."""
    question, label = item.split("/")[:2]
    return question, label


def _by_question(label: str, given: Mapping[str, Received]) -> dict[str, float]:
    """A player's score on each question: the mean over its answers to it."""
    by = ((*_who(item), own.mean) for item, own in given.items())
    scores = grouped((question, mean) for question, author, mean in by if author == label)
    return {question: math.fsum(means) / len(means) for question, means in scores.items()}


def _raw_means(grades: Sequence[Grade]) -> dict[str, Any]:
    """The mean of the scores as they were given: to each author, and by each judge."""
    received_by = grouped((grade.author, grade.raw) for grade in grades)
    given_by = grouped((grade.judge, grade.raw) for grade in grades)
    return {
        side: {label: math.fsum(values) / len(values) for label, values in sorted(by.items())}
        for side, by in (("received", received_by), ("given", given_by))
    }


def _mean_and_error(means: Sequence[float]) -> dict[str, Any]:
    received = of(means)
    error = None if received.sd is None else received.sd / math.sqrt(received.judges)
    return {"score": received.mean, "se": error, "answers": received.judges}


def _by_sort(
    answers: Sequence[ReportedAnswer], label: str, given: Mapping[str, Received]
) -> dict[str, dict[str, Any]]:
    """A player's score on each sort of question. Among tricks its own do not count: it knows them."""
    scores: dict[str, list[float]] = {}
    for answer in answers:
        own_trick = answer.question.sort == "trick" and answer.question.author == label
        if answer.label == label and answer.id in given and not own_trick:
            scores.setdefault(answer.question.sort, []).append(given[answer.id].mean)
    return {sort: _mean_and_error(means) for sort, means in scores.items()}


def _scaling(
    answers: Sequence[ReportedAnswer], label: str, given: Mapping[str, Received]
) -> list[dict[str, Any]]:
    """Return what a player's answers are worth under each token limit, and what they took of it."""
    rows: list[dict[str, Any]] = []
    for budget in sorted({answer.budget for answer in answers}):
        own = [answer for answer in answers if answer.label == label and answer.budget == budget]
        means = [given[answer.id].mean for answer in own if answer.id in given]
        counted = [answer.reply.output_tokens for answer in own]
        used = [tokens for tokens in counted if tokens is not None]
        rows.append(
            {
                "max_tokens": budget,
                **(_mean_and_error(means) if means else {"score": None, "se": None, "answers": 0}),
                "output_tokens": sum(used) / len(used) if len(used) == len(counted) and used else None,
            }
        )
    return rows


# ---------------------------------------------------------------------------------------- explanations

EXAMPLES, WORDS = 3, 8
_WORD = re.compile(r"[^\W\d_]{4,}")


def reasons(grades: Iterable[Grade]) -> dict[str, Any]:
    """Each judge's reasons for a 0 and for a 10: how many, the first few, and the words that mark this judge.
    A word's mark is how often the judge uses it times ln(N / n), N the judges and n those who use it; equal
    marks are in alphabetical order, and what everybody says marks nobody."""
    extreme: dict[str, dict[float, list[str]]] = {}
    for grade in grades:
        if grade.raw in (0.0, MOST):
            given = extreme.setdefault(grade.judge, {0.0: [], MOST: []})
            given[grade.raw].append(grade.reason)
    words = {
        judge: Counter(_WORD.findall("\n".join([*both[0.0], *both[MOST]]).casefold()))
        for judge, both in extreme.items()
    }
    users = Counter(word for counted in words.values() for word in counted)
    return {
        judge: {
            "zeros": len(both[0.0]),
            "tens": len(both[MOST]),
            "for_zero": both[0.0][:EXAMPLES],
            "for_ten": both[MOST][:EXAMPLES],
            "words": _marks(words[judge], users, len(words)),
        }
        for judge, both in sorted(extreme.items())
    }


def _marks(counted: Mapping[str, int], users: Mapping[str, int], judges: int) -> list[str]:
    mark = {word: count * math.log(judges / users[word]) for word, count in counted.items()}
    return sorted([word for word in mark if mark[word] > 0], key=lambda word: (-mark[word], word))[:WORDS]


def _rules(rules: LastArenaRules) -> RejudgeRules:
    return RejudgeRules(by="scores", per_call=rules.per_call, explain=rules.explain)


def _items(
    fixture: Fixture, outcome: Outcome, record: str, texts: Mapping[str, Reply]
) -> Iterator[RecordedAnswers]:
    """The scored answers, question by question."""
    rules = LastArenaRules.model_validate(fixture.settings)
    single, many, chars = rules.prompts["judge"], rules.prompts["judge_many"], rules.max_chars
    replies, means = answers_of(fixture, texts), outcome.detail.get("answers", {})
    scored: dict[str, dict[str, Reply]] = {}
    for answer in means:
        reply = replies.get(answer)
        if reply is not None and reply.status == "ok" and reply.text.strip():
            scored.setdefault(answer.split("/")[0], {})[answer] = reply
    for asked in outcome.detail.get("questions", ()):
        if given := scored.get(asked["id"], {}):
            sort = "trick question" if asked["sort"] == "trick" else "question"
            yield RecordedAnswers(
                source=fixture.number,
                record=record,
                id=asked["id"],
                asked=(single.system, single.user, many.system, many.user),
                given={"question": RecordedText(asked["text"], sort)},
                authors=fixture.authors,
                answers={answer: reply.text[:chars] for answer, reply in given.items()},
                hidden={answer: reply.hidden for answer, reply in given.items()},
                first={answer: means[answer][0] for answer in given},
            )


AGAIN = Rejudging(_rules, _items)
