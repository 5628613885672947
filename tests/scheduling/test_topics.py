"""Who meets on what: everybody meets each topic about as often as each other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scheduling.test_policies import standings

from peerage.game.match import Fixture
from peerage.games import GAMES
from peerage.scheduling.fixtures import Scheduler, Series, next_round, remember
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Results
from peerage.scheduling.topics import by_topic

TOPICS = [f"topic {number}" for number in range(5)]
PLAYERS = "abcdefgh"
Order = Sequence[tuple[str, ...]]


def _issued(players: int, rounds: int, policy: Policy, series: Series | None = None) -> list[Fixture]:
    """Rounds of the duel; under policies that learn the first in a match wins."""
    rules = GAMES["duel"].rules(topics=TOPICS)  # type: ignore[call-arg]
    scheduler = Scheduler(GAMES["duel"], rules, "secret", policy, series)
    history, results, found = History(), Results(), list[Fixture]()
    for round in range(1, rounds + 1):
        of_all = standings(players)
        number = len(found) + 1
        fixtures = next_round(
            scheduler, of_all, history, number=number, round=round, snapshot=0, results=results
        )
        remember(history, fixtures)
        for one in fixtures:
            results.note([seat.player for seat in one.seats], (1.0, 0.0))
        found += fixtures
    return found


def _spread(fixtures: Sequence[Fixture]) -> int:
    """How many more matches a player has on one topic than on another, at most."""
    counts = Counter((seat.player, one.topic) for one in fixtures for seat in one.seats)
    players = {player for player, _ in counts}
    each = [[counts[player, topic] for topic in TOPICS] for player in players]
    return max(max(ones) - min(ones) for ones in each)


@pytest.mark.parametrize("players", [6, 7, 12])
@pytest.mark.parametrize("policy", ["swiss", "random", "round-robin", "adaptive"])
def test_everybody_meets_each_topic_about_as_often(policy: str, players: int) -> None:
    """By lot a player has up to twelve matches more on one topic than on another. Over all each topic still
    comes as often as any other."""
    fixtures = _issued(players, 40, Policy(policy))  # type: ignore[arg-type]
    assert _spread(fixtures) <= 4
    over_all = Counter(one.topic for one in fixtures)
    assert max(over_all.values()) - min(over_all[topic] for topic in TOPICS) <= 1


def test_series_of_seats_spread_topics_too() -> None:
    """Each table has two matches, on two topics."""
    fixtures = _issued(8, 20, Policy(), "seats")
    assert _spread(fixtures) <= 5
    for first, second in zip(fixtures[::2], fixtures[1::2], strict=True):
        assert first.series == second.series == first.number
        assert [seat.player for seat in first.seats] == [seat.player for seat in reversed(second.seats)]


def _squares(order: Order, topics: Sequence[Sequence[str]], history: History) -> int:
    """What the order keeps low."""
    added = Counter(
        (topic, one) for table, ones in zip(order, topics, strict=True) for topic in ones for one in table
    )
    names = {topic for ones in topics for topic in ones}
    return sum((history.met_on(topic, one) + added[topic, one]) ** 2 for topic in names for one in PLAYERS)


TABLE = st.lists(st.sampled_from(PLAYERS), min_size=2, max_size=4, unique=True).map(tuple)
TOPIC = st.sampled_from(TOPICS[:4])


@given(
    st.lists(st.tuples(TABLE, st.lists(TOPIC, min_size=1, max_size=2)), min_size=1, max_size=5),
    st.lists(st.tuples(TABLE, TOPIC), max_size=30),
)
def test_no_change_of_two_tables_would_be_better(
    round: list[tuple[tuple[str, ...], list[str]]], past: list[tuple[tuple[str, ...], str]]
) -> None:
    """A player may sit at several tables of the round, and a table may have several matches."""
    tables, topics = [table for table, _ in round], [ones for _, ones in round]
    history = History()
    for table, topic in past:
        history.remember(table, topic)
    order = by_topic(tables, topics, history)
    for matches in (1, 2):
        at = [place for place, ones in enumerate(topics) if len(ones) == matches]
        assert sorted(order[place] for place in at) == sorted(tables[place] for place in at)
    for one, two in combinations(range(len(order)), 2):
        if len(topics[one]) == len(topics[two]):
            changed = list(order)
            changed[one], changed[two] = changed[two], changed[one]
            assert _squares(order, topics, history) <= _squares(changed, topics, history)


def test_one_player_at_two_tables_meets_two_topics() -> None:
    tables, topics = [("a", "b"), ("c", "d"), ("a", "e")], [["x"], ["y"], ["x"]]
    order = by_topic(tables, topics, History())
    assert {topic[0] for table, topic in zip(order, topics, strict=True) if "a" in table} == {"x", "y"}
    assert _squares(order, topics, History()) == min(
        _squares(other, topics, History()) for other in permutations(tables)
    )


def test_without_topics_the_order_stays() -> None:
    tables = [("a", "b"), ("c", "d")]
    assert by_topic(tables, [[""], [""]], History()) == tables
