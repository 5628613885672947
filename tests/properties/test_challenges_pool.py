"""The pool as a fold: when a withdrawal is said makes no difference to what the pool says afterwards."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from peerage.challenges.pool import ChallengePool
from peerage.values.sealing import seal

NAMES, PLAYERS, RIGHT = ["c1", "c2", "c3", "c4"], [f"p{at}" for at in range(6)], 7
ATTEMPTS = st.tuples(st.sampled_from(NAMES), st.sampled_from(PLAYERS), st.sampled_from([7, 7, 8, 9, None]))


def challenge(name: str) -> dict[str, Any]:
    text = {"description": f"the text of {name}", "reference_answer": seal("0" * 32, RIGHT), "proof": "blind"}
    return {"fact": "challenge", "challenge_id": name, "author_llm": "p0", **text}


def attempt(name: str, player: str, answer: int | None) -> dict[str, Any]:
    result = "pass" if answer is None else "correct" if answer == RIGHT else "incorrect"
    who = {"llm_id": player, "challenge_id": name, "own_challenge": player == "p0"}
    said = {"submitted_answer": seal("1" * 32, answer), "result": result, "points": 0.0}
    return {"fact": "attempt", **who, **said}


@given(
    st.lists(ATTEMPTS, max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(NAMES)), max_size=3),
)
def test_when_a_challenge_is_withdrawn_does_not_matter(
    attempts: list[tuple[str, str, int | None]], withdrawals: list[tuple[int, str]]
) -> None:
    first, between = ChallengePool(), ChallengePool()
    said = [{"action": "withdraw", "challenge_id": name, "reason": "why"} for _, name in withdrawals]
    for one in said:
        first.amend(one)
    made = [challenge(name) for name in NAMES]
    first.learn(1, made)
    between.learn(1, made)
    for match, tried in enumerate(attempts, 2):
        for (at, _), one in zip(withdrawals, said, strict=True):
            if at == match:
                between.amend(one)
        first.learn(match, [attempt(*tried)])
        between.learn(match, [attempt(*tried)])
    for one in said:
        between.amend(one)
    last = [attempt(name, "p1", None) for name in NAMES]  # what is attempted is judged anew
    first.learn(99, last)
    between.learn(99, last)
    assert first.entries == between.entries
    assert first.draw("seed", 1, "secret") == between.draw("seed", 1, "secret")
