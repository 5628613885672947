"""Compression: the shortest summary from which others answer every question wins.

    A          > Dorvek 417 212 salt 14 March 11                          (write/A, …)
    B, C, D    > {"answers": ["Dorvek", "417", "212", "629", "salt", …]}  (read/A/B, …; control/B, …)

Each contestant has a report of its own, alike in length and in what is asked about it, so nobody can answer
from anything but the summary. A control summary of the arena's, which looks like the others, shows which
readers count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec
from msgspec import convert
from msgspec.structs import replace

from peerage.game import (
    Ask,
    Bar,
    Block,
    Cell,
    CellMark,
    Demo,
    Fixture,
    GameSpec,
    GameTable,
    Grid,
    Heading,
    HouseCall,
    Json,
    Outcome,
    Quote,
    Replies,
    Reply,
    Secrecy,
    Steps,
    TaskText,
    by_rank,
    credit_mark,
    quoted,
    result_grid,
    texts,
)
from peerage.game.house import SPREAD
from peerage.game.levels import between, by_level, fact, solves
from peerage.game.protocol import Prompt
from peerage.game.texts import toml
from peerage.games.compression.reports import (
    FEWEST_FACTS,
    MOST_FACTS,
    Reports,
    reports,
    right,
    summarized,
    words,
)
from peerage.games.compression.rules import (
    READERS,
    TRUST,
    CompressionRules,
    Formats,
    ReportAnswers,
    asks,
    fills,
)

FEWEST = 3
"""Contestants without whom there is no match: of two, each rival would be the other's only reader."""


def play(table: GameTable) -> Steps[Outcome]:
    """One match of all seats of `table`."""
    rules: CompressionRules = table.rules
    match = _Match(table, rules, msgspec.convert(table.drawn, Reports))
    written: list[Reply] = yield [match.write(label) for label in match.labels]
    replies = dict(zip(match.labels, written, strict=True))
    left = [label for label, reply in replies.items() if reply.status != "void"]
    if len(left) < FEWEST:
        return Outcome(void="no_answer")
    return (yield from _read(match, replies, left))


class _Match:
    """Common parts of the requests of a match."""

    def __init__(self, table: GameTable, rules: CompressionRules, drawn: Reports) -> None:
        self.rng, self.rules, self.drawn = table.rng, rules, drawn
        self.seats, self.labels = table.seats, [seat.label for seat in table.seats]
        self.reports = dict(zip(self.labels, drawn.reports, strict=False))
        self.formats = Formats(drawn)
        self._own = texts(__package__, rules.texts)
        self._fill: dict[str, str | Quote] = {**fills(rules, drawn, len(self.labels))}

    def write(self, label: str) -> Ask:
        report, most = self.reports[label], self.rules.max_tokens
        fill, oracle = self._fill | {"report": report.text}, (self.drawn, report)
        prompt: Prompt = self._own["write"]
        return prompt.ask(label, f"write/{label}", self.formats.short, fill, most, oracle=oracle)

    def read(self, label: str, key: str, summary: Quote, answers: Sequence[str]) -> Ask:
        fill, oracle = self._fill | {"summary": summary}, (self.drawn, answers, summary.text)
        most = self.rules.max_tokens
        prompt: Prompt = self._own["read"]
        return prompt.ask(label, key, self.formats.answers, fill, most, oracle=oracle)


def _read(match: _Match, written: Mapping[str, Reply], left: list[str]) -> Steps[Outcome]:
    """The summaries are read, each by the next few in an order drawn at random."""
    summaries = {label: reply.value.strip() for label, reply in written.items() if reply.ok}
    order = list(left)
    match.rng("readers").shuffle(order)
    spare, rng = match.drawn.spare.answers, match.rng("control")
    control = Quote("summary", summarized(match.drawn, spare, rng.random(), rng))
    rows: dict[str, dict[str, Ask]] = {
        "control": {label: match.read(label, f"control/{label}", control, spare) for label in left}
    }
    for at, author in enumerate(order):
        if author in summaries:
            quote, answers = Quote("summary", summaries[author]), match.reports[author].answers
            readers = [*order[at + 1 :], *order[:at]][:READERS]
            rows[author] = {who: match.read(who, f"read/{author}/{who}", quote, answers) for who in readers}
    replies: list[Reply] = yield [ask for row in rows.values() for ask in row.values()]
    came = iter(replies)
    answered = {author: {who: next(came) for who in row} for author, row in rows.items()}
    controls = answered.pop("control")
    lost = {
        who for row in (*answered.values(), controls) for who, reply in row.items() if reply.status == "void"
    }
    known = {who: _facts(reply, spare) for who, reply in controls.items() if who not in lost}
    read = {
        author: {
            who: _facts(reply, match.reports[author].answers)
            for who, reply in row.items()
            if reply.status != "void"
        }
        for author, row in answered.items()
    }
    reliable = {who: _reliability(who, facts, read.values()) for who, facts in known.items()}
    results: dict[str, Any] = {}
    for label in left:
        if label not in summaries:
            results[label] = {"result": written[label].status}
            continue
        kept = {who: facts for who, facts in read[label].items() if reliable.get(who, 0.0) >= TRUST}
        kept = kept or read[label]
        if not kept and label not in lost:
            return Outcome(void="no_reader")
        results[label] = _result(summaries[label], kept, len(spare))
    detail = {
        "decided": "by length",
        "summaries": results,
        "readers": {who: {"right": share, "counts": share >= TRUST} for who, share in reliable.items()},
    }
    ranked = {label: result for label, result in results.items() if label not in lost}
    if len(ranked) < 2:
        return Outcome(void="no_answer", detail=detail)
    valid = {label: [result.get("valid", False)] for label, result in ranked.items()}
    facts = (fact(match.seats, [match.drawn.level], valid),)
    scores = by_rank({label: _worth(result) for label, result in ranked.items()})
    return Outcome(scores=scores, detail=detail, facts=facts)


def _facts(reply: Reply, answers: Sequence[str]) -> list[bool]:
    """Return which facts a reader got right: none with an unusable reply."""
    given = reply.value.answers if reply.ok else [""] * len(answers)
    return [right(answer, reader_answer) for answer, reader_answer in zip(answers, given, strict=True)]


def _reliability(who: str, control: Sequence[bool], read: Iterable[Mapping[str, Sequence[bool]]]) -> float:
    """The share that a reader got right of the control's facts, and of those that of the others who read the
    same at least two and more than half got right."""
    own = list(control)
    for row in read:
        others = [facts for other, facts in row.items() if other != who]
        for at, is_right in enumerate(row.get(who, ())):
            agreed = sum(facts[at] for facts in others)
            if agreed >= 2 and 2 * agreed > len(others):
                own.append(is_right)
    return round(sum(own) / len(own), 4)


def _result(summary: str, read: Mapping[str, Sequence[bool]], asked: int) -> dict[str, Any]:
    """One summary of so many facts that were asked, on record; `facts` are the readers who got each right."""
    facts = [sum(column) for column in zip(*read.values(), strict=True)]
    recovered = sum(2 * got >= len(read) for got in facts)
    valid = recovered == asked
    what = f"{recovered} of {asked} facts recovered"
    return {
        "length": len(summary),
        "facts": facts,
        "readers": sorted(read),
        "recovered": recovered,
        "valid": valid,
        "result": f"{len(summary)} characters, {what}" if valid else f"invalid: {what}",
    }


def _worth(result: Mapping[str, Any]) -> tuple[int, int]:
    """Valid ones by length, then invalid ones by what was recovered, then no reply at all."""
    if "length" not in result:
        return 0, 0
    return (2, -result["length"]) if result["valid"] else (1, result["recovered"])


def draw(rules: CompressionRules, levels: Sequence[int], secret: str, number: int) -> dict[str, Any]:
    """The reports of match `number`, their questions and answers: the more facts, the higher the level."""
    rng, facts = Random(f"{secret}/compression/{number}"), between(FEWEST_FACTS, MOST_FACTS, *levels)
    return {**msgspec.to_builtins(replace(reports(rng, rules.seats, facts), level=levels[0]))}


_LOSES, _MISREADS = 0.25, 0.1
"""Chances of a player without skill: to lose a fact it writes, to misread one."""


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """A summary, or the answers that one holds."""
    quality = min(max(rng.gauss(skill, SPREAD), 0.0), 1.0)
    if isinstance(call.expects, Json):
        drawn, answers, summary = call.oracle
        known = _facts_in(drawn, answers, summary)
        return ReportAnswers([answer if rng.random() >= _MISREADS * (1 - skill) else "" for answer in known])
    drawn, report = call.oracle
    kept = [answer if rng.random() >= _LOSES * (1 - quality) ** 2 else "" for answer in report.answers]
    terse = min(max(rng.gauss((skill + solves(skill, drawn.level)) / 2, SPREAD), 0.0), 1.0)
    return summarized(drawn, kept, 1 - terse, rng) or report.text


def _facts_in(drawn: Reports, answers: Sequence[str], summary: str) -> list[str]:
    """The answers that a summary holds, or from which they follow."""
    held = f" {' '.join(words(summary))} "
    there = [f" {' '.join(words(answer))} " in held for answer in answers]
    return [
        answer
        if there[at] or ((of := drawn.follows.get(str(at), ())) and all(there[needed] for needed in of))
        else ""
        for at, answer in enumerate(answers)
    ]


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT: Mapping[str, str] = toml(__package__, "shown")["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The length of each summary and the facts that came back from it; the questions, the reports."""
    drawn = convert(fixture.drawn, Reports)
    results: Mapping[str, Any] = outcome.detail.get("summaries", {})
    readers: Mapping[str, Any] = outcome.detail.get("readers", {})
    most = max([summary.get("length", 0) for summary in results.values()], default=0)
    rows: dict[str, tuple[Cell, ...]] = {
        label: (
            Bar("", summary["length"], most) if "length" in summary else summary["result"],
            *(_came_back(summary) or [credit_mark(None)] * len(drawn.questions)),
            _reads(readers.get(label)),
        )
        for label, summary in results.items()
    }
    columns = (">Characters", "Fact 1", *map(str, range(2, len(drawn.questions) + 1)), "Reads")
    wins = (
        "The shortest summary from which the others knew enough facts wins. Reads: how much a player knew "
        f"from summaries; one below {TRUST:.0%} counts nowhere."
    )
    why = {label: summary["result"] for label, summary in results.items()}
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    yield Heading("The questions that a summary must answer", anchor="facts", closed=True)
    yield TaskText("\n".join([f"{at}. {question}" for at, question in enumerate(drawn.questions, 1)]))
    yield Heading("The summaries")
    for seat in fixture.seats:
        if reply := replies.get(f"write/{seat.label}"):
            summary = results.get(seat.label, {})
            yield quoted(reply, summary.get("result", ""), "good" if summary.get("valid") else "bad")
    for seat, report in zip(fixture.seats, drawn.reports, strict=False):
        yield Heading(f"What {seat.label} had to sum up: {len(report.text)} characters", closed=True)
        yield TaskText(report.text)
        answers = zip(drawn.questions, report.answers, _came_back(results.get(seat.label, {})), strict=False)
        yield Grid(("Question", "Right answer", "Came back"), tuple(answers))


def _came_back(summary: Mapping[str, Any]) -> list[CellMark]:
    """Return which facts enough readers got right, as far as that is on record."""
    count = len(summary.get("readers", ()))
    return [
        credit_mark(2 * right >= count, f"right: {right} of {count} readers", "facts")
        for right in summary.get("facts", ())
    ]


def _reads(reader: Mapping[str, Any] | None) -> Cell:
    if reader is None:
        return None
    return CellMark(
        f"{reader['right']:.0%}{'' if reader['counts'] else ' ✗'}", "" if reader["counts"] else "bad"
    )


GAME: GameSpec[CompressionRules] = GameSpec(
    name="compression",
    version=7,
    texts=__package__,
    about="Everybody sums up a report; the shortest summary from which others know every fact wins.",
    contestants=(3, 10),
    rules=CompressionRules,
    play=play,
    **by_level(draw, lambda rules: 1),
    asks=asks,
    survives=True,
    house=house,
    show=show,
    secrecy=Secrecy(hides=True, unshown=("questions", "reports", "spare", "follows")),
    demo=Demo(120),
)
