"""`peerage run` against a server that turns calls away beyond a number in flight, over HTTP."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.engine.arenas import house, write_arena
from tests.servers import openai_server
from tests.servers.crowded import Crowded

from peerage.arena import open_arena


@pytest.mark.parametrize(("bears", "concurrency"), [(7, None), (64, 3)])
async def test_a_run_sends_about_as_many_calls_as_a_server_bears_or_its_user_allows(
    tmp_path: Path, bears: int, concurrency: int | None
) -> None:
    crowded = Crowded(bears)
    async with openai_server.OpenAIServer(keep=False) as server:
        server.always(crowded)
        asked = {"model": "openai:tiny", "base_url": server.url, "key_env": "", "concurrency": concurrency}
        players = [*house(2), *[{**asked, "name": name} for name in ("a", "b")]]
        write_arena(tmp_path, players, engine={"concurrency": 32})
        words = ["run", "--yes", "--max-matches", "16", "--dir", str(tmp_path)]
        run = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "peerage", *words, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await run.communicate()
    assert run.returncode == 0
    assert "done: 16 matches" in told.decode()
    bound = 2 * bears if concurrency is None else 2 * concurrency
    assert 4 <= max(crowded.seen) <= bound
    assert crowded.refused <= (0.1 * crowded.answered if concurrency is None else 0)
    with open_arena(tmp_path) as arena:
        assert arena.verify().ok
