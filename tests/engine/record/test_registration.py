"""Who plays is on a chained stream, without keys and credentials."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import open_arena
from peerage.engine.record.registration import card, changed, identity, prices, registered, registrations
from peerage.ledger import Batch
from peerage.ledger.topics.settings_log import PLAYERS
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient
from peerage.players.models import thinking
from peerage.players.prices import price_of
from peerage.settings import PlayerSettings, SettingsError
from peerage.standings.verify import verify
from peerage.values.sealing import sealing_key

ARENA = """pairing: {window: 4}
players:
  - house:0.9
  - house:0.7
  - house:0.5
  - {model: house:0.3, name: low}
"""


def test_players_are_registered_once_and_again_when_they_change(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(ARENA)
    for matches in (2, 4):
        with open_arena(tmp_path) as arena:
            arena.run(matches)
            assert len(list(arena.ledger.amendments(PLAYERS))) == 4
    changed = ARENA.replace("name: low", "name: low, architecture: dense, price: {input: 1, output: 2}")
    (tmp_path / "arena.yaml").write_text(changed)
    with open_arena(tmp_path) as arena:
        arena.run(6)
        assert arena.ledger.topics()[PLAYERS] == 5
        low = registered(arena.ledger)["low"]
        assert (low["model"], low["architecture"], low["after_match"]) == ("house:0.3", "dense", 4)
        assert verify(arena.ledger).ok


def test_who_left_keeps_its_model_on_the_leaderboard(tmp_path: Path) -> None:
    text = ARENA + "  - {model: house:0.6, name: gone}\n"
    (tmp_path / "arena.yaml").write_text(text)
    with open_arena(tmp_path) as arena:
        arena.run(6)
    (tmp_path / "arena.yaml").write_text(ARENA)
    with open_arena(tmp_path) as arena:
        row = next(row for row in arena.leaderboard() if row.player == "gone")
    assert row.model == "house:0.6"
    assert any(note.startswith("no longer in arena.yaml: withdrawn after match") for note in row.notes)


def test_a_card_holds_no_key_and_no_credentials() -> None:
    price = price_of(PlayerSettings(model="house:0.5"), date(2026, 1, 1))
    server = PlayerSettings(
        model="openai:m", base_url="https://me:s3cret@host:8000/v1?key=s3cret", key_env="MY_KEY"
    )
    agent = PlayerSettings(model="command:./agent --token s3cret")
    listed = PlayerSettings.model_validate({"command": ["./my agent", "--token", "s3cret"]})
    endpoint = PlayerSettings(model="https://me:s3cret@host/act?token=s3cret")
    for player in (server, agent, listed, endpoint):
        kept = str(card(player, price))
        assert "s3cret" not in kept
        assert "MY_KEY" not in kept
    assert card(server, price)["base_url"] == "https://host:8000/v1"
    assert card(agent, price)["model"] == "command:./agent"
    assert card(listed, price)["model"] == "command:./my agent"


def run(folder: Path, text: str, matches: int) -> None:
    (folder / "arena.yaml").write_text(text)
    with open_arena(folder) as arena:
        arena.run(matches)


@pytest.mark.parametrize(
    ("setting", "differs"),
    [
        ("model: house:0.31", "model"),
        ("model: house:0.3, temperature: 0", "temperature"),
        ("model: house:0.3, top_p: 0.5", "top_p"),
        ("model: house:0.3, max_tokens: 400", "max_tokens"),
        ("model: house:0.3, system_prompt: be brief", "system_prompt"),
        ("model: house:0.3, structured: false", "structured"),
        ("model: house:0.3, faults: {slow: 0.1}", "faults"),
    ],
)
def test_something_else_under_the_same_name_stops_the_run(tmp_path: Path, setting: str, differs: str) -> None:
    run(tmp_path, ARENA, 2)
    other = ARENA.replace("model: house:0.3", setting)
    with pytest.raises(SettingsError, match=f"low: {differs} changed .*`version: 2`.*another `name`"):
        run(tmp_path, other, 4)
    run(tmp_path, ARENA, 4)


def test_prices_and_limits_of_traffic_are_no_new_version(tmp_path: Path) -> None:
    run(tmp_path, ARENA, 2)
    traffic = "model: house:0.3, concurrency: 2, timeout_s: 60, family: other, watts: 3, pricing_source: x"
    run(tmp_path, ARENA.replace("model: house:0.3", traffic), 4)


def test_a_new_version_starts_as_a_newcomer_and_keeps_its_line(tmp_path: Path) -> None:
    run(tmp_path, ARENA, 8)
    run(tmp_path, ARENA.replace("model: house:0.3", "model: house:0.8, version: 2"), 16)
    with open_arena(tmp_path) as arena:
        cards = registered(arena.ledger)
        assert cards["low v2"]["versions_of"] == "low"
        rows = {row.player: row for row in arena.leaderboard()}
        assert rows["low"].matches == 4, "what the old version won stays with it"
        assert 0 < rows["low v2"].matches <= 4
        assert any(note.startswith("no longer in arena.yaml") for note in rows["low"].notes)


def test_the_arguments_of_a_command_are_told_apart_and_never_shown() -> None:
    first, second = (
        PlayerSettings.model_validate({"command": ["./agent", word], "name": "a"}) for word in ("x", "y")
    )
    assert identity(first, "key") != identity(second, "key")
    assert identity(first, "key") != identity(first, "other")
    spelled = PlayerSettings(model="openai:m", name="a", base_url="https://me:s3cret@host/v1")
    assert identity(spelled, "k") == identity(spelled.model_copy(update={"base_url": "https://host/v1"}), "k")


def test_room_that_peerage_chose_stays_as_it_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thinker, plain = PlayerSettings(model="openai:o3"), PlayerSettings(model="openai:gpt-4o")
    today = date(2026, 1, 1)
    (tmp_path / "arena.yaml").write_text(ARENA)
    with open_arena(tmp_path) as arena:
        ledger = arena.ledger
        chosen = prices(ledger, [thinker, plain], today)
        room = chosen[thinker.name].thinking.tokens
        assert room > 0 == chosen[plain.name].thinking.tokens
        with ledger.runner():
            pairs = [(player, chosen[player.name]) for player in (thinker, plain)]
            ledger.write(Batch(amendments=registrations(ledger, pairs, "key", 0, 0)))
        later = thinking._families() | {"room": dict.fromkeys(thinking._families()["room"], 2 * room)}
        later["always"] = [*later["always"], "gpt-4o"]
        monkeypatch.setattr(thinking, "_families", lambda: later)
        assert price_of(thinker, today).thinking.tokens == 2 * room, "a later release chooses more"
        assert price_of(plain, today).thinking.tokens == 2 * room
        assert prices(ledger, [thinker, plain], today) == chosen
        assert changed(ledger, [thinker, plain], "key") == {}, "what Peerage chose is no new version"
        stated = thinker.model_copy(update={"thinking_tokens": 7})
        assert prices(ledger, [stated], today)[thinker.name].thinking.tokens == 7
        assert changed(ledger, [stated], "key") == {thinker.name: ["thinking_tokens"]}
        monkeypatch.setattr("peerage.engine.record.registration.seen_to_think", lambda ledger: {plain.name})
        assert prices(ledger, [plain], today)[plain.name].thinking.tokens == 2 * room


class Refusing:
    """A player whose server takes no structured output, which its client finds out by its first call."""

    def __init__(self, settings: PlayerSettings) -> None:
        self._house = HouseClient(settings)
        self.left_out: list[str] = []
        self.told: list[list[str]] = []

    def leave_out(self, names: Iterable[str]) -> None:
        self.told.append(list(names))
        self.left_out = sorted({*self.left_out, *names})

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        self.leave_out(["structured"])
        return self._house.answer_now(call)


def test_how_a_player_is_asked_for_a_format_is_on_record_and_stays(tmp_path: Path) -> None:
    write_arena(tmp_path, 5)
    opened: list[Refusing] = []

    def clients(settings: PlayerSettings) -> Client:
        if settings.name != "p2":
            return HouseClient(settings)
        opened.append(Refusing(settings))
        return opened[-1]

    play(tmp_path, 6, clients=clients)
    with open_arena(tmp_path) as arena:
        first = registered(arena.ledger)
        assert first["p2"]["left_out"] == ["structured"]
        assert not any("left_out" in card for name, card in first.items() if name != "p2")
        assert changed(arena.ledger, arena.settings.players, sealing_key("1")) == {}
        assert verify(arena.ledger).ok
    play(tmp_path, 12, clients=clients)
    assert opened[1].told[0] == ["structured"], "told before it asks anything"
    with open_arena(tmp_path) as arena:
        assert registered(arena.ledger) == first, "once is enough"


def test_upstreams_and_what_is_added_to_requests_are_part_of_what_a_player_is(tmp_path: Path) -> None:
    one = PlayerSettings(model="openrouter:a/b")
    several = [
        one,
        PlayerSettings(model="openrouter:a/b", provider={"only": ["x"]}),
        PlayerSettings(model="openrouter:a/b", provider={"only": ["y"]}),
        PlayerSettings(model="openrouter:a/b", extra_body={"min_p": 0.1}),
    ]
    assert len({identity(player, "key") for player in several}) == 4
    shown = card(several[1], price_of(several[1], date(2026, 1, 1)))
    assert shown["provider"]["only"] == ["x"]
    with open_arena(write_arena(tmp_path)) as arena, arena.ledger.runner():
        rows = registrations(arena.ledger, [(one, price_of(one, date(2026, 1, 1)))], "key", 0, 0)
        arena.ledger.write(Batch(amendments=rows))
        assert [changed(arena.ledger, [player], "key") for player in several] == [
            {},
            {one.name: ["provider"]},
            {one.name: ["provider"]},
            {one.name: ["extra_body"]},
        ]
