"""Settings of Werewolf, the roles of players, the rules as they read them, and the most they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from peerage.game import Asks, Choice, Fixture, GameRules, MaxTokens, Prompt, Text, texts
from peerage.game.bounds import QUOTE

MOST_SEATS = 10
NOBODY = "nobody"
ONE = {"werewolf": "a werewolf", "seer": "the seer", "doctor": "the doctor", "villager": "a villager"}
"""Words for the one who has a role."""
SIDES = ("wolves", "village")
PACK_ROUNDS = 2
"""Most times that the werewolves of a night are asked: again where they do not name the same victim."""

Part: TypeAlias = Literal["werewolf", "seer", "doctor", "villager"]


SPEECH_CHARS, REASON_CHARS = 600, 200
"""Characters of a speech, and of the reason for a choice; the rest is cut."""


class WerewolfRules(GameRules):
    """Settings of Werewolf."""

    seats: Annotated[
        int, Field(ge=5, le=MOST_SEATS, description="Players in a match, when there are enough.")
    ] = 7
    wolves: int = Field(
        0,
        ge=0,
        le=3,
        description="Werewolves: the more, the harder for the village, and always fewer than half of the "
        "players; 0: one among 5 or 6 players, two among 7 to 9, three among 10.",
    )
    days: int = Field(5, ge=1, le=10, description="Days at most; then werewolves alive have won.")
    talk: int = Field(2, ge=0, le=5, description="Rounds of talk before a vote.")
    max_tokens: MaxTokens = 1_000


def wolves_among(rules: WerewolfRules, seats: int) -> int:
    """Return how many werewolves so many players have."""
    usual = 1 if seats < 7 else 2 if seats < 10 else 3
    return min(rules.wolves or usual, (seats - 1) // 2)


def draw(rules: WerewolfRules, secret: str, number: int) -> dict[str, Any]:
    """The order in which seats of match `number` are dealt roles: players who change seats change roles."""
    order = list(range(MOST_SEATS))
    Random(f"{secret}/roles/{number}").shuffle(order)
    return {"dealt": order}


def parts(rules: WerewolfRules, fixture: Fixture) -> dict[str, Part]:
    """Every seat's role: the first dealt to are werewolves, then come the seer and the doctor."""
    labels = [seat.label for seat in fixture.seats]
    dealt = [labels[place] for place in fixture.drawn["dealt"] if place < len(labels)]
    pack = wolves_among(rules, len(labels))
    wolves: list[Part] = ["werewolf"] * pack
    cards: list[Part] = [*wolves, "seer", "doctor"]
    card_of = dict(zip(dealt, cards, strict=False))
    return {label: card_of.get(label, "villager") for label in labels}


def side(fixture: Fixture, label: str) -> str:
    """The side that a seat is on: what players are rated as."""
    part = parts(WerewolfRules.model_validate(fixture.settings), fixture)[label]
    return "wolves" if part == "werewolf" else "village"


QUESTIONS = ("hunt", "look", "protect", "speak", "vote")
"""Texts that ask for something."""


def terms(rules: WerewolfRules, seats: int) -> dict[str, str]:
    """Return what fills the rules as every role reads them."""
    pack = wolves_among(rules, seats)
    villagers = seats - pack - 2
    rounds = "the living speak all at once" + (f", {rules.talk} times" if rules.talk > 1 else "")
    return {
        "others": str(seats - 1),
        "wolves": f"One of the {seats} players is a werewolf"
        if pack == 1
        else f"{pack} of the {seats} players are werewolves, who know each other",
        "villagers": {0: "nobody else", 1: "one villager"}.get(villagers, f"{villagers} villagers"),
        "talk": rounds if rules.talk else "nobody speaks",
        "days": str(rules.days),
    }


def system(rules: WerewolfRules, part: Part) -> str:
    """Return the template of the rules as a role reads them."""
    own = texts(__package__, rules.texts)
    return f"{own['system']}{own['roles'][part]}"


def choice(rules: WerewolfRules, field: str, options: tuple[str, ...]) -> Choice:
    """One of the players named, with a reason."""
    return Choice(field, options, REASON_CHARS)


def asks(rules: WerewolfRules, fixture: Fixture) -> Iterator[Asks]:
    """Day by day: everybody speaks and votes, the roles that have something to do at night do it."""
    seats, roles = len(fixture.seats), parts(rules, fixture)
    pack = [label for label, part in roles.items() if part == "werewolf"]
    speech = rules.talk * (seats - 1) * (SPEECH_CHARS + QUOTE)
    lines = seats * 60 + 400
    """Characters of the arena's own news of a day and a night."""
    options = choice(rules, "protect", (*roles, NOBODY))
    own = texts(__package__, rules.texts)
    longest = max([own[name] for name in QUESTIONS], key=len)
    for day in range(1, rules.days + 1):
        whispers = PACK_ROUNDS * (len(pack) - 1) * (REASON_CHARS + QUOTE)
        quoted = day * (speech + whispers + lines)
        usual = max(0.1, 1 - 0.25 * (day - 1))
        rest = {
            "max_tokens": rules.max_tokens,
            "quoted": quoted,
            "usual_quoted": quoted // 10,
            "usual_output": 150,
        }
        prompts = {part: Prompt(system(rules, part), longest) for part in {*roles.values()}}
        prompt_list = tuple(prompts.values())
        if rules.talk:
            speaks = Text(SPEECH_CHARS)
            yield Asks("contestant", prompt_list, speaks, rules.talk, usual=usual * rules.talk, **rest)
        yield Asks("contestant", prompt_list, options, 1, usual=usual, **rest)
        for label, part in roles.items():
            if part == "seer" or (part != "villager" and day > 1):
                nights = PACK_ROUNDS if part == "werewolf" and len(pack) > 1 else 1
                yield Asks(label, prompts[part], options, nights, usual=usual, **rest)
