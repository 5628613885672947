"""Text-metrics: everybody puts the same texts into another form; nearest to the references wins.

    A, B, C, D > 03-14 Dalmo salt 340
                 07-02 Kezu rope 28                                        (text/1/A, …)

Texts, references and constraints are drawn from grammars (`text_metrics.tasks`). A metric of the field
compares; a copy of the text is worth 0, a reference 1, and each broken constraint costs a stated share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace
from pydantic import Field

from peerage.game import (
    SCORE,
    Achieved,
    Ask,
    Bar,
    Block,
    Came,
    Cell,
    Demo,
    Fixture,
    Heading,
    HouseCall,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Replies,
    Reply,
    Seats,
    Sentence,
    TaskText,
    Text,
    Tone,
    credit_mark,
    quoted,
    same_tasks,
    solves,
    tasks_grid,
    tasks_of,
    texts,
)
from peerage.game.house import SPREAD
from peerage.game.levels import between
from peerage.games.text_metrics.metrics import METRICS, MetricName, missing, score, signature
from peerage.games.text_metrics.tasks import KINDS, TextTask, drawn_task

_ROOM, _STEP = 2, 100
"""A reply may be so many times as long as the text or a reference, in full hundreds of characters."""
BREACH = 0.5
"""Share of a text's points that each broken constraint costs."""
TEXTS = 3
"""Texts of a match, each of another kind."""
RECORDS = (2, 12)
"""Sentences or lines of a text, at the first and the last level."""


class TextMetricsRules(LevelRules):
    """Settings of texts that are put into another form and compared with references."""

    seats: Seats = 8
    metric: MetricName = Field(
        "rouge-l",
        description="What compares a text with its references; `chrf` and `bleu` need the extra `metrics`.",
    )
    max_tokens: MaxTokens = 2_000


TASKS: Mapping[str, str] = texts(__package__)["tasks"]
"""Of the game's own, by the kind of a text."""
_EXAMPLE = "\n\nAn example. From\n\n{given}\n\ncomes\n\n{made}"


def asked(rules: TextMetricsRules, tasks: Sequence[TextTask]) -> list[Ask]:
    """A request for each text."""
    cost = f"Each requirement that is broken costs {BREACH:.0%} of the text's points."
    metric = METRICS[rules.metric]
    own = texts(__package__, rules.texts)
    fill = {
        "metric": metric.title,
        "compares": metric.compares,
        "breach": cost,
        "texts": f"all {len(tasks)} texts",
        "score": SCORE,
    }
    return [
        own["form"].ask(
            "",
            f"text/{at}",
            _expects(task),
            fill | _fill(task) | {"task": own["tasks"][task.kind]},
            rules.max_tokens,
            oracle=task,
        )
        for at, task in enumerate(tasks, 1)
    ]


def _expects(task: TextTask) -> Text:
    longest = _ROOM * max(map(len, (task.source, *task.references)))
    return Text(-(-longest // _STEP) * _STEP)


def _fill(task: TextTask) -> dict[str, str]:
    count = len(task.references)
    given, made = task.shown or ("", "")
    return {
        "example": _EXAMPLE.format(given=given, made=made) if task.shown else "",
        "source": task.source,
        "limits": constraints(task),
        "references": "is one reference"
        if count == 1
        else f"are {count} references, of which the nearest counts",
    }


def constraints(task: TextTask) -> str:
    """The constraints, in words."""
    limits, lines = task.limits, list[str]()
    if limits.words:
        lines.append(f"Your text has at most {limits.words} words.")
    if limits.chars:
        lines.append(f"Your text has at most {limits.chars} characters.")
    for words, how in ((limits.required, "Use"), (limits.forbidden, "Do not use")):
        if words:
            lines.append(
                f"{how} the word{'s' * (len(words) > 1)} {', '.join(f'“{word}”' for word in words)}."
            )
    return " ".join(lines)


_FENCED = re.compile(r"```\w*\n([^`]*)\n```")
COPY_AT_MOST = 0.9
"""Most that a copy of the text may come to by the metric."""


def drawn(rules: TextMetricsRules, levels: Sequence[int], rng: Random) -> list[TextTask]:
    """Texts with their references."""
    kinds = rng.sample(KINDS, len(levels))
    return [_worth_a_try(rng, kind, level, rules) for kind, level in zip(kinds, levels, strict=True)]


def scored(rules: TextMetricsRules, tasks: Sequence[TextTask], came: Came) -> Achieved:
    """The mean of everybody's points."""
    copies = [score(rules.metric, task.source, task.references) for task in tasks]
    texts = {
        label: [_result(rules, *triple) for triple in zip(tasks, copies, own, strict=True)]
        for label, own in came.items()
    }
    sums = {label: sum(result["points"] for result in results) for label, results in texts.items()}
    means = {label: round(points / len(tasks), 4) for label, points in sums.items()}
    detail = {
        "decided": "by the mean of the texts",
        "metrics": [signature(rules.metric, task.references) for task in tasks],
        "copies": copies,
        "texts": texts,
        "means": means,
    }
    return Achieved(
        means, detail, {label: [each["points"] for each in results] for label, results in texts.items()}
    )


def _result(rules: TextMetricsRules, task: TextTask, copy: float, reply: Reply) -> dict[str, Any]:
    """One text on record."""
    if not reply.ok:
        return {"status": reply.status, "points": 0.0}
    text = bare(reply.value)
    near, breaches = score(rules.metric, text, task.references), task.limits.breaches(text)
    way = max(0.0, (near - copy) / (1 - copy))
    points = round(way * max(0.0, 1 - BREACH * len(breaches)), 4)
    return {"status": "ok", "near": near, "breaches": breaches, "points": points}


def bare(text: str) -> str:
    """A text without white space at both ends and without a code fence around the whole."""
    fenced = _FENCED.fullmatch(text.strip())
    return (fenced[1] if fenced else text).strip()


def _worth_a_try(rng: Random, kind: str, level: int, rules: TextMetricsRules) -> TextTask:
    """Draw a text of which a copy scores low enough: some metrics count words in any order."""
    while True:
        task = drawn_task(rng, kind, between(*RECORDS, level))
        if score(rules.metric, task.source, task.references) <= COPY_AT_MOST:
            return replace(task, level=level)


_SPOILS = 0.45
"""The share of words that a house player without skill spoils."""


def house(call: HouseCall, skill: float, rng: Random) -> str:
    """A reference with the chance of its level, else one with fewer words spoilt the better the player is."""
    task: TextTask = call.oracle
    if rng.random() < solves(skill, task.level):
        return rng.choice(task.references)
    quality = min(max(rng.gauss(skill, SPREAD), 0.0), 1.0)
    lines = []
    for line in rng.choice(task.references).split("\n"):
        words: list[str] = []
        for word in line.split(" "):
            if rng.random() >= _SPOILS * (1 - quality):
                words.append(word)
            elif rng.random() < 0.5:
                words.insert(rng.randrange(len(words) + 1), word[::-1])
        lines.append(" ".join(words))
    return "\n".join(lines).strip() or task.source


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of how near everybody came to each reference; then each text with what was made of it."""
    signatures, results = outcome.detail.get("metrics", ()), outcome.detail.get("texts", {})
    means: Mapping[str, float] = outcome.detail.get("means", {})
    credits = {
        label: [credit_mark(text["points"], "; ".join(text.get("breaches", ()))) for text in results[label]]
        for label in means
    }
    worth: dict[str, tuple[Cell, str]] = {
        label: (Bar("", mean), f"{mean:.3f} points on average") for label, mean in means.items()
    }
    wins = "The player nearest to the references, on the mean of all texts, is first."
    yield from tasks_grid(outcome, wins, "Mean", credits, worth, name="Text")
    for at, task in enumerate(tasks_of(fixture.drawn, TextTask), 1):
        yield Heading(f"Text {at}: {TASKS[task.kind].rstrip('.').lower()}", anchor=f"q{at}", closed=True)
        yield TaskText(task.source, name="the text")
        if task.shown:
            yield TaskText("\n↓\n".join(task.shown), name="the example")
        yield Sentence(constraints(task))
        for number, reference in enumerate(task.references, 1):
            yield TaskText(reference, name=f"reference {number}")
        if len(signatures) >= at:
            copy = outcome.detail["copies"][at - 1]
            scale = (
                f"A copy of the text comes to {copy:.4f}, which is worth 0 points; a reference is worth 1."
            )
            yield Sentence(f"Compared by {signatures[at - 1]}. {scale}", "quiet")
        for seat in fixture.seats:
            reply = replies.get(f"text/{at}/{seat.label}")
            if reply is None:
                continue
            result = results[seat.label][at - 1] if seat.label in results else {}
            points = result.get("points", 0.0)
            tone: Tone = "good" if points >= 0.9 else "bad" if not points else ""
            note = "; ".join(["breaks " + breach for breach in result.get("breaches", ())])
            verdict = f"comes to {result['near']:.4f}: {points:.2f} points" if "near" in result else ""
            yield quoted(reply, verdict, tone, note)


GAME = same_tasks(
    TextTask,
    TextMetricsRules,
    name="text-metrics",
    version=6,
    texts=__package__,
    about="Everybody puts texts into another form; nearest to the references by BLEU, chrF or ROUGE wins.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    tasks=lambda rules: TEXTS,
    usual_output=lambda rules: 250,
    house=house,
    show=show,
    needs=Needs(extra=lambda rules: missing(rules.metric)),
    demo=Demo(60),
)
