"""Stories of matches, and what they become as markup."""

from __future__ import annotations

from html import escape
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from tests.engine.arenas import house, play, write_arena
from tests.engine.clients import Cast
from tests.site.arenas import EVIL
from tests.tables.test_leaderboard import copied

from peerage.players.client import Call, PlayerError
from peerage.protocol import visible
from peerage.site.reading import Site
from peerage.site.steps import head, numbers, shown, stages
from peerage.site.story import Story


@given(st.text() | st.text("&<>\"'\u202e\n\x1ba"))
@example(EVIL)
def test_what_is_shown_is_escaped_and_visible(text: str) -> None:
    assert shown(text) == escape(visible(text))


def test_matches_that_are_held_are_told_as_they_are_read(pages: Site) -> None:
    def told(first: int, last: int) -> list[str]:
        return [stages(story) + numbers(story, {}) for story in pages.reader.stories(first, last)]

    wanted = {span: told(*span) for span in ((1, 5), (3, 7), (7, 12), (9, 14))}
    pages.reader.hold(3, 12)
    assert {span: told(*span) for span in wanted} == wanted
    assert pages.reader.matches(4, 4) == [story.match for story in pages.reader.stories(4, 4)]


def test_of_several_attempts_the_answered_one_is_told(tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena", house(6))
    play(folder, 1)
    again = (
        "INSERT INTO intents (match, key, attempt, player, worst_nano, checksum, body) "
        "SELECT match, key, 2, player, worst_nano, checksum, body FROM intents WHERE id = {}"
    )
    copy = copied(folder, tmp_path / "copy", again.format(2), "DELETE FROM replies WHERE intent = 2")
    answered = copied(folder, tmp_path / "answered", again.format(2))
    first, second = [_only(at) for at in (copy, answered)]
    assert [step.status for step in first.steps.values()].count("waiting") == 1
    assert "waiting" not in [step.status for step in second.steps.values()]
    for story in (first, second):
        assert "2 attempts" in stages(story)
        assert stages(story).count("attempts") == 1


def _only(folder: Path) -> Story:
    site = Site.open(folder)
    (story,) = site.reader.stories(1, 1)
    site.close()
    return story


def test_a_player_without_whom_a_match_went_on_is_told_as_unranked(tmp_path: Path) -> None:
    def down(call: Call, _: int) -> PlayerError | None:
        return PlayerError("down", kind="request") if call.key.split("/")[1] == "B" else None

    rules = {"preset": "development", "questions": 2, "quality": "none", "judgements_per_call": 1}
    folder = write_arena(tmp_path, house(4), game="last-arena", rules=rules)
    play(folder, 1, clients=Cast(down))
    story = _only(folder)
    (lost,) = [seat.player for seat in story.match.fixture.seats if seat.label == "B"]
    assert story.unranked == [lost]
    assert story.contestants[-1].player == lost
    assert f"({lost} is unranked: the provider failed)" in story.verdict
    assert head(story).count("unranked</span>") == 1
