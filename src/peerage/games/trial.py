"""A program's trial: one run for each test; what it prints is compared here, outside the sandbox."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from peerage.challenges.golf import Test, same_output
from peerage.protocol import Ran, Reply, Run, Steps

NOT_RUN = "not run"
_LIMITS = ("timeout", "fuel", "memory", "output")


class TrialRules(Struct, frozen=True):
    """What one run may use; see `protocol.Run`."""

    fuel: int
    memory: int
    seconds: float


def trial(source: str, tests: Sequence[Test], rules: TrialRules) -> Steps[tuple[str, ...]]:
    """Run `source` on every test; each test's verdict, in order.

    A verdict is passed, wrong, or how the run ended (error, timeout, fuel, memory, output). A program that
    meets a limit in the first test is not run on the others, which it then fails. What is
    expected stays here.
    """
    first = yield _run(1, source, tests[0], rules)
    verdicts = [_verdict(first, tests[0])]
    if verdicts[0] in _LIMITS:
        return (*verdicts, *[NOT_RUN] * (len(tests) - 1))
    others: list[Reply] = yield [_run(at, source, test, rules) for at, test in enumerate(tests[1:], 2)]
    return (*verdicts, *map(_verdict, others, tests[1:]))


def _run(at: int, source: str, test: Test, rules: TrialRules) -> Run:
    return Run(
        f"test/{at}", source, test[0] + "\n", fuel=rules.fuel, memory=rules.memory, seconds=rules.seconds
    )


def _verdict(reply: Reply, test: Test) -> str:
    ran: Ran = reply.value
    if ran.status != "ok":
        return ran.status
    return "passed" if same_output(ran.stdout, test[1]) else "wrong"
