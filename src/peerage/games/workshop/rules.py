"""The settings of workshops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import Field, model_validator

from peerage.game import MaxTokens
from peerage.game.levels import LevelRules
from peerage.games.judged import JudgedRules
from peerage.games.workshop.tasks import WorkTask
from peerage.judging.panels.panel import PanelRules
from peerage.values.yaml_text import read_yaml

DIFF_CHARS = 20_000
"""Characters of a diff that judges and pages show."""


def read_tasks(body: bytes, name: str, rules: Mapping[str, Any]) -> Any:
    """Return the tasks that a YAML or JSON file states. Raises ValueError."""
    return read_yaml(body.decode())[0] or []


class WorkshopRules(LevelRules, JudgedRules):
    """Settings of workshops."""

    seats: int = Field(2, ge=2, le=6, description="Contestants of a match.")
    tasks: tuple[dict[str, Any], ...] = Field(
        (),
        description="Your tasks: a list with `folder` or `files`, `statement`, `tests` and `command`; or "
        "`{repo: ., command: …}`, past commits whose tests are hidden (`commits`: eight). Default: programs "
        "drawn for each match.",
    )
    turns: int = Field(20, ge=1, le=200, description="Actions of a contestant without tools of its own.")
    command_seconds: float = Field(
        120, gt=0, le=3_600, description="Seconds that a command, and the tests, may take."
    )
    judge: bool = Field(
        True,
        description="In matches of two, judges (or peers) read both diffs blind where tests do not decide. "
        "`false`: they tie.",
    )
    max_tokens: MaxTokens = 8_000

    @model_validator(mode="after")
    def _tested(self) -> WorkshopRules:
        for stated in self.tasks:
            task = msgspec.convert(stated, WorkTask)
            if task.tests is None and not self.judges:
                raise ValueError(
                    f"the task {task.id!r} has no tests, so judges decide: set `judge: true` and `seats: 2`, "
                    "or give it tests"
                )
        return self

    @property
    def adapts(self) -> bool:
        """Return whether levels follow the players."""
        return not self.tasks and super().adapts

    @property
    def judges(self) -> bool:
        """Return whether judges decide where tests do not."""
        return self.judge and self.seats == 2

    def panel(self) -> PanelRules:
        """Return the rules of the panel of judges."""
        return self.judging.panel(
            PanelRules("opposite", early_stop=True, weights="equal", answer_chars=DIFF_CHARS)
        )
