import json

import pytest
from tests.golden.transcripts import HERE, MATCHES, path, transcript

from peerage.games import GAMES


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_recorded(name: str) -> None:
    recorded = json.loads(path(name).read_text(encoding="utf-8"))
    played = transcript(name)
    hint = "if this is meant, raise the game's version and run `python -m tests.golden.transcripts`"
    assert [step["key"] for step in played["steps"]] == [step["key"] for step in recorded["steps"]], hint
    for found, expected in zip(played["steps"], recorded["steps"], strict=True):
        assert found == expected, hint
    assert played == recorded, hint


def test_every_game_has_a_transcript_and_no_file_is_left_over() -> None:
    assert {game for game, _, _ in MATCHES.values()} == set(GAMES)
    assert {file.stem for file in HERE.glob("*.json")} == set(MATCHES)
