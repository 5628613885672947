"""Single results of Every Eval Ever (evaleval/every_eval_ever, instance level, schema 0.2.1) as answers: who
solved which sample. Those that `peerage export --format eee` wrote are matches between their players.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SAMPLE = frozenset(("evaluation_id", "model_id", "sample_id", "evaluation"))
_RECORD = frozenset(("evaluation_id", "evaluation_results", "model_info"))
_PLAYER = "peerage_player"
"""The entry of a sample's metadata that holds a player's name; only our exports have it."""


def is_sample(row: Mapping[str, Any]) -> bool:
    """Whether a row is a single result."""
    return row.keys() >= _SAMPLE and isinstance(row["evaluation"], dict)


def is_record(row: Mapping[str, Any]) -> bool:
    """Whether a row is a model's record, which states means and no single results."""
    return row.keys() >= _RECORD


def as_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """A single result as an answer, for judges with `question` and `answer`; None for what is not there.
    `match` says whether those who share its challenge met in a match."""
    evaluation, about = row["evaluation"], row.get("metadata") or {}
    asked, said = row.get("input") or {}, (row.get("output") or {}).get("raw") or []
    score = evaluation.get("score")
    return {
        "player": about.get(_PLAYER) or row["model_id"],
        "challenge": f"{row.get('evaluation_name', '')}/{row['sample_id']}",
        "solved": evaluation.get("is_correct") if score is None else score,
        "epoch": 1,
        "question": asked.get("raw", ""),
        "answer": said[0] if len(said) == 1 and not row.get("error") else None,
        "match": _PLAYER in about,
    }


def match_of(challenge: str) -> tuple[int, str]:
    """What puts the challenges of matches in their order: the number, the evaluation."""
    evaluation, _, number = challenge.rpartition("/")
    return int(number) if number.isdecimal() else 0, evaluation
