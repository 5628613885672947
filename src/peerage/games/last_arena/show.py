"""A tournament as blocks: ranking, best and weakest answers, who gave whom how much, the questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from peerage.game import (
    Bar,
    Block,
    CellMark,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Quote,
    Quoted,
    Replies,
    Scored,
    SeatName,
    SeatReply,
    Sentence,
    grid_of,
    player_names,
)
from peerage.game.match import DEVELOPMENT
from peerage.games.last_arena.tables import Cell, matrix, ranking, reasons, scaling, sorts
from peerage.judging.scores.scoring import recorded
from peerage.values import grouped
from peerage.values.figures import percent

EXTREMES = 3
"""Answers shown of the best, and as many of the weakest."""
SCALE = 10.0
QUESTIONS = 60
"""Questions that are listed."""
_HOW = (
    "Everybody wrote questions, answered them all, and scored all answers but its own, blind.",
    "Each judge's scores are levelled, to an average of 5.",
    "A player beats those whom it is ahead of beyond the error.",
    "The last columns hold its score on the questions that each player wrote.",
)
_NO_RESULT = {
    DEVELOPMENT: "A tournament of two is for development: nobody is rated, since each judged one author.",
    "no_questions": "No usable question was written, so there is no result.",
    "no_answer": "Too few players were left, since providers failed; there is no result.",
    "inconclusive": "Too few scores came, so there is no result.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The ranking with everybody's scores by author; the best and the weakest answers; more tables."""
    detail, lost = outcome.detail, outcome.detail.get("unranked", ())
    labels = {seat.label: seat.label for seat in fixture.seats}
    names = player_names(fixture)
    places = ranking(labels, detail)
    yield Heading("The ranking", notes=_HOW)
    if outcome.void:
        yield Sentence(_NO_RESULT.get(outcome.void, outcome.void))
    solved = _by_author(detail)
    yield Grid(
        ("Player", ">Rank", ">Score", ">±", ">Beats", *_letters("on", labels)),
        tuple(
            (
                SeatName(place.player, place.player in lost),
                *(
                    place.rank,
                    None if place.score is None else Bar("", place.score, SCALE),
                    place.se,
                    place.ahead,
                ),
                *[_score_mark(solved.get((place.player, author))) for author in labels],
            )
            for place in places
        ),
    )
    for label in lost:
        yield Sentence(f"{label} is unranked: its provider failed.", "bad")
    yield from _matrix(matrix(labels, detail), labels)
    written = (">As given", ">Questions", ">Dropped", ">Diversity")
    yield Heading("The scores as given, and the questions that each wrote", closed=True)
    facts = [(place.raw, place.written, place.duplicates, percent(place.diversity)) for place in places]
    rows = [(SeatName(place.player), *row) for place, row in zip(places, facts, strict=True)]
    yield Grid(("Player", *written), tuple(rows))
    found = {"score": ">Score", "se": ">±", "answers": ">Answers"}
    if len({row.sort for row in sorts(names, detail)}) > 1:
        yield Heading("By sort of question", closed=True)
        yield grid_of(sorts(names, detail), {"player": "Player", "sort": "Sort", **found})
    if budgets := scaling(names, detail):
        yield Heading("What more tokens are worth", closed=True)
        limits = {"player": "Player", "max_tokens": ">At most", "output_tokens": ">Used"}
        yield grid_of(budgets, {**limits, **found})
    if judges := reasons(names, detail):
        yield Heading("Reasons for 0 and 10", closed=True)
        words = [(row.judge, row.zeros, row.tens, ", ".join(row.words)) for row in judges]
        yield Grid(("Judge", ">Zeros", ">Tens", "Its words"), tuple(words))
    yield from _questions(detail.get("questions", ()))
    yield from _answers(outcome, replies)


def _by_author(detail: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Return the mean score of a player's answers to the questions of an author."""
    authors = {question["id"]: question["author"] for question in detail.get("questions", ())}
    scores: dict[tuple[str, str], list[float]] = {}
    for answer, (score, *_) in detail.get("answers", {}).items():
        question, label, *_ = answer.split("/")
        scores.setdefault((label, authors[question]), []).append(score)
    return {place: fmean(some) for place, some in scores.items()}


def _letters(first: str, labels: Iterable[str]) -> list[str]:
    """Return the labels as columns, the first of which says how they are meant."""
    return [label if place else f"{first} {label}" for place, label in enumerate(labels)]


def _score_mark(score: float | None) -> CellMark:
    """Return a score from 0 to 10 with the half of the scale it is in."""
    if score is None:
        return CellMark("–", "quiet")
    return CellMark(f"{score:.1f}", "good" if score >= 6 else "bad" if score < 4 else "")


def _answers(outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The answers that scored best and worst, each with its question and every judge's score."""
    asked = {question["id"]: question for question in outcome.detail.get("questions", ())}
    worth = {answer: given[0] for answer, given in outcome.detail.get("answers", {}).items()}
    ranked = [item for item in sorted(worth, key=lambda item: -worth[item]) if _key(item) in replies]
    most = min(EXTREMES, len(ranked) // 2)
    chosen = {"The best answers": ranked[:most], "The weakest answers": ranked[len(ranked) - most :][::-1]}
    grades = grouped((grade.item, grade) for grade in recorded(outcome, "judge"))
    why = _reasons(
        replies, {replies[_key(answer)].key: answer for some in chosen.values() for answer in some}
    )
    for title, some in chosen.items():
        if some:
            yield Heading(title, closed=True)
        for answer in some:
            question, reply = asked[answer.split("/")[0]], replies[_key(answer)]
            yield Quoted(
                question["author"], question["text"], note=f"asks, in {question['category']}", prose=True
            )
            given = grades.get(answer, ())
            mean = f"{fmean(score.raw for score in given):.1f} of 10 as given; " if given else ""
            levelled = f"{mean}{worth[answer]:.1f} levelled, so that every judge averages 5"
            yield Quoted(reply.label, reply.text, reply.key, levelled, prose=True)
            said = {grade.judge: why.get((grade.judge, answer), "") for grade in given}
            if any(said.values()):
                rows = [(SeatName(grade.judge), grade.raw, said[grade.judge]) for grade in given]
                yield Grid(("Judge", ">As given", "Reason"), tuple(rows))
            else:
                scores = ", ".join([f"{grade.raw:g} from {grade.judge}" for grade in given])
                yield Sentence(f"As given: {scores}.")


def _key(answer: str) -> str:
    """The request key of an answer on record: `QUESTION/LABEL` was asked as `answer/LABEL/QUESTION`."""
    question, label, *budget = answer.split("/")
    return "/".join(["answer", label, question, *budget])


def _reasons(replies: Replies, wanted: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Return what judges said, by judge and answer, about those `wanted`, answers by their reply's key."""
    reasons: dict[tuple[str, str], str] = {}
    for key, reply in replies.items():
        scores: Sequence[Scored] = reply.value if isinstance(reply.value, tuple) else (reply.value,)
        if key.startswith("judge/") and reply.value is not None and any(score.reason for score in scores):
            for shown, score in zip(_judged(reply), scores, strict=False):
                if shown in wanted and score.reason:
                    reasons[reply.label, wanted[shown]] = score.reason
    return reasons


def _judged(reply: SeatReply) -> list[str]:
    """The keys of the answers that a judge was shown, in their order."""
    return [
        value.key
        for message in reply.asked()
        for value in message.fill.values()
        if isinstance(value, Quote) and value.key.startswith("answer/")
    ]


def _matrix(cells: Sequence[Cell], labels: Iterable[str]) -> Iterator[Block]:
    if not cells:
        return
    yield Heading("Who scored whom how", closed=True)
    yield Sentence(
        "The mean of what each judge (a row) gave each author (a column, by its letter), every judge brought "
        "to an average of 5; then how much that is above (+) or below (−) what the other judges gave the "
        "same answers, the judge's own strictness set aside. Differences come from taste and chance too: "
        "none of them alone says that a judge is partial, and one tournament has too few marks to tell. "
        "`peerage stats --of judges` and the page on judges test that over all tournaments."
    )
    given = {(cell.judge, cell.author): _mean(cell) for cell in cells}
    judges = dict.fromkeys(cell.judge for cell in cells)
    rows = [(SeatName(judge), *[given.get((judge, author)) for author in labels]) for judge in judges]
    yield Grid(("Judge", *[f">{title}" for title in _letters("to", labels)]), tuple(rows))


def _mean(cell: Cell) -> str:
    if cell.favour is None:
        return f"{cell.mean:.1f}"
    favour = f"{round(cell.favour, 1) + 0.0:+.1f}".replace("-", "−")
    return f"{cell.mean:.1f} ({favour})"


def _questions(questions: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    if not questions:
        return
    yield Heading("The questions", closed=True)
    rated = sorted(
        questions, key=lambda question: -(question["quality"] if question["quality"] is not None else -1.0)
    )
    yield Grid(
        ("Question", "By", "Category", ">Rated", "Asked"),
        tuple(
            (
                question["text"],
                question["author"],
                question["category"] + (f", {question['sort']}" if question["sort"] != "plain" else ""),
                question["quality"],
                "yes" if question["weight"] else "no",
            )
            for question in rated[:QUESTIONS]
        ),
    )
    if len(rated) > QUESTIONS:
        yield Sentence(f"… and {len(rated) - QUESTIONS:,} more, rated lower", "quiet")
