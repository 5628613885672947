"""Players who write programs are told what the sandbox gives them: one paragraph, with the match's limits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from peerage.sandbox.program import FUEL, MEMORY, environment

GOLDEN = Path(__file__).parents[1] / "golden"


def texts(found: Any) -> list[str]:
    if isinstance(found, str):
        return [found]
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [text for one in inside for text in texts(one)]


@pytest.mark.parametrize(
    ("transcript", "asked", "output"),
    [
        ("code-golf", "Write a Python 3.12 program for this task", 65_536),
        ("bug-hunt", "This Python 3.12 program, number", 65_536),
        ("challenge-exchange", "`solution`, a Python 3.12 program", 65_536),
        ("challenge-exchange-tools-troubled", "you may run Python 3.12 programs", 4_000),
    ],
)
def test_who_writes_a_program_is_told_what_it_may_use(transcript: str, asked: str, output: int) -> None:
    recorded = "\n".join(texts(json.loads((GOLDEN / f"{transcript}.json").read_text("utf-8"))))
    assert re.search(asked, recorded)
    assert recorded.count(environment(FUEL, MEMORY, output)) == len(re.findall(asked, recorded))
