"""What every game says about itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_args

import msgspec
from pydantic import BaseModel, Field

from peerage.blocks import Show, plain
from peerage.formats import Format
from peerage.games.cost import CostUnit
from peerage.games.house import House, usual
from peerage.games.presets import Preset
from peerage.games.section import Section
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Prompt, Reply, Role, Steps

REPAIR_BYTES = 20_000
"""UTF-8 bytes that one repair may add to a request: the unusable reply, cut, and what is wrong with it."""
_SMALL_BYTES = 4_000
"""UTF-8 bytes of all that the arena itself fills a prompt with, its format and what was drawn left out."""
_CHAR_BYTES = 4
_REPAIRED = 1.02
"""Requests for one reply, as a rule."""
QUOTE = 40
"""Characters that the markers of one quote count for in `Asks.quoted`."""


class GameRules(Section):
    """The settings of a game: each field with a description and, as a rule, a default."""

    cost_unit: CostUnit = Field(
        CostUnit(), description="What a reply costs; set from the arena's rating.cost_unit."
    )


Rules = TypeVar("Rules", bound=BaseModel)


class RoleRequirement(NamedTuple):
    """How many players of one role a match wants, and the fewest it can be played with.

    `order` is how they are chosen among the eligible: `top` the highest raw Elo first; `top_quarter`
    at random from the best quarter; `contestants` the contestants themselves, higher seeded first.
    `same_family` False also bars players of a contestant's family, `authors` False those who are authors of
    the match (a committee never holds one).
    """

    role: Role
    wanted: int
    minimum: int
    order: str = "top"
    same_family: bool = True
    authors: bool = True


class Asks(NamedTuple):
    """Requests of one sort that a match makes of each seat of a role: what plan and budget rest on.

    `to` is a role ("contestant": every contestant) or the label of one seat; a seat may be asked several
    sorts. `calls` are the most requests to each, not counting a second one where a reply cannot be used,
    `usual` as many as there are as a rule (default: all). `quoted` bounds the characters of players' texts in
    one request, `QUOTE` for each quote among them; what was drawn for the match counts by itself.
    `usual_quoted` and `usual_output` are the tokens of what fills a prompt and of a reply, as a rule.
    """

    to: str
    prompts: Prompt | Sequence[Prompt]
    expects: Format
    calls: int
    max_tokens: int = 1_000
    quoted: int = 0
    usual: float | None = None
    usual_quoted: int | None = None
    usual_output: int = 300


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


class Memory(Protocol):
    """What the matches of an arena teach later ones: a fold over their facts and over amendments."""

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the facts of a finished match; matches come in number order."""

    def amend(self, said: Mapping[str, Any]) -> None:
        """Take in an amendment of the game's stream."""

    def draw(self, secret: str, number: int, place: int, sealing: str) -> Mapping[str, Any]:
        """What is drawn for match `number`, from the arena's secret and its sealing key; plain JSON. Its
        `place` in its round, from 0, says what it shares with no other match of the round."""


class Again(NamedTuple):
    """How others judge again what a game's judges judged: see `peerage rejudge`.

    `rules` turns the game's rules into those of another panel that judges as the first did. `items` are what
    is scored again of a finished match: its fixture, its outcome, the SHA-256 (hex) of its record, and all
    replies by request key; None where panels compare two contestants' answers.
    """

    rules: Callable[[Any], BaseModel]
    items: Callable[[Fixture, Outcome, str, Mapping[str, Reply]], Iterable[msgspec.Struct]] | None = None


class Forecast(NamedTuple):
    """A `probability`, from 0 to 1, that the contestant `label` gave, and whether it `came_true`."""

    label: str
    probability: float
    came_true: bool


class Original(NamedTuple):
    """The file of the benchmark that a game comes from.

    `layout` names it to `peerage export --format`, `file` is its name on the arena's site, `about` says there
    what reads it. `write` makes it, in pieces of text, of exported matches (`ledger.export.documents`).
    """

    layout: str
    file: str
    about: str
    write: Callable[[Iterable[Mapping[str, Any]]], Iterator[str]]


Said = TypeVar("Said")


def answered(fixture: Fixture, said: Mapping[str, Said]) -> dict[str, Said]:
    """What each contestant said to the request `answer/LABEL`, by label."""
    return {seat.label: said[key] for seat in fixture.seats if (key := f"answer/{seat.label}") in said}


@dataclass(frozen=True, kw_only=True)
class GameSpec(Generic[Rules]):
    """A game at the door of the arena. Every game says the first four; the rest has defaults."""

    name: str
    about: str
    play: Callable[[Table], Steps[Outcome]]
    asks: Callable[[Rules, Fixture], Iterable[Asks]]
    """Everything that a match of this fixture may ask; a game that asks more is stopped."""

    version: int = 1
    """Goes up whenever the same replies could give another outcome or other requests."""
    rules: type[Rules] = GameRules  # type: ignore[assignment]
    presets: Mapping[str, Preset] = field(default_factory=dict)
    """What the words of its rule `preset` stand for; where its rules have one, they expand themselves."""
    contestants: tuple[int, int] = (2, 2)
    """The fewest and the most in a match; where `rules` has `seats`, as many as that says."""
    draw: Callable[[Rules, str, int], Mapping[str, Any]] = lambda rules, secret, number: {}
    """What is drawn for match `number` from the arena's secret; plain JSON, kept in the fixture."""
    officials: Callable[[Rules], tuple[RoleRequirement, ...]] = lambda rules: ()
    """Whom it needs besides contestants."""
    house: House = usual
    """How a player of known skill replies; the default plays from `Ask.oracle`."""
    show: Show = plain
    """A finished match in blocks (`peerage.blocks`); the default tells any game."""

    page: str = ""
    """What `peerage games about` shows, in Markdown, of a game without a page in its folder."""
    sides: tuple[str, ...] = ()
    """The sides of a match, where players are on different ones: tables rate them by side, too."""
    side: Callable[[Fixture, str], str] = lambda fixture, label: ""
    """The side that the seat of that label is on; one of `sides`."""

    judged: Callable[[Fixture, Mapping[str, str]], Mapping[str, str]] = answered
    """The texts that judges saw, by what votes or scores call them, from all that was said by request key;
    the default knows `answer/LABEL`."""

    again: Again | None = None
    """How its judges' work is judged again; the default: by a panel of usual rules."""

    recounted: Callable[[Fixture, Outcome, Collection[str]], Mapping[str, float]] | None = None
    """What a finished match whose judges give scores comes to without some judges, by label: everybody's
    score, empty for no result."""

    forecasts: Callable[[Fixture, Outcome], Iterable[Forecast]] | None = None
    """The probabilities that contestants gave in a match: how well each is calibrated is counted by them."""

    original: Original | None = None
    """What writes its matches as the benchmark it comes from publishes them."""

    survives: bool = False
    """A void reply of a contestant is the game's own matter; else the match is void, "no_answer"."""
    hides: bool = False
    """Contestants must not see what is on record of a match under way: a player that could is refused."""
    withholds: Callable[[Rules], bool] = lambda rules: False
    """Whether under these rules contestants must not see it, in a game that does not always hide things."""
    forgets: Callable[[Rules], str] = lambda rules: ""
    """Why a player that remembers what it was asked (an agent) may not play under these rules, with what
    would let it; empty: it may."""
    sandbox: Callable[[Rules], bool] = lambda rules: False
    """Whether it yields `Run` under these rules: then no arena starts without a sandbox."""
    extra: Callable[[Rules], str] = lambda rules: ""
    """The extra of Peerage that a match under these rules is drawn or played with and that is not installed
    here; empty: nothing is missing. Nobody starts a run without it."""
    slots: bool = False
    """Whether a player may hold several seats of a match of more than two."""
    rotates: Callable[[Rules], bool] = lambda rules: False
    """Whether players may meet a task again in other seats and gain nothing by it, unless they remember it;
    all of the task is then in what is drawn. Else each match of a series that rotates seats has its own."""
    same_family: Callable[[Rules], bool] = lambda rules: True
    """Whether two of one family may meet in a match of two."""
    costs: tuple[Role, ...] = ("contestant",)
    """The roles in which a contestant's requests count as the cost of its play."""
    tracks: tuple[str, ...] = ()
    """The ratings it feeds, the first shown first; by default TrueSkill, for two Bradley-Terry and Elo."""
    rating: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the arena's `rating:` whose default is another in this game."""
    lists: tuple[str, ...] = ()
    """Rules that only `officials` and `draw` read: fixtures leave these lists empty."""
    files: Mapping[str, Callable[[str, str], Sequence[Any]]] = field(default_factory=dict)
    """Rules that may name a file in place of a list, and what makes the list of its text and name; ValueError
    says what is wrong with it, and where."""
    memory: Callable[[Rules], Memory] | None = None
    """A fresh memory of a game that keeps one, which draws in place of `draw`."""
    stream: str = ""
    """The amendments that its memory reads."""
    frozen: Callable[[Rules], Rules] = lambda rules: rules
    """The rules by which matches that place a newcomer are played: they add nothing to what its memory
    draws from."""
    unshown: tuple[str, ...] = ()
    """Keys of what is drawn that no prompt shows, so that requests are not bounded by their size."""
    demo: int = 300
    """Matches that tell the players of its demo apart, in well under a minute."""
    demo_rules: Mapping[str, Any] = field(default_factory=dict)
    """What its demo plays differently from an arena."""
    listed: bool = True
    """False for a game that nobody starts by name: a command of its own makes its fixtures."""

    def __post_init__(self) -> None:
        if not self.tracks:
            tracks = ("trueskill",) if self.contestants[1] > 2 else ("bt", "raw", "cost")
            object.__setattr__(self, "tracks", tracks)

    def seats(self, rules: Rules) -> int:
        """How many contestants a match has when enough players are there."""
        return int(getattr(rules, "seats", self.contestants[0]))

    def bounds(self, rules: Rules, fixture: Fixture) -> tuple[CallBound, ...]:
        """What each seat may be asked, from what the game declares, its templates and its formats."""
        shown = {key: value for key, value in fixture.drawn.items() if key not in self.unshown}
        drawn = len(msgspec.json.encode(shown)) if shown else 0
        return tuple(
            [
                _bound(label, asks, drawn)
                for asks in self.asks(rules, fixture)
                if asks.calls
                for label in asked_of(asks, fixture)
            ]
        )


def asked_of(asks: Asks, fixture: Fixture) -> tuple[str, ...]:
    """The labels of the seats that are asked so."""
    if asks.to not in get_args(Role):
        return (asks.to,)
    seats = fixture.seats if asks.to == "contestant" else fixture.officials.get(asks.to, ())
    return tuple([seat.label for seat in seats])


def _bound(label: str, asks: Asks, drawn: int) -> CallBound:
    prompts = (asks.prompts,) if isinstance(asks.prompts, Prompt) else tuple(asks.prompts)
    told = _told(prompts, asks.expects)
    quoted = (drawn + asks.quoted) // 16 if asks.usual_quoted is None else asks.usual_quoted
    return CallBound(
        label,
        _REPAIRED * (asks.calls if asks.usual is None else asks.usual),
        2 * asks.calls,
        told + drawn + _CHAR_BYTES * asks.quoted + _SMALL_BYTES + REPAIR_BYTES,
        told // 4 + quoted,
        min(asks.max_tokens, asks.usual_output),
        asks.max_tokens,
    )


@lru_cache(maxsize=256)
def _told(prompts: tuple[Prompt, ...], expects: Format) -> int:
    """Bytes of the longest of these prompts, unfilled, and of the words about the format."""
    sizes = [len((prompt.system + prompt.user).encode()) for prompt in prompts]
    return max(sizes, default=0) + len(expects.instruction().encode())
