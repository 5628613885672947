"""How the answers of a finished tournament are scored again by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from peerage.games.game import Again
from peerage.games.last_arena.rules import QUORUM, LastArenaRules
from peerage.games.last_arena.tables import answers_of
from peerage.games.rejudge import Given, RecordedAnswers, RejudgeRules
from peerage.match import Fixture, Outcome
from peerage.protocol import Reply


def _rules(rules: LastArenaRules) -> RejudgeRules:
    return RejudgeRules(
        by="scores",
        per_call=rules.judgements_per_call,
        normalisation=rules.normalisation,
        explain=rules.explain,
        quorum=QUORUM,
        max_tokens=rules.judge_limit.max_tokens,
        reason_chars=rules.judge_limit.max_chars,
        temperature=rules.judge_limit.temperature,
    )


def _items(
    fixture: Fixture, outcome: Outcome, record: str, said: Mapping[str, Reply]
) -> Iterator[RecordedAnswers]:
    """The scored answers, question by question."""
    rules = LastArenaRules.model_validate(fixture.settings)
    one, many, chars = rules.texts.judge, rules.texts.judge_many, rules.answer_limit.max_chars
    replies, means = answers_of(fixture, said), outcome.detail.get("answers", {})
    scored: dict[str, dict[str, Reply]] = {}
    for answer in means:
        reply = replies.get(answer)
        if reply is not None and reply.status == "ok" and reply.text.strip():
            scored.setdefault(answer.split("/")[0], {})[answer] = reply
    for asked in outcome.detail.get("questions", ()):
        if given := scored.get(asked["id"], {}):
            sort = "trick question" if asked["sort"] == "trick" else "question"
            yield RecordedAnswers(
                source=fixture.number,
                record=record,
                id=asked["id"],
                asked=(one.system, one.user, many.system, many.user),
                given={"question": Given(asked["text"], sort)},
                authors=fixture.authors,
                answers={answer: reply.text[:chars] for answer, reply in given.items()},
                hidden={answer: reply.hidden for answer, reply in given.items()},
                first={answer: means[answer][0] for answer in given},
            )


AGAIN = Again(_rules, _items)
