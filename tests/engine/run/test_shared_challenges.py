"""Challenges that several players answer: drafted once, answered once each, whatever happens to the run."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import (
    asked_again,
    head,
    house,
    ledger_of,
    paced,
    play,
    play_stopping_at,
    write_arena,
)

from peerage.arena import open_arena
from peerage.games.duel.rules import DuelRules
from peerage.games.duel.shared import CHALLENGE, SharedChallenges
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record
from peerage.settings import SettingsError

PRICE = {"price": {"input": 1.0, "output": 4.0}}
MATCHES = 60


def arena(folder: Path, most: int = 4, concurrency: int = 16, players: int = 5) -> Path:
    return write_arena(
        folder,
        house(players, **PRICE),
        game="duel",
        rules={"players_per_challenge": most},
        pairing={"window": 4, "policy": "random"},
        engine={"concurrency": concurrency},
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = arena(tmp_path_factory.mktemp("whole"), concurrency=1)
    play(folder, MATCHES)
    return folder


def test_an_author_outside_the_match_never_answers_its_own_challenge(tmp_path: Path) -> None:
    rules = {"players_per_challenge": 6, "author": "top", "committee": 2, "judges": 3}
    pairing = {"window": 4, "policy": "random"}
    write_arena(tmp_path, house(8, **PRICE), game="duel", rules=rules, pairing=pairing)
    play(tmp_path, 30)
    with closing(ledger_of(tmp_path)) as ledger:
        matches = [read_fixture(row.body, by_hex(ledger.texts())) for row in ledger.fixtures()]
    authors = {match.number: {seat.player for seat in match.officials.get("author", ())} for match in matches}
    later = [match for match in matches if match.shares != match.number]
    assert len(later) > 10
    for match in later:
        assert authors[match.shares].isdisjoint([seat.player for seat in match.seats])


def test_a_challenge_is_drafted_once_and_answered_once_by_each_of_so_many(whole: Path) -> None:
    with closing(ledger_of(whole)) as ledger:
        texts = by_hex(ledger.texts())
        fixtures = [read_fixture(row.body, texts) for row in ledger.fixtures()]
        outcomes = {
            record.number: record.outcome for record in map(read_record, [r.body for r in ledger.records()])
        }
        asked: defaultdict[int, Counter[str]] = defaultdict(Counter)
        stages: Counter[tuple[int, str]] = Counter()
        shares = {match.number: match.shares for match in fixtures}
        for row in ledger.exchanges(1):
            stages[row.match, row.key.split("/")[0]] += 1
            if row.key.startswith("answer/"):
                asked[shares[row.match]][row.player] += 1
    later = [match for match in fixtures if match.shares != match.number]
    assert len(later) > MATCHES / 2
    pairs: Counter[tuple[Any, ...]] = Counter()
    for match in fixtures:
        pairs[match.shares, *sorted(seat.player for seat in match.seats)] += 1
    assert {*pairs.values()} == {1}, "nobody meets twice on a challenge"
    for match in later:
        first = outcomes[match.shares]
        assert match.drawn[CHALLENGE] == first.facts[0][CHALLENGE]
        assert match.topic == next(other.topic for other in fixtures if other.number == match.shares)
        assert {*match.officials} == {"judge"}
        assert not stages[match.number, "question"] + stages[match.number, "vote"]
    for players in asked.values():
        assert {*players.values()} == {1}
        assert len(players) <= 4


def test_all_of_it_can_be_checked_and_recomputed(whole: Path) -> None:
    with open_arena(whole) as opened:
        assert opened.verify().ok
        report = opened.replay()
        assert report.ok
        assert report.recomputed == report.matches == MATCHES
        clusters = opened.reading.played.clusters
        assert clusters is not None
        assert len({*clusters.tolist()}) < MATCHES / 2
        accounts = opened.reading.position.accounts.values()
        assert sum([account.answers_priced for account in accounts]) < 2 * MATCHES


@pytest.mark.parametrize(("concurrency", "latency"), [(16, 2), (64, 3)])
def test_concurrency_and_latency_leave_no_trace(
    tmp_path: Path, whole: Path, concurrency: int, latency: int
) -> None:
    play(arena(tmp_path, concurrency=concurrency), MATCHES, clients=paced(latency))
    assert head(tmp_path) == head(whole)


def test_interruptions_leave_no_trace(tmp_path: Path, whole: Path) -> None:
    rng = random.Random(5)
    for run in range(200):
        arena(tmp_path, concurrency=rng.choice([1, 8, 16]))
        if play_stopping_at(tmp_path, MATCHES, rng.uniform(0, 12), paced(run)).settled == MATCHES:
            break
    assert run > 2
    assert head(tmp_path) == head(whole)
    assert asked_again(tmp_path) == 0


def test_an_arena_may_begin_to_share_challenges(tmp_path: Path) -> None:
    play(arena(tmp_path, most=2), 10)
    play(arena(tmp_path, most=5), 40)
    with open_arena(tmp_path) as opened:
        assert opened.verify().ok
        assert opened.replay().ok
        clusters = opened.reading.played.clusters
        assert clusters is not None
        assert len({*clusters.tolist()}) < 40


def test_a_plan_drafts_no_more_than_a_run_does(whole: Path) -> None:
    with open_arena(whole) as opened:
        plan = opened.plan(MATCHES)
        took = opened.reading.position.accounts
    calls = sum([part.calls for part in plan.players])
    assert calls == pytest.approx(sum([account.calls for account in took.values()]), rel=0.25)


def test_players_that_remember_are_refused(tmp_path: Path) -> None:
    folder = write_arena(
        tmp_path,
        [*house(4), {"command": ["true"], "name": "agent", "price": {"input": 0, "output": 0}}],
        game="duel",
        rules={"players_per_challenge": 3},
    )
    with pytest.raises(SettingsError, match=r"agent is an agent and may remember.*players_per_challenge: 2"):
        play(folder, 1)


def test_a_long_arena_keeps_a_hundred_challenges_open() -> None:
    memory = SharedChallenges(DuelRules(players_per_challenge=3))
    for match in range(1, 301):
        assert memory.meet("secret", match, [f"p{match}", f"q{match}"]) is not None
        memory.presume(match)
    drawn = memory.meet("secret", 301, ["p1", "p2"])
    assert drawn is not None
    assert drawn.shares > 200
