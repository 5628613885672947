"""Players that the leader asks for its workers: on a host that it starts and stops, and people."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cluster.links import HerePlaces, here
from tests.cluster.test_crew import Played
from tests.engine.arenas import house, write_arena
from tests.engine.run.test_hosts import HANDS, uptimes_of
from tests.engine.run.test_people import arena as people_arena
from tests.engine.run.test_people import clients, somebody

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
SERVER = Path(__file__).parents[1] / "servers" / "openai_server.py"


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[HerePlaces]:
    return here(monkeypatch)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_workers_ask_a_real_server_that_the_leader_starts_and_stops(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    served = {"name": "tiny", "model": "openai:tiny", "base_url": f"http://127.0.0.1:{port}/v1"}
    rig = {
        "start": [sys.executable, str(SERVER), "--delay", "0.01", "--port", str(port)],
        "usd_per_hour": 3.6,
        "matches": 3,
        "ready_s": 60,
    }
    write_arena(
        tmp_path,
        [*house(3), {**served, "host": "rig"}],
        game="./hands.py",
        rules={},
        hosts={"rig": rig},
        ledger=postgres.address(),
        engine={"kind": "ray", "workers": 2, "concurrency": 6},
    )
    (tmp_path / "hands.py").write_text(HANDS, "utf-8")
    crew = Played(tmp_path, 12)
    assert crew.verified
    assert (crew.report.reason, crew.report.decided, crew.asked_again) == ("limit", 12, 0)
    assert len(placed[0].links) == 2
    replied = [one for one in crew.exchanges if one.player == "tiny" and one.reply is not None]
    opened = uptimes_of(tmp_path)
    assert opened
    assert {one.why for one in opened} == {"done"}
    assert sum(one.used["tiny"].calls for one in opened) == len(replied) > 0
    assert sum(one.used["tiny"].billed_nano for one in opened) == sum(one.cost_nano or 0 for one in replied)
    assert crew.report.billed_nano == sum(one.held_nano for one in opened)
    with socket.socket() as one, pytest.raises(OSError, match="refused"):
        one.connect(("127.0.0.1", port))


def test_a_person_is_asked_where_the_leader_is_and_matches_wait(
    tmp_path: Path, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    engine = {"kind": "ray", "workers": 2, "concurrency": 6}
    people_arena(tmp_path, ledger=postgres.address(), engine=engine)
    with somebody(tmp_path) as replied:
        crew = Played(tmp_path, 8, clients=clients(tmp_path))
    assert crew.verified
    assert (crew.report.reason, crew.report.decided, crew.asked_again) == ("limit", 8, 0)
    assert len(placed[0].links) == 2
    mine = [one for one in crew.exchanges if one.player == "me" and one.reply is not None]
    assert 0 < len(mine) <= len(replied)
