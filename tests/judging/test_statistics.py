import pytest
from tests.judging.gathered import listed, tabled
from tests.offline import fixture, house, play

from peerage.game.match import Outcome
from peerage.games.duel import GAME as DUEL
from peerage.games.tasks import GAME as TASKS
from peerage.judging.marks.ballots import PanelRecord, ballots_of, judge_statistics, marks_of, panel_record
from peerage.judging.measures.preference import kin_preferences
from peerage.judging.panels.panel import Ballot
from peerage.settings import PlayerSettings

PLAYERS = {"judge/1": "kit", "judge/2": "lou", "judge/3": "max", "A": "ann", "B": "bob"}


def record(*ballots: Ballot) -> PanelRecord:
    return PanelRecord(PLAYERS, ("A", "B"), ballots)


def steady(judge: str, vote: str) -> Ballot:
    return Ballot(judge, vote, {"A-B": vote, "B-A": vote}, False, 0.5)


def test_agreement_flips_and_abstentions() -> None:
    flip = Ballot("judge/2", "tie", {"A-B": "A", "B-A": "B"}, True)
    gone = Ballot("judge/3", "abstain", {"A-B": "void", "B-A": "A"}, False)
    found = judge_statistics(
        listed(
            [
                record(steady("judge/1", "A"), flip, gone),
                record(steady("judge/1", "B"), steady("judge/2", "B")),
            ]
        )
    )
    assert list(found) == ["kit", "lou", "max"]
    assert (found["kit"].votes, found["kit"].agreement, found["kit"].flip_share) == (2, 0.5, 0)
    assert (found["lou"].ties, found["lou"].flip_share) == (1, 0.5)
    assert found["lou"].first_share == 0.75, "A first in A-B, B first in B-A, then B second and first"
    assert (found["max"].abstentions, found["max"].unusable, found["max"].agreement) == (1, 1, None)
    assert found["max"].flip_share is None


def test_planted_faults_are_seen_in_play() -> None:
    """A position-biased and a self-preferring judge stand out beside honest ones, from outcomes alone."""
    settings = {
        "ann": PlayerSettings(model="house:0.6", name="ann", family="k"),
        "bob": PlayerSettings(model="house:0.6", name="bob", family="b"),
        "kit": PlayerSettings.model_validate(
            {"model": "house:0.8", "name": "kit", "family": "k", "faults": {"self_preference": 0.8}}
        ),
        "lou": PlayerSettings.model_validate(
            {"model": "house:0.8", "name": "lou", "family": "l", "faults": {"position_bias": 0.8}}
        ),
        "max": PlayerSettings(model="house:0.8", name="max", family="m"),
    }
    panels = []
    rules = {"tasks": ["Say why."], "judging": {"order": "both", "early_stop": False}}
    for number in range(1, 121):
        made = fixture(TASKS, list(settings), rules, number=number, seed=f"s{number}")
        found = panel_record(made, ballots_of(play(TASKS, made, house(settings, f"s{number}")).outcome))
        assert found is not None
        panels.append(found)
    found_all = judge_statistics(listed(panels))
    flips = {name: found_all[name].flip_share or 0 for name in found_all}
    families = {name: player.family for name, player in settings.items()}
    marks = [mark for at, panel in enumerate(panels) for mark in marks_of(panel, str(at), {})]
    leans = kin_preferences(tabled(marks), lambda judge, author: families[judge] == families[author])
    assert leans["kit"].value > 0.2
    assert flips["lou"] > 0.6
    assert flips["max"] < 0.45
    assert found_all["lou"].first_share == pytest.approx(0.9, abs=0.06)
    assert found_all["max"].first_share == pytest.approx(0.5, abs=0.06)
    assert found_all["lou"].agreement < found_all["max"].agreement  # type: ignore[operator]


def test_no_panel_no_record() -> None:
    made = fixture(DUEL, ["a", "b", "c", "d"])
    assert panel_record(made, ballots_of(Outcome(void="no_answer"))) is None
