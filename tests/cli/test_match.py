"""A match in the terminal: whatever players wrote, it is text, and no terminal obeys it."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console
from tests.golden.shown import view
from tests.site.arenas import EVIL
from tests.site.test_match_markup import HOSTILE

from peerage.blocks import Board, Quoted
from peerage.cli.match import FOLD, text
from peerage.protocol import visible


@pytest.mark.parametrize("terminal", [False, True])
def test_no_block_steers_a_terminal(terminal: bool) -> None:
    match = msgspec.structs.replace(view("duel-prompts"), blocks=HOSTILE, note=EVIL, topic=EVIL)
    console = Console(file=io.StringIO(), width=5_000, force_terminal=terminal, color_system=None)
    shown = text(match, console, full=True)
    assert visible(shown) == shown
    assert shown.count(visible(EVIL)) >= len(HOSTILE) + 2


def test_what_is_long_is_cut_unless_all_is_asked_for() -> None:
    said = "x" * (FOLD + 1_234)
    match = msgspec.structs.replace(view("duel-prompts"), blocks=(Quoted("A", said),))
    console = Console(file=io.StringIO(), width=100)
    assert "1,234 more characters; --full shows them" in text(match, console, full=False)
    assert said not in text(match, console, full=False)
    assert said in text(match, console, full=True)


def test_a_board_keeps_its_rows() -> None:
    rows = ("x o", " xo", "o x")
    match = msgspec.structs.replace(view("duel-prompts"), blocks=(Board(rows),))
    shown = text(match, Console(file=io.StringIO(), width=100), full=False)
    assert "\n".join(f"    {row}" for row in rows) in shown
