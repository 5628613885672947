"""Pictures of matches as each medium draws them: marks, seats, bars, colours, boards, diffs, what opens."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.render.test_blocks import written

from peerage.game import (
    Bar,
    Board,
    CellMark,
    Grid,
    Heading,
    Outcome,
    ScoreLine,
    SeatName,
    SourceCode,
    State,
    Swatch,
    TaskText,
    answers_grid,
    credit_mark,
    result_grid,
)
from peerage.games.adapter import board
from peerage.render import rows as laid
from peerage.render.blocks import Transcript
from peerage.render.rows import squares
from peerage.render.terminal import on

NAMES = {"A": "ada", "B": "bob"}


def of_match(*blocks: object) -> tuple[str, str, str]:
    """Return blocks of a match in each medium."""
    return written(Transcript(1, (), blocks, NAMES, lambda key: None))


def at_width(width: int, *blocks: object) -> str:
    """Return blocks of a match in a terminal of so many characters."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system=None, highlight=False
    )
    return on(console, [Transcript(1, (), blocks, NAMES, lambda key: None)])


def test_a_grid_names_seats_and_its_marks_lead_to_what_they_are_of() -> None:
    cells = (SeatName("A", out=True), CellMark("✓", "good", "right", "q1"))
    page, marked, plain = of_match(Grid(("Player", "1"), (cells,)), Heading("One", anchor="q1", closed=True))
    assert '<th scope="row" class="seat"><s>ada <span class="label">A</span></s></th>' in page
    assert '<td class="m good" title="right"><a href="#q1">✓</a></td>' in page
    assert '<summary><h2>One</h2></summary>\n<div id="q1">' in page
    assert "ada (A) †" in plain
    assert "✓" in marked


def test_what_is_closed_says_what_is_in_it_and_a_terminal_shows_it() -> None:
    page, _, plain = of_match(
        Heading("One", closed=True), TaskText("Which?"), Heading("Two", closed=True), Heading("End")
    )
    assert page.count('<div class="list">') == 1
    assert '<h2>One</h2> <span class="first">Which?</span></summary>' in page
    assert page.count("<details") == page.count("</details>") == 2
    assert page.count("<div") == page.count("</div>")
    assert page.index("</details>\n</div>") < page.index(">End<")
    assert "Which?" in plain


def test_a_bar_begins_at_zero_and_goes_to_the_left_below_it() -> None:
    page, _, plain = of_match(
        Grid(("", "Gain"), (("x", Bar("", -50, 100, -100)), ("y", Bar("", 50, 100, -100))))
    )
    assert '<rect class="l" x="24.0" width="24.0"' in page
    assert '<rect class="w" x="48.0" width="24.0"' in page
    assert "···███······ -50" in plain
    assert "······███··· 50" in plain


def test_a_bar_is_in_percent_where_it_is_a_share_and_a_count_of_one_is_no_share() -> None:
    bars = Bar("", 0.25), Bar("", 0.997), Bar("", 1.0), Bar("", 1, 1), Bar("", 1.0, 1.0), Bar("", 0.5, 1.0)
    assert [laid.amount(bar) for bar in bars] == ["25%", "over 99%", "100%", "1", "1", "0.50"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_bar_of_no_finite_length_is_its_number_alone(value: float) -> None:
    for bar in (Bar("x", value), Bar("x", 0.5, most=value), Bar("x", 0.5, least=value)):
        page, _, shown = written(Grid(("", "Gain"), (("x", bar),)))
        assert "<svg" not in page
        assert laid.cell(bar) in page
        assert laid.cell(bar) in shown


@pytest.mark.parametrize(
    "block", [Board((), True), Board(()), Grid((), ()), Grid((), ((),)), Grid(("",), ())]
)
def test_a_picture_of_nothing_is_shown_in_every_medium(block: Board | Grid) -> None:
    assert all("After it" in shown for shown in written(block, Heading("After it")))


def test_digits_of_a_color_are_marked_where_they_are_those_of_the_hidden_one() -> None:
    page, marked, plain = of_match(Swatch((("try 1", "AB0000"),), "AB12F0"))
    assert "<code><b>A</b><b>B</b>00" + "0<b>0</b></code>" in page
    assert "hidden #AB12F0 · try 1 #AB0000 3 of 6 digits right" in marked
    assert "try 1 AB0000  3 of 6 digits right" in plain


def test_letters_of_chess_are_pieces_and_others_stay() -> None:
    assert squares(Board(("rk", ".Q"))) == [["♜", "♚"], ["", "♕"]]
    assert squares(Board(("xo", ".k"))) == [["x", "o"], ["", "k"]]
    page, _, plain = of_match(Board(("rk", ".Q"), squared=True))
    assert page.count("<rect") == 4
    assert 'role="img" aria-label="rk; .Q"' in page
    assert " 2  ♜  ♚" in plain
    assert "a  b" in plain


@pytest.mark.parametrize(
    ("printed", "rows"),
    [
        ("x.o\n...\n..x", ("x.o", "...", "..x")),
        ("Black to play:\n  a b c\n1 x - o 1\n2 - - - 2\n3 - - x 3\n  a b c", ("x-o", "---", "--x")),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ("rnbqkbnr", "pppppppp", *["........"] * 4, "PPPPPPPP", "RNBQKBNR"),
        ),
    ],
)
def test_a_position_that_a_library_prints_is_drawn_in_squares(printed: str, rows: tuple[str, ...]) -> None:
    assert board(printed) == Board(rows, squared=True)


@pytest.mark.parametrize(
    "printed", ["(0): 0 0 2 1", ". x .\n . o .\n  . . x", "+---+\n|x  |\n+---+", "", "7\n"]
)
def test_any_other_position_stays_as_it_is_printed(printed: str) -> None:
    assert board(printed) == Board(tuple(printed.rstrip().split("\n")))


def test_lines_of_a_diff_are_marked_by_what_they_say_of_themselves() -> None:
    page, _, plain = of_match(SourceCode("-a\n+b\n c", diff=True))
    assert '<span class="gone">-a</span>\n<span class="added">+b</span>\n c' in page
    assert "| -a" in plain


def test_a_state_is_there_for_a_replay_alone() -> None:
    page, marked, plain = of_match(State(Board(("x.",))))
    assert '<div class="state" hidden>' in page
    assert "x." not in marked + plain


def test_a_grid_that_is_too_wide_goes_on_below_with_its_names() -> None:
    rows = tuple([(SeatName(label), *[credit_mark(at % 2) for at in range(40)]) for label in NAMES])
    plain = at_width(80, Grid(("Player", *map(str, range(1, 41))), rows))
    assert max(map(len, plain.split("\n"))) <= 80
    assert plain.count("ada (A)") == plain.count("Player") > 1
    assert plain.count("✓") == plain.count("✗") == 40


def test_results_are_a_row_for_each_seat_the_best_first_and_headlines_know_why() -> None:
    outcome = Outcome(scores={"A": 0.0, "B": 1.0})
    blocks = [*result_grid(outcome, "Most win.", (">Right",), {"A": ("1",), "B": ("2",)}, {"B": "2 right"})]
    (grid,) = [block for block in blocks if isinstance(block, Grid)]
    assert [row[0] for row in grid.rows] == [SeatName("B"), SeatName("A")]
    assert ScoreLine("B", 1.0, "2 right", pictured=True) in blocks
    assert "2 right" not in "".join(of_match(*blocks))
    (void,) = [
        block.text
        for block in result_grid(Outcome(void="no_answer"), "Most win.", (), {})
        if hasattr(block, "tone")
    ]
    assert "there is no result" in void


def test_equal_answers_are_one_row_the_right_one_first() -> None:
    grid = answers_grid({"A": "x", "B": "y", "C": "x"}, {"A": 0, "B": 1, "C": 0})
    assert [row[1:] for row in grid.rows] == [("y", "B"), ("x", "A, C")]
    assert [credit_mark(credit).text for credit in (1, 0, 0.004, 0.5, 0.999, None)] == [
        "✓",
        "✗",
        "1%",
        "50%",
        "99%",
        "–",
    ]
