"""The decision as people see it: whom to pick, prices and records, what would change it, and examples."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.game.blocks import Heading, Quoted, Sentence, Target, Task, Tone
from peerage.render.blocks import Answer, Beside, Column, Rows, Section, Small, ViewBlock
from peerage.values.figures import dollars, percent
from peerage.views.decision.decision import RULE
from peerage.views.leaderboard.columns import ACCURACY
from peerage.views.leaderboard.verdict import Contender, Example, Given, Verdict, Weakness


def verdict(found: Verdict) -> list[ViewBlock]:
    """Return a verdict with all that belongs to it; of the owner's tasks the decision."""
    return [Answer(found.lines), *([decided(found)] if found.by_task else ())]


def decided(found: Verdict) -> Section:
    """Return what stands below the sentences of a verdict on the owner's tasks."""
    return Section("decision", [*_decided(found)])


def _decided(found: Verdict) -> Iterator[ViewBlock]:
    yield contenders(found)
    if found.would_change:
        yield Heading("What would change this")
        yield from (Sentence(line) for line in found.would_change)
    if found.examples:
        yield Heading("Telling matches")
        yield Sentence(f"{RULE} `peerage match NUMBER` shows all of one.", "quiet")
    for example in found.examples:
        yield Section("telling", [*_example(example)])


def contenders(found: Verdict) -> Rows:
    """Return the candidates' table."""
    rows = found.contenders
    checked = any(row.accuracy is not None for row in rows)
    columns = [
        Column("player", "Player", link=to_player),
        Column("bin", "Choice"),
        *([Column("accuracy", "Accuracy", number=True, hint=ACCURACY, value=_accuracy)] if checked else ()),
        Column("wins", "Wins", percent, number=True, value=lambda row: _share(row, row.wins)),
        Column("ties", "Ties", percent, number=True, spare=1, value=lambda row: _share(row, row.draws)),
    ]
    if any(row.cost_per_thousand for row in rows):
        hint = "dollars for 1,000 tasks of its own play, without judging"
        columns.append(Column("cost_per_thousand", "Per 1,000", dollars, number=True, hint=hint))
    share = "its accuracy" if checked else "its share of the points"
    category = f"the category with {share} there, and " * any(
        row.worst and row.worst.category for row in rows
    )
    worst = Column(
        "worst", "Worst at", weakness, spare=1, hint=f"{category}a task that it failed", small=_because
    )
    return Rows(
        rows,
        [*columns, worst],
        name="contenders",
        sorts=False,
        cards=True,
        faint=lambda row: bool(row.bin == "out"),
    )


def to_player(row: Contender) -> Target:
    """Return where a contender has its page."""
    return "player", row.player


def weakness(found: Weakness) -> str:
    """Return a player's weakest category in a few words: `dates 78%: due-17 (match 41)`."""
    where = f"{found.category} {percent(found.share)}" if found.category else ""
    failed = f"{found.task} (match {found.match})" if found.task else ""
    return ": ".join(filter(None, (where, failed)))


def _because(row: Contender) -> Iterator[Small]:
    if row.worst and row.worst.note:
        yield Small(row.worst.note)


def _accuracy(row: Contender) -> str | None:
    return row.accuracy_in_words


def _share(row: Contender, part: int) -> float | None:
    return part / row.matches if row.matches else None


def _example(example: Example) -> Iterator[ViewBlock]:
    category = f" ({example.category})" if example.category else ""
    how = f", decided {example.decided}" if example.decided else ""
    title = f"{example.task}{category}, match {example.match:,}: {example.winner} won{how}"
    yield Heading(title, 3, ("match", str(example.match)))
    yield Task(example.prompt, more=example.prompt_more)
    yield Beside([[_answer(one)] for one in example.answers])


def _answer(given: Given) -> Quoted:
    right = {None: "", 1.0: "right", 0.0: "wrong"}.get(given.credit, f"{percent(given.credit)} right")
    tone: Tone = "good" if given.credit == 1 else "bad" if given.credit is not None else ""
    if given.status != "ok":
        return Quoted(given.player, given.text, verdict=given.status, tone="bad", more=given.more)
    return Quoted(given.player, given.text, verdict=right, tone=tone, note=given.note, more=given.more)
