"""Settings from a file: games in files, what an arena is for reading alone, and how mistakes are shown."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, Field, ValidationError

from peerage import games
from peerage.settings import SettingsError, load, loads
from peerage.settings.game_file import files_of, load_file
from peerage.settings.lineup import too_few
from peerage.settings.mistakes import _model_at, explain
from peerage.settings.pairing import usual_window
from peerage.settings.players.hours import closed_until, read_hours
from peerage.settings.shape import ArenaSettings
from peerage.settings.source import SettingsSource, dotted, parsed, shown

EXAMPLE = (Path(__file__).parents[2] / "src/peerage/testing/example.py").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena whose game is a file that this user has not run yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(games, "_FILES", {})
    (tmp_path / "sale.py").write_text(EXAMPLE, "utf-8")
    (tmp_path / "arena.yaml").write_text("game: ./sale.py\nplayers: [house:0.5, house:0.6]\n", "utf-8")
    return tmp_path


def test_a_game_s_file_is_run_to_play_and_by_nobody_who_only_reads(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.WARNING, "peerage"):
        assert load(folder, reading=True).game == "sale", "known by the name of its file"
    assert "is a program that you have not run yet, and reading an arena runs none" in caplog.text
    with pytest.raises(ImportError, match=r"then `peerage games check .*sale\.py` runs it$"):
        load_file(folder / "sale.py", reading=True)
    assert load(folder).game == "example"
    assert load(folder, reading=True).game == "example", "now this user has run it"
    assert load_file(folder / "sale.py") is load_file(folder / "sale.py", reading=True)
    monkeypatch.setattr(games, "_FILES", {})  # as in another process
    assert load_file(folder / "sale.py", reading=True).name == "example", "it is remembered"


def test_a_game_s_file_finds_what_lies_next_to_it_and_is_known_by_its_place(folder: Path) -> None:
    body = (folder / "sale.py").read_text("utf-8")
    (folder / "words.txt").write_text("one two", "utf-8")
    reads = "from pathlib import Path\nWORDS = Path(__file__).with_name('words.txt').read_text()\n"
    (folder / "sale.py").write_text(body.replace("from __future__ import annotations\n", "") + reads, "utf-8")
    game = load_file(folder / "sale.py")
    (file, release), *others = files_of([game.name, "duel"]).items()
    assert Path(file) == (folder / "sale.py").resolve()
    assert " sale.py@sha256:" in release
    assert others == [], "what is installed needs no file"


def test_several_games_may_be_files_too(folder: Path) -> None:
    for text in ("games: [./sale.py, duel]", "games: {./sale.py: 2, duel: 1}"):
        assert [*loads(f"{text}\nplayers: [house:0.5]", folder=folder).lineup] == ["example", "duel"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("1 / 0", r"bad\.py, line 1: ZeroDivisionError: division by zero"),
        ("x = 1\ndef (", r"bad\.py, line 2: SyntaxError: "),
        ("def f():\n    raise ValueError('no')\n\nf()", r"bad\.py, line 2: ValueError: no"),
        ("GAME = 3", r"bad\.py holds no GAME = GameSpec\(…\); `peerage games new NAME` writes an example$"),
        (None, r"the game's file .*bad\.py cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_with_a_game_s_file_is_told_with_its_line(
    body: str | None, told: str, folder: Path
) -> None:
    if body is not None:
        (folder / "bad.py").write_text(body, "utf-8")
    with pytest.raises(ImportError, match=told):
        load_file(folder / "bad.py")
    with pytest.raises(SettingsError, match=rf"^arena\.yaml, line 1, game: .*{told}"):
        loads("game: bad.py", folder=folder)


@pytest.mark.parametrize(
    ("concurrency", "per_round", "window"),
    [
        (1, 1.0, 2),  # two rounds
        (2, 1.0, 4),  # twice the concurrency
        (3, 1.0, 4),  # four rounds are fewer
        (8, 1.0, 8),  # never fewer than the concurrency
        (4, 3.0, 8),
        (6, 2.5, 10),
        (1, 2.5, 5),
        (100, 1.0, 32),
    ],
)
def test_as_many_matches_are_under_way_as_let_pairing_learn_early(
    concurrency: int, per_round: float, window: int
) -> None:
    assert usual_window(concurrency, per_round) == window


def test_one_game_of_several_alone() -> None:
    several = loads("games: {duel: {rules: {judges: 3}}, code-golf: 2}\nplayers: [house:0.5]")
    duel = several.alone("duel")
    assert (duel.game, duel.games, duel.rules, duel.players) == ("duel", {}, {"judges": 3}, several.players)


@pytest.mark.parametrize(
    ("players", "told"),
    [
        ("house:0.5", "players: found 1, and a match of 'trivia' has 2 contestants. Add lines under "
         "`players:`; `house:0.5` is a player that needs no key"),
        ("house:0.5, house:0.6", ""),
    ],
)  # fmt: skip
def test_seats_need_players(players: str, told: str) -> None:
    found = too_few(loads(f"game: trivia\nplayers: [{players}]"))
    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"), ({"a": 1}, "a mapping"), ([1], "a list"), ("x", "'x'"), (1.5, "1.5"),
        ("x" * 58, f"'{'x' * 58}'"), ("x" * 59, f"'{'x' * 58}…"),
    ],
)  # fmt: skip
def test_what_was_found_is_shown_in_a_few_words(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_place_is_named_by_its_deepest_part_that_stands_in_the_file() -> None:
    _, source = parsed("seed: 1\nplayers:\n  - model: x\n    price:\n      input: 1\n", "a.yaml")
    assert source.place(("players", 0, "price", "output")) == "a.yaml, line 4, players[1].price.output"
    assert source.place(("players", 1)) == "a.yaml, line 2, players[2]"
    assert source.place(("seed", "deeper")) == "a.yaml, line 1, seed.deeper"
    assert source.place(("rules",)) == "a.yaml, rules"
    assert source.place(()) == "a.yaml"
    assert dotted(("a", 0, 1, "b")) == "a[1][2].b"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: b\nc: {d\n", "a.yaml, line 3, column 1: expected ',' or '}', but got '<stream end>' while "
         "parsing a flow mapping; put text with special characters in quotes"),
        ("a: @b", "a.yaml, line 1, column 4: found character '@' that cannot start any token while scanning "
         "for the next token; put text with special characters in quotes"),
        ("a: *b", "a.yaml, line 1, column 4: found undefined alias 'b'; put text with special characters in "
         "quotes"),
        ("a: b\nc\nd: e", "a.yaml, line 3, column 1: could not find expected ':' while scanning a simple "
         "key; check the indentation and the colon of this line and the one above"),
        ("a\n\n\x07", "a.yaml, line 3: found the control character U+0007; remove it"),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(SettingsError) as wrong:
        parsed(text, "a.yaml")
    assert str(wrong.value) == told


class Leaf(BaseModel):
    deep: int = 0


class Tree(BaseModel):
    one: Leaf = Field(default_factory=Leaf)
    maybe: Leaf | None = None
    many: tuple[Leaf, ...] = ()
    named: dict[str, Leaf] = Field(default_factory=dict)
    plain: int = 0


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ((), Tree), (("one",), Leaf), (("maybe",), Leaf), (("many", 2), Leaf), (("named", "x"), Leaf),
        (("plain",), None), (("absent",), None), (("one", "deep"), None),
    ],
)  # fmt: skip
def test_the_model_behind_a_place_is_found(path: tuple[str | int, ...], model: object) -> None:
    assert _model_at(Tree, path) is model


def test_an_unknown_key_is_held_against_those_of_its_own_place() -> None:
    with pytest.raises(SettingsError, match=r"hosts\.gpu\.usd_per_our: unknown key; did you mean 'usd_per_h"):
        loads("hosts: {gpu: {usd_per_our: 1}}")
    assert set(ArenaSettings.model_fields) >= {"hosts", "players"}


@pytest.mark.parametrize("text", ["24:00-1:00", "9:60-10:00", "9:00-10:60", "9:00-24:01"])
def test_a_day_has_24_hours_of_60_minutes(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' is no time of day; hours go from 0:00 to 24:00"):
        read_hours(text)


def test_hours_of_another_zone_are_of_its_own_days() -> None:
    """On Sunday evening in London it is Monday in Auckland."""
    hours = read_hours("mon 0:00-24:00 Pacific/Auckland")
    london = datetime(2026, 11, 22, 18, 0, tzinfo=ZoneInfo("Europe/London"))
    now = round(london.timestamp() * 1000)
    assert closed_until(hours, now) is None
    ends = round(datetime(2026, 11, 24, tzinfo=ZoneInfo("Pacific/Auckland")).timestamp() * 1000)
    assert closed_until(hours, ends - 1) is None
    assert closed_until(hours, ends)
    assert closed_until(read_hours("23:59-24:00"), now) == now + (5 * 60 + 59) * 60_000


def test_a_stretch_that_began_yesterday_goes_on_where_it_is_already_tomorrow_in_greenwich() -> None:
    pacific = ZoneInfo("America/Los_Angeles")
    now, ends = (round(datetime(2026, 11, 23, hour, tzinfo=pacific).timestamp() * 1000) for hour in (17, 19))
    hours = read_hours("sun 20:00-19:00 America/Los_Angeles")
    assert closed_until(hours, now) is closed_until(hours, ends - 1) is None
    assert closed_until(hours, ends)


def test_rules_of_lists_that_are_none_are_told_how_a_list_is_written() -> None:
    class Rules(BaseModel):
        names: list[str] = []
        places: tuple[int, ...] = ()

    with pytest.raises(ValidationError) as wrong:
        Rules.model_validate({"names": "ada", "places": 3})
    assert explain(wrong.value, Rules, ("rules",), SettingsSource("x")) == [
        "x, rules.names: found 'ada'; expected a list (lines that begin with `- `)",
        "x, rules.places: found 3; expected a list (lines that begin with `- `)",
    ]


BOMB = "rules:\n  a: &a [x, x, x]\n" + "".join(
    f"  {name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, ", line 6: written out, the aliases here come to more than 10,000 values; write out"),
        ("rules: &a\n  judges: *a", ", line 1: an alias of the anchor here is within it; write it out"),
        ("a: 1\nb:\n  c: 1\n  c: 2", ", line 4: b.c is set again; line 3 already sets it"),
        ("players:\n\t- house:0.1", ", line 2, column 1: found a tab; YAML is indented with spaces"),
        ("name: a\nseed: 0755", ", line 2, seed: found '0755'; expected a number without zeros before it"),
        ("seed: 0o17", ", line 1, seed: found '0o17'; expected a whole number"),
        ("seed: 0x1F", ", line 1, seed: found '0x1F'; expected a whole number"),
        ("seed: 12:30:45", ", line 1, seed: found '12:30:45'; expected a whole number"),
        ("seed: yes", ", line 1, seed: found 'yes'; expected a whole number"),
        ("seed: true", ", line 1, seed: found true; expected a number"),
        ("name: true", ", line 1, name: found true; expected text; put it in quotes"),
        (f"seed: {'9' * 5000}", ", line 1, seed: found '999"),
        (f"seed: 0x{'f' * 5000}", ", line 1, seed: found '0xfff"),
        (f"a: 1\nrules: {'[' * 1000}", ", line 2: lists or mappings stand too deep in each other"),
        ("name: !!python/object:os.system x", ", line 1, column 7: could not determine a constructor"),
        ("name: a\n---\nname: b", ", line 2, column 1: but found another document"),
    ],
)
def test_what_yaml_hides_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(SettingsError) as wrong:
        loads(text)
    assert str(wrong.value).startswith(f"arena.yaml{told}")
    assert len(str(wrong.value).splitlines()[0]) < 200


def test_plain_words_are_texts_and_powers_are_numbers() -> None:
    for word in ("no", "yes", "on", "2024-01-01", "2024-13-45", "007", "12:30", "=", "1.2.3"):
        settings = loads(f"name: {word}\nplayers: [{{model: house:0.1, name: {word}}}]")
        assert (settings.name, settings.players[0].name) == (word, word)
    for text, dollars in (("1e3", 1000), ("1_000", 1000), (".5", 0.5), ("2.", 2), ("1.5e+1", 15), ("0", 0)):
        assert loads(f"budget: {text}").budget.arena == dollars
    for word, probe in (("no", False), ("off", False), ("False", False), ("on", True)):
        assert loads(f"engine: {{probe: {word}}}").engine.probe == probe
    players = loads("players: [&x {model: house:0.1}, {<<: *x, name: b}]").players
    assert [player.name for player in players] == ["house:0.1", "b"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_characters_are_told(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "arena.yaml").write_bytes("name: x".encode(encoding))
    with pytest.raises(SettingsError, match="is written in UTF-16; save it as UTF-8"):
        load(tmp_path)
