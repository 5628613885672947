"""What Dockerfile, compose.yaml and the workflows would do is done, step by step, in a clean environment.

Without a network and a container: pip finds what is needed installed already, `make` says what it would do,
and actions of others (`uses:`) are not run. NOT_RUN names the commands that are not run either, and why.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
import yaml
from tests.engine.arenas import play, write_arena
from tests.packages.environments import ROOT, Environment, closure, environment, requirements, version_of

from peerage.version import __version__

NOT_RUN = {
    "useradd": "it would make a user of this machine",
    "cyclonedx-py": "it needs a network: an environment is installed whose parts it lists",
    "gh release": "it would publish",
}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
git = shutil.which("git")


class Image(NamedTuple):
    """What a Dockerfile's steps left: the environment, where its paths are, and what it starts."""

    environment: Environment
    root: Path
    entrypoint: list[str]
    command: list[str]
    workdir: Path

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.environment.run(*self.entrypoint, *words, cwd=self.workdir, **more)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(INSTRUCTION, its arguments) of a Dockerfile, in order; lines that go on are one."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def not_run(command: str) -> bool:
    return any(word in command for word in NOT_RUN)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The Dockerfile, done in a folder in place of a container's root."""
    base = tmp_path_factory.mktemp("image")
    needed = [*requirements("models", "site", "sandbox"), "hatchling", "pip"]
    made, root = environment(base / "environment", needed), base / "root"
    # Versions that are here, in place of those that continuous integration pins.
    (base / "constraints.txt").write_text(
        "\n".join(f"{name}=={version_of(name)}" for name in closure(needed)), "utf-8"
    )
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    inside, workdir = re.compile(r"(?<![\w./])/(?=wheels|arena|source)"), root
    stated: dict[str, str] = {}
    for word, rest in instructions((ROOT / "Dockerfile").read_text("utf-8")):
        match word:
            case "WORKDIR":
                workdir = root / rest.lstrip("/")
                workdir.mkdir(parents=True, exist_ok=True)
            case "COPY" if "--from" not in rest:
                *sources, target = rest.split()
                place = root / target.lstrip("/") if target.startswith("/") else workdir / target
                for source in sources:
                    assert f"!{source}" in ignored, f".dockerignore keeps {source} away"
                    there = (base if source == "constraints.txt" else ROOT) / source
                    if there.is_dir():
                        shutil.copytree(there, place, ignore=shutil.ignore_patterns("__pycache__"))
                    else:
                        place.mkdir(parents=True, exist_ok=True)
                        shutil.copy(there, place)
            case "RUN" if not not_run(rest):
                done = made.run("sh", "-ec", inside.sub(f"{root}/", rest), cwd=workdir)
                assert done.returncode == 0, f"RUN {rest}\n{done.stdout}{done.stderr}"
            case "ENTRYPOINT" | "CMD":
                stated[word] = rest
    (root / "arena").mkdir(exist_ok=True)
    return Image(made, root, json.loads(stated["ENTRYPOINT"]), json.loads(stated["CMD"]), workdir)


def test_an_arena_is_made_played_and_served_as_compose_says(image: Image) -> None:
    services: Mapping[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    assert {each for one in services.values() for each in one["volumes"]} == {"arena:/arena"}
    assert image.workdir == image.root / "arena"
    made = image.run("init")
    assert made.returncode == 0, made.stderr
    played = image.run(*services["play"]["command"], "--max-matches", "3")
    assert played.returncode == 0, played.stderr
    assert "command" not in services["server"], "the server is what the image starts by itself"
    token = "a-token-of-the-test"
    server = subprocess.Popen(
        [*image.entrypoint, *image.command, "--port", "0"],
        cwd=image.workdir,
        env=image.environment.variables(PEERAGE_TOKEN=token),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        link = next(line.strip() for line in server.stdout if "token=" in line)
        port = re.search(r":(\d+)/", link)
        assert port is not None
        browser = build_opener(HTTPCookieProcessor())  # the token becomes a cookie
        with browser.open(f"http://127.0.0.1:{port[1]}/?token={token}") as page:
            assert b"house:" in page.read()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as it is now, as a clone of it would be."""
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no Git checkout")
    folder = tmp_path_factory.mktemp("clone") / "peerage"
    listed = subprocess.run([git, "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([git, *author(), *words], cwd=folder, check=True)
    return folder


def author() -> list[str]:
    return ["-c", "user.name=A. Person", "-c", "user.email=person@example.org"]


def do(workflow: Path, where: Path, place: Environment, **more: str) -> list[str]:
    """Run the steps of a workflow's jobs in order; return the commands that were not run."""
    left_out = []
    shims = where.parent / "shims"
    shims.mkdir(exist_ok=True)
    for name, does in (("make", f'exec {shutil.which("make")} --dry-run "$@"'), ("chromium", "exit 0")):
        (shims / name).write_text(f"#!/bin/sh\n{does}\n")
        (shims / name).chmod(0o755)
    path = f"{shims}{os.pathsep}{place.variables()['PATH']}"
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        for step in job["steps"]:
            command = step.get("run", "")
            if not_run(command):
                left_out.append(command)
            elif command:
                done = place.run(
                    "bash", "-eo", "pipefail", "-c", command, cwd=where, **{"PATH": path, **more}
                )
                assert done.returncode == 0, f"{workflow.name}: {command}\n{done.stdout}{done.stderr}"
    return left_out


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_the_steps_of_a_workflow_of_this_repository(workflow: Path, clone: Path, image: Image) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    (clone / "CHANGELOG.md").write_text(changelog.replace("unreleased", "2030-01-01"), "utf-8")
    left_out = do(workflow, clone, image.environment, GITHUB_REF_NAME=f"v{__version__}")
    if workflow.stem == "release":
        assert [any(word in one for word in NOT_RUN) for one in left_out] == [True, True]
        assert {file.suffix for file in (clone / "dist").iterdir()} == {".whl", ".gz"}
        assert (clone / "notes.md").read_text("utf-8").startswith("The first release.")
    else:
        assert left_out == []


@pytest.mark.parametrize(("tag", "heading", "why"), [
    ("v9.9.9", __version__, f"v{__version__} was expected"),
    (f"v{__version__}", f"{__version__}, unreleased", "write the date"),
    (f"v{__version__}", "0.0.1", "has no section"),
])  # fmt: skip
def test_a_release_is_refused_where_tag_version_and_changelog_do_not_agree(
    clone: Path, image: Image, tag: str, heading: str, why: str
) -> None:
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\nNews.\n", "utf-8")
    done = image.environment.run("python", ".github/release_notes.py", tag, cwd=clone)
    assert done.returncode == 1
    assert why in done.stderr


def test_the_workflow_of_results_builds_their_pages(image: Image, tmp_path: Path) -> None:
    if git is None:
        pytest.skip("git is not installed")
    arena, results, where = tmp_path / "arena", tmp_path / "results", tmp_path / "clone"
    play(write_arena(arena), 3)
    identity = {"GIT_AUTHOR_NAME": "A. Person", "GIT_AUTHOR_EMAIL": "person@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "A. Person", "GIT_COMMITTER_EMAIL": "person@example.org"}
    for words in (["publish", str(results), "--dir", str(arena)], ["init", str(results)]):
        done = image.run("site", *words, **identity)
        assert done.returncode == 0, done.stderr
    workflow = results / ".github" / "workflows" / "pages.yml"
    subprocess.run([git, "clone", "--quiet", results, where], check=True)
    assert do(workflow, where, image.environment, URL="https://example.org/results") == []
    assert (where / "_site" / "404.html").exists()
    page = (where / "_site" / "index.html").read_text("utf-8")
    assert "<h1" in page
    assert "house:" in page


@pytest.mark.slow
def test_a_nightly_arena_plays_on_from_the_ledger_of_the_night_before(image: Image, tmp_path: Path) -> None:
    if git is None:
        pytest.skip("git is not installed")
    example, hub, where = ROOT / "examples" / "nightly", tmp_path / "hub.git", tmp_path / "clone"
    subprocess.run([git, "init", "--quiet", "--bare", "--initial-branch=main", hub], check=True)
    subprocess.run([git, "clone", "--quiet", hub, where], check=True, capture_output=True)
    for name, target in (("arena.yaml", "play/arena.yaml"), ("nightly.yml", ".github/workflows/nightly.yml")):
        (where / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(example / name, where / target)
    for words in (
        ["add", "."],
        ["commit", "--quiet", "--message", "An arena"],
        ["push", "--quiet", "origin", "HEAD"],
    ):
        subprocess.run([git, *author(), *words], cwd=where, check=True)
    for night in (1, 2):
        checkout = tmp_path / f"night{night}"
        subprocess.run([git, "clone", "--quiet", hub, checkout], check=True)
        assert do(example / "nightly.yml", checkout, image.environment, MATCHES="3", LEDGER_KEY="long") == []
    for of in ("play", "."):
        shown = image.environment.run("peerage", "verify", of, cwd=checkout)
        assert "whole: 6 matches" in shown.stdout
    assert (checkout / "_site" / "index.html").exists()
