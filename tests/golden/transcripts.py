"""Golden transcripts: whole matches between house players, word for word.

    python -m tests.golden.transcripts          # writes them anew; look at the difference before committing

A transcript that changes without its game's `version` changing breaks the replay of matches already played.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
from tests.offline import call, fixture, house, play

from peerage.games import GAMES

HERE = Path(__file__).parent

MATCHES: dict[str, tuple[str, dict[str, Any], int]] = {
    "duel-general": ("duel", {"judges": 3, "committee": 3}, 10),
    "duel-clinical": ("duel", {"preset": "clinical", "judges": 2, "committee": 2, "order": "one"}, 15),
    "duel-prompts": ("duel", {"prompts": ["Name a river and say why it matters."], "judges": 2}, 10),
    "color-obfuscation": ("color-obfuscation", {}, 24),
    "color-obfuscation-fresh": (
        "color-obfuscation",
        {"color": "fresh", "shares": [0.5, 1], "order": "attempts"},
        28,
    ),
    "bug-hunt": ("bug-hunt", {"seats": 5}, 2),
    "challenge-exchange": ("challenge-exchange", {"seats": 4}, 4),
    "challenge-exchange-blind": (
        "challenge-exchange",
        {"seats": 3, "proof": "blind", "committee": 2, "scoring": "difficulty", "own": False},
        6,
    ),
    "last-arena": ("last-arena", {"preset": "development", "seats": 3, "questions": 2, "tricks": 1}, 1),
    "code-golf": ("code-golf", {"seats": 5, "tests": 4}, 3),
    "code-golf-players": ("code-golf", {"seats": 4, "tests": 3, "tasks": "players"}, 15),
}
"""Name → game, settings, match number (chosen so that redrafts, flips, ties and a leak are among them)."""

PLAYERS = {
    "Alma": "house:0.55",
    "Boris": "house:0.7",
    "Chen": "house:0.9",
    "Dara": "house:0.8",
    "Edda": "house:0.6",
    "Femi": "house:0.5",
    "Gita": "house:0.45",
    "Hugo": "house:0.35",
}


def transcript(name: str) -> dict[str, Any]:
    """One match as plain data: fixture, steps as the players see them, outcome."""
    game, rules, number = MATCHES[name]
    spec = GAMES[game]
    made = fixture(spec, list(PLAYERS), rules, number=number, seed=f"golden/{number}")
    played = play(spec, made, house(PLAYERS, made.seed))
    data = {
        "game": f"{game} version {spec.version}",
        "fixture": msgspec.to_builtins(made),
        "steps": [
            {
                "key": step.ask.key,
                "to": step.ask.to,
                "messages": [
                    [speaker, *text.splitlines()] for speaker, text in call(step.ask, made.seed).messages
                ],
                "reply": [step.reply.status, *step.reply.text.splitlines()],
            }
            for step in played.steps
        ],
        "outcome": msgspec.to_builtins(played.outcome),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain


def path(name: str) -> Path:
    return HERE / f"{name}.json"


def main() -> None:
    for name in MATCHES:
        text = json.dumps(transcript(name), indent=1, ensure_ascii=False) + "\n"
        path(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
