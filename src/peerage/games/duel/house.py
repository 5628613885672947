"""House players who draft challenges: answers are essays, votes and verdicts those of any house judge."""

from __future__ import annotations

from random import Random
from typing import Any

from peerage.challenges.drafting import REFERENCE
from peerage.games.house import DRAFT_SPREAD, SPREAD, WORDS, Call, Said, essay, subject, usual, worth
from peerage.games.texts import toml


def house(call: Call, skill: float, rng: Random) -> Any:
    if call.role != "author":
        return usual(call, skill, rng)
    if call.key.startswith(f"{REFERENCE}/"):
        made = essay(call, rng.gauss(skill, SPREAD), rng)
        return Said(made.value, {**made.hidden, "right": rng.random() < skill})
    return Said(_draft(call, rng), worth(rng.gauss(skill, DRAFT_SPREAD)))


def _draft(call: Call, rng: Random) -> str:
    topic = (call.oracle or {}).get("topic", "")
    mine = toml(__package__, "house")
    if call.key.startswith("case/"):
        case = rng.choice(mine["cases"]).replace("@", rng.choice(mine["complaints"]))
        age, pulse = 24 + rng.randrange(60), 58 + rng.randrange(60)
        return str(case.format(age=age, pulse=pulse, field=topic or "general medicine"))
    if any("<<<case " in said for _, said in call.messages):
        return str(rng.choice(mine["case_questions"]).replace("@", subject(call)))
    subjects = WORDS["subjects"].get(topic) or (topic or "a question of your own",)
    return str(rng.choice(mine["questions"]).replace("@", rng.choice(subjects)))
