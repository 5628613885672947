"""Players write questions, in batches; near-duplicates are removed and their authors asked again.

    A > {"questions": [{"category": "math", "question": "…"}, …]}      question/A/1
    A > 1. [ethics] …                                                  question/A/2
    B > {"questions": […]}   two of them are A's: they are dropped     question/B/1
    B > {"questions": […]}   two new ones in their place               question/B/2

Authors write side by side, each seeing what it wrote itself. Who keeps a question that two wrote is drawn: an
order of authors for each round of writing, after what earlier rounds have accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from msgspec import Struct

from peerage.formats import Questions, Written
from peerage.games.last_arena.diversity import fresh
from peerage.match import Seat
from peerage.protocol import Ask, Message, Prompt, Quote, Reply, Steps, Together


class Wanted(NamedTuple):
    """So many questions of one sort (`plain`, `meta`, `trick`), and what their authors are told.

    The prompt's places: `count`, `categories`, `quota` (how many of each category), `limit`, `format`.
    """

    sort: str
    number: int
    prompt: Prompt


class WritingRules(NamedTuple):
    """Rules of writing questions.

    Up to `per_call` in a reply. An author gets as many calls as that takes and `spare` more, for what was
    missing, unusable or there already. `overlap` is the share of common sequences (`diversity`) from
    which two questions are the same. `again` is appended to a prompt once its author has written something;
    its place is `written`. `stakes` says what becomes of questions.
    """

    per_call: int
    spare: int
    max_chars: int
    categories: tuple[str, ...]
    overlap: float
    max_tokens: int
    temperature: float | None
    again: str
    stakes: str = ""


class Question(Struct, frozen=True):
    """One question of a tournament. `id` is its author's label and a number, `A-17`."""

    id: str
    author: str
    sort: str
    category: str
    text: str


class AuthorQuestions(NamedTuple):
    """The result of one author's writing: calls made, those without a usable reply, near-duplicates removed;
    `hidden`, what house players' questions are really worth, by id; `void`, the calls its provider failed."""

    calls: int
    unusable: int
    duplicates: int
    hidden: Mapping[str, Any]
    void: int = 0

    @property
    def lost(self) -> bool:
        """Return whether the provider failed every call."""
        return 0 < self.calls == self.void


class Collected(NamedTuple):
    """All questions, author by author in the order of their ids; and each author's shelf."""

    questions: tuple[Question, ...]
    by_author: Mapping[str, AuthorQuestions]


def calls(wanted: Sequence[Wanted], rules: WritingRules) -> int:
    """The most calls that one author gets, repairs not counted."""
    return sum([-(-one.number // rules.per_call) for one in wanted]) + rules.spare


def collect(
    authors: Sequence[Seat], wanted: Sequence[Wanted], rules: WritingRules, rng: Random
) -> Steps[Collected]:
    """Let every author write what is `wanted`; it may end with fewer.

    Request keys are `question/LABEL/CALL`. `rng` draws the orders of authors.
    """
    at_work = {seat.label: _AuthorAtWork(seat.label, calls(wanted, rules)) for seat in authors}
    while True:
        busy = [author for author in at_work.values() if author.left and author.missing(wanted)]
        if not busy:
            break
        drafts: Mapping[str, list[_Draft]] = yield Together(
            {f"question/{author.label}": _write(author, wanted, rules) for author in busy}
        )
        order = [author for author in busy if drafts[f"question/{author.label}"]]
        rng.shuffle(order)
        new = [(author, draft) for author in order for draft in drafts[f"question/{author.label}"]]
        known = [draft.written.text for author in at_work.values() for draft in author.accepted]
        are_fresh = fresh([draft.written.text for _, draft in new], rules.overlap, known)
        for (author, draft), is_fresh in zip(new, are_fresh, strict=True):
            (author.accepted if is_fresh else author.dropped).append(draft)
    questions: list[Question] = []
    by_author: dict[str, AuthorQuestions] = {}
    for label, author in at_work.items():
        own = {f"{label}-{at}": draft for at, draft in enumerate(author.accepted, 1)}
        questions += [
            Question(id, label, draft.sort, draft.written.category, draft.written.text)
            for id, draft in own.items()
        ]
        hidden = {id: draft.hidden for id, draft in own.items()}
        by_author[label] = AuthorQuestions(
            author.made, author.unusable, len(author.dropped), hidden, author.void
        )
    return Collected(tuple(questions), by_author)


class _Draft(NamedTuple):
    sort: str
    written: Written
    hidden: Any


@dataclass
class _AuthorAtWork:
    """One author at work."""

    label: str
    left: int
    made: int = 0
    unusable: int = 0
    void: int = 0
    accepted: list[_Draft] = field(default_factory=list)
    dropped: list[_Draft] = field(default_factory=list)

    def missing(self, wanted: Sequence[Wanted]) -> int:
        return sum([self.lacks(one, []) for one in wanted])

    def lacks(self, one: Wanted, drafts: Sequence[_Draft]) -> int:
        return one.number - sum(draft.sort == one.sort for draft in [*self.accepted, *drafts])


def _write(author: _AuthorAtWork, wanted: Sequence[Wanted], rules: WritingRules) -> Steps[list[_Draft]]:
    """One author writes what it lacks, call by call, as far as its calls reach."""
    drafts: list[_Draft] = []
    for one in wanted:
        while author.left and (lacking := author.lacks(one, drafts)) > 0:
            author.left -= 1
            author.made += 1
            reply: Reply = yield _ask(author, one, min(lacking, rules.per_call), drafts, rules)
            if not reply.ok:
                author.unusable += 1
                author.void += reply.status == "void"
                continue
            worth: Sequence[Any] = reply.hidden if isinstance(reply.hidden, list) else []
            for at, written in enumerate(reply.value):
                drafts.append(_Draft(one.sort, written, worth[at] if at < len(worth) else None))
    return drafts


def _ask(
    author: _AuthorAtWork, one: Wanted, count: int, drafts: Sequence[_Draft], rules: WritingRules
) -> Ask:
    before = [*author.accepted, *author.dropped, *drafts]
    own = [draft.written.category for draft in [*author.accepted, *drafts] if draft.sort == one.sort]
    quota = quotas(rules.categories, own, count)
    expects = Questions(count, rules.max_chars, rules.categories)
    fill: dict[str, str | Quote] = {
        "count": str(count),
        "categories": ", ".join(rules.categories),
        "quota": ", ".join([f"{category} ({number})" for category, number in quota.items()]),
        "limit": str(rules.max_chars),
        "stakes": rules.stakes,
        "format": expects.instruction(),
    }
    messages = one.prompt.messages(fill)
    if before:
        *head, user = messages
        listed = "\n".join([f"{at}. {draft.written.text}" for at, draft in enumerate(before, 1)])
        written = Quote("your questions so far", listed)
        messages = (
            *head,
            Message(user.speaker, f"{user.template}\n\n{rules.again}", {**user.fill, "written": written}),
        )
    return Ask(
        to=author.label,
        key=str(author.made),
        role="author",
        messages=messages,
        expects=expects,
        max_tokens=rules.max_tokens,
        temperature=rules.temperature,
        oracle={
            "sort": one.sort,
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
