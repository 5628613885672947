"""A match of recorded answers before new judges."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from peerage.game import (
    Asks,
    Block,
    Fixture,
    GameRating,
    GameSpec,
    GameTable,
    Heading,
    Judging,
    Outcome,
    Prompt,
    Quote,
    Quoted,
    Replies,
    Reply,
    Sentence,
    Steps,
    TaskText,
    player_names,
)
from peerage.game.bounds import QUOTE
from peerage.games.judged import verdicts_asked
from peerage.games.rejudge.recorded import (
    FIRST,
    SECOND,
    RecordedAnswers,
    RejudgeRules,
    author_of,
    recorded_in,
    scored_asks,
)
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.panel import QUORUM, panel, panel_shown
from peerage.judging.scores.scoring import Item, facts, recorded, scoring


def play(table: GameTable) -> Steps[Outcome]:
    """Ask the judges about the answers in the fixture."""
    rules: RejudgeRules = table.rules
    return (yield from (_score if rules.by == "scores" else _compare)(table, rules, recorded_in(table)))


def _compare(table: GameTable, rules: RejudgeRules, asked: RecordedAnswers) -> Steps[Outcome]:
    verdict = yield from panel(
        table.officials["judge"],
        {name: Reply("ok", asked.answers[name], hidden=asked.hidden.get(name)) for name in (FIRST, SECOND)},
        {place: given.filled() for place, given in asked.given.items()},
        rules.panel(max(map(len, asked.answers.values()))),
        Prompt(*asked.asked),
        table.rng("order"),
    )
    detail = {"decided": "by judges", **verdict.detail()}
    if verdict.score is None:
        return Outcome(void="inconclusive", detail=detail)
    fact = {"rejudged": asked.source, "record": asked.record, "score": verdict.score}
    return Outcome(facts=(fact,), detail=detail)


def _score(table: GameTable, rules: RejudgeRules, asked: RecordedAnswers) -> Steps[Outcome]:
    """Ask every judge about every answer that is not its own."""
    judges, question = table.officials["judge"], asked.given["question"]
    items = [
        Item(
            id=answer,
            author=author_of(answer),
            question=Quote(question.label or "question", question.text),
            work=Quote("answer", text),
            oracle=asked.hidden.get(answer),
        )
        for answer, text in asked.answers.items()
    ]
    scored = yield from scoring(
        judges,
        items,
        rules.scoring(asked.asked),
        {judge.label: table.rng(f"score/{judge.label}") for judge in judges},
        barred=asked.own,
    )
    wanted = sum(item.author not in asked.own.get(judge.label, ()) for judge in judges for item in items)
    detail = {"batching": msgspec.to_builtins(scored.batching)}
    if len(scored.grades) < max(1, QUORUM * wanted):
        return Outcome(void="inconclusive", detail=detail)
    return Outcome(facts=tuple(facts("judge", scored.grades)), detail=detail)


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The question and its answers, with the results of the first judges and of the new ones."""
    asked, judges = recorded_in(fixture), player_names(fixture)
    by_scores = fixture.settings["by"] == "scores"
    yield Heading("What is judged again" if asked.source else "What is judged")
    if asked.source:
        question = f"Question {asked.id} of match" if by_scores else "Match"
        panel_found = "" if by_scores else f"; its panel {_preferred(asked)}"
        yield Sentence(f"{question} {asked.source} of the arena that the answers come from{panel_found}.")
        yield Sentence(f"Its record: {asked.record}", "quiet")
    else:
        yield Sentence(f"Two recorded answers to {asked.title}.")
        if asked.first:
            yield Sentence(f"The score recorded with them {_preferred(asked)}.")
    for place, given in asked.given.items():
        if given.label is not None or place == "question":
            yield TaskText(given.text, given.label or "task", prose=True)
    yield Heading("The answers")
    grades = list(recorded(outcome, "judge"))
    for answer, text in asked.answers.items():
        label = author_of(answer)
        yield Quoted(label, text, note=f"by {asked.authors[label]}", prose=True)
        if by_scores:
            again = ", ".join(
                [f"{grade.raw:g} from {judges[grade.judge]}" for grade in grades if grade.item == answer]
            )
            first = f"At first {asked.first[answer]:.1f} on average. " if answer in asked.first else ""
            yield Sentence(f"{first}Again, as given: {again or 'nothing'}.")
    if not by_scores:
        players = {**judges, **asked.authors}
        criteria = outcome.detail.get("criteria", {})
        yield from panel_shown(ballots_of(outcome), replies, players, criteria)
    if outcome.void:
        yield Sentence(
            f"Too few judges gave a valid {'score' if by_scores else 'vote'}, so there is no result."
        )


def _preferred(asked: RecordedAnswers) -> str:
    score = asked.first.get(FIRST)
    if score is None:
        return "came to no verdict"
    return "found a tie" if score == 0.5 else f"preferred {FIRST if score > 0.5 else SECOND}"


def asks(rules: RejudgeRules, fixture: Fixture) -> tuple[Asks, ...]:
    """The answers in the fixture: by a panel in one or both orders; by scores in lists."""
    asked = recorded_in(fixture)
    if rules.by == "panel":
        return tuple(verdicts_asked(fixture, rules.panel(0), Prompt(*asked.asked), 0))
    return (scored_asks("judge", rules.scoring(asked.asked), len(asked.answers), 2 * QUOTE),)


GAME: GameSpec[RejudgeRules] = GameSpec(
    name="rejudge",
    version=7,
    about="New judges compare or score recorded answers; `peerage rejudge` sets it up.",
    contestants=(0, 0),
    rules=RejudgeRules,
    play=play,
    asks=asks,
    show=show,
    judging=Judging(judged=lambda fixture, texts: recorded_in(fixture).answers),
    rating=GameRating(tracks=("bt",)),
)
