"""The most that one duel can ask of each seat: what the plan shows and the budget reserves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from peerage.games.duel.prompts import OWN_ANSWER, PRESETS
from peerage.games.duel.rules import DuelRules, Limit
from peerage.games.game import REPAIR_BYTES, CallBound
from peerage.match import Fixture
from peerage.protocol import Prompt

_FENCE = 100  # bytes of a quote's two markers, generously
_SMALL = 1_000  # bytes of all the short fills of a prompt: format, topic, limit, generously
_CHAR = 4  # bytes of a character in UTF-8, at most
_USUAL_TOKENS = 1 / 4  # tokens a byte of English, roughly


def bounds(rules: DuelRules, fixture: Fixture) -> tuple[CallBound, ...]:
    """One bound for each seat; no play of the fixture, whatever is replied, exceeds it.

    The worst case: every turn with all its drafts, texts as long as allowed, every reply repaired once.
    """
    shape = _shape(
        rules.preset,
        rules.max_drafts,
        rules.order == "both",
        rules.author_limit,
        rules.committee_limit,
        rules.contestant_limit,
        rules.judge_limit,
        len(fixture.officials.get("committee", ())),
        len(fixture.officials.get("author", ())),
        len(fixture.drawn.get("prompt", "").encode()),
    )
    roles = [("contestant", fixture.seats), *fixture.officials.items()]
    return tuple([shape[role]._replace(seat=seat.label) for role, seats in roles for seat in seats])


@lru_cache(maxsize=64)
def _shape(
    preset: str,
    max_drafts: int,
    both: bool,
    author: Limit,
    committee: Limit,
    contestant: Limit,
    judge: Limit,
    members: int,
    authors: int,
    own_bytes: int,
) -> dict[str, CallBound]:
    """The bound of each role, its seat's label left empty."""
    prompts = PRESETS[preset]
    parts = len(prompts.stages)
    draft = _CHAR * author.max_chars + _FENCE
    answer = _CHAR * contestant.max_chars + _FENCE
    objections = members * (_CHAR * committee.max_chars + 3) + _FENCE
    challenge = 3 * own_bytes + _FENCE if own_bytes else parts * draft
    to_answer = OWN_ANSWER if own_bytes else prompts.answer
    again = [stage.again for stage in prompts.stages]
    return {
        "contestant": _bound(2, 1.0, [to_answer], challenge, contestant, 300),
        # authors rotate, so over all turns each writes every part once a draft
        "author": _bound(
            2 * max_drafts * parts,
            1.3 * parts / max(authors, 1),
            again,
            parts * draft + objections,
            author,
            0,
        ),
        "committee": _bound(2 * max_drafts * authors, 1.3, [prompts.vote], challenge, committee, 150 * parts),
        "judge": _bound(
            4 if both else 2, 2.0 if both else 1.0, [prompts.judge], challenge + 2 * answer, judge, 1_000
        ),
    }


def _bound(
    worst: int, expected: float, prompts: Iterable[Prompt], quoted: int, limit: Limit, usual_tokens: int
) -> CallBound:
    size = max(len(prompt.system.encode()) + len(prompt.user.encode()) for prompt in prompts)
    return CallBound(
        seat="",
        expected=expected,
        worst=worst,
        input_bytes=size + quoted + _SMALL + REPAIR_BYTES,
        usual_input_tokens=round(size * _USUAL_TOKENS) + usual_tokens,
        usual_output_tokens=min(limit.max_tokens, limit.max_chars // 10),
        max_tokens=limit.max_tokens,
    )
