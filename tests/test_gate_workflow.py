"""The workflow of `examples/gate`, step by step: an imitated provider answers by the prompt that it gets."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from aiohttp import web

from tests.servers.openai_server import OpenAIServer, completion

EXAMPLE = Path(__file__).parents[1] / "examples" / "gate"
INSTALL = "python -m pip install "


def steps() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The environment of the workflow, and the steps of its one job."""
    workflow = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "gate.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    return workflow["env"], job["steps"]


async def built(folder: Path, url: str) -> tuple[int, str, str]:
    """Run the workflow as GitHub does; the exit code of the step that fails, or 0, what was printed, and the
    summary."""
    settings = folder / "arena.yaml"
    text = settings.read_text("utf-8")
    assert text.count("model: openai:gpt-5-mini,") == 2
    imitated = f'openai:gpt-5-mini, base_url: "{url}", price: {{input: 0.25, output: 2}},'
    settings.write_text(text.replace("openai:gpt-5-mini,", imitated), "utf-8")
    summary = folder / "summary.md"
    common, listed = steps()
    code, printed = 0, ""
    for step in listed:
        script = step.get("run", "")
        if code or not script or script.startswith(INSTALL):
            continue
        env = {**os.environ, **common, "GITHUB_STEP_SUMMARY": str(summary), "OPENAI_API_KEY": "imitated"}
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        process = await asyncio.create_subprocess_exec(
            *("bash", "-e", "-c", script),
            cwd=folder,
            env=env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        printed += output.decode()
        code = process.returncode or 0
    return code, printed, summary.read_text("utf-8") if summary.exists() else ""


async def answer(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
    """The right category where the prompt asks for one, else a poem."""
    with (EXAMPLE / "tasks.csv").open(encoding="utf-8", newline="") as file:
        right = {row["prompt"]: row["expected"] for row in csv.DictReader(file)}
    *system, user = [message["content"] for message in asked["messages"]]
    text = right.get(user, "ok") if "one word" in " ".join(system) else "Roses are red."
    return web.Response(body=json.dumps(completion(text)), content_type="application/json")


@pytest.mark.skipif(os.name == "nt", reason="the workflow runs on Linux")
@pytest.mark.parametrize("broken", [False, True])
async def test_a_build_fails_where_the_new_prompt_is_worse(tmp_path: Path, broken: bool) -> None:
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "repository"))
    if broken:
        (folder / "v2.md").write_text("Write a poem about the message.\n")
    async with OpenAIServer() as server:
        server.always(answer)
        code, printed, summary = await built(folder, server.url)
    assert (folder / "gate.xml").exists(), printed
    cases = ElementTree.parse(folder / "gate.xml").getroot().findall(".//testcase")
    assert len(cases) == 1 + 3, "a case for each category too"
    if broken:
        assert code == 1, printed
        assert "::error title=peerage compare::Worse: v2 is worse than v1" in printed
        assert cases[0].find("failure") is not None
        assert "**Worse: v2 is worse than v1" in summary
    else:
        assert code == 0, printed
        assert "::notice title=peerage compare::Shown: v2 is not worse than v1" in printed
        assert cases[0].find("failure") is None
        assert "**Shown: v2 is not worse than v1" in summary
    sent = {request.body["messages"][0]["content"] for request in server.requests if request.body}
    prompts = {(folder / name).read_text().strip() for name in ("v1.md", "v2.md")}
    assert prompts <= {text.strip() for text in sent}


def test_the_workflow_keeps_what_it_writes() -> None:
    common, listed = steps()
    assert "--not-worse-by" in common["GATE"]
    kept = next(step for step in listed if "upload-artifact" in step.get("uses", ""))
    assert kept["if"] == "always()"
    assert kept["with"]["path"].split() == ["gate.xml", "arena.db"]
