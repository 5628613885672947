"""The settings of one's own tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, ValidationInfo, field_validator, model_validator

from peerage.formats.schemas.brought import check_schema
from peerage.game import GameRules, MaxTokens, Shaped, Temperature, Text
from peerage.game.media import opener_of
from peerage.game.section import CHARS_PER_TOKEN
from peerage.games.judged import CheckedJudgingRules
from peerage.games.tasks.files import read_tasks
from peerage.games.tasks.task import Task, numbered, task_of, templates_of
from peerage.judging.panels.panel import PanelRules
from peerage.ratings.read.report import problems_of

_FILE = re.compile(r"\S+\.(?:csv|tsv|jsonl?|ya?ml|parquet|eval)", re.IGNORECASE)


@lru_cache(maxsize=1)
def sample() -> tuple[Task, ...]:
    """Return a dozen tasks to try the game with."""
    body = files(__package__).joinpath("sample.jsonl").read_bytes()
    return tuple([Task.model_validate(task) for task in read_tasks(body, "sample.jsonl", {})])


class TasksRules(GameRules):
    """Rules of one's own tasks."""

    judging: CheckedJudgingRules = Field(
        CheckedJudgingRules(), description="How judges decide; set from the arena's `judging`."
    )

    tasks: tuple[Task, ...] = Field(
        default_factory=sample,
        description="Your tasks: a file (CSV, JSON lines, JSON), or a list. Each has `prompt` or `messages`, "
        "and what you like of `system`, `expected`, `check`, `rubric`, `category`, `id`, `weight`, `image`, "
        "`audio`, `meta.…`. Default: a small sample.",
    )
    template: str = Field(
        "",
        description="Text whose places `{{name}}` are filled from a task's columns, in place of `prompt`; "
        "or `{file: template.md}`.",
    )
    templates: dict[str, str] = Field(
        default_factory=dict, description="Players' own templates; set from the arena's `players`."
    )
    answer_schema: str = Field(
        "",
        description="A JSON schema, or the file that holds it: answers are asked for in its shape where the "
        "provider has structured output, and one that does not fit has credit 0.",
    )
    check: str = Field(
        "",
        description="The check of tasks that have `expected` and name no `check`: `exact`, `number`, "
        "`contains`, `regex`, `choice`, `json`. Default: `exact` where that is one line of 80 characters; "
        "a longer one is shown to judges.",
    )
    programs: dict[str, str] = Field(
        default_factory=dict,
        description="Source of the programs that checks name, by file; read from the arena's folder.",
    )
    then: Literal["judges", "tie"] | None = Field(
        None,
        description="What follows where a check gives both answers the same credit: `judges`, or it is "
        "a `tie`. Default: a tie, unless the task or `judging` has a rubric, criteria or a prompt.",
    )
    samples: Annotated[int, Field(ge=1, le=1_000)] | Literal["fresh"] = Field(
        1,
        description="Answers of each player to each task: they are on record, and compared with those of "
        "others, each pair of answers once. `fresh`: every match asks for new ones, without end.",
    )
    max_tokens: MaxTokens = 2_000
    temperature: Temperature = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any, about: ValidationInfo) -> Any:
        """Read tasks as people write them, by the template and check next to them."""
        if not isinstance(value, dict) or not isinstance(value.get("tasks"), list | tuple):
            return value
        if all(isinstance(task, dict) and task.keys() >= {"checks", "id"} for task in value["tasks"]):
            return value  # as they were read
        templates, check = templates_of(value), value.get("check") or ""
        tasks: list[dict[str, Any]] = []
        problems: list[str] = []
        where = [f"task {place}" for place in range(1, len(value["tasks"]) + 1)]
        for place, written in zip(where, value["tasks"], strict=True):
            if not isinstance(written, str | dict):
                problems.append(
                    f"{place}: found {written!r:.60}; expected a text, or `prompt: …` and columns"
                )
            elif isinstance(written, str) and _FILE.fullmatch(written.strip()):
                problems.append(
                    f"{place}: found {written!r:.60} in a list of tasks, where a text is a prompt; `tasks:` "
                    "takes one file: join yours in one, or write `prompt: …`"
                )
            elif isinstance(written, dict) and "checks" in written:
                tasks.append(written)
            else:
                row = {"prompt": written} if isinstance(written, str) else written

                def taken(column: str, problem: str, place: str = place) -> None:
                    problems.append(f"{place}, {column}: {problem}")

                tasks.append(task_of(row, templates, check, taken, opener=opener_of(about.context)))
        if not problems:
            tasks, problems = numbered(tasks, where)
        if problems:
            raise ValueError(problems_of(problems))
        return {**value, "tasks": tasks}

    @field_validator("samples", mode="before")
    @classmethod
    def _counted(cls, value: Any) -> Any:
        if value != "fresh" and (type(value) is not int or not 1 <= value <= 1_000):
            raise ValueError(f"found {value!r:.40}; expected a whole number from 1 to 1,000, or `fresh`")
        return value

    @field_validator("answer_schema", mode="before")
    @classmethod
    def _sound(cls, value: Any) -> Any:
        """Take a schema as the text that it is kept as, since the order of its properties counts."""
        if not isinstance(value, str | dict) or not value:
            return value
        try:
            schema = json.loads(value) if isinstance(value, str) else value
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"found {value!r:.60}, which is no JSON ({error})") from None
        check_schema(schema)
        return json.dumps(schema, ensure_ascii=False)

    def expects(self) -> Text | Shaped:
        """Return the format of an answer."""
        return Shaped(self.answer_schema, self.max_chars) if self.answer_schema else Text(self.max_chars)

    @property
    def max_chars(self) -> int:
        """Return how many characters of an answer count."""
        return self.max_tokens * CHARS_PER_TOKEN

    def panel(self, *, control: bool = False) -> PanelRules:
        """Return the rules of the panel of judges; of a `control`, on which it asks all."""
        usual = PanelRules("opposite", early_stop=True, weights="equal", answer_chars=self.max_chars)
        rules = self.judging.panel(usual)
        return msgspec.structs.replace(rules, early_stop=False) if control else rules

    def digest(self, task: Mapping[str, Any]) -> str:
        """Return a short digest of what a drawn task asks and by what it is checked: answers to a task that
        its owner changed are known by it."""
        checks = task.get("checks") or ()
        programs = [self.programs.get(check.get("program", "").rpartition(":")[0], "") for check in checks]
        parts = [task.get("messages"), task.get("vars"), checks, programs, self.answer_schema]
        return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16]

    def digests(self) -> dict[str, str]:
        """Return the digest of each task as it is now."""
        return {task.id: self.digest(task.drawn()) for task in self.tasks}
