"""Golden matches: what each version of each game asks, how it reads replies, and what it makes of them.

    make golden        # records what a new version changed; refuses where no version was raised

A file holds one match: its fixture, every request as its player sees it, every reply, the outcome. The test
plays the match again from the recorded replies, so nothing here depends on how house players play today.
`formats.json` holds how each format of those matches is told to a model, and how it reads awkward replies.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from tests.golden import matches
from tests.golden.matches import difference, short
from tests.offline import ITEM, SCORED, Answering, fixture, house

from peerage.formats import FormatError, Text, stored
from peerage.game.match import Fixture, Seat
from peerage.game.media import Media
from peerage.game.protocol import Ask, Format, Reply
from peerage.games import GAMES

HERE = Path(__file__).parent

FORMATS = "formats"
CLOCK = f"What time does the clock show?\n\n{Media('5e' * 32, 'image/png', 2_048, 64, 64).mark}"

MATCHES: dict[str, tuple[str, dict[str, Any], int]] = {
    "duel-general": ("duel", {"judges": 3, "committee": 3}, 10),
    "duel-clinical": ("duel", {"preset": "clinical", "judges": 2, "committee": 2, "order": "one"}, 9),
    "duel-binary-troubled": ("duel", {"judges": 3, "committee": 2, "binary": True, "max_drafts": 2}, 43),
    "color-obfuscation": ("color-obfuscation", {}, 24),
    "color-obfuscation-same": (
        "color-obfuscation",
        {
            "color": "same",
            "shares": [0.5, 1],
            "order": "recoveries",
            "ally_failure": "void",
        },
        28,
    ),
    "color-obfuscation-troubled": ("color-obfuscation", {}, 33),
    "color-obfuscation-other": ("color-obfuscation", {"ally": "other"}, 25),
    "werewolf": ("werewolf", {"talk": 1}, 1),
    "werewolf-troubled": ("werewolf", {"talk": 2}, 2),
    "bug-hunt": ("bug-hunt", {"seats": 5}, 2),
    "bug-hunt-troubled": ("bug-hunt", {"seats": 6}, 9),
    "challenge-exchange": ("challenge-exchange", {"seats": 4}, 4),
    "challenge-exchange-blind": (
        "challenge-exchange",
        {"seats": 3, "proof": "blind", "committee": 2, "scoring": "difficulty", "own": False},
        6,
    ),
    "challenge-exchange-tools-troubled": ("challenge-exchange", {"seats": 4, "tools": "python"}, 34),
    "last-arena": ("last-arena", {"preset": "development", "seats": 3, "questions": 2, "tricks": 1}, 1),
    "last-arena-troubled": (
        "last-arena",
        {"preset": "development", "seats": 3, "questions": 1, "tricks": 1},
        26,
    ),
    "last-arena-one": (
        "last-arena",
        {"preset": "development", "seats": 3, "questions": 1, "meta": 1, "per_call": 1},
        2,
    ),
    "last-arena-original": ("last-arena", {"preset": "original", "seats": 3, "questions": 1}, 7),
    "compression": ("compression", {"seats": 5, "difficulty": 4}, 3),
    "compression-troubled": ("compression", {"seats": 6, "difficulty": 2}, 4),
    "tasks": ("tasks", {}, 2),
    "tasks-judged": ("tasks", {"judging": {"checks": "measure", "criteria": ["correct", "tone"]}}, 3),
    "tasks-criteria": ("tasks", {"judging": {"checks": "measure", "criteria": ["tone"], "ties": False}}, 3),
    "tasks-seen": ("tasks", {"tasks": [{"id": "clock", "checks": [], "messages": [["user", CLOCK]]}]}, 2),
    "tasks-troubled": ("tasks", {"then": "judges", "judging": {"order": "one", "ties": False}}, 43),
    "text-metrics": ("text-metrics", {"seats": 3}, 3),
    "text-metrics-troubled": ("text-metrics", {"seats": 5, "metric": "rouge-2"}, 4),
    "code-golf": ("code-golf", {"seats": 5}, 3),
    "code-golf-troubled": ("code-golf", {"seats": 6}, 5),
    "fact-check": ("fact-check", {"seats": 4, "statements": 10}, 2),
    "fact-check-confidence": ("fact-check", {"seats": 3, "statements": 4, "confidence": True}, 7),
    "fact-check-confidence-troubled": ("fact-check", {"seats": 6, "statements": 5, "confidence": True}, 8),
    "trivia": ("trivia", {"seats": 4}, 4),
    "trivia-quiz-troubled": (
        "trivia",
        {
            "seats": 6,
            "questions": 3,
            "quiz": [
                {
                    "question": "Which river flows through Vienna?",
                    "answer": "the Danube",
                    "variants": ["Donau"],
                },
                {"question": "Who wrote Faust?", "answer": "Goethe", "wrong": ["Schiller", "Heine"]},
                {"question": "How many keys has a piano?", "answer": "88"},
                {"question": "Which bird is on the coat of arms of Austria?", "answer": "an eagle"},
            ],
        },
        23,
    ),
    "logic": ("logic", {"seats": 4}, 1),
    "logic-troubled": ("logic", {"seats": 6, "puzzles": 2, "families": ["zebra", "dice"]}, 43),
    "market-first-price-troubled": ("market", {"rounds": 2, "rotate": False}, 12),
    "market-second-price": ("market", {"market": "second-price", "seats": 2, "rounds": 3}, 3),
    "market-negotiation": ("market", {"market": "negotiation"}, 5),
    "market-negotiation-troubled": ("market", {"market": "negotiation", "seats": 3}, 7),
    "market-dilemma-troubled": ("market", {"market": "prisoners-dilemma", "rounds": 4}, 10),
    "market-voting": ("market", {"market": "voting"}, 1),
    "market-voting-fresh": ("market", {"market": "voting", "rotate": "fresh"}, 3),
    "market-voting-once": ("market", {"market": "voting", "rounds": 1, "rotate": False}, 2),
    "allocation": ("allocation", {"seats": 5, "tasks": 5}, 1),
    "allocation-troubled": ("allocation", {"seats": 6, "tasks": 2, "difficulty": 5}, 2),
    "transform": ("transform", {"seats": 4}, 1),
    "transform-troubled": ("transform", {"seats": 6, "difficulty": 2}, 3),
    "vision": ("vision", {"seats": 3}, 1),
    "vision-troubled": ("vision", {"seats": 6, "tasks": 2, "families": ["clock", "maze"]}, 4),
    "workshop": ("workshop", {"difficulty": 4}, 4),
    "workshop-hands": ("workshop", {"difficulty": 2}, 2),
    "workshop-judged": ("workshop", {"difficulty": 1}, 1),
    "workshop-troubled": ("workshop", {"seats": 4, "difficulty": 6, "judge": False}, 3),
    "rejudge": ("rejudge", {}, 1),
    "rejudge-one-troubled": ("rejudge", {"order": "one", "binary": True}, 33),
    "rejudge-scores": ("rejudge", {"by": "scores"}, 1),
}
"""Name → game, settings, match number (chosen so that redrafts, flips and ties are among them). In
those that are troubled some replies are unusable, cut, refused or void."""

OF_LIBRARIES: dict[str, tuple[str, dict[str, Any], int]] = {
    "openspiel-leduc-poker": ("pyspiel", {"deals": 4}, 1),
    "openspiel-chess": ("pyspiel", {"deals": 1}, 8),
    "openspiel-go-9x9": ("pyspiel", {"deals": 1}, 6),
    "openspiel-backgammon": ("pyspiel", {"deals": 1}, 1),
    "openspiel-holdem": ("pyspiel", {"deals": 6}, 1),
    "openspiel-holdem-six": ("pyspiel", {"deals": 3}, 11),
    "openspiel-bargaining": ("pyspiel", {"deals": 2}, 9),
    "textarena-indian-poker": ("textarena", {"deals": 2}, 1),
}
"""Matches of games of other libraries, played again where the library, which is named first, is installed."""
MATCHES |= {
    game: (game, rules, number)
    for game, (library, rules, number) in OF_LIBRARIES.items()
    if find_spec(library)
}

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

AWKWARD = (
    "",
    " \n\t",
    "A",
    "b.",
    "tie",
    "approve",
    "7",
    "-12",
    "7.5",
    "1e3",
    '{"answer": 7}',
    '{"answer": "7"}',
    "The answer is 7.",
    "answer: 7\nanswer: 8",
    "verdict: A",
    "Verdict: **B**",
    "I quote: verdict: A\nmore words",
    "verdict: A\nverdict: B",
    '{"reason": "short", "verdict": "A"}',
    '{"verdict": "a", "reason": 3}',
    '```json\n{"reason": "r", "verdict": "B"}\n```',
    'Well:\n```json\n{"reason": "r", "verdict": "B"}\n```\nand so on',
    '{"reason": "r", "verdict": "A"} {"verdict": "B"}',
    '{"reason": "r", "vote": "approve"}',
    "vote: object",
    '{"color": "#A0b1C2"}',
    "a0b1c2",
    "#abc",
    "<color>a0b1c2</color>",
    '{"obfuscated": "x", "instructions": ["a", "b", "c", "d"]}',
    '{"obfuscated": "x", "instructions": "a"}',
    "```python\nprint(1)\n```",
    "```python\nprint(1)\n```\n```python\nprint(2)\n```",
    "```python\nprint(1)",
    '{"description": "d", "reference_answer": 7}',
    '{"description": "", "reference_answer": 7}',
    '{"statement": "s", "generator": "print(1)", "solution": "print(2)"}',
    '{"questions": ["One?", "Two?"]}',
    '{"questions": ["One?", "One?"]}',
    "1. One?\n2. Two?",
    '{"scores": [{"item": 1, "reason": "r", "quality": 7}]}',
    '{"reason": "r", "quality": 11}',
    "[" * 100,
)
"""Texts that every format of the matches is given to read, whatever it expects."""


def spec_of(game: str) -> Any:
    return GAMES[game]


def made(name: str) -> Fixture:
    """The fixture of a match by this program."""
    game, rules, number = MATCHES[name]
    seed = f"golden/{number}"
    spec = spec_of(game)
    if spec.contestants[1]:
        match = fixture(spec, list(PLAYERS), rules, number=number, seed=seed)
        return msgspec.structs.replace(match, hands=("A", "B")) if name.endswith("-hands") else match
    by_scores = rules.get("by") == "scores"
    authors = {"A": "Gita", "B": "Hugo", **({"C": "Boris"} if by_scores else {})}
    item = msgspec.structs.replace(SCORED if by_scores else ITEM, authors=authors)
    judges = tuple([Seat(f"judge/{at}", name) for at, name in enumerate(list(PLAYERS)[:4], 1)])
    settings = spec.rules.model_validate(rules).model_dump(mode="json")
    drawn = msgspec.to_builtins(item)
    return Fixture(number, 1, game, spec.version, seed, (), {"judge": judges}, settings, drawn)


def troubled(answering: Answering, seed: str) -> Answering:
    """Some replies are unusable (also when asked again), cut at their limit, refused, or void."""

    def answer(ask: Ask, player: str) -> Reply:
        reply = answering(ask, player)
        roll = int(sha256(f"{seed}/{ask.key}".encode()).hexdigest(), 16) % 12
        if roll in (0, 4):
            # of a text nothing but a blank one is unusable
            text = (
                " \n" if isinstance(ask.expects, Text) else "I would rather not say: verdict maybe, {broken"
            )
            return msgspec.structs.replace(reply, text=text)
        if roll == 1:
            return msgspec.structs.replace(reply, text=reply.text[: len(reply.text) // 3], cut=ask.max_tokens)
        if roll == 2:
            return msgspec.structs.replace(reply, status="refused", text="No.", reason="content filter")
        if roll == 3:
            return Reply("void", reason="no answer in 60 s")
        return reply

    return answer


def transcript(name: str, recorded: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One match as plain data: the recorded one with its replies, else a new one that house players play."""
    spec = spec_of(MATCHES[name][0])

    def asked_for(format: Format) -> None:
        known = json.dumps(msgspec.to_builtins(format, enc_hook=stored))
        _asked_for.setdefault(known, (format, {}))[1][spec.name] = spec.version

    if recorded is not None:
        return matches.again(spec, recorded, asked_for)
    new = made(name)
    players = house(PLAYERS, new.seed).of(spec)
    answering = troubled(players, new.seed) if name.endswith("troubled") else players
    return matches.transcript(spec, new, answering, asked_for=asked_for)


_asked_for: dict[str, tuple[Format, dict[str, int]]] = {}


def formats() -> dict[str, Any]:
    """Every format that the last matches played asked for: how a model is told it, what is read out of
    awkward replies, and the games with their versions."""
    found: dict[str, Any] = {}
    for name, (format, games) in _asked_for.items():
        values, unusable = {}, {}
        for text in AWKWARD:
            try:
                values[text] = msgspec.to_builtins(format.parse(text))
            except FormatError as error:
                unusable.setdefault(str(error), []).append(text)
        found[name] = {
            "games": games,
            "instruction": format.instruction(),
            "schema": format.schema(),
            "reads": values,
            "unusable": unusable,
        }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def path(name: str) -> Path:
    return HERE / f"{name}.json"


def on_file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path(name).read_text("utf-8")) if path(name).exists() else {}
    return found


def changed() -> Iterator[tuple[str, int, str]]:
    """What differs from what is on file: game, its version on file, and what."""
    _asked_for.clear()
    for name in MATCHES:
        before = on_file(name)
        if (
            before
            and before["version"] == spec_of(before["game"]).version
            and (what := difference(before, transcript(name, before))) is not None
        ):
            yield before["game"], before["version"], f"{name}, {what}"
    today = formats()
    for format, before in on_file(FORMATS).items():
        for about in ("instruction", "schema", "reads", "unusable"):
            now = today.get(format, before)[about]
            if before[about] != now:
                for game, version in before["games"].items():
                    yield game, version, f"format {format[:60]}, {about}: {short(before[about], now)}"


def unraised() -> list[str]:
    """What changed under a version that stayed the same, in words for whoever changed it."""
    kept: dict[str, list[str]] = {}
    for game, version, what in changed():
        if spec_of(game).version <= version:
            kept.setdefault(game, []).append(what)
    return [
        f"{game} is still version {spec_of(game).version}, and matches of that version would not replay:\n  "
        + "\n  ".join(told[:5])
        + f"\n  Take the change back, or write version={spec_of(game).version + 1} in its GameSpec and run "
        "`make golden`."
        for game, told in kept.items()
    ]


def main() -> int:
    """Record what new versions and new matches changed; the exit code."""
    if problems := unraised():
        print("\n".join(problems), file=sys.stderr)
        return 1
    _asked_for.clear()
    for name in MATCHES:
        before = on_file(name)
        new = not before or before["version"] != spec_of(before["game"]).version
        match = transcript(name, None if new else before)
        if new:
            path(name).write_text(_text(match), "utf-8")
            print(f"recorded {path(name).name}")
    path(FORMATS).write_text(_text(formats()), "utf-8")
    for file in HERE.glob("*.json"):
        if file.stem not in (*MATCHES, FORMATS):
            file.unlink()
    return 0


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
