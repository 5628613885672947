"""The workflow of `examples/nightly`, step by step, with a bare repository in place of the public one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from tests.servers.openai_server import OpenAIServer, completion

EXAMPLE = Path(__file__).parents[1] / "examples" / "nightly"
PLANTED = "sk-planted-4f1c9f1e5a7b4d2e8c3a"
LEDGER_KEY = "a long random text for the ledger"
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("git", "openssl", "bash"))), reason="the workflow runs on Linux"
)


def git(where: Path, *words: str) -> str:
    who = ["-c", "user.name=A. Person", "-c", "user.email=person@example.org"]
    return subprocess.run(
        ["git", *who, "-C", str(where), *words], capture_output=True, text=True, check=True
    ).stdout


def everything(where: Path) -> bytes:
    """All bytes that a repository holds, in any commit of any branch."""
    asked = ["git", "-C", str(where), "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(asked, capture_output=True, check=True).stdout


async def night(hub: Path, checkout: Path, **more: str) -> tuple[int, str]:
    """Do the steps of the workflow in a fresh checkout; the exit code of the step that fails, or 0, and what
    was printed."""
    git(hub.parent, "clone", "--quiet", "--depth", "1", hub.as_uri(), str(checkout))
    workflow = yaml.safe_load((EXAMPLE / "nightly.yml").read_text("utf-8"))
    env = {**os.environ, **workflow["env"], "OPENAI_API_KEY": PLANTED, "LEDGER_KEY": LEDGER_KEY, **more}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    env["MATCHES"] = "2"
    printed = ""
    for step in workflow["jobs"]["play"]["steps"]:
        script = step.get("run", "")
        if not script or script.startswith("python -m pip install"):
            continue
        process = await asyncio.create_subprocess_exec(
            *("bash", "-eo", "pipefail", "-c", script),
            cwd=checkout,
            env=env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        printed += output.decode()
        if process.returncode:
            return process.returncode, printed
    return 0, printed


async def tell(request: web.Request, asked: object) -> web.StreamResponse:
    """A provider that sends back the key that it got."""
    text = f"My key is {request.headers['Authorization'].split()[-1]}, and I say so at some length."
    return web.Response(body=json.dumps(completion(text)), content_type="application/json")


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """The public repository, as its owner makes it; `play/.env` stays with the owner."""
    made, owner = tmp_path / "hub.git", tmp_path / "owner"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(made))
    git(tmp_path, "clone", "--quiet", str(made), str(owner))
    for name, target in (("arena.yaml", "play/arena.yaml"), ("nightly.yml", ".github/workflows/nightly.yml")):
        (owner / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLE / name, owner / target)
    git(owner, "add", ".")
    git(owner, "commit", "--quiet", "--message", "An arena")
    git(owner, "push", "--quiet", "origin", "HEAD:main")
    return made


async def test_two_nights_are_published_and_anybody_can_check_them(hub: Path, tmp_path: Path) -> None:
    async with OpenAIServer() as server:
        server.always(tell)
        settings = tmp_path / "owner" / "play" / "arena.yaml"
        player: dict[str, Any] = {
            "model": "openai:gpt-5-mini",
            "base_url": server.url,
            "key_env": "OPENAI_API_KEY",
        }
        player["price"] = {"input": 1, "output": 5}
        text = settings.read_text("utf-8")
        assert "players:\n" in text
        settings.write_text(text.replace("players:\n", f"players:\n  - {json.dumps(player)}\n"), "utf-8")
        git(tmp_path / "owner", "commit", "--quiet", "--all", "--message", "A player")
        git(tmp_path / "owner", "push", "--quiet", "origin", "HEAD:main")
        for number in (1, 2):
            checkout = tmp_path / f"night{number}"
            code, printed = await night(hub, checkout)
            assert code == 0, printed
            assert (checkout / "_site" / "index.html").exists()
        assert any(request.headers.get("Authorization", "").endswith(PLANTED) for request in server.requests)
    # Anybody's clone.
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(hub), str(clone))
    subjects = git(clone, "log", "--format=%s").splitlines()
    assert [subject.partition(",")[0] for subject in subjects] == [
        "4 matches",
        "2 matches",
        "A player",
        "An arena",
    ]
    assert sorted(file.stem for file in (clone / "matches" / "000").iterdir()) == [*"1234"]
    peerage = [str(Path(sys.executable).with_name("peerage"))]
    verified = subprocess.run([*peerage, "verify", str(clone)], capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stderr
    assert "whole: 4 matches" in verified.stdout
    altered = next(
        file
        for file in (clone / "matches" / "000").iterdir()
        if "I say so at some length" in file.read_text("utf-8")
    )
    altered.write_text(altered.read_text("utf-8").replace("I say so at some", "I say so at great"), "utf-8")
    denied = subprocess.run([*peerage, "verify", str(clone)], capture_output=True, text=True, check=False)
    assert denied.returncode == 1
    assert f"match {altered.stem}" in denied.stdout + denied.stderr
    # Neither a key nor the arena's secret is in any file of any commit; the ledger's branch has one commit.
    held = everything(hub)
    assert b"gpt-5-mini" in held
    secrets = [PLANTED, LEDGER_KEY, arena_secret(tmp_path / "night2" / "play" / "arena.db")]
    assert [secret for secret in secrets if secret.encode() in held] == []
    pages = [file.read_bytes() for file in (tmp_path / "night2" / "_site").rglob("*") if file.is_file()]
    assert not any(secret.encode() in page for secret in secrets for page in pages)
    assert git(hub, "log", "--format=%s", "ledger").splitlines() == ["ledger"]
    assert git(hub, "ls-tree", "--name-only", "ledger").split() == ["arena.db.enc"]


def arena_secret(ledger: Path) -> str:
    """The secret of an arena, from its ledger."""
    from peerage.ledger import open_ledger
    from peerage.ledger.topics.secret import read_secret

    opened = open_ledger(f"sqlite:///{ledger}", ledger.parent, create=False)
    try:
        found = read_secret(opened)
        assert found is not None
        return found.value
    finally:
        opened.close()


async def test_a_night_without_its_key_or_ledger_plays_nothing(hub: Path, tmp_path: Path) -> None:
    code, printed = await night(hub, tmp_path / "keyless", LEDGER_KEY="")
    assert code
    assert "enter the secret LEDGER_KEY" in printed
    assert (await night(hub, tmp_path / "first"))[0] == 0
    code, printed = await night(hub, tmp_path / "wrong", LEDGER_KEY="another")
    assert code
    assert "bad decrypt" in printed
    git(hub, "branch", "-D", "ledger")
    code, printed = await night(hub, tmp_path / "gone")
    assert code
    assert 'the branch "ledger" that they go on from is gone' in printed
    assert git(hub, "branch", "--list", "ledger") == "", "nothing replaced it"
