import math
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.gathered import listed, tabled

from peerage.judging.marks.ballots import Ballots, PanelRecord, marks_of
from peerage.judging.marks.marks import Mark
from peerage.judging.measures.preference import (
    deviations,
    kin_preferences,
    length_bias,
    length_leans,
    one_sided,
    positions,
)
from peerage.judging.panels.panel import Ballot

PLAYERS = {"judge/1": "kit", "judge/2": "lou", "judge/3": "max", "A": "ann", "B": "bob"}
FAMILIES = {"kit": "k", "ann": "k", "lou": "l", "max": "m", "bob": "b"}


def family(judge: str, author: str) -> bool:
    return FAMILIES[judge] == FAMILIES[author]


def ballot(judge: str, *verdicts: str) -> Ballot:
    said = dict(zip(("A-B", "B-A"), verdicts, strict=False))
    unusable = "void" in verdicts
    vote = "abstain" if unusable else verdicts[0] if len(set(verdicts)) == 1 else "tie"
    return Ballot(judge, vote, said, not unusable and len(set(verdicts)) > 1)


def panel(*ballots: Ballot) -> PanelRecord:
    return PanelRecord(PLAYERS, ("A", "B"), ballots)


def test_marks_are_the_points_of_valid_votes() -> None:
    found = marks_of(
        panel(ballot("judge/1", "A", "A"), ballot("judge/2", "A", "B"), ballot("judge/3", "void", "A")),
        "7",
        {"A": 100},
    )
    assert found == [
        Mark("kit", "ann", "7", 1.0, 100),
        Mark("kit", "bob", "7", 0.0, None),
        Mark("lou", "ann", "7", 0.5, 100),
        Mark("lou", "bob", "7", 0.5, None),
    ]


def test_a_mark_is_measured_against_the_others_for_the_same_answer() -> None:
    marks = [Mark("x", "a", "1", 9), Mark("y", "a", "1", 4), Mark("z", "a", "1", 2), Mark("x", "b", "1", 9)]
    table = tabled(marks)
    assert deviations(table) == pytest.approx([6, math.nan, -1.5, -4.5], nan_ok=True), "alone for b"
    same_family = deviations(table, table.same_family(lambda judge, author: judge == "x"))
    assert same_family == pytest.approx([6, math.nan, 2, -2], nan_ok=True), "x is no measure for y"


def test_kin_preference_by_hand() -> None:
    """kit gives its kin ann 8, lou and max 5 and 7; a stranger 4, the others 4 and 6: so +2, -1; mean ½."""
    marks = [
        *(Mark(judge, "ann", "1", value) for judge, value in (("kit", 8), ("lou", 5), ("max", 7))),
        *(Mark(judge, "bob", "1", value) for judge, value in (("kit", 4), ("lou", 4), ("max", 6))),
    ]
    found = kin_preferences(tabled(marks), family)
    assert list(found) == ["kit"], "lou and max have no kin here"
    assert found["kit"].value == pytest.approx(2 - 0.5)
    assert kin_preferences(tabled(marks), lambda judge, author: judge == author) == {}


def test_without_other_kin_on_the_panel_it_is_what_it_gives_its_own_beyond_the_rest() -> None:
    rng = Random(5)
    panels = [panel(*[ballot(f"judge/{at}", *[rng.choice("AB")] * 2) for at in (1, 2, 3)]) for _ in range(40)]
    marks = [mark for at, one in enumerate(panels) for mark in marks_of(one, str(at), {})]
    found = kin_preferences(tabled(marks), family)["kit"]
    points = [[{"A": 1.0, "B": 0.0}[ballot.vote] for ballot in one.ballots] for one in panels]
    assert found.value == pytest.approx(mean(own - mean(rest) for own, *rest in points))
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < found.value < found.upper
    assert found.units == 40


def test_length_by_hand() -> None:
    """Answers of 100 and 400 characters: two doublings apart. Judge x gives the long one 6 more, y 2 more."""
    marks = [
        *(Mark("x", author, "1", value, chars) for author, value, chars in (("a", 2, 100), ("b", 8, 400))),
        *(Mark("y", author, "1", value, chars) for author, value, chars in (("a", 5, 100), ("b", 7, 400))),
    ]
    overall = length_bias(tabled(marks))
    assert overall is not None
    assert overall.value == pytest.approx(2), "4 more on average, over two doublings"
    leans = length_leans(tabled(marks))
    assert leans["x"].value == pytest.approx(2), "x: 4 more than y, over two doublings"
    assert leans["y"].value == pytest.approx(-2)
    assert length_bias(tabled(mark._replace(chars=None) for mark in marks)) is None
    assert length_bias(tabled(mark._replace(chars=50) for mark in marks)) is None
    near = [mark._replace(chars={100: 100, 400: 109}[mark.chars or 0]) for mark in marks]
    assert length_bias(tabled(near)) is None, "less than a tenth longer"


def one_order(rng: Random, judges: int, panels: int, lean: float = 0.5) -> Ballots:
    """Each judge sees each pair of answers in one order; the first judge picks what stands first with chance
    `lean`, the others toss a coin."""
    names = {f"judge/{at}": f"j{at}" for at in range(judges)} | {"A": "ann", "B": "bob"}
    records = []
    for _ in range(panels):
        cast = []
        for at in range(judges):
            order, first = rng.choice([("A-B", "A"), ("B-A", "B")]), rng.random() < (0.5 if at else lean)
            verdict = order[1] if first else "BA"["AB".index(order[1])]
            cast.append(Ballot(f"judge/{at}", verdict, {order[0]: verdict}, False))
        records.append(PanelRecord(names, ("A", "B"), tuple(cast)))
    return listed(records)


def test_even_handed_judges_are_seldom_said_to_lean() -> None:
    """Judge by judge at 95%, a third of such pools had one that "leans to the answer shown first"."""
    pools = [one_sided(one_order(Random(seed), 20, 25), 0.05) for seed in range(40)]
    assert sum(map(bool, pools)) <= 4
    assert one_sided(one_order(Random(1), 20, 40, lean=0.95), 0.05) == {"j0"}
    assert one_sided(one_order(Random(1), 3, 2_000, lean=0.6), 0.05) == {"j0"}


def test_who_always_picks_the_first_answer_of_both_orders_leans() -> None:
    """All its ballots are alike, so their spread is none."""
    panels = [panel(ballot("judge/1", "A", "B"), ballot("judge/2", "A", "A")) for _ in range(12)]
    assert one_sided(listed(panels), 0.05) == {"kit"}
    assert one_sided(listed(panels[:4]), 0.05) == set(), "of four ballots nobody can tell"


def test_positions_by_hand() -> None:
    found = positions(
        listed(
            [
                panel(ballot("judge/1", "A", "B"), ballot("judge/2", "A", "A")),
                panel(
                    ballot("judge/1", "B", "B"), ballot("judge/2", "tie", "A"), ballot("judge/3", "void", "A")
                ),
            ]
        )
    )
    kit, lou, none = found["kit"], found["lou"], found["max"]
    assert kit.flips is not None
    assert kit.flips.value == 0.5
    assert kit.first is not None
    assert kit.first.value == 0.75, "A in A-B, B in B-A, then B second and first"
    assert lou.first is not None
    assert lou.first.value == pytest.approx(1 / 3)
    assert none.flips is None


def test_no_share_of_a_judge_lies_beyond_all_or_none_of_its_ballots() -> None:
    turned, steady = ballot("judge/1", "A", "B"), ballot("judge/1", "A", "A")
    often = positions(listed([*[panel(turned)] * 9, panel(steady)]))["kit"]
    seldom = positions(listed([*[panel(steady)] * 9, panel(turned)]))["kit"]
    assert often.flips is not None
    assert seldom.flips is not None
    assert (often.flips.value, often.flips.upper) == (0.9, 1.0)
    assert (seldom.flips.value, seldom.flips.lower) == (0.1, 0.0)
    always = [panel(ballot("judge/1", "A", "B"))] * 9 + [panel(ballot("judge/1", "B", "B"))]
    first = positions(listed(always))["kit"].first
    assert first is not None
    assert (first.value, first.upper) == (0.95, 1.0)


@given(st.integers(0, 10_000))
def test_strictness_is_no_favour(seed: int) -> None:
    """Whatever a judge adds to all its marks, what it is found to favour stays as it was."""
    rng = Random(seed)
    people = ["kit", "ann", "bob", "lou"]
    marks = [
        Mark(judge, author, str(contest), rng.randint(0, 10), rng.randint(1, 999))
        for contest in range(6)
        for judge in people
        for author in people
        if judge != author
    ]
    strict = [mark._replace(value=mark.value + 3 * (mark.judge == "kit")) for mark in marks]
    for measure in (
        lambda m: kin_preferences(m, family)["kit"].value,
        lambda m: length_leans(m)["kit"].value,
    ):
        assert measure(tabled(strict)) == pytest.approx(measure(tabled(marks)))  # type: ignore[no-untyped-call]
