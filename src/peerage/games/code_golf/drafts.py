"""Tasks for programs that a player wrote, proven by its own solution. Pure.

    author   > {"statement": "…", "generator": "…", "solution": "…"}                      (task/1)
    sandbox  > one input for each of some numbers                                         (task/1/input/1, …)
    sandbox  > what the solution prints for each of them                                  (task/1/output/1, …)

The author never learns which numbers its generator is given, so it knows neither the examples nor the hidden
tests. A draft stands when the generator makes enough different inputs and the solution answers each of them,
not always alike. An author whose draft does not stand is followed by the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Annotated

from msgspec import Meta, Struct

from peerage.challenges.drafting import Draft
from peerage.formats import Json, visible
from peerage.games.code_golf.tasks import Task, solutions
from peerage.games.numbers import drawn, line, statement
from peerage.games.run_tests import Test
from peerage.games.texts import texts
from peerage.match import Seat
from peerage.protocol import Prompt, Ran, Reply, Run, Steps
from peerage.sandbox.program import environment

INPUT_CHARS, OUTPUT_CHARS = 1_000, 2_000
"""The longest input that a generator may make, and the longest right answer."""
_SPARE = 2
"""Numbers given to a generator for each input that is needed: some inputs may turn up twice."""
_NUMBERS = 10**9

WRITE: Prompt = texts(__package__)["write"]


TASK_CHARS = 2_000
"""The longest statement of a task."""
_Code = Annotated[str, Meta(max_length=4_000)]


class Drafted(Struct, frozen=True):
    statement: Annotated[str, Meta(max_length=TASK_CHARS, description="The task.")]
    generator: Annotated[_Code, Meta(description="A Python program that makes inputs.")]
    solution: Annotated[_Code, Meta(description="A Python program that solves it.")]

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not getattr(self, name).strip():
                raise ValueError(f'"{name}" is empty; a text was expected')
        if visible(self.statement) != self.statement:
            raise ValueError("the statement holds characters that cannot be seen, which reach no reader")


TASK = Json(Drafted)


class Offer(Struct, frozen=True):
    """A task that a house player may write, since it has no ideas of its own, and programs that solve it."""

    draft: Drafted
    programs: tuple[str, ...]


class Written(Struct, frozen=True):
    """What drafting came to: the task when a draft stood, else None; its programs as house players know them;
    and every draft."""

    task: Task | None
    programs: Sequence[str]
    drafts: tuple[Draft, ...]


def written(
    authors: Sequence[Seat],
    examples: int,
    tests: int,
    max_tokens: int,
    numbers: Random,
    offers: Iterable[Offer],
) -> Steps[Written]:
    """A task by the first of `authors` whose draft stands, with so many examples and hidden tests.

    `numbers` draws what generators are given. `offers`, one for each author, are what house players write.
    """
    drafts: list[Draft] = []
    needed = examples + tests
    fill = {
        "examples": str(examples),
        "input_chars": str(INPUT_CHARS),
        "output_chars": str(OUTPUT_CHARS),
        "numbers": str(_SPARE * needed),
        "needed": str(needed),
        "environment": environment(),
    }
    for turn, (author, offer) in enumerate(zip(authors, offers, strict=False), 1):
        key = f"task/{turn}"
        oracle = {"draft": offer.draft}
        reply: Reply = yield WRITE.ask(
            author.label, key, TASK, fill, max_tokens, role="author", oracle=oracle
        )
        labels, keys = {"task": author.label}, {"task": reply.key} if reply.ok else {}
        if not reply.ok:
            drafts.append(Draft(turn, 1, labels, keys, reply.status))
            continue
        draft: Drafted = reply.value
        seeds = numbers.sample(range(_NUMBERS), _SPARE * needed)
        proof = yield from _proof(key, draft, seeds, examples, tests)
        if isinstance(proof, str):
            drafts.append(Draft(turn, 1, labels, keys, proof))
            continue
        drafts.append(Draft(turn, 1, labels, keys, "ok", accepted=True))
        shown, hidden = tuple(proof[:examples]), tuple(proof[examples:])
        known = offer.programs if draft == offer.draft else (draft.solution,)
        return Written(Task((), draft.statement, shown, hidden), known, tuple(drafts))
    return Written(None, (), tuple(drafts))


def _proof(
    key: str, draft: Drafted, seeds: Sequence[int], examples: int, tests: int
) -> Steps[list[Test] | str]:
    """Examples, then hidden tests; or why the draft does not stand."""

    generated = [Run(f"{key}/input/{at}", draft.generator, f"{seed}\n") for at, seed in enumerate(seeds, 1)]
    made = yield from _printed("generator", generated, INPUT_CHARS)
    if isinstance(made, str):
        return made
    if not all(made):
        return "the generator printed nothing"
    inputs = list(dict.fromkeys(made))[: examples + tests]
    if len(inputs) < examples + tests:
        return f"the generator made only {len(inputs)} different inputs"
    solved = [Run(f"{key}/output/{at}", draft.solution, f"{given}\n") for at, given in enumerate(inputs, 1)]
    answers = yield from _printed("solution", solved, OUTPUT_CHARS)
    if isinstance(answers, str):
        return answers
    if len(set(answers[examples:])) < 2:
        return "the solution answers every hidden test alike"
    return list(zip(inputs, answers, strict=True))


def _printed(what: str, runs: Sequence[Run], most: int) -> Steps[list[str] | str]:
    """What each of the author's runs printed, or what is wrong with one.

    The first one runs alone: a program that never ends uses up its limit once.
    """
    printed: list[str] = []
    for some in (runs[:1], runs[1:]):
        replies: list[Reply] = yield some
        for reply in replies:
            ran: Ran = reply.value
            text = ran.stdout.rstrip()
            if ran.status != "ok":
                return f"the {what} ended with {ran.status}"
            if len(text) > most:
                return f"the {what} printed {len(text)} characters; at most {most} are allowed"
            printed.append(text)
    return printed


# --------------------------------------------------------------------------- what house players write


def offers(rng: Random, steps: int, inputs: int) -> Iterator[Offer]:
    """Drawn tasks as drafts, without end; each generator holds so many inputs."""
    while True:
        plan = drawn(rng, steps)
        listed = list(dict.fromkeys([line(rng) for _ in range(inputs)]))
        generator = f"inputs = {listed!r}\nprint(inputs[int(input()) % len(inputs)])"
        short, plain = solutions(plan)
        yield Offer(Drafted(statement(plan), generator, plain), (short, plain))
