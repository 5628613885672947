"""Trials of programs: one run for each test; what it prints is compared here, outside the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from peerage.game.blocks import Block, CellMark, Grid, Heading, Replies, SourceCode, Tone, quoted
from peerage.game.match import Seat
from peerage.game.protocol import Ask, Ran, Reply, Run, Steps, Together
from peerage.game.same_tasks import asked_alike

Test: TypeAlias = tuple[str, str]
"""Input of a program from stdin, and the output it must print."""

NOT_RUN = "not run"
_LIMITS = ("timeout", "fuel", "memory", "output")


def tried(
    seats: Sequence[Seat], asks: Sequence[Ask], tests: Sequence[Sequence[Test]]
) -> Steps[dict[str, list[tuple[Reply, tuple[str, ...]]]]]:
    """Ask every seat for a program by each of `asks` and try it on the `tests` of the same place: replies
    with the tests' verdicts, none for one without a program, by label.

    `asks` are addressed to nobody. Of fewer than two seats nothing is left, and then nothing is run.
    """
    came = yield from asked_alike(seats, asks)
    trials = {
        f"{label}/{at}": trial(reply.value, tests[at])
        for label, replies in came.items()
        for at, reply in enumerate(replies)
        if reply.ok
    }
    verdicts: Mapping[str, tuple[str, ...]] = (yield Together(trials)) if trials else {}
    return {
        label: [(reply, verdicts.get(f"{label}/{at}", ())) for at, reply in enumerate(replies)]
        for label, replies in came.items()
    }


def trial(source: str, tests: Sequence[Test]) -> Steps[tuple[str, ...]]:
    """Run `source` on every test; each test's verdict, in order.

    A verdict is passed, wrong, or how the run ended (error, timeout, fuel, memory, output). A program that
    meets a limit in the first test is not run on the others and fails them. The expected output stays here.
    """
    first = yield Run("test/1", source, tests[0][0] + "\n")
    verdicts = [_verdict(first, tests[0])]
    if verdicts[0] in _LIMITS:
        return (*verdicts, *[NOT_RUN] * (len(tests) - 1))
    others: list[Reply] = yield [
        Run(f"test/{at}", source, given + "\n") for at, (given, _) in enumerate(tests[1:], 2)
    ]
    return (*verdicts, *map(_verdict, others, tests[1:]))


def _verdict(reply: Reply, test: Test) -> str:
    ran: Ran = reply.value
    if ran.status != "ok":
        return ran.status
    return "passed" if same_output(ran.stdout, test[1]) else "wrong"


def same_output(printed: str, expected: str) -> bool:
    """Equal but for white space at the end of lines and of the whole."""
    return _lines(printed) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


# -------------------------------------------------------------------------------------------------- shown


MOST = 120
"""Characters of a test's input and output that are shown."""


def programs_shown(key: str, programs: Mapping[str, Any], replies: Replies) -> Iterator[Block]:
    """Yield what every seat wrote under KEY/LABEL; `programs` hold the bytes and the result of each, by
    label."""
    for name, reply in replies.items():
        if name != f"{key}/{reply.label}":
            continue
        if not isinstance(reply.value, str):
            yield quoted(reply)
            continue
        program = programs.get(reply.label, {})
        tone: Tone = "good" if program.get("result") == "correct" else "bad"
        note = f"{program['bytes']:,} bytes" if program.get("bytes") is not None else ""
        yield SourceCode(reply.value, reply.label, reply.key, program.get("result", ""), tone, note)


def verdict_marks(verdicts: Sequence[str], opens: str) -> Iterator[CellMark]:
    """Yield a mark for each verdict of a program: what else went wrong than what it printed, in a word. They
    lead to the anchor `opens`."""
    for verdict in verdicts:
        text = {"passed": "✓", "wrong": "✗"}.get(verdict, verdict)
        yield CellMark(text, "good" if verdict == "passed" else "bad", verdict, opens)


def hidden_tests(
    tests: Sequence[Sequence[str]], anchor: str, bugs: Mapping[int, str] | None = None
) -> Iterator[Block]:
    """Yield the hidden tests, to be looked up; `bugs` says which bug a test shows, by its place."""
    rows = []
    for place, test in enumerate(tests):
        shows = [] if bugs is None else [bugs.get(place, "what was right")]
        rows.append((str(place + 1), *map(_short, test), *shows))
    yield Heading("The hidden tests", anchor=anchor, closed=True)
    yield Grid(("Test", "Input", "Output", *["Shows"] * (bugs is not None)), tuple(rows))


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}…"
