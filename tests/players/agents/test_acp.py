"""Agents over ACP as real processes in their jail, with an imitated provider behind the gateway."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.players.agents.acp_world import (
    AGENT,
    COST,
    KEY,
    TOKENS_IN,
    TOKENS_OUT,
    Provider,
    call,
    client,
    running,
    stated,
    steps,
)
from tests.sandbox.native.needs import needs_jail

from peerage.game.work import AgentStep
from peerage.players.agents import acp_process
from peerage.players.agents.acp import AcpClient
from peerage.players.client import Answer, PlayerError
from peerage.sandbox.folder import File, WorkFolder, read_patch

pytestmark = needs_jail


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    here = Provider()
    yield here
    here.close()


@pytest.fixture
async def agent(provider: Provider, tmp_path: Path) -> AsyncIterator[AcpClient]:
    provider.requests.clear()
    here = client(tmp_path, stated(provider.url, timeout_s=20))
    await here.start()
    yield here
    await here.close()
    assert not [*running(f"{tmp_path}/agent.py")]


async def opened(tmp_path: Path, settings: dict[str, Any], **env: str) -> AcpClient:
    here = client(tmp_path, settings, **env)
    await here.start()
    return here


async def told(here: AcpClient, *lines: str, **more: Any) -> Answer:
    return await here.answer(call(*lines, **more))


async def failure(here: AcpClient, *lines: str, **more: Any) -> PlayerError:
    with pytest.raises(PlayerError) as failed:
        await told(here, *lines, **more)
    return failed.value


async def pid(here: AcpClient, **more: Any) -> Any:
    return json.loads((await told(here, "#recall", **more)).text)


# ------------------------------------------------------------------------------------------ replies, money


async def test_an_agent_asks_its_model_and_what_that_costs_is_the_cost_of_its_reply(
    agent: AcpClient, provider: Provider
) -> None:
    answer = await told(agent, "What is up?")
    assert (answer.text, answer.note, answer.thought) == ("from the model", "", True)
    assert (answer.input_tokens, answer.output_tokens) == (TOKENS_IN, TOKENS_OUT)
    assert answer.cost_usd == pytest.approx(COST)
    assert answer.snapshot == "tiny-2026"
    assert not answer.truncated
    assert not answer.refused
    assert answer.trace is not None
    assert answer.trace.steps == (AgentStep("thought", detail="let me see"),)
    assert [each.status for each in answer.trace.calls] == [200]
    ((headers, body),) = provider.requests
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["messages"][-1]["content"]) == ("tiny", "What is up?")
    nothing = await told(agent, "#say hello")
    assert (nothing.cost_usd, nothing.input_tokens) == (0, 0)


async def test_a_request_may_cost_so_much_and_no_more(provider: Provider, tmp_path: Path) -> None:
    here = await opened(tmp_path, stated(provider.url, request_budget=0.003))
    try:
        provider.requests.clear()
        answer = await told(here, *["#model again"] * 20)
        assert answer.trace is not None
        sent = [each for each in answer.trace.calls if not each.refused]
        assert len(provider.requests) == len(sent)
        assert 0 < len(sent) < 20
        assert "insufficient budget" in answer.text
        assert answer.cost_usd is not None
        assert 0.0008 < answer.cost_usd <= 0.003
        assert (await told(here, "once more")).text == "from the model"  # the next request has its own
    finally:
        await here.close()


async def test_an_agent_that_fails_as_its_budget_is_spent_is_cut_and_not_asked_again(
    provider: Provider, tmp_path: Path
) -> None:
    here = await opened(tmp_path, stated(provider.url, request_budget=0.003))
    try:
        answer = await told(here, "#say so far", *["#model again"] * 20, "#fail -32603")
        assert answer.text.startswith("so far")
        assert answer.truncated
        assert answer.note == "what this request may cost or take was spent; what was there then counts"
        assert answer.cost_usd is not None
        with pytest.raises(PlayerError, match="the model is not there"):
            await told(here, "#model again", "#fail -32603")
    finally:
        await here.close()


async def test_a_call_under_way_when_an_agent_ends_is_waited_for_a_little_and_counts_at_its_worst(
    provider: Provider, tmp_path: Path
) -> None:
    here = await opened(tmp_path, stated(provider.url, timeout_s=4))
    provider.delay_s = 4.5
    answer = await told(here, "#title hi", "#say done")
    provider.delay_s = 0.0
    await here.close()
    assert answer.latency_s < 3.5
    assert (answer.text, answer.note, answer.cost_usd) == ("done", "", 0)
    assert answer.possibly_nano > 200 * 2_000
    assert answer.trace is not None
    assert [each.note for each in answer.trace.calls] == ["broken off as the request ended"]


async def test_only_the_text_after_the_last_tool_call_is_the_reply(agent: AcpClient) -> None:
    answer = await told(
        agent, "#plan look", "#say first", "#tool look", "#think hm", "#say then", "#odd", "#image"
    )
    assert answer.text == "then"
    assert answer.trace is not None
    assert answer.trace.steps == (
        AgentStep("plan", detail="[pending] look"),
        AgentStep("text", detail="first"),
        AgentStep("tool", "look", '{"what": "look"}\ndone', "completed"),
        AgentStep("thought", detail="hm"),
        AgentStep("note", "update: available_commands_update"),
        AgentStep("note", "content that is no text: image"),
    )
    silent = await told(agent, "#say first", "#tool look")
    assert (silent.text, silent.note) == ("", "the agent wrote nothing after its last tool call")


@pytest.mark.parametrize(
    ("reason", "truncated", "refused", "note"),
    [
        ("max_tokens", True, False, ""),
        ("max_turn_requests", True, False, ""),
        ("refusal", False, True, ""),
        ("cancelled", False, False, "the agent cancelled its work"),
        ("bored", False, False, "the agent ended for a reason that is not known: 'bored'"),
    ],
)
async def test_why_an_agent_ended_is_heeded(
    agent: AcpClient, reason: str, truncated: bool, refused: bool, note: str
) -> None:
    answer = await told(agent, "#say so far", f"#stop {reason}")
    assert (answer.text, answer.truncated, answer.refused, answer.note) == (
        "so far",
        truncated,
        refused,
        note,
    )


# ------------------------------------------------------------------------------------------------ sessions


async def test_an_agent_remembers_its_match_and_no_other_seat_or_match(agent: AcpClient) -> None:
    first = await pid(agent)
    again = await pid(agent)
    assert (again["cwd"], again["heard"]) == (first["cwd"], ["#recall", "#recall"])
    for other in ({"seat": "B"}, {"match": "another"}):
        there = await pid(agent, **other)
        assert (there["heard"], there["cwd"] == first["cwd"]) == (["#recall"], False)
    await agent.ended("match", "A")
    assert not Path(first["cwd"]).exists()
    after = await pid(agent)
    assert (after["heard"], after["cwd"] == first["cwd"]) == (["#recall"], False)


async def test_judges_probes_and_folders_have_a_process_each(agent: AcpClient) -> None:
    places = [
        (await pid(agent, **more))["cwd"]
        for more in (
            {"role": "judge", "seat": "J"},
            {"role": "judge", "seat": "J"},
            {"seat": ""},
            {"seat": ""},
        )
    ]
    assert len({*places}) == 4
    assert not any(Path(place).exists() for place in places)


async def test_session_none_is_a_process_for_each_request(provider: Provider, tmp_path: Path) -> None:
    here = await opened(tmp_path, stated(provider.url, session="none"))
    assert [(await pid(here))["heard"] for _ in range(2)] == [["#recall"], ["#recall"]]
    assert not [*running(f"{tmp_path}/agent.py")]
    await here.close()


async def test_a_new_process_in_mid_match_is_sent_what_was_asked_and_replied(agent: AcpClient) -> None:
    before = (("system", "Be brief."), ("user", "One?"), ("assistant", "1"))
    first = (await pid(agent, before=before))["heard"]
    assert first == ["Be brief.\n\nYou were asked:\nOne?\n\nYou replied:\n1\n\nYou are asked now:\n\n#recall"]
    assert (await pid(agent, before=before))["heard"] == [*first, "#recall"]
    assert "exit code 3: out of luck" in str(await failure(agent, "#die 3"))
    assert (await pid(agent, before=before))["heard"] == first


async def test_the_agent_idle_longest_makes_room(provider: Provider, tmp_path: Path) -> None:
    here = await opened(tmp_path, stated(provider.url, concurrency=2))
    first, second = (await pid(here, seat="A"))["cwd"], (await pid(here, seat="B"))["cwd"]
    await told(here, "#say A", seat="A")
    await told(here, "#say C", seat="C")
    assert (Path(first).exists(), Path(second).exists()) == (True, False)
    both = await asyncio.gather(*[told(here, "#say one", seat="A"), told(here, "#say two", seat="A")])
    assert sorted(answer.text for answer in both) == ["one", "two"]
    await here.close()
    assert not Path(first).exists()
    assert not [*running(f"{tmp_path}/agent.py")]


async def test_one_that_is_asked_while_another_takes_its_room_is_asked_all_the_same(
    provider: Provider, tmp_path: Path
) -> None:
    here = await opened(tmp_path, stated(provider.url, concurrency=2))
    for seat in ("A", "B"):
        await told(here, "#say ready", seat=seat)
    both = await asyncio.gather(told(here, "#say new", seat="C"), told(here, "#say old", seat="A"))
    assert [answer.text for answer in both] == ["new", "old"]
    await here.close()
    assert not [*running(f"{tmp_path}/agent.py")]


async def test_what_an_agent_started_ends_with_it(agent: AcpClient) -> None:
    mark = "599.125"
    await told(agent, f"#child {mark}")
    while not [*running(mark)]:
        await asyncio.sleep(0.01)
    await agent.ended("match", "A")
    assert not [*running(mark)]


# ----------------------------------------------------------------------------------------------- permission


async def test_tools_are_granted_by_the_settings_and_it_goes_on(agent: AcpClient) -> None:
    asked = ["#may read", "#may edit", "#may execute", "#may fetch", "#may other", "#may edit allow_always"]
    answer = await told(agent, *asked, "#tool done", "#say on")
    assert answer.text == "on"
    assert [status for _, _, status in steps(answer, "permission")] == [*["allowed"] * 3, *["refused"] * 3]
    said = [detail for _, detail, _ in steps(answer, "text")]
    assert said == [
        "read: yes;",
        "edit: yes;",
        "execute: yes;",
        "fetch: no;",
        "other: no; edit: cancelled;",
    ]
    call_of = await told(agent, "#call fs/read_text_file", "#call terminal/create")
    assert call_of.text == "fs/read_text_file: -32601; terminal/create: -32601; "


async def test_nothing_is_granted_between_requests(agent: AcpClient) -> None:
    granted = Path((await pid(agent))["cwd"]) / "granted"
    await told(agent, "#say ok", "#after execute")
    while not granted.exists() or not granted.read_text():
        await asyncio.sleep(0.01)
    assert granted.read_text() == "cancelled"
    answer = await told(agent, "#may execute")
    assert answer.text == "execute: yes; "


async def test_an_agent_gets_its_servers(provider: Provider, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    server = {
        "name": "echo",
        "command": sys.executable,
        "args": ["server.py"],
        "env": {"TOKEN": "t0ken-t0ken"},
    }
    here = await opened(tmp_path, stated(provider.url, mcp=[server]))
    answer = await told(here, "#mcp", "#tool t0ken-t0ken")
    await here.close()
    assert steps(answer, "text")[0][1] == "[key] says hello"  # what it repeats of a secret is not on record


SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"content": [{"type": "text", "text": os.environ["TOKEN"] + " says hello"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


# ---------------------------------------------------------------------------------------------------- walls


async def test_no_key_reaches_an_agent_and_the_arena_is_not_there(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-process-1234567")
    (tmp_path / ".env").write_text(f"PROVIDER_KEY={KEY}\n")
    here = await opened(tmp_path, stated(provider.url), OPENAI_API_KEY="sk-another-1234567", HOME="/root")
    try:
        seen = json.loads((await told(here, "#env")).text)
        assert not [name for name, value in seen.items() if "sk-" in value]
        assert {"URL", "KEY", "MODEL", "PATH", "HOME", "TMPDIR"} <= seen.keys()
        assert seen["HOME"].startswith("/tmp/peerage-work-")
        for secret in (f"{tmp_path}/.env", f"/proc/{os.getpid()}/environ", f"{tmp_path}/arena.db"):
            answer = await told(here, f"#open {secret}")
            assert answer.text in ("FileNotFoundError", "PermissionError")
        await told(here, f"#write {tmp_path}/arena.db x")  # if anywhere, in a folder of its own
        assert not (tmp_path / "arena.db").exists()
        assert "Read-only" in str(await failure(here, "#write /etc/x x"))
    finally:
        await here.close()


async def test_an_agent_reaches_its_model_and_the_network_only_where_that_is_stated(
    agent: AcpClient, provider: Provider, tmp_path: Path
) -> None:
    lines = f"#fetch {provider.url}/models", "#say ,", "#model hi"
    assert (await told(agent, *lines)).text == "no way,from the model"
    here = await opened(tmp_path, stated(provider.url, network=True))
    assert (await told(here, *lines)).text == "200,from the model"
    await here.close()


async def test_an_agent_with_its_own_model_has_no_gateway_and_its_cost_is_unknown(tmp_path: Path) -> None:
    own = {"acp": [sys.executable, "agent.py"], "name": "own", "key_env": "OWN_KEY", "env": {"KEY": "{key}"}}
    here = await opened(tmp_path, own, OWN_KEY="of-its-own-model")
    answer = await told(here, "#env")
    await here.close()
    assert (answer.cost_usd, answer.input_tokens) == (None, None)
    assert '"OWN_KEY": "[key]"' in answer.text, "it has its key, and the record has not"
    shutil.copy(AGENT, tmp_path / "codex-acp")
    own["acp"] = [sys.executable, "codex-acp"]
    with pytest.raises(PlayerError, match=r"no `model` is stated.* only with `network: true`"):
        await opened(tmp_path, own)
    here = await opened(tmp_path, own | {"network": True})
    answer = await told(here, "#env")
    await here.close()
    assert "CODEX_HOME" not in answer.text, "what points one at the gateway is not for its own model"


# --------------------------------------------------------------------------------------------------- faults


async def test_one_that_dies_in_mid_prompt_is_asked_again_in_a_new_process(agent: AcpClient) -> None:
    error = await failure(agent, "#say so far", "#die 3")
    assert (error.kind, error.maybe_paid) == ("transient", False)
    assert str(error) == "agent: ended with exit code 3: out of luck"
    paid = await failure(agent, "#model once", "#die 0")
    assert (paid.kind, paid.maybe_paid) == ("transient", True)
    assert (await pid(agent))["heard"] == ["#recall"]


async def test_one_that_reports_an_error_is_asked_again_and_one_without_access_is_not(
    agent: AcpClient,
) -> None:
    error = await failure(agent, "#fail -32603")
    assert (str(error), error.kind) == ("agent: reports: the model is not there", "transient")
    assert (await failure(agent, "#fail -32000")).kind == "permanent"
    for odd, said in (
        ('{"error": "boom"}', "boom"),
        ('{"error": {"code": 1, "message": "no", "data": {"why": 2}}, "result": {}}', "no {'why': 2}"),
        ('{"result": null}', "an answer without a result"),
        ('{"result": "end_turn"}', "an answer without a result"),
        ("{}", "an answer without a result"),
    ):
        error = await failure(agent, "#say so far", f"#answer {odd}")
        assert (str(error), error.kind) == (f"agent: reports: {said}", "transient")


@pytest.mark.parametrize("how", ["#wait", "#hang"])
async def test_one_that_never_ends_is_cancelled_and_then_killed(
    provider: Provider, tmp_path: Path, how: str
) -> None:
    here = await opened(tmp_path, stated(provider.url, timeout_s=2.5))
    started = time.monotonic()
    error = await failure(here, "#say so far", how)
    assert time.monotonic() - started < 2.5 * 1.25 + 0.5
    assert (str(error), error.kind, error.busy) == ("agent: no reply within 2 s", "transient", True)
    assert not [*running(f"{tmp_path}/agent.py")]
    assert (await pid(here))["heard"] == ["#recall"]
    await here.close()


async def test_one_that_is_never_ready_has_cost_nothing(provider: Provider, tmp_path: Path) -> None:
    here = await opened(tmp_path, stated(provider.url, "--late", "60", timeout_s=1))
    error = await failure(here, "hello")
    assert (str(error), error.maybe_paid) == ("agent: it was not ready within 1 s (`timeout_s`)", False)
    await here.close()
    assert not [*running(f"{tmp_path}/agent.py")]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("#line", "agent: wrote a line of more than 8 MiB"),
        ("#flood", "agent: wrote more than 16 MiB for one request"),
    ],
)
async def test_one_that_floods_is_killed(
    agent: AcpClient, how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert acp_process.MOST_OUTPUT == 64 * 2**20
    monkeypatch.setattr(acp_process, "MOST_OUTPUT", 16 * 2**20)
    assert str(await failure(agent, how)) == said


async def test_noise_is_noted_and_too_much_of_it_a_failure(agent: AcpClient) -> None:
    answer = await told(agent, "#noise 50", "#other lies", "#say fine")
    assert answer.text == "fine"
    assert ("a line that is no message: 7 is no JSON", "", "") in steps(answer, "note")
    assert ("ignored: session/update, not of this session", "", "") in steps(answer, "note")
    error = await failure(agent, "#noise 200", "#hang")
    assert (str(error), error.kind) == ("agent: wrote 100 lines that are no JSON-RPC", "transient")


async def test_another_version_a_missing_program_and_an_unknown_agent_are_said_in_words(
    provider: Provider, tmp_path: Path
) -> None:
    here = await opened(tmp_path, stated(provider.url, "--version-2"))
    error = await failure(here, "hello")
    assert (str(error), error.kind) == ("agent: speaks version 2 of ACP; Peerage speaks 1", "permanent")
    await here.close()
    with pytest.raises(PlayerError, match=r"the program 'no-such-agent' is neither in .* nor on PATH"):
        await opened(tmp_path, stated(provider.url) | {"acp": ["no-such-agent"]})
    with pytest.raises(
        PlayerError, match=r"nothing says how .* is pointed at its model; state the variables"
    ):
        await opened(tmp_path, stated(provider.url, env={"URL": "http://elsewhere"}))
    with pytest.raises(PlayerError, match="no key; set PROVIDER_KEY"):
        await opened(tmp_path, stated(provider.url), PROVIDER_KEY="")


@pytest.mark.parametrize("options", [["--broken"], []])
async def test_one_that_ends_before_its_first_reply_cannot_run_here_after_three_times(
    provider: Provider, tmp_path: Path, options: list[str]
) -> None:
    here = await opened(tmp_path, stated(provider.url, *options))
    errors = [await failure(here, "#die 1") for _ in range(4)]
    assert [error.kind for error in errors] == ["transient", "transient", "permanent", "permanent"]
    said = "no such module" if options else "out of luck"
    assert {str(error) for error in errors} == {f"agent: ended with exit code 1: {said}"}
    assert not any(error.maybe_paid for error in errors)
    await here.close()


async def test_one_that_replied_once_or_whose_model_failed_is_not_taken_for_broken(
    provider: Provider, tmp_path: Path
) -> None:
    here = await opened(tmp_path, stated(provider.url))
    provider.fails = True
    for _ in range(3):
        assert (await failure(here, "#model hi", "#die 1")).kind == "transient"
    provider.fails = False
    assert (await told(here, "#say fine")).text == "fine"
    for _ in range(3):
        assert (await failure(here, "#die 1")).kind == "transient"
    await here.close()


@pytest.mark.parametrize("asked", [False, True])
async def test_a_cancelled_request_leaves_no_process_and_its_cost_is_known(
    provider: Provider, tmp_path: Path, asked: bool
) -> None:
    here = await opened(tmp_path, stated(provider.url, *["--late", "60"] * (not asked)))
    provider.requests.clear()
    asking = asyncio.ensure_future(told(here, "#model once", "#hang"))
    while not (provider.requests if asked else [*running(f"{tmp_path}/agent.py")]):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)
    asking.cancel()
    with pytest.raises(PlayerError) as late:
        await asking
    most = round(COST * 1e9) if asked else 0
    assert (late.value.cost(worst=10**9), late.value.busy) == (most, True)
    await here.close()
    assert not [*running(f"{tmp_path}/agent.py")]


# -------------------------------------------------------------------------------------------------- folders

FOLDER = WorkFolder.of({"a.txt": "A", "b.txt": "B"})


async def test_work_in_a_folder_is_the_patch_that_it_leaves(agent: AcpClient) -> None:
    answer = await told(
        agent, "#open b.txt", "#write a.txt new", "#write c.txt more", "#say ok", folder=FOLDER
    )
    assert read_patch(answer.text) == {"a.txt": File("new"), "c.txt": File("more")}
    assert steps(answer, "text") == [("", "Bok", "")]
    assert answer.note == ""
    nothing = await told(agent, "#say ok", folder=FOLDER)
    assert read_patch(nothing.text) == {}


async def test_when_time_is_up_what_is_in_the_folder_counts(provider: Provider, tmp_path: Path) -> None:
    here = await opened(tmp_path, stated(provider.url, timeout_s=3))
    answer = await told(here, "#write a.txt half", "#hang", folder=FOLDER)
    assert read_patch(answer.text) == {"a.txt": File("half")}
    assert answer.truncated
    assert answer.note == "its time was up; what was in the folder then counts"
    assert not [*running(f"{tmp_path}/agent.py")]
    assert (await failure(here, "#write a.txt half", "#die 1", folder=FOLDER)).kind == "transient"
    await here.close()
