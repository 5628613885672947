"""Humanity's Last Arena: phase by phase, and what counts when replies are missing or unusable."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from tests.offline import Played, agreeable, check, fixture, house, play, points, scripted, unfenced

from peerage.formats import Questions, Score, Scores
from peerage.game.protocol import Ask, Reply, Text
from peerage.games.last_arena import GAME as LAST_ARENA
from peerage.games.last_arena.rules import LastArenaRules
from peerage.judging.scores.scoring import recorded

PLAYERS = {
    name: f"house:{skill}" for name, skill in zip("pqrst", (0.95, 0.75, 0.55, 0.35, 0.15), strict=True)
}
SMALL = {"preset": "development", "seats": 4, "quality": "none"}


def tournament(answering: Any = None, **rules: Any) -> Played:
    made = fixture(LAST_ARENA, list(PLAYERS), {**SMALL, **rules})
    played = play(LAST_ARENA, made, answering or house(PLAYERS))
    check(LAST_ARENA, played, ["house:"])
    return played


def keys(played: Played, phase: str) -> list[str]:
    return [key for key in played.keys if key.startswith(f"{phase}/")]


# ------------------------------------------------------------------------------------------ as it goes


def test_everybody_does_everything_and_the_true_order_comes_out() -> None:
    outcome = tournament(seats=5, questions=6).outcome
    assert list(outcome.scores.values()) == sorted(outcome.scores.values(), reverse=True)
    assert outcome.scores["A"] > outcome.scores["C"] > outcome.scores["E"]
    standings = outcome.detail["standings"]
    assert [one["rank"] for one in standings.values()] == sorted(one["rank"] for one in standings.values())
    assert all(one["se"] > 0 and one["questions"] == 30 for one in standings.values())
    matrix = outcome.detail["matrix"]
    assert {judge: set(row) for judge, row in matrix.items()} == {
        judge: set("ABCDE") - {judge} for judge in "ABCDE"
    }
    for row in matrix.values():
        assert sum(cell["mean"] * cell["grades"] for cell in row.values()) / 120 == pytest.approx(5, abs=1e-4)


def test_one_item_a_call_asks_as_often_as_the_rules_say() -> None:
    played = tournament(per_call=1)
    assert len(keys(played, "rate")) == 4 * 9
    assert len(keys(played, "answer")) == 4 * 12
    assert len(keys(played, "judge")) == 4 * 36
    batched = tournament(per_call=5)
    assert len(keys(batched, "rate")) == 4 * 2
    assert len(keys(batched, "judge")) == 4 * 8


def test_nobody_rates_its_own_question_or_judges_its_own_answer() -> None:
    played = tournament()
    for phase in ("rate", "judge"):
        assert all(grade.judge != grade.author for grade in recorded(played.outcome, phase))
    graded = Counter((grade.judge, grade.author) for grade in recorded(played.outcome, "judge"))
    assert set(graded.values()) == {12}
    assert len(graded) == 12


def test_judging_is_blind_and_in_an_order_of_each_judge() -> None:
    played = tournament(scripted(agreeable))
    for step in played.steps:
        outside = unfenced(step.ask, played.fixture.seed)
        assert not any(name in outside.split() for name in PLAYERS)
        if step.ask.role == "judge":
            assert "answer/" not in outside
            assert "A-1" not in outside
    seen = {label: [s for s in played.steps if s.ask.key == f"judge/{label}/batch-1"] for label in "AB"}
    assert seen["A"][0].ask.messages[-1].fill != seen["B"][0].ask.messages[-1].fill


# ------------------------------------------------------------------------------------ quality of questions


def _rated(ask: Ask, player: str) -> str:
    """Questions that hold "poor" are given 1 for clarity and relevance, the others 9."""
    if isinstance(ask.expects, Questions):
        listed = json.loads(points(ask, 7))["questions"]
        return json.dumps({"questions": [f"poor {listed[0]}", *listed[1:]]})
    if ask.key.startswith("rate/"):
        fill = ask.messages[-1].fill
        shown = [value.text for key, value in fill.items() if key.startswith("question")]  # type: ignore[union-attr]
        given = [1 if "poor" in text else 9 for text in shown]
        return json.dumps({"scores": given} if isinstance(ask.expects, Scores) else {"score": given[0]})
    return agreeable(ask, player)


def test_the_worst_third_is_dropped() -> None:
    played = tournament(scripted(_rated), quality="filter")
    asked = {one["id"]: one for one in played.outcome.detail["questions"]}
    assert sum(one["weight"] == 0 for one in asked.values()) == 4
    assert all((one["weight"] == 0) == one["text"].startswith("poor") for one in asked.values())
    assert len(keys(played, "answer")) == 4 * 8


def test_questions_may_weigh_by_their_rating_instead() -> None:
    played = tournament(scripted(_rated), quality="weight")
    asked = played.outcome.detail["questions"]
    assert len(keys(played, "answer")) == 4 * 12
    poor = {one["weight"] for one in asked if one["text"].startswith("poor")}
    good = {one["weight"] for one in asked if not one["text"].startswith("poor")}
    assert max(poor) < 1 < 7 < min(good)


# ------------------------------------------------------------------------------- missing and unusable replies


def test_one_void_reply_in_a_thousand_never_voids_a_tournament() -> None:
    rng = Random(3)
    usual = house(PLAYERS)
    lost = 0

    def failing(ask: Ask, player: str) -> Reply:
        nonlocal lost
        if rng.random() < 0.004:  # four times as bad
            lost += 1
            return Reply("void", reason="the provider is down", cost_nano=0)
        return usual(ask, player)

    played = tournament(failing, seats=5, questions=12, per_call=1)
    assert lost > 3
    assert not played.outcome.void
    missing = played.outcome.detail["batching"]
    assert sum(sum(how["missing"].values()) for phase in missing.values() for how in phase.values()) > 0


@pytest.mark.parametrize("since", ["question", "rate", "answer"])
def test_a_tournament_goes_on_without_a_player_whose_provider_is_down(since: str) -> None:
    usual = house(PLAYERS)
    phases = ["question", "rate", "answer", "judge"]

    def down(ask: Ask, player: str) -> Reply:
        late = phases.index(ask.key.split("/")[0]) >= phases.index(since)
        return Reply("void") if ask.to == "B" and late else usual(ask, player)

    played = tournament(down)
    outcome = played.outcome
    assert set(outcome.scores) == {"A", "C", "D"}
    assert outcome.scores["A"] > outcome.scores["D"]
    assert outcome.detail["unranked"] == ["B"]
    assert set(outcome.detail["standings"]) == {"A", "C", "D"}
    last = {key.split("/")[0] for key in played.keys if key.split("/")[1] == "B"}
    assert last == set(phases[: phases.index(since) + 1])
    judged = list(recorded(outcome, "judge"))
    assert {grade.judge for grade in judged} == {grade.author for grade in judged} == {"A", "C", "D"}
    kept = {one["author"] for one in outcome.detail["questions"]}
    assert kept == (set("ACD") if since == "question" else set("ABCD"))


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("since", ["question", "rate", "answer"])
def test_a_tournament_with_too_few_left_asks_nobody_further(seats: int, since: str) -> None:
    usual = house(PLAYERS)

    def down(ask: Ask, player: str) -> Reply:
        phases = ["question", "rate", "answer", "judge"]
        late = phases.index(ask.key.split("/")[0]) >= phases.index(since)
        return Reply("void") if ask.to == "B" and late else usual(ask, player)

    played = tournament(down, seats=seats)
    assert played.outcome.void == "no_answer"
    assert not played.outcome.scores
    assert max(["question", "rate", "answer", "judge"].index(key.split("/")[0]) for key in played.keys) == [
        "question",
        "rate",
        "answer",
    ].index(since)


def test_an_unusable_answer_is_worth_a_zero_and_moves_no_judge() -> None:
    def answer(ask: Ask, player: str) -> str | Reply:
        if isinstance(ask.expects, Text):
            return " " if ask.key.startswith("answer/A/B-1") else "an answer"
        return points(ask, 6)

    outcome = tournament(scripted(answer), seats=3).outcome
    answers = outcome.detail["answers"]
    assert answers.pop("B-1/A") == [-1, 0, 2]
    assert all(found == [5, 0, 2] for found in answers.values())
    assert outcome.detail["statuses"]["A"] == {"ok": 8, "invalid": 1}
    assert all(grade.item != "B-1/A" for grade in recorded(outcome, "judge"))


def test_too_few_judgements_decide_nothing() -> None:
    def silent(ask: Ask, player: str) -> str | Reply:
        return Reply("refused") if ask.key.startswith("judge/") else agreeable(ask, player)

    assert tournament(scripted(silent)).outcome.void == "inconclusive"


def test_without_any_question_there_is_no_tournament() -> None:
    played = tournament(scripted(lambda ask, player: "I would rather not."))
    assert played.outcome.void == "no_questions"


def test_two_players_are_for_development_and_nothing_is_rated() -> None:
    outcome = tournament(seats=2).outcome
    assert outcome.void == "development"
    assert not outcome.scores
    assert set(outcome.detail["raw"]["received"]) == {"A", "B"}
    assert outcome.detail["raw"]["received"]["A"] > outcome.detail["raw"]["received"]["B"]


def test_a_model_that_cannot_score_lists_is_asked_one_by_one_and_learnt_from() -> None:
    def no_lists(ask: Ask, player: str) -> str:
        if ask.to == "C" and isinstance(ask.expects, Scores):
            return "They are all quite good."
        return agreeable(ask, player)

    played = tournament(scripted(no_lists))
    batching = played.outcome.detail["batching"]
    assert batching["rate"]["C"] == {"batches": 2, "unusable": 2, "single": 9, "missing": {}}
    assert batching["judge"]["C"] == {"batches": 0, "unusable": 0, "single": 36, "missing": {}}
    assert not played.outcome.void


# ------------------------------------------------------------------------------------------------- ideas


def test_varied_questions_earn_the_bonus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.games.last_arena.rules.SAME", 0.95)

    def monotonous(ask: Ask, player: str) -> str:
        if isinstance(ask.expects, Questions) and ask.to == "A":
            words = ("balls", "books", "boots", "coins", "forks", "hats", "keys", "lamps", "pens")
            drawn = Random(ask.key).sample(words, ask.expects.count)
            return json.dumps({"questions": [f"How many {word} fit into a bus, roughly?" for word in drawn]})
        return agreeable(ask, player)

    without = tournament(scripted(monotonous)).outcome
    outcome = tournament(scripted(monotonous), diversity_bonus=3).outcome
    assert outcome.detail["diversity"]["A"] < min(outcome.detail["diversity"][label] for label in "BCD")
    assert set(without.scores.values()) == {0.5}
    assert outcome.scores["A"] == 0
    scores = [one["score"] for one in outcome.detail["standings"].values()]
    assert sum(scores) / 4 == pytest.approx(5, abs=1e-4)


def test_meta_questions_and_tricks_are_marked_and_scored_apart() -> None:
    played = tournament(meta=2, tricks=1)
    sorts = Counter(one["sort"] for one in played.outcome.detail["questions"])
    assert sorts == {"plain": 12, "meta": 8, "trick": 4}
    robust = played.outcome.detail["sorts"]["A"]["trick"]
    assert robust["answers"] == 3  # its own does not count
    told = {
        role: any(
            "trick question" in str(step.ask.messages) for step in played.steps if step.ask.role == role
        )
        for role in ("contestant", "judge")
    }
    assert told == {"contestant": False, "judge": True}


def test_extreme_scores_need_reasons_which_are_summed_up() -> None:
    def opinionated(ask: Ask, player: str) -> str:
        if isinstance(ask.expects, Score | Scores):
            extreme = {"A": (0, "hopelessly circular reasoning"), "B": (10, "delightful rigour throughout")}
            return points(ask, *extreme.get(ask.to, (6, "")))
        return agreeable(ask, player)

    found = tournament(scripted(opinionated), explain=True).outcome.detail["reasons"]
    assert set(found) == {"A", "B"}
    assert found["A"]["zeros"] == 9 + 36
    assert found["B"]["for_ten"] == ["delightful rigour throughout"] * 3
    assert found["A"]["words"] == ["circular", "hopelessly", "reasoning"]
    assert tournament(scripted(opinionated)).outcome.detail.get("reasons") is None


def test_answers_under_several_token_limits_show_what_tokens_are_worth() -> None:
    played = tournament(answer_budgets=[20, 100, 400])
    assert len(keys(played, "answer")) == 3 * 48
    assert {step.ask.max_tokens for step in played.steps if step.ask.role == "contestant"} == {20, 100, 400}
    for rows in played.outcome.detail["scaling"].values():
        assert [row["max_tokens"] for row in rows] == [20, 100, 400]
        assert [row["output_tokens"] for row in rows] == sorted(row["output_tokens"] for row in rows)
        assert rows[0]["score"] < rows[2]["score"]


# ----------------------------------------------------------------------------------------------- settings


def test_the_original_preset_is_the_published_prompts() -> None:
    rules = LastArenaRules.model_validate({"preset": "original"})
    assert rules.prompts["write"].user == (
        "You are a creative and fair question designer for a general intelligence tournament. Generate "
        "{count} diverse, challenging, and clear questions across the following categories: {categories}. "
        "Return the questions as a numbered list, one per line."
    )
    assert rules.prompts["rate"].user == (
        "Rate the following question for clarity and relevance on a scale from 0 (poor) to 10 (excellent):\n"
        "Question: {question}\nRespond with a single integer."
    )
    assert rules.prompts["answer"].user == (
        "Answer the following question as clearly and concisely as possible:\nQuestion: {question}"
    )
    assert rules.prompts["judge"].user == (
        "Judge the following answer on a scale from 0 (very poor) to 10 (excellent) for correctness, "
        "completeness, and clarity.\nAnswer: {work}\nRespond with a single integer."
    )
    assert (rules.per_call, rules.questions_per_call, rules.questions) == (1, 100, 100)
    assert not any(rules.prompts[name].system for name in ("write", "rate", "answer", "judge"))


def test_presets_give_way_to_what_is_stated() -> None:
    assert set(LAST_ARENA.presets) == {"default", "original", "development", "budget"}
    rules = LastArenaRules.model_validate(
        {
            "preset": "development",
            "questions": 7,
            "max_tokens": 50,
        }
    )
    assert (rules.questions, rules.max_tokens, rules.max_chars) == (7, 50, 200)
    assert rules.prompts["judge"] == LastArenaRules.model_validate({}).prompts["judge"]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"answer_budgets": [100, 50]}, "the smallest first"),
        ({"categories": ["math", "Math"]}, "is listed twice"),
        ({"preset": "originall"}, "preset"),
        ({"preset": ["original"]}, "preset"),
        ({"drop": 1}, "drop"),
        ({"seats": 1}, "seats"),
    ],
)
def test_wrong_settings_are_told(rules: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        LastArenaRules.model_validate(rules)
