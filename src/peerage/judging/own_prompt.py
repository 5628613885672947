"""Prompts of judges that the arena's owner writes, with places such as `{{answer_a}}`. Pure."""

from __future__ import annotations

import re

from peerage.figures import suggest
from peerage.protocol import Prompt

PLACES = ("prompt", "answer_a", "answer_b", "rubric", "expected", "criteria", "format")
NEEDED = ("prompt", "answer_a", "answer_b", "format")
"""Places without which judges could not do their work."""

_PLACE = re.compile(r"\{\{\s*([^{}\s]{1,60})\s*\}\}")


def check_places(text: str, *, rubric: bool, criteria: bool) -> None:
    """Raise ValueError unless a prompt has each place that judges need, and no other than `PLACES`.

    A `rubric` and `criteria` that are stated need their places.
    """
    found = _PLACE.findall(text)
    listed = ", ".join([f"{{{{{name}}}}}" for name in PLACES])
    for name in found:
        if name not in PLACES:
            raise ValueError(
                f"the place {{{{{name}}}}} is unknown{suggest(name, PLACES)}; the places are {listed}"
            )
    needed = [*NEEDED, *["rubric"] * rubric, *["criteria"] * criteria]
    lacking = [f"{{{{{name}}}}}" for name in needed if name not in found]
    if lacking:
        raise ValueError(
            f"the prompt lacks {' and '.join(lacking)}; write {'it' if len(lacking) == 1 else 'each'} where "
            "judges are to read it"
        )


def own_prompt(text: str, fixed: dict[str, str]) -> Prompt:
    """Return the owner's text as a prompt, all in the user's turn, its braces as they are.

    `fixed` are places that stand for a piece of template; the others become places of the same name.
    """
    parts = _PLACE.split(text)
    template = "".join(
        [escaped(part) if at % 2 == 0 else fixed.get(part, f"{{{part}}}") for at, part in enumerate(parts)]
    )
    return Prompt("", template)


def escaped(text: str) -> str:
    """Return a text as a piece of template that renders as it is."""
    return text.replace("{", "{{").replace("}", "}}")
