"""House players who write questions: answers are essays, scores those of any house judge."""

from __future__ import annotations

from random import Random
from typing import Any

from peerage.formats import Questions, Written
from peerage.games.house import DRAFT_SPREAD, WORDS, Call, Said, usual, worth
from peerage.games.texts import toml


def house(call: Call, skill: float, rng: Random) -> Any:
    if not isinstance(call.expects, Questions):
        return usual(call, skill, rng)
    asked, mine = call.oracle or {}, toml(__package__, "house")
    forms = mine[asked.get("sort", "plain")]
    subjects = [subject for some in WORDS["subjects"].values() for subject in some]
    written = [
        Written(
            f"{rng.choice(forms)} {rng.choice(mine['then'])}".replace("@", f"“{rng.choice(subjects)}”"),
            category,
        )
        for category in asked.get("categories") or ("",)
    ]
    return Said(written, [worth(rng.gauss(skill, DRAFT_SPREAD)) for _ in written])
