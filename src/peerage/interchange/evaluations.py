"""An arena in the forms that others collect: Every Eval Ever's records, and `.eval_results` of model
repositories. Each function gives files by name; nothing is written here.

Formats: evaleval/every_eval_ever, schema 0.2.1; huggingface.co/docs/hub/eval-results.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml

from peerage.game.match import Fixture
from peerage.game.media import worded
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_record
from peerage.ledger.forms.merkle import GENESIS
from peerage.ledger.out.export import documents
from peerage.values.figures import counted
from peerage.values.texts import visible
from peerage.views.leaderboard.board import Leaderboard
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS, Track

SCHEMA = "0.2.1"
"""Of Every Eval Ever."""
INSTANCES = "instance_level_eval_0.2.1"
"""Of its single results."""

File = tuple[str, str]
_RATINGS = 0.0, 3000.0
"""Bounds stated for a rating, which has none, where all of the table lie within."""


def _chain(ledger: Ledger) -> str:
    """The chain value after the last match, in hex."""
    last = ledger.heads()[1]
    return next((row.chain for row in ledger.records(last, last)), GENESIS).hex()


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def every_eval_ever(
    ledger: Ledger, name: str, board: Leaderboard, version: str, at_ms: int
) -> Iterator[File]:
    """A record for each ranked player: its rating on the board's track with the 95% interval, its share of
    the points, and where tasks have a check its accuracy; next to it its matches, which `peerage rate` reads
    (`ratings.read`). `at_ms` is when it is written, `version` that of Peerage."""
    head, where = _chain(ledger), _slug(name)
    last = max([row.at_ms for row in ledger.summaries(max(1, ledger.heads()[1]))], default=at_ms)
    ends = [end for row in board.rows for end in (row.lower, row.rating, row.upper) if end is not None]
    bounds = min([_RATINGS[0], *ends]), max([_RATINGS[1], *ends])
    played = _samples(ledger, f"{where}/share-of-points")
    for row in board.rows:
        if row.rank is None:
            continue
        developer, model, platform = _identity(row)
        whose = {"model_id": f"{developer}/{model}"}
        evaluation = {"evaluation_id": f"{where}/{developer}_{model}/{at_ms / 1000:.0f}"}
        file = f"data/{where}/{developer}/{model}/{uuid5(NAMESPACE_URL, f'{head}/{row.player}')}"
        of = {"schema_version": INSTANCES, **evaluation, **whose}
        samples = "".join([_line({**of, **sample}) for sample in played[row.player]])
        record = {
            "schema_version": SCHEMA,
            **evaluation,
            "evaluation_timestamp": f"{last / 1000:.0f}",
            "retrieved_timestamp": f"{at_ms / 1000:.0f}",
            "source_metadata": {
                "source_name": visible(name),
                "source_type": "evaluation_run",
                "source_organization_name": visible(name),
                "evaluator_relationship": "third_party",
                "additional_details": {"chain_head": head, "matches": str(board.verdict.matches)},
            },
            "eval_library": {"name": "peerage", "version": version},
            "model_info": {
                "name": visible(row.player),
                "id": whose["model_id"],
                "developer": developer,
                "inference_platform": platform,
            },
            "evaluation_results": [*_results(where, name, board.track, bounds, row)],
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": f"{file}.jsonl",
                "hash_algorithm": "sha256",
                "checksum": sha256(samples.encode("utf-8", "replace")).hexdigest(),
                "total_rows": len(played[row.player]),
            },
        }
        yield f"{file}.json", json.dumps(record, indent=2) + "\n"
        yield f"{file}.jsonl", samples


def _results(
    where: str, name: str, track: Track, bounds: tuple[float, float], row: Row
) -> Iterator[dict[str, Any]]:
    """Yield a player's rating, its share of the points, and where tasks have a check its accuracy."""

    def result(
        what: str, about: str, within: tuple[float, float], score: float, samples: int, **interval: Any
    ) -> dict[str, Any]:
        known = interval.get("lower") is not None and interval.get("upper") is not None
        sure = {"confidence_interval": interval} if known else {}
        return {
            "evaluation_name": f"{where}/{what}",
            "source_data": {"dataset_name": visible(name), "source_type": "other"},
            "metric_config": {
                "evaluation_description": about,
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": within[0],
                "max_score": within[1],
            },
            "score_details": {"score": score, "uncertainty": {"num_samples": samples, **sure}},
        }

    others = "in matches against the other models of the arena"
    ends: dict[str, Any] = {
        "lower": row.lower,
        "upper": row.upper,
        "confidence_level": 0.95,
        "method": row.track,
    }
    yield result(track, f"{METHODS[track].name} rating {others}", bounds, row.rating, row.matches, **ends)
    share = (row.wins + row.draws / 2) / row.matches
    yield result("share-of-points", f"Share of points {others}", (0.0, 1.0), share, row.matches)
    if row.accuracy is not None:
        ends |= {"lower": row.accuracy_lower, "upper": row.accuracy_upper}
        ends |= {"method": "Clopper-Pearson, clustered by task"}
        about = "Mean credit of the checks over the arena's tasks"
        yield result("accuracy", about, (0.0, 1.0), row.accuracy, row.accuracy_tasks, **ends)


def _samples(ledger: Ledger, name: str) -> Mapping[str, list[dict[str, Any]]]:
    """Everybody's matches, each as one sample of the evaluation `name`: what the player was sent as a
    contestant and what it replied, and the share of the other contestants that it beat, a tie being half."""
    samples: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for document in documents(ledger):
        fixture: Fixture = document["fixture"]
        outcome = read_record(bytes(document["record"])).outcome
        if outcome.void:
            continue
        scores = outcome.scores
        for seat in fixture.seats:
            label = seat.label
            if label not in scores:
                continue
            own, others = scores[label], [score for other, score in scores.items() if other != label]
            beaten = sum([1.0 if own > score else 0.5 if own == score else 0.0 for score in others])
            in_seat = [exchange for exchange in document["exchanges"] if exchange.get("seat") == label]
            turns = [
                turn
                for exchange in in_seat
                if exchange.get("role") == "contestant"
                for turn in _turns(exchange)
            ]
            samples[seat.player].append(
                {
                    "evaluation_name": name,
                    "sample_id": str(document["match"]),
                    "interaction_type": "multi_turn",
                    "input": {"raw": turns[0]["content"] if turns else "", "reference": []},
                    "output": None,
                    "messages": [{"turn_idx": at, **turn} for at, turn in enumerate(turns)],
                    "answer_attribution": [],
                    "evaluation": {
                        "score": beaten / len(others) if others else 0.0,
                        "is_correct": all(own > score for score in others),
                        "num_turns": max(1, sum([turn["role"] == "assistant" for turn in turns])),
                    },
                    "metadata": {
                        "peerage_player": seat.player,
                        "game": fixture.game,
                        "topic": fixture.topic,
                        "score": json.dumps(own),
                        "at_ms": str(document["at_ms"]),
                    },
                }
            )
    return samples


def _turns(exchange: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """A request's messages, and the reply if one came."""
    for message in exchange["messages"]:
        yield {"role": message["speaker"], "content": worded(message["text"])}
    if exchange["reply"] is not None:
        yield {"role": "assistant", "content": json.loads(bytes(exchange["reply"])).get("text") or ""}


def eval_results(name: str, board: Leaderboard, on: str, day: datetime) -> Iterator[File]:
    """A file for each ranked player's model repository, to be put there as it is: its rating as a result of
    the benchmark `on` (OWNER/NAME of a dataset on the Hub), with the track as its task."""
    taken: set[str] = set()
    for row in board.rows:
        if row.rank is None:
            continue
        developer, model, _ = _identity(row)
        whose = f"{developer}__{model}__{_slug(row.player)}"
        if whose.casefold() in taken:  # of names that differ in letters which no file system takes
            whose += f"-{sha256(row.player.encode()).hexdigest()[:8]}"
        taken.add(whose.casefold())
        bounded = row.lower is not None and row.upper is not None
        sure = f"{row.lower:,.1f} to {row.upper:,.1f} (95%)" if bounded else "no interval"
        result = {
            "dataset": {"id": on, "task_id": board.track},
            "value": round(row.rating, 2),
            "date": day.astimezone(UTC).date().isoformat(),
            "source": {"url": f"https://huggingface.co/datasets/{on}", "name": visible(name)},
            "notes": f"{METHODS[board.track].name}, {sure}, {counted(row.matches, 'match')}",
        }
        file = f"{whose}/.eval_results/{_slug(name)}.yaml"
        yield file, yaml.safe_dump([result], sort_keys=False, allow_unicode=True)


def _identity(row: Row) -> tuple[str, str, str]:
    """Developer, model, platform from `platform:developer/model` or `platform:model`; safe in file names."""
    platform, _, rest = row.model.rpartition(":") if ":" in row.model else ("unknown", "", row.model)
    developer, _, model = rest.rpartition("/")
    return _slug(developer or platform), _slug(model), _slug(platform)


def _slug(text: str) -> str:
    """A name that every file system takes, and that leads nowhere else."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:80] or "unnamed"
