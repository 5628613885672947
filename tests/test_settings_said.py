"""What settings come to, and what is said of those that are wrong, as in `settings_said.json`: see
`tests.recorded`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from peerage.settings import SettingsError, enough_players, family_of, load, loads, too_few
from peerage.settings.pairing import usual_window
from peerage.settings.players.hours import closed_until, read_hours
from peerage.settings.players.model_names import known_scheme, without_credentials, words_of
from peerage.settings.players.player import suggest
from peerage.settings.players.weights import weights
from peerage.settings.until import goal_of
from tests import recorded

FILE = Path(__file__).with_name("settings_said.json")

PLAYERS = """
house:0.5
house:1.5
house:much
openai:gpt-5-mini
openai:
opnai:gpt-5
nobody
"https://me:secret@agents.example.org:8080/duel?key=1#2"
"command:./agent --fast 'two words'"
"command:./agent 'open"
"command: "
person:Ann
"person:"
{command: [./agent, --deep], name: deep}
{command: ./agent}
{command: [./agent], model: openai:gpt-5}
{command: ["./agent", "a\\0b"]}
{command: [./agent], version: 2}
{acp: [opencode, acp], model: openai:gpt-5-mini, name: opencode, allow: [read, edit]}
{acp: opencode}
{acp: [opencode, acp], allow: [write], mcp: [{command: tool}]}
{model: house:0.5, thinking_tokens: 5}
{model: house:0.5, faults: {position_bias: 0.5}}
{model: openai:gpt-5, faults: {position_bias: 0.5}}
{model: openai:gpt-5, thinking_tokens: 2000, reasoning_effort: none}
{model: anthropic:claude-5, thinking_tokens: 1000}
{model: anthropic:claude-5, thinking_tokens: 1024}
{model: anthropic:claude-5, thinking_tokens: 0}
{model: person:Ann, price: {input: 1, output: 2}}
{model: person:Ann, timeout_s: 60}
{model: openai:gpt-5, service_tier: flex}
{model: openai:gpt-5, service_tier: flex, timeout_s: 70}
{model: mistral:large, service_tier: flex}
{model: mistral:large, service_tier: flex, base_url: "https://x.example.org"}
{model: openai:gpt-5, host: box}
{model: openai:gpt-5, host: box, base_url: "http://box:8000/v1"}
{model: openai:gpt-5, host: box, base_url: "http://box:8000/v1", price: {input: 1, output: 1}}
{model: openai:gpt-5, host: box, base_url: "http://box:8000/v1", gpu_hour_price: 1}
{model: openai:gpt-5, host: bxo, base_url: "http://box:8000/v1"}
{model: openai:gpt-5, host: idle, base_url: "http://box:8000/v1"}
{model: gguf:models/qwen3-8b.gguf, host: idle}
{model: gguf:models/qwen3-8b.gguf, host: box, memory: 24, sleeps: true}
{model: openai:gpt-5, price: {input: 1, output: 1}, gpu_hour_price: 1}
{model: openai:gpt-5, name: "a\\u200bb"}
{model: openai:gpt-5, name: "a\\tb"}
{model: openai:gpt-5, name: sandbox}
{model: openai:gpt-5, name: "e\\u0301 "}
{model: openai:gpt-5, available: "22:00-06:00 Europe/Berlin"}
{model: openai:gpt-5, available: "25:00-06:00"}
{model: openai:gpt-5, version: 3}
{model: openai:gpt-5, name: five v3, version: 3}
{model: openai:gpt-5, prise: 1}
{model: openai:gpt-5, family: true}
{modle: openai:gpt-5}
{name: nobody}
{model: 5}
[a, b]
5
"""

ARENAS = [
    *("seed: x", "seed: 1.5", "seed: [1]", "budget: many", "budget: {arena: -1}", "budget: {match: .nan}"),
    *("game: dule", "game: 5", "game: all", "games: [duel, dule]", "games: [duel, duel]", "games: [duel, 5]"),
    *("games: {duel: 2, trivia: {weight: 0.5}}", "games: {duel: {rules: {panel: x}}}", "games: {duel: null}"),
    *("games: all", "games: {all: 1, duel: 3}", "games: duel", "games: []", "games: {duel: true}"),
    *("game: duel\ngames: [trivia]", "game: duel\ngames: [duel, trivia]", "rules: {x: 1}\ngames: [duel]"),
    *("rules: {panel: {order: none}}", "rules: {pannel: 1}", "rules: [a]", "tasks: gone.txt"),
    *("rules: {cost_unit: {second: 1}}", "rating: {cost_unit: {second: 1}}", "rating: {k_factor: 0}"),
    *("rating: 5", "pairing: {policy: adaptive, per: dolar}"),
    *("pairing: swiss", "pairing: {kind: swiss}", "pairing: swis"),
    "pairing: {policy: adaptive, per: dollar}",
    *("pairing: {policy: swiss, per: dollar}", "pairing: {policy: adaptive, goal: best}"),
    *("until: best known", "until: top 2 known to 30", "until: top 9 known", "until: house:0.1 placed"),
    *("until: nobody placed", "until: order known to 50.5", "until: besst known", "until: 5"),
    *("ledger: arena.db", "ledger: $DATABASE_URL", "ledger: $1", "ledger: mysql://x/y", "ledger: ''"),
    *("ledger: postgresql://me:secret@host/db?x=1", "ledger: mongodb+srv://host/db?password=x"),
    *("hosts: {'a b': {}}", "hosts: {box: {start: [a], ready: box}}", "hosts: {box: {stop: [a]}}"),
    *("hosts: {box: {resources: {GPU: 1}}}", "hosts: {box: {start: [a], resources: {GPU: 0}}}"),
    *("hosts: {box: {start: [\"a\\0\"]}}", "hosts: {box: {start: a}}", "hosts: {box: {matches: 0}}"),
    *("engine: {concurrency: 0}", "engine: {retries: x}", "engine: {concurency: 5}", "engine: fast"),
    *("name: true", "name: 5", "? [a]\n: 1", "1: 2", "true: 1", "null: 3", "engine: {~: 1}",
       "rules: {.nan: 1}", "games: {null: 1}", "hosts: {5: {}}", "nmae: x", "players: {a: b}", "players: 5"),
    *("seed: 1\nseed: 2", "budget:\n  arena: 1\n  arena: 2", "a: 'b", "a: \"b\nc", "a: b: c", "\tseed: 1"),
    *("seed: [1", "seed 1\nname: x", "name: @x", "name: \"\\ud800\"", "name: a\x07b", "- a\n- b", "text", ""),
    *("name: &a [*a]", "name: !!python/object:x y", "name: {a: b}}", "seed: 1\n name: x", "a: *b"),
    "%x\n---\na: 1",
]  # fmt: skip

HOURS = [
    *("22:00-06:00 Europe/Berlin, weekends", "mon-fri 18:00-08:00 America/New_York", "daily", "sat"),
    *("weekdays 9:00-17:30", "fri-mon 0:00-24:00", "tues 23:00-1:00, thursday", "0:00-24:00"),
    "wed 12:00-12:01 UTC",
    *("", "noon", "25:00-26:00", "9:60-10:00", "9:00-24:01", "9:00-9:00"),
    *("9:00-10:00 11:00-12:00", "mon,,tue"),
    *("mon-tue-wed", "Europe/Berlin", "mon Europe/Berlin, tue UTC", "mon Europe/Nowhere", "mond"),
    *("monde", "1:00-2"),
]  # fmt: skip
MOMENTS = [datetime(2026, 3, day, hour, 30, tzinfo=UTC) for day in (6, 7, 29) for hour in (0, 5, 12, 17, 23)]


def refused(told: Callable[[], Any]) -> Any:
    """What settings come to, or what is said of them, without the names of all keys and games there are."""
    try:
        return told()
    except (SettingsError, ValueError) as error:
        return re.sub(r"known: [\w, -]{60,}", "known: …", str(error))


def player(line: str) -> Any:
    hosts = "hosts:\n  box: {start: [serve], usd_per_hour: 2.5}\n  idle: {usd_per_hour: 1}\n"

    def told() -> Any:
        [one] = loads(f"{hosts}players:\n  - {line}\n").players
        shown = [one.name, one.unversioned, one.family, one.provider, one.public_model, one.is_person]
        return [
            *shown,
            one.timeout_s,
            one.gpu_hour_price,
            one.model_dump(exclude_defaults=True),
        ]

    return refused(told)


def arena(text: str) -> Any:
    def told() -> Any:
        settings = loads(
            text if "players" in text else f"{text}\nplayers: [house:0.1, house:0.2, house:0.3]\n"
        )
        games = settings.lineup if "all" not in text else {}
        shown = [settings.game, {name: [one.weight, one.rules] for name, one in games.items()}]
        return [
            *shown,
            settings.goal,
            settings.secret_seed,
            settings.ledger,
            settings.rating.model_dump(exclude_defaults=True),
        ]

    return refused(told)


def lacking(text: str) -> Any:
    def told() -> Any:
        settings = loads(text)
        enough_players(settings)
        return [too_few(settings.alone(game)) for game in settings.lineup]

    return refused(told)


def title(text: str) -> str:
    return loads(text).name


def hours(text: str) -> Any:
    def told() -> Any:
        found = read_hours(text)
        times = [round(one.timestamp() * 1000) for one in MOMENTS]
        opens = [closed_until(found, at) for at in times]
        # in minutes from then on
        return [None if end is None else (end - at) // 60_000 for at, end in zip(times, opens, strict=True)]

    return refused(told)


def files() -> Any:
    from tempfile import TemporaryDirectory

    found = []
    bodies = [
        b"\xff\xfes\x00",
        b"seed: 1\nname: \xe4\n",
        b"\xef\xbb\xbfseed: 5",
        b"game: ./gone.py",
        b"game: gone_game.py",
        b"tasks: gone.txt",
    ]
    with TemporaryDirectory() as folder:
        for body in [None, *bodies]:
            if body is not None:
                (Path(folder) / "arena.yaml").write_bytes(body)
            for reading in (False, True):
                said = refused(partial(load, folder, reading=reading))
                found.append(said.replace(folder, "") if isinstance(said, str) else [said.seed, said.game])
    return found


FEW = [
    "players: [house:0.1]",
    "players: [house:0.1, house:0.2]",
    "players: [house:0.1, house:0.2, house:0.3, house:0.4]\ngames: all",
    "players: [" + ", ".join([f"{{model: house:0.{at}, family: x}}" for at in range(1, 9)]) + "]",
    "players: [" + ", ".join([f"house:0.{at}" for at in range(1, 9)]) + "]",
]
MODELS = [
    *("openai:gpt-5-mini", "anthropic:claude-sonnet-5", "google:gemini-3", "xai:grok"),
    "openrouter:openai/gpt-oss-20b",
    *("openrouter:x-ai/grok-5", "openrouter:meta/llama", "ollama:qwen3:8b"),
    *("huggingface:org/Model-7B", "gguf:a/B_c.gguf"),
    *("gguf:C:\\models\\Qwen3.gguf", "google:gemma-3", "python:mod.f", "house:0.5", "person:Ann"),
    *("command:./a", "openai:4o"),
]  # fmt: skip

CASES: recorded.Cases = {
    "players": lambda: {line: player(line) for line in PLAYERS.strip().splitlines()},
    "arenas": lambda: {text: arena(text) for text in ARENAS},
    "texts": lambda: {
        text: refused(partial(title, text))
        for text in ("", "# nothing", "- a\n- b", "text", "5", "{}", "name: x")
    },
    "twice": lambda: refused(lambda: loads("players: [house:0.5, {model: house:0.6, name: house:0.5}]")),
    "versions": lambda: [
        [one.name, one.family]
        for one in loads(
            "players: [{model: 'command:b', name: agent, version: 2}, {model: 'command:a', name: agent}]"
        ).players
    ],
    "few": lambda: {text: lacking(text) for text in FEW},
    "hours": lambda: {text: hours(text) for text in HOURS},
    "files": files,
    "windows": lambda: [
        [usual_window(many, per) for per in (0.5, 1, 2.5, 10, 200)] for many in (1, 4, 16, 100, 1000)
    ],
    "families": lambda: {model: [family_of(model), weights({"model": model})] for model in MODELS},
    "weights": lambda: [
        weights({"model": "openai:x", "open_weights": True}),
        weights({"model": "ollama:x", "open_weights": False}),
        weights({"model": "openai:x", "base_url": "http://x"}),
        weights({}),
    ],
    "words": lambda: [
        words_of("a 'b c' \"d e\" # f \\g", windows=False),
        words_of("C:\\a\\b 'c d'", windows=True),
        [known_scheme(one) for one in ("openai", "house", "nothing")],
        [without_credentials(one) for one in ("http://a:b@c:1/d?e#f", "https://c/d")],
        [
            suggest(one, ["duel", "Trivia night", "code-golf"])
            for one in ("dule", "TRIV", "golf", "go", "", "zzz")
        ],
    ],
    "goals": lambda: {
        text: refused(partial(goal_of, text, ["ann", "bob", "the cat"]))
        for text in (
            "best known",
            "top 2 known",
            "top 0 known",
            "top 3  known to 5",
            "order known",
            "ann placed",
            "the cat placed to 20",
            "bbo placed",
            "x",
        )
    },
}


@pytest.mark.parametrize("case", CASES)
def test_settings_are_read_as_they_were(case: str) -> None:
    recorded.check(FILE, case, CASES[case]())


if __name__ == "__main__":
    recorded.write(FILE, CASES)
