"""The recorded battles of the original, through our game and through a ledger and back."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.offline import fixture

from peerage.arena import Arena, open_arena
from peerage.engine.again.import_recordings import admit, recorded_reply
from peerage.engine.match.driver import Driver
from peerage.game.match import Outcome, Recording
from peerage.games.color_obfuscation import GAME as COLOR_OBFUSCATION
from peerage.games.color_obfuscation.data_json import (
    SOURCE,
    Battle,
    JsonBattle,
    JsonLayout,
    entered,
    read_battles,
    write_battles,
)
from peerage.games.color_obfuscation.data_json import recording as recording_of
from peerage.games.color_obfuscation.rules import ColorObfuscationRules
from peerage.ledger import Batch, FixtureRow, LedgerError
from peerage.ledger.forms.codec import fixture_body
from peerage.ledger.out.export import documents
from peerage.standings.fold import elo_settings

FILE = Path(__file__).parents[1] / "data/cob/data.json"
ENTRIES = read_battles(FILE.read_bytes(), "data.json")
RECORDED = [one.battle for one in ENTRIES]
IGNORE, OURS = ColorObfuscationRules(ally_failure="ignore"), ColorObfuscationRules()


def recording(battle: Battle, rules: ColorObfuscationRules, digest: str = "") -> Recording:
    return recording_of(JsonBattle(battle, msgspec.to_builtins(battle), JsonLayout()), rules, digest)


def outcome(played: Recording) -> Outcome:
    rules = COLOR_OBFUSCATION.rules.model_validate(played.fixture.settings)
    driver = Driver(COLOR_OBFUSCATION, played.fixture, rules)
    todo = driver.start()
    while todo:
        ask = todo.pop()
        todo += driver.feed(ask.key, recorded_reply(played, ask.key))
    assert driver.outcome is not None
    return driver.outcome


def written(arena: Arena) -> str:
    return "".join(write_battles(documents(arena.ledger)))


def known(arena: Arena) -> set[str]:
    return entered(msgspec.json.decode(row.body)["drawn"] for row in arena.ledger.fixtures())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.battle.battle_id)
def test_a_recorded_battle_comes_out_as_recorded_when_broken_encodings_are_ignored(entry: JsonBattle) -> None:
    found = outcome(recording_of(entry, IGNORE))
    assert found.scores == entry.battle.scores
    for one, played in zip(entry.raw["rounds"], found.detail["rounds"], strict=True):
        assert played["recovered"] == (one["attacker_succeeded_on_attempt"] or 0)
        assert played["ally"]["color"] == (one["llm2_conversation"]["parsed_deobfuscated_color"] or "")
        assert played["broken"] != one["llm2_conversation"]["is_correct_deobfuscation"]
        assert [guess["color"] or None for guess in played["attempts"]] == [
            attempt["guessed_color"] for attempt in one["llm3_attempts"]
        ]


def test_our_verdict_under_the_default() -> None:
    """Three encodings were broken; two battles turn."""
    found = [outcome(recording(battle, OURS)) for battle in RECORDED]
    assert [one.scores["A"] for one in found] == [1, 0.5, 0.5, 0.5, 0.5, 0, 1, 0.5, 0.5, 0.5]
    assert [
        place for place, one in enumerate(found) if any(part["broken"] for part in one.detail["rounds"])
    ] == [1, 3, 6]
    assert [one.detail["readings"]["ignore"] for one in found] == [battle.scores for battle in RECORDED]
    void = ColorObfuscationRules(ally_failure="void")
    assert [
        place
        for place, battle in enumerate(RECORDED)
        if outcome(recording(battle, void)).void == "broken_encoding"
    ] == [1, 3, 6]


@pytest.fixture
def arena_folder(tmp_path: Path) -> Path:
    names = dict.fromkeys(n for b in RECORDED for n in (b.model_A_info.name, b.model_B_info.name))
    players = "".join(f'  - {{model: "house:0.5", name: "{name}"}}\n' for name in names)
    (tmp_path / "arena.yaml").write_text(
        f"game: color-obfuscation\nrules: {{ally_failure: ignore}}\nplayers:\n{players}", "utf-8"
    )
    return tmp_path


def test_entered_battles_verify_replay_rate_and_leave_as_they_came(arena_folder: Path) -> None:
    with open_arena(arena_folder) as arena:
        assert known(arena) == set()
        arena.admit([recording_of(one, IGNORE, "ab" * 32) for one in ENTRIES])
        assert known(arena) == {battle.battle_id for battle in RECORDED}
        assert arena.verify().ok
        report = arena.replay()
        assert report.ok
        assert report.recomputed == 10
        ratings = {row.player: row.rating for row in arena.leaderboard("raw")}
        assert ratings == pytest.approx(published())
        source = arena.match(1).drawn["source"]
        assert (source["from"], source["sha256"]) == (SOURCE, "ab" * 32)
        assert arena.stats().matches == 10
        assert written(arena).encode() == FILE.read_bytes()


def strange() -> list[dict[str, Any]]:
    """The kinds of entries that the original writes beside the usual, and what people add by hand."""
    data: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    silent, mute, tagged, small, odd, whole, *rest = data
    silent["rounds"][0] |= {"obfuscated_text": None, "instructions_list": None, "llm2_conversation": {}}
    silent["rounds"][0] |= {"llm3_attempts": [], "attacker_succeeded_on_attempt": None}
    silent["rounds"][0]["llm1_conversation"] |= {"response": None, "parsed_obfuscated_text": None}
    silent["rounds"][0]["llm1_conversation"] |= {"parsed_instructions": None}
    silent["battle_outcome"] = f"{silent['model_A_info']['name']}_wins"
    mute["rounds"][1]["llm2_conversation"] |= {"response": None, "parsed_deobfuscated_color": None}
    mute["rounds"][1]["llm3_attempts"][0] |= {"response": "", "guessed_color": None}
    # The original took the first of two tags, and tags inside of thoughts; it parsed less than we do, too.
    said = tagged["rounds"][0]["llm1_conversation"]["response"]
    said = f"<think><obfuscated_text>x</obfuscated_text></think>{said}"
    tagged["rounds"][0]["llm1_conversation"] |= {"response": said, "parsed_obfuscated_text": "x"}
    tagged["rounds"][0]["obfuscated_text"] = "x"
    tagged["rounds"][1]["llm1_conversation"]["parsed_instructions"] = None
    tagged["rounds"][1] |= {"instructions_list": None, "llm2_conversation": {}, "llm3_attempts": []}
    small["plaintext_color"] = small["plaintext_color"].lower()
    small["rounds"][0]["llm3_attempts"][0]["guessed_color"] = "653c2b"
    odd["note"] = {"by hand": [1, 1.50, None, "Ärger \u2028 𝄞"]}
    del odd["rounds"][0]["llm2_conversation"]["is_correct_deobfuscation"]
    whole["rounds"][0]["llm3_attempts"][0]["instructions_provided_percentage"] = 1
    return [silent, mute, tagged, small, odd, whole, *rest]


@pytest.mark.parametrize("policy", ["ignore", "attacker", "void"])
@pytest.mark.parametrize("layout", [JsonLayout(), JsonLayout(4, False, "\n")], ids=["original", "other"])
def test_every_kind_of_entry_goes_back_byte_for_byte(
    arena_folder: Path, policy: Any, layout: JsonLayout
) -> None:
    body = (json.dumps(strange(), indent=layout.indent, ensure_ascii=layout.ascii) + layout.end).encode()
    rules = ColorObfuscationRules(ally_failure=policy)
    with open_arena(arena_folder) as arena:
        arena.admit([recording_of(one, rules) for one in read_battles(body, "data.json")])
        assert arena.verify().ok
        assert arena.replay().ok
        assert written(arena).encode() == body


def published() -> dict[str, float]:
    """The original's Elo: K = 32 from 1500, in the order of time."""
    ratings: dict[str, float] = {}
    for battle in sorted(RECORDED, key=lambda battle: battle.battle_id):
        first, second = battle.model_A_info.name, battle.model_B_info.name
        a, b = ratings.setdefault(first, 1500), ratings.setdefault(second, 1500)
        change = 32 * (battle.scores["A"] - 1 / (1 + 10 ** ((b - a) / 400)))
        ratings[first], ratings[second] = a + change, b - change
    return ratings


def test_an_arena_goes_on_after_entered_battles(arena_folder: Path) -> None:
    with open_arena(arena_folder) as arena:
        arena.admit([recording(battle, IGNORE) for battle in RECORDED[:6]])
        arena.run(max_matches=14)
        arena.admit([recording(battle, IGNORE) for battle in RECORDED[6:]])
        assert arena.ledger.heads() == (18, 18)
        assert arena.verify().ok
        assert arena.replay().ok
        found = [one.battle for one in read_battles(written(arena).encode(), "ours")]
        assert [battle.battle_id for battle in found[-4:]] == [battle.battle_id for battle in RECORDED[6:]]
        ours = found[6:-4]
        again = [outcome(recording(battle, IGNORE)) for battle in ours]
        assert [one.scores for one in again] == [battle.scores for battle in ours]


def test_what_we_play_reads_back(tmp_path: Path) -> None:
    """Several attempts, repairs and broken encodings among the battles that leave and come back."""
    (tmp_path / "arena.yaml").write_text(
        "game: color-obfuscation\nplayers:\n  - house:0.1\n  - house:0.9\n  - house:0.5\n"
        '  - {model: "house:0.6", name: sloppy, faults: {malformed: 0.3, refusing: 0.1}}\n',
        "utf-8",
    )
    with open_arena(tmp_path) as arena:
        arena.run(max_matches=60)
        entries = read_battles(written(arena).encode(), "ours")
        found = [entry.battle for entry in entries]
        assert len(found) == 60
        assert all(len(battle.colors) == 2 for battle in found)
        assert any(len(one.llm3_attempts) == 6 for battle in found for one in battle.rounds)
        assert any(one["obfuscated_text"] is None for entry in entries for one in entry.raw["rounds"])
        scores = [summary.scores for summary in arena.ledger.summaries()]
    again = [outcome(recording(battle, OURS)) for battle in found]
    assert [tuple(one.scores.values()) for one in again] == scores


def test_an_unreadable_reply_is_stored_once_and_leaves_as_it_came(arena_folder: Path) -> None:
    text = "No colour that anybody could read."
    one = RECORDED[0].rounds[0].llm2_conversation
    odd = msgspec.structs.replace(one, response=text)
    rounds = [msgspec.structs.replace(RECORDED[0].rounds[0], llm2_conversation=odd), RECORDED[0].rounds[1]]
    battle = msgspec.structs.replace(RECORDED[0], rounds=rounds)
    with open_arena(arena_folder) as arena:
        arena.admit([recording(battle, IGNORE)])
        replies = [row.reply for row in arena.ledger.exchanges(1) if row.key.startswith("1/recover")]
        assert len(replies) == 2, "the reply, and what stands for its repair"
        assert sum(text.encode() in (reply or b"") for reply in replies) == 1
        assert arena.replay().ok
        left = json.loads(written(arena))[0]
    assert left["rounds"][0]["llm2_conversation"]["response"] == text


def test_an_incomplete_record_is_refused_and_nothing_is_entered(arena_folder: Path) -> None:
    good = [recording(battle, IGNORE) for battle in RECORDED[:2]]
    bad = good[1]._replace(replies={key: text for key, text in good[1].replies.items() if key != "2/recover"})
    with open_arena(arena_folder) as arena:
        with pytest.raises(LedgerError, match="no reply to '2/recover'"):
            arena.admit([good[0], bad])
        assert arena.ledger.heads() == (0, 0)


def test_matches_under_way_come_first(arena_folder: Path) -> None:
    made = fixture(COLOR_OBFUSCATION, ["Ann", "Bob"])
    body, texts = fixture_body(made)
    with open_arena(arena_folder) as arena, arena.ledger.runner():
        arena.ledger.write(Batch(texts=texts, fixtures=[FixtureRow(1, 1, body)]))
        with pytest.raises(LedgerError, match="1 match is under way"):
            admit(arena.ledger, [], elo_settings(arena.settings.rating))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"plaintext_color": "red"}, "found the color 'RED'"),
        ({"battle_outcome": "draw"}, "found the outcome 'draw'"),
        ({"timestamp_end": "today"}, "found the time 'today'"),
        ({"rounds": []}, "expected two rounds"),
        ({"model_B_info": {"name": "anthropic/claude-3.7-sonnet"}}, "plays against itself"),
        ({"rounds": 3}, r"Expected `array`, got `int` - at `\$\[0\].rounds`"),
    ],
)
def test_a_file_that_is_none_is_told(change: dict[str, object], problem: str) -> None:
    data = json.loads(FILE.read_text("utf-8"))[:1]
    data[0] |= change
    with pytest.raises(ValueError, match=problem):
        read_battles(json.dumps(data).encode(), "data.json")
    with pytest.raises(ValueError, match=r"data\.json is no data\.json"):
        read_battles(b"{", "data.json")
