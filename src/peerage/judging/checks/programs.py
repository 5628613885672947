"""Programs of the owner that check answers, run in a sandbox: what is run, and what comes back. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

import msgspec

from peerage.game.protocol import Ran
from peerage.judging.checks.credit import Credit
from peerage.values.texts import storable

PROGRAM_FAILED = ("the check raised ", "the check gave ", "the check crashed", "the check ended ")
"""Beginnings of the notes on answers on which a program failed."""
BEGUN = "\n"
"""The line that the program prints once the function is there: later failures are due to the answer."""


def program(sources: Mapping[str, str], named: str) -> str:
    """Return the program that runs `file.py:function` of these sources by file: it reads the answer, what is
    expected and the task as JSON, and prints credit and note. What the function prints
    goes to standard error."""
    file, _, function = named.rpartition(":")
    harness = files(__package__).joinpath("run_check.txt").read_text("utf-8")
    texts = {"SOURCE": sources.get(file, ""), "FILE": file, "FUNCTION": function}
    return re.sub("SOURCE|FILE|FUNCTION", lambda name: repr(texts[name[0]]), harness)


def credit_of(ran: Ran) -> Credit | None:
    """Return the credit that such a program gave; None where it cannot be run or gave none from 0 to 1. An
    answer on which the function fails, gives no such credit, or ends at a limit, has credit 0: else an answer
    could get out of its check."""
    if ran.status in ("timeout", "fuel", "memory", "output"):
        return Credit(0.0, f"the check ended at its limit of {ran.status}")
    if not ran.stdout.startswith(BEGUN):
        return None
    try:
        credit, note = msgspec.json.decode(ran.stdout, type=tuple[float, str])
    except (msgspec.MsgspecError, RecursionError):
        return Credit(0.0, "the check crashed")
    if ran.status != "ok":
        return Credit(0.0, "the check crashed")
    if 0 <= credit <= 1:
        return Credit(credit, storable(note))
    return Credit(0.0, f"the check gave {credit:g}; a number from 0 to 1 was expected")
