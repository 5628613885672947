"""What every game says about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from peerage.blocks import Show, plain
from peerage.games.house import House, usual
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Role, Steps

Rules = TypeVar("Rules", bound=BaseModel)

REPAIR_BYTES = 20_000
"""UTF-8 bytes that one repair may add to a request: the unusable reply, cut, and what is wrong with it."""


class Bench(NamedTuple):
    """How many officials of one role a match wants, and the fewest it can be played with.

    `order` is how they are chosen among the eligible: `top` the highest raw Elo first; `top_quarter`
    at random from the best quarter; `contestants` the contestants themselves, higher seeded first.
    `kin` False also bars players of a contestant's family.
    """

    role: Role
    wanted: int
    minimum: int
    order: str = "top"
    kin: bool = True


class CallBound(NamedTuple):
    """Calls that one seat may get in one match: the basis of the plan and of the budget's promise. A seat may
    have several, for phases of a different kind; they add up.

    `expected` is the usual number, `worst` the most (redrafts and one repair each included).
    `input_bytes` bounds a request's UTF-8 bytes, `usual_input_tokens` and `usual_output_tokens` are
    estimates for the plan; `max_tokens` bounds a reply.
    """

    seat: str
    expected: float
    worst: int
    input_bytes: int
    usual_input_tokens: int
    usual_output_tokens: int
    max_tokens: int


def asked_once(
    fixture: Fixture, prompt_bytes: int, usual_input_tokens: int, usual_output_tokens: int, max_tokens: int
) -> tuple[CallBound, ...]:
    """The bounds of a game that asks each contestant one thing, and once more for a repair of its format."""
    return tuple(
        [
            CallBound(
                seat=seat.label,
                expected=1.02,
                worst=2,
                input_bytes=prompt_bytes + REPAIR_BYTES,
                usual_input_tokens=usual_input_tokens,
                usual_output_tokens=min(max_tokens, usual_output_tokens),
                max_tokens=max_tokens,
            )
            for seat in fixture.seats
        ]
    )


class Memory(Protocol):
    """What the matches of an arena teach later ones: a fold over their facts and over amendments."""

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the facts of a finished match; matches come in number order."""

    def amend(self, said: Mapping[str, Any]) -> None:
        """Take in an amendment of the game's stream."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """What is drawn for match `number`, from the arena's secret and its sealing key; plain JSON."""


@dataclass(frozen=True)
class GameSpec(Generic[Rules]):
    """A game at the door of the arena.

    `rules` is the pydantic model of its settings (frozen, extra keys forbidden). `play` is the game.
    `officials(rules)` says whom it needs besides the contestants; `draw(rules, seed, number)` what is drawn
    for match `number` (plain JSON: a topic, a prompt) from the arena's seed; `bounds(rules, fixture)` every
    call it may make. `version` changes whenever the same replies could give another outcome or other
    requests. `rating` holds the keys of the arena's `rating:` section whose default is another in this game.
    `sandbox` says that it yields `Run`, `runs(rules)` whether under these rules; an arena then does not start
    without a sandbox. `seats(rules)` is how many contestants a match has when enough players are there;
    `kin(rules)` whether two of one family may meet in a match of two. `memory(rules)` is a fresh memory of a
    game that keeps one, and draws in place of `draw`; `stream` the amendments that it reads. A match whose
    `drawn` holds a `secret` is sealed: its replies and programs stand on record as `sealing` describes.
    `hides` says that contestants must not see what is on record of a match under way: a player that could is
    refused. `tracks` are the ratings it feeds, the one that its leaderboard shows first. `demo` is how many
    matches tell the players of its demo apart, in well under a minute. `house(call, skill, rng)` says
    how a player of known skill replies (`games.house`), `show(fixture, outcome, replies)` tells a finished
    match in blocks (`peerage.blocks`); the defaults play and tell any game. `lists` are the rules, each a
    list, that only `officials` and `draw` read: fixtures hold what was drawn from them, and leave them empty.
    """

    name: str
    version: int
    about: str
    contestants: tuple[int, int]
    rules: type[Rules]
    play: Callable[[Table], Steps[Outcome]]
    officials: Callable[[Rules], tuple[Bench, ...]]
    draw: Callable[[Rules, str, int], Mapping[str, Any]]
    bounds: Callable[[Rules, Fixture], tuple[CallBound, ...]]
    rating: Mapping[str, Any] = field(default_factory=dict)
    sandbox: bool = False
    runs: Callable[[Rules], bool] = lambda rules: True
    seats: Callable[[Rules], int] = lambda rules: 2
    kin: Callable[[Rules], bool] = lambda rules: True
    tracks: tuple[str, ...] = ("bt", "raw", "cost")
    demo: int = 300
    memory: Callable[[Rules], Memory] | None = None
    house: House = usual
    show: Show = plain
    lists: tuple[str, ...] = ()
    stream: str = ""
    hides: bool = False
