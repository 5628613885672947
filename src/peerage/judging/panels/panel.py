"""A panel of judges compares two answers: blind, in opposite orders, with weighted votes.

    verdict = yield from panel(judges, {"A": first, "B": second}, {"question": "Why is the sky blue?"})

What judges see is "the first answer" and "the second answer", never who wrote one. With `order` opposite,
they see the answers in opposite orders, one of every two judges in each, and one who is left over sees both.
With `order` both, every judge is asked twice, with the answers swapped. A judge whose two verdicts differ has
flipped: it is taken to see no difference, a tie (with `binary`, where ties are forbidden, it abstains). A
judge abstains as well when one of its replies is unusable, refused or void. Too few votes make the panel
inconclusive, which is void and never a tie.

With `early_stop` judges are asked in waves, each of as few as could settle the verdict, until those who are
left cannot change it. So of three judges whose votes weigh the same two are asked, and the third where these
disagree, both see no difference, or one gave no valid vote.

With criteria a reply has a verdict by each of them; their weighted sum is the verdict of that reply.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from random import Random
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from peerage.formats import Choices, ChosenEach
from peerage.game.blocks import Bar, Block, GivenVerdict, Heading, Replies, VoteLine, VoteStrip
from peerage.game.match import Seat
from peerage.game.protocol import Ask, Choice, Chosen, Prompt, Quote, Reply, Steps, Works
from peerage.judging.panels.prompts import (
    COMPARE,
    EACH_NO_TIES,
    EACH_TIES,
    NO_TIES,
    TIES,
    Criterion,
    Instructions,
)

TIE = "tie"
ABSTAIN = "abstain"
UNUSABLE = ("invalid", "refused", "void")
"""Fates of a reply that is no verdict."""
QUORUM = 0.5
"""Share of those who are to vote or to score whose votes or scores must be valid; always at least one."""
SPLIT = 0.2
"""Share of the judges in reserve who are asked, as a rule."""
VERDICT_TOKENS, REASON_CHARS = 600, 400
Order: TypeAlias = Literal["both", "opposite", "one"]
"""Orders in which a panel's judges see two answers."""
_TOLERANCE = 1e-9  # shares are sums of rounded weights; a difference below this is none


class PanelRules(Struct, frozen=True):
    """Settings of a panel's votes and of their count.

    `order` both: each judge sees both orders; opposite: judges see opposite orders, two by two, and one who
    is left over sees both; one: each sees one drawn at random. `early_stop`: judges who could not change the
    verdict are not asked. `epsilon` is the half-width of the band of shares around ½ that count as a tie.
    `weight_temperature` is softmax's τ in Elo points.
    Judges see the first `answer_chars` characters of an answer. `rubric` says which answer is better, in
    place of our words; by `criteria` judges decide one by one; `prompt` is the owner's whole prompt, see
    `judging.own_prompt`.
    """

    order: Order = "both"
    early_stop: bool = False
    binary: bool = False
    epsilon: float = 0.0
    weights: Scheme = "softmax"
    weight_temperature: float = 300.0
    answer_chars: int = 20_000
    rubric: str = ""
    criteria: tuple[Criterion, ...] = ()
    prompt: str = ""

    def expects(self) -> Choice | Choices:
        """Return the format of a judge's reply."""
        options = ("A", "B") if self.binary else ("A", "B", TIE)
        if self.criteria:
            return Choices(tuple([criterion.name for criterion in self.criteria]), options, REASON_CHARS)
        return Choice("verdict", options, REASON_CHARS)

    def calls(self, judges: int) -> list[tuple[int, float]]:
        """Return the most requests to each of so many judges, and how many there are as a rule."""
        most = [2 if self.order == "both" else 1] * judges
        if self.order == "opposite" and judges % 2:
            most[-1] = 2
        needed = judges // 2 + 1 if self.early_stop else judges
        return [(calls, calls * (SPLIT if at >= needed else 1.0)) for at, calls in enumerate(most)]

    def asks(self, comparison: Instructions, given: Container[str]) -> Prompt:
        """Return the judges' prompt; of its places those of `given` are filled."""
        return comparison.prompt(given, rubric=self.rubric, criteria=self.criteria, own=self.prompt)


PLAIN = PanelRules()


class Ballot(Struct, frozen=True):
    """One judge's vote: `vote` is the name of an answer, "tie" or "abstain".

    `verdicts` maps each order shown ("A-B": A stood first) to the name of the preferred answer, "tie", or
    what the reply was instead: invalid, refused, void. `weight` is this vote's share of the valid weight, 0
    for an abstention. `criteria` maps each criterion to its verdict in each order, as in `verdicts`; unset
    without criteria. `late` is set where the judge was asked because those before it had settled nothing:
    such votes are about answers on which judges split, and say nothing of how judges agree in general.
    """

    judge: str
    vote: str
    verdicts: Mapping[str, str]
    flipped: bool
    weight: float = 0.0
    criteria: Mapping[str, Mapping[str, str]] | UnsetType = UNSET
    late: bool | UnsetType = UNSET


class PanelVerdict(Struct, frozen=True):
    """Verdict of a panel.

    `share` is the first answer's share of the valid weight (a tie vote counts half for each), `score` its
    result: 1, ½ or 0. Both are None when the panel is inconclusive. `ballots` are in the judges' order,
    without judges who were not needed. `criteria` are the first answer's share of the valid weight by each
    criterion.
    """

    share: float | None
    score: float | None
    ballots: tuple[Ballot, ...]
    criteria: Mapping[str, float] = {}

    def detail(self) -> dict[str, Any]:
        """Return what a match keeps of it, as plain data."""
        parts: dict[str, Any] = {
            "ballots": [msgspec.to_builtins(ballot) for ballot in self.ballots],
            "share": self.share,
        }
        return parts | ({"criteria": dict(self.criteria)} if self.criteria else {})


def panel(
    judges: Sequence[Seat],
    answers: Mapping[str, str | Reply],
    given: Mapping[str, str | Quote],
    rules: PanelRules = PLAIN,
    prompt: Instructions | Prompt = COMPARE,
    rng: Random | None = None,
) -> Steps[PanelVerdict]:
    """Ask `judges` which of two `answers` (by name) is better.

    `given` fills the places of `prompt` other than `answer_a`, `answer_b`, `ties` and `format`. An answer is
    quoted, whether it comes as a `Reply` or as a plain `str`; its hidden quality reaches house judges when it
    is a `Reply`. `rng` draws the orders shown, unless each judge sees both. Request keys are `LABEL/ORDER`
    (`judge/1/A-B`). Raises ValueError unless there are two answers, and an rng where one is needed.
    """
    if len(answers) != 2:
        raise ValueError(f"a panel compares 2 answers, not {len(answers)}")
    shown = list(zip(judges, _orders(len(judges), [*permutations(answers)], rules.order, rng), strict=True))
    asked = {order: _asked(answers, order, given, rules, prompt) for order in permutations(answers)}
    ratings, first = {judge.label: judge.raw for judge in judges}, next(iter(answers))
    ballots: list[Ballot] = []
    while len(ballots) < len(judges) and not _settled(ballots, judges, answers, rules):
        wave = shown[len(ballots) : len(ballots) + _wave(ballots, judges, answers, rules)]
        replies: list[Reply] = yield [
            asked[order](to=judge.label, key=f"{judge.label}/{'-'.join(order)}")
            for judge, orders in wave
            for order in orders
        ]
        came, late = iter(replies), bool(ballots) or UNSET
        for judge, orders in wave:
            replied = {"-".join(order): next(came) for order in orders}
            ballots.append(msgspec.structs.replace(_ballot(judge.label, replied, rules), late=late))
    return count(ballots, ratings, first, rules)


Shown: TypeAlias = tuple[str, ...]
"""Names of answers in the order shown."""


def _orders(judges: int, orders: Sequence[Shown], order: Order, rng: Random | None) -> list[Sequence[Shown]]:
    """Return the orders that each judge sees."""
    if order == "both":
        return [orders] * judges
    if rng is None:
        raise ValueError(f"order {order!r} draws the order shown: pass rng=table.rng('order')")
    if order == "one":
        return [(rng.choice(orders),) for _ in range(judges)]
    pairs = [rng.sample(orders, 2) for _ in range(judges // 2)]
    return [*[(shown,) for pair in pairs for shown in pair], *[orders] * (judges % 2)]


def _settled(
    ballots: Sequence[Ballot], judges: Sequence[Seat], answers: Iterable[str], rules: PanelRules
) -> bool:
    """Return whether judges who have not voted cannot change the verdict: it is the same should all of them
    be for the first answer and should all be for the second, or there are too few of them."""
    if not rules.early_stop:
        return False
    left, needed = judges[len(ballots) :], quorum(len(judges))
    valid = sum(ballot.vote != ABSTAIN for ballot in ballots)
    if valid < needed:
        return valid + len(left) < needed
    ratings, (first, second) = {judge.label: judge.raw for judge in judges}, answers
    ends = [[*ballots, *[Ballot(judge.label, vote, {}, False) for judge in left]] for vote in (first, second)]
    return len({count(end, ratings, first, rules).score for end in ends}) == 1


def _wave(
    ballots: Sequence[Ballot], judges: Sequence[Seat], answers: Iterable[str], rules: PanelRules
) -> int:
    """Return how many judges are asked next: as few as settle the verdict should they agree. Of judges who
    see one order each the first two are asked together, so that both orders were seen."""
    left = judges[len(ballots) :]
    least = 2 if not ballots and rules.order == "opposite" else 1
    for more in range(least, len(left)):
        for vote in answers:
            agreed = [*ballots, *[Ballot(judge.label, vote, {}, False) for judge in left[:more]]]
            if _settled(agreed, judges, answers, rules):
                return more
    return len(left)


def quorum(ballots: int) -> int:
    """Return how many of so many ballots must be valid."""
    return max(1, math.ceil(QUORUM * ballots - _TOLERANCE))


def _asked(
    answers: Mapping[str, str | Reply],
    order: Sequence[str],
    given: Mapping[str, str | Quote],
    rules: PanelRules,
    prompt: Instructions | Prompt,
) -> partial[Ask]:
    """Return what any judge is asked who sees the answers in one order."""
    expects = rules.expects()
    template = rules.asks(prompt, given) if isinstance(prompt, Instructions) else prompt
    ties = (
        (EACH_NO_TIES if rules.binary else EACH_TIES) if rules.criteria else NO_TIES if rules.binary else TIES
    )
    fill = {
        **given,
        "ties": ties,
        "format": f'"A" is the first answer, "B" the second. {expects.instruction()}',
        "answer_a": _exhibit("answer A", answers[order[0]], rules),
        "answer_b": _exhibit("answer B", answers[order[1]], rules),
    }
    return partial(
        Ask,
        role="judge",
        messages=template.messages(fill),
        expects=expects,
        max_tokens=VERDICT_TOKENS,
        temperature=0.0,
        oracle=Works(tuple([_hidden(answers[name]) for name in order])),
    )


def count(
    ballots: Sequence[Ballot], ratings: Mapping[str, float], first: str, rules: PanelRules
) -> PanelVerdict:
    """Weigh the ballots by the judges' ratings and decide for or against the answer named `first`. UNER,
    stage 5: the score is 1 when the first answer's share of the valid weight exceeds ½ + ε, ½ within ε of ½,
    else 0. With fewer than `QUORUM` of the ballots valid it is None."""
    valid = [ballot for ballot in ballots if ballot.vote != ABSTAIN]
    if len(valid) < quorum(len(ballots)):
        return PanelVerdict(None, None, tuple(ballots))
    shares = weights([ratings[ballot.judge] for ballot in valid], rules.weights, rules.weight_temperature)
    weight = dict(zip([ballot.judge for ballot in valid], shares, strict=True))
    points = {first: 1.0, TIE: 0.5}
    share = math.fsum(weight[ballot.judge] * points.get(ballot.vote, 0.0) for ballot in valid)
    margin = share - 0.5
    score = 0.5 if abs(margin) <= rules.epsilon + _TOLERANCE else 1.0 if margin > 0 else 0.0
    weighed = [msgspec.structs.replace(ballot, weight=weight.get(ballot.judge, 0.0)) for ballot in ballots]
    return PanelVerdict(share, score, tuple(weighed), dict(_by_criteria(valid, weight, points)))


def _by_criteria(
    valid: Sequence[Ballot], weight: Mapping[str, float], points: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """The first answer's share of the valid weight by each criterion; both orders count alike."""
    for name in valid[0].criteria or () if valid else ():
        yield (
            name,
            math.fsum(
                weight[ballot.judge] * points.get(verdict, 0.0) / len(ballot.criteria[name])
                for ballot in valid
                if ballot.criteria
                for verdict in ballot.criteria[name].values()
            ),
        )


def _ballot(judge: str, replies: Mapping[str, Reply], rules: PanelRules) -> Ballot:
    """The vote that a judge's replies, one or two by the order shown, come to."""
    verdicts = {order: _verdict(reply, order, rules) for order, reply in replies.items()}
    by_each: Mapping[str, Mapping[str, str]] | UnsetType = UNSET
    if rules.criteria:
        by_each = {
            criterion.name: {
                order: _named(reply.value.choices[criterion.name], order) if reply.ok else reply.status
                for order, reply in replies.items()
            }
            for criterion in rules.criteria
        }
    given = list(verdicts.values())
    if any(verdict in UNUSABLE for verdict in given):
        return Ballot(judge, ABSTAIN, verdicts, False, criteria=by_each)
    flipped = len(set(given)) > 1
    vote = given[0] if not flipped else ABSTAIN if rules.binary else TIE
    return Ballot(judge, vote, verdicts, flipped, criteria=by_each)


def _verdict(reply: Reply, order: str, rules: PanelRules) -> str:
    """A reply's verdict: by criteria their weighted sum. Where that is even and ties are forbidden, the
    verdict is that of the heaviest criterion, the first of several."""
    if not reply.ok:
        return reply.status
    if not rules.criteria:
        return _named(reply.value.choice, order)
    choices: Mapping[str, str] = reply.value.choices
    lead = math.fsum(criterion.weight * _LEADS[choices[criterion.name]] for criterion in rules.criteria)
    if abs(lead) > _TOLERANCE * math.fsum(criterion.weight for criterion in rules.criteria):
        return _named("A" if lead > 0 else "B", order)
    heaviest = max(rules.criteria, key=lambda criterion: criterion.weight)
    return _named(choices[heaviest.name], order) if rules.binary else TIE


_LEADS = {"A": 1, "B": -1, TIE: 0}


def _named(choice: str, order: str) -> str:
    """The name of the answer that was shown as A or B, or a tie."""
    return order.split("-")["AB".index(choice)] if choice in ("A", "B") else choice


def _exhibit(label: str, answer: str | Reply, rules: PanelRules) -> Quote:
    if isinstance(answer, Reply):
        return Quote.of(label, answer, rules.answer_chars)
    return Quote(label, answer[: rules.answer_chars])


def _hidden(answer: str | Reply) -> Any:
    return answer.hidden if isinstance(answer, Reply) else None


Scheme: TypeAlias = Literal["softmax", "proportional", "equal"]


def weights(ratings: Sequence[float], scheme: Scheme, temperature: float = 300.0) -> tuple[float, ...]:
    """One weight per rating, not negative, summing to 1 (none for no ratings).

    `softmax`: w_k = e^(R_k/τ) / Σ e^(R_j/τ), UNER's federated judgement, with τ = `temperature` in Elo
    points (at 300, a judge 300 points above another weighs e times as much). `proportional`: w_k ∝ R_k, a
    rating below 0 counting as 0. `equal`: 1/n. Safe for ratings of any finite size. Raises ValueError for a
    rating that is not finite or a temperature that is not above 0.
    """
    if not ratings:
        return ()
    if not all(map(math.isfinite, ratings)):
        raise ValueError(f"judges' ratings are {list(ratings)}: expected finite numbers")
    if scheme == "softmax":
        if not temperature > 0:
            raise ValueError(f"weight temperature is {temperature}: expected Elo points above 0")
        top = max(ratings)
        shares = [math.exp((rating - top) / temperature) for rating in ratings]
    elif scheme == "proportional":
        top = max(max(ratings), 0.0)
        shares = [max(rating, 0.0) / top for rating in ratings] if top else [1.0] * len(ratings)
    else:
        shares = [1.0] * len(ratings)
    total = math.fsum(shares)
    return tuple([share / total for share in shares])


# -------------------------------------------------------------------------------------------------- shown


def panel_shown(
    ballots: Sequence[Ballot],
    replies: Replies,
    players: Mapping[str, str],
    criteria: Mapping[str, float] = {},
) -> Iterator[Block]:
    """The panel's ballots; `players` are by label, and judges without a ballot were not needed; `criteria`
    are the first answer's share of the valid weight by each criterion."""
    if not ballots:
        return
    orders = sorted({order for ballot in ballots for order in ballot.verdicts})
    votes = [
        VoteLine(
            ballot.judge,
            tuple([_given(ballot, order, replies) for order in orders]),
            _counts(ballot),
            ballot.weight,
        )
        for ballot in ballots
    ]
    voted = {ballot.judge for ballot in ballots}
    spared = [label for label in players if label.startswith("judge/") and label not in voted]
    votes += [VoteLine(label, (None,) * len(orders), "not needed") for label in spared]
    yield Heading("The judges")
    yield VoteStrip(tuple([f"{order[0]} first" for order in orders]), tuple(votes))
    for name, part in criteria.items():
        first = orders[0].partition("-")[0]
        yield Bar(f"by {name} is for {players[first]} ({first})", part)


def _given(ballot: Ballot, order: str, replies: Replies) -> GivenVerdict | None:
    verdict, reply = ballot.verdicts.get(order, ""), replies.get(f"{ballot.judge}/{order}")
    if not verdict or reply is None:
        return None
    reason = reply.value.reason if isinstance(reply.value, Chosen | ChosenEach) else reply.text
    if verdict in UNUSABLE:
        return GivenVerdict(verdict, reason, reply.key, "bad", reply.reason)
    note = ", ".join([f"{name}: {by[order]}" for name, by in (ballot.criteria or {}).items()])
    return GivenVerdict(verdict, reason, reply.key, note=note)


def _counts(ballot: Ballot) -> str:
    if ballot.flipped:
        return f"{'no vote' if ballot.vote == ABSTAIN else TIE}, flipped"
    return "no vote" if ballot.vote == ABSTAIN else ballot.vote
