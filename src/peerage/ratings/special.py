"""Methods that need columns of their own: judges, people's verdicts, times, answers to challenges.

Each takes data as they were read and gives what `methods.MethodReport` is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from peerage.figures import counted
from peerage.ratings import irt, judges, prediction_powered, through_time
from peerage.ratings.answers import Answers
from peerage.ratings.battles import Battles
from peerage.ratings.history import Duels
from peerage.ratings.table import Z95, Row, rows_of, separated

DAY = 86_400.0


class SpecialTable(NamedTuple):
    """A table before it is written out: `extra` holds further keys for each row, `challenges` a table."""

    title: str
    rows: Sequence[Row]
    notes: list[str]
    extra: Sequence[dict[str, Any]] = ()
    challenges: Sequence[dict[str, Any]] = ()


def judge_aware(data: Battles) -> SpecialTable:
    """Bradley-Terry in which each judge has a reliability, from the label `judge`; votes on one `question`,
    where every row says which, hang together."""
    if "judge" not in data.labels:
        raise ValueError("judge-aware needs battles with a column judge")
    questions = data.labels.get("question", ())
    cluster = questions if questions and all(questions) else None
    fitted = judges.fit(data.duels, data.labels["judge"], cluster=cluster)
    notes = [
        f"judge {name}: reliability {reliability:.2f} ({low:.2f} to {high:.2f}), {count:g} "
        f"{'vote' if count == 1 else 'votes'}"
        for name, reliability, low, high, count in fitted.listed
    ]
    if cluster is not None:
        notes.append(f"intervals allow for {counted(len(set(questions)), 'cluster')} (question)")
    return SpecialTable("Bradley-Terry with judges' reliabilities", fitted.rows, notes)


def powered(data: Battles) -> SpecialTable:
    """Bradley-Terry from the models' votes (`winner`), corrected where people voted too (`human`)."""
    if data.human is None:
        raise ValueError("prediction-powered needs battles with a column human: people's verdicts")
    if (data.duels.weight != 1).any():
        raise ValueError("prediction-powered takes no weights: leave the column weight out")
    voted = ~np.isnan(data.human)
    for there, kind in ((voted, "a person voted too"), (~voted, "a model alone voted")):
        if not there.any():
            raise ValueError(
                f"there is no battle in which {kind}; prediction-powered needs winner in every row, "
                "and human filled in in some and empty in others"
            )
    groups = prediction_powered.components(data.duels, data.human)
    if len(groups) > 1:
        named = "; ".join(", ".join(data.names[player] for player in group[:5]) for group in groups[:5])
        raise ValueError(
            f"people's votes compare the players only within {len(groups)} groups ({named}): the estimate "
            "rests on them, so each group needs wins and losses, or ties, against the others"
        )
    fitted = prediction_powered.fit(data.duels, data.human)
    agree = float((data.human[voted] == data.duels.score[voted]).mean())
    notes = [
        f"{voted.sum()} human votes correct {len(data.duels)} model votes; they agree in {agree:.0%}",
        f"model votes weigh {fitted.trust:.2f} (0 left out, 1 in full): intervals as of "
        f"{fitted.effective:.0f} human votes alone",
        "games counts the human votes",
    ]
    return SpecialTable("Model votes corrected by people's", fitted.rows, notes)


def paths(
    names: Sequence[str], duels: Duels, times: np.ndarray | None, drift: float, period: float
) -> SpecialTable:
    """Ratings on the last day of the history, and under `path` the way of each player to there.

    `drift`: points a day; `period`: the days that are taken as one moment. What is not known of a player
    who no longer plays grows with its drift.
    """
    if times is None:
        raise ValueError("through-time needs a timestamp in every row (timestamp, tstamp or date)")
    if not period > 0:
        raise ValueError(f"period is {period}: expected days above 0")
    moment = np.floor(times / (period * DAY)) * period
    fitted = through_time.fit(duels, moment, drift=drift)
    begun, last = (float(moment.min()), float(moment.max())) if len(moment) else (0.0, 0.0)
    rating, error = np.full(len(names), 1500.0), np.full(len(names), 350.0)
    extra: list[dict[str, Any]] = []
    for player in range(len(names)):
        when, at, lower, upper = fitted.of(player)
        if len(when):
            rating[player] = at[-1]
            error[player] = np.hypot((upper[-1] - at[-1]) / Z95, drift * np.sqrt(last - when[-1]))
        points = zip(when.tolist(), at.tolist(), lower.tolist(), upper.tolist(), strict=True)
        path = [
            {"time": _date(day), "rating": value, "lower": low, "upper": high}
            for day, value, low, high in points
        ]
        extra.append({"path": path})
    met = np.bincount(duels.first, minlength=len(names)) + np.bincount(duels.second, minlength=len(names))
    above, wide = separated(rating, np.diag(error**2)), Z95 * error
    rows = rows_of(rating, rating - wide, rating + wide, above, met)
    moments = len(np.unique(moment))
    notes = [
        f"{counted(moments, 'moment')} of {period:g} {'day' if period == 1 else 'days'}, {_date(begun)} to "
        f"{_date(last)}; a strength drifts {drift:g} points a day; ratings are those of the end",
        "rank ranges take the ratings as independent",
    ]
    if moments == 1:
        notes.append("all of it happened in one moment: a smaller --period shows a path")
    if not fitted.settled:
        notes.append("the paths had not quite settled when the sweeps ran out")
    return SpecialTable("Through time, at its end", rows, notes, extra)


def _date(day: float) -> str:
    try:
        moment = datetime.fromtimestamp(day * DAY, UTC)
    except (ValueError, OverflowError, OSError):  # beyond the calendar: a clock of its own
        return f"day {day:g}"
    return moment.strftime("%Y-%m-%d" if day == int(day) else "%Y-%m-%dT%H:%M:%SZ")


def responses(data: Answers) -> SpecialTable:
    """Abilities of players, and difficulty and discrimination of challenges: 2PL item response theory."""
    fitted = irt.fit(data.solved)
    notes = [] if fitted.settled else [f"not settled after {fitted.rounds} rounds"]
    notes.append("mu and sigma are the ability and its error; 1500 is the average player")
    tried = ~np.isnan(data.solved)
    found = zip(
        data.challenges,
        fitted.difficulty.tolist(),
        fitted.difficulty_error.tolist(),
        fitted.discrimination.tolist(),
        fitted.discrimination_error.tolist(),
        np.nansum(data.solved, axis=0).tolist(),
        tried.sum(axis=0).tolist(),
        strict=True,
    )
    challenges = [
        {
            "challenge": name,
            "difficulty": b,
            "difficulty_error": b_error,
            "discrimination": a,
            "discrimination_error": a_error,
            "solved": solved / count,
            "answers": count,
        }
        for name, b, b_error, a, a_error, solved, count in found
    ]
    challenges.sort(key=lambda row: (-row["difficulty"], row["challenge"]))
    title = "Item response theory (2PL)"
    return SpecialTable(title, fitted.rows, [*data.notes, *notes], (), challenges)
