"""From grades to a ranking, by hand and by law."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.scores.scoring import Grade
from peerage.judging.scores.standing import (
    matrix,
    normalised_grades,
    of,
    plain,
    received,
    standings,
    zeros,
)

GRADES = [
    Grade("A", "B", "q1/B", 9), Grade("A", "C", "q1/C", 7),
    Grade("B", "A", "q1/A", 3), Grade("B", "C", "q1/C", 1),
    Grade("C", "A", "q1/A", 6), Grade("C", "B", "q1/B", 4),
]  # fmt: skip


def test_each_judge_gives_five_on_average() -> None:
    values = {gain.grade[:3]: gain.value for gain in normalised_grades(GRADES)}
    assert values["A", "B", "q1/B"] == 6
    assert values["A", "C", "q1/C"] == 4
    assert values["B", "A", "q1/A"] == 6
    assert zeros(GRADES) == {"A": -3, "B": 3, "C": 0}


def test_what_an_item_received() -> None:
    found = received(normalised_grades(GRADES))
    assert found["q1/B"].mean == 5
    assert found["q1/B"].sd == pytest.approx(math.sqrt(2))
    assert found["q1/A"] == (6, 0, 2)
    assert of([3.0]) == (3, None, 1)


def test_a_lead_within_error_is_a_tie() -> None:
    close = standings({"A": {"1": 6.0, "2": 4.0, "3": 5.5}, "B": {"1": 5.0, "2": 5.0, "3": 5.0}})
    assert [close[label].rank for label in "AB"] == [1, 1]
    assert [close[label].result for label in "AB"] == [0.5, 0.5]
    assert close["A"].se == pytest.approx(statistics.stdev([6, 4, 5.5]) / math.sqrt(3))
    clear = standings({"A": {"1": 6.0, "2": 6.1, "3": 5.9}, "B": {"1": 5.0, "2": 5.0, "3": 5.0}})
    assert clear["A"].ahead_of == ("B",)
    assert (clear["A"].rank, clear["B"].rank, clear["A"].result, clear["B"].result) == (1, 2, 1, 0)


def test_players_are_compared_question_by_question() -> None:
    """Scores that vary by far more than they differ, but always in the same direction."""
    hard_and_easy = {str(at): float(at) for at in range(10)}
    better = {question: score + 0.5 for question, score in hard_and_easy.items()}
    found = standings({"A": better, "B": hard_and_easy})
    assert found["A"].ahead_of == ("B",)


def test_ranks_are_shared_and_skip() -> None:
    def near(mean: float) -> dict[str, float]:
        return {str(at): mean + 0.1 * (-1) ** at for at in range(6)}

    scores = {"A": near(8), "B": near(8), "C": near(5), "D": near(2)}
    found = standings(scores)
    assert {label: one.rank for label, one in found.items()} == {"A": 1, "B": 1, "C": 3, "D": 4}
    assert {label: one.result for label, one in found.items()} == pytest.approx(
        {"A": 5 / 6, "B": 5 / 6, "C": 1 / 3, "D": 0}
    )


def test_with_one_common_question_nobody_is_ahead() -> None:
    found = standings({"A": {"1": 10.0, "2": 9.0}, "B": {"1": 0.0}})
    assert found["A"].result == found["B"].result == 0.5
    assert found["B"].se is None


def test_weights_and_bonus() -> None:
    scores = {"A": {"1": 10.0, "2": 0.0}, "B": {"1": 0.0, "2": 10.0}}
    found = standings(scores, {"1": 3.0, "2": 1.0}, {"B": 1.0})
    assert found["A"].score == 7.5
    assert found["B"].score == 3.5
    assert standings(scores, {"1": 0.0, "2": 0.0})["A"].score == 5  # where nothing weighs, all weigh the same
    same = {"A": {"1": 5.0, "2": 5.0}, "B": {"1": 5.0, "2": 5.0}}
    assert standings(same, bonus={"A": 0.5})["A"].ahead_of == ("B",)
    assert standings(same)["A"].ahead_of == ()


def test_the_matrix_shows_favour_whatever_strictness_and_worth() -> None:
    quality = {"A": 8.0, "B": 6.0, "C": 4.0, "D": 2.0}
    grades = [
        Grade(judge, author, f"q{n}/{author}", quality[author] + severity + 2 * (judge + author == "AB"))
        for judge, severity in (("A", 0.0), ("B", 1.5), ("C", -1.0), ("D", 0.5))
        for author in quality
        if author != judge
        for n in range(5)
    ]
    cells = matrix(normalised_grades(grades))
    favours = {(judge, author): cell.favour for judge, row in cells.items() for author, cell in row.items()}
    assert max(favours, key=lambda pair: favours[pair] or 0) == ("A", "B")
    assert favours["A", "B"] > 1  # type: ignore[operator]
    for row in cells.values():
        assert math.fsum((cell.favour or 0) * cell.grades for cell in row.values()) == pytest.approx(0)
    alone = matrix(normalised_grades(GRADES[:1]))
    assert alone["A"]["B"].favour is None


@given(
    st.dictionaries(
        st.sampled_from("ABCDE"),
        st.dictionaries(st.sampled_from("123456"), st.floats(-10, 20), min_size=1),
        min_size=2,
    ),
    st.floats(-5, 5),
)
def test_laws(scores: dict[str, dict[str, float]], moved: float) -> None:
    found = standings(scores)
    assert sum(one.result for one in found.values()) == pytest.approx(len(found) / 2)
    for player, one in found.items():
        assert 0 <= one.result <= 1
        assert 1 <= one.rank <= len(found)
        assert player not in one.ahead_of
        assert all(player not in found[other].ahead_of for other in one.ahead_of)
    # a scale has no zero here: moving everybody changes nothing
    again = standings({p: {q: s + moved for q, s in own.items()} for p, own in scores.items()})
    assert {p: one.ahead_of for p, one in again.items()} == {p: one.ahead_of for p, one in found.items()}


def test_plain_rounds_all_the_way_down() -> None:
    assert plain({"a": [1 / 3, {"b": (2 / 3, None, "x", 1)}]}) == {
        "a": [0.333333, {"b": [0.666667, None, "x", 1]}]
    }
