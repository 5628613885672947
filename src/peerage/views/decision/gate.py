"""A gate: one player may be worse than another by no more than a margin. Is that shown, or the opposite?

Only what the two did on the same tasks counts: their matches against each other, or the credits of their
answers by checks. What they did against others says more, but only by a model, which may be wrong.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np

from peerage.game.match import DONE
from peerage.ledger import Summary
from peerage.ledger.topics.series import SERIES
from peerage.ratings.claims.not_worse import PROVEN, Lead, More, bets, fewest, further, interval
from peerage.reading.reading import Reading
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope, ScopeError
from peerage.reading.verdicts.credits import TaskMatch
from peerage.render.blocks import Rows, numbers, texts
from peerage.values.figures import counted, whole
from peerage.views.shown import Sentences

Measure: TypeAlias = Literal["wins", "accuracy"]
Decision: TypeAlias = Literal["shown", "worse", "open"]
EXIT_CODES: Mapping[Decision, int] = {"shown": 0, "worse": 1, "open": 3}
MOST_ELO = 1000


class Margin(NamedTuple):
    """By how much a player may be worse: by so large a `part` of wins, a tie as half, or of accuracy, in
    `words`. `of` is None where the matches decide which."""

    of: Measure | None
    part: float
    words: str


def margin(percent: str | None = None, elo: float | None = None, of: Measure | None = None) -> Margin:
    """Return the margin of a text like `3%`, of wins or accuracy, or of `elo` points. Raises ScopeError."""
    if elo is not None:
        if percent is not None:
            raise ScopeError("a gate has one margin: --not-worse-by or --elo, not both")
        if of == "accuracy":
            raise ScopeError("Elo measures wins; for accuracy write --not-worse-by 3% --of accuracy")
        if not 0 < elo <= MOST_ELO:
            raise ScopeError(f"--elo is {elo:g}; expected a margin above 0 and up to {MOST_ELO}, such as 30")
        return Margin("wins", 0.5 - 1 / (1 + 10 ** (elo / 400)), f"{elo:g} Elo")
    most = 100 if of == "accuracy" else 50
    stated = re.fullmatch(r"\+?(\d+(?:\.\d+)?|\.\d+) ?%", (percent or "").strip(), re.ASCII)
    value = float(stated[1]) if stated else 0.0
    if not 0 < value < most:
        raise ScopeError(
            f"--not-worse-by is {percent or ''!r}; expected the largest loss that you accept, in percent and "
            f"without a minus sign, above 0% and less than {most}%, such as 3% or 2.5%"
        )
    return Margin(of, value / 100, f"{value:g}%")


class Gate(Sentences, frozen=True):
    """The answer of a gate: `new` may be worse than `old` by no more than the `margin`.

    `decision` is "shown" (it is not worse by more), "worse" (it is, proven) or "open"; `exit_code` is
    that of the command. `of` says what is compared: wins, a tie as half, or accuracy. `value` is the
    share of wins of `new` against `old`, 0 to 1, or the accuracy of `new` less that of `old`, -1 to 1;
    null without any task in common. `lower` and `upper` bound it with 95%, at every look; `limit` is what
    it must be above. The claim is `about` these tasks, or tasks like these. Of `matches` against each
    other, on so many `tasks`, `new` had `wins`, `draws` and `losses`; of accuracy these count answers of
    both to one task, by their credits, and `accuracies` are those of `new` and `old`. `evidence` is the
    capital of the bet that it is shown, 1 at the start, and `needed` what proves it; `evidence_worse` and
    `needed_worse` those of the opposite. `more` are the further tasks (matches, or answers, as `unit`
    says) until it can be told: as many as not, with 80% from `at_least` to `at_most`; null where that is
    open. `topic` is that of a gate on one topic, and `parts` are the gates of each topic, where asked
    for.
    """

    lines: tuple[str, ...]
    decision: Decision
    exit_code: int
    new: str
    old: str
    of: Measure
    margin: str
    about: Literal["these tasks", "tasks like these"]
    topic: str
    value: float | None
    lower: float | None
    upper: float | None
    limit: float
    tasks: int
    matches: int
    wins: int
    draws: int
    losses: int
    accuracies: tuple[float, float] | None
    evidence: float
    needed: float
    evidence_worse: float
    needed_worse: float
    unit: Literal["task", "match", "answer"]
    more: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    parts: tuple[Gate, ...] = ()

    @property
    def claim(self) -> str:
        """The claim to be shown, in words."""
        return f"{self.new} is not {self.opposite}"

    @property
    def opposite(self) -> str:
        """The claim to be ruled out."""
        measure = "" if self.margin.endswith("Elo") else f" of {self.of}"
        on = f" on {self.topic}" if self.topic else ""
        return f"worse than {self.old}{on} by more than {self.margin}{measure}"


def gate(
    reading: Reading,
    new: str,
    old: str,
    limit: Margin,
    *,
    scope: Scope = EVERYTHING,
    these: bool = False,
    by_topic: bool = False,
) -> Gate:
    """Return whether it is shown that `new` is not worse than `old` by more than a margin, or that it is.
    Players of the settings may have no match yet. `these` asks about these tasks alone; `by_topic` asks about
    each topic too, and then `new` is worse where it is worse on any. The same ledger gives the same answer.
    Raises ScopeError for an unknown player, and where both are the same."""
    played = reading.within(scope)
    known = dict.fromkeys([*played.players, *[player.name for player in reading.settings.players]])
    new, old = (reading.meant(name, known, "no match was played here by") for name in (new, old))
    if new == old:
        raise ScopeError(f"{new!r} is compared with itself; name two players")
    shared = _Shared(played, new, old)
    of: Measure = limit.of or ("wins" if shared.unchecked or not shared.credits else "accuracy")
    pairs = shared.credits if of == "accuracy" else shared.wins
    if of == "accuracy" and shared.unchecked and not shared.checked:
        raise ScopeError(
            f"no answer of {new} or {old} was checked: accuracy needs tasks with `expected` or `check`; "
            "leave --of out to compare wins"
        )
    topics = sorted({pair.topic for pair in pairs if pair.topic}) if by_topic else []
    single = these or not shared.repeats
    least = 0.5 - limit.part if of == "wins" else -limit.part
    unit = "task" if not single else "match" if of == "wins" else "answer"
    asked = {
        "new": new,
        "old": old,
        "of": of,
        "margin": limit.words,
        "limit": least,
        "unit": unit,
        "about": "these tasks" if these else "tasks like these",
    }
    # With topics half of the 5% is left to claims that `new` is worse on one of them.
    many = len(topics)
    whole = _answer(asked, pairs, "", needed=(PROVEN, 2 * PROVEN if many else PROVEN))
    needed = (many * PROVEN, 2 * many * PROVEN)
    parts = [
        _answer(asked, [pair for pair in pairs if pair.topic == topic], topic, needed) for topic in topics
    ]
    worse = [part for part in parts if part.decision == "worse"]
    if worse and whole.decision != "worse":
        lines = (*[part.lines[0] for part in worse], *whole.lines)
        whole = msgspec.structs.replace(whole, decision="worse", exit_code=EXIT_CODES["worse"], lines=lines)
    return msgspec.structs.replace(whole, parts=tuple(parts))


def _answer(
    asked: Mapping[str, Any], pairs: Sequence[_Pair], topic: str, needed: tuple[float, float]
) -> Gate:
    """Return the answer to what is `asked`, fields of a gate, by these pairs, where so much capital is
    `needed` to show it, or the opposite."""
    single, wins = asked["unit"] != "task", asked["of"] == "wins"
    bound = asked["limit"] if wins else (1 + asked["limit"]) / 2  # of a difference from 0 to 1
    differences = [Lead(pair.task, pair.value, pair.weight) for pair in pairs]
    capital = bets(differences, bound, single=single)
    # Of two claims that contradict each other a gate heeds the one that stops.
    decision: Decision = (
        "worse" if capital.worse >= needed[1] else "shown" if capital.shown >= needed[0] else "open"
    )
    more = further(differences, bound, needed=needed, single=single) if decision == "open" else None
    value, accuracies = _means(pairs, single=single) if pairs else (None, None)
    found = (value, *interval(differences, bound, single=single)) if pairs else (None, None, None)
    value, lower, upper = [end if wins or end is None else 2 * end - 1 for end in found]
    scores = [pair.value for pair in pairs]
    answer = Gate(
        lines=(),
        decision=decision,
        exit_code=EXIT_CODES[decision],
        topic=topic,
        value=value,
        lower=lower,
        upper=upper,
        tasks=len({pair.task for pair in pairs}),
        matches=len(pairs),
        wins=sum(score > 0.5 for score in scores),
        draws=sum(score == 0.5 for score in scores),
        losses=sum(score < 0.5 for score in scores),
        accuracies=None if wins else accuracies,
        evidence=capital.shown,
        needed=needed[0],
        evidence_worse=capital.worse,
        needed_worse=needed[1],
        more=more and more.about,
        at_least=more and more.at_least,
        at_most=more and more.at_most,
        **asked,
    )
    return msgspec.structs.replace(answer, lines=tuple(_sentences(answer, bound, more)))


def _means(pairs: Sequence[_Pair], *, single: bool) -> tuple[float, tuple[float, float]]:
    """Return the mean difference, from 0 to 1, and both accuracies: of the tasks' means, by their weights,
    or with `single` of all pairs."""
    by_task: dict[object, list[_Pair]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        by_task[number if single else pair.task].append(pair)
    means = [np.mean([(pair.value, *pair.credits) for pair in group], axis=0) for group in by_task.values()]
    value, first, second = np.average(
        means, axis=0, weights=[group[0].weight for group in by_task.values()]
    ).tolist()
    return value, (first, second)


# ---------------------------------------------------------------------------------------------- in words


def _sentences(found: Gate, bound: float, more: More | None) -> Iterator[str]:
    if more:
        yield f"Cannot tell yet whether {found.new} is {found.opposite}: {_more(found.unit, more)}."
    elif found.decision == "shown":
        yield f"Shown: {found.claim}."
    else:
        yield f"Worse: {found.new} is {found.opposite}; that is proven."
    if found.value is None or found.lower is None or found.upper is None:
        yield _no_match(found)
        return
    if found.of == "wins":
        ties = f"{found.draws:,} {'was' if found.draws == 1 else 'were'} tied"
        yield (
            f"Against each other {found.new} won {found.wins:,}, {found.old} {found.losses:,}, and {ties}: "
            f"{found.new} has {_percent(found.value)} of the wins, a tie as half "
            f"(95% at every look: {_percent(found.lower)} to {_percent(found.upper)}); "
            f"it must be above {_percent(found.limit)}."
        )
    elif found.accuracies:
        first, second = found.accuracies
        answers = counted(found.matches, "answer")
        yield (
            f"On {counted(found.tasks, 'task')} that both answered ({answers} of each) the accuracy of "
            f"{found.new} is {_percent(first)}, of {found.old} {_percent(second)}: {_signed(found.value)} "
            f"points (95% at every look: {_signed(found.lower)} to {_signed(found.upper)}); it must be above "
            f"{_signed(found.limit)}."
        )
    yield (
        f"Evidence that it is not worse: {_capital(found.evidence)} ({found.needed:.0f} proves it); that it "
        f"is: {_capital(found.evidence_worse)} ({found.needed_worse:.0f} proves it)."
    )
    if found.unit == "task":
        yield (
            "The claim is about tasks like these, so all answers to one task are one bet: "
            f"{counted(found.tasks, 'task')}."
        )
        least = fewest(bound, found.needed)
        if more and found.tasks < least:
            yield (
                f"Even if no answers differ, it takes {least:,} tasks to show it; "
                "about these tasks alone --these-tasks needs no others."
            )


def _more(unit: str, more: More) -> str:
    each = {"task": "", "match": " against each other", "answer": " of each"}[unit]
    units = f"more {unit}"
    if more.about is None:
        return f"at least {counted(more.at_least, units)}{each}"
    most = "or more" if more.at_most is None else f"to {more.at_most:,}"
    return f"about {counted(more.about, units)}{each} (likely {more.at_least:,} {most})"


def _no_match(found: Gate) -> str:
    if found.of == "wins":
        return f"{found.new} and {found.old} have no match against each other yet; play some first."
    return f"No task with a check was answered by both {found.new} and {found.old} yet; play some first."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _signed(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _capital(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else "over 1,000"


# -------------------------------------------------------------------------------------------- what is shared


class _Pair(NamedTuple):
    """Results of two players on a task: a `value` from 0 to 1, ½ where both did alike; their `credits`."""

    task: str
    topic: str
    value: float
    weight: float = 1.0
    credits: tuple[float, float] = (0.0, 0.0)


class _Shared:
    """The results of two players on the same tasks, in order: `wins` of their matches against each other,
    `credits` of the answers of both to one task, as they come. `repeats`: tasks may be done again; so many
    matches of either were `checked`, or `unchecked`."""

    def __init__(self, played: PlayedMatches, new: str, old: str) -> None:
        self.wins: list[_Pair] = []
        self.credits: list[_Pair] = []
        self.checked = self.unchecked = 0
        about_tasks = {match.number: match for match in played.credits.matches}
        self.repeats = bool(about_tasks or played.ledger.meta().get(SERIES))
        self._waiting: dict[str, tuple[deque[float], deque[float]]] = {}
        self._counted: set[tuple[str, int]] = set()
        for match in played.finished:
            if new in match.players or old in match.players:
                self._take(match, about_tasks.get(match.number), played.cluster(match.number), (new, old))

    def _take(self, match: Summary, about: TaskMatch | None, cluster: int, names: tuple[str, str]) -> None:
        """Take in a match of either, about a task of the owner's or of a `cluster` of matches."""
        task = f"{match.game}\0{about.task if about else cluster}"
        weight = about.weight if about else 1.0
        if match.status == DONE and all(name in match.players for name in names):
            ahead, behind = (match.scores[match.players.index(name)] for name in names)
            value = 1.0 if ahead > behind else 0.5 if ahead == behind else 0.0
            self.wins.append(_Pair(task, match.topic, value, weight))
        if about is not None and about.outdated:
            return  # of a task that was changed since
        if about is None or not about.credits:
            self.unchecked += match.status == DONE
            return
        self.checked += 1
        waiting = self._waiting.setdefault(task, (deque(), deque()))
        for answer in about.answers().values():
            credit = about.credit(answer[0])
            if answer[0] in names and credit is not None and answer not in self._counted:
                self._counted.add(answer)
                waiting[names.index(answer[0])].append(credit)
        while all(waiting):
            first, second = waiting[0].popleft(), waiting[1].popleft()
            value = (1 + first - second) / 2
            self.credits.append(_Pair(task, match.topic, value, weight, (first, second)))


# ------------------------------------------------------------------------------------------------- as rows


DECISIONS = {"shown": "not worse", "worse": "worse", "open": "cannot tell yet"}


def gates(found: Sequence[Gate], title: str = "") -> Rows:
    """Return gates of the same two players, one for each topic."""
    accuracy = found[0].of == "accuracy"

    def write(value: float) -> str:
        return f"{100 * value:+.1f}" if accuracy else f"{100 * value:.1f}%"

    columns = [
        *texts(lambda topic: topic or "everything", topic="Topic"),
        *texts(DECISIONS.__getitem__, decision="Decision"),
        *numbers(write, value="Accuracy, points" if accuracy else "Wins"),
        *numbers(write, lower="From", upper="To", limit="Must be above"),
        *numbers(whole, tasks="Tasks", matches="Answers of each" if accuracy else "Matches"),
        *numbers(whole, more=f"More {counted(2, found[0].unit).partition(' ')[2]}"),
    ]
    return Rows(found, columns, title=title, name="gates", sorts=False)
