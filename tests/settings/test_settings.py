"""Every mistake in `arena.yaml` is told with file, line, key, finding and mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from peerage.engine.match.plans import policy_of
from peerage.games import GAMES
from peerage.playing.requirements import with_playable
from peerage.scheduling.standing import BEST_FIRST
from peerage.settings import (
    ArenaSettings,
    PlayerSettings,
    SettingsError,
    enough_players,
    family_of,
    load,
    loads,
    rules_of,
)
from peerage.settings.players.model_names import words_of
from peerage.settings.players.player import suggest
from peerage.settings.source import text_of

HOUSE = "players:\n" + "".join(f"  - house:0.{at}\n" for at in range(1, 9))


def complaint(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        loads(text)
    return str(caught.value)


def test_a_line_is_enough_for_a_player() -> None:
    settings = loads("players:\n  - house:0.85\n  - {model: openai:gpt-5-mini, name: mini}\n")
    assert [player.name for player in settings.players] == ["house:0.85", "mini"]
    assert [player.provider for player in settings.players] == ["house", "openai"]
    assert settings.game == "duel"
    assert settings.rating.propagation_width == 50


def test_a_number_is_the_arenas_budget() -> None:
    assert loads("budget: 5").budget.arena == 5
    assert loads("budget: null").budget.arena is None
    assert loads("budget: {arena: 5, player: 1}").budget.player == 1


def test_settings_are_frozen_and_hold_their_ground_in_python() -> None:
    settings = ArenaSettings(players=(PlayerSettings(model="house:0.5"),))
    with pytest.raises(ValueError, match="frozen"):
        settings.seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "arena.yaml is empty; `peerage init` writes one to start from"),
        ("# only a comment\n", "arena.yaml is empty; `peerage init` writes one to start from"),
        ("- a\n- b", "arena.yaml: found a list; expected `key: value` lines such as `players:`"),
        ("just text", "arena.yaml: found 'just text'; expected `key: value` lines such as `players:`"),
        ("seed: 1\nnmae: x", "arena.yaml, line 2, nmae: unknown key; did you mean 'name'?"),
        (
            "players:\n  - {model: openai:x, temperature: hot}",
            "arena.yaml, line 2, players[1].temperature: found 'hot'; expected a number",
        ),
        (
            "players:\n  - house:0.1\n  - model: house:0.2\n    price: {input: 1, outptu: 2}",
            "arena.yaml, line 4, players[2].price.outptu: unknown key; did you mean 'output'?",
        ),
        ("seed: 1.5", "arena.yaml, line 1, seed: found 1.5; expected a whole number"),
        (
            "game: logic\nrules: {difficulty: 11}",
            "arena.yaml, line 2, rules.difficulty: found 11; expected at most 10, or 'auto'",
        ),
        (
            "game: logic\nrules: {difficulty: atuo}",
            "arena.yaml, line 2, rules.difficulty: found 'atuo'; expected a whole number, or 'auto'; did you "
            "mean 'auto'?",
        ),
        (
            "games: {market: {rules: {rotate: often}}}",
            "arena.yaml, line 1, games.market.rules.rotate: found 'often'; expected true or false, or "
            "'fresh'",
        ),
        (
            "engine:\n  concurrency: 0",
            "arena.yaml, line 2, engine.concurrency: found 0; expected at least 1",
        ),
        (
            "pairing: {per: dolar}",
            "arena.yaml, line 1, pairing.per: found 'dolar'; expected 'match' or 'dollar'; did you mean "
            "'dollar'?",
        ),
        (
            "budget: true",
            "arena.yaml, line 1, budget: found true; expected a number of dollars or indented `key: value` "
            "lines",
        ),
        (
            "players: house:0.5",
            "arena.yaml, line 1, players: found 'house:0.5'; expected a list (lines that begin with `- `)",
        ),
        (
            "players:\n  - {model: house:0.2, name: 12}",
            "arena.yaml, line 2, players[1].name: found 12; expected text; put it in quotes",
        ),
        ("name: false", "arena.yaml, line 1, name: found false; expected text; put it in quotes"),
        (
            "players:\n  - model: house:0.1\n    name: a\n  - model: house:0.2\n    name: a",
            "arena.yaml: players 1 and 2 are both named 'a'; give one of them another `name`",
        ),
        ("game: duell", "arena.yaml, line 1, game: no game is called 'duell'; did you mean 'duel'?"),
        (
            "game: kuhn-poker",
            "arena.yaml, line 1, game: no game is called 'kuhn-poker'; did you mean 'openspiel-kuhn-poker'?",
        ),
        (
            "players:\n - opnai:gpt-5",
            "arena.yaml, line 2, players[1]: no provider is called 'opnai'; did you mean 'openai'? (write "
            "`provider:model`, such as `openai:gpt-5-mini`; for a server of your own, `openai:MODEL` with "
            "its `base_url`)",
        ),
        (
            "players: ['house:2']",
            "arena.yaml, line 1, players[1]: 'house:2': a house player's skill is a number from 0 to 1",
        ),
        (
            "players: [{model: openai:x, faults: {slow: 1}}]",
            "arena.yaml, line 1, players[1]: 'openai:x': only house players (`house:0.5`) take `faults`",
        ),
        (
            "ledger: arena.db",
            "arena.yaml, line 1, ledger: 'arena.db' is no address of a ledger; write `sqlite:///arena.db`, "
            "`postgresql://HOST/DATABASE`, `mongodb://HOST/DATABASE`, or `$DATABASE_URL` for the address in "
            "that variable",
        ),
        (
            "ledger: postgresql://me:hunter2@host:5432/db?sslmode=require",
            "arena.yaml, line 1, ledger: the address of the ledger holds a password, and this file is for "
            "others too; write `DATABASE_URL=postgresql://USER:PASSWORD@host:5432/db` into .env and `ledger: "
            "$DATABASE_URL` here",
        ),
        (
            "ledger: mongodb://me:hunter2@host/db",
            "arena.yaml, line 1, ledger: the address of the ledger holds a password, and this file is for "
            "others too; write `MONGODB_URI=mongodb://USER:PASSWORD@host/db` into .env and `ledger: "
            "$MONGODB_URI` here",
        ),
        ("rules:\n  jduges: 4", "arena.yaml, line 2, rules.jduges: unknown key; did you mean 'judges'?"),
        ("rules:\n  judges: 0", "arena.yaml, line 2, rules.judges: found 0; expected at least 1"),
        (
            "rules: {cost_unit: {seconds: 1}}",
            "arena.yaml, line 1, rules.cost_unit: set it for the whole arena, under `rating:`",
        ),
        # YAML itself
        ("seed: 1\nname: x\nseed: 2", "arena.yaml, line 3: seed is set again; line 1 already sets it"),
        (
            "players:\n - model: house:0.1\n   name: a\n   name: b",
            "arena.yaml, line 4: players[1].name is set again; line 3 already sets it",
        ),
        ("players:\n\t- x", "arena.yaml, line 2, column 1: found a tab; YAML is indented with spaces"),
        (
            "name: a: b",
            "arena.yaml, line 1, column 8: found a second `: ` in one line; put the value in quotes, or the "
            "key on a line of its own",
        ),
        ("name: 'x\nseed: 1", "arena.yaml, line 2, column 8: the quote opened in line 1 is never closed"),
        ("name: \x00", "arena.yaml, line 1: found the control character U+0000; remove it"),
        ("1: 2", "arena.yaml, line 1: found '1' as a key; a key must be text, so put it in quotes"),
        (
            'name: "a\\u202eb"\nplayers: [{model: house:0.1, name: "a\\u202eb"}]',
            "arena.yaml, line 2, players[1].name: 'a\ufffdb' holds characters that cannot be seen; retype it",
        ),
    ],
)
def test_one_mistake_one_line(text: str, told: str) -> None:
    assert complaint(text) == told


def test_a_misspelt_key_is_reported_once_and_a_missing_one_with_its_meaning() -> None:
    assert complaint("players: [{modle: x}]") == (
        "arena.yaml, line 1, players[1].modle: unknown key; did you mean 'model'?"
    )
    missing = complaint("players: [{temperature: 1}]")
    assert missing.startswith("arena.yaml, line 1, players[1].model: missing; expected what answers:")


def test_all_mistakes_are_told_at_once() -> None:
    told = complaint("rating: {k_factor: -1}\nseed: x\nrules: {judges: 0}").splitlines()
    assert sorted(line.split(", ")[2].split(":")[0] for line in told) == [
        "rating.k_factor",
        "rules.judges",
        "seed",
    ]


@pytest.mark.parametrize(
    "text", ["[" * 3000, "a: &a [*a]", "name: !!python/name:os.system", "%x", "a:\n- b\nc"]
)
def test_hostile_yaml_is_refused_and_never_run(text: str) -> None:
    assert complaint(text).startswith("arena.yaml")


def test_a_secret_under_a_wrong_key_is_not_repeated() -> None:
    assert "sk-123" not in complaint("players: [{model: openai:x, key: sk-123}]")


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"arena.yaml does not exist. `peerage init` writes one"):
            load(tmp_path)

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        (tmp_path / "arena.yaml").mkdir()
        with pytest.raises(SettingsError, match="is a folder"):
            load(tmp_path)

    def test_a_byte_order_mark_is_no_mistake(self, tmp_path: Path) -> None:
        (tmp_path / "arena.yaml").write_bytes(b"\xef\xbb\xbf" + b"name: b\n")
        assert load(tmp_path).name == "b"

    def test_other_encodings(self, tmp_path: Path) -> None:
        (tmp_path / "arena.yaml").write_bytes("seed: 1\nname: café\n".encode("latin-1"))
        with pytest.raises(SettingsError, match="line 2, column 10: found the byte 0xe9, which is not UTF-8"):
            load(tmp_path)
        (tmp_path / "arena.yaml").write_bytes("name: x".encode("utf-16"))
        with pytest.raises(SettingsError, match="UTF-16; save it as UTF-8"):
            load(tmp_path)


class TestTasks:
    def write(self, folder: Path, lines: str) -> None:
        (folder / "arena.yaml").write_text("seed: 1\ntasks: my.jsonl\n", "utf-8")
        (folder / "my.jsonl").write_text(lines, "utf-8")

    def test_one_a_line(self, tmp_path: Path) -> None:
        self.write(
            tmp_path,
            '{"prompt": "Why?", "category": "q", "meta.id": 7}\n\n"Only text"\n{"prompt": "How?"}\n',
        )
        found = load(tmp_path)
        assert found.game == "tasks"
        tasks = rules_of(found).tasks
        assert [task.messages[-1][1] for task in tasks] == ["Why?", "Only text", "How?"]
        assert [(task.id, task.category) for task in tasks] == [("1", "q"), ("2", ""), ("3", "")]

    @pytest.mark.parametrize(
        ("lines", "told"),
        [
            ('{"prompt": "a"}\nWhy?', r"my.jsonl, line 2, column 1: not JSON \(Expecting value\)$"),
            ('{"promt": "a"}', r"my.jsonl, line 1, column promt: found 'promt', .* did you mean 'prompt'\?$"),
            ('{"prompt": " "}', r"my.jsonl, line 1, column prompt: found ' '; expected some text"),
            (
                '{"prompt": "a", "category": [3]}',
                r"my.jsonl, line 1, column category: found \[3\]; expected some text",
            ),
            ("[1]", r"my.jsonl, row 1: found 1; expected an object with prompt, "),
            ("\n\n", r"my.jsonl, no task found; expected a line of columns"),
        ],
    )
    def test_bad_lines(self, tmp_path: Path, lines: str, told: str) -> None:
        self.write(tmp_path, lines)
        with pytest.raises(SettingsError, match=told):
            load(tmp_path)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        self.write(tmp_path, "")
        (tmp_path / "my.jsonl").unlink()
        with pytest.raises(SettingsError, match=r"line 2, tasks: .*my.jsonl does not exist; the path is"):
            load(tmp_path)


class TestEnoughPlayers:
    def test_enough_and_one_fewer(self) -> None:
        """Two meet, and two of the others judge and vote at least: four, whoever meets."""
        names = HOUSE.splitlines()[1:]
        enough_players(loads("\n".join(["players:", *names[:4]])))
        with pytest.raises(SettingsError) as told:
            enough_players(loads("\n".join(["players:", *names[:3]])))
        assert str(told.value).startswith("players: found 3, too few for 'duel': a match of ")
        smaller = "Add players, or take smaller panels: `rules: {committee: 1, judges: 1}`"
        assert str(told.value).endswith(smaller)

    def test_too_few_contestants(self) -> None:
        with pytest.raises(SettingsError, match="found 1, and a match of 'duel' has 2 contestants"):
            enough_players(loads("players: [house:0.5]"))

    def test_too_few_officials(self) -> None:
        three = loads("players: [house:0.1, house:0.2, house:0.3]")
        with pytest.raises(
            SettingsError, match=r"needs at least 2 as committee, and without the .* 1 may serve"
        ):
            enough_players(three)

    def test_what_a_dollar_says_needs_a_policy_that_weighs_matches(self) -> None:
        loads("pairing: {policy: adaptive, per: dollar}\n" + HOUSE)
        with pytest.raises(SettingsError, match="`per` means nothing under policy `swiss`"):
            loads("pairing: {per: dollar}\n" + HOUSE)

    def test_too_few_because_of_kin(self) -> None:
        same_family = loads(
            "rules: {exclude_family: true}\nplayers:\n"
            + "".join(f"  - {{model: house:0.{at}, family: same}}\n" for at in range(1, 9))
        )
        with pytest.raises(SettingsError, match="give players of their own family another `family`"):
            enough_players(same_family)


def test_the_arenas_cost_unit_is_the_games() -> None:
    settings = loads("rating: {cost_unit: {dollars: 0, seconds: 1}}")
    assert rules_of(settings).cost_unit.seconds == 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai:gpt-5-mini", "openai/gpt"),
        ("openrouter:meta-llama/llama-3.1-8b", "meta/llama"),
        ("ollama:llama3.2:3b", "meta/llama"),
        ("house:0.85", "house:0.85"),
        ("gguf:models/SmolLM2-135M-Instruct.gguf", "huggingface/smollm"),
        ("gguf:C:\\models\\SmolLM2.gguf", "huggingface/smollm"),
        ("command:./agent.py", "command:./agent.py"),
    ],
)
def test_families(model: str, family: str) -> None:
    assert family_of(model) == family
    assert PlayerSettings(model=model).family == family


def test_versions_of_an_agent_are_of_one_family() -> None:
    settings = loads(
        "players:\n"
        "  - {command: [./new], name: bot, version: 3}\n"
        "  - {command: [./old], name: bot}\n"
        "  - {command: [./kin], name: bot, version: 2, family: stated}\n"
        "  - {model: openai:gpt-5, name: chat}\n"
        "  - {model: anthropic:claude-haiku-4-5, name: chat, version: 2}\n"
    )
    assert [one.family for one in settings.players] == [
        *("command:./old", "command:./old", "stated", "openai/gpt", "anthropic/claude")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "rating: {k_factor: 1e300}",
        "rating: {initial: 1e308}",
        "rating: {cost_sensitivity: 1e300}",
        "rating: {propagation_width: 1e-300}",
        "rating: {cost_unit: {dollars: 1e308}}",
        "pairing: {width: 1e300}",
        "pairing: {window: 1000000000000000000000000}",
        "engine: {retries: 100000000}",
        "engine: {match_deadline_s: 1e300}",
        "budget: 1.0e+300",
        "rules: {max_tokens: 1000000000000000000}",
        "players: [{model: house:0.5, price: {input: 1e15, output: 1}}]",
        "players: [{model: house:0.5, gpu_hour_price: 1e300}]",
        "players: [{model: house:0.5, timeout_s: 1e300}]",
        "players: [{model: house:0.5, max_tokens: 1000000000000000000}]",
    ],
)
def test_numbers_that_would_overflow_in_the_middle_of_a_run_are_refused_before_it(text: str) -> None:
    assert "expected at " in complaint(text)


def test_names_that_look_the_same_are_the_same() -> None:
    assert "both named" in complaint(
        'players: [{name: "\\u00e9", model: house:1}, {name: "e\\u0301", model: house:0}]'
    )


@pytest.mark.parametrize(
    "text",
    ['name: "a\\uD800"', 'players:\n  - {model: house:1, family: "\\uDFFF"}', '"\\uD800": 1', '- "\\uD800"'],
)
def test_half_a_character_is_refused_with_its_line(text: str) -> None:
    found = complaint(text)
    assert "surrogate" in found or "expected `key: value`" in found


class TestCommands:
    def test_a_list_of_words_is_a_command_and_its_arguments_stay_private(self) -> None:
        settings = loads(
            "players:\n  - {command: [./my agent, --style, short and dry], name: dry}\n"
            "  - command: [python, -c, 'print(1)']\n  - 'command:./agent --token s3cret'\n"
        )
        assert [player.words for player in settings.players] == [
            ("./my agent", "--style", "short and dry"),
            ("python", "-c", "print(1)"),
            ("./agent", "--token", "s3cret"),
        ]
        assert [(one.provider, one.name, one.public_model, one.family) for one in settings.players] == [
            ("command", "dry", "command:./my agent", "command:./my agent"),
            ("command", "command:python", "command:python", "command:python"),
            ("command", "command:./agent", "command:./agent", "command:./agent"),
        ]

    def test_what_is_dumped_is_read_again(self) -> None:
        player = PlayerSettings.model_validate({"command": ["./my agent", "--x"], "name": "mine"})
        assert PlayerSettings.model_validate(player.model_dump(mode="json", exclude_defaults=True)) == player

    @pytest.mark.parametrize(
        ("player", "told"),
        [
            (
                "{command: ./agent --x}",
                "players[1].command: found './agent --x'; expected a list (lines that",
            ),
            ("{command: [./agent, 3]}", "players[1].command[2]: found 3; expected text; put it in quotes"),
            ("{command: []}", "players[1].model: missing; expected what answers"),
            ('{command: [""]}', "players[1]: 'command:' names no model"),
            (
                '{command: ["a\\nb"]}',
                "players[1].model: 'command:a\\nb' holds characters that cannot be seen",
            ),
            ('{command: [a, "b\\0"]}', "players[1].command: a word holds the character U+0000"),
            (
                "{command: [./agent], model: house:1}",
                "players[1]: found both `model` and `command`; state one",
            ),
            (
                '{model: "command:\'./my agent"}',
                "players[1]: a quote in `model` is never closed; close it, or",
            ),
            ("{model: \"command:''\"}", "players[1]: \"command:''\" names no program"),
        ],
    )
    def test_what_is_no_command(self, player: str, told: str) -> None:
        found = complaint(f"players: [{player}]")
        assert told in found
        assert "\n" not in found

    @pytest.mark.parametrize(
        ("line", "here", "on_windows"),
        [
            ("./agent --style dry", ["./agent", "--style", "dry"], ["./agent", "--style", "dry"]),
            ("'./my agent' a\"b c\"", ["./my agent", "ab c"], ["./my agent", "ab c"]),
            (r'"C:\My Agents\a.exe" -x C:\new', ["C:\\My Agents\\a.exe", "-x", "C:new"],
             ["C:\\My Agents\\a.exe", "-x", "C:\\new"]),
        ],
    )  # fmt: skip
    def test_the_words_of_a_line(self, line: str, here: list[str], on_windows: list[str]) -> None:
        assert list(words_of(line, windows=False)) == here
        assert list(words_of(line, windows=True)) == on_windows


def test_several_games_are_a_list_or_a_mapping() -> None:
    listed = loads("games: [duel, color-obfuscation]\nplayers: [house:0.5]")
    assert {name: one.weight for name, one in listed.lineup.items()} == {"duel": 1, "color-obfuscation": 1}
    mapped = loads(
        """
games:
  color-obfuscation: 2
  duel: {weight: 0.5, rules: {judges: 3}}
  code-golf:
players: [house:0.5]
"""
    )
    assert list(mapped.lineup) == ["color-obfuscation", "duel", "code-golf"]
    assert [one.weight for one in mapped.lineup.values()] == [2, 0.5, 1]
    assert rules_of(mapped, "duel").judges == 3
    assert mapped.game == "color-obfuscation"
    assert mapped.rating.k_factor == 32  # the first one's
    assert loads("games: all\nplayers: [house:0.5]").lineup.keys() == {*GAMES}
    but_one = loads("games: {all: 1, duel: {weight: 3}}\nplayers: [house:0.5]").lineup
    assert but_one.keys() == {*GAMES}
    assert but_one["duel"].weight == 3
    assert loads("game: duel\nplayers: [house:0.5]").lineup.keys() == {"duel"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("games: [duel, dual]", r"games: no game is called 'dual'; did you mean 'duel'"),
        ("games: [duel, duel]", "games: 'duel' is listed twice"),
        ("games: [duel, {code-golf: 2}]", "games: a list holds names alone; for rules or weights"),
        ("games: {duel: 0}", r"line 1, games\.duel\.weight: found 0; expected more than 0"),
        ("games: {duel: {wieght: 2}}", r"games\.duel\.wieght: unknown key; did you mean 'weight'"),
        ("games:\n  duel:\n    rules: {judges: many}", r"line 3, games\.duel\.rules\.judges: found 'many'"),
        ("games: {duel: {rules: {cost_unit: {}}}}", r"games\.duel\.rules\.cost_unit: set it for the whole"),
        ("games: [duel]\nrules: {judges: 3}", "rules: with several games, this stands under"),
        ("games: [duel]\ngame: code-golf", "game: with several games, this stands under `games`"),
        ("games: gauntlet", "no game is called 'gauntlet'; known: "),
        ("games: 5", "line 1, games: found 5; expected indented"),
    ],
)
def test_what_is_wrong_with_several_games_is_told(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        loads(f"{text}\nplayers: [house:0.5]")


def test_each_game_that_lacks_players_is_told() -> None:
    settings = loads("games: [duel, color-obfuscation]\nplayers: [house:0.5, house:0.6]")
    with pytest.raises(SettingsError, match="too few for 'duel'") as told:
        enough_players(settings)
    assert "color-obfuscation" not in str(told.value)
    with pytest.raises(SettingsError) as told:
        enough_players(loads("games: [duel, trivia]\nplayers: [house:0.5]"))
    first, second = str(told.value).splitlines()
    assert first.startswith("players: found 1, and a match of 'duel' has 2 contestants. Add lines")
    assert second.startswith("players: found 1, and a match of 'trivia' has 2 contestants. Add lines")


def test_pairing_plays_for_until_and_else_for_the_best_and_then_the_order() -> None:
    adaptive = "pairing: {policy: adaptive}\n" + HOUSE
    assert str(policy_of(loads("until: order known to 50\n" + adaptive)).goal) == "order known to 50"
    assert policy_of(loads(adaptive)).goal == BEST_FIRST
    with pytest.raises(SettingsError, match=r"until: 'ada placed': no player is called 'ada'"):
        loads("until: ada placed\n" + adaptive)


def test_a_name_that_is_not_known_is_told_with_those_that_are() -> None:
    assert suggest("x", ["ada", "bob"]) == "; known: ada, bob"
    assert suggest("x", []) == "; none is known yet"


def test_where_families_never_meet_one_family_is_too_few() -> None:
    lines = "game: color-obfuscation\nrules: {same_family: false}\nplayers:\n" + "".join(
        [f"  - {{model: house:0.{at}, family: f}}\n" for at in (1, 2, 3)]
    )
    with pytest.raises(SettingsError) as told:
        enough_players(loads(lines))
    assert str(told.value) == (
        "players: all 3 are of the family 'f', and by the rules of 'color-obfuscation' here players of one "
        "family never meet. Add one of another family, or allow it under `rules:`"
    )


def test_wrong_rules_are_told_with_the_game_that_has_them() -> None:
    players = [{"model": f"house:0.{at}"} for at in range(1, 5)]
    wrong = {"rules": {"judges": "many"}}
    one = ArenaSettings.model_validate({"players": players, "game": "duel", **wrong})
    with pytest.raises(SettingsError, match=r"^settings, rules\.judges: found 'many'; expected a whole n"):
        rules_of(one)
    two = ArenaSettings.model_validate({"players": players, "games": {"duel": wrong, "trivia": {}}})
    with pytest.raises(SettingsError, match=r"^settings, games\.duel\.rules\.judges: found 'many'"):
        rules_of(two, "duel")


def test_a_file_that_cannot_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"file/arena\.yaml cannot be read: Not a directory$"):
        text_of(tmp_path / "file" / "arena.yaml")


def test_all_games_are_those_that_can_be_played_here() -> None:
    few = loads("games: all\nplayers: [house:0.5, house:0.6]")
    chosen, left_out = with_playable(few)
    assert "color-obfuscation" in chosen.lineup
    assert "too few for 'duel'" in left_out["duel"]
    assert chosen.lineup.keys() | left_out.keys() == {*GAMES}
    enough_players(chosen)
    nobody = loads("games: all\nplayers: [house:0.5]")
    with pytest.raises(SettingsError, match="found 1, and a match of 'color-obfuscation' has 2 contestants"):
        with_playable(nobody)


def test_the_beginning_of_a_name_is_enough_to_be_understood() -> None:
    assert suggest("br", ["tides", "bridges"]) == "; did you mean 'bridges'?"
    assert suggest("", ["tides"]) == "; known: tides"
