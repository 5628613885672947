"""The most that one tournament can ask of each player, phase by phase: what the plan shows and the budget
reserves."""

from __future__ import annotations

from typing import NamedTuple

from peerage.games.duel.rules import Limit
from peerage.games.game import REPAIR_BYTES, CallBound
from peerage.games.last_arena.rules import SCORE_TOKENS, LastArenaRules, PromptText
from peerage.judging.questions import calls
from peerage.match import Fixture

_FENCE = 160  # bytes of a quote's two markers and of what stands around it, generously
_SMALL = 4_000  # bytes of all the short fills of a prompt and of its format, generously
_CHAR = 4  # bytes of a character in UTF-8, at most
_QUESTION_TOKENS, _ANSWER_TOKENS = 60, 250  # as they usually are
_USUAL_TOKENS = 1 / 4  # tokens a byte of English, roughly
_REPAIRED = 1.02


class _Phase(NamedTuple):
    """Calls to one seat: usual and at most (repairs apart), the bytes that players' texts take in a request,
    and the usual tokens of these and of a reply."""

    prompts: tuple[PromptText, ...]
    limit: Limit
    usual: float
    worst: int
    quoted: int
    quoted_tokens: int
    reply_tokens: int


def bounds(rules: LastArenaRules, fixture: Fixture) -> tuple[CallBound, ...]:
    """One bound for each seat and phase. The worst case: every question written, every reply repaired, and
    every list of scores unusable all the same and asked again item by item."""
    phases = _phases(rules, len(fixture.seats))
    return tuple([_bound(seat.label, phase) for seat in fixture.seats for phase in phases])


def _phases(rules: LastArenaRules, players: int) -> tuple[_Phase, ...]:
    wanted, prompts = rules.wanted(), rules.prompts
    written = sum([one.number for one in wanted])
    kept = sum([players * one.number - rules.dropped(players * one.number) for one in wanted])
    budgets = max(1, len(rules.answer_budgets))
    answered = kept if rules.own_questions else min(kept, (players - 1) * written)
    most = [*rules.answer_budgets, *([] if rules.answer_budgets else [rules.answer_limit.max_tokens])]
    rated, judged = (players - 1) * written, (players - 1) * answered * budgets
    question = _CHAR * rules.question_limit.max_chars + _FENCE
    both = question + _CHAR * rules.answer_limit.max_chars + _FENCE
    write = calls(wanted, rules.writing())
    seen = written + (rules.spare_calls + 1) * rules.questions_per_call
    return (
        _Phase(
            (prompts.write, prompts.meta, prompts.trick),
            rules.question_limit,
            write - rules.spare_calls,
            write,
            seen * question + len(prompts.again.encode()),
            written * _QUESTION_TOKENS // 2,
            min(written, rules.questions_per_call) * _QUESTION_TOKENS,
        ),
        _scored(
            (prompts.rate, prompts.rate_many),
            rules.rating_limit,
            rated,
            rules.ratings_per_call,
            question,
            _QUESTION_TOKENS,
        ),
        _Phase(
            (prompts.answer,),
            rules.answer_limit.model_copy(update={"max_tokens": max(most)}),
            answered * budgets,
            answered * budgets,
            question,
            _QUESTION_TOKENS,
            sum([min(_ANSWER_TOKENS, limit) for limit in most]) // len(most),
        ),
        _scored(
            (prompts.judge, prompts.judge_many),
            rules.judge_limit,
            judged,
            rules.judgements_per_call,
            both,
            _QUESTION_TOKENS // 2 + _ANSWER_TOKENS,
        ),
    )


def _scored(
    prompts: tuple[PromptText, ...], limit: Limit, items: int, per_call: int, quoted: int, tokens: int
) -> _Phase:
    parcels, together = -(-items // per_call), min(items, per_call)
    singles = items if per_call > 1 else 0
    return _Phase(
        prompts,
        limit,
        parcels,
        parcels + singles,
        together * quoted,
        together * tokens,
        together * SCORE_TOKENS,
    )


def _bound(seat: str, phase: _Phase) -> CallBound:
    size = max(len((prompt.system + prompt.user).encode()) for prompt in phase.prompts)
    return CallBound(
        seat=seat,
        expected=_REPAIRED * phase.usual,
        worst=2 * phase.worst,
        input_bytes=size + phase.quoted + _SMALL + REPAIR_BYTES,
        usual_input_tokens=round(size * _USUAL_TOKENS) + phase.quoted_tokens,
        usual_output_tokens=min(phase.limit.max_tokens, phase.reply_tokens),
        max_tokens=phase.limit.max_tokens,
    )
