"""The files that make a cluster say what Peerage and Ray understand."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from peerage.cli.main import app
from peerage.settings import load
from peerage.values.environment import DATABASES

ROOT = Path(__file__).parents[2]
HERE = ROOT / "examples" / "cluster"


def words_of(text: str) -> Iterator[list[str]]:
    """The words after `peerage` of every command line in a text."""
    for found in re.finditer(r"(?:^|exec head |HEAD -- |`)(peerage [^`\n]*)", text, re.MULTILINE):
        yield shlex.split(found[1], comments=True)[1:]


def parsed(words: list[str]) -> str:
    """The name of the command that these words are of, all its options and values understood."""
    group: Any = get_command(app)
    name, *rest = words
    command: Any = group.commands[name]
    command.make_context(name, rest, resilient_parsing=False)
    return name


PAGES = [
    "docs/ray.md",
    *(f"examples/cluster/{name}" for name in ("README.md", "compose.yaml", "raycluster.yaml")),
]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_on_a_page_is_one(page: str) -> None:
    text = (ROOT / page).read_text("utf-8").replace("#   ", "")
    found = [parsed(words) for words in words_of(text) if words != ["worker", "HOST:PORT"]]
    assert "run" in found


def test_a_command_that_is_none_is_found() -> None:
    (words,) = words_of("`peerage run --matchs 3`")
    with pytest.raises(Exception, match="No such option"):
        parsed(words)


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / "compose.yaml").read_text("utf-8"))["services"]
    return found


def test_compose_starts_workers_that_join_the_head() -> None:
    there = services()
    assert {"database", "head", "worker"} == {*there}
    head, worker = there["head"], there["worker"]
    assert parsed(worker["command"]) == "worker"
    assert f"--port={worker['command'][1].split(':')[1]}" in head["entrypoint"]
    assert worker["command"][1].split(":")[0] in there
    assert worker["volumes"] == head["volumes"], "workers find the arena where the leader has it"
    assert worker["image"] == head["image"]
    assert worker["environment"]["RAY_AUTH_TOKEN"] == head["environment"]["RAY_AUTH_TOKEN"]
    for one in there.values():
        assert {*one.get("depends_on", {})} <= {*there}
        assert "ports" not in one, "open to these services alone"


def test_head_and_manifest_start_ray_by_options_that_it_has() -> None:
    scripts = pytest.importorskip("ray.scripts.scripts", reason="needs the extra `ray`")
    options = {name for one in scripts.start.params for name in one.opts}
    ray, start, *stated = services()["head"]["entrypoint"]
    assert (ray, start) == ("ray", "start")
    manifest = yaml.safe_load((HERE / "raycluster.yaml").read_text("utf-8"))["spec"]
    for group in (manifest["headGroupSpec"], *manifest["workerGroupSpecs"]):
        stated += [f"--{name}={value}" for name, value in group["rayStartParams"].items()]
    assert {one.split("=")[0] for one in stated} <= options


def test_the_image_has_what_a_worker_needs_and_ledgers_are_found() -> None:
    there = services()
    extras = there["head"]["build"]["args"]["EXTRAS"].split(",")
    assert "ray" in extras
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*extras} <= {*project["optional-dependencies"]}
    assert "[${EXTRAS:-" in (ROOT / "Dockerfile").read_text("utf-8")
    settings = load(HERE)
    variable = settings.ledger.removeprefix("$")
    assert there["head"]["environment"][variable].startswith(DATABASES[variable][1])
    assert settings.engine.kind == "ray"


def test_the_manifest_mounts_the_arena_in_head_and_workers() -> None:
    manifest = yaml.safe_load((HERE / "raycluster.yaml").read_text("utf-8"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    spec = manifest["spec"]
    pods = [one["template"]["spec"] for one in (spec["headGroupSpec"], *spec["workerGroupSpecs"])]
    assert len(pods) == 2
    for pod in pods:
        (container,) = pod["containers"]
        assert container["image"] == pods[0]["containers"][0]["image"]
        assert [one["mountPath"] for one in container["volumeMounts"]] == ["/arena"]
        assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
        assert {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN"} <= {one["name"] for one in container["env"]}
        compile(container["livenessProbe"]["exec"]["command"][-1], "probe", "exec")
    pinned = re.search(r"^ray==(.*)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert pinned is not None
    assert spec["rayVersion"] == pinned[1]
