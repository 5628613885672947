"""Who meets on what: everybody meets each topic about as often as each other one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from random import Random

import pytest
from tests.scheduling.test_policies import standings

from peerage.games import GAMES
from peerage.scheduling.fixtures import Scheduler, next_round, remember
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History
from peerage.scheduling.topics import by_topic

TOPICS = [f"topic {number}" for number in range(20)]


def _counts(policy: str, players: int, rounds: int) -> Counter[tuple[str, str]]:
    rules = GAMES["duel"].rules(topics=TOPICS)  # type: ignore[call-arg]
    scheduler = Scheduler.of(GAMES["duel"], rules, "secret", Policy(policy))  # type: ignore[arg-type]
    history, number, found = History(), 1, Counter[tuple[str, str]]()
    over_all = Counter[str]()
    for round in range(1, rounds + 1):
        fixtures = next_round(scheduler, standings(players), history, number=number, round=round, snapshot=0)
        remember(history, fixtures)
        number = fixtures[-1].number + 1
        found.update((fixture.topic, seat.player) for fixture in fixtures for seat in fixture.seats)
        over_all.update(fixture.topic for fixture in fixtures)
        assert max(over_all.values()) - min(over_all[topic] for topic in TOPICS) <= 1
    for topic in TOPICS:
        for player in standings(players):
            assert history.met_on(topic, player.player) == found[topic, player.player]
            found[topic, player.player] += 0
    return found


@pytest.mark.parametrize("policy", ["swiss", "random"])
def test_everybody_meets_each_topic_about_as_often(policy: str) -> None:
    """By lot 75 rounds of eight give some player a topic never and another nine times."""
    found = _counts(policy, 8, 75)
    assert max(found.values()) - min(found.values()) <= 4
    assert min(found.values()) >= 2


def test_no_two_matches_would_gain_by_changing_places() -> None:
    """Four tables: no change of two is better, and mostly no order at all."""
    rng, best = Random(1), 0
    tables = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    for _ in range(40):
        history = History()
        for _ in range(30):
            history.remember(rng.sample("abcdefgh", 2), f"{rng.randrange(4)}")
        topics = [f"{rng.randrange(4)}" for _ in range(4)]

        def met(order: tuple[tuple[str, str], ...] | list[tuple[str, ...]]) -> int:
            pairs = zip(order, topics, strict=True)  # noqa: B023
            return sum(history.met_on(topic, one) for table, topic in pairs for one in table)  # noqa: B023

        ordered = by_topic(tables, topics, history)
        assert sorted(ordered) == tables
        best += met(ordered) == min(map(met, permutations(tables)))
        for one, two in combinations(range(4), 2):
            changed = list(ordered)
            changed[one], changed[two] = changed[two], changed[one]
            assert met(ordered) <= met(changed)
    assert best >= 20


def test_without_topics_the_order_stays() -> None:
    tables = [("a", "b"), ("c", "d")]
    assert by_topic(tables, ["", ""], History()) == tables
