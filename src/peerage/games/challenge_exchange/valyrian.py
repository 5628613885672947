"""Files of the Valyrian Games: matches in their layout, and the challenges that they publish. Pure.

    games/game_000001.json   one tournament: participants, ranks (0 is best), scores, what was tried
    game_history.json        all of them in order, without their details
    leaderboard.json         skills by exact TrueSkill, as its `method` says, best first

https://github.com/ValyrianTech/ValyrianGamesLeaderboard has the same files. Answers stand as null while
they are sealed. `peerage rate FOLDER/games --format valyrian` gives the table of `leaderboard.json` again.
Challenges with code are files of ValyrianTech/ValyrianGamesCodingChallenge (`published_challenge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from peerage.game.match import MatchRecord, Totals
from peerage.ratings.columns.history import Game, games
from peerage.ratings.sequential import trueskill
from peerage.values.sealing import Sealed, unseal

METHOD = "TrueSkill, draw probability 0, in the exact limit of ties (not the trueskill package's rounding)"
"""The method by which `leaderboard.json` has its skills, in words."""
_PREVIEW = 100
"""Characters of a challenge that a summary shows."""


class FinishedMatch(NamedTuple):
    """A match with a result: its record with what is sealed left out, the players and what each earned in
    seat order, when it ended, and the seconds that each player took in all."""

    record: MatchRecord
    game: str
    players: tuple[str, ...]
    earned: Sequence[float]
    at_ms: int
    seconds: Mapping[str, float]


def files(matches: Iterable[FinishedMatch]) -> Iterator[tuple[str, str]]:
    """The path of each file below its folder, and its JSON text."""
    history: list[dict[str, Any]] = []
    metrics: list[Mapping[str, Mapping[str, Any]]] = []
    for match in matches:
        game, detail = _game(match), _detail(match.record, match.players, match.seconds)
        history.append(game)
        metrics.append(detail["performance_metrics"])
        yield f"games/{game['game_id']}.json", _json({**game, "additional_info": detail})
    yield "game_history.json", _json(history)
    yield "leaderboard.json", _json(_leaderboard(history, metrics))


def _game(match: FinishedMatch) -> dict[str, Any]:
    exact = [round(points, 9) for points in match.earned]
    return {
        "game_id": f"game_{match.record.number:06}",
        "date": datetime.fromtimestamp(match.at_ms / 1e3, UTC).isoformat().replace("+00:00", "Z"),
        "game_type": match.game,
        "participants": list(match.players),
        "ranks": [sum(other > points for other in exact) for points in exact],
        "scores": [int(points) if points == int(points) else points for points in exact],
        "description": f"{match.game}, {len(match.players)} contenders, match {match.record.number}",
    }


def _detail(record: MatchRecord, players: Sequence[str], seconds: Mapping[str, float]) -> dict[str, Any]:
    written = [_plain(fact) for fact in record.outcome.facts if fact.get("fact") == "challenge"]
    tried = [_plain(fact) for fact in record.outcome.facts if fact.get("fact") == "attempt"]
    solved = sum(attempt["result"] == "correct" for attempt in tried)
    return {
        "tournament_details": {
            "num_contenders": len(players),
            "num_challenges": len({attempt["challenge_id"] for attempt in tried}),
            "total_attempts": len(tried),
            "overall_success_rate": solved / len(tried) if tried else None,
        },
        "performance_metrics": {
            player: _metrics(
                record.totals.get(player, Totals()),
                seconds.get(player, 0.0),
                [attempt for attempt in tried if attempt["llm_id"] == player],
                sum(challenge["author_llm"] == player for challenge in written),
            )
            for player in players
        },
        "challenges_summary": [
            {
                "creator": challenge["author_llm"],
                "expected_answer": challenge["reference_answer"],
                "prompt_preview": challenge["description"][:_PREVIEW],
            }
            for challenge in written
        ],
        "challenges": written,
        "attempts": tried,
    }


def _plain(fact: Mapping[str, Any]) -> dict[str, Any]:
    """A fact as Valyrian's schema has it: an answer, or null where it is sealed."""
    plain = {key: value for key, value in fact.items() if key not in ("fact", "proof", "solution", "votes")}
    for field in ("reference_answer", "submitted_answer"):
        if field in plain:
            try:
                plain[field] = unseal(plain[field])
            except Sealed:
                plain[field] = None
    return plain


def _metrics(
    total: Totals, seconds: float, tried: Sequence[Mapping[str, Any]], written: int
) -> dict[str, Any]:
    tokens = total.input_tokens + total.output_tokens
    cost = None if total.unknown_costs else total.cost_nano / 1e9
    right = [attempt for attempt in tried if attempt["result"] == "correct"]
    own = sum(attempt["own_challenge"] for attempt in right)
    return {
        "total_tokens": tokens,
        "total_cost": cost,
        "total_time": seconds,
        "total_attempts": len(tried),
        "successful_attempts": len(right),
        "challenges_created": written,
        "own_challenges_solved": own,
        "others_challenges_solved": len(right) - own,
        "tokens_per_second": tokens / seconds if seconds else None,
        "tokens_per_dollar": tokens / cost if cost else None,
        "success_rate": len(right) / len(tried) if tried else None,
    }


def _leaderboard(
    history: Sequence[Mapping[str, Any]], metrics: Sequence[Mapping[str, Mapping[str, Any]]]
) -> dict[str, Any]:
    """Skills, results counted pair by pair, and means of cost and speed over a model's games."""
    places: dict[str, int] = {}
    for game in history:
        for name in game["participants"]:
            places.setdefault(name, len(places))
    played = [
        Game(tuple([(places[name],) for name in game["participants"]]), tuple(map(float, game["ranks"])))
        for game in history
    ]
    settings = trueskill.TrueSkillSettings(draw_probability=0.0)
    table = trueskill.rate(games(len(places), played, seats="each"), settings)
    models = [
        {
            "name": name,
            "mu": float(table.mu[at]),
            "sigma": float(table.sigma[at]),
            "games_played": sum(name in game["participants"] for game in history),
            **_pairs(name, history),
            "conservative_rating": float(table.mu[at] - 3 * table.sigma[at]),
            "avg_total_cost": _mean(name, "total_cost", metrics),
            "avg_tokens_per_second": _mean(name, "tokens_per_second", metrics),
        }
        for name, at in places.items()
    ]
    return {
        "last_updated": max((game["date"] for game in history), default=None),
        "method": METHOD,
        "models": sorted(models, key=lambda model: (-model["mu"], model["name"])),
    }


def _pairs(name: str, history: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Opponents that a model was ahead of, behind, and level with, over all its games."""
    wins = losses = draws = 0
    for game in history:
        if name in game["participants"]:
            own = game["ranks"][game["participants"].index(name)]
            wins += sum(rank > own for rank in game["ranks"])
            losses += sum(rank < own for rank in game["ranks"])
            draws += game["ranks"].count(own) - 1
    return {"wins": wins, "losses": losses, "draws": draws}


def _mean(name: str, field: str, metrics: Sequence[Mapping[str, Mapping[str, Any]]]) -> float | None:
    known = [metric[name][field] for metric in metrics if name in metric and metric[name][field] is not None]
    return sum(known) / len(known) if known else None


def published_challenge(record: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """A file of ValyrianTech/ValyrianGamesCodingChallenge as a record of ours, and how its author did; None
    for what is no such file. Raises ValueError for a challenge that was rejected there."""
    challenge = record.get("challenge")
    if not isinstance(challenge, dict):
        return None
    checked, metrics = (
        known if isinstance(known := record.get(field), dict) else {}
        for field in ("validation_results", "performance_metrics")
    )
    solved = f"{checked.get('correct_answers')} of {checked.get('total_attempts')} blind attempts"
    if record.get("status") != "ACCEPTED":
        raise ValueError(
            f"it was rejected where it was made, with {solved} right; only accepted ones are entered"
        )
    known = {
        "author_llm": metrics.get("model_name"),
        "description": challenge.get("challenge_prompt"),
        "reference_answer": challenge.get("expected_answer"),
        "solution": challenge.get("example_code"),
    }
    return known, solved


def _json(data: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
