"""The recipes of docs/recipes.md run, in their order, on files in the shape that they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import peerage
from peerage.values.texts import visible

pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

PAGE = Path(__file__).parents[1] / "docs" / "recipes.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with battles in the shape of LMArena's releases (CC-BY-4.0), made here, and answers."""
    import numpy as np

    rng = np.random.default_rng(4)
    names = ["ann", "bob", "cleo"]
    rows = []
    for at in range(600):
        a, b = rng.permutation(3)[:2].tolist()
        luck = rng.random()
        winner = (
            "tie (bothbad)"
            if luck < 0.1
            else "tie"
            if luck < 0.2
            else "model_a"
            if luck < 0.6 - a / 6
            else "model_b"
        )
        tokens = rng.integers(10, 900, 2).tolist()
        rows.append(
            {
                "question_id": f"question {at}",
                "model_a": names[a],
                "model_b": names[b],
                "winner": winner,
                "judge": f"arena_user_{at % 40}",
                "language": "English" if at % 3 else "Polish",
                "conv_metadata": {
                    f"sum_assistant_{side}_tokens": count for side, count in zip("ab", tokens, strict=True)
                },
                "category_tag": {
                    "math_v0.1": {"math": at % 5 == 0},
                    "criteria_v0.1": {"specificity": at % 2 == 0},
                },
            }
        )
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "battles.parquet")
    answers = [
        f"{name},s{at},{int(rng.random() < chance)}\n"
        for at in range(40)
        for name, chance in (("ann", 0.9), ("bob", 0.2))
    ]
    (tmp_path / "answers.csv").write_text("player,challenge,solved\n" + "".join(answers), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_recipes_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    assert len(BLOCKS) >= 5
    for block in BLOCKS:
        exec(block, space)
    latex = (folder / "table.tex").read_text("utf-8")
    assert re.search(r"Player & \(all\) & English & Polish \\\\", latex)
    assert re.search(r"ann & [\d,]+ \$\\pm\$\d+ & ", latex)
    assert (folder / "table.csv").read_text("utf-8").count("\n") == 4
    assert np_close(space["upper"], space["fitted"].upper)
    assert "ann bob" in capsys.readouterr().out
    assert visible(space["table"].title) == "Mean scores, 95% intervals"


def np_close(one: Any, other: Any) -> bool:
    """Return whether two ways to an interval agree within a fifth of its usual width."""
    return bool(abs(one - other).max() < 12)


def test_from_votes_to_a_published_table_takes_eight_lines() -> None:
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 8


def test_shown_in_a_notebook_each_category_is_a_table(folder: Path) -> None:
    table = peerage.rate(folder / "battles.parquet", by="language")
    assert table._repr_html_().count("<table") == 3
