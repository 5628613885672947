"""Print the section of CHANGELOG.md for a tag; fail where tag, pyproject.toml and changelog do not agree.

python .github/release_notes.py v0.2.0
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str) -> str:
    """The section, without its heading. Raises SystemExit with what does not agree."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, and pyproject.toml says {version}: v{version} was expected")
    sections = re.split(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        if re.match(rf"{re.escape(version)}\b", heading):
            if "unreleased" in heading:
                raise SystemExit(f"CHANGELOG.md says `## {heading}`; write the date in place of unreleased")
            return text.strip()
    raise SystemExit(f"CHANGELOG.md has no section `## {version}`")


if __name__ == "__main__":
    print(notes(sys.argv[1]))
