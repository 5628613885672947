"""CPU of the client path: a local HTTP server answers in 200 ms, 512 calls are in flight.

Four ways of asking, each in a process of its own, the server in another: ours (a player's client: render,
send, read, price-ready usage), ours recorded (whole duels through engine and ledger), bare aiohttp (post,
read, parse) and inspect_ai. Replies are of 2 KB. Usage: python -m bench.client [CALLS]
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

IN_FLIGHT = 512
PROMPT = "Which of these two answers explains better why a long bridge sways in the wind? " * 25
SYSTEM = "You are a careful and fair judge."
SERVER = Path(__file__).parent.parent / "tests" / "servers" / "openai_server.py"
MOST_TIMES = 3
"""What a recorded call may cost in CPU of bare aiohttp's."""

Ask = Callable[[], Awaitable[object]]


async def measured(ask: Ask, calls: int) -> dict[str, float]:
    """Milliseconds of CPU a call, and seconds, for `calls` calls after a warm-up."""

    async def burst(count: int) -> None:
        left = iter(range(count))

        async def worker() -> None:
            for _ in left:
                await ask()

        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))

    await burst(IN_FLIGHT)
    wall, cpu = time.perf_counter(), time.process_time()
    await burst(calls)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"ms CPU/call": cpu / calls * 1e3, "calls/s": calls / wall}


async def ours(url: str, calls: int) -> dict[str, float]:
    from peerage.game.protocol import Text
    from peerage.players import open_client
    from peerage.players.client import Call
    from peerage.settings import PlayerSettings

    client = open_client(PlayerSettings(model="openai:tiny", base_url=url), {}, Path())
    await client.start()
    call = Call(
        key="answer/A",
        role="contestant",
        messages=(("system", SYSTEM), ("user", PROMPT)),
        expects=Text(),
        max_tokens=500,
        temperature=0.7,
        seed="s",
    )
    try:
        return await measured(lambda: client.answer(call), calls)
    finally:
        await client.close()


def recorded(url: str, calls: int) -> dict[str, float]:
    from peerage.arena import open_arena

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        players = "".join(
            f"  - {{model: 'openai:tiny', base_url: '{url}', name: p{number}}}\n" for number in range(20)
        )
        (folder / "arena.yaml").write_text(
            "pairing: {window: 1024}\n"
            f"engine: {{concurrency: 512, calls: {IN_FLIGHT}}}\n"
            f"players:\n{players}",
            encoding="utf-8",
        )
        with open_arena(folder) as arena:
            arena.run(40)
            wall, cpu = time.perf_counter(), time.process_time()
            report = arena.run(40 + calls // 18)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"ms CPU/call": cpu / report.calls * 1e3, "calls/s": report.calls / wall}


async def aiohttp(url: str, calls: int) -> dict[str, float]:
    from aiohttp import ClientSession, TCPConnector

    body = {
        "model": "tiny",
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}],
        "max_tokens": 500,
        "temperature": 0.7,
    }
    async with ClientSession(connector=TCPConnector(limit=0)) as session:

        async def ask() -> str:
            async with session.post(url + "/chat/completions", json=body) as response:
                return str(json.loads(await response.read())["choices"][0]["message"]["content"])

        return await measured(ask, calls)


async def inspect_ai(url: str, calls: int) -> dict[str, float]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

    model = get_model(
        "openai-api/local/tiny",
        base_url=url,
        api_key="none",
        config=GenerateConfig(max_tokens=500, temperature=0.7, max_connections=IN_FLIGHT, max_retries=0),
    )
    prompt = [ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=PROMPT)]
    return await measured(lambda: model.generate(prompt), calls)


WAYS = {"ours": ours, "aiohttp": aiohttp, "inspect_ai": inspect_ai}


def run_way(way: str, url: str, calls: int) -> None:
    """Measure one way in this process and print its figures as JSON; nothing when it is not installed."""
    try:
        found = recorded(url, calls) if way == "recorded" else asyncio.run(WAYS[way](url, calls))
    except ModuleNotFoundError as error:
        print(f"{way}: {error.name} is not installed", file=sys.stderr)
        return
    print(json.dumps(found))


def main(calls: int = 4_000) -> None:
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "--delay", "0.2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    found: dict[str, dict[str, float]] = {}
    try:
        for way in ("ours", "recorded", "aiohttp", "inspect_ai"):
            done = subprocess.run(
                [sys.executable, "-m", "bench.client", way, url, str(calls)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            if done.stdout.strip():
                found[way] = json.loads(done.stdout.splitlines()[-1])
    finally:
        server.stdin.close()
        server.wait()
    print(f"client path: {IN_FLIGHT} calls in flight, answered in 200 ms (recorded: at most {MOST_TIMES} x)")
    bare = found["aiohttp"]["ms CPU/call"]
    for way, figures in found.items():
        cpu, speed = figures["ms CPU/call"], figures["calls/s"]
        print(f"  {way:12} {cpu:7.3f} ms CPU/call {speed:8.0f} calls/s   {cpu / bare:6.2f} x aiohttp")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_way(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
