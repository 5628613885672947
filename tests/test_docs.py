"""The generated pages are what the code says, and every command is documented."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.cli.share.site import _welcome
from peerage.games import GAMES
from peerage.settings import ArenaSettings, PlayerSettings

DOCS = Path(__file__).parents[1] / "docs"
GAMES_HERE = DOCS.parent / "src" / "peerage" / "games"
SOURCES = sorted([path for kind in ("py", "md", "html") for path in GAMES_HERE.parent.rglob(f"*.{kind}")])
GAME_PAGES = sorted(GAMES_HERE.glob("*/README.md"))


WITH_EXAMPLES = [
    ".".join(path.relative_to(DOCS.parent / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((DOCS.parent / "src").rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings_come_to_what_they_say(module: str) -> None:
    tried = doctest.testmod(importlib.import_module(module))
    assert tried.attempted
    assert not tried.failed, "what was expected and what came stand above"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    return script("generate")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "commands.md", "json.md", "games.md", "python.md"])
def test_a_page_is_as_generated(generate: ModuleType, page: str) -> None:
    assert (DOCS / page).read_text("utf-8") == generate.pages()[page], "run `make docs`"


def test_the_picture_of_the_house_is_as_the_imports_are() -> None:
    house = script("house")
    assert house.PAGE.read_text("utf-8") == house.page(), "run `make docs`"


def test_usage_tells_what_may_be_left_out(generate: ModuleType) -> None:
    page = generate.pages()["commands.md"]
    assert "`peerage report [OUT] [OPTIONS]`" in page
    assert "| `OUT` | The file to write. | report.html in the arena's folder |" in page
    assert "`peerage match [NUMBER] [OPTIONS]`" in page
    assert "`peerage rate FILE... [OPTIONS]`" in page


def test_serve_says_what_its_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "serve.md").read_text("utf-8")
    monkeypatch.setattr("socket.gethostname", lambda: "workstation")
    server: Any = SimpleNamespace(
        results={"match": 412},
        settings=SimpleNamespace(name="my-arena"),
        links={},
        experts={},
        folder=Path("."),
    )
    assert "\n".join(_welcome(server, 8000, None, False, False)) in page
    *there, _ = _welcome(server, 8000, "c3VjaCBhIHRva2VuIGlzIGRyYXdu", False, False)
    assert "\n".join(there) in page


def _name(page: Path) -> str:
    return str(page.relative_to(DOCS.parent))


@pytest.mark.parametrize(
    "page", sorted([*DOCS.parent.glob("*.md"), *DOCS.rglob("*.md"), *GAME_PAGES]), ids=_name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        target, _, place = link.partition("#")
        if "://" in target:
            continue
        found = page.parent / target if target else page
        assert found.exists(), link
        if place and found.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", found.read_text("utf-8"), re.MULTILINE)
            assert place in {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}, link


def test_every_command_and_option_that_is_named_is_there() -> None:
    """Pages, examples, messages and help texts name no command or option that went."""
    commands, top = get_command(app).commands, DOCS.parent  # type: ignore[attr-defined]
    named = re.compile(r"(?:`|\$ |^[#\s]*)peerage\s+([a-z]+)\b([^`|;&#(\n]*)", re.MULTILINE)
    wrong, seen = [], 0
    for place in (*top.glob("*.md"), *DOCS.rglob("*.md"), *(top / "examples").rglob("*.[my]*"), *SOURCES):
        for name, more in named.findall(place.read_text("utf-8")):
            command, seen = commands.get(name), seen + 1
            inner = (command, *getattr(command, "commands", {}).values())
            options = {option for one in inner if one for param in one.params for option in param.opts}
            stated = re.findall(r"(?<![\w-])--[a-z][a-z-]*", more)
            if command is None or not {*stated} <= options | {"--help"}:
                wrong.append(f"{_name(place)}: peerage {name}{more}")
    assert (wrong, seen > 400) == ([], True)


@pytest.mark.parametrize("page", sorted([*DOCS.parent.glob("*.md"), *DOCS.glob("*.md")]), ids=_name)
def test_what_pages_import_is_there(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    for module, names in re.findall(
        r"^from (peerage[\w.]*) import ([\w, ]+)$", page.read_text("utf-8"), re.MULTILINE
    ):
        there = importlib.import_module(module)
        assert not [name for name in names.split(", ") if not hasattr(there, name)], module


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_page_and_it_shows_in_the_terminal(name: str) -> None:
    page = CliRunner().invoke(app, ["games", "about", name])
    assert page.exit_code == 0
    assert page.stdout.startswith("# ")
    own = (GAMES_HERE / name.replace("-", "_") / "README.md").read_text("utf-8").rstrip()
    assert page.stdout.partition("\n## What a preset stands for")[0].rstrip() == own


@pytest.mark.parametrize("page", GAME_PAGES, ids=lambda page: page.parent.name)
def test_the_first_example_of_a_game_shows_its_defaults(page: Path) -> None:
    """Numbers and words of its rules; lists there are examples."""
    shown = yaml.safe_load(
        (re.findall(r"```yaml\n(game:.*?)```", page.read_text("utf-8"), re.DOTALL) or ["{}"])[0]
    )
    rules = shown.get("rules", {})
    defaults = GAMES[shown.get("game", "duel")].rules.model_fields
    assert rules == {
        key: value if isinstance(value, list | dict) else defaults[key].default
        for key, value in rules.items()
    }


def test_json_is_as_documented(tmp_path: Path) -> None:
    """Every key that a command writes stands on the page."""
    page = (DOCS / "json.md").read_text("utf-8")
    cli, here = CliRunner(), ["--dir", str(tmp_path)]
    assert cli.invoke(app, ["demo", "--matches", "2", *here]).exit_code == 0
    for words in (
        ["leaderboard"],
        ["stats"],
        ["match", "1"],
        ["plan"],
        ["plan", "--matches", "5"],
        ["verify"],
        ["replay"],
        ["export"],
        ["players"],
        ["games"],
    ):
        place = [] if words == ["games"] else here
        found = json.loads(cli.invoke(app, [*words, *place, "--format", "json"]).stdout)
        for key in found[0] if isinstance(found, list) else found:
            assert re.search(rf"^{key}: |`{key}`", page, re.MULTILINE), f"{words[0]}: {key}"


@pytest.mark.parametrize("name", get_command(app).commands)  # type: ignore[attr-defined]
def test_every_command_has_help_and_every_option_too(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    assert command.help
    assert len(command.get_short_help_str(100)) <= 62, "the list of commands cuts it"
    for option in command.params:
        assert getattr(option, "help", None) or option.param_type_name == "argument", option.name
    assert f"peerage {name}" in (DOCS / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("model", [ArenaSettings, PlayerSettings, *(game.rules for game in GAMES.values())])
def test_every_key_says_what_it_means(model: type) -> None:
    page = (DOCS / "settings.md").read_text("utf-8")
    for key, field in model.model_fields.items():  # type: ignore[attr-defined]
        assert field.description, key
        assert key == "cost_unit" or f"`{field.alias or key}`" in page


@pytest.mark.parametrize(
    "word",
    [
        *("rubric", "assertion", "few-shot", "system prompt", "multi-turn", "regression test", "accuracy"),
        *("template", "promptfoo", "criteria", "conversation"),
    ],
)
def test_a_word_that_people_look_for_is_on_a_page_where_they_begin(word: str) -> None:
    pages = [DOCS.parent / "README.md", DOCS / "quickstart.md", DOCS / "tasks.md"]
    assert any(word in " ".join(page.read_text("utf-8").split()).lower() for page in pages)
