"""The shared nouns: Player, Seat, Fixture, Table, Outcome, MatchRecord. Immutable data, no I/O."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from peerage.values.sealing import SALT, Sealed


class Seat(Struct, frozen=True):
    """A player's place in a match.

    Models see `label` alone ("A", "judge/2"). `raw` and `cost` are the player's ratings in the
    snapshot by which the fixture was made.
    """

    label: str
    player: str
    raw: float = 1500.0
    cost: float = 1500.0


ANSWERS = "answers"
"""The key of the fact with the answers that a match got and later ones may be given, by player: the fields of
`GivenAnswer` but for match, text and hidden."""


class GivenAnswer(Struct, frozen=True):
    """An answer that a contestant gave in an earlier `match`, to the request `key` there, and is not asked
    for again: its status as the game saw it, its `text`, and the `reason` where it could not be used. `cost`
    is what it cost then, in the arena's unit, None where unknown; `hidden` is as in `Reply`; `request` is a
    digest of all that was asked, by which the game knows that it would ask the same now."""

    match: int
    key: str
    status: Literal["ok", "invalid", "refused"]
    text: str
    reason: str = ""
    cost: float | None = None
    hidden: Any = None
    request: str = ""


TOKEN_BYTES = 4
"""Bytes of UTF-8 that count as one token where nobody counts tokens."""


class Fixture(Struct, frozen=True):
    """A match about to be played, complete: with the replies received it determines the outcome.

    `number` counts from 1 over the arena; `round` is the pairing round. `seats` are contestants in an order
    drawn at random, but in a series; `officials` maps a role to its seats in order of preference.
    `game` and `version` name the rules, `settings` the game's settings (with what players can read of them),
    `seed` the key of this match, which no player knows while it is played, `drawn` what was drawn for this
    match (a topic, a prompt, a challenge from the pool). `snapshot` is the number of matches folded into the
    ratings it was paired by, `paired_from` the place of the newest entry that pairing took in, matches and
    benches counted (`ledger.topics.places`); 0 in first rounds and in matches that nothing paired. `release`
    is what issued it and can replay it, as pip names it: `peerage==0.2.0`, and after a blank the package of a
    game that is none of ours. `series` is the number of the first match of its series, 0 for
    a match that is in none. `given` are answers of earlier matches, by the label of the contestant that is
    not asked for one here; `shares` is the first match that may have answers in common with this one, so that
    both are one piece of evidence, 0 where there can be none. `sessions` are the contestants who remember
    this match, by label, with the tokens of its earlier turns that go with a request at most; `hands` are the
    labels of those who work in folders with tools of their own.
    """

    number: int
    round: int
    game: str
    version: int
    seed: str
    seats: tuple[Seat, ...]
    officials: Mapping[str, tuple[Seat, ...]]
    settings: Mapping[str, Any]
    drawn: Mapping[str, Any] = {}
    snapshot: int = 0
    paired_from: int = 0
    release: str = ""
    series: int = 0
    given: Mapping[str, GivenAnswer] = {}
    shares: int = 0
    sessions: Mapping[str, int] = {}
    hands: tuple[str, ...] = ()

    @property
    def secret(self) -> str:
        """The secret that the salts of a sealed match follow from; empty for a match that is not sealed.
        Raises Sealed where the ledger is redacted, or the key of the match is not disclosed yet."""
        if not self.seed:
            raise Sealed(f"the key of match {self.number} is disclosed when the match is over")
        sealed = self.drawn.get("secret")
        if not isinstance(sealed, dict):
            return ""
        if SALT not in sealed:
            raise Sealed(f"match {self.number} is sealed; the arena's owner can open it")
        return str(sealed[SALT])

    @property
    def topic(self) -> str:
        """The topic or category that was drawn; empty in games without."""
        return topic_of(self.drawn)

    @property
    def authors(self) -> dict[str, str]:
        """Return who wrote what is judged, by label: the contestants, and in a match that nobody plays those
        whose recorded answers were drawn."""
        return {seat.label: seat.player for seat in self.seats} or dict(self.drawn.get("authors", {}))

    def all_seats(self) -> tuple[Seat, ...]:
        """Contestants, then officials."""
        return self.seats + tuple(seat for seats in self.officials.values() for seat in seats)


class Recording(NamedTuple):
    """A match as somebody recorded it elsewhere: its fixture (number, round and ratings are set when it is
    entered), the text of each reply by request key, and when it ended, in Unix milliseconds."""

    fixture: Fixture
    replies: Mapping[str, str]
    at_ms: int


class GameTable:
    """Input of a game: a fixture, its rules as the game's own type, and named streams of randomness.

    `rng(name)` is a fresh generator for that name, the same in every replay, independent of all others.
    """

    __slots__ = ("drawn", "given", "hands", "officials", "rules", "seats", "seed")

    def __init__(self, fixture: Fixture, rules: Any) -> None:
        self.seats = fixture.seats
        self.officials = fixture.officials
        self.rules = rules
        self.drawn = fixture.drawn
        self.given = fixture.given
        self.hands = fixture.hands
        self.seed = fixture.seed

    def rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed}/{name}")


DONE = "done"
"""The status of a match with a result; of any other it is the reason why there is none."""

DEVELOPMENT = "development"
"""The void of a match that was a trial only: it is reported, nobody is rated, and nothing failed."""


class Outcome(Struct, frozen=True):
    """Outcome of a match.

    `void` is empty, or the reason why the match does not count. `scores` maps each contestant's label
    to its score (a duel: 1, ½ or 0); a contestant without one, whose provider failed, is unranked: the match
    is none of its own, neither won nor lost. At least two have one. `costs` maps labels to what their play
    cost in the arena's cost unit (dollars by default), None when unknown. `facts` is what this match
    teaches others (a challenge accepted); `detail` is the evidence for people: votes, weights, drafts. Both
    are plain JSON data.
    """

    void: str = ""
    scores: Mapping[str, float] = {}
    costs: Mapping[str, float | None] = {}
    facts: tuple[Mapping[str, Any], ...] = ()
    detail: Mapping[str, Any] = {}


SCORE = "Your score is the share of the other players that you are ahead of; a tie counts half."
"""Rule by which ranks become scores, as players see it."""


def by_rank(achieved: Mapping[str, Any]) -> dict[str, float]:
    """Each label's share of the others it is ahead of, a tie counting half: 1 for the only best, 0 for the
    only last. Greater values are better; two players get 1, ½ or 0. At least two labels.
    """
    values = list(achieved.values())
    return {
        label: (sum(own > theirs for theirs in values) + (values.count(own) - 1) / 2) / (len(values) - 1)
        for label, own in achieved.items()
    }


def topic_of(drawn: Mapping[str, Any]) -> str:
    """The topic or category among what was drawn; empty in games without."""
    return str(drawn.get("topic", drawn.get("category", "")))


def ranked(labels: Iterable[str], void: str, scores: Mapping[str, float]) -> list[str]:
    """The labels of contestants whose match an outcome is: of a void one all, else those with a score."""
    return [label for label in labels if void or label in scores]


class Rated(NamedTuple):
    """A match as tables count it: players, their scores (none in a void match) and their costs."""

    players: tuple[str, ...]
    scores: tuple[float, ...]
    costs: tuple[float | None, ...]


def rated(
    seats: Iterable[tuple[str, str]],
    void: str,
    scores: Mapping[str, float],
    costs: Mapping[str, float | None],
) -> Rated:
    """Return what an outcome is for tables, from (label, player) of the seats."""
    players = dict(seats)
    labels = ranked(players, void, scores)
    names = tuple([players[label] for label in labels])
    own = () if void else tuple([scores[label] for label in labels])
    paid = tuple([costs.get(label) for label in labels])
    return Rated(names, own, paid)


class Totals(Struct, frozen=True, gc=False):
    """Sums over a match's exchanges; `unknown_costs` counts the calls whose cost is not known, `failed` says
    that a contestant gave no reply to a request, and is on record only where that is so."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_nano: int = 0
    unknown_costs: int = 0
    failed: bool | msgspec.UnsetType = msgspec.UNSET


class MatchRecord(Struct, frozen=True):
    """The header of a finished match, as the ledger chains it.

    `fixture` is the digest of the issued fixture, `root` the root of the exchanges (hex).
    `ratings` maps each track to the players whose rating moved: name → [before, after].
    """

    number: int
    fixture: str
    root: str
    outcome: Outcome
    ratings: Mapping[str, Mapping[str, tuple[float, float]]]
    totals: Mapping[str, Totals]
