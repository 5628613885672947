"""`games check` names a draw that no seed gives, and what no record can hold, with the line."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from peerage.settings.game_file import load_file
from peerage.testing import findings

SOURCE = files("peerage.testing").joinpath("example.py").read_text("utf-8")
WORTH = "table.rng(seat.label).randint(1, 100)"
DRAW = "GAME = GameSpec(\n    draw=lambda rules, secret, number: {drawn},"
Problems = Callable[..., str]


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    def checked(name: str, *changes: tuple[str, str]) -> str:
        text = SOURCE
        for before, after in changes:
            assert before in text
            text = text.replace(before, after, 1)
        path = tmp_path / f"{name}.py"
        path.write_text(text.replace('name="example"', f'name="{name}"'))
        return "; ".join(finding.problem for finding in findings(load_file(path)) if finding.problem)

    return checked


def line(text: str, part: str) -> int:
    return next(at for at, row in enumerate(text.split("\n"), 1) if part in row)


def test_a_draw_with_the_module_random_is_called_that(problems: Problems) -> None:
    imports = ("from typing import", "import random\nfrom typing import")
    problem = problems("global", imports, (WORTH, "random.randint(1, 100)"))
    assert problem.startswith("it draws with the module `random` (")
    assert f"global.py, line {line(SOURCE, WORTH) + 1})" in problem
    assert "`random`" in problems(
        "drawing", imports, ("GAME = GameSpec(", DRAW.format(drawn='{"a": random.random()}'))
    )
    guess = ("rng.randint(0, 100))", "random.randint(0, 100))")
    assert "in `house` with its `rng`" in problems("house", imports, guess)


def test_what_else_changes_is_not_called_random(problems: Problems) -> None:
    imports = ("from typing import", "from random import Random\nfrom typing import")
    assert "it draws without a seed (" in problems("unseeded", imports, (WORTH, "Random().randint(1, 100)"))
    counted = ("def play(table):", "SEEN = []\n\n\ndef play(table):\n    SEEN.append(1)")
    problem = problems("counting", counted, (WORTH, "len(SEEN) % 90 + 5"))
    assert "a variable of the module outlives a match" in problem
    assert "random" not in problem
    assert problems("seeded", imports, (WORTH, 'Random(f"{table.seed}{seat.label}").randint(1, 100)')) == ""


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ('"worth": values', '"worth": set(values)', "Outcome.detail['worth'] is {"),
        (
            '"bid": bids',
            '"bid": {label: (bid,) for label, bid in bids.items()}',
            "Outcome.detail['bid']['A'] is (",
        ),
        ('"gain": gains', '"gain": {1: 2}', "Outcome.detail['gain'] is {1: 2}, a dict"),
        ('"gain": gains', '"gain": [1.0, float("nan")]', "Outcome.detail['gain'][1] is nan, a float"),
    ],
)
def test_what_is_no_json_is_named_with_its_key_and_line(
    problems: Problems, before: str, after: str, place: str
) -> None:
    problem = problems("plain", (before, after))
    assert problem.startswith(place)
    assert f"plain.py, line {line(SOURCE, before)})" in problem


def test_what_is_drawn_is_held_to_that_too(problems: Problems) -> None:
    problem = problems("deck", ("GAME = GameSpec(", DRAW.format(drawn='{"deck": {"a": {1, 2}}}')))
    assert problem.startswith("what `draw` returns['deck']['a'] is {1, 2}, a set (")
