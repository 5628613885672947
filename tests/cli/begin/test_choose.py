"""From a file of tasks to a decision: the journey of `peerage choose`, and mistakes on the way."""

from __future__ import annotations

import re
import shutil
import wave
from pathlib import Path

import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.game.media import media_in
from peerage.players.keys import PROVIDERS
from peerage.settings import load, rules_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "choose" / "tasks.csv"
MODELS = ("openai:gpt-5-mini", "anthropic:claude-haiku-4-5")
HOUSE = ("house:0.9", "house:0.4")
LOCAL = "{model: 'openai:x', base_url: 'http://127.0.0.1:9/v1', name: mine"
PRICED = f"{LOCAL}, price: {{input: 1, output: 1}}}}"
GOOD = "prompt,expected\n" + "".join([f"What is {n}+{n}?,{2 * n}\n" for n in range(2, 62)])

cli = CliRunner()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, and no keys."""
    monkeypatch.chdir(tmp_path)
    for provider in PROVIDERS.values():
        for name in provider.key_env:
            monkeypatch.delenv(name, raising=False)
    return tmp_path


def peerage(*words: str, code: int = 0) -> str:
    done = cli.invoke(app, [*words])
    assert done.exit_code == code, done.output
    return done.output


# ------------------------------------------------------------------------------------------ the journey


def test_without_keys_mock_answers_show_what_one_will_get(here: Path) -> None:
    shutil.copy(EXAMPLE, here)
    told = peerage("choose", "tasks.csv", *MODELS, "google:gemini-2.5-flash", "--matches", "60")
    first = told.splitlines()[0]
    assert first.startswith("mock answers: OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY are not set")
    assert "house:0.95" in told
    assert "done: 60 matches" in told or "until best known: house:0.95 is the best" in told
    settings = load(here / "tasks-mock")
    assert [one.model for one in settings.players] == ["house:0.95", "house:0.85", "house:0.75"]
    assert not (here / "tasks").exists()  # which is for the real ones


def test_without_players_too(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    told = peerage("choose", "t.csv", "--matches", "20")
    assert told.startswith("mock answers: no player is named")
    assert len(load(here / "t-mock").players) == 4
    again = peerage("choose", "--dir", "t-mock", "--matches", "21")
    assert again.startswith("mock answers: house players of known skill answer here\n")
    assert again.count("mock answers") == 1


def test_mock_answers_of_a_folder_go_next_to_it(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    for folder, place in ((".", "t-mock"), ("deep/x", "deep/x-mock"), (str(here / "y/"), "y-mock")):
        told = peerage("choose", "t.csv", *MODELS, "--matches", "1", "--dir", folder)
        assert f"{place}/arena.yaml: 2 players, 60 tasks" in told


def test_pictures_lie_next_to_the_file_of_tasks(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "t.csv").write_text("prompt,image,expected\n" + "What?,1.png,1\nWhat?,2.png,2\n")
    for number in (1, 2):
        Image.new("RGB", (number, 1)).save(here / "mine" / f"{number}.png")
    peerage("choose", "mine/t.csv", *HOUSE, "--matches", "2", "--yes")
    settings = load(here / "t")
    asked = media_in([text for task in rules_of(settings).tasks for _, text in task.messages])
    assert [media.width for media in asked.values()] == [1, 2]
    with open_arena(here / "t") as arena:
        assert arena.ledger.media(asked) == {digest: settings.shelf.get(digest) for digest in asked}
    with monkeypatch.context() as patched:
        patched.setattr("peerage.settings.media.admitted", lambda *_: pytest.fail("decoded again"))
        peerage("choose", "mine/t.csv", *HOUSE, "--matches", "2", "--yes")
    with wave.open(str(here / "mine" / "long.wav"), "wb") as sound:
        sound.setparams((1, 1, 100, 0, "NONE", ""))
        sound.writeframes(bytes(100 * 301))
    (here / "mine" / "t.csv").write_text("prompt,audio,expected\nWhat?,long.wav,1\n")
    told = peerage("choose", "mine/t.csv", *HOUSE, code=2)
    assert "301 s, and at most 300 are taken; see `media: seconds`" in told
    with (here / "t" / "arena.yaml").open("a") as settings_file:
        settings_file.write("media: {seconds: 400}\n")
    peerage("choose", "mine/t.csv", *HOUSE, "--matches", "4", "--yes")
    (here / "mine" / "t.csv").write_text("prompt,image,expected\n" + "What?,1.png,1\nWhat?,2.png,2\n")
    (here / "mine" / "2.png").write_text("<html>")
    told = peerage("choose", "mine/t.csv", *HOUSE, code=2)
    assert "mine/t.csv: line 3, column image: mine/2.png: no picture or sound that is known" in told


def test_the_same_command_or_none_in_the_folder_goes_on(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "t.csv").write_text(GOOD)
    words = ("choose", "t.csv", *HOUSE)
    told = peerage(*words, "--matches", "2")
    assert told.startswith("mock answers: house players of known skill answer here\nwrote t/arena.yaml")
    again = peerage(*words, "--matches", "4")
    assert "done: 4 matches, 2 of them now" in again
    assert "wrote" not in again
    assert "done: 5 matches, 1 of them now" in peerage("choose", "--dir", "t", "--matches", "5")
    monkeypatch.chdir(here / "t")
    assert "done: 6 matches, 1 of them now" in peerage("choose", "--matches", "6")
    assert "done: 8 matches, 2 of them now" in peerage("run", "--more", "2")
    with open_arena(here / "t") as arena:
        assert not arena.verify().problems


def test_an_arena_that_is_there_is_gone_on_with(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no players named, and with models whose keys are gone: no mock answers take its place."""
    (here / "t.csv").write_text(GOOD)
    peerage("choose", "t.csv", *HOUSE, "--matches", "3")
    assert "done: 4 matches" in peerage("choose", "t.csv", "--matches", "4")
    shutil.rmtree(here / "t")
    peerage("init", "t.csv", *MODELS, "--dir", "t")
    assert "OPENAI_API_KEY is not set" in peerage("choose", "t.csv", *MODELS, code=2)
    assert not (here / "t-mock").exists()


def test_an_edited_arena_goes_on_as_long_as_it_chooses_among_the_same(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    peerage("choose", "t.csv", *HOUSE, "--matches", "3")
    path = here / "t" / "arena.yaml"
    path.write_text(path.read_text().replace("name: t\n", "name: sums\n"))
    assert "sums: tasks, 2 players" in peerage("choose", "t.csv", *HOUSE, "--matches", "4")


def test_what_is_written_can_be_read_and_edited(here: Path) -> None:
    """Paths are relative to the folder, from wherever they were typed; names that YAML would misread are
    quoted."""
    (here / "in").mkdir()
    (here / "in" / "my tasks.csv").write_text("word\nhello\nworld\n")
    (here / "in" / "t.md").write_text("Translate {{word}}.")
    (here / "in" / "r.md").write_text("Short is good.")
    (here / "v2.md").write_text("Be brief.")
    v2 = "{model: openai:gpt-5-mini, name: 'v2: brief', system_prompt: {file: v2.md}}"
    more = ("--template", "in/t.md", "--rubric", "in/r.md", "--judge", "google:gemini-2.5-flash")
    out = ("--dir", "out/deep", "--name", "no: 'ne")
    told = peerage("init", "in/my tasks.csv", "openai:gpt-5-mini", v2, *more, *out)
    assert "next: peerage choose --dir out/deep, or peerage run --dir out/deep" in told
    stated = yaml.safe_load((here / "out" / "deep" / "arena.yaml").read_text())
    assert stated["tasks"] == {
        "file": "../../in/my tasks.csv", "template": {"file": "../../in/t.md"}
    }  # fmt: skip
    settings = load(here / "out" / "deep")
    assert settings.name == "no: 'ne"
    assert [one.name for one in settings.players] == ["openai:gpt-5-mini", "v2: brief"]
    assert settings.players[1].system_prompt == "Be brief."
    assert [one.name for one in settings.judges] == ["google:gemini-2.5-flash"]
    assert settings.budget.arena == 5
    assert [task.messages[0][1] for task in rules_of(settings).tasks] == [
        "Translate hello.",
        "Translate world.",
    ]


@pytest.mark.parametrize(("stated", "found"), [("$7.50", 7.5), ("12", 12.0), ("", 5.0)])
def test_the_budget_may_be_written_as_people_do(here: Path, stated: str, found: float) -> None:
    (here / "t.csv").write_text(GOOD)
    words = ("t.csv", PRICED, "house:0.5", *(("--budget", stated) if stated else ()))
    peerage("choose", *words, code=1)  # nobody is at its server
    assert load(here / "t").budget.arena == found


def test_another_setting_of_a_player_than_that_of_the_arena_is_told(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    (here / "v2.md").write_text("Be brief.")
    price = "{model: 'house:0.9', price: {input: %s, output: 1}}"
    v2 = "{model: 'house:0.9', name: v2, system_prompt: {file: v2.md}}"
    peerage("choose", "t.csv", price % 1, v2, "--matches", "1")
    peerage("choose", "t.csv", price % 1, v2, "--matches", "2")
    told = peerage("choose", "t.csv", price % 2, v2, code=2)
    assert "t/arena.yaml says another price of house:0.9. Edit it and" in " ".join(told.split())
    told = peerage("choose", "t.csv", price % 1, v2.replace("v2,", "v3,"), code=2)
    assert "says players house:0.9, v2, not house:0.9, v3. Edit" in " ".join(told.split())


def test_more_matches_are_played_although_the_best_is_known(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    told = peerage("choose", "t.csv", "house:0.95", "house:0.05")
    assert "until best known: house:0.95 is the best" in told
    played = int(re.findall(r"done: (\d+) matches", told)[0])
    again = peerage("choose", "--dir", "t", "--yes")
    assert "until best known: house:0.95 is the best already; `peerage run --dir t --more 20`" in again
    assert f"done: {played} matches, 0 of them now" in again
    assert f"done: {played + 5} matches, 5 of them" in peerage("run", "--dir", "t", "--more", "5", "--yes")
    assert "0 of them now" in peerage("run", "--dir", "t", "--until", "best known", "--more", "5", "--yes")


def test_the_judge_that_is_offered_does_not_play(here: Path) -> None:
    (here / "t.csv").write_text("prompt\nWrite a poem.\n")
    told = peerage("choose", "t.csv", "anthropic:claude-haiku-4-5", "openai:gpt-5-mini", code=2)
    assert "does not play itself as --judge, such as --judge google:" in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "t.csv house:0.9 house:0.3",
            "says players house:0.9, house:0.4, not house:0.9, house:0.3. Edit it and",
        ),
        ("t.csv house:0.9 house:0.4 --judge house:0.8", "says judges none, not house:0.8. Edit it"),
        ("u/t.csv house:0.9 house:0.4", r"says tasks \.\./t\.csv, not u/t\.csv. Edit it"),
        ("t.csv house:0.9 house:0.4 --template t.md", "says template of its own, not t.md"),
    ],
)
def test_other_arguments_than_those_of_the_arena_are_told(here: Path, words: str, told: str) -> None:
    (here / "u").mkdir()
    for place in ("t.csv", "u/t.csv"):
        (here / place).write_text(GOOD)
    (here / "t.md").write_text("{{prompt}}")
    peerage("choose", "t.csv", *HOUSE, "--matches", "1")
    found = " ".join(peerage("choose", *words.split(), code=2).split())
    assert re.search(f"t/arena.yaml {told}", found), found
    assert "run `peerage choose --dir t` to go on there, or choose elsewhere with --dir FOLDER" in found


# --------------------------------------------------------------------------------------------- mistakes


MISTAKES = yaml.safe_load((Path(__file__).parent / "choose_mistakes.yaml").read_text("utf-8"))


def test_there_are_thirty() -> None:
    assert len(MISTAKES) >= 30


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_by_one_sentence_with_the_remedy(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = MISTAKES[name]
    for file, text in {"t.csv": GOOD, **mistake.get("files", {})}.items():
        (here / file).parent.mkdir(exist_ok=True)
        (here / file).write_text(text)
    for key in filter(None, mistake.get("keys", "").split(",")):
        monkeypatch.setenv(key, "no-key")
    words = re.sub(r"\bA\b", MODELS[0], re.sub(r"\bB\b", MODELS[1], mistake["words"]))
    done = cli.invoke(app, ["choose", *(words.split("|") if "|" in words else words.split())])
    told = " ".join(done.stderr.split())
    assert done.exit_code == mistake.get("code", 2), done.output
    assert re.search(mistake["told"], told), told
    assert "Traceback" not in done.output
    assert "Internal error" not in done.output
    assert len(told) < 500
    assert not [*here.glob("*/arena.db")]


def test_without_categories_and_prices_the_decision_speaks_of_neither(here: Path) -> None:
    (here / "t.csv").write_text(GOOD)
    told = peerage("choose", "t.csv", "house:0.95", "house:0.05")
    assert "Worst at: a task that it failed." in told
    assert "Per 1,000" not in told
    assert not re.search(r"%: \S+ \(match \d+\)", told)


@pytest.mark.parametrize(
    "remark", ["x finds all answers alike. Exclude it?", "x leans to the answer shown first."]
)
def test_how_to_see_the_table_without_a_judge_is_said(
    remark: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "t.csv").write_text(GOOD)
    peerage("choose", "t.csv", *HOUSE, "--matches", "1")
    monkeypatch.setattr("peerage.views.judges.favours.remarks", lambda *_, **__: [remark])
    told = " ".join(peerage("stats", "--of", "judges", "--dir", "t").split())
    assert remark in told
    assert ("`peerage leaderboard --dir t --without-judge NAME`" in told) == remark.endswith("?")
