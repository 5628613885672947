"""Logic: how answers are read, what counts as solved, which families a setting chooses."""

from collections import Counter
from random import Random
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import fixture, play, scripted

from peerage.game.match import Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.logic import GAME
from peerage.games.logic.play import FAMILIES, PuzzleAnswers, answers_to
from peerage.games.logic.puzzles import ANSWER_CHARS, Puzzle, parts, solves

PLAYERS = [f"p{at}" for at in range(10)]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("42", "42"),
        (" +42 ", "42"),
        ("042", "42"),
        ("-7", "-7"),
        ("6/14", "3/7"),
        ("3 / 7", "3/7"),
        ("8/2", "4"),
        ("0/5", "0"),
        ("ada,BEN ,  Cleo", "Ada, Ben, Cleo"),
        ("3,5", "3, 5"),
        ("monday", "Monday"),
        ("1 2\n3  4", "1 2 3 4"),
        ("2031-05-09", "2031-05-09"),
    ],
)
def test_an_answer_is_read_by_its_value(given: str, answer: str) -> None:
    assert solves(given, answer)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("", "42"),
        ("42.0", "42"),
        ("4e1", "40"),
        ("1,000", "1000"),
        ("42 km", "42"),
        ("forty-two", "42"),
        ("٤٢", "42"),
        ("0.5", "1/2"),
        ("50%", "1/2"),
        ("1/0", "0"),
        ("Ben, Ada", "Ada, Ben"),
        ("Ada", "Ada, Ben"),
        ("Ada, Ben,", "Ada, Ben"),
        ("Ada and Ben", "Ada, Ben"),
        ("12 34", "1234"),
        ("9" * 100, "9" * 61),
    ],
)
def test_no_other_answer_counts(given: str, answer: str) -> None:
    assert not solves(given, answer)


def test_what_is_longer_than_any_answer_is_wrong() -> None:
    longest = "x" * ANSWER_CHARS
    assert solves(longest, longest)
    assert not solves(f"{longest}y", f"{longest}y")
    assert not solves(f"{longest}y", longest)


@given(st.text(max_size=400))
def test_reading_is_total_and_what_is_read_reads_the_same(text: str) -> None:
    assert solves(text, text) == (len(text) <= ANSWER_CHARS)
    assert len(parts(text)) == text[:ANSWER_CHARS].count(",") + 1


def outcome_of(seats: int, right: dict[str, int | Reply]) -> Outcome:
    """A match of five puzzles in which each seat solves so many of them, from the first."""
    match = fixture(GAME, PLAYERS, {"seats": seats, "puzzles": 5})
    answers = [puzzle["answer"] for puzzle in match.drawn["tasks"]]

    def answer(ask: Ask, player: str) -> str | Reply:
        many = right[ask.to]
        if isinstance(many, Reply):
            return many
        return ask.expects.write(PuzzleAnswers("", [*answers[:many], *["?"] * (5 - many)]))

    return play(GAME, match, scripted(answer)).outcome


def test_whoever_solves_more_ranks_higher_and_equals_tie() -> None:
    outcome = outcome_of(5, {"A": 3, "B": 5, "C": 3, "D": 0, "E": Reply("ok", "I pass")})
    assert outcome.scores == {"B": 1, "A": 0.625, "C": 0.625, "D": 0.125, "E": 0.125}
    assert outcome.detail["solved"]["A"] == [True, True, True, False, False]


def test_a_lost_contestant_is_unranked_and_one_alone_is_no_match() -> None:
    outcome = outcome_of(3, {"A": 1, "B": 2, "C": Reply("void")})
    assert outcome.scores == {"B": 1, "A": 0}
    assert outcome_of(2, {"A": 1, "B": Reply("void")}).void == "no_answer"


def test_a_refusal_solves_nothing() -> None:
    assert outcome_of(2, {"A": 0, "B": Reply("refused")}).scores == {"A": 0.5, "B": 0.5}


def test_a_whole_number_may_be_written_as_one() -> None:
    read = answers_to(2).parse('{"working": "", "answers": [12, "x"]}')
    assert solves(str(read.answers[0]), "12")


def test_families_are_drawn_evenly() -> None:
    rules = GAME.rules(puzzles=5)
    names: Counter[str] = Counter()
    for number in range(1, 101):
        drawn = msgspec.convert(GAME.draw(rules, "secret", number)["tasks"], list[Puzzle])
        here = [puzzle.family for puzzle in drawn]
        assert len({*here}) == 5
        names.update(here)
    assert names.keys() == FAMILIES.keys()
    assert max(names.values()) < 3 * min(names.values())


def test_a_setting_chooses_the_families() -> None:
    rules = GAME.rules(families=["zebra", "dice"], puzzles=3)
    drawn = GAME.draw(rules, "secret", 1)["tasks"]
    assert {one["family"] for one in drawn} == {"zebra", "dice"}
    with pytest.raises(ValueError, match="did you mean 'zebra'"):
        GAME.rules(families=["zebras"])
    with pytest.raises(ValueError, match="there are own, reasoning-gym, arithmetic"):
        GAME.rules(families=["own", "sudoku"])


def test_no_match_has_the_puzzles_of_another() -> None:
    drawn = [one["text"] for number in range(1, 301) for one in GAME.draw(GAME.rules(), "s", number)["tasks"]]
    assert len({*drawn}) == len(drawn)
    assert GAME.draw(GAME.rules(), "s", 7) == GAME.draw(GAME.rules(), "s", 7)


def test_a_mistake_of_a_house_player_is_one() -> None:
    match = fixture(GAME, PLAYERS, {"puzzles": 20})
    answers = [puzzle["answer"] for puzzle in match.drawn["tasks"]]

    call = SimpleNamespace(oracle=[(answer, 0.0) for answer in answers])
    for seed in range(20):
        wrong = GAME.house(call, 0.0, Random(seed)).answers  # type: ignore[arg-type]
        assert not any(solves(str(mine), right) for mine, right in zip(wrong, answers, strict=True))


def test_a_house_player_solves_by_its_skill_and_the_difficulty() -> None:
    call = SimpleNamespace(oracle=[("7", difficulty) for difficulty in (-1.4, 0.0, 4.9)] * 2_000)
    given = GAME.house(call, 0.8, Random(1)).answers  # type: ignore[arg-type]
    shares = [sum(answer == "7" for answer in given[at::3]) / 2_000 for at in range(3)]
    assert shares == pytest.approx([0.942, 0.8, 0.029], abs=0.03)


def test_a_match_says_the_level_of_each_puzzle_and_who_solved_it() -> None:
    match = fixture(GAME, PLAYERS, {"seats": 2, "difficulty": 9, "puzzles": 2})
    tasks = match.drawn["tasks"]
    assert [task["level"] for task in tasks] == [9, 9]
    assert all(abs(task["difficulty"] - 4.2) < 1.5 for task in tasks)
    answers = {"A": [task["answer"] for task in tasks], "B": [tasks[0]["answer"], ""]}
    asked: list[str] = []

    def answer(ask: Ask, player: str) -> str:
        asked.append(str(ask.messages[-1].fill["puzzles"]))
        return ask.expects.write(PuzzleAnswers("", answers[ask.to]))

    outcome = play(GAME, match, scripted(answer)).outcome
    assert "Puzzle 2 (level 9). " in asked[0]
    (fact,) = outcome.facts
    labels = {seat.player: seat.label for seat in match.seats}
    assert fact["levels"] == [9, 9]
    assert {labels[player]: own for player, own in fact["credits"].items()} == {"A": [1, 1], "B": [1, 0]}
