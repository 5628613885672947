"""The pool as a fold, its flags and estimates."""

from typing import Any

import msgspec
import pytest

from peerage.challenges.flags import found_flags
from peerage.challenges.pool import Attempt, ChallengePool, estimates
from peerage.values.sealing import seal

LEAST = 4


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.challenges.pool.LEAST_ATTEMPTS", LEAST)


def challenge(name: str, author: str = "author", answer: int = 7, text: str = "") -> dict[str, Any]:
    return {
        "fact": "challenge",
        "challenge_id": name,
        "author_llm": author,
        "description": text or f"the text of {name}",
        "reference_answer": seal("0" * 32, answer),
        "proof": "blind",
    }


def attempt(name: str, player: str, answer: int | None, right: int = 7) -> dict[str, Any]:
    result = "pass" if answer is None else "correct" if answer == right else "incorrect"
    return {
        "fact": "attempt",
        "llm_id": player,
        "challenge_id": name,
        "submitted_answer": seal("1" * 32, answer),
        "result": result,
        "own_challenge": player == "author",
        "points": {"correct": 1.0, "incorrect": -1.0, "pass": 0.0}[result],
    }


def pool(*facts: dict[str, Any], count: int = 4) -> ChallengePool:
    made = ChallengePool(count)
    made.learn(1, facts)
    return made


def by_others(*answers: int | None) -> list[dict[str, Any]]:
    return [attempt("c", f"p{at}", answer) for at, answer in enumerate(answers)]


def test_the_first_author_stays_and_attempts_gather() -> None:
    made = pool(challenge("c"), attempt("c", "p1", 7))
    made.learn(2, [challenge("c", "somebody else", 8), attempt("c", "p2", 8), attempt("unknown", "p2", 8)])
    entry = made.entries["c"]
    assert (entry.author_llm, entry.answer, entry.match, len(made.entries)) == ("author", 7, 1, 1)
    assert [(one.match, one.llm_id, one.answer) for one in entry.attempts] == [(1, "p1", 7), (2, "p2", 8)]


def test_a_match_draws_challenges_in_use_by_its_seed() -> None:
    made = pool(*[challenge(f"c{at}") for at in range(10)], attempt("c3", "p1", 8), attempt("c3", "p2", 7))
    drawn = made.draw("seed", 7, "secret")
    assert drawn == made.draw("seed", 7, "secret")
    assert len({one["challenge_id"] for one in drawn["challenges"]}) == 4
    assert drawn["secret"] != made.draw("seed", 8, "secret")["secret"]
    assert drawn["secret"] != made.draw("seed", 7, "another")["secret"], "nobody can guess it from the seed"
    everything = {one["challenge_id"]: one for one in pool_of(made, 10).draw("seed", 1, "s")["challenges"]}
    assert everything["c3"]["difficulty"] == 0.5
    assert everything["c4"]["difficulty"] is None


def pool_of(made: ChallengePool, count: int) -> ChallengePool:
    made.count = count
    return made


@pytest.mark.parametrize("action", ["flag", "withdraw", "retire"])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("reason", ["seen", ""])
def test_what_is_amended_is_drawn_no_more(action: str, before: bool, reason: str) -> None:
    """Also without a reason, and when it is read before the match that the challenge comes from."""
    made = ChallengePool(10)
    said = {"action": action, "challenge_id": "c1", "flag": "leaked", "reason": reason}
    if before:
        made.amend(said)
    made.learn(1, [challenge("c1"), challenge("c2")])
    if not before:
        made.amend(said)
    assert [one["challenge_id"] for one in made.draw("seed", 2, "s")["challenges"]] == ["c2"]


def test_imported_challenges_are_there_from_the_start() -> None:
    made = ChallengePool(10)
    made.amend({**challenge("c"), "action": "import"})
    made.learn(1, [challenge("c", "later")])
    assert (made.entries["c"].author_llm, made.entries["c"].match) == ("author", 0)


@pytest.mark.parametrize(
    ("said", "shown"), [("never", ("wrong reference",)), ("before", ()), ("after", ()), ("twice", ())]
)
def test_attempts_at_what_is_withdrawn_make_nobody_strong(said: str, shown: tuple[str, ...]) -> None:
    """Three agree on another answer; what made them strong is withdrawn."""
    ps, qs = [f"p{at}" for at in range(3)], [f"q{at}" for at in range(3)]
    easy = [attempt("easy", player, 7 if player in ps else 8) for player in ps + qs]
    hard = [attempt("hard", player, 7 if player in qs else 8) for player in ps + qs]
    withdrawal = {"action": "withdraw", "challenge_id": "easy", "reason": "its answer was known"}
    made = pool(challenge("c"), challenge("easy"), challenge("hard"))
    if said == "before":
        made.amend(withdrawal)
    made.learn(2, [*easy * 4, *hard])
    for _ in range({"after": 1, "twice": 2}.get(said, 0)):
        made.amend(withdrawal)
    made.learn(3, [attempt("c", player, 9 if player in ps else 7) for player in ps + qs])
    assert made.entries["c"].shown == shown
    assert ("easy" in made.estimates()) is (said == "never")


def test_an_action_that_nobody_knows_is_told_and_discloses_nothing() -> None:
    made = pool(challenge("c"))
    with pytest.raises(msgspec.ValidationError, match="recall"):
        made.amend({"action": "recall", "challenge_id": "c", "reason": "seen"})
    assert made.entries["c"].retired is None


def test_a_redacted_pool_can_be_read_and_not_drawn_from() -> None:
    made = pool({**challenge("c"), "reference_answer": {"sealed": "ab" * 32}}, attempt("c", "p1", 7))
    assert made.entries["c"].answer is None
    assert made.draw("seed", 2, "s")["challenges"] == []


@pytest.mark.parametrize(
    ("answers", "flags"),
    [
        ((7, 7, 7, 7), ("trivial",)),
        ((7, 7, 7), ()),
        ((None, None, None, None), ("unsolvable",)),
        ((None, 1, 2, 3), ("unsolvable",)),
        ((9, 9, 9, None), ("unsolvable", "wrong reference")),
        ((9, 9, 9, 7), ("ambiguous",)),
        ((9, 9, 7, 7), ()),
        ((9, 9, 9, 7, 7, 7, 7), ()),
        ((7, 8, None, 7), ()),
    ],
)
def test_attempts_show_what_is_wrong(answers: tuple[int | None, ...], flags: tuple[str, ...]) -> None:
    assert pool(challenge("c"), *by_others(*answers)).entries["c"].shown == flags


def test_the_author_proves_nothing() -> None:
    made = pool(challenge("c"), *by_others(None, None, None, 1), attempt("c", "author", 7))
    assert made.entries["c"].shown == ("unsolvable",)
    assert made.entries["c"].failing == 5 / 6
    unflagged = pool(challenge("c"), *by_others(7, 7, 7), attempt("c", "author", 7))
    assert unflagged.entries["c"].shown == ()


def test_only_strong_players_overrule_an_author() -> None:
    """Three who solve nothing else agree on another answer: that says nothing."""
    attempts = [Attempt(1, f"weak{at}", 9, "incorrect", False, -1.0) for at in range(3)]
    attempts += [Attempt(1, f"strong{at}", 7, "correct", False, 1.0) for at in range(3)]
    shares = {f"weak{at}": 0.1 for at in range(3)} | {f"strong{at}": 0.9 for at in range(3)}
    assert found_flags("text", 7, attempts, shares, LEAST) == ()
    turned = {player: 1 - share for player, share in shares.items()}
    assert found_flags("text", 7, attempts, turned, LEAST) == ("wrong reference",)


@pytest.mark.parametrize(
    ("text", "answer", "leaked"),
    [
        ("The answer is 250500.", 250500, True),
        ("The answer is 250,500, surely", 250500, True),
        ("It is -250500", -250500, True),
        ("Find the password: **42**", 42, True),
        ("Reverse it twice: 123457", 123457, True),
        ("Add up the numbers to 1000", 500500, False),
        ("Is 2505001 the answer?", 250500, False),
        ("Take 42 and think of it", 42, False),
        ("What is the 100th number of this sequence?", 100, False),
        ("Add up what you see. 42 is the answer.", 42, True),
        ("Add up what you see. The answer's 42!", 42, True),
        ("3 is the result of 1 + 2; what is 4 + 5?", 9, False),
        ("What is the largest multiple of 8 up to 1000?", 1000, False),
        ("What is the greatest cube up to 1,000,000?", 1_000_000, False),
        ("The answer is 12 more than the sum of both.", 12, False),
        ("The answer is 7.5, rounded down", 7, False),
    ],
)
def test_a_text_that_gives_its_answer_away_is_leaked(text: str, answer: int, leaked: bool) -> None:
    assert (found_flags(text, answer, [], {}, LEAST) == ("leaked",)) is leaked


@pytest.mark.parametrize("imported", [True, False])
def test_what_gives_its_answer_away_is_never_drawn(imported: bool) -> None:
    """Before anybody has tried it."""
    made = ChallengePool(10)
    told = {**challenge("c1", answer=250500, text="The answer is 250,500."), "action": "import"}
    made.amend(told) if imported else made.learn(1, [told])
    made.learn(2, [challenge("c2")])
    assert made.entries["c1"].shown == ("leaked",)
    assert [one["challenge_id"] for one in made.draw("seed", 3, "s")["challenges"]] == ["c2"]


def test_a_sealed_answer_gives_nothing_away() -> None:
    told = challenge("c", answer=250500, text="The answer is 250500.")
    made = pool({**told, "reference_answer": {"sealed": "ab" * 32}})
    assert made.entries["c"].shown == ()


def test_a_sudden_rise_is_a_leak() -> None:
    early = [Attempt(1, f"p{at}", None, "pass", False, 0.0) for at in range(4)]
    late = [Attempt(2, f"p{at}", 7, "correct", False, 1.0) for at in range(4)]
    assert found_flags("text", 7, early + late, {}, LEAST) == ("leaked",)
    assert found_flags("text", 7, late + early, {}, LEAST) == ()


def test_hard_challenges_are_found_to_be_hard() -> None:
    """Six players of rising strength; each challenge is solved from one of them on."""
    answers = {f"c{least}": {f"p{at}": [at >= least] for at in range(6)} for least in range(1, 6)}
    found = estimates(answers)
    difficulty = [found[f"c{least}"].difficulty for least in range(1, 6)]
    assert difficulty == sorted(difficulty)
    noise = {"c": {f"p{at}": [at % 2 == 0] for at in range(6)}}
    assert estimates(answers | noise)["c"].discrimination < found["c3"].discrimination
    assert estimates({}) == {}


@pytest.mark.parametrize("over", ["flag", "review", "withdraw", "retire"])
def test_what_left_the_pool_does_not_come_back_in_other_words(over: str) -> None:
    text, again = (
        "What is the sum of the even numbers from 1 to 1000?",
        "Sum the even numbers, 1 up to 1,000!",
    )
    made = pool(challenge("c", answer=250500, text=text))
    made.amend({"action": over, "challenge_id": "c", "flag": "leaked", "verdict": "object", "reason": ""})
    made.learn(2, [challenge("d", answer=250500, text=again)])
    assert list(made.entries) == ["c"]
    assert made.draw("seed", 3, "s")["challenges"] == []
    assert len(made.draw("seed", 3, "s")["known"]) == 12, "so that a match knows it too"


def test_people_have_the_last_word_on_quality() -> None:
    made = pool(challenge("c"), *by_others(7, 7, 7, 7))
    assert made.entries["c"].state == "flagged"
    said = {"action": "review", "challenge_id": "c", "reason": "good for the weak"}
    made.amend({"action": "flag", "challenge_id": "c", "flag": "ambiguous", "reason": "two readings"})
    made.amend(said | {"verdict": "approve"})
    assert (made.entries["c"].state, made.entries["c"].shown) == ("in use", ("trivial",))
    made.amend(said | {"verdict": "object"})
    assert made.entries["c"].state == "objected"
    assert made.draw("seed", 3, "s")["challenges"] == []
    with pytest.raises(msgspec.ValidationError, match="perhaps"):
        made.amend(said | {"verdict": "perhaps"})


def test_another_answer_for_one_wording_adds_nothing() -> None:
    made = pool(challenge("c"), challenge("c", answer=8))
    assert (made.entries["c"].answer, made.entries["c"].state) == (7, "in use")


def test_a_committees_verdict_is_kept() -> None:
    made = pool({**challenge("c"), "votes": [3, 4]})
    assert [(one.by, one.verdict, one.reason) for one in made.entries["c"].reviews] == [
        ("committee", "approve", "3 of 4 approve")
    ]


@pytest.mark.parametrize(("others", "attempts"), [(1, 2), (2, 4), (3, 4)])
def test_flags_need_no_more_attempts_than_a_small_arena_has(others: int, attempts: int) -> None:
    for count in (attempts - 1, attempts):
        tried = [attempt("c", f"p{at % others}", 7) for at in range(count)]
        made = pool(challenge("c"), *[attempt("c", f"p{at}", 7) for at in range(others)], *tried[others:])
        assert made.entries["c"].shown == (("trivial",) if count == attempts else ())


def test_two_others_who_agree_overrule_an_author_where_there_are_no_more() -> None:
    made = pool(challenge("c"), *[attempt("c", f"p{at % 2}", 9) for at in range(4)])
    assert made.entries["c"].shown == ("unsolvable", "wrong reference")
