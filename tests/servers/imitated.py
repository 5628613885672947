"""An OpenAI-compatible server whose models are right as often as their names say, on the tasks of one file.

    python -m tests.servers.imitated examples/choose/tasks.csv

`right-90` gives the expected answer to a task in 90 of 100 requests, and else an answer that is a near
miss. `judge-85` prefers the right one of two answers for 85 of 100 pairs, in whatever order it sees them;
where both are right or both wrong it calls a tie. Requests for any other model get a provider's 404. All
follows from the seed and from the requests; the n-th of the same one is drawn apart. It serves on a free
port of this machine, which it prints, until its input ends; then it prints how often each model was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import re
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from aiohttp import web
from tests.servers.openai_server import Behaviour, OpenAIServer, completion

_ANSWER = r"<<<answer {} (\w+)>>>\n(.*?)\n<<<end answer {} \1>>>"
_NAME = re.compile(r"(right|judge)-(\d+)")


def missed(expected: str, rng: Random) -> str:
    """A near miss of a right answer: another digit, word or field."""
    places = [at for at, letter in enumerate(expected) if letter.isdigit()]
    if places:
        at = rng.choice(places)
        return expected[:at] + str((int(expected[at]) + rng.randint(1, 8)) % 10) + expected[at + 1 :]
    others = [word for word in ("billing", "delivery", "technical", "returns") if word != expected]
    return rng.choice(others)


def answering(tasks: dict[str, str], seed: int) -> Behaviour:
    """Answer as the models of this module do; `tasks` are right answers by prompt."""
    asked: Counter[str] = Counter()

    def chance(*what: str) -> Random:
        key = "\0".join(what)
        asked[key] += 1
        return Random(f"{seed}\0{asked[key]}\0{key}")

    async def behave(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if (model := body.get("model")) is None:
            return web.json_response({"error": {"message": "you must provide a model parameter"}}, status=400)
        named = _NAME.fullmatch(model)
        if named is None:
            message = f"The model `{model}` does not exist or you do not have access to it."
            error = {"message": message, "type": "invalid_request_error", "code": "model_not_found"}
            return web.json_response({"error": error}, status=404)
        texts = [message["content"] for message in body["messages"] if isinstance(message["content"], str)]
        text, share = "\n".join(texts), int(named[2]) / 100
        if (prompt := next((one for one in tasks if one in text), None)) is None:
            reply = "yes"  # a probe
        elif named[1] == "right":
            rng = chance(model, prompt)
            reply = tasks[prompt] if rng.random() < share else missed(tasks[prompt], rng)
            # it says the same in other words, as models do
            reply = reply if reply.startswith("{") else rng.choice([reply, f"{reply}.", f"**{reply}**"])
        else:
            reply = verdict(text, tasks[prompt], share, seed)
        if "response_format" in body and named[1] == "judge" and prompt is not None:
            reply = json.dumps({"reason": "By what was asked.", "verdict": reply})
        elif "response_format" in body:
            reply = json.dumps({"reason": "It is.", "answer": reply})
        elif named[1] == "judge" and prompt is not None:
            reply = f"Reason: by what was asked.\nVerdict: {reply}"
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(reply) // 4 + 1}
        return web.json_response(
            completion(reply, model=model, usage=usage | {"total_tokens": sum(usage.values())})
        )

    return behave


def verdict(text: str, expected: str, share: float, seed: int) -> str:
    """A judge's verdict on the two answers in its prompt: A, B or tie."""
    found = [re.search(_ANSWER.format(name, name), text, re.DOTALL) for name in "AB"]
    said = [one[2].strip("*. ") if one else "" for one in found]
    right = [one == expected for one in said]
    if right[0] == right[1]:
        return "tie"
    key = "\0".join([str(seed), *sorted(said)])
    errs = Random(key).random() >= share
    return "AB"[right[1] != errs]


class _Server(OpenAIServer):
    """Lists every model that it imitates."""

    async def _models(self, _: web.Request) -> web.StreamResponse:
        names = [f"{kind}-{share}" for kind in ("right", "judge") for share in range(1, 101)]
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
        )


async def _serve(tasks: dict[str, str], seed: int) -> None:
    models = Counter[str]()
    behave = answering(tasks, seed)

    async def counted(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        models.update([body["model"]] if "model" in body else [])
        return await behave(request, body)

    async with _Server(keep=False) as server:
        server.always(counted)
        print(server.url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(models), flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tasks", type=Path)
    arguments.add_argument("--seed", type=int, default=1)
    stated = arguments.parse_args()
    with stated.tasks.open(encoding="utf-8-sig", newline="") as file:
        answers = {row["prompt"]: row["expected"] for row in csv.DictReader(file)}
    asyncio.run(_serve(answers, stated.seed))
