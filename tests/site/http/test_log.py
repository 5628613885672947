"""What repeats is logged once a minute, and what is new at once."""

from __future__ import annotations

import logging
import sys

import pytest

from peerage.site.http import log as server_log
from peerage.site.http.log import OnceAMinute, bounded


def record(
    message: str, *values: object, line: int = 1, at: float = 0.0, fault: bool = False
) -> logging.LogRecord:
    made = logging.LogRecord("peerage", logging.WARNING, "x.py", line, message, values, None)
    if fault:
        try:
            raise ValueError
        except ValueError:
            made.exc_info = sys.exc_info()
    made.created = at
    return made


def test_of_a_kind_one_passes_each_minute_and_says_how_many_did_not() -> None:
    once = OnceAMinute()
    passed = [once.filter(record("%s failed", at, at=at)) for at in range(1_000, 1_060)]
    assert passed == [True] + [False] * 59
    late = record("%s failed", "this", at=1_060)
    assert once.filter(late)
    assert late.getMessage() == "this failed (59 more like it since the last line)"
    last = record("%s failed", "this", at=1_130)
    assert once.filter(last)
    assert last.getMessage() == "this failed"


def test_what_is_different_passes() -> None:
    once = OnceAMinute()
    assert once.filter(record("one"))
    assert once.filter(record("two"))
    assert once.filter(record("one", line=2))
    assert once.filter(record("one", fault=True))
    assert not once.filter(record("one\nwith other details"))


def test_kinds_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log, "MOST_KINDS", 10)
    once = OnceAMinute()
    for line in range(100):
        assert once.filter(record("x", line=line))
    assert len(once._kinds) == 10


def test_a_server_that_ended_leaves_the_log_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("peerage")

    def said_twice() -> list[str]:
        caplog.clear()
        for number in (1, 2):
            log.warning("said %d", number)
        return caplog.messages

    with bounded():
        assert said_twice() == ["said 1"]
    assert said_twice() == ["said 1", "said 2"]
