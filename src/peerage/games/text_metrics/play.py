"""Text-metrics: everybody puts the same texts into another form; nearest to the references wins.

    A, B, C, D > 03-14 Dalmo salt 340
                 07-02 Kezu rope 28                                        (text/1/A, …)

Texts, references and constraints are drawn from grammars (`text_metrics.tasks`). A metric of the field
compares; a copy of the text is worth 0, a reference 1, and each broken constraint costs a stated share.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

import msgspec

from peerage.games.game import GameSpec
from peerage.games.ranking import by_rank
from peerage.games.text_metrics.house import house
from peerage.games.text_metrics.metrics import missing, score, signature
from peerage.games.text_metrics.rules import FORM, TextMetricsRules, asks, expects, told
from peerage.games.text_metrics.show import show
from peerage.games.text_metrics.tasks import KINDS, TextTask, drawn_task
from peerage.match import Outcome, Table
from peerage.protocol import Ask, Reply, Steps

_FENCED = re.compile(r"```\w*\n([^`]*)\n```")
COPY_AT_MOST = 0.9
"""What a copy of the text may come to by the metric."""


def play(table: Table) -> Steps[Outcome]:
    """One match of all seats of `table`."""
    rules: TextMetricsRules = table.rules
    tasks = msgspec.convert(table.drawn["tasks"], tuple[TextTask, ...])
    requests = [
        Ask(
            seat.label,
            f"text/{at}/{seat.label}",
            "contestant",
            messages,
            form,
            rules.max_tokens,
            rules.temperature,
            task,
        )
        for at, task in enumerate(tasks, 1)
        for form, messages in ((expects(task), FORM.messages(told(rules, task))),)
        for seat in table.seats
    ]
    said: list[Reply] = yield requests
    replies = {request.key: reply for request, reply in zip(requests, said, strict=True)}
    copies = [score(rules.metric, task.source, task.references) for task in tasks]
    texts: dict[str, list[dict[str, Any]]] = {}
    for seat in table.seats:
        own = [replies[f"text/{at}/{seat.label}"] for at in range(1, len(tasks) + 1)]
        if all(reply.status != "void" for reply in own):
            compared = zip(tasks, copies, own, strict=True)
            texts[seat.label] = [_result(rules, task, copy, reply) for task, copy, reply in compared]
    if len(texts) < 2:
        return Outcome(void="no_answer")
    sums = {label: sum(one["points"] for one in results) for label, results in texts.items()}
    means = {label: round(points / len(tasks), 4) for label, points in sums.items()}
    detail = {
        "decided": "by the mean of the texts",
        "metrics": [signature(rules.metric, task.references) for task in tasks],
        "copies": copies,
        "texts": texts,
        "means": means,
    }
    return Outcome(scores=by_rank(means), detail=detail)


def _result(rules: TextMetricsRules, task: TextTask, copy: float, reply: Reply) -> dict[str, Any]:
    """One text on record."""
    if not reply.ok:
        return {"status": reply.status, "points": 0.0}
    text = bare(reply.value)
    near, breaches = score(rules.metric, text, task.references), task.limits.breaches(text)
    way = max(0.0, (near - copy) / (1 - copy))
    points = round(way * max(0.0, 1 - rules.breach * len(breaches)), 4)
    return {"status": "ok", "near": near, "breaches": breaches, "points": points}


def bare(text: str) -> str:
    """A text without white space at both ends and without a code fence around the whole."""
    fenced = _FENCED.fullmatch(text.strip())
    return (fenced[1] if fenced else text).strip()


def draw(rules: TextMetricsRules, seed: str, number: int) -> dict[str, Any]:
    """The texts of match `number`, with their references."""
    rng = Random(f"{seed}/text-metrics/{number}")
    tasks = [_worth_a_try(rng, kind, rules) for kind in rng.sample(KINDS, rules.texts)]
    return {"tasks": msgspec.to_builtins(tasks)}


def _worth_a_try(rng: Random, kind: str, rules: TextMetricsRules) -> TextTask:
    """A text whose copy the metric does not take for a reference: some count words in any order."""
    while True:
        task = drawn_task(rng, kind, rules.records)
        if score(rules.metric, task.source, task.references) <= COPY_AT_MOST:
            return task


GAME: GameSpec[TextMetricsRules] = GameSpec(
    name="text-metrics",
    about="Everybody puts texts into another form; nearest to the references by BLEU, chrF or ROUGE wins.",
    contestants=(2, 10),
    rules=TextMetricsRules,
    play=play,
    draw=draw,
    asks=asks,
    survives=True,
    slots=True,
    house=house,
    show=show,
    hides=True,
    extra=lambda rules: missing(rules.metric),
    unshown=("tasks",),
    demo=60,
)
