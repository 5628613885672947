"""Words of games that are data, in TOML files of their folders."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from peerage.judging.prompts import MATERIAL
from peerage.protocol import Prompt

_INCLUDED = re.compile(r"\{([A-Z_]+)\}")


@cache
def toml(package: str, name: str) -> Mapping[str, Any]:
    """Return what NAME.toml of a package says."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def texts(package: str) -> Mapping[str, Any]:
    """Return what `texts.toml` of a package says: a table with a `user` text is a `Prompt`. In every text
    `{NAME}` stands for the text `name` of the same file, `{MATERIAL}` for that of `judging.prompts`."""
    found = {"material": MATERIAL, **toml(package, "texts")}

    def whole(said: Any) -> Any:
        if isinstance(said, str):
            return _INCLUDED.sub(lambda place: str(found[place[1].lower()]), said)
        if not isinstance(said, dict):
            return said
        parts = {name: whole(one) for name, one in said.items()}
        return Prompt(**parts) if "user" in parts else parts

    return {name: whole(said) for name, said in found.items()}
