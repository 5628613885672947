"""Standings and the arena's secret → the fixtures of the next round, complete and ready to be issued."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import combinations, groupby
from random import Random
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel

from peerage.game.match import Fixture, Seat, topic_of
from peerage.game.spec import DrawnMatch, GameSpec, MeetingMemory, RoleRequirement
from peerage.games import release_of
from peerage.games.judged import NAMED
from peerage.scheduling import groups
from peerage.scheduling.policies import SWISS, Policy
from peerage.scheduling.roles import Shortage, by_merit, choose, peers_required, rotated
from peerage.scheduling.standing import History, Results, Standing
from peerage.scheduling.topics import by_topic
from peerage.values.sealing import match_key

Series: TypeAlias = Literal["seats"]


class Unstaffed(Exception):
    """A match that cannot get its officials."""


@dataclass(frozen=True)
class Scheduler:
    """The settings of one game that stay the same from round to round.

    All draws follow from the arena's `secret`. `weight` is the game's share of the matches among other
    games. `judges` is the number of judges of a match, None for the game's own. `sessions` are the players
    who remember what they were asked in a match, with the most tokens of it that go with a request, `hands`
    those who work in folders with tools of their own. Who is `without` does not play this game, nor judge it.
    """

    spec: GameSpec[Any]
    rules: BaseModel
    secret: str
    policy: Policy = SWISS
    series: Series | None = None
    weight: float = 1.0
    judges: int | None = None
    sessions: Mapping[str, int] = field(default_factory=dict)
    hands: Collection[str] = ()
    without: Collection[str] = ()

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """`rules` as plain JSON data, embedded in every fixture, without the lists that are drawn from."""
        return self.rules.model_dump(mode="json") | {name: [] for name in self.spec.files}

    @cached_property
    def release(self) -> str:
        """The release that issues the fixtures."""
        return release_of(self.spec.name)


def by_need(schedulers: Iterable[Scheduler], histories: Mapping[str, History]) -> list[Scheduler]:
    """Sort the games by the seats issued for their weight, fewest first, equals in the order given. So all
    games are played equally often, by weight, and a game that was added later catches up."""

    def seats(scheduler: Scheduler) -> float:
        history = histories.get(scheduler.spec.name)
        return (history.seats if history else 0) / scheduler.weight

    return sorted(schedulers, key=seats)


def tables(
    spec: GameSpec[Any], rules: BaseModel, players: int, series: Series | None = None, judges: int = 0
) -> int:
    """Matches in a round of so many players, one at least; `judges` only judge."""
    seats, fewest = spec.seats(rules), max(2, spec.contestants[0])
    outside = _outside(peers_required(spec.officials(rules), judges))
    many = players // 2 if seats == 2 else groups.tables(players, seats, outside, fewest)
    count = max(1, many)
    return count * min(seats, players) if series == "seats" else count


def _outside(required: Sequence[RoleRequirement]) -> int:
    """Players that a match cannot do without and that are no contestants."""
    return sum(needs.minimum for needs in required if needs.order != "contestants")


def next_round(
    scheduler: Scheduler,
    standings: Sequence[Standing],
    history: History,
    *,
    number: int,
    round: int,
    snapshot: int,
    paired_from: int = 0,
    draw: Callable[[int], Mapping[str, Any]] | None = None,
    memory: MeetingMemory | None = None,
    results: Results | None = None,
    judges: Sequence[Standing] = (),
) -> tuple[Fixture, ...]:
    """Return the fixtures of round `round`, from number `number` on; none for fewer than two players.

    `standings` are the ratings after `snapshot` matches, `paired_from` is the place of the newest entry that
    pairing took in. Seats are drawn at random; pairs and topics so that everybody meets each about as often.
    A series that rotates seats makes a match of each rotation. `draw` maps a match's number to its draw, in
    place of the game's own; a `memory` draws for those who meet, and says who need not any more. `results`
    are the game's, as far as `standings` know them. `judges` that the arena names judge by turns; without
    any, players judge. Raises `Unstaffed` for too few officials.
    """
    standings, judges = (
        [each for each in listed if each.player not in scheduler.without] for listed in (standings, judges)
    )
    lot, two = f"{scheduler.secret}/round/{round}", scheduler.spec.seats(scheduler.rules) == 2
    required = peers_required(scheduler.spec.officials(scheduler.rules), len(judges), scheduler.judges)
    here = standings
    if memory is not None:
        met = memory.met(number, [standing.player for standing in standings])
        here = [each._replace(met=met[each.player]) for each in standings]
        here = [each for each in here if len(each.met) < len(here) - 1]
    drawn_up = _drawn_up(scheduler, here, history, results or Results(), lot, _outside(required))
    if here and not drawn_up and memory is not None:  # those who may meet were drawn to sit out
        pairs = [(a.player, b.player) for a, b in combinations(here, 2) if b.player not in a.met]
        placed = scheduler.policy.player
        pairs = [pair for pair in pairs if not placed or placed in pair]
        drawn_up = tuple(sorted(pairs, key=lambda pair: history.met(*pair))[:1])
    order = Random(f"{lot}/seats")  # else labels would tell who is stronger, and which seats are whose
    seated = tuple([tuple(order.sample(table, len(table))) for table in drawn_up])
    ratings = {standing.player: standing for standing in (*standings, *judges)}
    seeding = {standing.player: (-standing.cost, standing.player) for standing in standings}
    merit = by_merit(standings, Random(f"{scheduler.secret}/officials/{round}"))

    def seat(label: str, player: str) -> Seat:
        return Seat(label, player, ratings[player].raw, ratings[player].cost)

    drawing = draw or partial(scheduler.spec.draw, scheduler.rules, scheduler.secret)
    matches = (
        _on_topics(scheduler, seated, history, number, drawing)
        if memory is None
        else _for_those(seated, number, memory, scheduler.secret)
    )
    fixtures: list[Fixture] = []
    for at, (contestants, first, drawn) in enumerate(matches, number):
        ranked = tuple(sorted(contestants, key=seeding.__getitem__) if two else contestants)
        chosen = _officials(scheduler, required, ranked, merit, judges, at)
        fixtures.append(
            Fixture(
                number=at,
                round=round,
                game=scheduler.spec.name,
                version=scheduler.spec.version,
                seed=match_key(scheduler.secret, at),
                seats=tuple(map(seat, ascii_uppercase, contestants)),
                officials={
                    role: tuple(seat(_label(role, place), player) for place, player in enumerate(players, 1))
                    for role, players in chosen.items()
                    if role not in drawn.without
                },
                settings=scheduler.settings,
                drawn=drawn.drawn,
                snapshot=snapshot,
                paired_from=paired_from,
                release=scheduler.release,
                series=first,
                given={
                    label: drawn.given[player]
                    for label, player in zip(ascii_uppercase, contestants, strict=False)
                    if player in drawn.given
                },
                shares=drawn.shares,
                sessions={
                    label: scheduler.sessions[player]
                    for label, player in zip(ascii_uppercase, contestants, strict=False)
                    if player in scheduler.sessions
                },
                hands=tuple(
                    label
                    for label, player in zip(ascii_uppercase, contestants, strict=False)
                    if player in scheduler.hands
                ),
            )
        )
    return tuple(fixtures)


def _officials(
    scheduler: Scheduler,
    required: Sequence[RoleRequirement],
    contestants: Sequence[str],
    merit: Sequence[Standing],
    judges: Sequence[Standing],
    number: int,
) -> Mapping[str, Sequence[str]]:
    """The players in each role of a match: `required` from among all players, and judges that the arena
    names by turns. Raises Unstaffed."""
    chosen = choose(required, contestants, merit, f"{match_key(scheduler.secret, number)}/officials")
    if isinstance(chosen, Shortage):
        raise Unstaffed(str(chosen))
    if len(required) == len(scheduler.spec.officials(scheduler.rules)):
        return chosen
    names = list(dict.fromkeys(judge.player for judge in judges))
    wanted = NAMED if scheduler.judges is None else scheduler.judges
    return {**chosen, "judge": rotated(names, wanted, number, scheduler.secret)}


@lru_cache(maxsize=1_024)  # thousands of matches are under way, and have the same labels
def _label(role: str, place: int) -> str:
    return f"{role}/{place}"


def _drawn_up(
    scheduler: Scheduler,
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    outside: int,
) -> Sequence[Sequence[str]]:
    """Return who meets whom in a round; of tables of many, `outside` players are left over at each."""
    spec, rules, policy = scheduler.spec, scheduler.rules, scheduler.policy
    seats = spec.seats(rules)
    if seats == 2:
        return policy.pair(standings, history, results, lot, spec.seating.same_family(rules))
    fewest = max(2, spec.contestants[0])
    return policy.seat(standings, history, results, lot, seats, outside=outside, fewest=fewest)


def _on_topics(
    scheduler: Scheduler,
    seated: Sequence[tuple[str, ...]],
    history: History,
    number: int,
    drawing: Callable[[int], Mapping[str, Any]],
) -> Iterator[tuple[tuple[str, ...], int, DrawnMatch]]:
    """Yield the matches of a round, each table on the topic that suits it: contestants, series, and draw."""
    series, rotates = scheduler.series, scheduler.spec.seating.rotates(scheduler.rules)
    planned = [*in_series(series, seated, number, rotates)]
    drawn = {match.task: drawing(match.task) for match in planned}
    tables = groupby(planned, key=lambda match: match.series or match.task)
    topics = [[topic_of(drawn[match.task]) for match in matches] for _, matches in tables]
    for contestants, first, task in in_series(series, by_topic(seated, topics, history), number, rotates):
        yield contestants, first, DrawnMatch(drawn[task])


def _for_those(
    seated: Sequence[tuple[str, ...]], number: int, memory: MeetingMemory, secret: str
) -> Iterator[tuple[tuple[str, ...], int, DrawnMatch]]:
    """Yield the matches of a round, drawn for those who meet, where there is something for them now."""
    for contestants in seated:
        if (drawn := memory.meet(secret, number, contestants)) is not None:
            yield contestants, 0, drawn
            number += 1


def remember(history: History, fixtures: Sequence[Fixture]) -> None:
    """Fold issued fixtures of one game into the history that the next pairing reads."""
    for fixture in fixtures:
        history.remember([seat.player for seat in fixture.seats], fixture.topic)


class Planned(NamedTuple):
    """A match to be made: its contestants seat by seat, the number of the first match of its series (0: it is
    in none), and the number that its task is drawn by."""

    contestants: tuple[str, ...]
    series: int
    task: int


def in_series(
    series: Series | None, tables: Sequence[tuple[str, ...]], number: int, rotates: bool
) -> Iterator[Planned]:
    """The matches of a round, the first of them numbered `number`.

    In a series of `seats` those who meet do so once for each seat: the seats are rotated, so that each of n
    players sits in each of n seats once. All play one task where `rotates` says that nobody gains by having
    met it in another seat; else each match has a task of its own.

        >>> for planned in in_series("seats", [("Ada", "Bo")], 7, True):
        ...     print(*planned)
        ('Ada', 'Bo') 7 7
        ('Bo', 'Ada') 7 7
    """
    for contestants in tables:
        if series is None:
            yield Planned(contestants, 0, number)
            number += 1
            continue
        first = number
        turned = [contestants[at:] + contestants[:at] for at in range(len(contestants))]
        for seats in turned:
            yield Planned(seats, first, first if rotates else number)
            number += 1
