"""Vision: pictures of a match and their bytes, what counts as right, what is drawn once and never again."""

import io
import sys
from base64 import b64decode
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec
import pytest
from tests.engine.arenas import ledger_of, write_arena
from tests.engine.arenas import play as play_arena
from tests.offline import fixture, house, play, scripted

from peerage.engine.again.replay import replay
from peerage.game.match import Outcome
from peerage.game.media import media_in, with_marks
from peerage.game.protocol import Ask, Reply, render
from peerage.games.vision import GAME
from peerage.games.vision.picture import COLORS, PALETTE, SIDE
from peerage.games.vision.play import FAMILIES, FORMAT, VisionAnswer, VisionTask
from peerage.standings.verify import verify

PLAYERS = [f"p{at}" for at in range(10)]
image = pytest.importorskip("PIL.Image")


def tasks(number: int = 1, **rules: Any) -> list[VisionTask]:
    return msgspec.convert(GAME.draw(GAME.rules(**rules), "secret", number)["tasks"], list[VisionTask])


def body(task: VisionTask) -> bytes:
    kind, _, data = task.picture.partition(",")
    assert kind == "data:image/png;base64"
    return b64decode(data)


def chunks(png: bytes) -> list[bytes]:
    """The names of a PNG's chunks."""
    found, at = [], 8
    while at < len(png):
        found.append(png[at + 4 : at + 8])
        at += 12 + int.from_bytes(png[at : at + 4])
    return found


@pytest.mark.parametrize("level", [1, 5, 8, 10])
def test_pictures_are_small_and_hold_nothing_but_pixels(level: int) -> None:
    for task in tasks(tasks=6, difficulty=level):
        png = body(task)
        with image.open(io.BytesIO(png)) as picture:
            assert max(picture.size) <= SIDE
            assert picture.format == "PNG"
            assert picture.info == {}
        assert {*chunks(png)} == {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
        assert len(png) < 75_000 if level == 10 else len(png) < 60_000


def test_the_same_secret_gives_the_same_bytes_and_another_match_others() -> None:
    assert tasks(3) == tasks(3)
    drawn = [task.picture for number in range(1, 5) for task in tasks(number)]
    assert len({*drawn}) == len(drawn)


@pytest.mark.parametrize("family", ["chart", "shapes"])
def test_colors_come_out_as_they_are_named(family: str) -> None:
    """Each pixel has a color of ours, or half of it, at an edge; all charts show the lines of their scale."""
    ours = {tuple(PALETTE[at : at + 3]) for at in range(0, len(PALETTE), 3)}
    exactly = {name: tuple(int(code[at : at + 2], 16) for at in (1, 3, 5)) for name, code in COLORS.items()}
    for number in range(3):
        drawn = cast(VisionTask, FAMILIES[family](Random(number), 10)).picture
        with image.open(io.BytesIO(b64decode(drawn.data_url().partition(",")[2]))) as picture:
            counted = {color: many for many, color in picture.convert("RGB").getcolors(999)}
        assert counted.keys() <= ours
        for name in {shape.color for shape in drawn.shapes}:
            assert counted[exactly[name]] > 300, name


def outcome_of(seats: int, right: dict[str, int | Reply]) -> Outcome:
    """A match of five tasks of which each seat answers so many, from the first."""
    match = fixture(GAME, PLAYERS, {"seats": seats, "tasks": 5, "difficulty": 1})

    def answer(ask: Ask, player: str) -> str | Reply:
        many, at = right[ask.to], int(ask.key.split("/")[1])
        if isinstance(many, Reply):
            return many
        return ask.expects.write(
            VisionAnswer("", match.drawn["tasks"][at - 1]["answer"] if at <= many else "?")
        )

    return play(GAME, match, scripted(answer)).outcome


def test_who_answers_more_ranks_higher_and_equals_tie() -> None:
    outcome = outcome_of(5, {"A": 3, "B": 5, "C": 3, "D": 0, "E": Reply("ok", "I pass")})
    assert outcome.scores == {"B": 1, "A": 0.625, "C": 0.625, "D": 0.125, "E": 0.125}
    assert outcome.detail["solved"]["A"] == [True, True, True, False, False]


def test_a_lost_contestant_is_unranked_and_one_alone_is_no_match() -> None:
    assert outcome_of(3, {"A": 1, "B": 2, "C": Reply("void")}).scores == {"B": 1, "A": 0}
    assert outcome_of(2, {"A": 1, "B": Reply("void")}).void == "no_answer"


def test_a_whole_number_may_be_written_as_one() -> None:
    assert FORMAT.parse('{"working": "", "answer": 12}').answer == 12


def test_families_are_as_many_as_there_are_and_a_setting_chooses_them() -> None:
    assert {task.family for task in tasks(tasks=6)} == {*FAMILIES}
    assert {task.family for task in tasks(families=["clock", "table"])} == {"clock", "table"}


def test_each_request_holds_the_question_and_one_picture() -> None:
    match = fixture(GAME, PLAYERS, {"seats": 2})
    played = play(GAME, match, house(dict.fromkeys(PLAYERS, "house:0.9")))
    marks = [task["picture"] for task in match.drawn["tasks"]]
    for step in played.steps:
        shown = media_in([render(step.ask.messages[-1], "fence")])
        at = int(step.ask.key.split("/")[1]) - 1
        assert [media.mark for media in shown.values()] == [marks[at]]
        assert "base64" not in str(step.ask.messages)


def test_what_is_on_record_is_played_and_shown_without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    match = fixture(GAME, PLAYERS, {"seats": 3})
    players = house(dict.fromkeys(PLAYERS, "house:0.9"))
    before = play(GAME, match, players)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError):
        tasks()
    again = play(GAME, match, players)
    assert again.outcome == before.outcome
    blocks = [*GAME.show(match, again.outcome, {})]
    assert sum(bool(media_in([getattr(block, "text", "")])) for block in blocks) == 8


def test_marks_take_the_place_of_pictures_only() -> None:
    drawn = GAME.draw(GAME.rules(), "secret", 1)
    marked, media = with_marks(drawn)
    assert len(media) == 8
    for before, after in zip(drawn["tasks"], marked["tasks"], strict=True):
        assert {**before, "picture": ""} == {**after, "picture": ""}
        assert media_in([after["picture"]]).keys() <= media.keys()


def test_a_run_whose_levels_follow_the_players_keeps_pictures_and_replays_without_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arena(tmp_path, 4, game="vision", rules={"seats": 4, "tasks": 2})
    play_arena(tmp_path, 3)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with closing(ledger_of(tmp_path)) as ledger:
        found = verify(ledger)
        assert (found.problems, found.media.number, found.media.missing) == ((), 6, 0)
        assert replay(ledger).ok
