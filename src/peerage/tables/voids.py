"""Why matches have no result, in words."""

from __future__ import annotations

REASONS = {
    "no_answer": "a contestant's provider failed; see the failures below",
    "no_challenge": "no draft was agreed on; see the committee's objections, or allow more drafts in `rules`",
    "no_questions": "too few authors delivered questions; see their replies",
    "inconclusive": "too few judges gave a usable verdict; see why below, and take other judges or raise "
    "their `max_tokens`",
    "broken_encoding": "neither encoding could be decoded; the task is too hard for these players",
    "deadline": "they took longer than `engine.match_deadline_s`; raise it, or `requests_per_minute`",
    "match_budget": "they may cost more than `budget.match`; raise it, or lower `max_tokens`",
    "player_budget": "the budget of that player is spent; raise `budget.player`",
    "benched": "nothing gets through to that player; fix it, then run again",
    "dropped": "ended by `peerage queue --drop`; `peerage match` shows why",
    "withdrawn": "that player is no longer in arena.yaml",
    "not playable here": "issued for another version of the game",
    "sandbox_error": "the sandbox failed; `peerage sandbox check` says why",
    "development": "a trial, as the rules say; nothing failed",
}
"""What each reason for a missing result means, and after a semicolon what to change."""


def in_words(status: str) -> str:
    """The status of a match without a result as people read it; one that no game of ours gives, as it is."""
    told = REASONS.get(status.partition(":")[0])
    return status.replace("_", " ") if told is None else told.partition(";")[0].replace("`", "")
