"""Where keys come from, and to whom they belong."""

from pathlib import Path

import pytest

from peerage.players.keys import extra_of, find_key, found_keys, key_place
from peerage.settings import PlayerSettings
from peerage.values.environment import environment


def test_the_environment_goes_before_the_file_and_nothing_is_interpolated(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# keys\nexport OPENAI_API_KEY='from file'\nGROQ_API_KEY=a${HOME}b\nEMPTY=\nXAI_API_KEY=file\n"
    )
    assert environment(tmp_path, {"XAI_API_KEY": "set", "HOME": "/h"}) == {
        "OPENAI_API_KEY": "from file",
        "GROQ_API_KEY": "a${HOME}b",
        "XAI_API_KEY": "set",
        "HOME": "/h",
    }
    assert environment(tmp_path / "absent", {"A": "b"}) == {"A": "b"}


def test_found_keys_name_the_variable_and_ignore_blanks() -> None:
    env = {"GEMINI_API_KEY": "g", "OPENAI_API_KEY": " ", "HF_TOKEN": "h"}
    assert found_keys(env) == {"google": "GEMINI_API_KEY", "huggingface": "HF_TOKEN"}


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ({"model": "openai:a"}, "o"),
        ({"model": "openai:a", "key_env": "MINE"}, "m"),
        ({"model": "openai:a", "base_url": "http://h/v1"}, ""),
        ({"model": "openai:a", "base_url": "http://h/v1", "key_env": "MINE"}, "m"),
        ({"model": "google:a"}, "g"),
        ({"model": "house:0.5"}, ""),
        ({"model": "http://h/agent"}, ""),
    ],
)
def test_which_key_goes_where(stated: dict[str, str], key: str) -> None:
    env = {"OPENAI_API_KEY": "o", "MINE": "m", "GEMINI_API_KEY": "g"}
    assert find_key(PlayerSettings(**stated), env) == key  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "extra"),
    [
        ("openai:a", "models"),
        ("anthropic:a", "anthropic"),
        ("google:a", "google"),
        ("gguf:model.gguf", "local"),
        ("http://h/agent", "models"),
        ("https://h/agent", "models"),
        ("house:0.5", ""),
        ("command:run", ""),
    ],
)
def test_which_extra_a_player_needs(model: str, extra: str) -> None:
    assert extra_of(PlayerSettings(model=model)) == extra


def test_the_place_of_a_key_is_the_first_variable_that_holds_one() -> None:
    google = PlayerSettings(model="google:a")
    assert key_place(google, {"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}) == "GOOGLE_API_KEY"
    assert key_place(google, {"GOOGLE_API_KEY": " ", "GEMINI_API_KEY": "b"}) == "GEMINI_API_KEY"
    assert key_place(google, {"OPENAI_API_KEY": "o"}) == ""
    assert find_key(google, {"GEMINI_API_KEY": " b\n"}) == "b"
    assert found_keys({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}) == {"google": "GOOGLE_API_KEY"}
