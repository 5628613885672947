"""What is stated for players and for the engine holds in a run, at other values than the defaults."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.engine.arenas import SMALL, house, ledger_of, patience, play, write_arena

from peerage.ledger.forms.codec import read_reply
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.settings import ArenaSettings, PlayerSettings, Rating
from peerage.standings.fold import elo_settings


class Sent(NamedTuple):
    """One call as its client got it, between two virtual times."""

    player: str
    call: Call
    began: float
    ended: float


class Recorder:
    """Opens house players that take `seconds` for each call and note it."""

    def __init__(self, seconds: float = 1.0, **answering: Any) -> None:
        self.sent: list[Sent] = []
        self._seconds = seconds
        self._answering = answering

    def __call__(self, settings: PlayerSettings) -> Client:
        return _Recorded(settings, self, self._seconds, self._answering)

    def peak(self, player: str = "") -> int:
        """Calls in flight at once, at most."""
        mine = [one for one in self.sent if player in ("", one.player)]
        edges = sorted([(one.ended, -1) for one in mine] + [(one.began, 1) for one in mine])
        most = now = 0
        for _, step in edges:
            now += step
            most = max(most, now)
        return most

    def busiest_minute(self, player: str, tokens: bool = False) -> int:
        """Calls that began within a minute, at most; or the tokens they might have written."""
        mine = [one for one in self.sent if one.player == player]
        return max(
            sum(one.call.max_tokens if tokens else 1 for one in mine if 0 <= one.began - first.began < 59.99)
            for first in mine
        )


class _Recorded:
    def __init__(
        self, settings: PlayerSettings, to: Recorder, seconds: float, answering: dict[str, Any]
    ) -> None:
        self._house, self._name, self._to = HouseClient(settings), settings.name, to
        self._seconds, self._answering = seconds, answering

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def answer(self, call: Call) -> Answer:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._to.sent.append(Sent(self._name, call, began, loop.time()))
        if self._answering.get("failing"):
            raise PlayerError("down")
        answer = self._house.answer_now(call)
        return Answer(answer.text, self._seconds, 10, 10, hidden=answer.hidden, **self._answering)


def replies(folder: Path) -> list[Any]:
    ledger = ledger_of(folder)
    try:
        return [read_reply(one) for one in ledger.exchanges(1) if one.reply is not None]
    finally:
        ledger.close()


GAMES = {"author": 1.0, "committee": 0.0, "contestant": 0.7, "judge": 0.0}
"""Each role's temperature in a duel, by default."""


@pytest.mark.parametrize("stated", [None, 0.0, 0.4])
def test_a_players_temperature_goes_before_the_games(tmp_path: Path, stated: float | None) -> None:
    seen = Recorder()
    play(write_arena(tmp_path, house(7, temperature=stated)), 4, clients=seen)
    asked = {(one.call.role, one.call.temperature) for one in seen.sent}
    # None leaves it to the client, which sends what is stated for the player.
    assert asked == {(role, usual if stated is None else None) for role, usual in GAMES.items()}


@pytest.mark.parametrize("stated", [None, 100, 1_000])
def test_the_lower_of_the_players_limit_and_the_games_is_asked_for(
    tmp_path: Path, stated: int | None
) -> None:
    seen, free = Recorder(), Recorder()
    play(write_arena(tmp_path / "a", house(7, max_tokens=stated)), 4, clients=seen)
    play(write_arena(tmp_path / "b", house(7)), 4, clients=free)
    usual = {one.call.key.partition("/")[0]: one.call.max_tokens for one in free.sent}
    for one in seen.sent:
        games = usual[one.call.key.partition("/")[0]]
        assert one.call.max_tokens == (games if stated is None else min(games, stated))


def test_a_players_own_limits_of_concurrency_and_rate_hold_for_it_alone(tmp_path: Path) -> None:
    players = house(7)
    players[0]["concurrency"] = 1
    players[1]["requests_per_minute"] = 6
    seen = Recorder(5.0)
    folder = write_arena(tmp_path, players, engine={"concurrency": 16, "match_deadline_s": 1e6})
    play(folder, 24, clients=seen)
    assert seen.peak("p0") == 1
    assert seen.peak("p2") > 1
    assert seen.busiest_minute("p1") == 6
    assert seen.busiest_minute("p2") > 6


def test_a_players_rate_of_tokens_holds(tmp_path: Path) -> None:
    usual, bounded = Recorder(), Recorder()
    for folder, seen, limit in ((tmp_path / "a", usual, None), (tmp_path / "b", bounded, 9_000)):
        made = write_arena(folder, house(7, tokens_per_minute=limit), engine={"match_deadline_s": 1e6})
        play(made, 12, clients=seen)
    assert usual.busiest_minute("p3", tokens=True) > 9_000 >= bounded.busiest_minute("p3", tokens=True)


@pytest.mark.parametrize("calls", [1, 3])
def test_no_more_calls_than_stated_are_in_flight(tmp_path: Path, calls: int) -> None:
    seen = Recorder()
    play(write_arena(tmp_path, engine={"calls": calls}), 4, clients=seen)
    assert seen.peak() == calls


@pytest.mark.parametrize("matches", [1, 2])
def test_no_more_matches_than_stated_are_under_way(tmp_path: Path, matches: int) -> None:
    seen = Recorder()
    play(write_arena(tmp_path, engine={"concurrency": matches}), 6, clients=seen)
    spans: dict[str, list[float]] = defaultdict(list)
    for one in seen.sent:
        spans[one.call.seed] += one.began, one.ended
    edges = sorted([(max(s), -1) for s in spans.values()] + [(min(s), 1) for s in spans.values()])
    under_way = [sum(step for _, step in edges[: at + 1]) for at in range(len(edges))]
    assert max(under_way) == matches


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (3, 4)])
def test_a_call_is_tried_so_often_and_waits_longer_each_time(
    tmp_path: Path, retries: int, tries: int
) -> None:
    seen = Recorder(failing=True)
    with patience(BACKOFF_S=8.0, BACKOFF_MAX_S=12.0):
        play(write_arena(tmp_path, engine={"retries": retries}), 1, clients=seen)
    attempts: dict[str, list[Sent]] = defaultdict(list)
    for one in seen.sent:
        if one.call.seed == seen.sent[0].call.seed:  # later matches wait for players that are paused
            attempts[one.call.key].append(one)
    assert {len(mine) for mine in attempts.values()} == {tries}
    waits = [[b.began - a.ended for a, b in pairwise(mine)] for mine in attempts.values()]
    # Half of a wait is drawn: of 8 s, then of 12 s, the longest. A player that is paused waits longer.
    assert all(mine[0] >= 4 and min(mine[1:]) >= 6 for mine in waits if mine)


def test_a_silent_player_is_given_up_after_its_own_timeout(tmp_path: Path) -> None:
    seen = Recorder(seconds=1e5)
    play(write_arena(tmp_path, house(7, timeout_s=40), engine={"retries": 0}), 1, clients=seen)
    assert {round(one.ended - one.began) for one in seen.sent} == {50}


@pytest.mark.parametrize(("watts", "energy"), [(None, None), (0, 0), (360.0, 0.0002)])
def test_power_is_counted_as_stated(tmp_path: Path, watts: float | None, energy: float | None) -> None:
    """In kilowatt-hours: 360 W for 2 s are 0.2 Wh."""
    play(write_arena(tmp_path, house(7, watts=watts)), 2, clients=Recorder(2.0))
    assert {reply.used.get("kwh") for reply in replies(tmp_path)} == {energy}


@pytest.mark.parametrize(
    ("price", "reported", "nano"),
    [
        (0.002, None, 60),
        (0.002, 0.0, 60),
        (0.002, 0.5, 500_000_000),
        (None, 0.0, 0),
        (None, 0.5, 500_000_000),
    ],
)
def test_what_a_player_reports_to_cost_never_lowers_a_stated_price(
    tmp_path: Path, price: float | None, reported: float | None, nano: int
) -> None:
    stated = {} if price is None else {"price": {"input": price, "output": 2 * price}}
    players = house(7, **stated)
    play(write_arena(tmp_path, players), 2, clients=Recorder(cost_usd=reported))
    assert {reply.cost_nano for reply in replies(tmp_path)} == {nano}


def test_what_a_player_declines_is_refused_and_no_answer(tmp_path: Path) -> None:
    play(write_arena(tmp_path), 2, clients=Recorder(refused=True))
    assert {(reply.status, reply.reason) for reply in replies(tmp_path)} == {("refused", "declined")}


OTHER = {
    "initial": 1000.0,
    "k_factor": 40.0,
    "cost_sensitivity": 0.9,
    "propagation_width": 10.0,
    "propagation_share": 1.0,
}


def test_every_setting_of_ratings_is_handed_on() -> None:
    settings = elo_settings(Rating.model_validate(OTHER))
    assert {name: getattr(settings, name) for name in OTHER} == OTHER
    assert {*OTHER, "cost_unit"} == {*Rating.model_fields}


@pytest.mark.parametrize("name", OTHER)
def test_every_setting_of_ratings_changes_the_ratings(tmp_path: Path, name: str) -> None:
    def ratings(folder: str, **rating: Any) -> Any:
        made = write_arena(tmp_path / folder, rating=rating, rules=SMALL)
        play(made, 12, clients=Recorder(cost_usd=0.25))
        ledger = ledger_of(made)
        try:
            return [(row.raw, row.cost_elo) for row in ledger.summaries()]
        finally:
            ledger.close()

    assert ratings("usual") != ratings("other", **{name: OTHER[name]})


def test_the_arenas_seed_and_name_are_those_stated() -> None:
    settings = ArenaSettings(name="mine", seed=0)
    assert (settings.name, settings.seed) == ("mine", 0)
