"""Text-metrics: everybody puts the same texts into another form; nearest to the references wins.

    A, B, C, D > 03-14 Dalmo salt 340
                 07-02 Kezu rope 28                                        (text/1/A, …)

Texts, references and constraints are drawn from grammars (`text_metrics.tasks`). A metric of the field
compares; a copy of the text is worth 0, a reference 1, and each broken constraint costs a stated share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from peerage.games.game import Demo, Needs
from peerage.games.house import SPREAD, Call
from peerage.games.same_tasks import Came, Scored, same_tasks
from peerage.games.text_metrics.metrics import missing, score, signature
from peerage.games.text_metrics.rules import BREACH, RECORDS, TEXTS, TextMetricsRules, asked
from peerage.games.text_metrics.show import show
from peerage.games.text_metrics.tasks import KINDS, TextTask, drawn_task
from peerage.protocol import Reply

_FENCED = re.compile(r"```\w*\n([^`]*)\n```")
COPY_AT_MOST = 0.9
"""Most that a copy of the text may come to by the metric."""


def drawn(rules: TextMetricsRules, rng: Random) -> list[TextTask]:
    """Texts with their references."""
    return [_worth_a_try(rng, kind, rules) for kind in rng.sample(KINDS, TEXTS)]


def scored(rules: TextMetricsRules, tasks: Sequence[TextTask], came: Came) -> Scored:
    """The mean of everybody's points."""
    copies = [score(rules.metric, task.source, task.references) for task in tasks]
    texts = {
        label: [_result(rules, *one) for one in zip(tasks, copies, mine, strict=True)]
        for label, mine in came.items()
    }
    sums = {label: sum(one["points"] for one in results) for label, results in texts.items()}
    means = {label: round(points / len(tasks), 4) for label, points in sums.items()}
    detail = {
        "decided": "by the mean of the texts",
        "metrics": [signature(rules.metric, task.references) for task in tasks],
        "copies": copies,
        "texts": texts,
        "means": means,
    }
    return Scored(means, detail)


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


def _worth_a_try(rng: Random, kind: str, rules: TextMetricsRules) -> TextTask:
    """A text whose copy the metric does not take for a reference: some count words in any order."""
    while True:
        task = drawn_task(rng, kind, RECORDS)
        if score(rules.metric, task.source, task.references) <= COPY_AT_MOST:
            return task


_SPOILS = 0.45
"""The share of words that a house player without skill spoils."""


def house(call: Call, skill: float, rng: Random) -> str:
    """A text as near to a reference as the player's day allows, with fewer words spoilt the better it is."""
    task: TextTask = call.oracle
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


GAME = same_tasks(
    TextTask,
    TextMetricsRules,
    name="text-metrics",
    version=4,
    about="Everybody puts texts into another form; nearest to the references by BLEU, chrF or ROUGE wins.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 150,
    house=house,
    show=show,
    needs=Needs(extra=lambda rules: missing(rules.metric)),
    demo=Demo(60),
)
