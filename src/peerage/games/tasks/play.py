"""One's own tasks: two players answer one task; a check decides where it tells them apart, else judges do.

    A, B     > ...                                                              (answer/A, answer/B)
    judge/1  > {"reason": "Only the first says by when.", "verdict": "A"}       (judge/1/A-B)
    judge/2  > {"reason": "The second is vague.", "verdict": "A"}               (judge/2/B-A)
    judge/3  > {"reason": "The second says when.", "verdict": "B"}              (judge/3/A-B)

Contestants get the owner's texts byte for byte and nothing else: no word about limits or judges, no repair.
An answer that is empty or refused has credit 0. The README in this folder states every rule.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peerage.game import (
    Ask,
    Asks,
    Demo,
    Fixture,
    GameMemory,
    GameRating,
    GameSpec,
    GameTable,
    Judging,
    Needs,
    Outcome,
    Prompt,
    Rejudging,
    Reply,
    RoleRequirement,
    Run,
    Seat,
    Steps,
    Voided,
)
from peerage.game.bounds import QUOTE
from peerage.game.media import worded
from peerage.game.spec import Memory
from peerage.games.given import facts, given_or_asked, settled
from peerage.games.judged import judges_required, verdicts_asked
from peerage.games.rejudge import RejudgeRules
from peerage.games.tasks.answers import TaskAnswers, compared_of, request_of
from peerage.games.tasks.files import read_tasks
from peerage.games.tasks.house import house
from peerage.games.tasks.judges import (
    CONTROL,
    SEEN,
    Controls,
    PanelResult,
    asked,
    decided,
    instructions,
    shown,
)
from peerage.games.tasks.rules import TasksRules
from peerage.games.tasks.show import show
from peerage.games.tasks.task import messages_of
from peerage.judging.checks.credit import Check, Credit, graded, invalid
from peerage.judging.checks.programs import credit_of, program
from peerage.sandbox.program import FUEL
from peerage.values.sealing import by_turns

PEERS, FEWEST = 3, 2
"""Peers that judge a match, and without how many no match of a task that only judges decide is paired."""


CHECK_FAILED = "check_failed"
"""The void of a match in which a program of the owner's could not check an answer."""


def play(table: GameTable) -> Steps[Outcome]:
    """One task between the two seats of `table`: what was not answered before is asked for."""
    rules: TasksRules = table.rules
    checks = tuple([msgspec.convert(check, Check) for check in table.drawn.get("checks", ())])
    asks = [_asked(rules, table.drawn, checks, seat) for seat in table.seats]
    requests = {seat.player: request_of(rules, table.drawn, seat.player) for seat in table.seats}
    answers = yield from given_or_asked(table, asks, requests)
    try:
        outcome = yield from _compared(table, checks, answers)
    except Voided as voided:
        outcome = Outcome(void=str(voided))
    if rules.samples == "fresh":
        return outcome
    new = facts(table, answers, requests, compared_of(rules, table.drawn) if settled(outcome) else "")
    return msgspec.structs.replace(outcome, facts=(*outcome.facts, new))


def _compared(table: GameTable, checks: tuple[Check, ...], answers: Mapping[str, Reply]) -> Steps[Outcome]:
    """The outcome of two answers, by label. Raises Voided."""
    rules: TasksRules = table.rules
    task: Mapping[str, Any] = table.drawn
    detail: dict[str, Any] = {key: task[key] for key in ("task", "category", "weight") if key in task}
    detail["stated"] = rules.digest(task)
    detail["answers"] = {label: reply.status for label, reply in answers.items()}
    if table.given:
        detail["given"] = {label: given.match for label, given in table.given.items()}
    if any(reply.status == "void" for reply in answers.values()):
        return Outcome(void="no_answer", detail=detail)

    first, second = answers
    wrong = {}
    if rules.answer_schema:
        schema = json.loads(rules.answer_schema)
        wrong = {label: _misshapen(reply, schema) for label, reply in answers.items()}
        detail["valid"] = {label: not why for label, why in wrong.items()}
    if checks:
        ran = yield from _run(
            rules, task, checks, {label: reply for label, reply in answers.items() if reply.ok}
        )
        credits = {
            label: Credit(0.0, wrong[label])
            if wrong.get(label)
            else _credit(checks, reply, ran.get(label, ()))
            for label, reply in answers.items()
        }
        detail["checks"] = {label: credit.credit for label, credit in credits.items()}
        detail["check_notes"] = {label: credit.note for label, credit in credits.items() if credit.note}
        lead = credits[first].credit - credits[second].credit
        if lead and rules.judging.checks == "decide":
            detail["decided"], score = "by check", 1.0 if lead > 0 else 0.0
            seen: tuple[Mapping[str, Any], ...] = ()
            if task.get(CONTROL) and all(reply.ok for reply in answers.values()):
                control: PanelResult | None = yield from decided(table, answers, control=True)
                if control is not None:
                    detail |= {"control": True, "control_ballots": control.detail["ballots"]}
                    seen = ({SEEN: [seat.player for seat in table.officials["judge"]]},)
            return Outcome(scores={first: score, second: 1 - score}, facts=seen, detail=detail)
        if not lead and not to_judges(rules, task, credits[first].credit):
            return Outcome(scores={first: 0.5, second: 0.5}, detail={**detail, "decided": "tie"})
    usable = {label: reply.ok and not wrong.get(label) for label, reply in answers.items()}
    if not all(usable.values()):
        score = 0.5 + (usable[first] - usable[second]) / 2
        return Outcome(
            scores={first: score, second: 1 - score}, detail={**detail, "decided": "without judges"}
        )
    same = answers[first].value == answers[second].value  # a judge could only guess
    verdict: PanelResult | None = None if same else (yield from decided(table, answers))
    if verdict is None:
        return Outcome(scores={first: 0.5, second: 0.5}, detail={**detail, "decided": "tie"})
    detail |= {"decided": "by judges", **verdict.detail}
    if verdict.score is None:
        return Outcome(void="inconclusive", detail=detail)
    return Outcome(scores={first: verdict.score, second: 1 - verdict.score}, detail=detail)


def _asked(rules: TasksRules, task: Mapping[str, Any], checks: tuple[Check, ...], seat: Seat) -> Ask:
    return Ask(
        to=seat.label,
        key=f"answer/{seat.label}",
        role="contestant",
        messages=messages_of(task, rules.templates.get(seat.player, "")),
        expects=rules.expects(),
        max_tokens=rules.max_tokens,
        temperature=rules.temperature,
        oracle={"expected": task.get("expected"), "checks": checks},
        verbatim=True,
    )


def _misshapen(reply: Reply, schema: Any) -> str:
    """Return why an answer does not fit the schema that was asked for; empty where it does."""
    return invalid(reply.value, schema) if reply.ok else reply.status


def _credit(checks: tuple[Check, ...], reply: Reply, ran: Sequence[Credit]) -> Credit:
    return graded(checks, reply.value, ran) if reply.ok else Credit(0.0, reply.status)


def _run(
    rules: TasksRules, task: Mapping[str, Any], checks: Sequence[Check], answers: Mapping[str, Reply]
) -> Steps[dict[str, list[Credit]]]:
    """Run the owner's programs on every answer, in the sandbox; each answer's credits, in the order of the
    checks. A program that fails voids the match: that says nothing about the answer."""
    programs = [check for check in checks if check.kind == "python"]
    if not programs or not answers:
        return {}
    about = {"prompt": worded(asked(task)), **{key: task.get(key) for key in ("task", "category", "vars")}}
    runs = [
        Run(
            f"check/{label}/{place}",
            program(rules.programs, check.program),
            json.dumps({"answer": reply.value, "expected": check.expected, "task": about}),
            fuel=FUEL // 4,
        )
        for label, reply in answers.items()
        for place, check in enumerate(programs, 1)
    ]
    replies: list[Reply] = yield runs
    credits: dict[str, list[Credit]] = {label: [] for label in answers}
    for run, reply in zip(runs, replies, strict=True):
        credit = credit_of(reply.value)
        if credit is None:
            raise Voided(CHECK_FAILED)
        credits[run.key.split("/")[1]].append(credit)
    return credits


def to_judges(rules: TasksRules, task: Mapping[str, Any], credit: float | None = None) -> bool:
    """Return whether judges decide a match of this task in which the check gives both answers the same
    `credit`; None: whether they ever may."""
    if not task.get("checks") or rules.judging.checks == "measure":
        return True
    asked = bool(task.get("rubric")) or rules.judging.stated
    return rules.then == "judges" or (rules.then is None and asked)


def asks(rules: TasksRules, fixture: Fixture) -> Iterator[Asks]:
    """One answer from each contestant without one; where judges may decide, verdicts from those needed."""
    chars = sum([len(text) for _, text in fixture.drawn["messages"]])
    templates = max(map(len, rules.templates.values()), default=0)
    answer = rules.max_chars + QUOTE
    for seat in fixture.seats:
        if seat.label not in fixture.given:
            yield Asks(
                to=seat.label,
                prompts=Prompt("", ""),
                expects=rules.expects(),
                calls=1,
                max_tokens=rules.max_tokens,
                quoted=templates,
                usual_quoted=(chars + templates) // 4,
                usual_output=_usual_answer(fixture.drawn),
            )
    control = bool(fixture.drawn.get(CONTROL))
    if control or to_judges(rules, fixture.drawn):
        judging = rules.panel(control=control)
        yield from verdicts_asked(
            fixture,
            judging,
            judging.asks(instructions(fixture.drawn), shown(fixture.drawn)),
            2 * answer + QUOTE,
            share=_SAME if fixture.drawn.get("checks") and not control else 1.0,
            usual_quoted=chars // 4 + 600,
        )


def _usual_answer(task: Mapping[str, Any]) -> int:
    """Return an answer's usual tokens: a few more than expected, where a check compares the whole of it."""
    short = any(check["kind"] in ("exact", "number", "choice", "json") for check in task.get("checks") or ())
    return min(300, 50 + len(str(task.get("expected") or "")) // 2) if short else 300


_SAME = 0.5
"""Share of the matches whose check gives both answers the same credit, as a rule."""


def officials(rules: TasksRules) -> tuple[RoleRequirement, ...]:
    """Judges, where a task may need them."""
    may = [task for task in rules.tasks if to_judges(rules, {"checks": task.checks, "rubric": task.rubric})]
    if not may and not rules.judging.controls:
        return ()
    needed = rules.judging.checks == "measure" or any(not task.checks for task in may)
    return (judges_required(PEERS, FEWEST if needed else 0, rules.panel()),)


def draw(rules: TasksRules, seed: str, number: int) -> dict[str, Any]:
    """The task of match `number`, with all that the match needs of it. Stratified: every block of matches
    holds each task as often as its weight says, in an order drawn for the block from the arena's `seed`."""
    weighed = [task for task in rules.tasks for _ in range(task.weight)]
    return weighed[by_turns(f"{seed}/draw", number, len(weighed))[0]].drawn()


def _memory(rules: TasksRules) -> Memory:
    """Return what matches remember: answers, or where all are fresh who has judged controls."""
    controls = Controls(rules.judging.controls, lambda secret, number: draw(rules, secret, number))
    if rules.samples == "fresh":
        return controls
    calls = sum([usual for _, usual in rules.panel().calls(PEERS)])
    verdict = {}
    for task in rules.tasks:
        may = to_judges(rules, {"checks": task.checks, "rubric": task.rubric})
        verdict[task.id] = may * calls * (_SAME if task.checks else 1.0)
    return TaskAnswers(rules, controls, verdict)


def remarks(rules: TasksRules) -> Iterator[str]:
    """Say which assertions of promptfoo are not made, and which of them would be."""
    left = Counter(name for task in rules.tasks for name in dict.fromkeys(task.left_out))
    if left:
        counted = ", ".join([f"{name} ({count:,} tasks)" for name, count in left.most_common()])
        yield (
            f"tasks: assertions of promptfoo that run code or ask a model are left out: {counted}. A program "
            "of yours checks answers as `check: python: FILE.py:FUNCTION`, judges do by a `rubric`"
        )


GAME: GameSpec[TasksRules] = GameSpec(
    name="tasks",
    version=14,
    about="Two players answer a task of yours; a check or judges decide.",
    contestants=(2, 2),
    rules=TasksRules,
    play=play,
    officials=officials,
    draw=draw,
    asks=asks,
    survives=True,
    house=house,
    show=show,
    remarks=remarks,
    rating=GameRating(by_task=True),
    judging=Judging(again=Rejudging(lambda rules: RejudgeRules.like(rules.panel()))),
    files={"tasks": read_tasks},
    demo=Demo(),
    needs=Needs(sandbox=lambda rules: bool(rules.programs)),
    memory=GameMemory(
        make=_memory, applies=lambda rules: rules.samples != "fresh" or rules.judging.controls > 0, meets=True
    ),
)
