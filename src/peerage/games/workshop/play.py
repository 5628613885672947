"""Workshop: everybody works in a copy of one folder; hidden tests decide, then judges who read diffs.

    A        < {"action": {"do": "write", "files": […]}}, …              (work/A/turn/1, … by a loop of ours)
    B        < {"program/debit.py": {"text": "…"}}                       (work/B/patch: an agent with hands)
    sandbox  > [0, "26 10 13 0 0 0"] …                                   (tests/A, tests/B: what was printed)
    judge/1  > {"reason": "The first changes less.", "verdict": "A"}     (judge/1/A-B, where tests tie)

The README in this folder states every rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from random import Random
from shlex import quote
from typing import Any, Literal

import msgspec

from peerage.game import (
    Asks,
    Demo,
    Fixture,
    GameSpec,
    GameTable,
    Needs,
    Outcome,
    Prompt,
    Reply,
    RoleRequirement,
    Seat,
    Secrecy,
    Steps,
    Text,
    Together,
    Trial,
    by_rank,
    texts,
)
from peerage.game.levels import by_level, fact
from peerage.game.programs.run_tests import same_output
from peerage.game.work import NOT_RUN, CommandResult, ShellCommand
from peerage.games.judged import judges_required, verdicts_asked
from peerage.games.workshop.diffs import blind, counting, diffs, named_tests, originals, words_of
from peerage.games.workshop.hands import ACTION, MOST_PATCH, Work, turns_bounded, worked
from peerage.games.workshop.house import worker
from peerage.games.workshop.rules import DIFF_CHARS, WorkshopRules, read_tasks
from peerage.games.workshop.show import show
from peerage.games.workshop.tasks import WorkTask, work_task
from peerage.judging.panels.panel import panel
from peerage.judging.panels.prompts import Instructions, framed
from peerage.sandbox.folder import Patch, patch_text, read_patch
from peerage.values.figures import begun
from peerage.values.sealing import by_turns
from peerage.values.texts import storable

PEERS = 3
"""Peers that judge a match, where there are so many."""
TASK = "task"
"""Key under which a fixture holds it."""
_JUDGED = 0.3
"""Share of the matches that judges decide, as a rule."""
DIFFS = Instructions(
    "You are an impartial reviewer of code. Two anonymous contestants worked on the same issue in copies of "
    "the same folder; you say whose change you would rather merge.",
    "does what the issue asks, and all of it; correct, also in cases that the issue does not name; breaks "
    "nothing, and leaves alone what has nothing to do with it; as simple and readable as the code around it",
    "The issue:\n{issue}",
)
"""Instructions to judges."""


def play(table: GameTable) -> Steps[Outcome]:
    """One task between all seats of `table`."""
    rules: WorkshopRules = table.rules
    task = msgspec.convert(table.drawn[TASK], WorkTask)
    detail: dict[str, Any] = {"task": task.id}
    came: dict[str, Work] = yield Together(
        {f"work/{seat.label}": _work(table, task, seat) for seat in table.seats}
    )
    works = {name.partition("/")[2]: work for name, work in came.items() if work.reply.status != "void"}
    if len(works) < 2:
        return Outcome(void="no_answer", detail=detail)
    kept = {label: counting(work.patch, task) for label, work in works.items()}
    patches = {label: patch for label, (patch, _) in kept.items()}
    before = yield from originals(task, {path for patch in patches.values() for path in patch})
    changes = {label: diffs(patch, before) for label, patch in patches.items()}
    results: dict[str, list[bool]] = {}
    forged: dict[str, str] = {}
    if task.tests is not None:
        changed = {label: patch for label, patch in patches.items() if patch}
        trials = yield [trial_run(label, task, patch, rules) for label, patch in changed.items()]
        ended = {label: trial.value for label, trial in zip(changed, trials, strict=True)}
        if task.reference and any(result.code in NOT_RUN for result in ended.values()):
            return Outcome(void="no_command", detail=detail)
        results = {label: verdicts(task, ended.get(label)) for label in works}
        if task.reference is None:
            solved = {label: patch for label, patch in changed.items() if all(results[label])}
            forged = yield from _forged(task, solved, changes, rules)
            results |= {label: [False] for label in forged}
    detail["work"] = {
        label: {
            "ended": work.reply.status,
            "tests": results.get(label, []),
            "files": sorted(patches[label]),
            "edited": kept[label][1],
            "diff": "\n".join(changes[label].values())[:DIFF_CHARS],
            **({"forged": forged[label]} if label in forged else {}),
        }
        for label, work in works.items()
    }
    achieved = {label: _achieved(task, results.get(label, ())) for label in works}
    achieved |= dict.fromkeys(forged, (False, -1, 0))
    credits = {label: [float(each[0])] for label, each in achieved.items()}
    facts = (fact(table.seats, [task.reference.level], credits),) if task.reference else ()
    detail["decided"] = "by tests" if len({*achieved.values()}) > 1 else "tie"
    outcome = Outcome(scores=by_rank(achieved), facts=facts, detail=detail)
    judges = table.officials.get("judge", ()) if detail["decided"] == "tie" and not forged else ()
    shown = {label: blind(each, {seat.player for seat in table.seats}) for label, each in changes.items()}
    if not judges or len({*shown.values(), ""}) < 3:  # one changed nothing, or both the same
        return outcome
    answers = {label: Reply("ok", text, hidden=works[label].reply.hidden) for label, text in shown.items()}
    issue = {"issue": framed("issue", storable(task.statement))}
    verdict = yield from panel(judges, answers, issue, rules.panel(), DIFFS, table.rng("order"))
    detail |= {**verdict.detail(), "decided": "by judges"}
    if verdict.score is None:
        return Outcome(void="inconclusive", detail=detail)
    first, second = answers
    return Outcome(scores={first: verdict.score, second: 1 - verdict.score}, facts=facts, detail=detail)


def _work(table: GameTable, task: WorkTask, seat: Seat) -> Steps[Work]:
    """Let a contestant work: in a folder with its own hands, or by a loop of ours."""
    rules: WorkshopRules = table.rules
    ready = seat.label in table.hands
    prompt: Prompt = texts(__package__, rules.texts)["agent" if ready else "loop"]
    expects = Text(MOST_PATCH) if ready else ACTION
    ask = prompt.ask(seat.label, "patch", expects, _fill(task, rules), rules.max_tokens, oracle=task)
    if not ready:
        return (yield from worked(ask, task, rules.turns, rules.command_seconds))
    # it is asked once: another request would begin anew
    reply: Reply = yield msgspec.structs.replace(ask, folder=task.folder, exact=True, verbatim=True)
    try:
        return Work(read_patch(reply.value) if reply.ok else {}, reply)
    except ValueError:  # no patch, or one that was cut
        return Work({}, reply)


_LISTED = 60
"""Files of a folder that its contestants are told of by name."""


def _fill(task: WorkTask, rules: WorkshopRules) -> dict[str, str]:
    """Return what fills the prompts of contestants."""
    listed = sorted(task.folder.files)
    return {
        "issue": task.statement,
        "files": f"Its files: {', '.join(listed)}." if 0 < len(listed) <= _LISTED else "",
        "check": f" `{task.check}` runs the tests that you may see." if task.check else "",
        "setup": f" Before hidden tests `{task.setup}` is run." if task.setup else "",
        "judged": ", else judges who read the changes without names decide" if rules.judges else "",
        "turns": str(rules.turns),
        "seconds": f"{rules.command_seconds:g}",
    }


# -------------------------------------------------------------------------------------------------- tests


def trial_run(
    name: str, task: WorkTask, patch: Patch, rules: WorkshopRules, before: str = ""
) -> ShellCommand:
    """Return the command that runs the hidden tests of a task on what a patch makes of its folder, after the
    task's setup and another command."""
    first = "".join([f"{{ {part}\n}} && " for part in (task.setup, before) if part])
    command = f"{first}{{ {task.command}\n}}" if first else task.command
    text, seconds = patch_text({**patch, **dict.fromkeys(task.gone)}), rules.command_seconds
    return ShellCommand(f"tests/{name}", task.folder, command, text, task.tests, seconds=seconds)


def _made_to(end: Literal["fail", "pass"], task: WorkTask) -> str:
    """Return a command that makes a task's tests in Python fail or pass, those first that its command names;
    empty where it has none."""
    tests = [path for path in task.runnable if path.endswith(".py")]
    script = files(__package__).joinpath("control.txt").read_text("utf-8")
    named_first = sorted(tests, key=lambda path: path not in task.command)
    return f"python3 -I -S -c {quote(script)} {end} {words_of(named_first)}" if tests else ""


def _forged(
    task: WorkTask,
    solved: Mapping[str, Patch],
    changes: Mapping[str, Mapping[str, str]],
    rules: WorkshopRules,
) -> Steps[dict[str, str]]:
    """Return in words, by label, why it says nothing that these works pass the tests: their code names
    hidden tests, or passes even where each is made to fail. The latter says something only where the command
    passes, with nothing solved, as soon as these tests do."""
    named = {label: named_tests(changes[label], task) for label in solved}
    forged = {label: f"its code names {', '.join(names)}" for label, names in named.items() if names}
    fails = _made_to("fail", task)
    tried = [label for label in solved if fails and label not in forged]
    ends = yield [trial_run(f"{label}/control", task, solved[label], rules, fails) for label in tried]
    ended = [label for label, end in zip(tried, ends, strict=True) if end.value.status == "ok"]
    if ended:
        passes = yield trial_run("control", task, {}, rules, _made_to("pass", task))
        ended = ended if passes.value.status == "ok" else []
    return forged | dict.fromkeys(ended, "its code passes even tests that were made to fail")


def verdicts(task: WorkTask, result: CommandResult | None) -> list[bool]:
    """Return which hidden tests passed, where nothing was changed (None) those that pass at first.

    Of the owner's all did or none, by the exit code. Of a drawn task each, by what the program printed, which
    is compared here: nothing in the jail knows what is right.
    """
    made = task.reference
    if made is None:
        return [result is not None and result.status == "ok"]
    if result is None:
        return [at not in made.failing for at in range(len(made.tests))]
    lines = [line for line in result.output.splitlines() if line.startswith("[")]
    lines += [""] * (len(made.tests) - len(lines))
    return [_right(line, expected) for line, (_, expected) in zip(lines, made.tests, strict=False)]


def _right(line: str, expected: str) -> bool:
    try:
        ended, printed = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False
    return ended == 0 and isinstance(printed, str) and same_output(printed, expected)


def _achieved(task: WorkTask, verdicts: Sequence[bool]) -> tuple[bool, int, int]:
    """Return how far a work came: whether all passed, how many did, and less what it broke."""
    failing = () if task.reference is None else task.reference.failing
    broken = sum(not passed for at, passed in enumerate(verdicts) if at not in failing)
    return bool(verdicts) and all(verdicts), sum(verdicts), -broken


# ------------------------------------------------------------------------------------------- declarations


def trials(rules: WorkshopRules) -> Iterator[Trial]:
    """Yield what shows a wrong command of the owner's tasks: hidden tests fail at first, pass on what solved
    the task, and fail there when they are made to."""
    for task in [msgspec.convert(stated, WorkTask) for stated in rules.tasks]:
        if task.tests is None:
            continue
        trial = partial(Trial, task.id, begun(task.statement.strip().splitlines()[0], 60))
        wrong = "passes before anybody has worked, so it tells nobody apart; leave the task out"
        yield trial(trial_run("start", task, {}, rules), False, f"`{task.command}` {wrong}")
        if task.solved is not None:
            solved = msgspec.structs.replace(task, folder=task.solved, gone=())
            wrong = "fails on the commit's own files; correct `command` or `setup`, or name other `commits`"
            yield trial(trial_run("solved", solved, {}, rules), True, f"`{task.command}` {wrong}")
            if fails := _made_to("fail", task):
                wrong = "passes when hidden tests fail; let it run these, by `{tests}`"
                run = trial_run("control", solved, {}, rules, fails)
                yield trial(run, False, f"`{task.command}` {wrong}")


def draw(rules: WorkshopRules, levels: Sequence[int], secret: str, number: int) -> dict[str, Any]:
    """The task of match `number`: a drawn one, or the owner's in turns, none again before all have come."""
    if rules.tasks:
        return {TASK: rules.tasks[by_turns(f"{secret}/workshop", number, len(rules.tasks))[0]]}
    task = work_task(Random(f"{secret}/workshop/{number}"), levels[0])
    return {TASK: msgspec.to_builtins(task)}


def asks(rules: WorkshopRules, fixture: Fixture) -> Iterator[Asks]:
    """Contestants with hands are asked once, others turn by turn; judges as a panel asks."""
    task = msgspec.convert(fixture.drawn[TASK], WorkTask)
    shown = sum([len(text) for text in _fill(task, rules).values()])
    prompts = texts(__package__, rules.texts)
    for seat in fixture.seats:
        asked = partial(Asks, seat.label, max_tokens=rules.max_tokens, quoted=shown, usual_output=900)
        if seat.label in fixture.hands:
            yield asked(prompts["agent"], Text(MOST_PATCH), 1)
        else:
            yield turns_bounded(asked(prompts["loop"], ACTION, 1), rules.turns)
    if rules.judges:
        yield from verdicts_asked(
            fixture,
            rules.panel(),
            rules.panel().asks(DIFFS, ("issue",)),
            len(task.statement) + 2 * DIFF_CHARS + 400,
            share=_JUDGED if task.tests else 1.0,
            usual_quoted=len(task.statement) // 4 + 1_500,
        )


def officials(rules: WorkshopRules) -> tuple[RoleRequirement, ...]:
    """Judges, for matches of two; a task without tests needs them."""
    needed = any("tests" not in task for task in rules.tasks)
    return (judges_required(PEERS, 2 if needed else 0, rules.panel()),) if rules.judges else ()


GAME: GameSpec[WorkshopRules] = GameSpec(
    name="workshop",
    texts=__package__,
    about="Everybody works in a copy of one folder; hidden tests decide, then judges who read diffs.",
    contestants=(2, 6),
    rules=WorkshopRules,
    play=play,
    officials=officials,
    asks=asks,
    survives=True,
    house=worker,
    show=show,
    secrecy=Secrecy(hides=True, alike=True, unshown=(TASK,)),
    needs=Needs(commands=lambda rules: True, trials=trials),
    files={"tasks": read_tasks},
    demo=Demo(60, {"judge": False}),
    **by_level(draw, lambda rules: 1),
)
