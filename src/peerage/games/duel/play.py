"""The peer duel of UNER: a challenge is drafted and approved, two players answer it, their peers judge.

    author      > Why do long suspension bridges have decks that ...?          (question/1/1)
    committee/1 > {"reason": "One reading, and it can be answered.", "vote": "approve"}
    A, B        > ...                                                          (answer/A, answer/B)
    judge/1     > {"reason": "Only the first names the cause.", "verdict": "A"}  (judge/1/A-B)
    judge/2     > {"reason": "The second is vague.", "verdict": "A"} in the other order: they disagree
    judge/3     > {"reason": "Only the second says when.", "verdict": "B"}       (judge/3/A-B)

Stages 3 to 5 of UNER; the README in this folder states every rule. In short: no approved challenge voids the
match (`no_challenge`), so does a contestant whose provider failed (`no_answer`) and a panel with too few
valid votes (`inconclusive`). An answer that is empty or refused loses to one that is not, without judges; two
such answers tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from peerage.challenges.drafting import (
    DRAFT_CHARS,
    DRAFT_TOKENS,
    OBJECTION_CHARS,
    VOTE_TOKENS,
    VOTES,
    drafting,
    drafts_of,
    drafts_shown,
    needed_share,
    question_shown,
)
from peerage.game import (
    Asks,
    Block,
    Choice,
    Demo,
    Fixture,
    GameMemory,
    GameSpec,
    GameTable,
    Heading,
    HouseCall,
    HouseReply,
    Judging,
    Outcome,
    Quote,
    Rejudging,
    Replies,
    Reply,
    Role,
    RoleRequirement,
    Seat,
    Secrecy,
    Sentence,
    Steps,
    TaskText,
    Text,
    ending,
    player_names,
    presets,
    quoted,
    usual,
)
from peerage.game.bounds import QUOTE
from peerage.game.house import DRAFT_SPREAD, WORDS, subject, worth
from peerage.game.texts import toml
from peerage.games.duel.prompts import DuelKind, judging, kind_of
from peerage.games.duel.rules import FEWEST, DuelRules
from peerage.games.duel.shared import AUTHORS, CHALLENGE, SharedChallenges, authors_of, draw, request_of
from peerage.games.given import facts, given_or_asked, settled
from peerage.games.judged import judges_required, verdicts_asked
from peerage.games.rejudge import RejudgeRules
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.panel import panel, panel_shown


def play(table: GameTable) -> Steps[Outcome]:
    """One duel between the two seats of `table`; what was not answered before is asked for."""
    rules: DuelRules = table.rules
    kind = kind_of(rules)
    detail: dict[str, Any] = {"topic": table.drawn["topic"]}
    texts = {name: Quote(name, text) for name, text in table.drawn.get(CHALLENGE, {}).items()}
    if not texts:
        drafted = yield from drafting(
            _turns(table.officials["author"], kind),
            table.officials["committee"],
            kind.stages,
            kind.vote,
            table.drawn["topic"],
            max_drafts=rules.max_drafts,
            approval=rules.approval,
            early_stop=rules.early_stop,
        )
        detail["drafts"] = [msgspec.to_builtins(draft) for draft in drafted.drafts]
        if drafted.texts is None:
            return Outcome(void="no_challenge", detail=detail)
        texts = {**drafted.texts}
    fills = {"limit": str(rules.max_chars), "judging": judging(kind.judge, rules.panel())}
    asks = [
        kind.answer.ask(
            seat.label,
            f"answer/{seat.label}",
            Text(rules.max_chars),
            {**texts, **fills},
            rules.max_tokens,
            temperature=rules.temperature,
        )
        for seat in table.seats
    ]
    plain = {name: quote.text for name, quote in texts.items()}
    request = request_of(rules, plain)
    requests = {seat.player: request for seat in table.seats}
    answers = yield from given_or_asked(table, asks, requests)
    outcome = yield from _compared(table, texts, answers, detail)
    if rules.players_per_challenge == 2:
        return outcome
    new = facts(table, answers, requests, request if settled(outcome) else "")
    if CHALLENGE not in table.drawn:
        new |= {CHALLENGE: plain, AUTHORS: authors_of(table)}
    return msgspec.structs.replace(outcome, facts=(new,))


def _compared(
    table: GameTable, texts: Mapping[str, Quote], answers: Mapping[str, Reply], detail: dict[str, Any]
) -> Steps[Outcome]:
    """The outcome of two answers, by label."""
    rules: DuelRules = table.rules
    detail["answers"] = {label: reply.status for label, reply in answers.items()}
    if any(reply.status == "void" for reply in answers.values()):
        return Outcome(void="no_answer", detail=detail)

    first, second = answers
    if not all(reply.ok for reply in answers.values()):
        score = 0.5 + (answers[first].ok - answers[second].ok) / 2
        detail["decided"] = "without judges"
        return Outcome(scores={first: score, second: 1 - score}, detail=detail)

    verdict = yield from panel(
        table.officials["judge"], answers, texts, rules.panel(), kind_of(rules).judge, table.rng("order")
    )
    detail |= {"decided": "by judges", **verdict.detail()}
    if verdict.score is None:
        return Outcome(void="inconclusive", detail=detail)
    return Outcome(scores={first: verdict.score, second: 1 - verdict.score}, detail=detail)


def _turns(authors: Sequence[Seat], kind: DuelKind) -> list[tuple[Seat, ...]]:
    """Return who writes which stage, turn by turn: authors rotate, so that each leads once."""
    return [
        tuple([authors[(lead + place) % len(authors)] for place in range(len(kind.stages))])
        for lead in range(len(authors))
    ]


def asks(rules: DuelRules, fixture: Fixture) -> tuple[Asks, ...]:
    """One answer from each contestant; at worst, every turn with all its drafts, all voted down."""
    kind = kind_of(rules)
    parts = len(kind.stages)
    authors, members = (len(fixture.officials.get(role, ())) for role in ("author", "committee"))
    challenge = parts * (DRAFT_CHARS + QUOTE)
    objections = members * (OBJECTION_CHARS + 2) + QUOTE
    answer = rules.max_chars + QUOTE
    panel_rules, vote, drafts = rules.panel(), Choice("vote", VOTES), rules.max_drafts
    votes = 1.3 * (needed_share(members, rules.approval) if rules.early_stop else 1)
    judge = panel_rules.asks(kind.judge, ())

    limits = {
        "contestant": (rules.max_tokens, rules.max_chars),
        "author": (DRAFT_TOKENS, DRAFT_CHARS),
        "committee": (VOTE_TOKENS, OBJECTION_CHARS),
    }

    def sort(role: Role, prompts: Any, expects: Any, calls: int, usual: float, quoted: int) -> Asks:
        most, chars = limits[role]
        return Asks(role, prompts, expects, calls, most, quoted, usual, usual_output=chars // 10)

    again, writing = [stage.again for stage in kind.stages], 1.3 * parts / max(authors, 1)
    contestant = sort("contestant", kind.answer, Text(answer), 1, 1, challenge)
    return (
        *[contestant._replace(to=seat.label) for seat in fixture.seats if seat.label not in fixture.given],
        # authors rotate, so over all turns each writes every part once a draft
        sort("author", again, Text(), drafts * parts, writing, challenge + objections),
        sort("committee", kind.vote, vote, drafts * authors, votes, challenge),
        *verdicts_asked(fixture, panel_rules, judge, challenge + 2 * answer),
    )


def officials(rules: DuelRules) -> tuple[RoleRequirement, ...]:
    """Authors, committee and judges."""
    same_family = not rules.exclude_family
    judges = judges_required(rules.judges, FEWEST, rules.panel())._replace(same_family=same_family)
    committee = RoleRequirement(
        "committee", rules.committee, min(FEWEST, rules.committee), same_family=same_family
    )
    if rules.author == "contestant":
        return RoleRequirement("author", 2, 2, "contestants"), committee, judges
    fewest = len(kind_of(rules).stages)
    return RoleRequirement("author", 2, fewest, "top_quarter", same_family=same_family), committee, judges


DEMO_TOPICS = [
    "writing and repairing code",
    "logic and puzzles",
    "summarising and editing text",
    "law and public policy",
    "planning and everyday problems",
]
"""Few enough that 300 matches say something of each."""


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    if call.role != "author":
        return usual(call, skill, rng)
    return HouseReply(_draft(call, rng), worth(rng.gauss(skill, DRAFT_SPREAD)))


def _draft(call: HouseCall, rng: Random) -> str:
    topic = (call.oracle or {}).get("topic", "")
    own = toml(__package__, "house")
    if call.key.startswith("case/"):
        case = rng.choice(own["cases"]).replace("@", rng.choice(own["complaints"]))
        age, pulse = 24 + rng.randrange(60), 58 + rng.randrange(60)
        return str(case.format(age=age, pulse=pulse, field=topic or "general medicine"))
    if any("<<<case " in content for _, content in call.messages):
        return str(rng.choice(own["case_questions"]).replace("@", subject(call)))
    subjects = WORDS["subjects"].get(topic) or (topic or "a question of your own",)
    return str(rng.choice(own["questions"]).replace("@", rng.choice(subjects)))


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT = {
    "no_challenge": "No draft was approved, so there was nothing to answer.",
    "no_answer": "The provider of a contestant failed, so there is no result.",
    "inconclusive": "Too few judges gave a valid vote, so there is no result.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The question, the answers, the judges, the result."""
    drafts = drafts_of(outcome)
    yield from question_shown(drafts, replies)
    if shared := fixture.drawn.get(CHALLENGE):
        yield Heading("The question")
        yield Sentence(f"It was drafted in match {fixture.shares}.")
        yield from [TaskText(text, name, prose=True) for name, text in shared.items()]
    given = [replies[key] for seat in fixture.seats if (key := f"answer/{seat.label}") in replies]
    if given:
        yield Heading("The answers")
        yield from (quoted(reply, prose=True) for reply in given)
    criteria = outcome.detail.get("criteria", {})
    yield from panel_shown(ballots_of(outcome), replies, player_names(fixture), criteria)
    members = [seat.label for seat in fixture.officials.get("committee", ())]
    yield from drafts_shown(drafts, replies, members)
    if outcome.void:
        yield from ending(fixture, outcome, "", {}, _NO_RESULT)


def _forgets(rules: DuelRules) -> str:
    """Return why players that remember may not play: who judged answers to a challenge may be asked it."""
    if rules.players_per_challenge == 2:
        return ""
    return "it may be asked a challenge on which it judged others. Set `players_per_challenge: 2`"


GAME: GameSpec[DuelRules] = GameSpec(
    name="duel",
    version=9,
    texts=__package__,
    about="Two players answer a challenge that peers drafted; peers judge.",
    contestants=(2, 2),
    rules=DuelRules,
    presets=presets(__package__),
    play=play,
    officials=officials,
    draw=draw,
    asks=asks,
    survives=True,
    house=house,
    show=show,
    judging=Judging(again=Rejudging(lambda rules: RejudgeRules.like(rules.panel()))),
    demo=Demo(rules={"topics": DEMO_TOPICS}),
    secrecy=Secrecy(forgets=_forgets),
    memory=GameMemory(
        make=SharedChallenges, applies=lambda rules: rules.players_per_challenge > 2, meets=True
    ),
)
