"""A committee's vote: who is asked, and what it comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.challenges.drafting import Review, needed_share, reviewed
from peerage.game.protocol import Ask, Choice, Chosen, Prompt, Reply

VOTES = st.lists(st.sampled_from(["approve", "object", "void"]), min_size=1, max_size=9)


def review(votes: list[str], approval: float, *, early_stop: bool) -> tuple[Review, list[int]]:
    """A committee that votes so, and how many were asked at a time."""
    prompt = Prompt("", "Vote.")
    asks: list[Ask] = [
        prompt.ask(str(at), f"vote/{at}", Choice("vote", ("approve", "object")), {}, 9)
        for at in range(len(votes))
    ]
    steps, waves = reviewed(asks, approval, early_stop=early_stop), list[int]()
    try:
        wave = list(next(steps))  # type: ignore[arg-type]
        while True:
            waves.append(len(wave))
            given = [votes[int(ask.to)] for ask in wave]
            wave = steps.send(
                [Reply("void") if vote == "void" else Reply("ok", value=Chosen(vote)) for vote in given]
            )
    except StopIteration as stop:
        return stop.value, waves


@given(VOTES, st.sampled_from([0.0, 0.5, 0.6, 0.8, 1.0]))
def test_who_is_not_asked_could_not_change_the_decision(votes: list[str], approval: float) -> None:
    early, waves = review(votes, approval, early_stop=True)
    everybody, at_once = review(votes, approval, early_stop=False)
    assert early.approved == everybody.approved
    assert at_once == [len(votes)] == [len(everybody.votes)]
    asked = sum(waves)
    assert [*early.votes.values()] == votes[:asked]
    for rest in ("approve", "object", "void"):
        other, _ = review([*votes[:asked], *[rest] * (len(votes) - asked)], approval, early_stop=False)
        assert other.approved == early.approved


@pytest.mark.parametrize(
    ("votes", "waves"),
    [
        (["object", "object", "approve", "approve", "approve"], [2]),
        (["approve"] * 5, [2, 2]),
        (["approve", "object", "object", "approve", "approve"], [2, 1]),
        (["void", "void", "void", "approve", "approve"], [2, 1]),
    ],
)
def test_few_are_asked_at_a_time(votes: list[str], waves: list[int]) -> None:
    assert review(votes, 0.8, early_stop=True)[1] == waves


@pytest.mark.parametrize(
    ("members", "approval", "share"), [(5, 0.8, 0.8), (3, 0.8, 1.0), (4, 0.5, 0.5), (0, 0.8, 1.0)]
)
def test_as_many_are_planned_for_as_can_approve(members: int, approval: float, share: float) -> None:
    assert needed_share(members, approval) == pytest.approx(share)
