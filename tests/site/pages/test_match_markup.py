"""Stories of matches, and what they become as markup."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engine.arenas import house, play, write_arena
from tests.engine.clients import Cast
from tests.site.arenas import EVIL
from tests.site.pages.test_pages import Read

from peerage.game.blocks import (
    Bar,
    Block,
    Board,
    CellMark,
    GivenVerdict,
    Grid,
    Heading,
    Private,
    Quoted,
    ScoreLine,
    SeatName,
    Sentence,
    SourceCode,
    State,
    Swatch,
    TaskText,
    VoteLine,
    VoteStrip,
)
from peerage.players.client import Call, PlayerError
from peerage.reading.match import Match
from peerage.render.html.match import FOLD
from peerage.render.html.texts import shown
from peerage.render.html.writer import Html
from peerage.site.reading import Site
from peerage.values.texts import visible
from peerage.views.match.match import transcript, view_of


def article(match: Match) -> str:
    view = view_of(match, match.verdict, match.blocks)
    return Html().blocks([transcript(view, asked=match.asked)])


@given(st.text() | st.text("&<>\"'\u202e\n\x1ba"))
@example(EVIL)
def test_what_is_shown_is_escaped_and_visible(text: str) -> None:
    assert shown(text) == escape(visible(text))


def test_of_several_attempts_the_answered_one_is_told(tmp_path: Path) -> None:
    def busy(call: Call, attempt: int) -> PlayerError | None:
        return PlayerError("busy") if call.key == "answer/A" and attempt == 0 else None

    folder = write_arena(tmp_path / "arena", house(6))
    play(folder, 1, clients=Cast(busy))
    match = _only(folder)
    assert "waiting" not in [step.status for step in match.asked.values()]
    assert "2 attempts" in article(match)
    assert article(match).count("attempts") == 1


def _only(folder: Path) -> Match:
    site = Site.open(folder)
    (match,) = site.matches(1, 1)
    site.close()
    return match


def test_a_player_without_whom_a_match_went_on_is_told_as_unranked(tmp_path: Path) -> None:
    def down(call: Call, _: int) -> PlayerError | None:
        return PlayerError("down", kind="request") if call.key.split("/")[1] == "B" else None

    rules = {"preset": "development", "questions": 2, "quality": "none", "per_call": 1}
    folder = write_arena(tmp_path, house(4), game="last-arena", rules=rules)
    play(folder, 1, clients=Cast(down))
    match = _only(folder)
    (lost,) = [seat.player for seat in match.fixture.seats if seat.label == "B"]
    assert match.unranked == [lost]
    assert match.contestants[-1].player == lost
    assert f"({lost} is unranked: the provider failed)" in match.verdict
    assert article(match).count("unranked</span>") == 1
    assert "B is unranked: its provider failed." in article(match)


HOSTILE = (
    Heading(EVIL),
    Heading(EVIL, anchor=EVIL, closed=True),
    TaskText(EVIL),
    Sentence(EVIL, "bad"),
    TaskText(EVIL, EVIL, (EVIL,)),
    Quoted(EVIL, EVIL + "x" * 20_000, EVIL, EVIL, "good", EVIL),
    SourceCode(EVIL, EVIL, EVIL, EVIL, "bad", EVIL),
    SourceCode(f"+{EVIL}\n-{EVIL}\n@{EVIL}\n{EVIL}", diff=True),
    Grid((EVIL, f">{EVIL}"), ((EVIL, 1.5), (None, 2)), EVIL),
    Grid(
        (EVIL, EVIL, EVIL), ((SeatName(EVIL, out=True), CellMark(EVIL, "bad", EVIL, EVIL), Bar(EVIL, -1.0)),)
    ),
    State(Board((EVIL, EVIL))),
    ScoreLine(EVIL, 1.0, EVIL),
    Swatch(((EVIL, EVIL), ("red", "FF0000"), ("evil", 'FF0000"/><script>'))),
    Swatch(((EVIL, "FF0000"), (EVIL, EVIL)), EVIL),
    Board((EVIL, EVIL)),
    Bar(EVIL, 0.5),
    VoteStrip((EVIL,), (VoteLine(EVIL, (GivenVerdict(EVIL, EVIL, EVIL, "bad", EVIL),), EVIL, 0.5),), EVIL),
    Private((EVIL,)),
)


def test_no_block_is_more_than_text_whatever_it_says(pages: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    (match,) = pages.matches(1, 1)
    monkeypatch.setitem(match.__dict__, "blocks", HOSTILE)
    found = Read(article(match).encode())
    assert not {tag for tag, _ in found.elements} & {"script", "img", "style", "iframe"}
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    for block in HOSTILE:
        assert visible(EVIL) in found.text, block
    assert {type(block) for block in HOSTILE} == set(get_args(Block)), "each kind of block is tried"


def test_a_command_in_a_sentence_is_code(pages: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    (match,) = pages.matches(1, 1)
    monkeypatch.setitem(match.__dict__, "blocks", (Sentence("`peerage judges` tests <that>."),))
    assert "<p><code>peerage judges</code> tests &lt;that&gt;.</p>" in article(match)


def test_a_long_text_folds_and_nothing_of_it_is_lost(pages: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    (match,) = pages.matches(1, 1)
    said = "".join(f"line {number}\n" for number in range(3_000))
    monkeypatch.setitem(match.__dict__, "blocks", (Quoted("A", said),))
    page = article(match)
    opened, _, folded = page.partition("<details><summary>")
    assert len(said) - FOLD == int(folded.partition(" ")[0].replace(",", ""))
    assert 'tabindex="0"' in folded.partition("</details>")[0]
    assert said[:FOLD] in opened
    assert said[FOLD:] in folded
