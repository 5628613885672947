"""Statistics against what the transcripts of all matches tell."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.engine.arenas import paced, patience, play, play_stopping_at, write_arena
from tests.engine.clients import Cast
from tests.views.conftest import recorded

from peerage.arena import Arena, open_arena
from peerage.players.client import Client, PlayerError
from peerage.ratings.sequential.elo import EloSettings
from peerage.reading.match import Match
from peerage.reading.matches import Matches
from peerage.settings import PlayerSettings
from peerage.standings.accounts import position
from peerage.views.match.match import tasks
from peerage.views.stats.report import Stats, summary


@pytest.fixture(scope="module")
def counted(folder: Path) -> Stats:
    with open_arena(folder, create=False) as arena:
        return arena.stats()


@pytest.fixture(scope="module")
def told(folder: Path) -> list[Match]:
    with open_arena(folder, create=False) as arena:
        return list(Matches(arena.ledger).read(1, recorded(arena)))


def test_players_replies_are_counted_by_what_they_were(counted: Stats, told: list[Match]) -> None:
    seen: dict[str, Counter[str]] = {}
    waits: dict[str, list[float]] = {}
    for match in told:
        for one in match.asked.values():
            tally = seen.setdefault(one.player, Counter())
            tally[one.role] += 1
            tally["calls"] += 1
            tally["repaired"] += one.key.endswith("~repair")
            if f"{one.key}~repair" not in match.asked:
                tally[one.status] += 1
            if one.role == "contestant" and one.status != "void":
                waits.setdefault(one.player, []).append((one.row.latency_ms or 0) / 1000)
    assert sum(player.invalid for player in counted.players) > 0
    assert sum(player.refused for player in counted.players) > 0
    assert sum(player.void for player in counted.players) > 0
    for player in counted.players:
        tally = seen[player.player]
        for key in ("calls", "repaired", "invalid", "refused", "void"):
            assert getattr(player, key) == tally[key], (player.player, key)
        assert player.calls_as == {
            role: tally[role] for role in ("author", "committee", "contestant", "judge") if tally[role]
        }
        mine = sorted(waits[player.player])
        assert player.answers == len(mine)
        assert player.latency_mean_s == pytest.approx(sum(mine) / len(mine))
        assert player.latency_p50_s == mine[(len(mine) + 1) // 2 - 1]
        assert player.latency_p95_s is not None
        assert sum(wait <= player.latency_p95_s for wait in mine) >= 0.95 * len(mine)
        assert sum(wait < player.latency_p95_s for wait in mine) < 0.95 * len(mine)


def test_sums_agree_with_the_leaderboard(counted: Stats, arena: Arena) -> None:
    rows = {row.player: row for row in arena.leaderboard()}
    for player in counted.players:
        row = rows[player.player]
        assert (player.matches, player.wins, player.draws, player.losses, player.void_matches) == (
            row.matches,
            row.wins,
            row.draws,
            row.losses,
            row.void,
        )
        assert player.cost_usd == row.cost_usd
        assert (player.model, player.family) == (row.model, row.family)
    assert counted.matches == recorded(arena)
    assert sum(counted.voids.values()) * 2 == sum(row.void for row in rows.values())


def test_judges_are_counted_from_their_ballots(counted: Stats, told: list[Match]) -> None:
    ballots = [(match.players[ballot.judge], ballot) for match in told for ballot in match.ballots]
    for judge in counted.judges:
        mine = [ballot for player, ballot in ballots if player == judge.player]
        assert judge.votes == len(mine)
        assert judge.abstentions == sum(ballot.vote == "abstain" for ballot in mine)
        assert judge.flips == sum(ballot.flipped for ballot in mine)
        assert judge.agreement is not None
        assert 0 < judge.agreement <= 1
    assert sum(judge.votes for judge in counted.judges) == len(ballots)


def test_authors_are_counted_from_their_drafts(counted: Stats, told: list[Match]) -> None:
    drafts = [(match.players[draft.authors["question"]], draft) for match in told for draft in match.drafts]
    assert any(draft.status != "ok" for _, draft in drafts)
    for author in counted.authors:
        mine = [draft for player, draft in drafts if player == author.player]
        assert author.drafts == sum(draft.status == "ok" for draft in mine)
        assert author.approved == sum(draft.accepted for draft in mine)
        assert author.turns_lost == sum(draft.status != "ok" for draft in mine)
    assert sum(author.approved for author in counted.authors) == sum(
        bool(tasks(match.blocks)) for match in told
    )


@pytest.mark.parametrize(
    ("voids", "line"),
    [
        ({}, "Every match has a result."),
        ({"no_challenge": 1}, "1 match without a result: no draft was agreed on."),
        (
            {"no_challenge": 2, "arena_budget": 1},
            "3 matches without a result: no draft was agreed on (2); the budget ended before them (1).",
        ),
    ],
)
def test_the_summary_counts_matches_without_a_result(
    counted: Stats, voids: dict[str, int], line: str
) -> None:
    assert summary(replace(counted, voids=voids))[1] == line


def test_statistics_are_plain_json(counted: Stats) -> None:
    data = counted.as_dict()
    assert json.loads(json.dumps(data)) == data
    assert set(data) == {
        "matches", "voids", "players", "judges", "authors", "outside", "probes",
        "unfinished", "hosted", "costs", "kinds",
    }  # fmt: skip


def test_a_game_without_topics_is_told_by_its_name(tmp_path: Path) -> None:
    play(write_arena(tmp_path, 4, game="trivia", rules={}), 6)
    with open_arena(tmp_path) as arena:
        assert [(kind.by, kind.kind, kind.matches) for kind in arena.stats().kinds] == [("game", "trivia", 6)]


def test_an_arena_not_yet_played_has_empty_statistics(tmp_path: Path) -> None:
    with open_arena(write_arena(tmp_path)) as arena:
        found = arena.stats()
    assert (found.matches, found.voids, found.judges, found.authors) == (0, {}, (), ())
    assert [player.calls for player in found.players] == [0] * 7
    assert found.players[0].latency_p50_s is None


def test_statistics_name_a_model_as_it_may_be_shown(tmp_path: Path) -> None:
    agent = {"name": "agent", "model": "http://me:pass-word@localhost/agent?token=tok-en"}
    write_arena(tmp_path, [agent, *[f"house:0.{place}" for place in range(2, 7)]])
    with open_arena(tmp_path) as arena:
        assert arena.stats().players[0].model == "http://localhost/agent"


def test_money_spent_before_a_match_ends_is_in_the_statistics(tmp_path: Path) -> None:
    price = {"input": 1, "output": 2}
    players = [{"name": f"p{n}", "model": "house:0.5", "price": price} for n in range(7)]
    folder = write_arena(tmp_path, players)
    report = play_stopping_at(folder, 40, 8.0, paced())
    with open_arena(folder) as arena:
        found = arena.stats()
        issued, recorded = arena.ledger.heads()
        mine = list(arena.ledger.exchanges(recorded + 1))
    assert issued > recorded
    assert sum(one.calls for one in found.unfinished) >= len([one for one in mine if one.reply]) > 0
    done = sum(one.cost_usd or 0 for one in found.players) + sum(one.possibly_usd for one in found.players)
    under_way = sum(one.cost_usd + one.possibly_usd for one in found.unfinished)
    assert under_way > 0
    assert done + under_way == pytest.approx(report.spent_nano / 1e9)


@patience(BENCH_AFTER=1000)
def test_failures_are_counted_by_role_and_said_in_words(tmp_path: Path) -> None:
    write_arena(tmp_path, 6)

    def clients(settings: PlayerSettings) -> Client:
        gone = PlayerError("gone", kind="request")
        fails = settings.name == "p1"
        return Cast(lambda call, _: gone if fails and call.role == "contestant" else None)(settings)

    play(tmp_path, 12, clients=clients)
    with open_arena(tmp_path) as arena:
        found = {one.player: one for one in arena.stats().players}
        account = position(arena.ledger, EloSettings()).accounts["p1"]
    assert found["p0"].failures == ""
    row = found["p1"]
    assert row.failed_in["contestant"] == row.asked_in["contestant"] == account.failed == account.seated > 0
    assert row.failed_in["judge"] == 0 < row.asked_in["judge"]
    counts = row.asked_in["contestant"], row.asked_in["judge"]
    assert row.failures.startswith(f"as a contestant no reply in {counts[0]} of {counts[0]} matches, as a")
    assert row.failures.endswith(f", as a judge in 0 of {counts[1]}")
