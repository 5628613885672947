"""Battles in the shape of the Color Obfuscation Benchmark's `data.json`: read, and written.

https://github.com/10decikelvin/cob publishes its battles as one JSON array. A battle read from there
becomes a recording of our game, replies word for word, and keeps its entry, which goes back as it came; a
match of ours is written so that the original's page shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from peerage.formats import between
from peerage.game import Encoding, Fixture, FormatError, Outcome, Seat
from peerage.game.match import Recording
from peerage.games.color_obfuscation.rules import NAME, VERSION, ColorObfuscationRules
from peerage.games.color_obfuscation.score import Round

SOURCE = "10decikelvin/cob"
_ROOMY = {"max_chars": 20_000, "max_instructions": 200, "instruction_chars": 5_000}
"""Limits of recorded encodings: the original set none."""
_HEX = frozenset("0123456789ABCDEF")


class Model(Struct):
    name: str


class Conversation(Struct):
    """A request of a round; no response where it was not made, or nothing came."""

    response: str | None = None


class RecoveryAttempt(Struct):
    instructions_provided_percentage: float
    response: str | None


class BattleRound(Struct):
    """One round. The original has one `plaintext_color` for a battle, ours one for each round by default."""

    round_number: int
    obfuscator_model: str
    llm1_conversation: Conversation
    llm2_conversation: Conversation
    llm3_attempts: list[RecoveryAttempt]
    plaintext_color: str = ""


class Battle(Struct):
    """One battle as far as it is read; `instructions_provided_percentage` is really a share from 0 to 1."""

    battle_id: str
    model_A_info: Model
    model_B_info: Model
    plaintext_color: str
    rounds: list[BattleRound]
    battle_outcome: str
    timestamp_end: str

    @property
    def scores(self) -> dict[str, float]:
        """The recorded outcome, by seat label."""
        names = {f"{self.model_A_info.name}_wins": 1.0, f"{self.model_B_info.name}_wins": 0.0, "tie": 0.5}
        first = names[self.battle_outcome]
        return {"A": first, "B": 1 - first}

    @property
    def colors(self) -> list[str]:
        """The color of both rounds, or that of each."""
        return list(
            dict.fromkeys((played.plaintext_color or self.plaintext_color).upper() for played in self.rounds)
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares that attackers saw, attempt by attempt; everything at once where nobody attacked."""
        longest = max((played.llm3_attempts for played in self.rounds), key=len)
        return tuple([attempt.instructions_provided_percentage for attempt in longest]) or (1.0,)


class JsonLayout(Struct, frozen=True):
    """Layout of a file's JSON; by default as the original writes it."""

    indent: int = 2
    ascii: bool = True
    end: str = ""


class JsonBattle(NamedTuple):
    """A battle of a file, and all that the file says of it: plain JSON, and the file's layout."""

    battle: Battle
    raw: Mapping[str, Any]
    layout: JsonLayout


def read_battles(body: bytes, where: str) -> list[JsonBattle]:
    """The battles of a `data.json`, checked. Raises ValueError that names the place."""
    try:
        raw = msgspec.json.decode(body)
        battles = msgspec.convert(raw, list[Battle])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{where} is no data.json of the Color Obfuscation Benchmark: {error}") from None
    for place, battle in enumerate(battles):
        problem = _problem(battle)
        if problem:
            raise ValueError(f"{where}, battle {place + 1} ({battle.battle_id}): {problem}")
    margin = body.partition(b"\n")[2]
    layout = JsonLayout(
        len(margin) - len(margin.lstrip(b" ")), body.isascii(), "\n" if body.endswith(b"\n") else ""
    )
    return [JsonBattle(battle, body, layout) for battle, body in zip(battles, raw, strict=True)]


def _problem(battle: Battle) -> str:
    first, second = battle.model_A_info.name, battle.model_B_info.name
    if first == second:
        return f"{first} plays against itself"
    if [played.obfuscator_model for played in battle.rounds] != [first, second]:
        return "expected two rounds, in which first model_A and then model_B obfuscates"
    if battle.battle_outcome not in (f"{first}_wins", f"{second}_wins", "tie"):
        return f"found the outcome {battle.battle_outcome!r}; expected tie, {first}_wins or {second}_wins"
    for color in battle.colors:
        if len(color) != 6 or set(color) - _HEX:
            return f"found the color {color!r}; expected six hexadecimal digits"
    try:
        _at_ms(battle.timestamp_end)
    except ValueError:
        return f"found the time {battle.timestamp_end!r}; expected ISO 8601"
    for played in battle.rounds:
        shares = tuple([attempt.instructions_provided_percentage for attempt in played.llm3_attempts])
        if shares != battle.shares[: len(shares)]:
            return "the two rounds showed other shares of the instructions"
    return ""


def _at_ms(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def recording(entry: JsonBattle, rules: ColorObfuscationRules, digest: str = "") -> Recording:
    """A battle as a recording of our game under `rules`, with colors, shares and limits of its own. Its
    source is kept under `drawn`: the whole entry, and the `digest` (SHA-256, hex) of the file that it came
    from. A reply that the original did not get, or never asked for, is an empty text: unusable, as the
    original counted it."""
    battle, colors = entry.battle, entry.battle.colors
    own = rules.model_copy(
        update={
            "shares": battle.shares,
            "limits": rules.limits.model_copy(update=_ROOMY),
            "color": "same" if len(colors) == 1 else "fresh",
        }
    )
    source = {
        "from": SOURCE,
        "battle_id": battle.battle_id,
        "sha256": digest,
        "layout": msgspec.to_builtins(entry.layout),
        "entry": entry.raw,
    }
    replies: dict[str, str] = {}
    for played in battle.rounds:
        number = played.round_number
        replies[f"{number}/obfuscate"] = played.llm1_conversation.response or ""
        replies[f"{number}/recover"] = played.llm2_conversation.response or ""
        answers = [attempt.response or "" for attempt in played.llm3_attempts]
        for at in range(len(battle.shares)):
            replies[f"{number}/attack/{at + 1}"] = answers[at] if at < len(answers) else ""
    fixture = Fixture(
        number=0,
        round=0,
        game=NAME,
        version=VERSION,
        seed=f"cob/{battle.battle_id}",
        seats=(Seat("A", battle.model_A_info.name), Seat("B", battle.model_B_info.name)),
        officials={},
        settings=own.model_dump(mode="json"),
        drawn={"colors": colors, "source": source},
    )
    return Recording(fixture, replies, _at_ms(battle.timestamp_end))


def entered(drawn: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids of the battles from the original, by what was drawn for an arena's matches."""
    sources = [task.get("source", {}) for task in drawn]
    return {source["battle_id"] for source in sources if source.get("from") == SOURCE}


def as_recorded(entry: JsonBattle, outcome: Outcome) -> bool:
    """Return whether a battle comes out as recorded when broken encodings are ignored."""
    return bool(outcome.detail["readings"]["ignore"] == entry.battle.scores)


def write_battles(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A `data.json`, in pieces of text, of the battles among exported matches (`ledger.out.export`). A battle
    that came from such a file goes back as it came, in that file's layout. Of ours the decided ones are
    written; one ended when its record was written, which is given for its start too."""
    layout, before = JsonLayout(), "["
    for document in documents:
        fixture: Fixture = document["fixture"]
        if fixture.game != NAME:
            continue
        source = fixture.drawn.get("source", {})
        outcome = msgspec.json.decode(document["record"])["outcome"]
        if "entry" in source:
            entry: Any = source["entry"]
            layout = msgspec.convert(source["layout"], JsonLayout)
        elif outcome["void"]:
            continue
        else:
            entry = _battle(fixture, outcome, document)
        text = json.dumps(entry, indent=layout.indent, ensure_ascii=layout.ascii)
        margin = " " * layout.indent
        yield f"{before}\n{margin}" + text.replace("\n", f"\n{margin}")
        before = ","
    yield ("[]" if before == "[" else "\n]") + layout.end


def _battle(fixture: Fixture, outcome: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a match as a battle."""
    rounds = msgspec.convert(outcome["detail"]["rounds"], list[Round])
    texts: dict[str, str] = {}
    prompts: dict[str, str] = {}
    for exchange in document["exchanges"]:
        if exchange["reply"] is not None:
            key = exchange["key"].partition("~")[0]
            text = str(msgspec.json.decode(exchange["reply"]).get("text", ""))
            if text or key not in texts:  # a second reply counts, unless it is empty
                texts[key] = text
            prompts.setdefault(key, exchange["messages"][-1]["text"])
    ended = datetime.fromtimestamp(document["at_ms"] / 1000, UTC).isoformat(timespec="microseconds")
    rules = ColorObfuscationRules.model_validate(fixture.settings)
    names = {seat.label: seat.player for seat in fixture.seats}
    first, second = names.values()
    score = outcome["scores"]["A"]
    played = [_round(place, body, names, rules, texts, prompts) for place, body in enumerate(rounds, 1)]
    return {
        "battle_id": f"peerage-{fixture.number}-{fixture.seed[:8]}",
        "timestamp_start": ended,
        "model_A_info": {"name": first, "role_in_round1": "LLM1_LLM2", "role_in_round2": "LLM3"},
        "model_B_info": {"name": second, "role_in_round1": "LLM3", "role_in_round2": "LLM1_LLM2"},
        "plaintext_color": rounds[0].color,
        "rounds": played,
        "battle_outcome": "tie" if score == 0.5 else f"{first if score == 1 else second}_wins",
        "timestamp_end": ended,
    }


def _round(
    number: int,
    played: Round,
    names: Mapping[str, str],
    rules: ColorObfuscationRules,
    texts: Mapping[str, str],
    prompts: Mapping[str, str],
) -> dict[str, Any]:
    own, attacker = names[played.obfuscator], names[played.attacker]
    text, steps = _encoding(rules.encoding(), texts.get(f"{number}/obfuscate", ""))

    def conversation(key: str) -> dict[str, Any]:
        key = f"{number}/{key}"
        return {"prompt": prompts.get(key, ""), "response": texts.get(key) or None}

    attempts = [
        {
            "attempt_number": place,
            "instructions_provided_percentage": rules.shares[place - 1],
            **conversation(f"attack/{place}"),
            "guessed_color": guess.color or None,
            "is_correct": guess.right,
        }
        for place, guess in enumerate(played.attempts, 1)
    ]
    recovered = played.ally and {
        **conversation("recover"),
        "parsed_deobfuscated_color": played.ally.color or None,
        "is_correct_deobfuscation": played.ally.right,
    }
    return {
        "round_number": number,
        "obfuscator_model": own,
        "deobfuscator_model": own,
        "attacker_model": attacker,
        "obfuscated_text": text,
        "instructions_list": steps,
        "llm1_conversation": {
            **conversation("obfuscate"),
            "parsed_obfuscated_text": text,
            "parsed_instructions": steps,
        },
        "llm2_conversation": recovered or {},
        "llm3_attempts": attempts,
        "attacker_succeeded_on_attempt": played.recovered or None,
        **({} if rules.color == "same" else {"plaintext_color": played.color}),
    }


def _encoding(kind: Encoding, text: str) -> tuple[str | None, str | None]:
    """The obfuscated string and the instructions as one text, as a reply has them; None without."""
    try:
        made = kind.parse(text)
    except FormatError:
        return None, None
    tagged = between(text, "instructions_list")
    if tagged:
        return made.text, tagged[0].strip()
    return made.text, "\n".join(f"{place}. {step}" for place, step in enumerate(made.instructions, 1))


def arena_settings(battles: Sequence[JsonBattle], ally_failure: str) -> dict[str, Any]:
    """The settings of an arena for recorded battles: their players, decided as the original does."""
    infos = [info for battle in battles for info in (battle.battle.model_A_info, battle.battle.model_B_info)]
    return {
        "name": "color obfuscation",
        "game": NAME,
        "rules": {"shares": [1], "ally_failure": ally_failure, "order": "recoveries"},
        "players": [
            {"model": f"openrouter:{name}", "name": name} for name in dict.fromkeys(of.name for of in infos)
        ],
    }
