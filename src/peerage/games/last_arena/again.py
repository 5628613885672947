"""How the answers of a finished tournament are scored again by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from peerage.games.game import Again
from peerage.games.last_arena.rules import LastArenaRules
from peerage.games.last_arena.tables import answers_of
from peerage.games.rescoring import RescoredQuestion, RescoringRules
from peerage.match import Fixture, Outcome
from peerage.protocol import Reply


def _rules(rules: LastArenaRules) -> RescoringRules:
    return RescoringRules(
        per_call=rules.judgements_per_call,
        normalisation=rules.normalisation,
        explain=rules.explain,
        quorum=rules.quorum,
        max_tokens=rules.judge_limit.max_tokens,
        reason_chars=rules.judge_limit.max_chars,
        temperature=rules.judge_limit.temperature,
    )


def _items(
    fixture: Fixture, outcome: Outcome, record: str, said: Mapping[str, Reply]
) -> Iterator[RescoredQuestion]:
    """The scored answers, question by question."""
    rules = LastArenaRules.model_validate(fixture.settings)
    one, many, chars = rules.prompts.judge, rules.prompts.judge_many, rules.answer_limit.max_chars
    replies, means = answers_of(fixture, said), outcome.detail.get("answers", {})
    scored: dict[str, dict[str, Reply]] = {}
    for answer in means:
        reply = replies.get(answer)
        if reply is not None and reply.status == "ok" and reply.text.strip():
            scored.setdefault(answer.split("/")[0], {})[answer] = reply
    for asked in outcome.detail.get("questions", ()):
        if given := scored.get(asked["id"], {}):
            yield RescoredQuestion(
                fixture.number,
                record,
                asked["id"],
                (one.system, one.user, many.system, many.user),
                asked["text"],
                asked["sort"] == "trick",
                fixture.authors,
                {answer: reply.text[:chars] for answer, reply in given.items()},
                {answer: reply.hidden for answer, reply in given.items()},
                {answer: means[answer][0] for answer in given},
            )


AGAIN = Again(_rules, _items)
