"""Answers given once: one ledger at any concurrency and interruption, and nobody is asked twice."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
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
from peerage.engine.record.memory import Remembered
from peerage.game.match import Fixture, GivenAnswer
from peerage.games.tasks.answers import TaskAnswers, request_of
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record
from peerage.ledger.topics.series import given_of
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.settings import PlayerSettings
from peerage.standings.looks import ended

PRICE = {"price": {"input": 1.0, "output": 4.0}}
CHECKED = [{"prompt": f"What is {n} plus {n}?", "expected": str(2 * n)} for n in range(1, 6)]
JUDGED = [f"Explain the tides to a child of {n}." for n in range(3, 6)]
PAIRS = 4 * 3 // 2


def arena(
    folder: Path,
    tasks: Any = (*CHECKED, *JUDGED),
    concurrency: int = 16,
    players: Any = house(4, **PRICE),  # noqa: B008
    **rules: Any,
) -> Path:
    return write_arena(
        folder,
        players,
        game="tasks",
        rules={"tasks": [*tasks], **rules},
        pairing={"window": 8, "policy": "swiss"},
        engine={"concurrency": concurrency},
    )


def fixtures(ledger: Ledger) -> list[Fixture]:
    texts = by_hex(ledger.texts())
    return [read_fixture(row.body, texts) for row in ledger.fixtures()]


def compared(ledger: Ledger) -> Counter[tuple[str, ...]]:
    """Count how often each pair met on each task with a result, or without one that judges could come to."""
    status = {row.number: row.status for row in ledger.summaries()}
    return Counter(
        [
            (*sorted(seat.player for seat in match.seats), match.drawn["task"])
            for match in fixtures(ledger)
            if status.get(match.number) in ("done", "inconclusive")
        ]
    )


def answers(ledger: Ledger) -> Counter[tuple[str, str]]:
    """Count how often each player was asked for an answer to each task."""
    task = {match.number: match.drawn["task"] for match in fixtures(ledger)}
    return Counter(
        [
            (row.player, task[row.match])
            for row in ledger.exchanges(1)
            if row.key.startswith("answer/") and row.reply is not None
        ]
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = arena(tmp_path_factory.mktemp("whole"), concurrency=1)
    report = play(folder, None)
    assert report.reason == "known"
    assert report.note.startswith("every pair has been compared on every task")
    return folder


def test_every_pair_is_compared_once_on_every_task_by_answers_given_once(whole: Path) -> None:
    with closing(ledger_of(whole)) as ledger:
        met, asked = compared(ledger), answers(ledger)
        replies = {(row.match, row.key): row for row in ledger.exchanges(1)}
        given = [
            (match, label, answer) for match in fixtures(ledger) for label, answer in match.given.items()
        ]
        bodies = b"".join(row.body for row in ledger.fixtures())
    assert len(met) == PAIRS * 8
    assert {*met.values()} == {1}
    assert len(asked) == 4 * 8
    assert {*asked.values()} == {1}
    assert len(given) == 2 * PAIRS * 8 - 4 * 8
    for match, label, answer in given:
        row = replies[answer.match, answer.key]
        assert row.player == {seat.label: seat.player for seat in match.seats}[label]
        assert answer.match < match.number
        assert msgspec.json.decode(row.reply or b"")["text"] == answer.text
        assert answer.cost == pytest.approx((row.cost_nano or 0) / 1e9)
        assert len(answer.text) < 64 or answer.text.encode()[:40] not in bodies  # stored once, by digest


@pytest.mark.parametrize(("concurrency", "latency"), [(16, 2), (64, 3)])
def test_concurrency_and_latency_leave_no_trace(
    tmp_path: Path, whole: Path, concurrency: int, latency: int
) -> None:
    play(arena(tmp_path, concurrency=concurrency), None, clients=paced(latency))
    assert head(tmp_path) == head(whole)


def test_interruptions_leave_no_trace(tmp_path: Path, whole: Path) -> None:
    rng = random.Random(5)
    for run in range(200):
        arena(tmp_path, concurrency=rng.choice([1, 8, 16]))
        if play_stopping_at(tmp_path, 1_000, rng.uniform(0, 12), paced(run)).reason == "known":
            break
    assert run > 2
    assert head(tmp_path) == head(whole)
    assert asked_again(tmp_path) == 0


def test_pairing_by_the_dollar_goes_on_as_if_nothing_had_stopped_it(tmp_path: Path) -> None:
    dear = [
        {**player, "price": {"input": 1.0 + 9 * at, "output": 40.0}} for at, player in enumerate(house(4))
    ]
    pairing = {"window": 8, "policy": "adaptive", "per": "dollar"}
    for name in ("whole", "stopped"):
        folder = write_arena(
            tmp_path / name, dear, game="tasks", rules={"tasks": [*CHECKED, *JUDGED]}, pairing=pairing
        )
        for done in range(7, 99, 7) if name == "stopped" else ():
            play(folder, done)
        assert play(folder, None).reason == "known"
    assert head(tmp_path / "whole") == head(tmp_path / "stopped")


def test_costs_and_accuracy_count_an_answer_once(whole: Path) -> None:
    with open_arena(whole) as opened:
        assert opened.verify().ok
        report = opened.replay()
        assert report.ok
        assert report.recomputed == report.matches
        with closing(ledger_of(whole)) as ledger:
            own: Counter[str] = Counter()
            for row in ledger.exchanges(1):
                if row.key.startswith("answer/"):
                    own[row.player] += row.cost_nano or 0
            given = given_of(ledger)
            seats = [ended(row, 0, given.get(row.number, ())).costs for row in ledger.summaries()]
            assert sum([cost or 0.0 for costs in seats for cost in costs]) == pytest.approx(own.total() / 1e9)
        accounts = opened.reading.position.accounts
        for player, nano in own.items():
            assert accounts[player].answers_priced == 8
            assert accounts[player].answer_cost == pytest.approx(nano / 1e9)
        accuracies = opened.reading.played.credits.accuracies
        assert {(one.answers, one.tasks) for one in accuracies.values()} == {(5, 5)}
        clusters = opened.reading.played.clusters
        assert clusters is not None
        assert len({*clusters.tolist()}) == 8


def test_other_answers_are_asked_for_where_the_task_or_the_settings_say_so(tmp_path: Path) -> None:
    play(arena(tmp_path, CHECKED[:2]), None)
    arena(tmp_path, CHECKED[:2], samples=2)
    assert play(tmp_path, None).reason == "known"
    with closing(ledger_of(tmp_path)) as ledger:
        assert {*compared(ledger).values()} == {2}
        assert {*answers(ledger).values()} == {2}
        pairs = Counter(
            [
                (
                    match.drawn["task"],
                    *sorted(f"{seat.player}{match.given.get(seat.label)}" for seat in match.seats),
                )
                for match in fixtures(ledger)
                if len(match.given) == 2
            ]
        )
    assert {*pairs.values()} == {1}, "no two answers are compared twice"
    longer = [{**task, "prompt": f"{task['prompt']} Be brief."} for task in CHECKED[:2]]
    arena(tmp_path, longer)
    play(tmp_path, None)
    with closing(ledger_of(tmp_path)) as ledger:
        assert {*answers(ledger).values()} == {3}
        assert {*compared(ledger).values()} == {3}


def test_a_plan_counts_what_those_who_are_there_have_left_to_be_compared_on(tmp_path: Path) -> None:
    def left(folder: Path) -> str:
        with open_arena(folder) as opened:
            lines = opened.outlook().lines
        return next((line for line in lines if "left" in line), "")

    play(arena(tmp_path, CHECKED[:1]), None)
    assert "so no match is left" in left(tmp_path)
    replaced = [*house(4, **PRICE)[:3], {**house(1, **PRICE)[0], "name": "new"}]
    arena(tmp_path, CHECKED[:1], players=replaced)
    assert "so only 3 matches are left" in left(tmp_path)
    play(tmp_path, None)
    assert "so no match is left" in left(tmp_path)
    arena(tmp_path, CHECKED[:1], players=replaced, samples=2)
    assert "so only 6 matches are left" in left(tmp_path)


def test_another_check_compares_the_same_answers_again(tmp_path: Path) -> None:
    play(arena(tmp_path, CHECKED[:2]), None)
    arena(tmp_path, [{**task, "check": "number"} for task in CHECKED[:2]])
    play(tmp_path, None)
    with closing(ledger_of(tmp_path)) as ledger:
        assert {*answers(ledger).values()} == {1}
        assert {*compared(ledger).values()} == {2}
    with open_arena(tmp_path) as opened:
        assert opened.replay().ok
        assert {one.answers for one in opened.reading.played.credits.accuracies.values()} == {2}


def test_tasks_whose_places_move_are_not_compared_again(tmp_path: Path) -> None:
    play(arena(tmp_path, CHECKED[:3]), None)
    arena(tmp_path, [CHECKED[4], *CHECKED[:3]])
    assert play(tmp_path, None).reason == "known"
    with closing(ledger_of(tmp_path)) as ledger:
        assert len([*ledger.summaries()]) == 4 * PAIRS
        cluster = {str(match.drawn["messages"]): match.shares for match in fixtures(ledger)}
        assert {(str(match.drawn["messages"]), match.shares) for match in fixtures(ledger)} == {
            *cluster.items()
        }
        assert len({*cluster.values()}) == 4


def test_what_a_provider_failed_to_give_is_asked_again(tmp_path: Path) -> None:
    fails = {"left": 3}

    class Failing(Client):
        def __init__(self, settings: PlayerSettings) -> None:
            self._client = paced()(settings)
            self._name = settings.name

        async def answer(self, call: Call) -> Answer:
            if self._name == "p1" and fails["left"] and call.key.startswith("answer/"):
                fails["left"] -= 1
                raise PlayerError("the provider cannot read this", kind="request")
            return await self._client.answer(call)

    play(arena(tmp_path, CHECKED[:3]), None, clients=Failing)
    assert not fails["left"]
    with closing(ledger_of(tmp_path)) as ledger:
        assert {*compared(ledger).values()} == {1}
        assert len(compared(ledger)) == 3 * PAIRS
        voids = [row for row in ledger.summaries() if row.status != "done"]
        void = {row.number for row in voids}
        assert len(voids) == 3
        assert not [
            1
            for match in fixtures(ledger)
            for answer in match.given.values()
            if answer.match in void and {s.label: s.player for s in match.seats} == "p1"
        ]


def test_a_run_without_a_player_who_is_benched_does_not_say_that_all_is_compared(tmp_path: Path) -> None:
    class Failing(Client):
        def __init__(self, settings: PlayerSettings) -> None:
            self._client = paced()(settings)
            self._name = settings.name

        async def answer(self, call: Call) -> Answer:
            if self._name == "p1" and call.key.startswith("answer/"):
                raise PlayerError("the key is wrong", kind="auth")
            return await self._client.answer(call)

    report = play(arena(tmp_path, CHECKED[:3]), None, clients=Failing)
    assert "p1" in report.benched
    assert report.note.startswith("every pair that may meet in this run has been compared")
    report = play(tmp_path, None)
    assert report.note.startswith("every pair has been compared on every task")
    with closing(ledger_of(tmp_path)) as ledger:
        assert {*compared(ledger).values()} == {1}
        assert len(compared(ledger)) == 3 * PAIRS


def test_a_newcomer_who_has_met_all_on_all_tasks_is_placed_without_matches_of_others(tmp_path: Path) -> None:
    players = house(4, **PRICE)
    play(arena(tmp_path, CHECKED[:4], players=players[:3]), 4)
    write_arena(
        tmp_path,
        players,
        game="tasks",
        rules={"tasks": CHECKED[:4]},
        pairing={"window": 8, "policy": "adaptive"},
        until="p3 placed",
    )
    report = play(tmp_path, None)
    assert report.note.startswith("every pair that may meet in this run has been compared")
    with closing(ledger_of(tmp_path)) as ledger:
        assert sum("p3" in row.players for row in ledger.summaries()) == 3 * 4
        assert sum("p3" not in row.players for row in ledger.summaries()) < 3 * 4


def test_fresh_answers_have_no_end_and_no_memory(tmp_path: Path) -> None:
    report = play(arena(tmp_path, CHECKED[:2], samples="fresh"), 30)
    assert report.reason == "limit"
    with closing(ledger_of(tmp_path)) as ledger:
        assert sum(answers(ledger).values()) == 60
        assert not any(match.given or match.shares for match in fixtures(ledger))
        assert not any(read_record(row.body).outcome.facts for row in ledger.records())


@pytest.mark.parametrize(
    "forgery",
    [{"text": "4"}, {"status": "refused"}, {"reason": "it was cut off"}, {"cost": 0.5}, {"request": "other"}],
    ids=str,
)
def test_replay_notices_an_answer_that_nobody_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgery: dict[str, Any]
) -> None:
    whole_answer = Remembered._whole

    def forged(self: Remembered, given: GivenAnswer) -> GivenAnswer:
        answer = whole_answer(self, given)
        return msgspec.structs.replace(answer, **forgery) if given.match == 1 else answer

    monkeypatch.setattr(Remembered, "_whole", forged)
    play(arena(tmp_path, CHECKED[:1]), None)
    with open_arena(tmp_path) as opened:
        assert opened.verify().ok, "nothing was changed after it was written"
        differences = opened.replay().differences
    assert differences
    assert all("from match 1" in difference.about for difference in differences)


def test_the_verdict_says_that_nothing_is_left_to_compare(tmp_path: Path) -> None:
    play(arena(tmp_path, CHECKED[:1]), None)
    with open_arena(tmp_path) as opened:
        verdict = opened.verdict()
    assert verdict.may_be_as_good
    assert (
        "Answers are compared once, so no match is left: add tasks, or raise `samples`."
        in verdict.would_change
    )


def test_an_answer_to_something_else_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An issuer that takes each answer for one to every task."""
    first: dict[str, str] = {}

    def any_task(self: TaskAnswers, task: Any, player: str) -> str:
        return first.setdefault(player, request_of(self._rules, task.drawn, player))

    monkeypatch.setattr(TaskAnswers, "_request", any_task)
    play(arena(tmp_path, CHECKED[:2]), 6)
    with closing(ledger_of(tmp_path)) as ledger:
        voids = {
            (bool(match.given), match.drawn["task"] != fixtures(ledger)[0].drawn["task"], row.outcome.void)
            for match, row in zip(
                fixtures(ledger), [read_record(row.body) for row in ledger.records()], strict=True
            )
        }
    assert (True, True, "other_request") in voids
    assert {void for given, other, void in voids if not (given and other)} == {""}
