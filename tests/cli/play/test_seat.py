"""A person at a terminal: a real pseudo-terminal, real processes, a real run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.play.test_play import peerage
from tests.cli.terminals import Terminal
from tests.engine.arenas import house, write_arena

from peerage.formats import Choice, Code, Scores, Text
from peerage.ledger import open_ledger
from peerage.players.people.requests import People, Request

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
HOUR = 3_600_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_arena(tmp_path, [*house(5), "human:me"], seed=None, pairing={"window": 4})


@pytest.fixture
def seat(folder: Path) -> Iterator[Callable[..., Terminal]]:
    """`peerage play` at the arena in a terminal of its own."""
    opened: list[Terminal] = []

    def sit(*words: str, **env: str) -> Terminal:
        opened.append(Terminal(*(words or ("play",)), "--dir", str(folder), env=env))
        return opened[-1]

    yield sit
    for one in opened:
        one.close()


def ask(
    folder: Path, expects: object, prompt: str = "What?", key: str = "k", limit_ms: int = HOUR
) -> Request:
    request = Request.of("seed", key, "me", "judge", [("user", prompt)], expects, limit_ms)  # type: ignore[arg-type]
    People(folder).ask(request, now_ms())
    return request


def said(folder: Path, request: Request) -> tuple[str, str]:
    told = People(folder).ask(request, now_ms())
    return told.state, told.text


def test_a_bad_reply_is_told_and_asked_again(folder: Path, seat: Callable[..., Terminal]) -> None:
    asked = ask(folder, Choice("verdict", ("A", "B", "tie")))
    window = seat()
    window.waits_for("until ", "judge")
    window.waits_for("reason:")
    window.types("Both are good.")
    window.waits_for("verdict: 1) A  2) B  3) tie")
    window.types("perhaps")
    window.waits_for("That cannot be used: verdict: 'perhaps' is none of A, B, tie.")
    window.waits_for("verdict: 1) A  2) B  3) tie")
    window.types("2")
    window.waits_for("kept")
    assert said(folder, asked) == ("replied", '{"reason":"Both are good.","verdict":"B"}')
    window.waits_for("nothing waits for you now")
    window.types("/quit")
    assert window.ends() == 0


def test_several_lines_a_program_and_points(folder: Path, seat: Callable[..., Terminal]) -> None:
    text, code = ask(folder, Text(), key="1"), ask(folder, Code(), key="2")
    points = ask(folder, Scores(2), key="3")
    window = seat("play", "--as", "me")
    for lines in (["One.", "", "Two /quit", "."], ["for n in (1, 2):", "    print(n)", "."]):
        window.waits_for("(a line with a single . ends it)")
        window.types(*lines)
    for said_points in ("7.5", "11", "8"):
        window.waits_for("score:")
        window.types(said_points)
        if said_points == "11":
            window.waits_for("score: '11' is not a number from 0 to 10.")
    window.waits_for("nothing waits for you now")
    assert said(folder, text) == ("replied", "One.\n\nTwo /quit")
    assert said(folder, code) == ("replied", "```python\nfor n in (1, 2):\n    print(n)\n```")
    assert said(folder, points)[1] == '{"scores":[{"item":1,"score":7.5},{"item":2,"score":8}]}'


def test_what_others_wrote_steers_no_terminal(folder: Path, seat: Callable[..., Terminal]) -> None:
    ask(folder, Text(), "before \x1b[2J\x1b]0;owned\x07 \u202e after")
    window = seat()
    window.waits_for("after")
    assert not {"\x1b", "\x07", "\u202e"} & set(window.seen)
    assert "before \ufffd[2J\ufffd]0;owned\ufffd \ufffd after" in window.seen


def test_declining_leaving_and_the_editor(
    folder: Path, seat: Callable[..., Terminal], tmp_path: Path
) -> None:
    first, second, third = (ask(folder, Text(), key=key) for key in "abc")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'written elsewhere\\n' > \"$1\"\n")
    editor.chmod(0o755)
    window = seat("play", EDITOR=str(editor), VISUAL="")
    window.waits_for("2 more wait", "reply:")
    window.types("/decline")
    window.waits_for("declined")
    window.waits_for("1 more waits")
    window.waits_for("ends it)")
    window.types("/edit")
    window.waits_for("kept")
    window.waits_for("ends it)")
    window.types("half a")
    window.presses(b"\x03")
    assert window.ends() == 130
    assert said(folder, first)[0] == "declined"
    assert said(folder, second) == ("replied", "written elsewhere")
    assert said(folder, third)[0] == "open"


def test_a_request_that_ends_meanwhile_is_told(folder: Path, seat: Callable[..., Terminal]) -> None:
    window = seat()
    window.waits_for("nothing waits")
    ask(folder, Text(), key="a", limit_ms=2_000)
    window.waits_for("ends it)")
    window.types("too slow")
    window.presses(b"half of what ")
    window.waits_for("this request is closed")
    following = ask(folder, Text(), key="following")
    window.waits_for("ends it)")
    window.types("All of it.", ".")
    window.waits_for("kept")
    assert said(folder, following) == ("replied", "All of it."), "nothing of what was for another"
    elsewhere = ask(folder, Text(), key="b")
    window.waits_for("ends it)")
    People(folder).reply("me", elsewhere.id, "from a browser", now_ms())
    window.waits_for("this request is closed")
    assert said(folder, elsewhere) == ("replied", "from a browser")


def test_a_person_plays_a_run_at_its_own_terminal(folder: Path, seat: Callable[..., Terminal]) -> None:
    write_arena(folder, 5, seed=None, pairing={"window": 4})
    window = seat("run", "--player", "human:me", "--max-matches", "2")
    window.waits_for("person me is to be asked some")
    ended = False
    while not ended:
        found = window.waits_for(
            "ends it)", "reason:", "vote:", "verdict:", "ends here", " matches", " result"
        )
        if found == "ends it)":
            window.types("An answer of mine.", ".")
        elif found in ("vote:", "verdict:"):
            window.types("1")
        elif found == "reason:":
            window.types("")
        ended = "of them now" in window.seen  # three, where one of them came to no result
    assert window.ends() == 0, window.seen[-2000:]
    assert "a person" in window.seen, "the leaderboard marks people"
    with closing(open_ledger("sqlite:///arena.db", folder, create=False)) as ledger:
        mine = [one for one in ledger.exchanges(1) if one.player == "me" and one.reply is not None]
    assert mine
    peerage("verify", "--dir", str(folder))


def test_ctrl_c_in_a_run_loses_nothing(folder: Path, seat: Callable[..., Terminal]) -> None:
    write_arena(folder, 5, seed=None, pairing={"window": 4})
    window = seat("run", "--player", "human:me", "--max-matches", "3")
    window.waits_for("you are asked as")
    window.presses(b"\x03")
    assert window.ends() == 130
    assert "Traceback" not in window.seen
    assert "matches wait" in window.seen or "match waits" in window.seen
    again = seat("run", "--player", "human:me", "--max-matches", "3")
    again.waits_for("you are asked as")
    again.waits_for(":")
    again.types("/quit")
    assert again.ends() == 130
    peerage("verify", "--dir", str(folder))


def test_a_plan_says_how_often_people_are_asked(folder: Path) -> None:
    said_so = " ".join(peerage("plan", "--max-matches", "12", "--dir", str(folder)).split())
    assert "The person me is to be asked some" in said_so
    assert "times in 12 matches" in said_so


@pytest.mark.parametrize(
    ("players", "words", "problem"),
    [
        (5, ["play"], "none of this arena's players is a person"),
        ([*house(4), "human:me", "human:you"], ["play"], "say who you are with --as: me, you"),
        ([*house(4), "human:me"], ["play", "--as", "mo"], "known: me"),
        (5, ["run", "--yes", "--player", "human:"], "names no model"),
        ([*house(4), "human:me"], ["run", "--yes", "--player", "human:p1"], "another player called 'p1'"),
    ],
)
def test_who_sits_down_is_told_what_is_wrong(
    tmp_path: Path, players: int | list[Any], words: list[str], problem: str
) -> None:
    write_arena(tmp_path, players, seed=None)
    assert problem in peerage(*words, "--dir", str(tmp_path), code=2)
