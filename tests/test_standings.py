"""What finished matches move: Elo ratings by duels, skills by games of more than two."""

from random import Random

import pytest

from peerage.engine.again.recovery import Recovered
from peerage.engine.record.records import MatchTally, settle
from peerage.engine.run.rounds import Rounds
from peerage.game.match import Outcome
from peerage.games.code_golf import GAME as CODE_GOLF
from peerage.ledger import Summary
from peerage.ratings.sequential.elo import EloSettings
from peerage.scheduling.fixtures import Scheduler
from peerage.settings import ArenaSettings, PlayerSettings
from peerage.settings.pairing import InFlight
from peerage.standings.accounts import read_snapshot, snapshot_body
from peerage.standings.fold import NOBODY, Skill, Standings, TwoRatings, after_all, after_match
from tests.offline import fixture

ELO = EloSettings()


def match(number: int, game: str, scores: dict[str, float]) -> Summary:
    costs = tuple([1.0] * len(scores))
    return Summary(number, 1, game, "", tuple(scores), "done", tuple(scores.values()), costs, 0, (), (), 0)


def stepwise(matches: list[Summary]) -> Standings:
    standings = NOBODY
    for one in matches:
        standings = after_match(standings, one.game, one.players, one.scores, one.costs, ELO)
    return standings


def test_a_duel_moves_elo_alone() -> None:
    standings = stepwise([match(1, "duel", {"a": 1.0, "b": 0.0})])
    assert standings.of("a", 1500).raw > 1500 > standings.of("b", 1500).raw
    assert standings.skills == {}
    assert standings.skill("a") == Skill(25.0, 25 / 3)


@pytest.mark.parametrize("scores", [{"a": 1.0, "b": 0.5, "c": 0.0}, {"a": 1.0, "b": 0.0}])
def test_a_game_of_many_moves_skills_alone_also_at_a_table_of_two(scores: dict[str, float]) -> None:
    standings = stepwise([match(1, "code-golf", scores)])
    skills = [standings.skill(player) for player in scores]
    assert skills == sorted(skills, key=lambda skill: -skill.mu)
    assert skills[0].mu > 25 > skills[-1].mu
    assert all(skill.sigma < 25 / 3 for skill in skills)
    assert standings.of("a", 1500) == TwoRatings(1500, 1500)
    assert standings.players == ()


def test_a_record_says_which_skills_its_match_moved() -> None:
    made = fixture(CODE_GOLF, ["a", "b", "c"], {"seats": 3})
    outcome = Outcome(scores={"A": 1.0, "B": 0.5, "C": 0.0})
    settled = settle(made, "", MatchTally(), outcome, NOBODY, ELO, 0)
    moved = settled.record.ratings["trueskill"]
    assert list(settled.record.ratings) == ["trueskill"]
    assert all(before == 0 for before, _ in moved.values())
    assert moved["a"][1] > moved["b"][1] > moved["c"][1]
    assert moved["a"][1] == settled.standings.skill("a").rating
    assert settle(made, "", MatchTally(), Outcome(void="no_answer"), NOBODY, ELO, 0).record.ratings == {}


def test_a_void_match_moves_nobody() -> None:
    first = stepwise([match(1, "code-golf", {"a": 1.0, "b": 0.0})])
    assert after_match(first, "code-golf", ("a", "b"), (), (None, None), ELO).skills == first.skills


def test_many_at_once_are_exactly_one_after_the_other() -> None:
    rng = Random(3)
    matches = []
    for number in range(1, 41):
        players = rng.sample("abcdefg", rng.randint(2, 5))
        scores = {player: rng.choice((0.0, 0.5, 1.0)) for player in players}
        matches.append(match(number, "duel" if number % 3 == 0 and len(scores) == 2 else "code-golf", scores))
    whole = stepwise(matches)
    assert after_all(NOBODY, matches, ELO) == whole
    half = after_all(stepwise(matches[:20]), matches[20:], ELO)
    assert half == whole
    assert read_snapshot(snapshot_body(whole, {})).standings == whole


def test_rounds_of_more_than_two_are_grouped_by_skill() -> None:
    names = ["d", "a", "c", "f", "b", "e"]
    skills = {name: Skill(30.0 - "abcdef".index(name), 1.0) for name in names}
    recovered = Recovered(next_number=4, next_round=2, round_ends=[(3, 0)])
    recovered.after_round[1] = Standings(3, (), (), (), skills)
    players = [PlayerSettings(name=name, model="house:0.5") for name in names]
    settings = ArenaSettings(players=players, game="code-golf")
    scheduler = Scheduler(CODE_GOLF, CODE_GOLF.rules(seats=3), 1)
    issued = Rounds(settings, {"code-golf": scheduler}, InFlight(1, 32), recovered).issue()
    assert [{seat.player for seat in one.seats} for one in issued] == [set("abc"), set("def")]
