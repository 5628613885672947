"""Whole arenas with agents over ACP, played by `peerage run`: results, money, keys, a kill in mid-prompt."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.players.agents.acp_world import AGENT, COST, KEY, TOKENS_IN, TOKENS_OUT, Provider, running, stated
from tests.sandbox.native.needs import needs_jail

from peerage.arena import open_arena
from peerage.players.checks import check
from peerage.settings import PlayerSettings

pytestmark = needs_jail

ROUNDS, MATCHES = 3, 3
ASKED = MATCHES * ROUNDS * 2


def reply(prompt: str) -> str:
    """The first word of a choice that a prompt offers, or some text."""
    if '"moves"' in prompt:
        return '{"moves": ["cooperate"]}'
    choice = re.search(r'"(\w+)": "(\w+)" \|', prompt)
    return json.dumps({"reason": "It is so.", choice[1]: choice[2]}) if choice else "A ferry takes two."


@pytest.fixture
def provider() -> Iterator[Provider]:
    here = Provider(reply)
    yield here
    here.close()


def written(folder: Path, provider: Provider, **arena: Any) -> None:
    shutil.copy(AGENT, folder / "agent.py")
    (folder / ".env").write_text(f"PROVIDER_KEY={KEY}\n")
    players = [stated(provider.url, name=name, temperature=at / 10) for at, name in enumerate(("one", "two"))]
    players += arena.pop("players", [])
    (folder / "arena.yaml").write_text(yaml.safe_dump({"players": players, "budget": 50.0} | arena))


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    pipe = subprocess.PIPE
    line = [sys.executable, "-m", "peerage", *words]
    return subprocess.Popen(line, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)


def played(folder: Path, *words: str) -> str:
    process = command(folder, "run", "--yes", "--no-probe", "--matches", str(MATCHES), *words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert KEY not in out + err
    return out


def no_key_below(folder: Path) -> None:
    for file in folder.iterdir():
        if file.is_file() and file.name != ".env":
            assert KEY.encode() not in file.read_bytes(), file
    assert not [*running(f"{folder}/agent.py")]


MARKET = {"game": "market", "rules": {"market": "prisoners-dilemma", "seats": 2, "rounds": ROUNDS}}


def test_a_run_that_is_killed_in_mid_prompt_goes_on_and_pays_nothing_twice(
    tmp_path: Path, provider: Provider
) -> None:
    written(tmp_path, provider, **MARKET)
    provider.delay_s = 0.3
    run = command(tmp_path, "run", "--yes", "--no-probe", "--matches", str(MATCHES), "--log-level", "info")
    while len(provider.requests) < 9:  # in the second round of some match
        time.sleep(0.01)
        assert run.poll() is None, run.communicate()
    assert [*running(f"{tmp_path}/agent.py")]
    run.send_signal(signal.SIGKILL)
    assert KEY not in "".join(run.communicate())
    deadline = time.monotonic() + 5
    while [*running(f"{tmp_path}/agent.py")] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [*running(f"{tmp_path}/agent.py")], "the launchers see that nobody waits for them"
    provider.delay_s = 0.0
    killed_at = len(provider.requests)
    played(tmp_path)
    with open_arena(tmp_path) as arena:
        assert arena.replay().ok
        assert [arena.match(number).status for number in range(1, MATCHES + 1)] == ["done"] * MATCHES
        replies = [one for number in range(1, MATCHES + 1) for one in arena.match(number).exchanges]
    assert len(replies) == ASKED
    assert sum(one.cost_usd or 0 for one in replies) == pytest.approx(ASKED * COST)
    assert any("You replied:" in body["messages"][-1]["content"] for _, body in provider.requests[killed_at:])
    again = [one for one in replies if one.attempts > 1]
    assert 0 < len(again) <= 2 * MATCHES, "a request of each seat was in flight at most"
    assert killed_at < len(provider.requests) <= ASKED + len(again)
    no_key_below(tmp_path)


def test_agents_play_a_duel_and_how_they_got_to_their_replies_is_on_record(
    tmp_path: Path, provider: Provider
) -> None:
    written(tmp_path, provider, game="duel", players=["house:0.4", "house:0.6", "house:0.7"])
    assert "3 matches" in played(tmp_path)
    with open_arena(tmp_path) as arena:
        assert arena.replay().ok
        ways = [
            one
            for number in range(1, MATCHES + 1)
            for one in arena.match(number).exchanges
            if one.player in ("one", "two") and one.trace is not None
        ]
    assert len(ways) == len(provider.requests)
    for one in ways:
        assert one.trace is not None
        assert [step.detail for step in one.trace.steps if step.kind == "thought"] == ["let me see"]
        assert [(each.input_tokens, each.output_tokens) for each in one.trace.calls] == [
            (TOKENS_IN, TOKENS_OUT)
        ]
    no_key_below(tmp_path)


def test_one_that_dies_in_every_prompt_is_benched_and_the_others_play_on(
    tmp_path: Path, provider: Provider
) -> None:
    dies = stated(provider.url, "--dies", name="dies", temperature=0.9)
    written(tmp_path, provider, players=[dies], **MARKET)
    played(tmp_path, "--matches", "6")
    with open_arena(tmp_path) as arena:
        assert arena.replay().ok
        (row,) = [row for row in arena.leaderboard() if row.player == "dies"]
        assert row.status == "benched"
        matches = [arena.match(number) for number in range(1, 7)]
    asked = [one for match in matches for one in match.exchanges if one.player == "dies"]
    assert sum(one.attempts for one in asked if not (one.reason or "").startswith("benched")) <= 6
    assert any("ended with exit code 1: out of luck" in (one.reason or "") for one in asked)
    assert [match.status for match in matches].count("done") >= 2
    no_key_below(tmp_path)


async def test_the_doctor_says_whether_an_agent_can_be_started(tmp_path: Path, provider: Provider) -> None:
    shutil.copy(AGENT, tmp_path / "agent.py")
    found = await check(PlayerSettings(**stated(provider.url)), {"PROVIDER_KEY": KEY}, tmp_path)
    assert [(one.subject, one.ok) for one in found] == [
        *[(subject, True) for subject in ("library", "key", "server", "agent")]
    ]
    assert found[-1].found == "its agent can be started"
    gone = PlayerSettings(**stated(provider.url) | {"acp": ["./gone.py"]})
    last = (await check(gone, {"PROVIDER_KEY": KEY}, tmp_path))[-1]
    assert (last.ok, last.fix) == (False, "fix `acp`")
    assert last.found == f"the program './gone.py' is neither in {tmp_path} nor on PATH"
    (tmp_path / "kept.py").write_text("")
    kept = PlayerSettings(**stated(provider.url) | {"acp": ["./kept.py"]})
    last = (await check(kept, {"PROVIDER_KEY": KEY}, tmp_path))[-1]
    assert not last.ok
    assert last.found == f"{tmp_path}/kept.py may not be executed; `chmod +x {tmp_path}/kept.py` allows it"
    known = PlayerSettings(**stated(provider.url) | {"acp": ["no-such-place/codex-acp"]})
    faults = [one for one in await check(known, {}, tmp_path) if not one.ok]
    assert [one.subject for one in faults] == ["key", "agent"], "all that is missing at once"
    assert faults[-1].found.endswith("; `npm install -g @zed-industries/codex-acp` installs it")
