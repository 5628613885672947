"""A panel on its own, as the author of another game would use it."""

from collections.abc import Callable
from itertools import takewhile
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from peerage.formats import ChosenEach
from peerage.game.match import Seat
from peerage.game.protocol import Ask, Chosen, Reply, Steps, render
from peerage.judging.panels.panel import Ballot, PanelRules, PanelVerdict, count, panel
from peerage.judging.panels.prompts import MATERIAL, Criterion, framed

JUDGES = [Seat(f"judge/{at}", f"p{at}", 1500.0 + 100 * at) for at in range(1, 4)]


def run(steps: Steps[PanelVerdict], answer: Callable[[Ask], Reply]) -> tuple[PanelVerdict, list[Ask]]:
    asks: list[Ask] = list(next(steps))  # type: ignore[arg-type]
    try:
        steps.send([answer(ask) for ask in asks])
    except StopIteration as stop:
        return stop.value, asks
    raise AssertionError("a panel asks once")


def saying(choice: str) -> Callable[[Ask], Reply]:
    return lambda ask: Reply("ok", value=Chosen(choice))


def test_takes_plain_strings() -> None:
    verdict, asks = run(panel(JUDGES, {"left": "L", "right": "R"}, {"question": "Which?"}), saying("tie"))
    assert verdict.score == 0.5
    assert [ask.key for ask in asks][:2] == ["judge/1/left-right", "judge/1/right-left"]
    assert verdict.score is not None


def test_hidden_qualities_reach_the_judges_in_the_order_shown() -> None:
    answers = {"A": Reply("ok", "a", hidden=1), "B": Reply("ok", "b", hidden=2)}
    _, asks = run(panel(JUDGES, answers, {"question": "?"}), saying("A"))
    assert [ask.oracle.hidden for ask in asks[:2]] == [(1, 2), (2, 1)]


def test_answers_are_cut() -> None:
    rules = PanelRules(answer_chars=3)
    _, asks = run(panel(JUDGES, {"A": "abcdef", "B": "xy"}, {"question": "?"}, rules), saying("A"))
    assert asks[0].messages[1].fill["answer_a"].text == "abc"  # type: ignore[union-attr]


def test_a_verdict_is_asked_for_within_its_limits() -> None:
    _, asks = run(panel(JUDGES, {"A": "x", "B": "y"}, {"question": "?"}, PanelRules()), saying("A"))
    assert {(ask.max_tokens, ask.temperature, ask.expects.reason_chars) for ask in asks} == {(600, 0.0, 400)}  # type: ignore[union-attr]


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="2 answers, not 1"):
        next(panel(JUDGES, {"A": "x"}, {"question": "?"}))
    with pytest.raises(ValueError, match="rng"):
        next(panel(JUDGES, {"A": "x", "B": "y"}, {"question": "?"}, PanelRules(order="one")))
    with pytest.raises(KeyError, match="question"):
        next(panel(JUDGES, {"A": "x", "B": "y"}, {}))


def test_one_order_comes_from_the_rng() -> None:
    def orders(seed: int) -> list[str]:
        rules = PanelRules(order="one")
        steps = panel(JUDGES * 3, {"A": "x", "B": "y"}, {"question": "?"}, rules, rng=Random(seed))
        return [ask.key[-3:] for ask in next(steps)]  # type: ignore[union-attr]

    assert orders(1) == orders(1)
    assert len({tuple(orders(seed)) for seed in range(5)}) > 1


def _ballots(votes: list[str]) -> tuple[list[Ballot], dict[str, float]]:
    ballots = [Ballot(f"judge/{at}", vote, {}, False) for at, vote in enumerate(votes)]
    return ballots, {ballot.judge: 1500.0 for ballot in ballots}


VOTES = st.lists(st.sampled_from(["A", "B", "tie", "abstain"]), min_size=1, max_size=12)


@given(VOTES, st.floats(0, 0.49), st.lists(st.floats(0, 4000), min_size=12, max_size=12))
def test_swapping_the_contestants_mirrors_the_verdict(
    votes: list[str], epsilon: float, ratings: list[float]
) -> None:
    rules = PanelRules(epsilon=epsilon)
    ballots, _ = _ballots(votes)
    rated = {ballot.judge: rating for ballot, rating in zip(ballots, ratings, strict=False)}
    as_a = count(ballots, rated, "A", rules)
    as_b = count(ballots, rated, "B", rules)
    if as_a.score is None:
        assert as_b.score is None
        assert as_a.share is None
    else:
        assert as_b.score == 1 - as_a.score
        assert as_a.share == pytest.approx(1 - (as_b.share or 0))


@given(VOTES)
def test_quorum(votes: list[str]) -> None:
    ballots, ratings = _ballots(votes)
    valid = sum(vote != "abstain" for vote in votes)
    found = count(ballots, ratings, "A", PanelRules())
    assert (found.score is None) == (valid == 0 or valid < 0.5 * len(votes))


@given(VOTES)
def test_equal_weights_count_heads(votes: list[str]) -> None:
    ballots, ratings = _ballots(votes)
    found = count(ballots, ratings, "A", PanelRules(weights="equal"))
    ahead = votes.count("A") - votes.count("B")
    if found.score is not None:
        assert found.score == (0.5 if ahead == 0 else float(ahead > 0))


@pytest.mark.parametrize(("votes", "score"), [("AAABB", 0.5), ("AAAAB", 1.0), ("BBBBA", 0.0)])
def test_epsilon_is_inclusive(votes: str, score: float) -> None:
    ballots, ratings = _ballots(list(votes))
    assert count(ballots, ratings, "A", PanelRules(weights="equal", epsilon=0.1)).score == score


CRITERIA = (Criterion("correct", 3, "It {is} right."), Criterion("tone"), Criterion("length"))


def by_criteria(first: str, choices: dict[str, str]) -> Callable[[Ask], Reply]:
    """A judge to whom the answer `first` is the one that `choices` call A, whichever it is shown."""

    def answer(ask: Ask) -> Reply:
        swapped = not ask.key.endswith(f"/{first}-{'AB'.replace(first, '')}")
        seen = {"A": "B", "B": "A"} if swapped else {}
        return Reply("ok", value=ChosenEach({name: seen.get(one, one) for name, one in choices.items()}))

    return answer


def test_the_verdict_is_the_weighted_sum_of_criteria() -> None:
    rules = PanelRules(criteria=CRITERIA)
    given = by_criteria("A", {"correct": "B", "tone": "A", "length": "A"})
    verdict, asks = run(panel(JUDGES, {"A": "x", "B": "y"}, {"question": "?"}, rules), given)
    assert (verdict.score, verdict.share) == (0, 0)
    assert verdict.criteria == pytest.approx({"correct": 0, "tone": 1, "length": 1})
    assert verdict.ballots[0].criteria == {
        "correct": {"A-B": "B", "B-A": "B"},
        "tone": {"A-B": "A", "B-A": "A"},
        "length": {"A-B": "A", "B-A": "A"},
    }
    assert asks[0].expects.fields == ("correct", "tone", "length")  # type: ignore[union-attr]
    assert "- correct: It {is} right." in render(asks[0].messages[0], "")
    assert verdict.detail()["criteria"] == verdict.criteria


@pytest.mark.parametrize(("binary", "vote"), [(False, "tie"), (True, "A")])
def test_an_even_sum_is_a_tie_or_the_heaviest_criterions(binary: bool, vote: str) -> None:
    criteria = (Criterion("correct", 2), Criterion("tone"), Criterion("length"))
    given = by_criteria("A", {"correct": "A", "tone": "B", "length": "B"})
    rules = PanelRules(criteria=criteria, binary=binary)
    verdict, _ = run(panel(JUDGES[:1], {"A": "x", "B": "y"}, {"question": "?"}, rules), given)
    assert [ballot.vote for ballot in verdict.ballots] == [vote]


def test_what_both_orders_share_comes_first() -> None:
    """The task comes before the answers, and it is the same text in every request."""
    rules = PanelRules(rubric="Be {brief}.", criteria=CRITERIA)
    task = {"question": framed("task", "What is 2 + {2}?"), "expected": framed("expected", "4")}
    _, asks = run(
        panel(JUDGES[:2], {"A": "x", "B": "y"}, task, rules),
        by_criteria("A", dict.fromkeys(("correct", "tone", "length"), "tie")),
    )
    shown = [
        "\n".join([render(message, f"{at:08}") for message in ask.messages])
        for at, ask in enumerate(asks, 10**7)
    ]
    shared = "".join([one[0] for one in takewhile(lambda one: len({*one}) == 1, zip(*shown, strict=False))])
    for part in ("Be {brief}.", "- tone", '"tone": "A" | "B" | "tie"', "What is 2 + {2}?", "expected"):
        assert part in shared
    assert shared.rpartition("The first answer:")[2].startswith("\n<<<answer A 1")


def test_the_owners_prompt_is_the_whole_prompt() -> None:
    own = (
        "Rubric: {{rubric}}\n{{criteria}}\nQ {{ prompt }} {json}\n1 {{answer_a}} 2 {{answer_b}} = "
        "{{expected}}\n{{format}}"
    )
    rules = PanelRules(rubric="Be {brief}.", criteria=CRITERIA[:1], prompt=own)
    given = {"question": "What?", "rubric": "No {names}.", "expected": "4"}
    asking = panel(JUDGES[:1], {"A": "x", "B": "y"}, given, rules)
    _, asks = run(asking, by_criteria("A", {"correct": "A"}))
    (message,) = asks[0].messages
    text = render(message, "12345678")
    assert text.startswith(
        "Rubric: Be {brief}.\n\nNo {names}.\n- correct: It {is} right.\nQ What? {json}\n1 <<<answer A"
    )
    assert "= 4\n" in text
    assert MATERIAL in text
    assert text.endswith(rules.expects().instruction())


def test_one_judge_without_a_task_of_its_own_rubric() -> None:
    own = "{{prompt}} {{answer_a}} {{answer_b}} [{{expected}}] {{format}}"
    asking = panel(JUDGES[:1], {"A": "x", "B": "y"}, {"question": "What?"}, PanelRules(prompt=own))
    _, asks = run(asking, saying("A"))
    assert "[(none)]" in render(asks[0].messages[0], "12345678")


REPLIES = {
    "tie": Reply("ok", value=Chosen("tie")),
    "invalid": Reply("invalid"),
    "A": Reply("ok", value=Chosen("A")),
    "B": Reply("ok", value=Chosen("B")),
}


def asked(
    rules: PanelRules, votes: list[str], seed: int, ratings: list[float]
) -> tuple[PanelVerdict, list[Ask]]:
    """A panel whose judges prefer what `votes` name, in any order, and all that they are asked."""
    judges = [Seat(f"judge/{at}", f"p{at}", raw) for at, raw in enumerate(ratings)]
    steps = panel(judges, {"A": "x", "B": "y"}, {"question": "?"}, rules, rng=Random(seed))
    asks: list[Ask] = []
    try:
        wave = list(next(steps))  # type: ignore[arg-type]
        while True:
            asks += wave
            said = [votes[int(ask.to[-1])] for ask in wave]
            swapped = [ask.key.endswith("B-A") for ask in wave]
            seen = [
                {"A": "B", "B": "A"}.get(vote, vote) if turned else vote
                for vote, turned in zip(said, swapped, strict=True)
            ]
            wave = steps.send([REPLIES[vote] for vote in seen])
    except StopIteration as stop:
        return stop.value, asks


USUAL = PanelRules(order="opposite", early_stop=True, weights="equal", epsilon=0.05)


@pytest.mark.parametrize(
    ("votes", "calls", "score"),
    [
        ("A A B", 2, 1.0),
        ("B B A", 2, 0.0),
        ("A B A", 4, 1.0),
        ("A B tie", 4, 0.5),
        ("A tie tie", 4, 1.0),
        ("tie tie B", 4, 0.0),
        ("A invalid A", 4, 1.0),
        ("invalid invalid A", 2, None),
        ("A B", 2, 0.5),
        ("A invalid", 2, 1.0),
        ("A", 2, 1.0),
        ("A A A B B", 3, 1.0),
        ("A A B B A", 6, 1.0),
    ],
)
def test_judges_are_asked_until_the_others_cannot_change_the_verdict(
    votes: str, calls: int, score: float | None
) -> None:
    said = votes.split()
    verdict, asks = asked(USUAL, said, 1, [1500.0] * len(said))
    assert (len(asks), verdict.score) == (calls, score)
    assert [bool(ballot.late) for ballot in verdict.ballots][:2] == [False] * min(2, len(said))
    orders = [ask.key.rpartition("/")[2] for ask in asks]
    assert abs(orders.count("A-B") - orders.count("B-A")) == len(asks) % 2, "position cancels"


@given(
    st.lists(st.sampled_from(["A", "B", "tie", "invalid"]), min_size=1, max_size=7),
    st.lists(st.sampled_from([900.0, 1400.0, 1500.0, 1510.0, 2400.0]), min_size=7, max_size=7),
    st.sampled_from(["both", "opposite", "one"]),
    st.sampled_from(["softmax", "proportional", "equal"]),
    st.sampled_from([0.0, 0.05, 0.2]),
    st.integers(0, 99),
)
def test_the_verdict_is_what_it_would_be_if_all_were_asked(
    votes: list[str], ratings: list[float], order: Any, scheme: Any, epsilon: float, seed: int
) -> None:
    rules = PanelRules(order=order, weights=scheme, epsilon=epsilon)
    everybody, all_asks = asked(rules, votes, seed, ratings[: len(votes)])
    early, asks = asked(replace(rules, early_stop=True), votes, seed, ratings[: len(votes)])
    assert early.score == everybody.score
    assert [ask.key for ask in asks] == [ask.key for ask in all_asks][: len(asks)]
    assert len(everybody.ballots) == len(votes)
    assert all(ballot.late is UNSET for ballot in everybody.ballots)
    assert [ballot.vote for ballot in early.ballots] == [ballot.vote for ballot in everybody.ballots][
        : len(early.ballots)
    ]


@pytest.mark.parametrize(
    ("rules", "judges", "most", "usual"),
    [
        (USUAL, 3, 2, 2 + 0.4),
        (USUAL, 2, 1, 2),
        (USUAL, 1, 2, 2),
        (USUAL, 5, 2, 3 + 0.2 * 3),
        (PanelRules(), 5, 2, 10),
        (PanelRules(order="one"), 3, 1, 3),
    ],
)
def test_calls_are_planned_as_they_are_made(rules: PanelRules, judges: int, most: int, usual: float) -> None:
    each = rules.calls(judges)
    assert max(calls for calls, _ in each) == most
    assert sum(expected for _, expected in each) == pytest.approx(usual)
