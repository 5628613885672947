"""What people are asked, kept between processes: in turn, replied to once, late when their time is up."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from peerage.formats import Choice, Text
from peerage.game.protocol import Speaker
from peerage.players.people.requests import LONGEST, Closed, People, PeopleError, Request

HOUR = 3_600_000


def request(key: str, seed: str = "s1", player: str = "me", limit_ms: int = HOUR) -> Request:
    asked: list[tuple[Speaker, str]] = [("user", f"Question {key}")]
    return Request.of(seed, key, player, "judge", asked, Choice("v", ("A", "B")), limit_ms)


@pytest.fixture
def people(tmp_path: Path) -> People:
    return People(tmp_path)


def test_one_request_at_a_time_is_a_persons_turn_the_first_asked_first(people: People) -> None:
    assert people.turn("me", 0) is None
    assert not people.path.exists(), "to look makes no file"
    for at, key in enumerate(("a", "b", "c")):
        told = people.ask(request(key), at)
        assert (told.state, told.until_ms) == ("open", HOUR if key == "a" else None)
    people.ask(request("z", player="you"), 5)
    turn = people.turn("me", 10)
    assert turn is not None
    assert (turn.request, turn.until_ms, turn.behind) == (request("a"), HOUR, 2)
    people.reply("me", turn.request.id, "A", 20)
    turn = people.turn("me", 30)
    assert turn is not None
    assert (turn.request, turn.until_ms, turn.behind) == (request("b"), HOUR + 30, 1)


def test_a_reply_counts_once_and_the_first_one(people: People) -> None:
    asked = request("a")
    people.ask(asked, 0)
    people.turn("me", 500, shown=True)
    people.reply("me", asked.id, "A", 2_500)
    with pytest.raises(Closed, match="replied to before"):
        people.reply("me", asked.id, "B", 2_600)
    told = people.ask(asked, 9_000)
    assert (told.state, told.text, told.seconds) == ("replied", "A", 2.0)
    with pytest.raises(Closed):
        people.reply("you", asked.id, "B", 0)


def test_of_many_replies_at_once_one_counts(people: People) -> None:
    asked = request("a")
    people.ask(asked, 0)

    def say(text: str) -> bool:
        try:
            people.reply("me", asked.id, text, 1)
        except Closed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(say, map(str, range(24))))
    assert taken.count(True) == 1
    assert people.ask(asked, 2).text == str(taken.index(True))


def test_when_the_time_is_up_there_is_no_reply_and_the_next_has_its_whole_time(people: People) -> None:
    first, second = request("a"), request("b")
    people.ask(first, 0)
    people.ask(second, 0)
    assert people.ask(first, HOUR).state == "open", "up to the last moment"
    with pytest.raises(Closed, match="its time was up"):
        people.reply("me", first.id, "A", HOUR + 1)
    told = people.ask(first, HOUR + 1)
    assert (told.state, told.seconds) == ("late", HOUR / 1000)
    turn = people.turn("me", HOUR + HOUR // 2)
    assert turn is not None
    assert (turn.request.id, turn.until_ms) == (second.id, 2 * HOUR + 1), "its turn began when looked at"


def test_declining_is_a_reply_of_its_own(people: People) -> None:
    asked = request("a")
    people.ask(asked, 0)
    people.reply("me", asked.id, None, 1)
    assert people.ask(asked, 2).state == "declined"


def test_what_is_over_is_forgotten(people: People) -> None:
    for seed in ("s1", "s2"):
        people.ask(request("a", seed), 0)
    people.forget("me", [request("a", "s1").match])
    assert people.matches("me") == {request("a", "s2").match}
    with pytest.raises(Closed, match="its match is over"):
        people.reply("me", request("a", "s1").id, "A", 1)


def test_a_reply_of_any_length_is_taken_or_refused_whole(people: People) -> None:
    asked = Request.of("s", "k", "me", "author", [("user", "?")], Text(LONGEST), HOUR)
    people.ask(asked, 0)
    with pytest.raises(PeopleError, match="200,001 characters; at most 200,000"):
        people.reply("me", asked.id, "x" * (LONGEST + 1), 1)
    people.reply("me", asked.id, "é" * LONGEST, 1)
    assert people.ask(asked, 2).text == "é" * LONGEST


def test_the_match_key_is_not_written_and_others_read_nothing(people: People) -> None:
    seed = "0123456789abcdef0123456789abcdef"
    people.ask(request("a", seed), 0)
    assert seed.encode() not in people.path.read_bytes()
    if os.name == "posix":
        assert stat.S_IMODE(people.path.stat().st_mode) == 0o600


def test_a_killed_process_loses_no_reply_that_was_taken(people: People) -> None:
    asked = request("a")
    people.ask(asked, 0)
    program = (
        "import os, sys; from pathlib import Path; from peerage.players.people.requests import People\n"
        f"People(Path({str(people.path.parent)!r})).reply('me', {asked.id!r}, 'A', 1)\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode != 0
    assert people.ask(asked, 2).text == "A"


def test_a_file_that_cannot_be_used_is_an_error_in_words(people: People) -> None:
    people.path.write_bytes(b"no database at all" * 100)
    for do in (lambda: people.turn("me", 0), lambda: people.ask(request("a"), 0)):
        with pytest.raises(PeopleError, match=r"people\.db cannot be used"):
            do()
