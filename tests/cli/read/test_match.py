"""A match in the terminal: whatever players wrote, it is text, and no terminal obeys it."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.console import Console
from tests.golden.shown import view
from tests.site.arenas import EVIL
from tests.site.pages.test_match_markup import HOSTILE

from peerage.game.blocks import Board, Quoted
from peerage.game.section import CostUnit
from peerage.render.markdown import markdown as in_markdown
from peerage.render.terminal import on
from peerage.values.figures import DASH
from peerage.values.texts import visible
from peerage.views.match.match import CUT, MatchView, transcript


def text(match: MatchView, console: Console, *, full: bool, unit: str = "dollars") -> str:
    return on(console, [transcript(match, unit, cut=not full, requests=full)])


def markdown(match: MatchView) -> str:
    return in_markdown([transcript(match)])


@pytest.mark.parametrize("terminal", [False, True])
def test_no_block_steers_a_terminal(terminal: bool) -> None:
    match = msgspec.structs.replace(view("tasks-judged"), blocks=HOSTILE, note=EVIL, topic=EVIL)
    console = Console(file=io.StringIO(), width=5_000, force_terminal=terminal, color_system=None)
    shown = text(match, console, full=True)
    assert visible(shown) == shown
    assert shown.count(visible(EVIL)) >= len(HOSTILE) + 2


def test_what_is_long_is_cut_unless_all_is_asked_for() -> None:
    said = "x" * (CUT + 1_234)
    match = msgspec.structs.replace(view("tasks-judged"), blocks=(Quoted("A", said),))
    console = Console(file=io.StringIO(), width=100)
    assert "1,234 more characters" in text(match, console, full=False)
    assert said not in text(match, console, full=False)
    assert said in text(match, console, full=True)


def test_a_board_keeps_its_rows() -> None:
    rows = ("x o", " xo", "o x")
    match = msgspec.structs.replace(view("tasks-judged"), blocks=(Board(rows),))
    shown = text(match, Console(file=io.StringIO(), width=100), full=False)
    assert "\n".join(f"    {row}" for row in rows) in shown


def test_in_markdown_nothing_of_a_player_is_markup() -> None:
    match = msgspec.structs.replace(view("tasks-judged"), blocks=HOSTILE, note=EVIL, topic=EVIL)
    told = markdown(match)
    assert visible(told) == told
    outside = re.sub("^(```+)text\n.*?\n\\1$", "", told, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" in told
    assert "\\<script\\>" in outside
    assert not re.search(r"(?<!\\)[<\[]", outside)


def test_in_markdown_no_words_close_their_fence() -> None:
    words = "```\n# a heading\n````text"
    told = markdown(msgspec.structs.replace(view("tasks-judged"), blocks=(Quoted("A", words),)))
    assert f"`````text\n{words}\n`````" in told


def test_costs_of_play_have_their_unit() -> None:
    match = msgspec.structs.replace(view("tasks-judged"), costs={"A": 0.25, "B": None})
    console = Console(width=200)
    seats = {seat.label: seat.player for seat in match.seats}
    seconds = CostUnit(dollars=0, seconds=1).name
    for unit, title, cost in (("dollars", "", "$0.25"), (seconds, ", in seconds", "0.25")):
        _, told, table = text(match, console, full=False, unit=unit).partition(f" Cost of play{title}\n")
        assert told
        rows = {row.split()[0]: row.split()[-1] for row in table.splitlines() if row.strip()}
        assert (rows[seats["A"]], rows[seats["B"]]) == (cost, DASH)
    assert CostUnit(seconds=0.01, kwh=2).name == "0.01 × seconds + dollars + 2 × kWh"
