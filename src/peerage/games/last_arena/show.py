"""A tournament as blocks: the ranking, the best and the weakest answers with their scores, who gave whom how
much, the questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from peerage.game import (
    Block,
    Fixture,
    Grid,
    Heading,
    Outcome,
    Quote,
    Quoted,
    Replies,
    Scored,
    SeatReply,
    Sentence,
    grid_of,
    player_names,
)
from peerage.game.match import DEVELOPMENT
from peerage.games.last_arena.tables import Cell, matrix, ranking, reasons, scaling, sorts
from peerage.judging.scores.scoring import Grade, recorded
from peerage.values.figures import percent

EXTREMES = 3
"""Answers shown of the best, and as many of the weakest."""
QUESTIONS = 60
"""Questions that are listed."""
_NO_RESULT = {
    DEVELOPMENT: "A tournament of two is for development: nobody is rated, since each judged one author.",
    "no_questions": "No usable question was written, so there is no result.",
    "no_answer": "Too few players were left, since providers failed; there is no result.",
    "inconclusive": "Too few scores came, so there is no result.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The ranking, who scored whom how, the answers that scored best and worst, the questions."""
    detail, lost = outcome.detail, outcome.detail.get("unranked", ())
    players = {
        seat.label: f"{seat.player} ({seat.label})" + ": unranked, its provider failed" * (seat.label in lost)
        for seat in fixture.seats
    }
    yield Heading("The ranking")
    if outcome.void:
        yield Sentence(_NO_RESULT.get(outcome.void, outcome.void))
    else:
        yield Sentence(
            "Everybody wrote questions, answered them all, and scored all answers but its own, blind. Each "
            "judge's scores are levelled, to an average of 5. A player beats those whom it is ahead of "
            "beyond the error and ties with those within it; ranks follow from that, a tie being half a win."
        )
    scores, written = (">Score", ">±", ">As given"), (">Questions", ">Dropped", ">Diversity")
    yield Grid(
        (">Rank", "Player", ">Beats", *scores, *written),
        tuple(
            (
                *(row.rank, row.player, row.ahead, row.score, row.se, row.raw),
                *(row.written, row.duplicates, percent(row.diversity)),
            )
            for row in ranking(players, detail)
        ),
    )
    yield from _matrix(matrix(players, detail), {players[seat.label]: seat.label for seat in fixture.seats})
    players = player_names(fixture)
    yield from _answers(outcome, replies, players)
    yield from _questions(detail.get("questions", ()), players)
    columns = {"score": ">Score", "se": ">±", "answers": ">Answers"}
    if len({row.sort for row in sorts(players, detail)}) > 1:
        yield Heading("By sort of question")
        yield grid_of(sorts(players, detail), {"player": "Player", "sort": "Sort", **columns})
    if rows := scaling(players, detail):
        yield Heading("What more tokens are worth")
        limits = {"player": "Player", "max_tokens": ">At most", "output_tokens": ">Used"}
        yield grid_of(rows, {**limits, **columns})
    if judges := reasons(players, detail):
        yield Heading("Reasons for 0 and 10")
        words = [(row.judge, row.zeros, row.tens, ", ".join(row.words)) for row in judges]
        yield Grid(("Judge", ">Zeros", ">Tens", "Its words"), tuple(words))


def _answers(outcome: Outcome, replies: Replies, players: Mapping[str, str]) -> Iterator[Block]:
    """The answers that scored best and worst, each with its question and every judge's score."""
    asked = {question["id"]: question for question in outcome.detail.get("questions", ())}
    worth = {answer: given[0] for answer, given in outcome.detail.get("answers", {}).items()}
    ranked = [item for item in sorted(worth, key=lambda item: -worth[item]) if _key(item) in replies]
    most = min(EXTREMES, len(ranked) // 2)
    chosen = {"The best answers": ranked[:most], "The weakest answers": ranked[len(ranked) - most :][::-1]}
    grades: dict[str, list[Grade]] = {}
    for grade in recorded(outcome, "judge"):
        grades.setdefault(grade.item, []).append(grade)
    why = _reasons(
        replies, {replies[_key(answer)].key: answer for some in chosen.values() for answer in some}
    )
    for title, some in chosen.items():
        if some:
            yield Heading(title)
        for answer in some:
            question, reply = asked[answer.split("/")[0]], replies[_key(answer)]
            yield Quoted(
                question["author"], question["text"], note=f"asks, in {question['category']}", prose=True
            )
            given = grades.get(answer, ())
            mean = f"{fmean(score.raw for score in given):.1f} of 10 as given; " if given else ""
            levelled = f"{mean}{worth[answer]:.1f} levelled, so that every judge averages 5"
            yield Quoted(reply.label, reply.text, reply.key, levelled, prose=True)
            reasons = {score.judge: why.get((score.judge, answer), "") for score in given}
            if any(reasons.values()):
                rows = [(players[score.judge], score.raw, reasons[score.judge]) for score in given]
                yield Grid(("Judge", ">As given", "Reason"), tuple(rows))
            else:
                scores = ", ".join([f"{score.raw:g} from {players[score.judge]}" for score in given])
                yield Sentence(f"As given: {scores}.")


def _key(answer: str) -> str:
    """The request key of an answer on record: `QUESTION/LABEL` was asked as `answer/LABEL/QUESTION`."""
    question, label, *budget = answer.split("/")
    return "/".join(["answer", label, question, *budget])


def _reasons(replies: Replies, wanted: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Return what judges said, by judge and answer, about those `wanted`: answers by the key of their
    reply."""
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


def _matrix(cells: Sequence[Cell], players: Mapping[str, str]) -> Iterator[Block]:
    if not cells:
        return
    yield Heading("Who scored whom how")
    yield Sentence(
        "The mean of what each judge (a row) gave each author (a column, by its letter), every judge brought "
        "to an average of 5; then how much that is above (+) or below (−) what the other judges gave the "
        "same answers, the judge's own strictness set aside. Differences come from taste and chance too: "
        "none of them alone says that a judge is partial, and one tournament has too few marks to tell. "
        "`peerage stats --of judges` and the page on judges test that over all tournaments."
    )
    given = {(cell.judge, cell.author): _mean(cell) for cell in cells}
    judges = dict.fromkeys(cell.judge for cell in cells)
    rows = [(judge, *[given.get((judge, author)) for author in players]) for judge in judges]
    yield Grid(("Judge", *[f">to {label}" for label in players.values()]), tuple(rows))


def _mean(cell: Cell) -> str:
    if cell.favour is None:
        return f"{cell.mean:.1f}"
    favour = f"{round(cell.favour, 1) + 0.0:+.1f}".replace("-", "−")
    return f"{cell.mean:.1f} ({favour})"


def _questions(questions: Sequence[Mapping[str, Any]], players: Mapping[str, str]) -> Iterator[Block]:
    if not questions:
        return
    yield Heading("The questions")
    rated = sorted(questions, key=lambda asked: -(asked["quality"] if asked["quality"] is not None else -1.0))
    yield Grid(
        ("Question", "By", "Category", ">Rated", "Asked"),
        tuple(
            (
                question["text"],
                players[question["author"]],
                question["category"] + (f", {question['sort']}" if question["sort"] != "plain" else ""),
                question["quality"],
                "yes" if question["weight"] else "no",
            )
            for question in rated[:QUESTIONS]
        ),
    )
    if len(rated) > QUESTIONS:
        yield Sentence(f"… and {len(rated) - QUESTIONS:,} more, rated lower", "quiet")
