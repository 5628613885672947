"""No key in what is told or published."""

from __future__ import annotations

import pytest

from peerage.players.client import Answer, PlayerError
from peerage.players.named import keyless, named_failure

KEY = "sk-canary-0123456789abcdef"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"bad key {KEY}!", "bad key [key]!"),
        (f"cut in the middle of it: {KEY[:20]}", "cut in the middle of it: [key]"),
        (f"{KEY[-20:]} is how the end of a log begins", "[key] is how the end of a log begins"),
        (f"{KEY[:15]} and {KEY} and {KEY[-12:]}", "[key] and [key] and [key]"),
        (f"{KEY[:15]}{KEY[:15]}", "[key][key]"),
        ("keys begin with sk-can", "keys begin with sk-can"),
    ],
)
def test_no_failure_tells_a_key_nor_a_part_of_it(said: str, told: str) -> None:
    assert str(named_failure(PlayerError(said), "ada", [KEY, ""])) == f"ada: {told}"


def test_placeholders_are_no_secrets() -> None:
    assert str(named_failure(PlayerError("none of it"), "ada", ["none"])) == "ada: none of it"


def test_a_reply_that_repeats_its_key_is_published_without_it() -> None:
    answer = Answer(f'{{"reason": "{KEY}"}}', 0.1, snapshot=f"m-{KEY}", cost_usd=1.0)
    assert keyless(answer, [KEY]) == Answer('{"reason": "[key]"}', 0.1, snapshot="m-[key]", cost_usd=1.0)
    assert keyless(answer, ["", "none", "another key"]) is answer
