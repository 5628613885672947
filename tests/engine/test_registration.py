"""Who plays is on a chained stream, without keys and credentials."""

from datetime import date
from pathlib import Path

from peerage.arena import open_arena
from peerage.engine.registration import STREAM, card, registered
from peerage.ledger.verify import verify
from peerage.players.prices import price_of
from peerage.settings import PlayerSettings

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
            assert len(list(arena.ledger.amendments(STREAM))) == 4
    changed = ARENA.replace("name: low", "name: low, architecture: dense, price: {input: 1, output: 2}")
    (tmp_path / "arena.yaml").write_text(changed)
    with open_arena(tmp_path) as arena:
        arena.run(6)
        assert [row.sequence for row in arena.ledger.amendments(STREAM)] == [1, 2, 3, 4, 5]
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
        row = next(row for row in arena.leaderboard() if row["player"] == "gone")
    assert row["model"] == "house:0.6"
    assert "no longer in arena.yaml" in row["notes"]


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
