"""What a worker needs on its machine before it begins."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.run.test_hosts import HANDS

from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.games import release_of
from peerage.players.house import HouseClient, PacedClient
from peerage.players.prices import Price
from peerage.settings import ArenaError, PlayerSettings
from peerage.settings.game_file import files_of, load_file

pytest.importorskip("psycopg", reason="needs the extra `ray`")


def test_where_somebody_takes_a_while_to_reply_more_is_gathered_for_a_transaction() -> None:
    from peerage.cluster.worker import GATHER_S, PATIENT_S, gathers_s

    at_once = PlayerSettings(name="a", model="house:0.5")
    quick = PlayerRuntime(at_once, HouseClient(at_once), Price())
    slow = PlayerRuntime(at_once, PacedClient(HouseClient(at_once), lambda call, answer: 1.0), Price())
    assert gathers_s([quick, quick]) == GATHER_S < gathers_s([quick, slow]) == PATIENT_S


def test_games_in_files_are_loaded_where_they_are_those_of_the_leader(tmp_path: Path) -> None:
    from peerage.cluster.worker import _load_games

    path = tmp_path / "hands.py"
    path.write_text(HANDS, "utf-8")
    name = load_file(path).name
    files = files_of([name, "duel"])
    assert files == {str(path.resolve()): release_of(name)}
    _load_games(files)
    path.write_text(f"{HANDS}\n# more\n", "utf-8")
    with pytest.raises(ArenaError, match=r"hands\.py differs between the machines"):
        _load_games(files)
    path.unlink()
    with pytest.raises(ArenaError, match=r"on the machine of a worker, the game's file .* cannot be read"):
        _load_games(files)


async def test_programs_on_workers_are_kept_from_the_keys_and_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peerage.cluster import worker

    player = PlayerSettings(name="a", command=["./agent"])
    posting: Any = SimpleNamespace(
        folder=str(tmp_path),
        settings=SimpleNamespace(ledger="postgresql://host/arena", everyone=[player]),
        prices={"a": Price()},
        env={},
        clients=None,
        left_out={},
    )
    hidden: list[Path] = []

    def opened(settings: PlayerSettings, env: object, folder: Path, secret: list[Path], price: Price) -> Any:
        hidden.extend(secret)
        return HouseClient(PlayerSettings(name="a", model="house:0.5"))

    monkeypatch.setattr(worker, "open_client", opened)
    await worker.Worker(posting, lambda news: None)._open_runtimes()
    assert tmp_path / ".env" in hidden
