"""Battles as FastChat's arena logs them, and as LMArena's first releases have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peerage.ratings.fields import needed, short
from peerage.ratings.streams import DataError

_VOTES = {
    "leftvote": "model_a",
    "rightvote": "model_b",
    "tievote": "tie",
    "bothbad_vote": "tie (bothbad)",
}
_SIDES = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_YES = (1, "1", True, "True", "true")


def vote_of(row: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """A line of a FastChat log as a battle, with the voter's address under `ip`; None for a line that is no
    vote between two models.

    Which model answered is in the conversations' state where the battle was anonymous, else beside them.
    """
    winner = _VOTES.get(str(row.get("type")))
    states, named = row.get("states"), row.get("models")
    if winner is None or not isinstance(states, list) or len(states) != 2:
        return None
    shown = named if isinstance(named, list) and len(named) == 2 else ["", ""]
    models = [
        (state.get("model_name") if isinstance(state, Mapping) else None) or public
        for state, public in zip(states, shown, strict=True)
    ]
    if not all(isinstance(one, str) and one for one in models):
        raise DataError(f"{where}: a vote between {short(models)}, expected the names of two models")
    if models[0] == models[1]:
        return None
    first: Any = states[0] if isinstance(states[0], Mapping) else {}
    return {
        "model_a": models[0],
        "model_b": models[1],
        "winner": winner,
        "question_id": first.get("conv_id"),
        "tstamp": needed(row, "tstamp", where),
        "ip": str(row.get("ip") or ""),
    }


def one_hot(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with the column `winner`, made from `winner_model_a`, `winner_model_b` and `winner_tie` where it
    has these instead."""
    if "winner" in row or not _SIDES.keys() <= row.keys():
        return row
    won = [word for column, word in _SIDES.items() if row[column] in _YES]
    return {**row, "winner": won[0] if len(won) == 1 else ""}
