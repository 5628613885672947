"""Fact-check: everybody is given the same statements, about half of them subtly false, and says which.

    arena      > 1. The capital of Kenya is Mombasa.  2. The atomic number of tin is 50. …
    A, B, C, D > {"verdicts": [false, true, …]}          or   {"probabilities": [3, 98, …]}     (check/A, …)

Most right verdicts win; with `confidence` the least mean Brier score, (probability - truth)² with truth 1 or
0, a strictly proper rule (G. W. Brier, 1950). An unusable or refused sheet is wrong everywhere, and
surely so. Whose provider fails is unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from pydantic import Field

from peerage.facts import DOMAINS, Domains, missing
from peerage.facts import drawn as facts_of
from peerage.game import (
    Achieved,
    Ask,
    Block,
    Came,
    CellMark,
    Demo,
    Fixture,
    GameRating,
    Grid,
    Heading,
    HouseCall,
    Json,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Replies,
    Reply,
    Seats,
    credit_mark,
    same_tasks,
    solves,
    tasks_grid,
    texts,
    unusable,
)
from peerage.game.same_tasks import TASKS
from peerage.game.spec import Forecast

SURE = 100
"""A probability, in percent, that is certain."""

WRONG, SURELY_WRONG = "wrong everywhere", "certain and wrong everywhere"


class Verdicts(Struct):
    """A player's verdicts."""

    verdicts: Annotated[list[bool], Meta(description="true or false for each statement, in their order")]


class Probabilities(Struct):
    """How likely a player holds each statement to be true."""

    probabilities: Annotated[
        list[Annotated[int, Meta(ge=0, le=SURE, description="in percent, that it is true")]],
        Meta(description="one for each statement, in their order"),
    ]


class FactCheckRules(LevelRules):
    """Settings of fact checks."""

    seats: Seats = 8
    statements: int = Field(20, ge=2, le=50, description="Statements in a match, half of them false.")
    domains: Domains = Field(DOMAINS, description="What they are about; each comes up equally often.")
    confidence: bool = Field(
        False, description="Players give probabilities, and the mean Brier score decides, not right verdicts."
    )
    max_tokens: MaxTokens = 3_000


class Statement(Struct, frozen=True):
    """A statement as it is on record: whether it is `true`, and the true one where it is not; its level."""

    domain: str
    said: str
    true: bool
    truth: str = ""
    level: int = 0


def drawn(rules: FactCheckRules, levels: Sequence[int], rng: Random) -> list[Statement]:
    """As many statements true as false, of an odd number one more or one fewer."""
    facts = facts_of(rng, rules.domains, levels)
    half = len(facts) // 2
    odd = [rng.random() < 0.5] * (len(facts) % 2)
    truths = rng.sample([*[True] * half, *[False] * half, *odd], len(facts))
    return [
        Statement(fact.domain, fact.says(fact.answer), True, level=level)
        if true
        else Statement(fact.domain, fact.says(rng.choice(fact.wrong)), False, fact.says(fact.answer), level)
        for fact, true, level in zip(facts, truths, levels, strict=True)
    ]


def asked(rules: FactCheckRules, statements: Sequence[Statement]) -> list[Ask]:
    """One sheet of verdicts, or of probabilities."""
    exactly = Meta(min_length=len(statements), max_length=len(statements))
    expects = (
        Json(Probabilities, probabilities=exactly) if rules.confidence else Json(Verdicts, verdicts=exactly)
    )
    own = texts(__package__, rules.texts)
    fill = {
        "count": str(len(statements)),
        "scored": own["probabilities" if rules.confidence else "verdicts"],
        "unusable": SURELY_WRONG if rules.confidence else WRONG,
        "statements": "\n".join([f"{at}. {statement.said}" for at, statement in enumerate(statements, 1)]),
    }
    oracle = [(statement.true, statement.level) for statement in statements]
    return [own["check"].ask("", "check", expects, fill, rules.max_tokens, oracle=oracle)]


def scored(rules: FactCheckRules, statements: Sequence[Statement], came: Came) -> Achieved:
    """Right verdicts, or the Brier score: the worst for a sheet that cannot be used."""
    verdicts = {label: _percent(reply) for label, (reply,) in came.items()}
    truth = [SURE * statement.true for statement in statements]
    # a guess is right half of the time, and so is worth nothing in the mean
    credits = {
        label: [1 if 2 * abs(percent - so) < SURE else -1 for percent, so in zip(given, truth, strict=True)]
        if given
        else [-1] * len(truth)
        for label, given in verdicts.items()
    }
    if not rules.confidence:
        right = {label: each.count(1) for label, each in credits.items()}
        return Achieved(right, {"decided": "by right verdicts", "right": right}, credits)
    loss = {
        label: sum([(percent - so) ** 2 for percent, so in zip(given, truth, strict=True)])
        if given
        else SURE**2 * len(truth)
        for label, given in verdicts.items()
    }
    brier = {label: round(lost / SURE**2 / len(truth), 6) for label, lost in loss.items()}
    detail = {"decided": "by Brier score", "brier": brier, "probabilities": verdicts}
    return Achieved({label: -lost for label, lost in loss.items()}, detail, credits)


def _percent(reply: Reply) -> list[int]:
    """A reply as probabilities in percent; none of one that cannot be used."""
    if not reply.ok:
        return []
    if isinstance(reply.value, Verdicts):
        return [SURE * verdict for verdict in reply.value.verdicts]
    return list(reply.value.probabilities)


def house(call: HouseCall, skill: float, rng: Random) -> Verdicts | Probabilities:
    """Each statement is known with the chance of its level; else it is guessed, with too much confidence."""
    known = [rng.random() < solves(skill, level) for _, level in call.oracle]
    verdicts = [
        true if knows else rng.random() < 0.5 for knows, (true, _) in zip(known, call.oracle, strict=True)
    ]
    if "verdicts" in call.expects.schema()["properties"]:  # type: ignore[index]
        return Verdicts(verdicts)
    sure = [rng.randint(90, 99) if knows else rng.randint(55, 90) for knows in known]
    pairs = zip(sure, verdicts, strict=True)
    return Probabilities([percent if true else SURE - percent for percent, true in pairs])


def forecasts(fixture: Fixture, outcome: Outcome) -> Iterator[Forecast]:
    """Yield the probability given for each statement, and whether it was true; of verdicts nothing."""
    for label, given in outcome.detail.get("probabilities", {}).items():
        for percent, statement in zip(given, fixture.drawn[TASKS], strict=False):
            yield Forecast(label, percent / SURE, statement["true"])


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who judged which statement right, then the statements."""
    given = {reply.label: _given(reply.value) for reply in replies.values() if reply.value is not None}
    statements = fixture.drawn[TASKS]
    right, brier = outcome.detail.get("right", {}), outcome.detail.get("brier", {})
    wins = "The player with the most right verdicts wins; equally many tie."
    of = len(statements)
    worth = {label: (f"{count} of {of}", f"{count} of {of} right") for label, count in right.items()}
    if brier:
        wins = (
            "A number is the probability in percent that a player gave to a statement. The lowest mean Brier "
            "score wins: 0 is perfect, 0.25 is what 50% for everything comes to."
        )
        worth = {label: (f"{score:.4f}", f"mean Brier score {score:.4f}") for label, score in brier.items()}
    marks = {
        label: [
            _mark(verdict, statement["true"])
            for verdict, statement in zip_longest(given.get(label, ()), statements)
        ]
        for label in worth
    }
    column = "Brier score" if brier else "Right"
    yield from tasks_grid(outcome, wins, column, marks, worth, opens="said")
    yield Heading("The statements", anchor="said", closed=True)
    listed = [
        (
            at,
            statement["said"],
            CellMark(*(("✓ true", "good") if statement["true"] else ("✗ false", "bad"))),
            statement["truth"],
        )
        for at, statement in enumerate(statements, 1)
    ]
    yield Grid((">#", "Statement", "It is", "What is true"), tuple(listed))
    yield from unusable(replies.values())


def _given(value: object) -> list[bool | int]:
    """Return what a sheet says of each statement: true or false, or percentages."""
    verdicts = getattr(value, "verdicts", None)
    return list(getattr(value, "probabilities", ()) if verdicts is None else verdicts)


def _mark(verdict: bool | int | None, true: bool) -> CellMark:
    """Return whether a verdict is right; a percentage with what it leans to; none where None was given."""
    if verdict is None or isinstance(verdict, bool):
        return credit_mark(None if verdict is None else verdict == true)
    leans = credit_mark(None if 2 * verdict == SURE else (2 * verdict > SURE) == true)
    return replace(leans, text=f"{verdict}{leans.text}")


GAME = same_tasks(
    Statement,
    FactCheckRules,
    name="fact-check",
    version=6,
    texts=__package__,
    about="Everybody judges the same statements, half subtly false; most right, or the best forecasts, win.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    tasks=lambda rules: rules.statements,
    usual_output=lambda rules: 20 + 3 * rules.statements,
    house=house,
    show=show,
    rating=GameRating(forecasts=forecasts),
    needs=Needs(extra=lambda rules: missing()),
    demo=Demo(60),
)
