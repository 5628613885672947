"""What is shown of a match under way: what every contestant has been sent, and nothing else."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import paced, play_stopping_at, write_arena

from peerage.game.blocks import TaskText
from peerage.games import hides_turns
from peerage.ledger import Ledger, LedgerError, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.site.server.events import playing
from peerage.views.match.match import match_view
from peerage.views.match.under_way import UNDER_WAY, under_way

GAMES = {
    "tasks": {"rules": {"tasks": [{"prompt": "Name three tides."}]}, "judging": {"judges": 3}},
    "color-obfuscation": {"rules": {}},
    "challenge-exchange": {"rules": {"seats": 3, "proof": "blind", "attempts": 1}},
    "last-arena": {"rules": {"preset": "development", "seats": 4}},
}


@pytest.fixture(params=GAMES)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """An arena that was stopped while matches were under way."""
    game = request.param
    for seconds in (3.0, 6.0, 12.0, 24.0, 48.0):
        folder = tmp_path / str(seconds)
        write_arena(folder, game=game, **GAMES[game])  # type: ignore[arg-type]
        play_stopping_at(folder, 40, seconds, paced())
        opened = open_ledger("sqlite:///arena.db", folder, create=False)
        answered = [one for one in opened.exchanges(opened.heads()[1] + 1) if one.reply is not None]
        if len(answered) > 5:
            yield opened
            opened.close()
            return
        opened.close()
    raise AssertionError("nothing was under way")


def test_no_reply_no_player_and_nothing_drawn_is_shown(ledger: Ledger) -> None:
    issued, done = ledger.heads()
    texts = by_hex(ledger.texts())
    seen = 0
    for number in range(done + 1, issued + 1):
        found = under_way(ledger, number)
        assert found is not None
        assert found.status == UNDER_WAY
        shown = msgspec.json.encode(found).decode()
        fixture = read_fixture(next(ledger.fixtures(number, number)).body, texts)
        assert fixture.seed not in shown
        assert not [seat.player for seat in fixture.all_seats() if f'"{seat.player}"' in shown]
        for color in fixture.drawn.get("colors", ()):
            assert color not in shown, "each contestant hides a color of its own"
        replies = [read_reply(one).text for one in ledger.exchanges(number, number) if one.reply]
        assert found.answered == (None if hides_turns(fixture.game) else len(replies))
        assert not [text for text in replies if len(text) > 12 and text in "\n".join(found.sent)]
        seen += len(replies)
    assert seen


def strings(found: object) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list | tuple):
        for one in found.values() if isinstance(found, dict) else found:
            yield from strings(one)


def test_a_question_is_shown_once_all_contestants_have_it(tmp_path: Path) -> None:
    write_arena(tmp_path, game="tasks", **GAMES["tasks"])  # type: ignore[arg-type]
    play_stopping_at(tmp_path, 40, 3.0, paced())
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    issued, done = ledger.heads()
    shown = 0
    for number in range(done + 1, issued + 1):
        asked = {one.key for one in ledger.exchanges(number, number)}
        found = under_way(ledger, number)
        assert found is not None
        both = {"answer/A", "answer/B"} <= asked
        assert any("Name three tides." in text for text in found.sent) == both
        shown += both
    assert shown
    ledger.close()


def test_a_question_that_a_player_wrote_is_shown_by_itself(tmp_path: Path) -> None:
    write_arena(tmp_path, rules={"judges": 3, "committee": 2})
    play_stopping_at(tmp_path, 40, 6.0, paced())
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=False)
    issued, done = ledger.heads()
    shown = 0
    for number in range(done + 1, issued + 1):
        found = under_way(ledger, number)
        assert found is not None
        written = {
            read_reply(one).text
            for one in ledger.exchanges(number, number)
            if one.reply and one.key.startswith("question/")
        }
        asked = {one.key for one in ledger.exchanges(number, number)}
        assert bool(found.tasks) == ({"answer/A", "answer/B"} <= asked)
        assert {task.text for task in found.tasks} <= written
        shown += len(found.tasks)
    assert shown
    ledger.close()


def test_a_settled_match_is_told_elsewhere_and_one_never_issued_nowhere(ledger: Ledger) -> None:
    issued, done = ledger.heads()
    if done:
        assert under_way(ledger, done) is None
    with pytest.raises(LedgerError, match=f"no match {issued + 1} yet"):
        under_way(ledger, issued + 1)


def test_of_a_game_of_hidden_roles_nothing_tells_who_is_asked(tmp_path: Path) -> None:
    write_arena(tmp_path, game="werewolf", rules={"seats": 5}, players=5)
    seen: dict[int, set[int]] = {}
    for _ in range(4):
        play_stopping_at(tmp_path, 1, 3.0, paced())
        with closing(open_ledger("sqlite:///arena.db", tmp_path, create=False)) as ledger:
            if ledger.heads()[1]:
                break
            asked = len(list(ledger.exchanges(1, 1)))
            live, (row, *_) = under_way(ledger, 1), playing(ledger)
            assert live is not None
            assert (live.answered, live.waiting, live.began_ms) == (None, None, None)
            assert (row.waiting, row.since_ms) == (None, None)
            view = match_view(ledger, 1)
            assert (view.exchanges, view.seed, view.drawn) == ((), "", {})
            assert [block.text for block in view.blocks if isinstance(block, TaskText)] == list(live.sent)
            seen.setdefault(len(live.sent), set()).add(asked)
    assert max(map(len, seen.values())) > 1, "it went on, and nothing of that was shown"
