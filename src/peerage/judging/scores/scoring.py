"""Everybody scores everybody else's work from 0 to 10: blind, in an order of its own, many items a call.

    judge A > {"scores": [{"item": 1, "score": 7}, {"item": 2, "score": 4.5}, …]}     judge/A/batch-1
    judge B > 8/10                                                                    judge/B/C-17/A

What is scored is an `Item`; nobody scores its own. A batch whose reply stays unusable after the repair, or is
refused, is asked again item by item, since a model that cannot keep a list in order may well score one thing;
a batch whose provider failed is as many abstentions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from msgspec import Struct

from peerage.formats import Score, Scored, Scores
from peerage.game.match import Outcome, Seat
from peerage.game.protocol import MATERIAL, Ask, Prompt, Quote, Reply, Steps, Works
from peerage.values import grouped

SCORE_TOKENS = 12
"""Tokens of one item's score in a list, as they usually are, without a reason."""
SCORED_TOKENS, SPARE_TOKENS = 80, 200
"""Tokens of a score with its reason, at most; and what a reply may take on top."""
REASON_CHARS = 300


class Item(NamedTuple):
    """A piece of work to be scored. `id` is unique and goes into request keys, `author` is the label of who
    made it. `question` is what it answers, shown once for items that stand together, or what is to be scored
    itself where `work` is None. `oracle` is what house judges know of it."""

    id: str
    author: str
    question: Quote
    work: Quote | None
    oracle: Any = None


class ScoringRules(NamedTuple):
    """Settings of scoring. `phase` begins the request keys. `per_call` items are asked about at once, a
    single one with `prompt` (places `question`, `work`, `format`), several with `many` (places `items`,
    `count`, `format`); both may have `material`, the sentence that goes with fences."""

    phase: str
    per_call: int
    prompt: Prompt
    many: Prompt
    explain: bool

    @property
    def max_tokens(self) -> int:
        """Return how many tokens a reply may take."""
        return SPARE_TOKENS + SCORED_TOKENS * self.per_call


class Grade(NamedTuple):
    """Mark that `judge` gave `author`'s `item`, by label; `raw` is from 0 to 10, as given."""

    judge: str
    author: str
    item: str
    raw: float
    reason: str = ""


class Batching(Struct, frozen=True):
    """Course of one judge's calls: batches asked for, those unusable, items asked for one by one, and items
    without a score in the end, by what came instead."""

    batches: int = 0
    unusable: int = 0
    single: int = 0
    missing: Mapping[str, int] = {}

    @property
    def lost(self) -> bool:
        """Return whether most batches came to nothing: better ask this judge item by item from now on."""
        return 2 * self.unusable > self.batches


class Scoring(NamedTuple):
    """All grades, judge by judge; and how each judge's calls went."""

    grades: tuple[Grade, ...]
    batching: Mapping[str, Batching]

    @property
    def silent(self) -> set[str]:
        """The judges whose provider failed every call."""
        heard = {grade.judge for grade in self.grades}
        return {
            label
            for label, how in self.batching.items()
            if label not in heard and how.missing.keys() == {"void"}
        }


def scoring(
    judges: Sequence[Seat],
    items: Sequence[Item],
    rules: ScoringRules,
    orders: Mapping[str, Random],
    singly: Iterable[str] = (),
    barred: Mapping[str, Collection[str]] = {},
) -> Steps[Scoring]:
    """Ask every judge about every item that is not its own, nor by an author in its `barred`. `orders` draws
    each judge's own order, by label: items that answer one question stay together. Judges in `singly` are
    asked item by item. Request keys are `PHASE/LABEL/batch-N` and `PHASE/LABEL/ITEM`."""
    one_by_one = set(singly)
    parcels = [
        (judge.label, parcel)
        for judge in judges
        for parcel in _parcels(
            _shuffled(
                [item for item in items if item.author not in (judge.label, *barred.get(judge.label, ()))],
                orders[judge.label],
            ),
            1 if judge.label in one_by_one else rules.per_call,
        )
    ]
    replies: list[Reply] = yield _asks(parcels, rules)
    by_judge: dict[str, dict[str, Scored | str]] = {judge.label: {} for judge in judges}
    batches, unusable, single = (dict.fromkeys(by_judge, 0) for _ in range(3))
    again: list[tuple[str, tuple[Item, ...]]] = []
    for (judge, parcel), reply in zip(parcels, replies, strict=True):
        many = len(parcel) > 1
        batches[judge] += many
        single[judge] += not many
        if many and reply.status in ("invalid", "refused"):
            unusable[judge] += 1
            again += [(judge, (item,)) for item in parcel]
        else:
            _note(by_judge[judge], parcel, reply)
    if again:
        replies = yield _asks(again, rules)
        for (judge, parcel), reply in zip(again, replies, strict=True):
            single[judge] += 1
            _note(by_judge[judge], parcel, reply)
    grades: list[Grade] = []
    batching: dict[str, Batching] = {}
    for judge, scored in by_judge.items():
        missing: dict[str, int] = {}
        for item in items:
            got = scored.get(item.id)
            if isinstance(got, Scored):
                grades.append(Grade(judge, item.author, item.id, got.score, got.reason))
            elif got is not None:
                missing[got] = missing.get(got, 0) + 1
        batching[judge] = Batching(batches[judge], unusable[judge], single[judge], missing)
    return Scoring(tuple(grades), batching)


def _shuffled(items: Sequence[Item], rng: Random) -> list[Item]:
    """Questions in a drawn order, and in a drawn order what answers each of them."""
    groups = list(grouped((item.question.text, item) for item in items).values())
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    return [item for group in groups for item in group]


def _parcels(items: Sequence[Item], size: int) -> Iterator[tuple[Item, ...]]:
    for at in range(0, len(items), size):
        yield tuple(items[at : at + size])


def _note(scored: dict[str, Scored | str], parcel: Sequence[Item], reply: Reply) -> None:
    if not reply.ok:
        scored.update(dict.fromkeys([item.id for item in parcel], reply.status))
        return
    scores = reply.value if len(parcel) > 1 else (reply.value,)
    scored.update(zip([item.id for item in parcel], scores, strict=True))


def _asks(parcels: Iterable[tuple[str, tuple[Item, ...]]], rules: ScoringRules) -> Iterator[Ask]:
    """The requests, one after the other: thousands of them need never be there at once."""
    numbers: dict[str, int] = {}
    for judge, parcel in parcels:
        expects: Score | Scores
        fill: dict[str, str | Quote]
        if len(parcel) == 1:
            (item,) = parcel
            expects = Score(explain=rules.explain, reason_chars=REASON_CHARS)
            key, prompt = item.id, rules.prompt
            fill = {"question": item.question}
            if item.work is not None:
                fill["work"] = item.work
        else:
            expects = Scores(len(parcel), explain=rules.explain, reason_chars=REASON_CHARS)
            numbers[judge] = numbers.get(judge, 0) + 1
            key = f"batch-{numbers[judge]}"
            listed, fill = _listed(parcel)
            prompt = Prompt(rules.many.system, rules.many.user.replace("{items}", listed))
            fill["count"] = str(len(parcel))
        fill |= {"format": expects.instruction(), "material": MATERIAL}
        yield Ask(
            to=judge,
            key=f"{rules.phase}/{judge}/{key}",
            role="judge",
            messages=prompt.messages(fill),
            expects=expects,
            max_tokens=rules.max_tokens,
            temperature=0.0,
            oracle=Works(tuple([item.oracle for item in parcel])),
        )


def _listed(parcel: Sequence[Item]) -> tuple[str, dict[str, str | Quote]]:
    """The template of numbered items, and what fills it."""
    parts: list[str] = []
    fill: dict[str, str | Quote] = {}
    before: str | None = None
    for at, item in enumerate(parcel, 1):
        if item.work is None:
            parts.append(f"Item {at}:\n{{question_{at}}}")
            fill[f"question_{at}"] = item.question
            continue
        if item.question.text != before:
            before = item.question.text
            parts.append(f"The question for item {at} and on:\n{{question_{at}}}")
            fill[f"question_{at}"] = item.question
        parts.append(f"Item {at}:\n{{work_{at}}}")
        fill[f"work_{at}"] = item.work
    return "\n\n".join(parts), fill


# --------------------------------------------------------------------------------------- on the record


def facts(phase: str, grades: Iterable[Grade]) -> Iterator[dict[str, Any]]:
    """Grades as a match records them: one fact for each judge and author, `{"scores": PHASE, "judge": LABEL,
    "author": LABEL, "raw": {ITEM: SCORE}}`."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for grade in grades:
        rows.setdefault((grade.judge, grade.author), {})[grade.item] = grade.raw
    for (judge, author), raw in rows.items():
        yield {"scores": phase, "judge": judge, "author": author, "raw": raw}


def recorded(outcome: Outcome, phase: str) -> Iterator[Grade]:
    """The grades of one phase (`rate`, `judge`) of a finished match, without their reasons."""
    for fact in outcome.facts:
        if fact.get("scores") == phase:
            for item, raw in fact["raw"].items():
                yield Grade(fact["judge"], fact["author"], item, raw)
