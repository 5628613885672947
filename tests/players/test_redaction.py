"""No key in what is told or published."""

from __future__ import annotations

import base64
from collections.abc import Callable
from urllib.parse import quote

import pytest

from peerage.players.client import Answer, PlayerError
from peerage.players.redaction import keyless, named_failure, secrets_of, without_key

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


BANANA = "banana"
SLASHED = "Ab+/c d:9xé-_~0123"


@pytest.mark.parametrize(
    ("secret", "text", "left"),
    [
        (BANANA, "two bananas, a BANANA and unbanana", "two bananas, a BANANA and unbanana"),
        (BANANA, "banana; (banana) 'banana' x=banana&y", "[key]; ([key]) '[key]' x=[key]&y"),
        (BANANA, "%22banana%22 and ananab, ananabs", "%22[key]%22 and [key], ananabs"),
        (BANANA, f"{base64.b64encode(BANANA.encode()).decode()}.", "[key]."),
        (KEY, f"x{KEY}y", "x[key]y"),
        (KEY, KEY[::-1], "[key]"),
        (KEY, "".join(f"%{ord(one):02X}" for one in KEY), "[key]"),
        (KEY, "".join(f"%{ord(one):02x}" for one in KEY[:9]) + KEY[9:], "[key]"),
        (SLASHED, quote(SLASHED, safe=""), "[key]"),
        (SLASHED, quote(SLASHED), "[key]"),
        (SLASHED, f"https://h/?k={quote(SLASHED)[::1]}&z=1", "https://h/?k=[key]&z=1"),
    ],
)
def test_every_form_of_a_key_is_found_and_words_that_hold_a_short_one_are_left(
    secret: str, text: str, left: str
) -> None:
    assert without_key(text, secret) == left


@pytest.mark.parametrize("secret", [KEY, SLASHED, "k" * 16, "0123456789abcdef?>"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("ahead", ["", "a", "ab", "abc", "user:", "Authorization: Bearer "])
@pytest.mark.parametrize("behind", ["", "x", "yz"])
def test_a_key_is_found_in_base64_wherever_it_begins(
    secret: str, code: Callable[[bytes], bytes], ahead: str, behind: str
) -> None:
    coded = code((ahead + secret + behind).encode()).decode()
    left = without_key(coded, secret)
    assert "[key]" in left
    known = left.replace("[key]", "")
    assert len(known) <= len(base64.b64encode((ahead + behind).encode())) + 8, "all but the ends is gone"


def test_what_an_address_holds_is_a_secret_too() -> None:
    assert set(secrets_of("https://me:hunter22@h/p?token=abcdefgh&n=1")) == {
        "hunter22", "token=abcdefgh&n=1", "abcdefgh", "1",
    }  # fmt: skip
    assert keyless(Answer("try hunter22", 0.1), secrets_of("http://u:hunter22@h")).text == "try [key]"
