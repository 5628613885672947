"""Numbers on the command line keep the bounds of settings; where they do not, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.settings import ArenaSettings, BudgetSettings, Engine, SettingsError, with_option

ARENA = "players: [house:0.3, house:0.4, house:0.5, house:0.6, house:0.7, house:0.8]\n"


KEYS = {
    ("peerage choose", "budget"),
    ("peerage demo", "seed"),
    ("peerage init", "seed"),
    *(("peerage run", key) for key in ("seed", "concurrency", "budget")),
    ("peerage rejudge", "budget"),
}
"""Commands with the options that are held to the bounds of the settings' key of that name."""


def refused(*words: str) -> str:
    """What a command that must end with exit code 2 says."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize(
    "option",
    [
        *("--budget=nan", "--budget=inf", "--budget=-1", "--budget=1e10"),
        *("--concurrency=0", "--concurrency=1000001", f"--concurrency={10**30}"),
        *(f"--seed={10**18 + 1}", f"--seed=-{10**30}"),
        *("--max-matches=0", f"--max-matches={10**30}", "--batch-size=0", f"--batch-size={10**30}"),
    ],
)
def test_numbers_of_a_run_keep_their_bounds(tmp_path: Path, option: str) -> None:
    (tmp_path / "arena.yaml").write_text(ARENA)
    told = refused("run", "--dir", str(tmp_path), option)
    assert option.partition("=")[0].removeprefix("--max-").split("-")[-1] in told
    assert not (tmp_path / "arena.db").exists()


@pytest.mark.parametrize("command", ["demo", "init"])
def test_a_seed_out_of_bounds_writes_no_arena(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert "--seed" in refused(command, "--dir", str(tmp_path / "arena"), f"--seed={10**30}")
    assert not (tmp_path / "arena").exists()


def test_an_option_has_the_bounds_of_its_key() -> None:
    assert with_option(Engine(), "concurrency", 5, "--concurrency") == Engine(concurrency=5)
    assert with_option(BudgetSettings(arena=1), "arena", None, "--budget") == BudgetSettings()
    assert with_option(ArenaSettings(), "seed", -3, "--seed").seed == -3
    for found, value, expected in ((0, 0, "at least 1"), ("nan", float("nan"), "a finite number")):
        model: Any = Engine() if value == 0 else BudgetSettings()
        key = "concurrency" if value == 0 else "arena"
        with pytest.raises(SettingsError, match=f"^--x: found {found}; expected {expected}$"):
            with_option(model, key, value, "--x")


@pytest.mark.parametrize("option", ["k", "initial", "mu", "sigma", "beta", "tau", "draw-probability"])
def test_no_rating_has_a_setting_beyond_reason(tmp_path: Path, option: str) -> None:
    (tmp_path / "x.csv").write_text("model_a,model_b,winner\na,b,model_a\n")
    for value in ("nan", "inf", "1e308", "-1e308"):
        assert f"--{option}" in refused("rate", str(tmp_path / "x.csv"), f"--{option}={value}")


@pytest.mark.parametrize("option", ["sd", "accuracy", "usd-per-match"])
def test_no_simulation_is_of_nan(option: str) -> None:
    assert f"--{option}" in refused("simulate", f"--{option}=nan")


def test_every_number_is_bounded_by_its_option_or_by_its_key() -> None:
    unbounded = [
        f"{name} {param.opts[0]}"
        for name, command in commands(get_command(app))
        for param in command.params
        if param.bare_type() in ("int", "float") and param.max is None and (name, param.name) not in KEYS
    ]
    assert unbounded == []


def commands(command: Any, name: str = "peerage") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for part, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {part}")
