"""Six matches written out by hand, with every sum that a table shows worked out on paper.

    match  topic  contestants   what the judges said                              result
    1      maths  ann, bob      jo ann, kim ann, lee whoever stands first         ann wins
    2      law    bob, cid      jo cid, kim cid, lee bob                          cid wins
    3      maths  cid, ann      jo tie, kim whoever stands first, lee tie         a tie
    4      law    ann, bob      nobody was asked: bob declined to answer          ann wins
    5      maths  bob, cid      jo cid, kim unusable once, lee bob                a tie
    6      law    ann, cid      nobody was asked: ann's provider failed           void

An answer costs ann 2, bob 6 and cid 3 thousandths of a dollar, a verdict 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import write_arena
from tests.views.leaderboard.test_board import UNLOGGED, copied

from peerage.arena import Arena, open_arena
from peerage.engine.again.import_recordings import Recording
from peerage.game.match import Fixture, Seat
from peerage.game.protocol import Reply
from peerage.ratings.fits.judges import fit
from peerage.reading.scope import Scope, ScopeError
from peerage.reading.verdicts.votes import votes
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS, TRACKS
from peerage.views.stats.report import stats

MATCHES = (
    ("maths", "ann", "bob", {"jo": "ann", "kim": "ann", "lee": "first"}),
    ("law", "bob", "cid", {"jo": "cid", "kim": "cid", "lee": "bob"}),
    ("maths", "cid", "ann", {"jo": "tie", "kim": "first", "lee": "tie"}),
    ("law", "ann", "bob", {}),
    ("maths", "bob", "cid", {"jo": "cid", "kim": "bob, once unusable", "lee": "bob"}),
    ("law", "ann", "cid", {}),
)
ANSWERS = {"ann": 2_000_000, "bob": 6_000_000, "cid": 3_000_000}
JUDGES = ("jo", "kim", "lee")
RATED = [track for track in TRACKS if track != "judge-aware"]  # not every one of these was judged


def said(number: int, key: str) -> Reply:
    """What came back to a request of match `number`."""
    topic, first, second, votes = MATCHES[number - 1]
    seated = {"A": first, "B": second}
    if key.startswith("answer/"):
        player = seated[key[-1]]
        if (number, player) == (4, "bob"):
            return Reply("refused", reason="declined", cost_nano=0)
        if (number, player) == (6, "ann"):
            return Reply("void", reason="the provider failed", cost_nano=0)
        return Reply("ok", f"{player} on {topic}", input_tokens=10, cost_nano=ANSWERS[player])
    judge, order = key.removesuffix("~repair").removeprefix("judge/").split("/")
    vote = votes[JUDGES[int(judge) - 1]]
    if vote == "bob, once unusable":
        if order == "B-A":
            return Reply("ok", "I cannot say.", cost_nano=1_000_000)
        vote = "bob"
    shown = [seated[label] for label in order.split("-")]
    verdict = "A" if vote == "first" else vote if vote == "tie" else "AB"[shown.index(vote)]
    return Reply("ok", f'{{"reason": "so", "verdict": "{verdict}"}}', cost_nano=1_000_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = (*ANSWERS, *JUDGES)
    made = write_arena(
        tmp_path_factory.mktemp("hand"),
        [{"name": name, "model": "house:0.5"} for name in names],
        game="tasks",
        rules={
            "tasks": [{"prompt": "2 + 2?", "category": "maths"}, {"prompt": "Guilty?", "category": "law"}]
        },
        rating={"propagation_width": None},
    )
    with open_arena(made) as arena, pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "peerage.engine.again.import_recordings.recorded_reply",
            lambda one, key: said(one.fixture.number, key),
        )
        settings = {**arena.settings.rules, "judging": {"order": "both", "early_stop": False}}
        arena.admit(
            Recording(
                Fixture(
                    number,
                    number,
                    "tasks",
                    1,
                    f"by hand/{number}",
                    (Seat("A", first), Seat("B", second)),
                    {"judge": tuple([Seat(f"judge/{n}", name) for n, name in enumerate(JUDGES, 1)])},
                    settings,
                    {"task": topic, "messages": [["user", f"On {topic}."]], "category": topic},
                ),
                {},
                number,
            )
            for number, (topic, first, second, _) in enumerate(MATCHES, 1)
        )
    return made


@pytest.fixture
def arena(folder: Path) -> Iterator[Arena]:
    with open_arena(folder, create=False) as opened:
        yield opened


def table(arena: Arena, track: str = "", **scope: Any) -> dict[str, Row]:
    return {row.player: row for row in arena.leaderboard(track, **scope)}


def sums(row: Row) -> tuple[Any, ...]:
    return tuple(getattr(row, key) for key in ("matches", "wins", "draws", "losses", "void"))


def test_the_ledger_replays_like_any_other(arena: Arena) -> None:
    assert arena.replay().ok


@pytest.mark.parametrize("track", TRACKS)
def test_wins_draws_losses_and_costs(arena: Arena, track: str) -> None:
    rows = table(arena, track)
    assert sums(rows["ann"]) == (3, 2, 1, 0, 1)
    assert sums(rows["bob"]) == (4, 0, 1, 3, 0)
    assert sums(rows["cid"]) == (3, 1, 2, 0, 1)
    assert all(sums(rows[name]) == (0, 0, 0, 0, 0) for name in JUDGES)
    dollars = {name: row.cost_usd for name, row in rows.items()}
    assert dollars == pytest.approx(
        {"ann": 0.006, "bob": 0.018, "cid": 0.012, "jo": 0.008, "kim": 0.009, "lee": 0.008}
    )
    assert [rows[name].cost_per_match for name in ANSWERS] == pytest.approx([0.002, 0.0045, 0.003])
    assert [rows[name].input_tokens for name in ANSWERS] == [30, 30, 40]


def test_elo_by_hand(arena: Arena) -> None:
    """K = 16, matches 1 to 5 (E is what the first contestant could expect):

    raw   E ½ .48849 .49974 .53421 .45537
          ann 1508 · 1507.996 · 1515.449, bob 1492 · 1484.184 · 1476.731 · 1477.445,
          cid 1507.816 · 1507.820 · 1507.106
    cost  E ½ .48504 .49927 .53763 .45341; adjusted scores .95 -.15, -.1333 .9333, .38 .42, .8 0, .3667 .4333
          ann 1507.2 · 1505.908 · 1510.106, bob 1489.6 · 1479.706 · 1472.308 · 1470.920,
          cid 1506.694 · 1504.786 · 1502.974
    """
    raw = {name: table(arena, "raw")[name].rating for name in ANSWERS}
    assert raw == pytest.approx({"ann": 1515.449, "bob": 1477.445, "cid": 1507.106}, abs=0.002)
    cost = {name: table(arena, "cost")[name].rating for name in ANSWERS}
    assert cost == pytest.approx({"ann": 1510.106, "bob": 1470.920, "cid": 1502.974}, abs=0.002)


def test_bradley_terry_expects_the_points_that_were_made(arena: Arena) -> None:
    rating = {name: row.rating for name, row in table(arena, "bt").items() if row.rank is not None}
    assert rating.keys() == ANSWERS.keys()
    assert sum(rating.values()) == pytest.approx(4500)

    def beats(one: str, other: str) -> float:
        return 1 / (1 + 10 ** ((rating[other] - rating[one]) / 400))

    assert 2 * beats("ann", "bob") + beats("ann", "cid") == pytest.approx(2.5)
    assert 2 * beats("bob", "ann") + 2 * beats("bob", "cid") == pytest.approx(0.5)
    assert 2 * beats("cid", "bob") + beats("cid", "ann") == pytest.approx(2)


def test_points_by_hand(arena: Arena) -> None:
    rows = table(arena, "points")
    assert [rows[name].rating for name in ANSWERS] == [2.5, 0.5, 2]
    assert [rows[name].mu for name in ANSWERS] == pytest.approx([2.5 / 3, 0.5 / 4, 2 / 3])


def test_judges_weigh_by_what_their_votes_are_worth(arena: Arena) -> None:
    """Four matches were judged: twelve ballots, one of them an abstention; 4 was decided without judges."""
    cast = votes(arena.ledger, [one for one in arena.ledger.summaries() if one.scores], {})
    names = [
        (cast.players[a], cast.players[b])
        for a, b in zip(cast.history.first, cast.history.second, strict=True)
    ]
    assert names == [("ann", "bob")] * 3 + [("bob", "cid")] * 3 + [("cid", "ann")] * 3 + [("bob", "cid")] * 2
    named = [cast.judges[at] for at in cast.judge]
    assert named == ["jo", "kim", "lee"] * 3 + ["jo", "lee"]
    assert cast.history.score.tolist() == [1, 1, 0.5, 0, 0, 1, 0.5, 0.5, 0.5, 0, 1]
    assert cast.history.weight.tolist() == pytest.approx([1 / 3] * 9 + [1 / 2] * 2)
    fitted = fit(cast.history, named)
    rows = table(arena, "judge-aware")
    for place, name in enumerate(cast.players):
        assert rows[name].rating == pytest.approx(fitted.rating[place])
    assert any(note.startswith("reliability: from 1.") for note in rows["ann"].notes)


def test_judges_by_hand(arena: Arena) -> None:
    judges = {judge.player: judge for judge in arena.stats().judges}
    seen = {
        name: (one.votes, one.abstentions, one.ties, one.unusable, one.flips) for name, one in judges.items()
    }
    assert seen == {"jo": (4, 0, 1, 0, 0), "kim": (4, 1, 1, 1, 1), "lee": (4, 0, 2, 0, 1)}
    # Pairs with another judge's valid vote in matches 1, 2, 3 and 5, and how many of them agree.
    agreement = {name: one.agreement for name, one in judges.items()}
    assert agreement == pytest.approx({"jo": 4 / 7, "kim": 4 / 6, "lee": 2 / 7})
    flips = {name: one.flip_share for name, one in judges.items()}
    assert flips == pytest.approx({"jo": 0, "kim": 1 / 3, "lee": 1 / 4})


def test_players_by_hand(arena: Arena) -> None:
    found = arena.stats()
    players = {player.player: player for player in found.players}
    assert (found.matches, found.voids) == (6, {"no_answer": 1})
    for name, row in table(arena).items():
        one = players[name]
        assert (one.matches, one.wins, one.draws, one.losses, one.void_matches) == sums(row)
        assert (one.cost_usd, one.cost_per_match) == (row.cost_usd, row.cost_per_match)
    assert {name: one.calls for name, one in players.items()} == {
        "ann": 4,
        "bob": 4,
        "cid": 4,
        "jo": 8,
        "kim": 9,
        "lee": 8,
    }
    assert (players["bob"].refused, players["ann"].void, players["kim"].invalid) == (1, 1, 1)
    assert players["kim"].repaired == 1


@pytest.mark.parametrize("track", RATED)
def test_a_topic_alone(arena: Arena, track: str) -> None:
    law, maths = table(arena, track, topic="law"), table(arena, track, topic="maths")
    assert [sums(law[name]) for name in ANSWERS] == [(1, 1, 0, 0, 1), (2, 0, 0, 2, 0), (1, 1, 0, 0, 1)]
    assert [sums(maths[name]) for name in ANSWERS] == [(2, 1, 1, 0, 0), (2, 0, 1, 1, 0), (2, 0, 2, 0, 0)]
    costs = {name: (law[name].cost_usd, maths[name].cost_usd) for name in law}
    assert costs["ann"] == pytest.approx((0.002, 0.004))
    assert costs["bob"] == pytest.approx((0.006, 0.012))
    assert costs["kim"] == pytest.approx((0.002, 0.007))
    assert law["bob"].rank == 3
    assert {row.topic for row in law.values()} == {"law"}
    unconnected = [note for note in law["ann"].notes if "not strongly connected" in note]
    assert len(unconnected) == (track not in ("strength", "points", "overall")), "nobody lost to bob on law"
    assert not any("not strongly connected" in note for note in maths["ann"].notes)


@pytest.mark.parametrize("track", TRACKS)
def test_one_game_is_everything_where_there_is_no_other(arena: Arena, track: str) -> None:
    alone = [msgspec.structs.replace(row, game="") for row in arena.leaderboard(track, game="tasks")]
    assert alone == list(arena.leaderboard(track))


@pytest.mark.parametrize("track", RATED)
def test_every_ranked_row_has_its_interval_and_chances(arena: Arena, track: str) -> None:
    rows = arena.leaderboard(track)
    for row in rows[:3]:
        assert row.lower < row.upper
        assert (row.best is not None) == bool(row.bin) == bool(row.tier) == (METHODS[track].chances)
    for row in rows[3:]:
        assert (row.lower, row.upper, row.best, row.bin, row.above) == (None, None, None, "", ())


def test_statistics_of_a_topic(arena: Arena) -> None:
    """On law judges voted on match 2 alone: jo and kim agree, lee with nobody."""
    law = stats(arena.reading, Scope(topic="law"))
    assert (law.matches, law.voids) == (3, {"no_answer": 1})
    assert {one.player: (one.votes, one.flips) for one in law.judges} == dict.fromkeys(JUDGES, (1, 0))
    assert [one.agreement for one in law.judges] == [0.5, 0.5, 0]
    players = {one.player: one for one in law.players}
    assert [players[name].calls for name in ("ann", "bob", "cid", "kim")] == [2, 2, 2, 2]
    assert (players["bob"].refused, players["ann"].void, players["kim"].invalid) == (1, 1, 0)
    for row in arena.leaderboard(topic="law"):
        assert players[row.player].cost_usd == pytest.approx(row.cost_usd)
    with pytest.raises(ScopeError, match="no match is of the topic 'art'; known: law, maths"):
        stats(arena.reading, Scope(topic="art"))


def test_four_matches_prove_nothing(arena: Arena) -> None:
    found = board(arena.reading, "bt")
    assert {row.above for row in found.rows} == {()}
    assert {row.tier for row in found.rows if row.rank} == {"A"}
    assert found.verdict.pick == "ann"
    assert found.verdict.may_be_as_good == ("cid", "bob")
    assert (found.games, found.topics) == ({"tasks": 5}, {"law": 2, "maths": 3})


def test_games_weigh_as_stated(folder: Path, tmp_path: Path) -> None:
    """With matches 2 and 4 of another game, of twice the weight, bob made half a point in six of them."""
    copied(folder, tmp_path, UNLOGGED, "UPDATE summaries SET game = 'quiz' WHERE topic = 'law'")
    with open_arena(folder, create=False) as unchanged:
        position = unchanged.reading.position
    with open_arena(tmp_path, create=False) as arena:
        reading = arena.reading
        reading.__dict__["position"] = position  # which holds the altered table against its records
        weighed = board(reading, "bt", Scope(weights={"quiz": 2.0}))
        assert "over 2 games, each match weighing: quiz 2 (2 matches), tasks 1 (3 matches)" in weighed.notes
        rating = {row.player: row.rating for row in weighed.rows}
        beats = [1 / (1 + 10 ** ((rating[other] - rating["bob"]) / 400)) for other in ("ann", "cid")]
        assert 3 * beats[0] + 3 * beats[1] == pytest.approx(0.5)
        for track in ("bt", "trueskill", "glicko2"):
            alike = board(reading, track)
            assert alike.rows != board(reading, track, Scope(weights={"quiz": 2.0})).rows
            others = board(reading, track, Scope("tasks"))
            rest = {row.player: row for row in others.rows}
            assert [rest[name].matches for name in ANSWERS] == [2, 2, 2]


@pytest.mark.parametrize(
    ("track", "scope", "told"),
    [
        ("bt", Scope("taks"), r"no match is of the game 'taks'; did you mean 'tasks'\?"),
        ("bt", Scope(topic="art"), "no match is of the topic 'art'; known: law, maths"),
        ("bt", Scope(weights={"quiz": 1.0}), "no match is of the game 'quiz'; known: tasks"),
        ("bt", Scope(weights={"tasks": -1.0}), "the weight of tasks is -1.0: expected a number above 0"),
        ("bt", Scope(weights={"tasks": float("nan")}), "the weight of tasks is nan"),
        ("raw", Scope(weights={"tasks": 2.0}), "track raw counts every match alike"),
        ("points", Scope(weights={"tasks": 2.0}), "track points counts every match alike"),
    ],
)
def test_tables_that_there_cannot_be(arena: Arena, track: str, scope: Scope, told: str) -> None:
    with pytest.raises(ScopeError, match=told):
        board(arena.reading, track, scope)
