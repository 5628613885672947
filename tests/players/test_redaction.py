"""No key in what is told or published."""

from __future__ import annotations

import base64
import traceback
from collections.abc import Callable
from urllib.parse import quote

import pytest

from peerage.players.client import Answer, Later, PlayerError
from peerage.players.redaction import (
    _forms,
    hidden,
    keyless,
    named,
    named_failure,
    secrets_of,
    without_key,
    without_traceback,
)
from peerage.settings import PlayerSettings

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_forms_of_earlier_tests() -> None:
    _forms.cache_clear()


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
        (KEY, f"{KEY.upper()} {KEY.lower()} {KEY[::-1].upper()}", "[key] [key] [key]"),
        (KEY, f"{KEY.encode().hex()} {KEY.encode().hex().upper()}", "[key] [key]"),
        (KEY, KEY.encode().hex(":"), "[key]"),
        (KEY, "".join(f"\\x{byte:02x}" for byte in KEY.encode()), "\\x[key]"),
        (KEY, f"a {' '.join(KEY)} b", "a [key] b"),
        (KEY, f"{KEY[:9]}\u00a0\n{KEY[9:20]}\u200b{KEY[20:]}", "[key]"),
        (
            KEY,
            "\n".join(
                [base64.b64encode(KEY.encode()).decode()[:20], base64.b64encode(KEY.encode()).decode()[20:]]
            ),
            "[key]",
        ),
        ("aB3$xyz9", "AB3$XYZ9 and aB3$xyz9x", "[key] and aB3$xyz9x"),
        ("aB3$xyz9", b"aB3$xyz9".hex(), "[key]"),
        (KEY, "".join(f"%{ord(one):02X}" for one in KEY), "[key]"),
        (KEY, "".join(f"%{ord(one):02x}" for one in KEY[:9]) + KEY[9:], "[key]"),
        (SLASHED, quote(SLASHED, safe=""), "[key]"),
        ("pass>?>?", base64.b64encode(b"pass>?>?").decode(), "[key]"),
        ("pass>?>?", base64.urlsafe_b64encode(b"pass>?>?").decode(), "[key]"),
        ("key~~~~~~", base64.urlsafe_b64encode(b"key~~~~~~").decode(), "[key]"),
        ("half\ud800key", "%68alf\ud800key", "[key]"),
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


def test_an_address_without_secrets_holds_none() -> None:
    assert set(secrets_of("https://h/p")) == {""}


@pytest.mark.parametrize(("length", "whole"), [(600, True), (601, False), (9000, False)])
def test_a_failure_is_told_in_600_characters(length: int, whole: bool) -> None:
    said = "x" * (length - len("ada: "))
    told = str(named_failure(PlayerError(said), "ada", []))
    assert told == f"ada: {said}" if whole else told == f"ada: {'x' * (600 - len('ada: ') - 1)}…"


def test_a_failure_is_one_visible_line_that_names_its_player_once() -> None:
    assert str(named_failure(PlayerError("a\n\tb  c\x1b"), "ada", [])) == "ada: a b c\ufffd"
    assert str(named_failure(PlayerError("ada: gone"), "ada", [])) == "ada: gone"
    assert str(named_failure(PlayerError("ada gone"), "ada", [])) == "ada: ada gone"


def test_a_failure_stays_of_its_kind() -> None:
    failed = named_failure(PlayerError("x", kind="permanent", retry_after_s=2.5, maybe_paid=True), "ada", [])
    assert (failed.kind, failed.retry_after_s, failed.maybe_paid) == ("permanent", 2.5, True)
    later = named_failure(Later(f"asleep {KEY}", 1234), "ada", [KEY])
    assert isinstance(later, Later)
    assert (str(later), later.until_ms) == ("ada: asleep [key]", 1234)


@pytest.mark.parametrize(
    ("secret", "said", "left"),
    [
        ("abcde", "abcde", "abcde"),
        ("abcdef", "abcdef", "[key]"),
        ("0123456789abcdef", "cut: 0123456789abc, 789abcdef, 6789abcdef", "cut: [key], 789abcdef, [key]"),
        ("0123456789abcde", "cut: 0123456789abc", "cut: 0123456789abc"),
        ("0123456789abcdef", "0123456789abX, 012345678", "[key]X, 012345678"),
        ("0123456789abcdef", "X6789abcdef56789abcdef.", "X[key][key]."),
    ],
)
def test_what_is_too_short_to_be_a_key_or_a_part_of_one_is_left(secret: str, said: str, left: str) -> None:
    assert hidden(said, [secret]) == left
    assert hidden(said, ["another-key-of-some-length", secret]) == left


class Failing:
    """A client as `named` knows one."""

    def __init__(self, result: Answer | Exception | str) -> None:
        self._settings = PlayerSettings(model="house:0.5", name="ada", timeout_s=90)
        self._secrets = (KEY,)
        self.result = result

    @named
    async def answer(self, question: str) -> Answer | str:
        """Answer."""
        assert question == "why"
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


async def test_a_client_s_failures_name_its_player_and_its_answers_tell_no_key() -> None:
    assert await Failing(Answer(KEY, 0.1)).answer("why") == Answer("[key]", 0.1)
    assert await Failing(KEY).answer("why") == KEY, "no answer of a model"
    with pytest.raises(PlayerError, match=r"^ada: no reply within 90 s$") as late:
        await Failing(TimeoutError()).answer("why")
    assert late.value.maybe_paid
    assert late.value.__suppress_context__, "a traceback would tell the key"
    with pytest.raises(PlayerError, match=r"^ada: bad \[key\]$") as failed:
        await Failing(PlayerError(f"bad {KEY}")).answer("why")
    assert not failed.value.maybe_paid
    with pytest.raises(ZeroDivisionError):
        await Failing(ZeroDivisionError()).answer("why")
    assert (Failing.answer.__name__, Failing.answer.__doc__) == ("answer", "Answer.")


def _raised(cause: Exception | None, error: Exception) -> str:
    try:
        try:
            raise cause or error
        except KeyError as first:
            raise error from first
    except Exception:
        return traceback.format_exc()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no key\nat all"), "ValueError: no key at all"),
        (ExceptionGroup("g", [ValueError("y")]), "ExceptionGroup: g (1 sub-exception) ValueError: y"),
    ],
)
@pytest.mark.parametrize("cause", [None, KeyError("z")])
@pytest.mark.parametrize("before", ["the provider failed (500): ", "a log\n"])
def test_a_traceback_is_told_as_its_last_words(
    error: Exception, told: str, cause: Exception | None, before: str
) -> None:
    """As a server or a program may send one, whatever it says before."""
    said = str(named_failure(PlayerError(before + _raised(cause, error)), "p", ()))
    assert said.startswith(" ".join(f"p: {before}{told} (test_redaction.py, line ".split()))
    assert "File" not in said
    assert "Traceback" not in said


def test_a_traceback_cut_at_its_head_is_found_too_and_other_words_stay() -> None:
    whole = _raised(None, ValueError("no key"))
    cut = whole[whole.index("  File") :]
    assert without_traceback(cut).startswith("ValueError: no key (")
    for text in ("", "Traceback (most recent call last):", 'see File "x", line 2', "  | a table\n  + b"):
        assert without_traceback(text) == text
