"""House players of Werewolf: skill decides how well they see through others, hide, and use what they know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from peerage.game import Chosen, HouseCall, HouseReply
from peerage.games.werewolf.rules import NOBODY, Part

SEES, TELL, LED = 3.0, 0.35, 0.3
"""Weights of how well a player sees through one of less skill, of how far a bad speaker gives itself away,
and of how far a good one leads others: fixed so that among players of one skill either side wins about as
often."""
_WHY = (
    "The last vote was too convenient for {x}.",
    "Look at who {x} defended, and when.",
    "{x} says little and follows whoever speaks first.",
    "What {x} says today does not fit what {x} said before.",
    "Of all of us {x} gained most from last night.",
)


class Seen(NamedTuple):
    """Knowledge of a house player: its role, who is what, who lives, what a seer learned, what was said."""

    me: str
    part: Part
    wolves: frozenset[str]
    living: tuple[str, ...]
    looked: Mapping[str, bool]
    claims: Mapping[str, Any]


class Scene(NamedTuple):
    """Events that house players may go by."""

    wolves: Sequence[str]
    looked: dict[str, bool]
    claims: dict[str, Any]

    def of(self, me: str, part: Part, living: Sequence[str]) -> Seen:
        """Return what one seat may go by."""
        looked = dict(self.looked) if part == "seer" else {}
        claims = {label: claim for label, claim in self.claims.items() if label in living and label != me}
        return Seen(me, part, frozenset(self.wolves), tuple(living), looked, claims)


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """A choice or a speech. Who has no skill chooses at random and gives itself away."""
    seen: Seen = call.oracle
    suspects = sorted(suspicion(seen, skill, rng).items(), key=lambda item: -item[1])
    if "/talk/" in call.key:
        points = suspects[0][0]
        quality = min(1.0, max(0.0, rng.gauss(skill, 0.05)))
        text = f"I suspect {points}. {rng.choice(_WHY).format(x=points)}"
        return HouseReply(text, {"quality": round(quality, 4), "points": points})
    options = getattr(call.expects, "options", (NOBODY,))
    if rng.random() > 0.6 + 0.4 * skill:
        return Chosen(rng.choice(options))
    known = dict(suspects)
    if "/protect/" in call.key:
        liked = {label: -known.get(label, 0.0) for label in options}
    elif "/look/" in call.key:
        liked = {label: -1.0 if label in seen.looked else 1 + known[label] for label in options}
    else:
        liked = {label: known.get(label, -2.0) for label in options}
    return Chosen(max(options, key=lambda label: liked[label]), "It fits what was said.")


def suspicion(seen: Seen, skill: float, rng: Random) -> dict[str, float]:
    """Return how much a player would have each other one out: by what it knows, what it sees through, how
    well that one spoke, and whom others, the better speakers above all, point at."""
    scores: dict[str, float] = {}
    for label in seen.living:
        if label == seen.me:
            continue
        evil = label in seen.wolves
        quality, _ = _heard(seen.claims.get(label))
        score = rng.gauss(0, 0.3) - 1.5 * quality
        for other, claim in seen.claims.items():
            trust, points = _heard(claim)
            if points == label and not (seen.part == "werewolf" and other in seen.wolves):
                score += LED * trust**4
        if seen.part == "werewolf":
            score -= 4 * evil * (rng.random() < skill)
        elif label in seen.looked:
            score += 4 if seen.looked[label] else -4
        else:
            score += evil * max(0.0, SEES * (skill - quality) + TELL * (1 - quality) ** 2)
        scores[label] = score
    return scores


def _heard(claim: Any) -> tuple[float, str]:
    """Return how convincing somebody was, and whom it pointed at."""
    if not isinstance(claim, Mapping):
        return 0.4, ""
    return float(claim.get("quality", 0.4)), str(claim.get("points", ""))
