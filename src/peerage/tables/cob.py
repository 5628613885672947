"""Battles in the shape of the Color Obfuscation Benchmark's `data.json`: read, and written.

https://github.com/10decikelvin/cob publishes its battles as one JSON array. A battle read from there
becomes a recording of our game, replies word for word; a match of ours is written so that the original's
page shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from peerage.engine.driver import ROOM, first_key
from peerage.engine.import_recordings import ASKED_ONCE, Recording
from peerage.formats import Encoding, FormatError, between, read_json
from peerage.games.color_obfuscation import GAME as COLOR_OBFUSCATION
from peerage.games.color_obfuscation.rules import ColorObfuscationRules
from peerage.games.color_obfuscation.score import Guess, Round
from peerage.ledger.export import documents
from peerage.ledger.store import Ledger, LedgerError
from peerage.match import Fixture, Seat

SOURCE = "10decikelvin/cob"
ROOMY = {"max_chars": 20_000, "max_instructions": 200, "instruction_chars": 5_000}
"""Limits of recorded encodings: the original set none."""


class Model(Struct, omit_defaults=True):
    name: str
    role_in_round1: str = ""
    role_in_round2: str = ""


class Obfuscation(Struct):
    prompt: str
    response: str | None
    parsed_obfuscated_text: str | None = None
    parsed_instructions: str | None = None


class Recovery(Struct):
    """What the ally was asked and said; all empty when there was nothing to recover."""

    prompt: str = ""
    response: str | None = None
    parsed_deobfuscated_color: str | None = None
    is_correct_deobfuscation: bool = False


class Attempt(Struct):
    attempt_number: int
    instructions_provided_percentage: float
    prompt: str
    response: str | None
    guessed_color: str | None
    is_correct: bool


class BattleRound(Struct):
    round_number: int
    obfuscator_model: str
    deobfuscator_model: str
    attacker_model: str
    obfuscated_text: str | None
    instructions_list: str | None
    llm1_conversation: Obfuscation
    llm2_conversation: Recovery
    llm3_attempts: list[Attempt]
    attacker_succeeded_on_attempt: int | None


class Battle(Struct):
    """One battle; `instructions_provided_percentage` is a share from 0 to 1, whatever its name."""

    battle_id: str
    timestamp_start: str
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


def read_battles(body: bytes, where: str) -> list[Battle]:
    """The battles of a `data.json`, checked. Raises LedgerError that names the place."""
    try:
        battles: list[Battle] = read_json(body, list[Battle])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LedgerError(f"{where} is no data.json of the Color Obfuscation Benchmark: {error}") from None
    for place, battle in enumerate(battles):
        problem = _problem(battle)
        if problem:
            raise LedgerError(f"{where}, battle {place + 1} ({battle.battle_id}): {problem}")
    return battles


def _problem(battle: Battle) -> str:
    first, second = battle.model_A_info.name, battle.model_B_info.name
    if first == second:
        return f"{first} plays against itself"
    if [one.obfuscator_model for one in battle.rounds] != [first, second]:
        return "expected two rounds, in which first model_A and then model_B obfuscates"
    if battle.battle_outcome not in (f"{first}_wins", f"{second}_wins", "tie"):
        return f"found the outcome {battle.battle_outcome!r}; expected tie, {first}_wins or {second}_wins"
    if len(battle.plaintext_color) != 6 or set(battle.plaintext_color.upper()) - set("0123456789ABCDEF"):
        return f"found the colour {battle.plaintext_color!r}; expected six hexadecimal digits"
    try:
        _at_ms(battle.timestamp_end)
    except ValueError:
        return f"found the time {battle.timestamp_end!r}; expected ISO 8601"
    shares = _shares(battle)
    for one in battle.rounds:
        if [attempt.instructions_provided_percentage for attempt in one.llm3_attempts] != list(
            shares[: len(one.llm3_attempts)]
        ):
            return "the two rounds showed other shares of the instructions"
    return ""


def _shares(battle: Battle) -> tuple[float, ...]:
    """The shares that attackers saw, attempt by attempt; everything at once where nobody got to attack."""
    longest = max((one.llm3_attempts for one in battle.rounds), key=len)
    return tuple([attempt.instructions_provided_percentage for attempt in longest]) or (1.0,)


def _at_ms(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def recording(battle: Battle, rules: ColorObfuscationRules, digest: str = "") -> Recording:
    """A battle as a recording of our game under `rules`, its shares and limits being the battle's own.

    Its source is kept under `drawn`, with the `digest` (SHA-256, hex) of the file that it came from. A reply
    that the original did not get (`null`) is an empty text: unusable, as the original counted it.
    """
    limits = rules.limits.model_copy(update=ROOMY)
    own = rules.model_copy(update={"shares": _shares(battle), "limits": limits, "color": "same"})
    source = {
        "from": SOURCE,
        "battle_id": battle.battle_id,
        "timestamp_start": battle.timestamp_start,
        "timestamp_end": battle.timestamp_end,
        "sha256": digest,
    }
    replies: dict[str, str] = {}
    for one in battle.rounds:
        number = one.round_number
        replies[f"{number}/obfuscate"] = one.llm1_conversation.response or ""
        replies[f"{number}/recover"] = one.llm2_conversation.response or ""
        for attempt in one.llm3_attempts:
            replies[f"{number}/attack/{attempt.attempt_number}"] = attempt.response or ""
    fixture = Fixture(
        number=0,
        round=0,
        game=COLOR_OBFUSCATION.name,
        version=COLOR_OBFUSCATION.version,
        seed=f"cob/{battle.battle_id}",
        seats=(Seat("A", battle.model_A_info.name), Seat("B", battle.model_B_info.name)),
        officials={},
        settings=own.model_dump(mode="json"),
        drawn={"colors": [battle.plaintext_color.upper()], "source": source},
    )
    return Recording(fixture, replies, _at_ms(battle.timestamp_end))


def entered(ledger: Ledger) -> set[str]:
    """The ids of the battles from the original that a ledger holds."""
    found: set[str] = set()
    for row in ledger.fixtures():
        drawn = msgspec.json.decode(row.body)["drawn"]
        if drawn.get("source", {}).get("from") == SOURCE:
            found.add(drawn["source"]["battle_id"])
    return found


def battles(ledger: Ledger) -> Iterator[Battle]:
    """The ledger's decided battles in the original's shape; raises LedgerError as `export` does.

    Void matches have no place in it and are left out. A battle that came from there gets its own times and
    prompts back; one of ours ended when its record was written, which stands for its start too.
    """
    for document in documents(ledger):
        fixture: Fixture = document["fixture"]
        record = msgspec.json.decode(document["record"])
        if fixture.game == COLOR_OBFUSCATION.name and not record["outcome"]["void"]:
            yield _battle(fixture, record["outcome"], document)


def _battle(fixture: Fixture, outcome: Mapping[str, Any], document: Mapping[str, Any]) -> Battle:
    names = {seat.label: seat.player for seat in fixture.seats}
    rounds = msgspec.convert(outcome["detail"]["rounds"], list[Round])
    texts: dict[str, str] = {}
    prompts: dict[str, str] = {}
    for one in document["exchanges"]:
        if one["reply"] is not None:  # a repair comes after what it repairs
            said = msgspec.json.decode(one["reply"])
            text = str(said.get("text", ""))
            if said.get("reason") != ASKED_ONCE and (text or not one["key"].endswith(ROOM)):
                texts[first_key(one["key"])] = text
            prompts.setdefault(first_key(one["key"]), one["messages"][-1]["text"])
    source = fixture.drawn.get("source", {})
    ended = datetime.fromtimestamp(document["at_ms"] / 1000, UTC).isoformat(timespec="microseconds")
    rules = ColorObfuscationRules.model_validate(fixture.settings)
    score = outcome["scores"]["A"]
    first, second = names.values()
    return Battle(
        source.get("battle_id", f"peerage-{fixture.number}-{fixture.seed[:8]}"),
        source.get("timestamp_start", ended),
        Model(first, "LLM1_LLM2", "LLM3"),
        Model(second, "LLM3", "LLM1_LLM2"),
        rounds[0].color,
        [
            _round(place, one, names, rules, texts, {} if source else prompts)
            for place, one in enumerate(rounds, 1)
        ],
        "tie" if score == 0.5 else f"{first if score == 1 else second}_wins",
        source.get("timestamp_end", ended),
    )


def _round(
    number: int,
    played: Round,
    names: Mapping[str, str],
    rules: ColorObfuscationRules,
    texts: Mapping[str, str],
    prompts: Mapping[str, str],
) -> BattleRound:
    said = texts.get(f"{number}/obfuscate", "")
    text, steps = _encoding(rules.encoding(), said)
    asked = f"<obfuscated_text>{text}</obfuscated_text><instructions_list>{steps}</instructions_list>"
    ally = played.ally or Guess(0, "", "", False)
    attempts = [
        Attempt(
            place,
            rules.shares[place - 1],
            prompts.get(f"{number}/attack/{place}", asked),
            texts.get(f"{number}/attack/{place}") or None,
            guess.color or None,
            guess.right,
        )
        for place, guess in enumerate(played.attempts, 1)
    ]
    own = names[played.obfuscator]
    return BattleRound(
        number,
        own,
        own,
        names[played.attacker],
        text,
        steps,
        Obfuscation(
            prompts.get(f"{number}/obfuscate", f"<color_to_obfuscate>{played.color}</color_to_obfuscate>"),
            said or None,
            text,
            steps,
        ),
        Recovery()
        if played.ally is None
        else Recovery(
            prompts.get(f"{number}/recover", asked),
            texts.get(f"{number}/recover") or None,
            ally.color or None,
            ally.right,
        ),
        attempts,
        played.recovered or None,
    )


def _encoding(kind: Encoding, said: str) -> tuple[str | None, str | None]:
    """The obfuscated string and the instructions as one text, as they stand in a reply; None without."""
    try:
        made = kind.parse(said)
    except FormatError:
        return None, None
    tagged = between(said, "instructions_list")
    if tagged:
        return made.text, tagged[0].strip()
    return made.text, "\n".join(f"{place}. {step}" for place, step in enumerate(made.instructions, 1))


def write_battles(found: Sequence[Battle] | Iterator[Battle]) -> Iterator[str]:
    """A `data.json`, in pieces of text."""
    before = "[\n"
    for battle in found:
        yield before + msgspec.json.format(msgspec.json.encode(battle), indent=1).decode()
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
