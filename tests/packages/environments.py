"""Clean environments, made without a network: a new one, and links to the distributions that it may see."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


class Built(NamedTuple):
    """The two files that a release publishes."""

    wheel: Path
    sdist: Path


class Environment(NamedTuple):
    """A Python of its own; `home` is the home folder of those who use it."""

    root: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.root / "bin" / "python"

    def variables(self, **more: str) -> dict[str, str]:
        """Nothing of ours is inherited but the way to the system's programs; pip asks no index."""
        return {
            "PATH": f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # what builds is in the environment; 0 is pip's way of saying so
            **more,
        }

    def run(self, *words: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env=self.variables(**more),
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            check=False,
        )


def environment(root: Path, needed: Iterable[str]) -> Environment:
    """A new environment at `root` that sees the distributions `needed` and all that they need, no others.

    Each of `needed` is a requirement as in pyproject.toml. They are links to those of this Python.
    """
    home = root.with_name(f"{root.name}-home")
    home.mkdir(parents=True)
    venv.create(root, with_pip=False, symlinks=True)
    made = Environment(root, home)
    see(made, needed)
    return made


def see(place: Environment, needed: Iterable[str]) -> None:
    """Let an environment see these distributions and all that they need."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = place.root / "lib" / version / "site-packages"
    for name in closure(needed):
        found = metadata.distribution(name)
        tops = {Path(file).parts[0] for file in found.files or () if ".." not in Path(file).parts}
        for top in sorted(tops - {"__pycache__"}):
            link, there = packages / top, Path(str(found.locate_file(top)))
            if not link.exists() and there.exists():
                link.symlink_to(there)


def closure(needed: Iterable[str]) -> dict[str, set[str]]:
    """All distributions that the requirements come to, each with the extras of it that are needed."""
    found: dict[str, set[str]] = {}
    waiting = [Requirement(one) for one in needed]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        new = {"", *one.extras} - found.get(name, set())
        if not new:
            continue
        found.setdefault(name, set()).update(new)
        for stated in metadata.requires(name) or ():
            inner = Requirement(stated)
            marker = inner.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in new):
                waiting.append(inner)
    return found


def requirements(*extras: str) -> list[str]:
    """What Peerage requires, with these extras."""
    wanted = list(PROJECT["dependencies"])
    for extra in extras:
        for one in PROJECT["optional-dependencies"][extra]:
            inner = Requirement(one)
            wanted += requirements(*inner.extras) if inner.name == "peerage" else [one]
    return wanted


def installed(root: Path, wheel: Path, *extras: str, also: Iterable[str] = ()) -> Environment:
    """An environment with the wheel, what it and these extras need, and distributions `also`."""
    made = environment(root, [*requirements(*extras), *also])
    pip = [sys.executable, "-m", "pip", "--python", made.python, "install", "--no-deps", "--no-compile"]
    done = made.run(*pip, "--quiet", wheel, cwd=made.home)
    assert done.returncode == 0, done.stderr
    return made


def version_of(name: str) -> str:
    return metadata.version(name)
