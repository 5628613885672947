"""Work on a ledger by a real Ray cluster of two nodes: what comes of it is what one process comes to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.kills import Nodes
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.cluster.tasks import Tasks
from peerage.engine import replay as replaying
from peerage.engine.replay import replay
from peerage.ledger import LedgerError
from peerage.ledger import verify as verifying
from peerage.ledger.audit import audited
from peerage.settings import ArenaError
from peerage.standings.verify import verify

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
MATCHES = 45


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    nodes = Nodes()
    yield nodes
    nodes.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("arena"), house(6), ledger=postgres.address())
    play(folder, MATCHES)
    return folder


def test_verify_and_replay_are_the_same_by_tasks_of_two_nodes(
    folder: Path, cluster: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "PARALLEL_FROM", 10)
    monkeypatch.setattr(replaying, "PARALLEL_FROM", 10)
    with open_arena(folder) as arena, Tasks(cluster.address, arena.ledger.address) as tasks:
        asked: list[str] = []

        def submit(work: Callable[..., Any], /, *given: Any) -> Future[Any]:
            asked.append(work.__name__)
            return Tasks.submit(tasks, work, *given)

        monkeypatch.setattr(tasks, "submit", submit)
        assert tasks.count == 2
        assert verify(arena.ledger, helpers=tasks) == verify(arena.ledger, workers=1)
        assert replay(arena.ledger, helpers=tasks, folder=folder) == replay(arena.ledger)
        due = {"integrity": 1, "audited": 2, "by_helper": 5}
        assert {name: asked.count(name) for name in asked} == due


def test_what_a_task_raises_is_raised_here_and_a_node_that_dies_loses_nothing(
    folder: Path, cluster: Nodes
) -> None:
    with open_arena(folder) as arena, Tasks(cluster.address, arena.ledger.address) as tasks:
        with pytest.raises(LedgerError, match="is empty; `peerage run` makes a ledger of it"):
            tasks.submit(audited, f"{arena.ledger.address}_no", 1, 2, True).result()
        asleep = [tasks.submit(time.sleep, 1.0) for _ in range(2)]
        cluster.do("kill")
        assert [one.result(timeout=100) for one in asleep] == [None, None]


def test_a_file_is_refused_and_so_is_a_cluster_that_is_not_there(tmp_path: Path, folder: Path) -> None:
    here = write_arena(tmp_path, house(6))
    play(here, 1)
    for words in (["verify"], ["replay"]):
        said = CliRunner().invoke(app, [*words, "--dir", str(here), "--address", "127.0.0.1:1"])
        assert said.exit_code == 2
        assert "--address wants a ledger on a server" in said.output
    with pytest.raises(ArenaError, match=r"the Ray cluster at 127\.0\.0\.1:1 cannot be reached"):
        Tasks("127.0.0.1:1", "postgresql://there")
