"""The settings of text-metrics, and what its players are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from peerage.formats import Text
from peerage.games.game import GameRules
from peerage.games.ranking import SCORE
from peerage.games.section import MaxTokens, Seats
from peerage.games.text_metrics.metrics import METRICS, MetricName
from peerage.games.text_metrics.tasks import TextTask
from peerage.games.texts import texts
from peerage.protocol import Ask, Prompt

_ROOM, _STEP = 2, 100
"""A reply may be so many times as long as the text or a reference, in full hundreds of characters."""


BREACH = 0.5
"""Share of a text's points that each broken constraint costs."""
TEXTS = 3
"""Texts of a match, each of another kind."""
RECORDS = 3
"""Sentences or lines of a text."""


class TextMetricsRules(GameRules):
    """Settings of texts that are put into another form and compared with references."""

    seats: Seats = 8
    metric: MetricName = Field(
        "rouge-l",
        description="What compares a text with its references; `chrf` and `bleu` need the extra `metrics`.",
    )
    max_tokens: MaxTokens = 2_000


FORM: Prompt = texts(__package__)["form"]
TASKS: Mapping[str, str] = texts(__package__)["tasks"]
_EXAMPLE = "\n\nAn example. From\n\n{given}\n\ncomes\n\n{made}"


def asked(rules: TextMetricsRules, tasks: Sequence[TextTask]) -> list[Ask]:
    """A request for each text."""
    cost = f"Each requirement that is broken costs {BREACH:.0%} of the text's points."
    metric = METRICS[rules.metric]
    fill = {
        "metric": metric.title,
        "compares": metric.compares,
        "breach": cost,
        "texts": f"all {len(tasks)} texts",
        "score": SCORE,
    }
    return [
        FORM.ask("", f"text/{at}", _expects(task), fill | _told(task), rules.max_tokens, oracle=task)
        for at, task in enumerate(tasks, 1)
    ]


def _expects(task: TextTask) -> Text:
    longest = _ROOM * max(map(len, (task.source, *task.references)))
    return Text(-(-longest // _STEP) * _STEP)


def _told(task: TextTask) -> dict[str, str]:
    count = len(task.references)
    given, made = task.shown or ("", "")
    return {
        "task": TASKS[task.kind],
        "example": _EXAMPLE.format(given=given, made=made) if task.shown else "",
        "source": task.source,
        "limits": constraints(task),
        "references": "is one reference"
        if count == 1
        else f"are {count} references, of which the nearest counts",
    }


def constraints(task: TextTask) -> str:
    """The constraints, in words."""
    limits, said = task.limits, list[str]()
    if limits.words:
        said.append(f"It has at most {limits.words} words.")
    if limits.chars:
        said.append(f"It has at most {limits.chars} characters.")
    for words, how in ((limits.required, "Use"), (limits.forbidden, "Do not use")):
        if words:
            said.append(f"{how} the word{'s' * (len(words) > 1)} {', '.join(f'“{word}”' for word in words)}.")
    return " ".join(said)
