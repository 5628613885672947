"""The declaration that every game makes of itself, with the types in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec
from pydantic import BaseModel, Field

from peerage.game.blocks import Show, plain_blocks
from peerage.game.bounds import Asks, CallBound, call_bounds
from peerage.game.house import House, usual
from peerage.game.match import Fixture, GameTable, GivenAnswer, Outcome
from peerage.game.media import Kind, Media, media_in, parts
from peerage.game.protocol import Reply, Role, Steps
from peerage.game.section import CostUnit, SettingsSection
from peerage.game.texts import Preset
from peerage.game.work import ShellCommand


class GameRules(SettingsSection):
    """The settings of a game: each field with a description and, as a rule, a default."""

    cost_unit: CostUnit = Field(
        CostUnit(), description="What a reply costs; set from the arena's rating.cost_unit."
    )
    texts: Mapping[str, str] = Field(
        {},
        description="Texts of prompts in place of the game's own, by the names that `peerage games texts "
        "GAME` prints: a TOML file, or a mapping of them, each a text or `{file: PATH}`.",
    )


Rules = TypeVar("Rules", bound=BaseModel)


class RoleRequirement(NamedTuple):
    """The players of one role that a match wants, and the fewest that it can be played with.

    `order` is how they are chosen among the eligible: `top` the highest raw Elo first; `top_quarter`
    at random from the best quarter; `drawn` at random from the best five, or as many as are wanted;
    `contestants` the contestants themselves, higher seeded first.
    `same_family` False also bars players of a contestant's family. A committee never holds an author of the
    match.
    """

    role: Role
    wanted: int
    minimum: int
    order: str = "top"
    same_family: bool = True


class Memory(Protocol):
    """Knowledge from the matches of an arena for later ones: a fold over their facts and over amendments."""

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the facts of a finished match; matches come in number order."""

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Take in an amendment of the game's stream."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw for match `number`, from the arena's secret and its sealing key, as plain JSON."""


class DrawnMatch(NamedTuple):
    """The draw of one match: what is `drawn`, the answers `given` by player, without their texts, the
    first match that `shares` answers with it (0: none), and the roles that it is `without`."""

    drawn: Mapping[str, Any]
    given: Mapping[str, GivenAnswer] = {}
    shares: int = 0
    without: tuple[str, ...] = ()


@runtime_checkable
class MeetingMemory(Memory, Protocol):
    """A memory that draws for those who meet, by what they answered before. It knows issued matches too:
    `in_flight` are those of which nothing is learnt yet."""

    in_flight: Mapping[int, object]

    def issued(self, match: int, players: Sequence[str], drawn: DrawnMatch) -> None:
        """Take in an issued match."""

    def met(self, match: int, players: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return with whom each of these players has nothing left to meet on, and forget what was drawn and
        not issued: all from `match` on."""

    def meet(self, secret: str, match: int, players: Sequence[str]) -> DrawnMatch | None:
        """Draw for players who meet, as issued; None while there is nothing for them."""

    def left(self, players: Sequence[str]) -> int | None:
        """Return how many matches these have left among them; None where there is no end."""

    def presume(self, match: int) -> None:
        """Take an issued match as decided, with all its answers."""


class Rejudging(NamedTuple):
    """Another judging of the answers that a game's judges judged: see `peerage rejudge`.

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
    what reads it. `write` makes it, in pieces of text, of exported matches (`ledger.out.export.documents`).
    """

    layout: str
    file: str
    about: str
    write: Callable[[Iterable[Mapping[str, Any]]], Iterator[str]]


Said = TypeVar("Said")


def answered(fixture: Fixture, answers: Mapping[str, Said]) -> dict[str, Said]:
    """Return each contestant's reply to the request `answer/LABEL`, by label."""
    return {seat.label: answers[key] for seat in fixture.seats if (key := f"answer/{seat.label}") in answers}


@dataclass(frozen=True, kw_only=True)
class Seating:
    """Seats of a game's matches, and who may take them.

    Where `rotates` is true of the rules, players may meet a task again in other seats and gain nothing by it,
    unless they remember it; all of the task is then in what is drawn. Else each match of a series that
    rotates seats has a task of its own. Where `series` is true, players meet in such series unless the arena
    says otherwise. `same_family` is whether two of one family may meet in a match of two. `sides` are the
    sides of a match, where players are on different ones, and `side` is that of the seat with a label: tables
    rate players by side, too.
    """

    rotates: Callable[[Any], bool] = lambda rules: False
    series: Callable[[Any], bool] = lambda rules: False
    same_family: Callable[[Any], bool] = lambda rules: True
    sides: tuple[str, ...] = ()
    side: Callable[[Fixture, str], str] = lambda fixture, label: ""


@dataclass(frozen=True, kw_only=True)
class Secrecy:
    """Knowledge that a game's contestants must not have.

    Where a game `hides` things, contestants must not see what is on record of a match under way: a player
    that could is refused. Where seats are `alike` all are asked the same, so who is asked when tells nothing
    and may be shown. `forgets` is why a player that remembers what it was asked (an agent, a person) may
    not play under these rules, with what would let it; empty: it may. `remembered` are the rules in place of
    defaults where such a player is in the arena. `unshown` are keys of what is drawn that no
    prompt shows, so that requests are not bounded by their size; `shown` names what is drawn for one seat
    and open to all, as `peerage games check` calls it.
    """

    hides: bool = False
    alike: bool = False
    forgets: Callable[[Any], str] = lambda rules: ""
    remembered: Mapping[str, Any] = field(default_factory=dict)
    unshown: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


class Trial(NamedTuple):
    """A command of an owner's task, by its id and the beginning of what it is `about`, that is tried before
    anybody is asked. It must end with 0 where it `passes`, else with another code: `wrong` says what it means
    where it does not."""

    task: str
    about: str
    command: ShellCommand
    passes: bool
    wrong: str


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Requirements of this machine, by the rules; nobody starts a run without them.

    `sandbox` is whether the game yields `Run`, `commands` whether it yields `ShellCommand`, and `trials` are
    commands that are tried first. `extra` is the extra of Peerage that a match is drawn or played with and
    that is not installed here; empty: nothing is missing. `media` are the kinds of pictures and sounds that a
    match may show; by default those of which the rules hold marks.
    """

    sandbox: Callable[[Any], bool] = lambda rules: False
    commands: Callable[[Any], bool] = lambda rules: False
    trials: Callable[[Any], Iterable[Trial]] = lambda rules: ()
    extra: Callable[[Any], str] = lambda rules: ""
    media: Callable[[Any], Collection[Kind]] = lambda rules: {
        each.kind for each in media_in([rules.model_dump_json()]).values()
    }


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Readings of a game's judges after the match.

    `judged` are the texts that judges saw, by what votes or scores call them, from all that was said by
    request key; the default knows `answer/LABEL`. `again` is how other judges judge them, by default a panel
    of usual rules. `recounted` is everybody's score in a finished match whose judges give scores, without
    some judges (by label); empty for no result.
    """

    judged: Callable[[Fixture, Mapping[str, str]], Mapping[str, str]] = answered
    again: Rejudging | None = None
    recounted: Callable[[Fixture, Outcome, Collection[str]], Mapping[str, float]] | None = None


@dataclass(frozen=True, kw_only=True)
class GameRating:
    """Ratings of a game's matches, and their settings.

    `tracks` are the ratings it feeds, the first shown first (see `GameSpec.tracks`). `settings` are keys of
    the arena's `rating:` whose default is another in this game. `costs` are the roles in which a contestant's
    requests count as the cost of its play. `forecasts` are the probabilities that contestants gave in a
    match, from which each one's calibration is computed. Where `by_task`, each match is about a task of the
    arena's owner: `Outcome.detail` names it as `task`, has the status of each contestant's answer by label as
    `answers`, and where it has a check the credit of each, from 0 to 1, as `checks`.
    """

    tracks: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    costs: tuple[Role, ...] = ("contestant",)
    forecasts: Callable[[Fixture, Outcome], Iterable[Forecast]] | None = None
    by_task: bool = False


@dataclass(frozen=True, kw_only=True)
class GameMemory:
    """A memory of the matches of an arena, which draws in place of `GameSpec.draw`.

    `make` returns a fresh one, `stream` names the amendments that it reads, and `frozen` are the rules by
    which matches that place a newcomer are played: they add nothing to what it draws from. `applies` is
    whether a game under these rules has a memory at all; one that `meets` may draw for those who meet, and so
    need not know all earlier matches, nor need one that learns `late`.
    """

    make: Callable[[Any], Memory]
    stream: str = ""
    frozen: Callable[[Any], Any] = lambda rules: rules
    applies: Callable[[Any], bool] = lambda rules: True
    meets: bool = False
    late: bool = False


@dataclass(frozen=True)
class Demo:
    """A demo of a game: as many `matches` as rank its players in well under a minute, and the `rules`
    by which it plays differently from an arena."""

    matches: int = 300
    rules: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GameSpec(Generic[Rules]):
    """A game at the door of the arena. Every game has the first four; everything else has a default."""

    name: str
    about: str
    play: Callable[[GameTable], Steps[Outcome]]
    asks: Callable[[Rules, Fixture], Iterable[Asks]]
    """Everything that a match of this fixture may ask; a game that asks more is stopped."""

    version: int = 1
    """Goes up whenever the same replies could give another outcome or other requests."""
    rules: type[Rules] = GameRules  # type: ignore[assignment]
    texts: str | Mapping[str, Any] = ""
    """The texts of its prompts, which `rules.texts` may replace: the package whose `texts.toml` holds them,
    or a table of prompts and texts by name. It gets them by `peerage.game.texts(those, rules.texts)`."""
    presets: Mapping[str, Preset] = field(default_factory=dict)
    """The settings that each word of its rule `preset` stands for; rules with that key expand it."""
    files: Mapping[str, Callable[[bytes, str, Mapping[str, Any]], Sequence[Any]]] = field(
        default_factory=dict
    )
    """Rules that are lists of the arena's owner, for which a file may be named, and what makes the list of
    its bytes, its name and the other rules as stated; ValueError says what is wrong with it, and where. Only
    `draw` and `officials` read such a list: fixtures leave it empty."""

    contestants: tuple[int, int] = (2, 2)
    """The fewest and the most in a match; where `rules` has `seats`, as many as that says. None at most: a
    command of its own makes its fixtures."""
    officials: Callable[[Rules], tuple[RoleRequirement, ...]] = lambda rules: ()
    """Players needed besides contestants."""
    draw: Callable[[Rules, str, int], Mapping[str, Any]] = lambda rules, secret, number: {}
    """Draws the task of match `number` from the arena's secret; plain JSON, kept in the fixture."""
    converses: Callable[[Rules], bool] = lambda rules: False
    """Returns true where contestants are sent their earlier turns, unless their `session` says otherwise."""
    survives: bool = False
    """A void reply of a contestant is the game's own matter; else the match is void, "no_answer"."""

    house: House = usual
    """A player of known skill; the default plays from `Ask.oracle`."""
    show: Show = plain_blocks
    """A finished match in blocks (`peerage.game.blocks`); the default suits any game."""
    page: str = ""
    """The page, in Markdown, that `peerage games about` shows of a game without one in its folder."""
    remarks: Callable[[Rules], Iterable[str]] = lambda rules: ()
    """Sentences that the arena's owner must read before a run under these rules."""
    demo: Demo = Demo()
    original: Original | None = None
    """A writer of its matches in the form in which the benchmark it comes from publishes them."""

    seating: Seating = Seating()
    secrecy: Secrecy = Secrecy()
    needs: Needs = Needs()
    judging: Judging = Judging()
    rating: GameRating = GameRating()
    memory: GameMemory | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            value, usual_part = getattr(self, part.name), part.default
            if is_dataclass(usual_part) and not isinstance(value, type(usual_part)):
                raise TypeError(f"{part.name}={value!r}: {type(usual_part).__name__}(…) was expected")

    @property
    def tracks(self) -> tuple[str, ...]:
        """The ratings it feeds, the first shown first; by default TrueSkill, of two
        strength, Bradley-Terry and Elo."""
        usual_tracks = ("trueskill",) if self.contestants[1] > 2 else ("strength", "bt", "raw", "cost")
        return self.rating.tracks or usual_tracks

    def remembers(self, rules: Rules) -> bool:
        """Return whether earlier matches enter what is drawn."""
        return self.memory is not None and self.memory.applies(rules)

    @property
    def listed(self) -> bool:
        """Return whether anybody may start it by name."""
        return self.contestants[1] > 0

    def seats(self, rules: Rules) -> int:
        """Return the number of contestants of a match when enough players are there."""
        return int(getattr(rules, "seats", self.contestants[0]))

    def bounds(self, rules: Rules, fixture: Fixture) -> tuple[CallBound, ...]:
        """Return the bounds on each seat's requests, from the game's declaration, templates and formats."""
        shown = {key: value for key, value in fixture.drawn.items() if key not in self.secrecy.unshown}
        drawn = msgspec.json.encode(shown) if shown else b""
        media = tuple([each for each in parts(drawn.decode()) if isinstance(each, Media)])
        replaced = getattr(rules, "texts", None)
        added = len(msgspec.json.encode(replaced)) if replaced else 0
        asks = self.asks(rules, fixture)
        return call_bounds(asks, fixture, drawn=len(drawn), replaced=added, media=media)
