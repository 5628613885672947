import asyncio
from itertools import combinations
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import fixture, house, play

from peerage.game.house import SPREAD, WORDS
from peerage.game.protocol import Choice, FormatError, Role, Text, Works
from peerage.games.duel import GAME as DUEL
from peerage.games.duel.play import house as duel_house
from peerage.games.duel.rules import default_topics
from peerage.players.client import Call, InstantClient, PlayerError
from peerage.players.house import MEDIAN_SECONDS, SLOW, HouseClient
from peerage.settings import PlayerSettings

VERDICT = Choice("verdict", ("A", "B", "tie"))
VOTE = Choice("vote", ("approve", "object"))


def client(skill: float = 0.8, **more: Any) -> HouseClient:
    return HouseClient(PlayerSettings.model_validate({"model": f"house:{skill}", "name": "kit", **more}))


def request(key: str = "answer/A", role: Role = "contestant", expects: Any = None, **more: Any) -> Call:
    said = more.pop("said", "<<<question 0a0b0c0d>>>\nOn “soap”: why?\n<<<end question 0a0b0c0d>>>")
    messages = (("system", "You play."), ("user", said))
    oracle, seed, limit = more.pop("oracle", None), more.pop("seed", "s"), more.pop("max_tokens", 2_000)
    return Call(key, role, messages, expects or Text(), limit, None, seed, oracle, house=duel_house)


def judge(player: HouseClient, first: Any, second: Any, count: int = 200) -> list[str]:
    found = []
    for at in range(count):
        call = request(f"judge/{at}/A-B", "judge", VERDICT, oracle=Works((first, second)))
        found.append(VERDICT.parse(player.answer_now(call).text).choice)
    return found


def text_of(quality: float, family: str = "x") -> dict[str, Any]:
    return {"quality": quality, "family": family}


def test_is_a_client_that_answers_at_once() -> None:
    player = client()
    assert isinstance(player, InstantClient)
    asyncio.run(player.start())
    assert asyncio.run(player.answer(request())) == player.answer_now(request())
    asyncio.run(player.close())


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_reply_is_a_function_of_player_seed_and_key(seed: str, key: str) -> None:
    asked = request(key, seed=seed)
    first = client().answer_now(asked)
    other = client()
    other.answer_now(request("something/else"))
    assert other.answer_now(asked) == first


def test_another_seed_key_name_or_skill_gives_another_reply() -> None:
    base = client().answer_now(request())
    assert client().answer_now(request(seed="t")) != base
    assert client().answer_now(request("answer/B")) != base
    assert client(name="lou").answer_now(request()) != base
    assert client(0.81).answer_now(request()) != base


@pytest.mark.parametrize("skill", [0.0, 0.3, 0.9, 1.0])
def test_hidden_quality_spreads_around_the_skill(skill: float) -> None:
    player = client(skill)
    found = [player.answer_now(request(f"k{at}")).hidden["quality"] for at in range(1_000)]
    assert fmean(found) == pytest.approx(skill, abs=0.015)
    assert stdev(found) == pytest.approx(SPREAD, rel=0.1)


def test_answers_speak_of_the_question_and_sound_like_their_quality() -> None:
    fine, poor = client(1.0).answer_now(request()), client(0.0).answer_now(request())
    assert "soap" in fine.text
    assert any(opening.partition("@")[0] in fine.text for opening in WORDS["fine"]["openings"])
    assert any(opening.partition("@")[0] in poor.text for opening in WORDS["poor"]["openings"])
    own = client().answer_now(request(said="Name a river in Peru.\nThen two more."))
    assert "Name a river in Peru." in own.text


def test_tokens_latency_and_limits() -> None:
    answer = client().answer_now(request(max_tokens=10))
    assert answer.truncated
    assert len(answer.text) == 40
    assert answer.output_tokens == 10
    assert (
        answer.input_tokens
        == len("You play.<<<question 0a0b0c0d>>>\nOn “soap”: why?\n<<<end question 0a0b0c0d>>>") // 4 + 1
    )
    assert answer.cost_usd is None
    seconds = sorted(client().answer_now(request(f"k{at}")).latency_s for at in range(999))
    assert seconds[499] == pytest.approx(MEDIAN_SECONDS, rel=0.1)
    assert seconds[-50] > 3 * seconds[499]


# ------------------------------------------------------------------------------------- votes, verdicts


def test_every_text_in_every_format_is_read_back() -> None:
    player = client(0.9)
    for at in range(400):
        vote = player.answer_now(
            request(f"v{at}", "committee", VOTE, oracle=Works((text_of(at / 400),)))
        ).text
        assert VOTE.parse(vote).reason in WORDS["approvals"] + WORDS["objections"]
    formats = {
        player.answer_now(request(f"v{at}", "judge", VERDICT, oracle=Works((None, None)))).text[:1]
        for at in range(50)
    }
    assert {"{", "`"} < formats


def test_a_committee_approves_the_passable_and_objects_to_the_rest() -> None:
    def approvals(quality: float) -> float:
        votes = [
            VOTE.parse(
                client(0.9)
                .answer_now(request(f"v{at}", "committee", VOTE, oracle=Works((text_of(quality),))))
                .text
            ).choice
            for at in range(200)
        ]
        return votes.count("approve") / 200

    assert approvals(0.7) > 0.99
    assert approvals(0.0) < 0.01


def test_judges_see_quality_and_the_skilled_see_it_better() -> None:
    better, worse = text_of(0.75), text_of(0.6)
    wise, foolish = client(1.0), client(0.0)
    assert judge(wise, better, worse).count("A") > 190
    assert judge(wise, worse, better).count("B") > 190
    assert 110 < judge(foolish, better, worse).count("A") < 180
    assert judge(wise, better, better).count("tie") > 100
    assert judge(foolish, None, None).count("A") < 130


def test_a_judge_that_may_not_tie_chooses() -> None:
    binary = Choice("verdict", ("A", "B"))
    same = Works((text_of(0.5), text_of(0.5)))
    calls = [request(f"j{at}", "judge", binary, oracle=same) for at in range(100)]
    found = [binary.parse(client().answer_now(call).text).choice for call in calls]
    assert 30 < found.count("A") < 70


def test_drafts_keep_to_the_topic() -> None:
    for topic in default_topics("general"):
        draft = client().answer_now(request("question/1/1", "author", oracle={"topic": topic})).text
        assert any(subject in draft for subject in WORDS["subjects"][topic])
    unknown = client().answer_now(request("question/1/1", "author", oracle={"topic": "beekeeping"})).text
    assert "“beekeeping”" in unknown
    case = client().answer_now(request("case/1/1", "author", oracle={"topic": "cardiology"})).text
    assert "cardiology" in case
    assert "{" not in case


# --------------------------------------------------------------------------------------------- faults


def test_failing() -> None:
    player = client(faults={"failing": 0.3})
    failures = []
    for at in range(300):
        try:
            player.answer_now(request(f"k{at}"))
        except PlayerError as error:
            failures.append((at, error.kind))
    assert 60 < len(failures) < 120
    assert {kind for _, kind in failures} == {"transient"}
    with pytest.raises(PlayerError, match="not a real failure"):
        player.answer_now(request(f"k{failures[0][0]}"))


def test_slow_refusing_and_malformed() -> None:
    slow = client(faults={"slow": 1})
    assert slow.answer_now(request()).latency_s == pytest.approx(
        SLOW * client().answer_now(request()).latency_s
    )
    refusing = client(faults={"refusing": 1}).answer_now(request())
    assert refusing.refused
    assert refusing.text in WORDS["refusals"]
    malformed = client(faults={"malformed": 1})
    for key in ("judge/1/A-B", "judge/1/A-B~repair"):
        with pytest.raises(FormatError):
            VERDICT.parse(malformed.answer_now(request(key, "judge", VERDICT)).text)
        with pytest.raises(FormatError):
            VOTE.parse(malformed.answer_now(request(key, "committee", VOTE)).text)
        with pytest.raises(FormatError):
            Text().parse(malformed.answer_now(request(key)).text)


def test_position_bias_and_self_preference() -> None:
    biased = client(1.0, faults={"position_bias": 0.7})
    assert judge(biased, text_of(0.2), text_of(0.9)).count("A") == pytest.approx(140, abs=25)
    loyal = client(1.0, family="kin", faults={"self_preference": 0.7})
    own, other = text_of(0.2, "kin"), text_of(0.9, "other")
    assert judge(loyal, own, other).count("A") == pytest.approx(140, abs=25)
    assert judge(loyal, other, own).count("B") == pytest.approx(140, abs=25)
    assert judge(loyal, text_of(0.2, "kin"), text_of(0.9, "kin")).count("B") > 195


def test_a_kind_of_reply_it_does_not_know_is_told() -> None:
    with pytest.raises(PlayerError, match="format dict"):
        client().answer_now(request(expects={"not": "a kind"}))


# ---------------------------------------------------------------------------------------- calibration


@pytest.mark.parametrize("seed", range(3))
def test_three_hundred_duels_bring_out_the_order(seed: int) -> None:
    """Nine players of spread skill, random pairs, plain Elo with K = 16; with upsets, ties and redrafts."""
    skills = {f"p{at}": round(0.3 + 0.08 * at, 2) for at in range(9)}
    rng = Random(seed)
    ratings = dict.fromkeys(skills, 1500.0)
    seen = {"tie": 0, "upset": 0, "redraft": 0}
    for number in range(1, 301):
        players = sorted(skills, key=lambda _: rng.random())
        seats = sorted(players[:2], key=lambda name: -ratings[name])
        made = fixture(DUEL, [*seats, *players[2:]], number=number, seed=f"{seed}/{number}", raw=ratings)
        answering = house({name: f"house:{skill}" for name, skill in skills.items()}, made.seed)
        outcome = play(DUEL, made, answering).outcome
        seen["redraft"] += len(outcome.detail["drafts"]) > 1
        if outcome.void:
            continue
        first, second = seats
        score = outcome.scores["A"]
        seen["tie"] += score == 0.5
        seen["upset"] += score != 0.5 and (score == 1) != (skills[first] > skills[second])
        gain = 16 * (score - 1 / (1 + 10 ** ((ratings[second] - ratings[first]) / 400)))
        ratings[first] += gain
        ratings[second] -= gain
    concordant = sum(
        1 if (skills[a] > skills[b]) == (ratings[a] > ratings[b]) else -1 for a, b in combinations(skills, 2)
    )
    assert concordant / 36 >= 0.88, "Kendall's tau of true skill and rating"
    assert all(count >= 3 for count in seen.values()), seen
