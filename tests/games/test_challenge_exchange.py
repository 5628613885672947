"""The challenge exchange: what is accepted, what an attempt is worth, and who learns what."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError
from tests.offline import Played, call, check, fixture, play, scripted

from peerage.challenges.wording import identity, likeness, mark
from peerage.formats import FormatError, Json
from peerage.game.protocol import Ask, Choice, Quote, Reply
from peerage.games.challenge_exchange import GAME as CHALLENGE_EXCHANGE
from peerage.games.challenge_exchange.creation import PROPOSAL
from peerage.games.challenge_exchange.rules import ChallengeExchangeRules, points
from peerage.values.sealing import SALT, seal, unseal

PLAYERS = [f"p{at}" for at in range(10)]
Said = str | int | Reply
SECRET = "5" * 32


def written(text: str, answer: object = 7, **more: Any) -> str:
    return json.dumps({"description": text, "reference_answer": answer, "solution": "", "tests": [], **more})


def exchange(
    drafts: Mapping[str, Said],
    answer: Callable[[Ask], Said] = lambda ask: 7,
    vote: str = "approve",
    pool: list[dict[str, Any]] | None = None,
    drawn: dict[str, Any] | None = None,
    **rules: Any,
) -> Played:
    """Drafts by seat, answers by request, one vote for all."""
    made = fixture(CHALLENGE_EXCHANGE, PLAYERS, {"seats": len(drafts), "attempts": 2, **rules})
    given = {**made.drawn, "challenges": pool or [], **(drawn or {})}
    given["secret"] = {SALT: SECRET, "value": ""}
    made = replace(made, drawn=given)

    def script(ask: Ask, player: str) -> str | Reply:
        said = drafts[ask.to] if isinstance(ask.expects, Json) else answer(ask)
        if isinstance(ask.expects, Choice):
            return json.dumps({"reason": "because", "vote": vote})
        return json.dumps({"answer": said}) if isinstance(said, int) else said

    played = play(CHALLENGE_EXCHANGE, made, scripted(script))
    check(CHALLENGE_EXCHANGE, played)
    return played


def shown(ask: Ask) -> str:
    """The challenge that a request shows."""
    found = [v.text for m in ask.messages for v in m.fill.values() if isinstance(v, Quote)]
    return found[0] if found else ""


def statuses(played: Played) -> dict[str, str]:
    return {one["author"]: one["status"] for one in played.outcome.detail["challenges"]}


def from_pool(text: str, author: str, answer: int, difficulty: float | None = None) -> dict[str, Any]:
    return {
        "challenge_id": identity(text),
        "author_llm": author,
        "description": text,
        "reference_answer": seal("0" * 32, answer),
        "difficulty": difficulty,
    }


def test_points_rank_the_players() -> None:
    """A solves all, B passes on what is not its own, C is wrong everywhere, its own challenge included."""

    def answer(ask: Ask) -> Said:
        if ask.role == "author" or ask.to == "A":
            return 7
        if ask.to == "B":
            return 7 if shown(ask) == "two" else '{"answer": "pass"}'
        return 8

    played = exchange({"A": written("one"), "B": written("two"), "C": written("three")}, answer)
    assert played.outcome.detail["points"] == {"A": 3.0, "B": 1.0, "C": -4.0}
    assert played.outcome.scores == {"A": 1.0, "B": 0.5, "C": 0.0}
    facts = [fact for fact in played.outcome.facts if fact["fact"] == "attempt"]
    mine = next(fact for fact in facts if fact["llm_id"] == "p2" and fact["own_challenge"])
    assert {key: mine[key] for key in ("result", "points")} == {"result": "incorrect", "points": -2.0}
    assert unseal(mine["submitted_answer"]) == 8
    assert set(mine) == {
        *("fact", "llm_id", "challenge_id", "submitted_answer", "result", "own_challenge", "points")
    }


def test_passing_on_ones_own_challenge_costs_the_extra_point() -> None:
    played = exchange(
        {"A": written("one"), "B": "No."},
        lambda ask: 7 if ask.role == "author" or ask.to == "B" else '{"answer": "pass"}',
    )
    assert played.outcome.detail["points"] == {"A": -1.0, "B": 1.0}
    assert statuses(played) == {"A": "accepted", "B": "invalid"}


def test_the_numbers_are_settings_and_difficulty_pays() -> None:
    fixed = ChallengeExchangeRules(correct=3, incorrect=-2, passed=-0.5, own_failed=-4)
    assert points("correct", True, None, fixed) == 3
    assert points("incorrect", False, 0.9, fixed) == -2
    assert points("incorrect", True, None, fixed) == -6
    assert points("pass", True, None, fixed) == -4.5
    assert points("invalid", False, None, fixed) == points("refused", False, None, fixed) == -0.5
    paid = ChallengeExchangeRules(scoring="difficulty")
    assert points("correct", False, 0.9, paid) == pytest.approx(1.8)
    assert points("correct", False, 0.1, paid) == pytest.approx(0.2)
    assert points("incorrect", False, 0.9, paid) == pytest.approx(-0.2)
    assert points("correct", False, None, paid) == 1
    assert points("pass", False, 0.9, paid) == 0


@pytest.mark.parametrize(
    ("draft", "rules", "status"),
    [
        (written("one", solution="print(7)"), {}, "accepted"),
        (written("one", solution="print(8)"), {}, "solution failed"),
        (written("one", solution="print(' 7 ')"), {}, "accepted"),
        (written("one", solution="print('7.0')"), {}, "solution failed"),
        (written("one", solution="print('**7**')"), {}, "solution failed"),
        (written("one", solution="print('`7`')"), {}, "solution failed"),
        (written("one", solution="print('The answer is 7')"), {}, "solution failed"),
        (written("one", solution="1/0"), {}, "solution failed"),
        (written("one"), {}, "accepted"),
        (written("one"), {"proof": "solution"}, "no solution"),
        (written("one", solution="print(8)"), {"proof": "blind"}, "accepted"),
        (written("one", 8), {}, "not solved"),
        (written("one", "٧"), {}, "invalid"),
        ("I would rather not.", {}, "invalid"),
        (Reply("refused", "No."), {}, "refused"),
    ],
)
def test_how_a_challenge_qualifies(draft: Said, rules: dict[str, Any], status: str) -> None:
    played = exchange({"A": draft, "B": written("another one")}, **rules)
    assert statuses(played)["A"] == status


SUM = "a, b = map(int, (input() if 0 else __import__('sys').stdin.read() or '3 4').split())\nprint(a + b)"


@pytest.mark.parametrize(("output", "status"), [(30, "accepted"), (31, "solution failed")])
def test_a_solution_passes_its_authors_tests_too(output: int, status: str) -> None:
    tests = [{"input": "10 20", "output": output}]
    played = exchange({"A": written("one", 7, solution=SUM, tests=tests), "B": written("two")})
    assert statuses(played)["A"] == status
    assert [run.key for run, _ in played.runs] == ["write/A/1/run/1", "write/A/1/run/2"]
    assert played.outcome.detail["challenges"][0]["steps"] == [
        "passed",
        *(["passed", "correct", "correct"] if output == 30 else ["wrong"]),
    ]


@pytest.mark.parametrize(("attempts", "status"), [(3, "accepted"), (2, "not solved")])
def test_an_author_must_find_its_answer_often_enough(attempts: int, status: str) -> None:
    played = exchange(
        {"A": written("one"), "B": written("two")},
        lambda ask: 8 if ask.key == "write/A/1/blind/1/answer" else 7,
        attempts=attempts,
    )
    assert statuses(played)["A"] == status
    blind = next(step.ask for step in played.steps if step.ask.key == "write/A/1/blind/1/answer")
    assert "7" not in "".join(
        value for m in blind.messages for value in m.fill.values() if isinstance(value, str)
    )


def test_a_committee_of_others_votes_on_clarity() -> None:
    drafts = {"A": written("one"), "B": written("two")}
    assert statuses(exchange(drafts, committee=2)) == {"A": "accepted", "B": "accepted"}
    both = ["committee/1", "committee/2"]
    for approval, asked in ((0.8, both[:1]), (0.5, both)):  # of two, an objection decides, or half is enough
        objected = exchange(drafts, vote="object", committee=2, approval=approval)
        assert statuses(objected) == {"A": "objected", "B": "objected"}
        assert objected.outcome.void == "no_challenge"
        for challenge in objected.outcome.detail["challenges"]:
            assert challenge["votes"] == dict.fromkeys(asked, "object")


def test_the_same_challenge_twice_is_one() -> None:
    played = exchange({"A": written("Add 1 and 2?"), "B": written("  add 1   AND 2.")})
    assert statuses(played) == {"A": "accepted", "B": "duplicate"}
    marks = "".join(mark(text, SECRET) for text in likeness("One", 7))
    pool = [from_pool("One", "p9", 7)]
    known = exchange({"A": written("one"), "B": written("ONE.")}, pool=pool, drawn={"known": marks})
    assert statuses(known) == {"A": "duplicate", "B": "duplicate"}
    assert (
        len(
            {
                identity(text)
                for text in ("1 - 2", "1 − 2", "1 + 2", "1 2", "12", "1²", "1.2", "(1) 2", "1! 2")
            }
        )
        == 9
    )


def test_the_pool_is_solved_and_pays_by_its_difficulty() -> None:
    pool = [from_pool("an old one", "p0", 11, 0.75)]
    played = exchange(
        {"A": "No.", "B": "No."}, lambda ask: 11 if ask.to == "B" else 12, pool=pool, scoring="difficulty"
    )
    assert played.outcome.detail["points"] == {"A": -1.5, "B": 1.5}
    own = [fact["own_challenge"] for fact in played.outcome.facts]
    assert own == [True, False], "p0 wrote it, in a match long ago"
    others = exchange({"A": "No.", "B": "No."}, lambda ask: 11, pool=pool, own=False)
    assert [fact["llm_id"] for fact in others.outcome.facts] == ["p1"]


def test_solvers_learn_neither_author_nor_answer() -> None:
    pool = [from_pool("an old one", "p7", 987654)]
    played = exchange({"A": written("one", 123456), "B": written("two", 123456)}, pool=pool, proof="solution")
    for step in played.steps:
        if step.ask.key.startswith("solve/"):
            text = repr(step.ask.messages)
            assert not any(secret in text for secret in ("123456", "987654", "p7", "p0", "p1"))


def test_a_provider_that_fails_leaves_too_few_and_nobody_loses() -> None:
    drafts = {"A": written("one"), "B": written("two")}
    gone = Reply("void")
    early = exchange({**drafts, "A": gone})
    assert early.outcome.void == "no_answer"
    assert not any(key.startswith("solve/") for key in early.keys)
    assert exchange(drafts, lambda ask: gone if ask.to == "A" else 7).outcome.void == "no_answer"


def test_an_exchange_goes_on_without_whoever_cannot_be_reached() -> None:
    drafts = {"A": written("one"), "B": written("two"), "C": written("three")}
    gone = Reply("void")
    early = exchange({**drafts, "A": gone}, lambda ask: 7 if ask.to == "B" or ask.role == "author" else 8)
    assert early.outcome.scores == {"B": 1, "C": 0}
    assert early.outcome.detail["unranked"] == ["A"]
    assert statuses(early)["A"] == "void"
    assert not any(key.startswith("solve/A/") for key in early.keys)
    late = exchange(
        drafts,
        lambda ask: gone if ask.to == "A" and ask.key.startswith("solve/") else 7,
    )
    assert set(late.outcome.scores) == {"B", "C"}
    assert late.outcome.detail["unranked"] == ["A"]
    assert statuses(late)["A"] == "accepted"
    solved = {fact["llm_id"] for fact in late.outcome.facts if fact["fact"] == "attempt"}
    assert solved == {"p1", "p2"}


@pytest.mark.parametrize("text", ["42.5", "1e3", "٤٢", "9" * 10_000, "seven", "[7]", "7 or 8", "answer: 7 8"])
def test_what_is_no_number_is_neither_right_nor_wrong(text: str) -> None:
    played = exchange(
        {"A": written("one"), "B": "No."}, lambda ask: text if ask.to == "B" and ask.role != "author" else 7
    )
    last = next(fact for fact in played.outcome.facts if fact.get("llm_id") == "p1")
    assert (last["result"], last["points"], unseal(last["submitted_answer"])) == ("invalid", 0.0, None)
    assert played.outcome.detail["points"] == {"A": 1.0, "B": 0.0}


@pytest.mark.parametrize(("pool", "dealt"), [(0, 3), (4, 7), (50, 20)])
def test_nobody_solves_more_than_there_is(pool: int, dealt: int) -> None:
    made = fixture(CHALLENGE_EXCHANGE, PLAYERS, {"seats": 3, "write": 1, "assigned": 20, "pool": pool})
    *_, solving = CHALLENGE_EXCHANGE.bounds(ChallengeExchangeRules.model_validate(made.settings), made)
    assert solving.worst == 2 * dealt


@pytest.mark.parametrize("tools", ["none", "python"])
def test_each_phase_is_bounded_by_its_own_limits(tools: str) -> None:
    """Programs may be run while solving, also blind, and drafts have a limit of their own."""
    rules = {"write": 2, "attempts": 3, "assigned": 5, "tools": tools}
    made = fixture(CHALLENGE_EXCHANGE, PLAYERS, {"seats": 3, "committee": 2, "max_tokens": 5_000, **rules})
    found = CHALLENGE_EXCHANGE.bounds(ChallengeExchangeRules.model_validate(made.settings), made)
    turns = 4 if tools == "python" else 1
    contestant = [(2 * 2, 6_000), (2 * 2 * 3 * turns, 5_000), (2 * 5 * turns, 5_000)]
    for seat in made.seats:
        assert [(one.worst, one.max_tokens) for one in found if one.seat == seat.label] == contestant
    for seat in made.officials["committee"]:
        assert [(one.worst, one.max_tokens) for one in found if one.seat == seat.label] == [(2 * 6, 600)]


def test_something_must_be_there_to_solve() -> None:
    with pytest.raises(ValidationError, match="nothing to solve"):
        ChallengeExchangeRules(write=0, pool=0)
    assert exchange({"A": written("one"), "B": written("two")}, write=0).outcome.void == "no_challenge"


WHOLE = {"description": "Add 1 and 2.", "reference_answer": 3, "solution": "print(3)", "tests": []}


def test_a_proposal_is_read() -> None:
    found = PROPOSAL.parse(json.dumps({**WHOLE, "tests": [{"input": "4\n5", "output": "9"}]}))
    assert (found.description, found.answer, found.solution) == ("Add 1 and 2.", 3, "print(3)")
    assert [(case.input, int(case.output)) for case in found.tests] == [("4\n5", 9)]
    long = PROPOSAL.parse(json.dumps(WHOLE | {"reference_answer": "-" + "9" * 60}))
    assert long.answer == -int("9" * 60)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"description": ""}, "description"),
        ({"description": " \n "}, '"description" is empty'),
        ({"description": 7}, "description"),
        ({"description": "Add\u202e 1"}, "cannot be seen"),
        ({"description": "x" * 2_001}, "of at most 2000 characters"),
        ({"reference_answer": "42."}, "reference_answer"),
        ({"reference_answer": 4.2}, "reference_answer"),
        ({"reference_answer": True}, "reference_answer"),
        ({"reference_answer": "٤٢"}, "reference_answer"),
        ({"reference_answer": "9" * 61}, "reference_answer"),
        ({"solution": ["print(3)"]}, "solution"),
        ({"solution": "x" * 6_001}, "solution"),
        ({"tests": "none"}, "tests"),
        ({"tests": [{"input": "1", "output": 1}] * 6}, "tests"),
        ({"tests": [{"input": 1, "output": 1}]}, r"tests\[0\].input"),
        ({"tests": [{"input": "1", "output": "one"}]}, r"tests\[0\].output"),
        ({"tests": ["1"]}, r"tests\[0\]"),
    ],
)
def test_what_is_missing_or_wrong_in_a_proposal_is_named(change: dict[str, object], complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        PROPOSAL.parse(json.dumps(WHOLE | change))


@pytest.mark.parametrize("place", ["solution", "input"])
def test_what_no_store_holds_does_not_get_there(place: str) -> None:
    parts = {"solution": "print(1)", "input": "1", place: "a\0b"}
    tests = [{"input": parts["input"], "output": 1}]
    found = PROPOSAL.parse(json.dumps(WHOLE | {"solution": parts["solution"], "tests": tests}))
    assert "a\ufffdb" in (found.solution, found.tests[0].input)


@pytest.mark.parametrize("solution", ["print(4242)", ""])
def test_a_number_that_nobody_can_find_is_no_challenge(solution: str) -> None:
    """By default its author must find it from the wording alone, whatever program it wrote."""
    drafts = {"A": written("I am thinking of a number.", 4242, solution=solution), "B": written("two")}
    played = exchange(drafts, lambda ask: 7)
    assert statuses(played) == {"A": "not solved", "B": "accepted"}


def test_a_program_cannot_do_what_the_wording_does_not_say() -> None:
    drafts = {"A": written("one", solution="print(8)"), "B": written("two", solution="print(7)")}
    played = exchange(drafts)
    assert statuses(played) == {"A": "solution failed", "B": "accepted"}
    assert played.outcome.detail["challenges"][1]["proof"] == "both"


def test_two_authors_with_two_answers_for_one_wording_are_both_left_out() -> None:
    drafts = {"A": written("Add 1 and 2?", 3), "B": written("Please add 1 and 2.", 4), "C": written("three")}

    def answer(ask: Ask) -> Said:
        return 7 if ask.role != "author" or ask.to == "C" else 3 if ask.to == "A" else 4

    played = exchange(drafts, answer)
    assert statuses(played) == {"A": "disputed", "B": "disputed", "C": "accepted"}
    assert {shown(step.ask) for step in played.steps if step.ask.key.startswith("solve/")} == {"three"}
    assert [fact["author_llm"] for fact in played.outcome.facts if fact["fact"] == "challenge"] == ["p2"]


def test_what_the_pool_knows_is_not_accepted_again() -> None:
    """Not though it is in other words, and was not drawn: it may be retired, and its answer public."""
    marks = "".join(mark(text, SECRET) for text in likeness("What is the sum of 1 to 1000?", 500500))
    drafts = {
        "A": written("Sum up 1 to 1000", 500500),
        "B": written("two"),
        "C": written("sum of 1, 1000", 9),
    }

    def answer(ask: Ask) -> Said:
        return {"A": 500500, "B": 7, "C": 9}[ask.to] if ask.role == "author" else 7

    played = exchange(drafts, answer, drawn={"known": marks})
    assert statuses(played) == {"A": "duplicate", "B": "accepted", "C": "duplicate"}


def test_author_and_solver_are_told_what_an_answer_is_worth() -> None:
    drafts = {"A": written("one"), "B": written("two")}
    rules = {"correct": 3, "incorrect": -2, "passed": 0.5, "own_failed": -4}
    pool = [from_pool("an old one", "p9", 7, 0.75)]
    for scoring, (right, wrong) in {"fixed": ("+3", "-2"), "difficulty": ("+4.5", "-1")}.items():
        played = exchange(drafts, pool=pool, scoring=scoring, **rules)
        told = {step.ask.key: call(step.ask).messages for step in played.steps}
        old = next(step.ask for step in played.steps if shown(step.ask) == "an old one")
        for text in (call(old).messages[0][1], told["write/A/1/draft"][1][1]):
            assert "-4 more" in text
            assert "+0.5 for a pass" in text
        assert f"{right} for the right number, {wrong} for a wrong one" in call(old).messages[0][1]
        assert "+3 for the right number" in told["write/A/1/draft"][1][1]
    without = exchange(drafts, own=False)
    assert not any("your own" in text for step in without.steps for _, text in call(step.ask).messages)


def test_an_author_is_told_of_tools_limits_and_reviewers() -> None:
    def told(**rules: Any) -> str:
        played = exchange({"A": written("one"), "B": written("two")}, **rules)
        return call(played.step("write/A/1/draft").ask).messages[1][1]

    assert "Solvers have no tools" in told()
    assert "One run may use 100 billion instructions" in told()
    assert "at most 2,000 characters" in told()
    assert "2 other players review" in told(committee=2)
    assert "`solution`" in told()
    assert "Leave `solution` and `tests` empty" in told(proof="blind")
