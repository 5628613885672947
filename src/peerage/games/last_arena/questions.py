"""Players write questions, in batches; near-duplicates are removed and their authors asked again.

    A > {"questions": [{"category": "math", "question": "…"}, …]}      question/A/1
    A > 1. [ethics] …                                                  question/A/2
    B > {"questions": […]}   two of them are A's: they are dropped     question/B/1
    B > {"questions": […]}   two new ones in their place               question/B/2

Authors write side by side, each seeing what it wrote itself. Who keeps a question that two wrote is drawn: an
order of authors for each round of writing, after what earlier rounds have accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from peerage.game import Ask, Questions, Quote, Reply, Seat, Steps, Together, Written
from peerage.games.last_arena.diversity import fresh
from peerage.games.last_arena.rules import QUESTION_CHARS, SPARE_CALLS, TEMPERATURE, LastArenaRules, Wanted


class Question(Struct, frozen=True):
    """One question of a tournament. `id` is its author's label and a number, `A-17`."""

    id: str
    author: str
    sort: str
    category: str
    text: str


class DraftedQuestion(NamedTuple):
    """A question as its author wrote it; `hidden` is what a house player's is really worth."""

    sort: str
    written: Written
    hidden: Any


@dataclass
class Author:
    """One author at work: calls, unusable replies, failures of its provider, accepted, near-duplicates."""

    label: str
    calls: int = 0
    unusable: int = 0
    void: int = 0
    accepted: list[DraftedQuestion] = field(default_factory=list)
    dropped: list[DraftedQuestion] = field(default_factory=list)

    @property
    def lost(self) -> bool:
        """Return whether the provider failed every call."""
        return 0 < self.calls == self.void

    @property
    def questions(self) -> Iterator[tuple[Question, Any]]:
        """Yield the accepted questions, each with what it is really worth."""
        for at, (sort, written, hidden) in enumerate(self.accepted, 1):
            yield Question(f"{self.label}-{at}", self.label, sort, written.category, written.text), hidden

    def lacks(self, wanted: Wanted, drafts: Sequence[DraftedQuestion] = ()) -> int:
        """Return how many questions of this sort are missing, besides those accepted and `drafts`."""
        return wanted.number - sum(draft.sort == wanted.sort for draft in [*self.accepted, *drafts])


def calls(rules: LastArenaRules) -> int:
    """Return the most calls that one author gets, repairs not counted: as many as what is wanted takes, and a
    few for what was missing, unusable or there already."""
    return sum([-(-wanted.number // rules.questions_per_call) for wanted in rules.wanted()]) + SPARE_CALLS


def collect(seats: Sequence[Seat], rules: LastArenaRules, rng: Random) -> Steps[dict[str, Author]]:
    """Let every author write what is wanted, and return the authors by label; some may end with fewer.
    Request keys are `question/LABEL/CALL`. `rng` draws the orders of authors."""
    authors = {seat.label: Author(seat.label) for seat in seats}
    wanted, most = rules.wanted(), calls(rules)
    while True:
        busy = {
            f"question/{author.label}": author
            for author in authors.values()
            if author.calls < most and any(author.lacks(some) > 0 for some in wanted)
        }
        if not busy:
            return authors
        drafts: Mapping[str, list[DraftedQuestion]] = yield Together(
            {key: _write(author, rules, most) for key, author in busy.items()}
        )
        order = [key for key in busy if drafts[key]]
        rng.shuffle(order)
        new = [(busy[key], draft) for key in order for draft in drafts[key]]
        known = [draft.written.text for author in authors.values() for draft in author.accepted]
        are_fresh = fresh([draft.written.text for _, draft in new], rules.overlap, known)
        for (author, draft), is_fresh in zip(new, are_fresh, strict=True):
            (author.accepted if is_fresh else author.dropped).append(draft)


def _write(author: Author, rules: LastArenaRules, most: int) -> Steps[list[DraftedQuestion]]:
    """One author writes what it lacks, call by call, as far as its calls reach."""
    drafts: list[DraftedQuestion] = []
    for wanted in rules.wanted():
        while author.calls < most and (lacking := author.lacks(wanted, drafts)) > 0:
            author.calls += 1
            reply: Reply = yield _ask(author, wanted, min(lacking, rules.questions_per_call), drafts, rules)
            if not reply.ok:
                author.unusable += 1
                author.void += reply.status == "void"
                continue
            worth: Sequence[Any] = reply.hidden if isinstance(reply.hidden, list) else []
            for at, written in enumerate(reply.value):
                drafts.append(DraftedQuestion(wanted.sort, written, worth[at] if at < len(worth) else None))
    return drafts


def _ask(
    author: Author, wanted: Wanted, count: int, drafts: Sequence[DraftedQuestion], rules: LastArenaRules
) -> Ask:
    before = [*author.accepted, *author.dropped, *drafts]
    own = [draft.written.category for draft in [*author.accepted, *drafts] if draft.sort == wanted.sort]
    quota = quotas(rules.categories, own, count)
    prompt = wanted.prompt
    if before:
        prompt = replace(prompt, user=f"{prompt.user}\n\n{rules.prompts['again']}")
    listed = "\n".join([f"{at}. {draft.written.text}" for at, draft in enumerate(before, 1)])
    return prompt.ask(
        author.label,
        str(author.calls),
        Questions(count, QUESTION_CHARS, rules.categories),
        {
            "count": str(count),
            "categories": ", ".join(rules.categories),
            "quota": ", ".join([f"{category} ({number})" for category, number in quota.items()]),
            "limit": str(QUESTION_CHARS),
            "stakes": rules.stakes(),
            "written": Quote("your questions so far", listed),
        },
        rules.question_tokens,
        role="author",
        temperature=TEMPERATURE,
        oracle={
            "sort": wanted.sort,
            "categories": [name for name, number in quota.items() for _ in range(number)],
        },
    )


def quotas(categories: Sequence[str], own: Sequence[str], count: int) -> dict[str, int]:
    """Return the categories of the next `count` questions with a number for each, so that they come out even;
    categories without any are left out."""
    have = {category: own.count(category) for category in categories}
    wanted = dict.fromkeys(categories, 0)
    for _ in range(count):
        least = min(categories, key=lambda category: have[category] + wanted[category])
        wanted[least] += 1
    return {category: number for category, number in wanted.items() if number}
